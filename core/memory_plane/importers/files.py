"""The files of a source, be it a file, a folder or a zip: read where they lie, and never unpacked onto the disk."""

from __future__ import annotations

import hashlib
import os
import re
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, NamedTuple, Self
from zipfile import ZIP_DEFLATED, ZIP_STORED, BadZipFile, ZipFile, ZipInfo

from memory_plane.errors import MemoryPlaneError

MOST_FILES = 200_000
"""How many files a source may have."""
BOMB_BYTES, BOMB_RATIO = 50_000_000, 200
"""A file in a zip that is larger than this and was packed more tightly than that is no text."""

_PART = re.compile(r"[a-z_]+-\d{3}( ?\(\d+\))?\.zip")  # claude.ai delivers its export as several zips
_OLDEST = 1980
"""The year that a zip without times shows."""


class _Place(NamedTuple):
    """Where a file lies: itself, or as a member of a zip."""

    path: Path
    member: ZipInfo | None = None


class Files:
    """Names with `/`, in their order, and what is behind each; close it, or use it as a context manager.

    Hidden files are not listed and links not followed. Raise `MemoryPlaneError` for what cannot be read.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._zips: dict[Path, ZipFile] = {}
        self._places: dict[str, _Place] = {}
        self.alone = False
        """Whether it is one file that is no zip."""
        try:
            for name, place in self._find():
                self._places[name] = place
                if len(self._places) > MOST_FILES:
                    raise MemoryPlaneError(f"it holds more than {MOST_FILES:,} files; give a part of it")
        except OSError as error:
            raise MemoryPlaneError(f"cannot read {error.filename or str(path)!r}: {error.strerror}") from None
        self.names = tuple(sorted(self._places))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for archive in self._zips.values():
            archive.close()

    def open(self, name: str) -> IO[bytes]:
        """Open a file, listed or hidden; raise `FileNotFoundError` where there is none."""
        place = self._places.get(name)
        if place is None:
            return (self.path / name).open("rb")
        if place.member is None:
            return place.path.open("rb")
        _check(place.member)
        return self._zips[place.path].open(place.member)

    def local(self, name: str) -> Path | None:
        """Return where a file lies on the disk, None for one in a zip."""
        place = self._places[name]
        return place.path if place.member is None else None

    def changed(self, name: str) -> datetime:
        """Return when a file was changed; a zip tells no zone, which counts as UTC."""
        place = self._places[name]
        if place.member is not None and place.member.date_time[0] > _OLDEST:
            try:
                return datetime(*place.member.date_time, tzinfo=UTC)
            except ValueError:
                pass
        return datetime.fromtimestamp(place.path.stat().st_mtime, UTC)

    def fingerprint(self) -> str:
        """Return what is another one as soon as a file has changed."""
        found = hashlib.sha256()
        for name in self.names:
            path, member = self._places[name]
            stat = path.stat()
            state = (stat.st_size, stat.st_mtime_ns) if member is None else (member.file_size, member.CRC)
            found.update(f"{name}\0{state}\n".encode("utf-8", "surrogateescape"))
        return found.hexdigest()

    def _find(self) -> Iterator[tuple[str, _Place]]:
        if self.path.is_dir():
            yield from self._in_folder()
        elif self.path.is_file() and _is_zip(self.path):
            yield from self._in_zip(self.path, "")
        else:
            self.path.stat()
            self.alone = True
            yield self.path.name, _Place(self.path)

    def _in_folder(self) -> Iterator[tuple[str, _Place]]:
        for folder, folders, names in os.walk(self.path, onerror=_raise):
            folders[:] = sorted(name for name in folders if not name.startswith("."))
            for name in names:
                path = Path(folder, name)
                if name.startswith(".") or path.is_symlink() or not path.is_file():
                    continue
                if Path(folder) == self.path and _PART.fullmatch(name):
                    yield from self._in_zip(path, f"{name}/")
                else:
                    yield path.relative_to(self.path).as_posix(), _Place(path)

    def _in_zip(self, path: Path, before: str) -> Iterator[tuple[str, _Place]]:
        try:
            archive = self._zips[path] = ZipFile(path)
        except (BadZipFile, NotImplementedError, ValueError) as error:
            raise MemoryPlaneError(f"{path.name!r} is a damaged zip ({error}); fetch it again") from None
        for member in archive.infolist():
            parts = member.filename.split("/")
            if ".." in parts or parts[0] == "" or re.match(r"[A-Za-z]:", parts[0]) or "\\" in member.filename:
                raise MemoryPlaneError(f"{path.name!r} holds a path that leads out of it: {member.filename!r}")
            if not member.is_dir() and not any(part.startswith((".", "__MACOSX")) for part in parts):
                yield before + member.filename, _Place(path, member)


def _is_zip(path: Path) -> bool:
    with path.open("rb") as stream:
        return stream.read(4) in (b"PK\x03\x04", b"PK\x05\x06")


def _check(member: ZipInfo) -> None:
    """Refuse a member that cannot be read, or would never come to its end."""
    if member.flag_bits & 1:
        raise MemoryPlaneError(f"{member.filename!r} is encrypted; unpack it first")
    if member.compress_type not in (ZIP_STORED, ZIP_DEFLATED):
        raise MemoryPlaneError(f"{member.filename!r} is packed in a way that is not known here; unpack it first")
    if member.file_size > BOMB_BYTES and member.file_size > BOMB_RATIO * member.compress_size:
        raise MemoryPlaneError(f"{member.filename!r} grows to {member.file_size:,} bytes, which no text does")


def _raise(error: OSError) -> None:
    raise error


@contextmanager
def readable() -> Iterator[None]:
    """Tell in one line what is wrong with a file that cannot be read to its end."""
    try:
        yield
    except (BadZipFile, zlib.error, EOFError) as error:
        raise MemoryPlaneError(f"it is damaged ({error}); fetch it again") from None
    except OSError as error:
        raise MemoryPlaneError(f"cannot read {error.filename or 'it'!r}: {error.strerror or error}") from None
