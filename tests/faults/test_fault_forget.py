"""kill -9 of a process that forgets, at random moments: a text is whole or gone, and the next start finishes it."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import IO

from memory_plane import schema
from memory_plane.plane import Plane

ROUNDS = 20


def kill_at_random(process: int, lines: IO[str], moment: random.Random) -> dict[str, tuple[str, str]]:
    """Let the process forget some texts and kill it within one more; return (word, last word about it) by id."""
    said: dict[str, tuple[str, str]] = {}
    wanted = moment.randint(1, 3)
    while True:
        state, id, word = lines.readline().split()
        if state == "dead":
            return said
        said[id] = word, state
        wanted -= state == "forgetting"
        if process and not wanted:
            # No event to wait for: a moment in the middle of forgetting is what is tried.
            time.sleep(moment.uniform(0, 0.12))
            os.kill(process, signal.SIGKILL)
            process = 0


def bytes_of(home: Path) -> bytes:
    return b"".join(path.read_bytes() for path in home.rglob("*") if path.is_file()).lower()


def test_text_is_whole_or_gone_after_a_kill_while_it_was_forgotten(
    start: Callable[..., subprocess.Popen[str]], store: Path, tmp_path: Path
) -> None:
    script = start("forgetter.py", str(tmp_path / "first"))
    assert script.stdin is not None and script.stdout is not None
    moment = random.Random(31)
    said: dict[str, tuple[str, str]] = {}
    left_pending = 0
    for _ in range(ROUNDS):
        print(file=script.stdin, flush=True)
        _, process, _ = script.stdout.readline().split()
        said |= kill_at_random(int(process), script.stdout, moment)
        with Plane(home=store.parent) as plane:
            left_pending += plane.status().purging
            plane.ingest()
            assert plane.status().purging == 0
    assert {state for _, state in said.values()} == {"stored", "forgetting", "purged"}
    assert left_pending, "no kill fell between the commit and the end of the purge"

    with Plane(home=store.parent) as plane:
        assert schema.check(plane.database) == []
        plane.render()
        left = bytes_of(store.parent)
        for id, (word, state) in said.items():
            operation = plane.get(id)
            assert operation is not None
            if operation["op"] == "forgotten":
                assert state != "stored"
                # The index may keep a word without its beginning and its ending.
                assert word[3:12].encode() not in left
            else:
                assert state != "purged"
                assert operation["body"]["text"].endswith(word)
                assert plane.recall(word).hits[0].id == id
        exported = list(plane.export())
        plane.rebuild()
        assert list(plane.export()) == exported
