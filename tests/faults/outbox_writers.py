"""Forks writers that all start in the same moment and queue one thought after the other.

outbox_writers.py COUNT EACH     the texts are `WRITER NUMBER`; prints `done` for each writer
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

from memory_plane.operations import make_operation
from memory_plane.outbox import Outbox


def write(writer: int, each: int, gate: int) -> None:
    """Wait until the gate closes, then write."""
    outbox = Outbox(Path(os.environ["MEMORY_PLANE_HOME"]), timeout=30)
    os.read(gate, 1)
    for number in range(each):
        outbox.append(make_operation("thought", {"text": f"{writer} {number}"}, agent=f"writer{writer}"))


def main(count: int, each: int) -> None:
    """Start them, let them go, and wait for them."""
    gate, latch = os.pipe()
    children = []
    for writer in range(count):
        child = os.fork()
        if child == 0:
            os.close(latch)
            write(writer, each, gate)
            os.write(1, b"done\n")
            os._exit(0)
        children.append(child)
    os.close(latch)
    for child in children:
        os.waitpid(child, 0)


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))
