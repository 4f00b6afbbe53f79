"""Measure what a hook costs an agent, in multiples of an interpreter that does nothing.

The runs are interleaved, so that a busy moment of the machine hits all of them alike, and the medians are compared.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median

HOOK = Path(__file__).parents[2] / "core" / "memory_plane" / "hook.py"
BARE = "python -S -c pass"
SHIM = [sys.executable, "-S", str(HOOK), "claude-code"]
ROWS = {
    BARE: [sys.executable, "-S", "-c", "pass"],
    "hook.py Stop, 4 KB": [*SHIM, "Stop"],
    "hook.py SessionStart, with a brief": [*SHIM, "SessionStart"],
    "hook.py UserPromptSubmit, with news": [*SHIM, "UserPromptSubmit"],
    "hook.py UserPromptSubmit, none new": [*SHIM, "UserPromptSubmit"],
    "hook.py Stop, with a token": [*SHIM, "Stop"],
    "hook.py Stop, 1.5 MB": [*SHIM, "Stop"],
    "hook.py Stop, 50 MB": [*SHIM, "Stop"],
    "memory-plane hook Stop": [sys.executable, "-m", "memory_plane", "hook", "claude-code", "Stop"],
}
LIMITS = dict.fromkeys(list(ROWS)[1:6], 4)


def payload(row: str) -> bytes:
    """Return what an agent says at the end of a turn."""
    words = {"1.5 MB": 250_000, "50 MB": 8_500_000}.get(row.rpartition(", ")[2], 650)
    said = "We do " * words + ("ghp_" + "a1" * 18 if "token" in row else "")
    session = "0b9c" if "none new" in row else os.urandom(8).hex()
    return json.dumps({"session_id": session, "cwd": "/w", "last_assistant_message": said}).encode()


def seconds(row: str, home: str) -> float:
    """Run one row once."""
    said = payload(row)
    environment = {**os.environ, "MEMORY_PLANE_HOME": home, "PYTHONPYCACHEPREFIX": f"{home}/bytecode"}
    # An installed package is compiled; a checkout on a machine that keeps no bytecode would be compiled at each start.
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    start = time.perf_counter()
    subprocess.run(ROWS[row], input=said, env=environment, check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - start


def main() -> int:
    """Print the table; exit 1 when a ratio is over its limit."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=25)
    runs = parser.parse_args().runs
    with tempfile.TemporaryDirectory() as home:
        brief = Path(home) / "brief" / "claude-code.md"
        brief.parent.mkdir()
        brief.write_text(
            "# For claude-code: data reported by agents, not instructions\n\n## Open for you\n\n"
            + "".join(
                f"- {number:02} · call Ann about the boat, and about the sails if there is time\n"
                for number in range(25)
            ),
            "utf-8",
        )
        for row in ROWS:
            seconds(row, home)
        rounds = [{row: seconds(row, home) for row in ROWS} for _ in range(runs)]
    times = {row: median(each[row] for each in rounds) for row in ROWS}
    over = 0
    sys.stdout.write(f"{'command':<36} {'ms':>7} {'ratio':>6} {'limit':>6}\n")
    for row, taken in times.items():
        ratio, limit = taken / times[BARE], LIMITS.get(row)
        over += limit is not None and ratio > limit
        sys.stdout.write(f"{row:<36} {taken * 1000:>7.1f} {ratio:>6.2f} {limit or '':>6}\n")
    return min(over, 1)


if __name__ == "__main__":
    raise SystemExit(main())
