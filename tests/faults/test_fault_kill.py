"""kill -9 of a writer at random moments: what was acknowledged is there once and whole."""

from __future__ import annotations

import os
import random
import signal
import sqlite3
import subprocess
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import IO

from memory_plane.plane import Plane

WHOLE = """
SELECT count(*) FROM operations AS o JOIN memory_fts_docsize AS i ON i.id = o.seq
LEFT JOIN thoughts AS t ON t.seq = o.seq LEFT JOIN facts AS f ON f.seq = o.seq
WHERE o.id = ? AND (t.seq IS NOT NULL) = (o.op = 'thought') AND (f.seq IS NOT NULL) = (o.op = 'fact')
"""


def kill_at_random(writer: int, lines: IO[str], moment: random.Random) -> dict[str, str]:
    """Let the writer acknowledge some writes and kill it within the next one; return the words by id."""
    acknowledged: dict[str, str] = {}
    wanted = moment.randint(0, 8)
    while True:
        if writer and len(acknowledged) == wanted:
            # No event to wait for: a moment in the middle of opening or writing is what is tried.
            time.sleep(moment.uniform(0, 0.006 if wanted else 0.1))
            os.kill(writer, signal.SIGKILL)
            writer = 0
        line = lines.readline()
        if line == "dead\n":
            return acknowledged
        state, id, word = line.split()
        assert state == "stored"
        acknowledged[id] = word


def test_every_acknowledged_write_survives_kills_at_any_moment(
    start: Callable[..., subprocess.Popen[str]],
    command: Callable[..., subprocess.CompletedProcess[str]],
    store: Path,
    tmp_path: Path,
    sized: Callable[[int, int], int],
) -> None:
    rounds = sized(30, 100)
    script = start("writer.py", str(tmp_path / "first"))
    assert script.stdin is not None and script.stdout is not None
    moment = random.Random(29)
    acknowledged: dict[str, str] = {}
    for _ in range(rounds):
        print(file=script.stdin, flush=True)
        _, writer = script.stdout.readline().split()
        acknowledged |= kill_at_random(int(writer), script.stdout, moment)
    assert len(acknowledged) > rounds

    checked = command("db", "check")
    assert checked.returncode == 0, checked
    with closing(sqlite3.connect(store)) as connection:
        for id in acknowledged:
            assert connection.execute(WHOLE, (bytes.fromhex(id.replace("-", "")),)).fetchone() == (1,)
    with Plane(home=store.parent) as plane:
        for id, word in acknowledged.items():
            assert plane.recall(word).hits[0].id == id
        assert plane.rebuild().changed == ()
