"""Claude Code's transcripts: JSON lines in a private format that grows; what is not known is passed over."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from memory_plane.importers.claude_records import said_in
from memory_plane.importers.times import moment

TAIL = 512 * 1024
"""How many bytes from the end of a transcript hold its last turn, or what is wanted of it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LastTurn:
    """The last turn of a transcript: "" and None for what it does not tell. `before` was said ahead of the prompt."""

    prompt: str = ""
    answer: str = ""
    before: str = ""
    at: datetime | None = None
    folder: str = ""


def last_turn(path: Path, root: Path, said: str = "") -> LastTurn:
    """Read the last turn of a transcript below `root`, or the last one that ended with what was `said`.

    A file that is elsewhere, or cannot be read, tells nothing.
    """
    prompt = answer = before = folder = ""
    at: datetime | None = None
    meant: LastTurn | None = None
    for record in _tail(path, root):
        text = said_in(record)
        folder = record["cwd"] if isinstance(record.get("cwd"), str) else folder
        if not text:
            continue
        if record["type"] == "user":
            before, prompt, answer = answer or before, text, ""
        else:
            answer = text
        at = moment(record.get("timestamp")) or at
        if said and answer == said:
            meant = LastTurn(prompt=prompt, answer=answer, before=before, at=at, folder=folder)
    return meant or LastTurn(prompt=prompt, answer=answer, before=before, at=at, folder=folder)


def folder_of(project: Path) -> str:
    """Return the working folder of the newest transcript in a project's folder: its name cannot be read backwards."""
    newest = max(project.glob("*.jsonl"), key=lambda path: path.stat().st_mtime, default=None)
    return last_turn(newest, project).folder if newest else ""


def _tail(path: Path, root: Path) -> Iterator[dict[str, Any]]:
    """Yield the records at the end of a transcript, oldest first; torn lines are passed over."""
    try:
        if not path.resolve().is_relative_to(root.resolve()):
            return
        with path.open("rb") as file:
            size = file.seek(0, 2)
            file.seek(max(0, size - TAIL))
            lines = file.read(TAIL).split(b"\n")
    except OSError:
        return
    yield from _records(lines[1:] if size > TAIL else lines)


def _records(lines: Iterable[bytes]) -> Iterator[dict[str, Any]]:
    for line in lines:
        try:
            record = json.loads(line)
        except (ValueError, RecursionError):
            continue
        if isinstance(record, dict):
            yield record
