"""Forks processes that all open the store in the same moment, write one thought each, and say how it went.

openers.py COUNT FOLDER     the folder is for a first write, which loads all that they need before the fork
"""

from __future__ import annotations

import os
import sys

from memory_plane.errors import MemoryPlaneError
from memory_plane.plane import Plane


def open_and_post(number: int, gate: int) -> str:
    """Wait until the gate closes, then open the plane and write."""
    os.read(gate, 1)
    try:
        with Plane() as plane:
            receipt = plane.post(f"opener {number} was here", agent=f"opener{number}")
            return f"{receipt.state} {receipt.detail}"
    except MemoryPlaneError as error:
        return f"{type(error).__name__} {error}"


def main(count: int, folder: str) -> None:
    """Start them, let them go, and wait for them."""
    with Plane(home=folder) as plane:
        plane.post("Daniel met Rob", agent="opener")
    gate, latch = os.pipe()
    children = []
    for number in range(count):
        child = os.fork()
        if child == 0:
            os.close(latch)
            os.write(1, (open_and_post(number, gate) + "\n").encode())
            os._exit(0)
        children.append(child)
    os.close(latch)
    for child in children:
        os.waitpid(child, 0)


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2])
