"""Databases of other programs, which are looked at and left as they are."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

_VERSIONS, _WRITE_AHEAD = slice(18, 20), b"\x02\x02"


@contextmanager
def opened(path: Path, *, patience: float = 5.0) -> Iterator[sqlite3.Connection]:
    """Open a database to read what is in it and in its log, and leave nothing beside it.

    `patience` is how many seconds a lock is waited for. Raise `sqlite3.Error`, as for one that is locked also where it
    was written to so that what was read may be torn, and `OSError` for a file that cannot be opened.
    """
    file = path.resolve(strict=True)  # the log lies beside what a link leads to
    if not file.is_file():
        raise sqlite3.DatabaseError("it is no file")
    with _readable(file) as (uri, shared):
        before = _state(file)
        with closing(sqlite3.connect(uri, uri=True, timeout=patience)) as connection:
            yield connection
        if not shared and _state(file) != before:
            error = sqlite3.OperationalError("it was written to while it was read")
            error.sqlite_errorcode = sqlite3.SQLITE_BUSY
            raise error


@contextmanager
def _readable(file: Path) -> Iterator[tuple[str, bool]]:
    """Yield the URI to read a database by, and whether those who write to it know of the reader.

    A database that writes ahead gets an index of its log from any reader that finds none. Where there is no log either,
    all is in the file and nobody has it open, so that it can be read without; a log that was left is read in a copy.
    See https://sqlite.org/wal.html#readonly.
    """
    log, index = (file.with_name(f"{file.name}-{end}") for end in ("wal", "shm"))
    if index.exists() or not _writes_ahead(file):  # in this order: to close a file ends the locks that we have on it
        yield f"{file.as_uri()}?mode=ro", True
    elif not log.exists() or not log.stat().st_size:
        yield f"{file.as_uri()}?immutable=1", False
    else:
        with TemporaryDirectory() as folder:
            for one in (file, log):
                shutil.copyfile(one, Path(folder, one.name))
            yield f"{Path(folder, file.name).as_uri()}?mode=ro", False


def _writes_ahead(file: Path) -> bool:
    with file.open("rb") as stream:
        return stream.read(20)[_VERSIONS] == _WRITE_AHEAD


def _state(file: Path) -> tuple[int, ...]:
    found = file.stat()
    return found.st_ino, found.st_size, found.st_mtime_ns
