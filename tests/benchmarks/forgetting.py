"""What deleting leaves in an SQLite file, and what a purge costs: python tests/benchmarks/forgetting.py [MEMORIES]."""

from __future__ import annotations

import random
import sqlite3
import string
import sys
import tempfile
import time
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from uuid import UUID

from memory_plane import Plane
from memory_plane.store import operations
from memory_plane.types import Operation

TEXTS, SECRETS, SEEDS = 3_000, 100, 10
SCHEMA = (
    "CREATE TABLE texts (seq INTEGER PRIMARY KEY, text TEXT)",
    "CREATE TABLE names (name TEXT, seq INTEGER, PRIMARY KEY (name, seq)) WITHOUT ROWID",
    "CREATE VIRTUAL TABLE found USING fts5(text, content = '', tokenize = 'porter unicode61')",
)
OPTIMIZE = "INSERT INTO found(found) VALUES ('optimize')"


def left_behind(folder: Path, seed: int, *, from_start: bool, rewrite: bool) -> int:
    """Write texts, delete those with a secret word, and count the words that are still in the file."""
    drawn = random.Random(seed)
    usual = ["".join(drawn.choices(string.ascii_lowercase, k=drawn.randint(3, 12))) for _ in range(5_000)]
    path = folder / f"{seed}{from_start}{rewrite}.db"
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute(f"PRAGMA secure_delete = {'ON' if from_start else 'OFF'}")
        for statement in SCHEMA:
            connection.execute(statement)
        secrets: dict[int, tuple[str, str]] = {}
        for seq in range(TEXTS):
            text = " ".join(drawn.choices(usual, k=1_500 if seq % 100 == 0 else drawn.choice([5, 8, 20, 60])))
            if seq % (TEXTS // SECRETS) == 0:
                word = "zq" + "".join(drawn.choices("bcdfg", k=10))
                text = f"{text} {word}"
                secrets[seq] = word, text
            names = sorted({(name, seq) for name in text.split()[-3:]})
            connection.execute("BEGIN IMMEDIATE")
            connection.execute("INSERT INTO texts VALUES (?, ?)", (seq, text))
            connection.execute("INSERT INTO found(rowid, text) VALUES (?, ?)", (seq, text))
            connection.executemany("INSERT INTO names VALUES (?, ?)", names)
            connection.execute("COMMIT")
        connection.execute("PRAGMA secure_delete = ON")
        for seq, (_, text) in secrets.items():
            connection.execute("INSERT INTO found(found, rowid, text) VALUES ('delete', ?, ?)", (seq, text))
            connection.execute("DELETE FROM names WHERE seq = ?", (seq,))
            connection.execute("UPDATE texts SET text = NULL WHERE seq = ?", (seq,))
        connection.execute(OPTIMIZE)
        if rewrite:
            connection.execute("VACUUM")
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    content = path.read_bytes()
    return sum(word[3:].encode() in content for word, _ in secrets.values())


def purge(home: Path, memories: int) -> tuple[float, float]:
    """Return the seconds that forgetting one of so many memories takes, and the megabytes of the database."""
    drawn = random.Random(1)
    usual = ["".join(drawn.choices(string.ascii_lowercase, k=drawn.randint(3, 10))) for _ in range(20_000)]
    start = datetime(2026, 1, 1, tzinfo=UTC)
    with Plane(home=home) as plane:
        with plane.database.writing(durable=False) as connection:
            for number in range(memories):
                body = {"text": " ".join(drawn.choices(usual, k=25)), "kind": "thought", "origin": "agent"}
                id, at = str(UUID(int=drawn.getrandbits(128), version=4)), start + timedelta(seconds=number)
                operation = Operation(id=id, op="thought", agent="muse", created_at=at, body=body)
                operations.append(connection, operation, at)
        told = plane.post("Zebulon hides the xylophone", agent="muse")
        began = time.perf_counter()
        receipt = plane.forget(told.id, agent="muse")
        assert receipt.detail.startswith("purged"), receipt
        return time.perf_counter() - began, plane.database.size() / 1e6


def main(memories: int) -> None:
    """Print both tables."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        print(f"of {SECRETS * SEEDS:,} words still in the file after deletion, merging the index and folding the log")
        for title, options in {
            "secure_delete for the deletion": {"from_start": False, "rewrite": False},
            "secure_delete from the start": {"from_start": True, "rewrite": False},
            "and the file rewritten": {"from_start": False, "rewrite": True},
        }.items():
            print(f"{title:34}{sum(left_behind(folder, seed, **options) for seed in range(SEEDS)):6}")
        seconds, size = purge(folder / "home", memories)
        print(f"\nforgetting one of {memories:,} memories ({size:.0f} MB): {seconds:.2f} s")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 10_000)
