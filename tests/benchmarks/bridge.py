"""Measure how soon an agent's first questions are answered, in multiples of a bare interpreter, and what it takes.

Each row is a process started anew and asked as a client asks: `initialize`, then `tools/list`. The runs are
interleaved, so that a busy moment of the machine hits all rows alike, and the medians are compared.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from statistics import median

import psutil

BARE, BRIDGE, OWN = "python -c pass", "beside a hub", "without a hub"
MOST_RATIO, MOST_MB = 4.0, 25.0
SESSION = ["-c", "from memory_plane.entry import main; main()", "mcp", "--agent", "muse"]
HUB = """
import signal
from memory_plane import Plane
from memory_plane.surfaces.socket_server import socket_server

signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGTERM])
with Plane() as plane, socket_server(plane):
    plane.warm_up()
    print("up", flush=True)
    signal.sigwait([signal.SIGTERM])
"""
INITIALIZE = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "bench", "version": "1"}}


@dataclass(frozen=True, slots=True)
class Run:
    """Seconds from the start to the end, or to each answer; the memory held at the end, in MB."""

    first: float
    tools: float
    megabytes: float


def bare(home: Path) -> Run:
    """Start an interpreter that does nothing, and one that waits, to see what it holds."""
    start = time.perf_counter()
    subprocess.run([sys.executable, "-c", "pass"], env=environment(home), check=True)
    taken = time.perf_counter() - start
    ready = "import sys; sys.stdout.write('up'); sys.stdout.flush(); sys.stdin.read()"
    with started(["-c", ready], home) as process:
        assert process.stdout is not None
        assert process.stdout.read(2) == b"up"
        held = megabytes(process)
        process.communicate()
    return Run(taken, taken, held)


def session(home: Path) -> Run:
    """Start a session, ask it twice, hang up."""
    start = time.perf_counter()
    with started(SESSION, home) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        times = []
        for id, (method, params) in enumerate([("initialize", INITIALIZE), ("tools/list", {})]):
            question = {"jsonrpc": "2.0", "id": id, "method": method, "params": params}
            process.stdin.write(json.dumps(question).encode() + b"\n")
            process.stdin.flush()
            assert "result" in json.loads(process.stdout.readline())
            times.append(time.perf_counter() - start)
            if id == 0:
                process.stdin.write(b'{"jsonrpc":"2.0","method":"notifications/initialized"}\n')
        held = megabytes(process)
        process.communicate()
    return Run(times[0], times[1], held)


def started(arguments: list[str], home: Path) -> subprocess.Popen[bytes]:
    """Start a process with pipes to it."""
    return subprocess.Popen(
        [sys.executable, *arguments], env=environment(home), stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )


def megabytes(process: subprocess.Popen[bytes]) -> float:
    """Return what a process holds now; the system's own peak counts what it inherits from the process that forks."""
    return float(psutil.Process(process.pid).memory_info().rss / 1e6)


def environment(home: Path) -> dict[str, str]:
    """Return the environment of a session of this home, compiled as an installed package is."""
    cache = home.parent / "bytecode"
    more = {"MEMORY_PLANE_HOME": str(home), "PYTHONPYCACHEPREFIX": str(cache)}
    return {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"} | more


def main() -> int:
    """Print the table; exit 1 when the bridge misses what was promised of it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=15)
    runs = parser.parse_args().runs
    with tempfile.TemporaryDirectory() as folder:
        served, alone = Path(folder) / "served", Path(folder) / "alone"
        with subprocess.Popen([sys.executable, "-c", HUB], env=environment(served), stdout=subprocess.PIPE) as hub:
            assert hub.stdout is not None
            assert hub.stdout.readline() == b"up\n"
            rows: dict[str, Callable[[], Run]] = {
                BARE: lambda: bare(alone),
                BRIDGE: lambda: session(served),
                OWN: lambda: session(alone),
            }
            for run in rows.values():
                run()
            rounds = [{name: run() for name, run in rows.items()} for _ in range(runs)]
            hub.terminate()
    return report(rounds)


def report(rounds: list[dict[str, Run]]) -> int:
    """Print medians, ratios to the bare interpreter, and peaks."""
    base = median(each[BARE].first for each in rounds)
    missed = False
    sys.stdout.write(f"{'process':<16} {'first answer':>15} {'tools/list':>15} {'MB':>6}\n")
    for name in rounds[0]:
        first, tools = (median(getattr(each[name], what) for each in rounds) for what in ("first", "tools"))
        peak = max(each[name].megabytes for each in rounds)
        cells = [f"{taken * 1000:.0f} ms {taken / base:5.1f}x" for taken in (first, tools)]
        sys.stdout.write(f"{name:<16} {cells[0]:>15} {cells[1]:>15} {peak:>6.1f}\n")
        missed |= name == BRIDGE and (first / base > MOST_RATIO or peak > MOST_MB)
    return int(missed)


if __name__ == "__main__":
    raise SystemExit(main())
