"""Forks a writer for every line on stdin; it writes until it is killed and says on stdout what was acknowledged.

writer.py FOLDER        the folder is for a first write, which loads all that a writer needs before the fork
"""

from __future__ import annotations

import os
import sys
from itertools import count

from memory_plane.plane import Plane


def say(*words: object) -> None:
    """Write one line at once and whole, so that a kill cannot cut it."""
    os.write(1, (" ".join(map(str, words)) + "\n").encode())


def write(number: int) -> None:
    """Write thoughts, facts and commitments; acknowledge each by its id and the one word that only it holds."""
    with Plane() as plane:
        for index in count():
            word = f"mark{number}n{index}"
            match index % 3:
                case 0:
                    receipt = plane.post(f"Daniel met Rob about {word}", agent="writer")
                case 1:
                    receipt = plane.fact("Daniel", f"note {word}", f"uses {word}", agent="writer")
                case _:
                    receipt = plane.post(f"Send Rob the {word}", agent="writer", kind="commitment", to="rob")
            say(receipt.state, receipt.id, word)


def main(folder: str) -> None:
    """Fork one writer at a time and say its process id, then that it is dead."""
    with Plane(home=folder) as plane:
        plane.post("Daniel met Rob", agent="writer")
    for number, _ in enumerate(sys.stdin):
        child = os.fork()
        if child == 0:
            try:
                write(number)
            finally:
                os._exit(1)
        say("writer", child)
        os.waitpid(child, 0)
        say("dead")


if __name__ == "__main__":
    main(sys.argv[1])
