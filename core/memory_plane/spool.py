"""The spool: events wait in files of their own until a plugin has turned them into operations."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

from memory_plane.redact import redact_value
from memory_plane.types import Event

FOLDER = "spool"
MAX_TRIES = 5
"""How often a plugin may fail on an event before the event is kept aside."""


def put(home: Path, event: Event) -> Path:
    """Write an event to disk, its secrets cut; it is there whole or not at all."""
    folder = home / FOLDER
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    record = {"agent": event.agent, "name": event.name, "payload": redact_value(dict(event.payload))}
    path = folder / f"{time.time_ns():020d}-{uuid4().hex[:8]}.json"
    part = path.with_suffix(".part")
    with os.fdopen(
        os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8", errors="replace"
    ) as file:
        json.dump(record, file, ensure_ascii=False)
        file.flush()
        os.fsync(file.fileno())
    part.replace(path)
    return path


def waiting(home: Path) -> list[Path]:
    """Return the waiting events, oldest first."""
    return sorted(path for path in (home / FOLDER).glob("*.json") if path.is_file())


def read(home: Path) -> Iterator[tuple[Path, Event | None]]:
    """Yield each waiting event with its file; None for a file that holds no event."""
    for path in waiting(home):
        try:
            content = path.read_bytes()
        except FileNotFoundError:  # another process was faster
            continue
        yield path, _event(content)


def _event(content: bytes) -> Event | None:
    try:
        record = json.loads(content.decode())
        agent, name, payload = record["agent"], record["name"], record["payload"]
    except (ValueError, KeyError, TypeError, RecursionError):
        return None
    fits = isinstance(agent, str) and isinstance(name, str) and isinstance(payload, dict)
    return Event(agent=agent, name=name, payload=payload) if fits else None


def done(path: Path) -> None:
    """Remove an event that has become operations."""
    path.unlink(missing_ok=True)


def failed(path: Path) -> None:
    """Count a failed try in the file's name; after the last one keep the event aside, for a person to look at."""
    stem, _, tries = path.stem.partition(".")
    count = int(tries or 0) + 1
    if count >= MAX_TRIES:
        set_aside(path)
    else:
        path.replace(path.with_name(f"{stem}.{count}.json"))


def set_aside(path: Path) -> None:
    """Keep what is no event, or what no plugin can take in, out of the way."""
    path.replace(path.with_suffix(".bad"))
