"""The spool: events wait in files of their own until a plugin has turned them into operations.

`put` and the hook shim write them. The shim parses nothing: its payload is the text that the agent gave, cleared only
of tokens and private keys, and the first who reads it cuts the other secrets, on disk too.
"""

from __future__ import annotations

import json
import logging
import os
import re
import time
from collections.abc import Iterable, Iterator
from contextlib import suppress
from datetime import datetime, timedelta
from pathlib import Path
from time import monotonic
from typing import Any
from uuid import uuid4

from memory_plane.redact import redact, redact_value
from memory_plane.types import EPOCH, Event

logger = logging.getLogger(__name__)

FOLDER = "spool"
MAX_TRIES = 5
"""How often a plugin may fail on an event before the event is kept aside."""
AGAIN = 30.0
"""Seconds after which a watch tells once more of what still waits."""

_ABANDONED_AFTER = 60.0
_COARSEST = 2_000_000_000  # nanoseconds between two times that a file system can tell apart
_DECODER = json.JSONDecoder()
_BEFORE_KEY = re.compile(r"\s*[{,]\s*")
_COLON = re.compile(r"\s*:\s*")
_AGENT = re.compile(r'\{"agent": "([^"\\]+)"')
_BEGINNING = 400  # holds the longest name that an agent may have


def put(home: Path, event: Event) -> Path:
    """Write an event to disk, its secrets cut; it is there whole or not at all."""
    folder = home / FOLDER
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    path = folder / f"{time.time_ns():020d}-{uuid4().hex[:8]}.json"
    _write(path, _record(event.agent, event.name, redact_value(dict(event.payload))))
    return path


def waiting(home: Path) -> list[Path]:
    """Return the waiting events, oldest first."""
    return sorted(path for path in (home / FOLDER).glob("*.json") if path.is_file())


def read(home: Path) -> Iterator[tuple[Path, Event | None]]:
    """Yield each waiting event with its file; None for a file that holds no event."""
    sweep(home)
    return load(waiting(home))


def load(paths: Iterable[Path]) -> Iterator[tuple[Path, Event | None]]:
    """Yield the event in each file that is still there; None for one that holds none."""
    for path in paths:
        try:
            content = path.read_bytes()
        except OSError:  # another process was faster, or it is not ours
            continue
        yield path, _event(path, content)


def agent_of(path: Path) -> str:
    """Return whose event a file holds, "" where it does not say; only its beginning is read: there may be many."""
    with suppress(OSError), path.open("rb") as file:
        found = _AGENT.match(file.read(_BEGINNING).decode(errors="replace"))
        return found[1] if found else ""
    return ""


class Watch:
    """Tells of events as they come; while none does, that costs one look at the folder."""

    def __init__(self, home: Path) -> None:
        self._home = home
        self._changed = 0
        self._known: frozenset[str] = frozenset()
        self._again = monotonic()

    def new(self) -> list[Path]:
        """Return the files of events that came since the last call, oldest first; all that wait, every half minute."""
        folder, again = self._home / FOLDER, monotonic() >= self._again
        if again:
            self._again = monotonic() + AGAIN
            sweep(self._home)
        try:
            changed = folder.stat().st_mtime_ns
            if changed == self._changed and not again:
                return []
            names = frozenset(path.name for path in folder.iterdir() if path.suffix == ".json")
        except OSError:
            return []
        known, self._known = self._known, names
        # What comes within the grain of the clock does not change the time once more.
        self._changed = changed if abs(time.time_ns() - changed) > _COARSEST else 0
        return [folder / name for name in sorted(names if again else names - known) if again or name.count(".") == 1]


def sweep(home: Path) -> None:
    """Remove what a writer that was killed left behind: nobody was told that it is kept."""
    for part in (home / FOLDER).glob("*.part"):
        with suppress(OSError):  # another process was faster
            if time.time() - part.stat().st_mtime > _ABANDONED_AFTER:
                part.unlink()


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
        with suppress(FileNotFoundError):  # another process was faster
            path.replace(path.with_name(f"{stem}.{count}.json"))


def set_aside(path: Path) -> None:
    """Keep what is no event, or what no plugin can take in, out of the way, its secrets cut."""
    try:
        _write(path.with_suffix(".bad"), _redacted(path.read_bytes()))
        path.unlink()
    except FileNotFoundError:
        return
    except OSError as error:
        logger.warning("%s could not be set aside: %s", path, error)


# --- what a file holds -------------------------------------------------------------------------------------------


def _event(path: Path, content: bytes) -> Event | None:
    try:
        record = json.loads(content.decode())
        agent, name, payload = record["agent"], record["name"], record["payload"]
    except (ValueError, KeyError, TypeError, RecursionError):
        return None
    if not isinstance(agent, str) or not isinstance(name, str):
        return None
    if isinstance(payload, str):
        name, payload = redact(name), redact_value(_parsed(payload))
        with suppress(OSError):  # a full disk keeps nobody from taking the event in
            if path.exists():
                _write(path, _record(agent, name, payload))
    return Event(agent=agent, name=name, payload=payload, at=_came(path)) if isinstance(payload, dict) else None


def _came(path: Path) -> datetime | None:
    """Return when an event was put down, which its file's name begins with."""
    try:
        return EPOCH + timedelta(microseconds=int(path.name.partition("-")[0]) // 1000)
    except (ValueError, OverflowError):
        return None


def _parsed(text: str) -> dict[str, Any]:
    """Return the object in the text; of what is torn or none, the fields that are whole, and `raw`, all of the text."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return {**_whole_fields(text), "raw": text}
    return value if isinstance(value, dict) else {"raw": text}


def _whole_fields(text: str) -> dict[str, Any]:
    """Read an object as far as it goes: what an agent says first is which session and file it is about."""
    fields: dict[str, Any] = {}
    place = 0
    with suppress(ValueError, RecursionError):
        while before := _BEFORE_KEY.match(text, place):
            key, place = _DECODER.raw_decode(text, before.end())
            colon = _COLON.match(text, place)
            if colon is None or not isinstance(key, str):
                break
            value, place = _DECODER.raw_decode(text, colon.end())
            if place == len(text):  # a number may go on
                break
            fields[key] = value
    return fields


def _redacted(content: bytes) -> str:
    text = content.decode(errors="replace")
    try:
        return json.dumps(redact_value(json.loads(text)), ensure_ascii=False)
    except (ValueError, RecursionError):
        return redact(text)


def _record(agent: str, name: str, payload: dict[str, Any]) -> str:
    return json.dumps({"agent": agent, "name": name, "payload": payload}, ensure_ascii=False)


# --- the disk ----------------------------------------------------------------------------------------------------


def _write(path: Path, text: str) -> None:
    part = path.with_suffix(".part")
    descriptor = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8", errors="replace") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        part.replace(path)
    except BaseException:
        part.unlink(missing_ok=True)
        raise
