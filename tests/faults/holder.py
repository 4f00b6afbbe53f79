"""Holds the write lock of an SQLite file, as another writer would, until stdin ends."""

from __future__ import annotations

import sqlite3
import sys


def main(path: str) -> None:
    """Take the lock, say so, and wait."""
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("BEGIN IMMEDIATE")
    print("held", flush=True)
    sys.stdin.read()


if __name__ == "__main__":
    main(sys.argv[1])
