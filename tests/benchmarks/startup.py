"""Measure what the command line costs to start, in multiples of a bare interpreter.

The runs are interleaved, so that a busy moment of the machine hits all of them alike, and the medians are compared.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from statistics import median

BARE = "python -c pass"
LIMITS = {"--help": 6, "post --help": 6, "completion request": 6, "post": 35, "recall": 35, "status": 35}


def arguments(name: str) -> tuple[list[str], dict[str, str]]:
    """Return the command and the additional environment of one row."""
    plane = [sys.executable, "-m", "memory_plane"]
    if name == BARE:
        return [sys.executable, "-c", "pass"], {}
    if name == "completion request":
        return plane, {"_MEMORY_PLANE_COMPLETE": "bash_complete", "COMP_WORDS": "memory-plane re", "COMP_CWORD": "1"}
    words = {"post": ["post", "Ask Rob for the invoice"], "recall": ["recall", "invoice"]}
    return [*plane, *words.get(name, name.split())], {}


def seconds(name: str, home: str) -> float:
    """Run one row once."""
    command, more = arguments(name)
    environment = {**os.environ, "MEMORY_PLANE_HOME": home, "PYTHONPYCACHEPREFIX": f"{home}/bytecode", **more}
    # An installed package is compiled; a checkout on a machine that keeps no bytecode would be compiled at each start.
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    start = time.perf_counter()
    subprocess.run(command, env=environment, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return time.perf_counter() - start


def main() -> int:
    """Print the table; exit 1 when a ratio is over its limit."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=15)
    runs = parser.parse_args().runs
    with tempfile.TemporaryDirectory() as home:
        for name in LIMITS:
            seconds(name, home)
        rounds = [{name: seconds(name, home) for name in (BARE, *LIMITS)} for _ in range(runs)]
    times = {name: median(each[name] for each in rounds) for name in rounds[0]}
    over = 0
    sys.stdout.write(f"{'command':<20} {'ms':>7} {'ratio':>6} {'limit':>6}\n")
    for name, taken in times.items():
        ratio, limit = taken / times[BARE], LIMITS.get(name)
        over += limit is not None and ratio > limit
        sys.stdout.write(f"{name:<20} {taken * 1000:>7.1f} {ratio:>6.1f} {limit or '':>6}\n")
    return min(over, 1)


if __name__ == "__main__":
    raise SystemExit(main())
