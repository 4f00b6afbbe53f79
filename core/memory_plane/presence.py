"""Whether a hub is up in a home, and where: it holds `hub.lock` while it is, and `hub.json` says how to reach it."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from secrets import token_hex
from typing import TYPE_CHECKING

from memory_plane.errors import MemoryPlaneError

if TYPE_CHECKING:
    from filelock import BaseFileLock

FILE, LOCK = "hub.json", "hub.lock"
_LARGEST = 4096
_GLANCE = 0.5
"""Seconds that a hub waits for the lock when it starts: whoever looks whether one is up holds it for a moment."""


@dataclass(frozen=True, slots=True)
class Presence:
    """What a hub says of itself: its address and process, its version, and when it began (ISO 8601)."""

    url: str
    pid: int
    version: str
    started_at: str

    def __str__(self) -> str:
        return f"pid {self.pid}, {self.url}"


def read(home: Path) -> Presence | None:
    """Return what the last hub of this home left, None where nothing is; it may be dead, only the lock can tell.

    What came along in a copy of a home speaks of the hub of the original, which is not to get the copy's writes.
    """
    try:
        with (home / FILE).open("rb") as file:
            found = json.loads(file.read(_LARGEST))
        if found.pop("folder", _folder(home)) != _folder(home):
            return None
        said = Presence(**found)
    except (OSError, ValueError, TypeError, AttributeError, RecursionError):
        return None
    whole = all(isinstance(text, str) for text in (said.url, said.version, said.started_at))
    return said if whole and type(said.pid) is int and said.pid > 1 else None


def write(home: Path, presence: Presence) -> None:
    """Say that the hub answers; the file is there whole or not at all, for its owner alone."""
    draft = home / f".{FILE}-{os.getpid()}-{token_hex(4)}"
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            json.dump(asdict(presence) | {"folder": _folder(home)}, file)
        draft.replace(home / FILE)
    finally:
        draft.unlink(missing_ok=True)


def _folder(home: Path) -> str:
    """Return what tells this folder from a copy of it, by whatever name it is called."""
    found = home.stat()
    return f"{found.st_dev}:{found.st_ino}"


def remove(home: Path) -> None:
    """Take back what a hub said; only who holds the lock may."""
    with suppress(OSError):
        (home / FILE).unlink(missing_ok=True)


@contextmanager
def claimed(home: Path) -> Iterator[None]:
    """Be the one hub of this home, or what must not meet one; raise `MemoryPlaneError` while another is up."""
    from filelock import Timeout

    try:
        home.mkdir(mode=0o700, parents=True, exist_ok=True)
        lock = _lock(home).acquire(timeout=_GLANCE, poll_interval=0.02)
    except Timeout:
        there = read(home)
        who = f"({there})" if there else "that is just starting or stopping"
        raise MemoryPlaneError(f"{str(home)!r} has a hub already {who}; stop it with: memory-plane down") from None
    except OSError as error:
        raise MemoryPlaneError(f"{str(home / LOCK)!r} cannot be locked: {error.strerror}") from None
    with lock:
        remove(home)  # what a hub left that was killed
        yield


def running(home: Path) -> Presence | None:
    """Return the hub that is up in this home, None where none is or it does not answer yet."""
    said = read(home)
    return said if said is not None and not free(home) and read(home) == said else None


def free(home: Path, wait: float = 0) -> bool:
    """Tell whether no hub is up in this home, or none is any more within `wait` seconds."""
    from filelock import Timeout

    if not (home / LOCK).exists():
        return True
    try:
        with _lock(home).acquire(timeout=wait, poll_interval=0.02):
            return True
    except (Timeout, OSError):
        return False


def _lock(home: Path) -> BaseFileLock:
    from filelock import FileLock

    return FileLock(home / LOCK, mode=0o600)
