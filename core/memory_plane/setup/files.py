"""Agents' files: looked at, copied and replaced so that nothing of anybody is lost."""

from __future__ import annotations

import hashlib
import os
import shutil
import stat
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from glob import escape
from pathlib import Path
from secrets import token_hex

from memory_plane.setup.errors import Kept

LARGEST = 32 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Found:
    """What stands on the disk: `data` is None where there is no file; `place` is where a link leads to."""

    place: Path
    data: bytes | None
    mode: int


def look(path: Path) -> Found:
    """Read a file that is to be changed; raise `Kept` for one that is not ours to change."""
    data = read(path)
    try:
        place = path.resolve()
        if data is not None and (names := place.stat().st_nlink) > 1:
            raise Kept(
                f"{path}: has {names} names (hard links), which a change would part; keep one, or make it a link"
            )
        if data is None:
            _check_owner(_nearest(place))
            return Found(place, None, 0o600)
        _check_owner(place)
        return Found(place, data, stat.S_IMODE(place.stat().st_mode))
    except (OSError, RuntimeError) as error:
        raise _unreadable(path, error) from None


def read(path: Path) -> bytes | None:
    """Return what a file holds, None if there is none; raise `Kept` for what is no file, or cannot be read."""
    try:
        if not path.resolve().exists():
            return None
        found = path.stat()
        if not stat.S_ISREG(found.st_mode):
            raise Kept(f"{path}: is no file")
        if found.st_size > LARGEST:
            raise Kept(f"{path}: is larger than {LARGEST // 1024**2} MiB, which no settings are")
        return path.read_bytes()
    except (OSError, RuntimeError) as error:
        raise _unreadable(path, error) from None


def write(found: Found, data: bytes | None, mode: int) -> list[Path]:
    """Put new content in the place of what was found, whole or not at all; None removes it.

    Return the folders that had to be made, outermost first. Raise `Kept` if the file has changed since it was read.
    """
    place = found.place
    try:
        if (place.read_bytes() if place.exists() else None) != found.data:
            raise Kept(f"{place}: was changed by somebody else in the meantime; run it again")
        if data is None:
            place.unlink(missing_ok=True)
            return []
        made = missing_folders(place)
        try:
            for folder in made:
                folder.mkdir(mode=0o700)
            replace(place, data, mode)
        except BaseException:
            remove_folders(made)
            raise
    except OSError as error:
        raise Kept(f"{place}: cannot be written: {error.strerror}") from None
    return made


def missing_folders(place: Path) -> list[Path]:
    """Return the folders that have to be made for a file, outermost first."""
    return [folder for folder in (place.parent, *place.parent.parents) if not folder.exists()][::-1]


def remove_folders(folders: Iterable[Path | str]) -> None:
    """Remove the folders that were made for our files, innermost first, where nothing else came into them."""
    for folder in reversed(list(folders)):
        with suppress(OSError):
            Path(folder).rmdir()


def replace(place: Path, data: bytes, mode: int) -> None:
    """Write a file whole or not at all, and on the disk."""
    draft = place.with_name(f".{place.name[:100]}.{token_hex(4)}.memory-plane")
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0), 0o600)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        _dress(draft, place)
        draft.chmod(mode)
        draft.replace(place)
    finally:
        draft.unlink(missing_ok=True)


def _dress(draft: Path, place: Path) -> None:
    """Give a draft the group, the access lists and the like of the file that it replaces, as far as that is allowed."""
    with suppress(OSError):
        found = place.stat()
        if hasattr(os, "chown") and found.st_gid != draft.stat().st_gid:
            os.chown(draft, -1, found.st_gid)
    with suppress(OSError):
        shutil.copystat(place, draft)
        os.utime(draft)


def sweep(place: Path) -> None:
    """Remove what a write of the file left beside it when it was killed."""
    with suppress(OSError):
        for left in place.parent.glob(f".{escape(place.name[:100])}.????????.memory-plane"):
            left.unlink(missing_ok=True)


def digest(data: bytes | None) -> str:
    """Return the SHA-256 of a file's content, "" for none."""
    return "" if data is None else hashlib.sha256(data).hexdigest()


def _unreadable(path: Path, error: OSError | RuntimeError) -> Kept:
    return Kept(f"{path}: cannot be read: {getattr(error, 'strerror', None) or error}")


def _nearest(place: Path) -> Path:
    return next(folder for folder in place.parents if folder.exists())


def _check_owner(place: Path) -> None:
    """Raise `Kept` for what another user owns, or what its owner has made read-only: root may, but should not."""
    found = place.stat()
    if hasattr(os, "geteuid") and found.st_uid != os.geteuid():
        raise Kept(f"{place}: belongs to another user; it is left alone")
    if not found.st_mode & stat.S_IWUSR or not os.access(place, os.W_OK):
        raise Kept(f"{place}: is read-only; make it writable, or leave this agent out")
    if place.is_file() and not (place.parent.stat().st_mode & stat.S_IWUSR and os.access(place.parent, os.W_OK)):
        raise Kept(f"{place.parent}: is read-only; make it writable, or leave this agent out")
