"""Measure what recall costs in memories of several sizes, with vectors and all, and what these cost a write.

    python tests/benchmarks/recall_size.py --sizes 20000 1000000 [--keep FOLDER]

The texts are made of the words of the table of meanings, common ones as often as in English; a question has six. Each
is asked as it is and with filters: of the agent that wrote all, of one of nine projects, of a tenth of the time. With
`--keep` the memories stay in a folder, and are asked again the next time.
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from itertools import accumulate
from pathlib import Path
from statistics import median
from typing import Any
from uuid import UUID

from memory_plane.operations import make_operation
from memory_plane.plane import Plane
from memory_plane.settings import Settings
from memory_plane.store import index, vectors
from memory_plane.types import EPOCH
from memory_plane_local import embedding

BATCH = 20_000
BEGIN = datetime(2025, 1, 1, tzinfo=UTC)
OPERATION = (
    "INSERT INTO operations(seq, id, op, agent, created_at, text, body) VALUES (?, ?, 'thought', 'muse', ?, ?, '{}')"
)
INDEX = "INSERT INTO memory_fts(rowid, text) VALUES (?, ?)"
THOUGHT = (
    "INSERT INTO thoughts(seq, agent, kind, project, thread, origin, at, visible, pinned)"
    " VALUES (?, 'muse', 'thought', ?, ?, 'agent', ?, 1, 0)"
)


class Author:
    """Writes texts whose words are as common as Zipf says."""

    def __init__(self, words: list[str]) -> None:
        self._words = words
        self._weights = list(accumulate(1 / (place + 3) for place in range(len(words))))
        self._random = random.Random(20)

    def text(self, length: int) -> str:
        return " ".join(self._random.choices(self._words, cum_weights=self._weights, k=length))

    def question(self) -> str:
        """Ask with words that tell something, as people do."""
        return " ".join(self._random.choices(self._words[100:], cum_weights=self._weights[100:], k=6))


def rows(author: Author, count: int) -> Iterator[tuple[int, bytes, int, str]]:
    for seq in range(1, count + 1):
        at = (BEGIN + timedelta(minutes=seq) - EPOCH) // timedelta(microseconds=1)
        yield seq, UUID(int=seq).bytes, at, author.text(23)


def fill(plane: Plane, author: Author, count: int) -> None:
    """Write memories past the plane, which would take a millisecond for each."""
    some: list[tuple[int, bytes, int, str]] = []
    table = embedding.table()
    with plane.database.engine.connect() as connection:
        driver = connection.connection.dbapi_connection
        assert driver is not None
        for row in rows(author, count):
            some.append(row)
            if len(some) == BATCH or row[0] == count:
                driver.execute("BEGIN IMMEDIATE")
                driver.executemany(OPERATION, some)
                driver.executemany(THOUGHT, [(seq, f"p{seq % 9}", f"p{seq % 9}", at) for seq, _, at, _ in some])
                entries = (
                    index.document(seq, text, agent="muse", kind="thought", project=f"p{seq % 9}", at=BEGIN)
                    for seq, _, _, text in some
                )
                driver.executemany(INDEX, [(entry.seq, entry.text) for entry in entries])
                meant = ((seq, table.embed(text)) for seq, _, _, text in some)
                driver.executemany(
                    "INSERT INTO vectors(seq, model, signs, row) VALUES (?, ?, ?, ?)",
                    [(seq, table.model, vectors.signs(row), vectors.packed(row)) for seq, row in meant],
                )
                driver.execute("COMMIT")
                some.clear()
                print(f"\r{row[0]:,} of {count:,}", end="", file=sys.stderr)
    print(file=sys.stderr)


def measure(plane: Plane, questions: Sequence[str], **filters: Any) -> tuple[float, float]:
    """Return the median and the 95th percentile of a recall, in milliseconds of processor time."""
    spent = []
    for question in questions:
        begin = time.process_time()
        plane.recall(question, **filters)
        spent.append((time.process_time() - begin) * 1000)
    spent = sorted(spent[5:])
    return median(spent), spent[int(len(spent) * 0.95)]


def filters(size: int) -> dict[str, dict[str, Any]]:
    """Return what a recall is restricted to, by what it is called."""
    since, until = (BEGIN + timedelta(minutes=size * tenths // 10) for tenths in (4, 5))
    return {
        "all": {},
        "agent of all": {"agent": "muse"},
        "one project": {"project": "p3"},
        "a tenth of the time": {"since": since, "until": until},
    }


def write_cost(home: Path, embedder: str, author: Author) -> float:
    """Return the median milliseconds of processor time of a write."""
    with Plane(Settings.load(home=home, synchronous="normal", plugin={"local": {"embedding": embedder}})) as plane:
        spent = []
        for _ in range(400):
            operation = make_operation("thought", {"text": author.text(23)}, agent="muse")
            begin = time.process_time()
            plane.apply(operation)
            spent.append((time.process_time() - begin) * 1000)
        return median(spent[50:])


def main() -> int:
    """Print one row a size, then the price of a write with and without vectors."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", type=int, nargs="+", default=[20_000])
    parser.add_argument("--questions", type=int, default=100)
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help="leave the memories there, and use what is there")
    given = parser.parse_args()
    words = [word for word in embedding.table().words() if word.isalpha() and len(word) > 2]
    print("| memories | asked of | recall, median ms | 95 of 100 within |\n|---|---|---|---|")
    for size in given.sizes:
        author = Author(words)
        with tempfile.TemporaryDirectory() as scratch:
            home = given.keep / str(size) if given.keep else Path(scratch)
            is_there = (home / "memory.db").exists()
            with Plane(Settings.load(home=home, synchronous="normal")) as plane:
                if not is_there:
                    fill(plane, author, size)
                questions = [author.question() for _ in range(given.questions + 5)]
                for name, restricted in filters(size).items():
                    typical, most = measure(plane, questions, **restricted)
                    print(f"| {size:,} | {name} | {typical:.1f} | {most:.1f} |", flush=True)
    for embedder in ("none", "meanings"):
        with tempfile.TemporaryDirectory() as home:
            print(f"a write with {embedder}: {write_cost(Path(home), embedder, Author(words)):.2f} ms")
    return 0


if __name__ == "__main__":
    sys.exit(main())
