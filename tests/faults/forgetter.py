"""Forks a process for every line on stdin; it writes texts and forgets them until it is killed, and says what it did.

forgetter.py FOLDER        the folder is for a first write, which loads all that is needed before the fork
"""

from __future__ import annotations

import os
import sys
from hashlib import blake2s
from itertools import count

from memory_plane.plane import Plane


def say(*words: object) -> None:
    """Write one line at once and whole, so that a kill cannot cut it."""
    os.write(1, (" ".join(map(str, words)) + "\n").encode())


def forget(number: int) -> None:
    """Write three texts and forget the middle one, again and again; each has a word of its own."""
    with Plane() as plane:
        for index in count():
            told = []
            for place in range(3):
                word = blake2s(f"{number} {index} {place}".encode(), digest_size=8).hexdigest()
                receipt = plane.post(f"Daniel met Rob about {word}", agent="writer", kind="commitment", to="rob")
                told.append((receipt.id, word))
                say(receipt.state, receipt.id, word)
            say("forgetting", *told[1])
            receipt = plane.forget(told[1][0], agent="writer")
            say(receipt.detail.split()[0], *told[1])


def main(folder: str) -> None:
    """Fork one process at a time and say its id, then that it is dead."""
    with Plane(home=folder) as plane:
        plane.forget(plane.post("Daniel met Rob", agent="writer").id, agent="writer")
    for number, _ in enumerate(sys.stdin):
        child = os.fork()
        if child == 0:
            try:
                forget(number)
            finally:
                os._exit(1)
        say("process", child, "-")
        os.waitpid(child, 0)
        say("dead", "-", "-")


if __name__ == "__main__":
    main(sys.argv[1])
