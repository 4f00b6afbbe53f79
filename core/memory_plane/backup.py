"""Copies of the database: made while others write, verified before they count, and put back without losing anything."""

from __future__ import annotations

import os
import re
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from secrets import token_hex
from shutil import rmtree
from tempfile import mkdtemp
from time import monotonic, sleep, time
from typing import TYPE_CHECKING, Any

from sqlalchemy import URL

from memory_plane import schema
from memory_plane.database import Database
from memory_plane.errors import MemoryPlaneError, StoreError
from memory_plane.sqlite_files import opened
from memory_plane.store import feed, log

if TYPE_CHECKING:
    from memory_plane.settings import Settings

Progress = Callable[[int, int], None]

FOLDER = "backups"
_DRAFT = ".restore-"
_ABANDONED = 3600.0
"""Seconds after which an unfinished copy is taken for one of a process that was killed."""
_MAGIC = b"SQLite format 3\0"
_PAGES = 4096
_NAME = re.compile(r"\d{8}T\d{6}\.\d{6}Z\.db")
_UNFINISHED = re.compile(r"\..+\.[0-9a-f]{8}\.part(-wal|-shm|-journal)?")
_ALONE = 2.0
"""Seconds that a process which is just ending has to let the database go."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Backup:
    """A verified copy: how many operations it holds, and of which revision its tables are."""

    path: Path
    operations: int
    revision: str
    bytes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Restored:
    """What is in place now, and the file that keeps what was there before, None where that was nothing."""

    operations: int
    kept: Path | None


# --- making one --------------------------------------------------------------------------------------------------


def make(
    settings: Settings, target: Path | None = None, *, keep: int | None = None, progress: Progress | None = None
) -> Backup:
    """Copy the database to `target`, a new file or a folder, by default `<home>/backups`; others may go on writing.

    `keep` removes all but so many of the newest copies in that folder. Raise `MemoryPlaneError` where no copy can be
    made or verified; nothing is left of it then.
    """
    with closing(Database.of(settings)) as database:
        _needs_file(database)
        path = _place(settings.home, target)
        _sweep(path.parent)
        draft = path.with_name(f".{path.name}.{token_hex(4)}.part")
        try:
            os.close(os.open(draft, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))
            held = _copy(database, draft, progress)
            made = verify(draft)
            if made.operations != held:
                raise StoreError(f"{path}: the copy holds {made.operations} operations instead of {held}; try again")
            _to_disk(draft)
            draft.replace(path)
            _to_disk(path.parent)
        except OSError as error:
            raise MemoryPlaneError(f"{path}: cannot be written: {error.strerror}") from None
        finally:
            for left in (draft, *(draft.with_name(f"{draft.name}{end}") for end in ("-wal", "-shm", "-journal"))):
                with suppress(OSError):
                    left.unlink(missing_ok=True)
    if keep is not None:
        prune(path.parent, keep)
    return Backup(path=path, operations=made.operations, revision=made.revision, bytes=path.stat().st_size)


def prune(folder: Path, keep: int) -> list[Path]:
    """Remove all but the newest copies that were named by `make`; return the removed ones."""
    named = sorted(path for path in folder.iterdir() if _NAME.fullmatch(path.name) and path.is_file())
    old = named[: max(0, len(named) - keep)]
    for path in old:
        path.unlink(missing_ok=True)
    return old


def verify(path: Path) -> Backup:
    """Read a copy through and return what it is; raise `MemoryPlaneError` for a damaged one or what is none."""
    with _reading(path) as connection:
        tables = {name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
        if not {"alembic_version", "operations"} <= tables:
            raise MemoryPlaneError(f"{path}: is a database, but none of Memory Plane")
        (revision,) = connection.execute("SELECT max(version_num) FROM alembic_version").fetchone()
        schema.refuse_newer(revision)
        verdicts = [verdict for (verdict,) in connection.execute("PRAGMA integrity_check(3)")]
        if verdicts != ["ok"]:
            raise StoreError(f"{path}: is damaged: {verdicts[0]}")
        (operations,) = connection.execute("SELECT count(*) FROM operations").fetchone()
    return Backup(path=path, operations=operations, revision=revision or "", bytes=path.stat().st_size)


def _place(home: Path, target: Path | None) -> Path:
    """Return where a copy goes; make the folder, and never overwrite a file."""
    folder = home / FOLDER if target is None else target
    try:
        if target is None:
            folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    except OSError as error:
        raise MemoryPlaneError(f"{folder}: cannot be made: {error.strerror}") from None
    path = folder / f"{datetime.now(UTC):%Y%m%dT%H%M%S.%fZ}.db" if folder.is_dir() else folder
    if path.exists() or path.is_symlink():
        raise MemoryPlaneError(f"{path}: is there already; give a new name, or a folder")
    return path


def _sweep(folder: Path) -> None:
    """Remove copies that were never finished."""
    for left in folder.glob(".*.part*"):
        with suppress(OSError):
            if _UNFINISHED.fullmatch(left.name) and time() - left.stat().st_mtime > _ABANDONED:
                left.unlink()


def _copy(database: Database, draft: Path, progress: Progress | None) -> int:
    """Copy one moment of the database; return how many operations it held at that moment."""

    def told(status: int, remaining: int, total: int) -> None:
        if progress is not None:
            progress(total - remaining, total)

    with database.reading() as connection, closing(sqlite3.connect(draft)) as copy:
        held = log.count(connection)  # from here on the transaction sees this moment alone, and so does the copy
        driver: Any = connection.connection.dbapi_connection
        try:
            driver.backup(copy, pages=_PAGES, progress=told)
            copy.execute("PRAGMA journal_mode = DELETE")  # one file that needs no other beside it
        except sqlite3.Error as error:
            raise MemoryPlaneError(f"{draft.parent}: the copy cannot be written: {error}") from None
    return held


# --- putting one back --------------------------------------------------------------------------------------------


def restore(settings: Settings, path: Path) -> Restored:
    """Put a copy in the place of the database, which is kept aside; an older copy is upgraded first.

    The caller has claimed the home, which keeps every hub out. Raise `MemoryPlaneError`, and change nothing, for a file
    that cannot be used, and while another process has the database open. A crash in the middle leaves the old one or
    the new one, never half of both.
    """
    with closing(Database.of(settings)) as database:
        current = _needs_file(database, there=False)
    if path.exists() and current.exists() and path.samefile(current):
        raise MemoryPlaneError(f"{path}: is the database itself; give a copy of it")
    verify(path)
    try:
        current.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        for left in current.parent.glob(f"{_DRAFT}*"):  # of a restore that was killed: nobody else is at it now
            rmtree(left, ignore_errors=True)
        folder = Path(mkdtemp(dir=current.parent, prefix=_DRAFT))
    except OSError as error:
        raise MemoryPlaneError(f"{current.parent}: cannot be written: {error.strerror}") from None
    try:
        draft = folder / "memory.db"
        operations = _prepare(path, draft)
        return Restored(operations=operations, kept=_swap(draft, current))
    except OSError as error:
        raise MemoryPlaneError(f"{current}: cannot be restored: {error.strerror}") from None
    finally:
        rmtree(folder, ignore_errors=True)


def _prepare(path: Path, draft: Path) -> int:
    """Copy, upgrade and verify a backup; it gets an id of its own, for what it tells others is something else now."""
    os.close(os.open(draft, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))
    with _reading(path) as source, closing(sqlite3.connect(draft)) as copy:
        source.backup(copy)
    with closing(Database(URL.create("sqlite", database=str(draft)))) as database:
        schema.ensure(database)
        with database.writing() as connection:
            feed.identify(connection, anew=True)
    with closing(sqlite3.connect(draft)) as copy:
        copy.execute("PRAGMA journal_mode = DELETE")
    return verify(draft).operations


def _swap(draft: Path, current: Path) -> Path | None:
    """Write the draft over the database in one transaction of SQLite, so that no other process sees half of it."""
    kept = current.with_name(f"{current.name}.{datetime.now(UTC):%Y%m%dT%H%M%S.%fZ}.bak")
    os.close(os.open(current, os.O_RDWR | os.O_CREAT, 0o600))
    with current.open("rb") as file:
        start = file.read(len(_MAGIC))
    if start not in (b"", _MAGIC):  # SQLite would tidy up around it
        return _replace_damaged(draft, current, kept)
    with closing(sqlite3.connect(current, timeout=0, isolation_level=None)) as held:
        try:
            _take(held, current)
            empty = held.execute("SELECT count(*) FROM sqlite_master").fetchone() == (0,)
            if not empty:
                _keep(held, draft.with_name("kept.db"), kept)
            with closing(sqlite3.connect(draft)) as source:
                source.backup(held)
        except sqlite3.DatabaseError as error:
            if isinstance(error, sqlite3.OperationalError):
                raise MemoryPlaneError(f"{current}: cannot be restored: {error}") from None
        else:
            return None if empty else kept
    return _replace_damaged(draft, current, kept)


def _keep(held: sqlite3.Connection, draft: Path, kept: Path) -> None:
    """Write what is there now into a file of its own, which has its name once it is whole and on disk."""
    os.close(os.open(draft, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))
    with closing(sqlite3.connect(draft)) as copy:
        held.backup(copy)
    _to_disk(draft)
    draft.replace(kept)
    _to_disk(kept.parent)


def _take(held: sqlite3.Connection, current: Path) -> None:
    """Take the database for this connection alone: while another has it open, SQLite lets nobody out of the log."""
    held.execute("PRAGMA locking_mode = EXCLUSIVE")
    deadline = monotonic() + _ALONE
    while True:
        try:
            held.execute("PRAGMA journal_mode = DELETE")
            held.execute("BEGIN EXCLUSIVE")
            held.execute("COMMIT")
        except sqlite3.OperationalError as error:
            if "locked" not in str(error):
                raise
            if monotonic() > deadline:
                raise MemoryPlaneError(
                    f"{current}: another process has it open, such as an agent's `memory-plane mcp`; end it, try again"
                ) from None
            sleep(0.05)
        else:
            return


def _replace_damaged(draft: Path, current: Path, kept: Path) -> Path:
    """Put the draft in the place of a file that SQLite cannot read, which is kept with its log as it is."""
    kept.unlink(missing_ok=True)
    os.link(current, kept)
    for end in ("-wal", "-journal"):
        with suppress(FileNotFoundError):
            current.with_name(current.name + end).replace(kept.with_name(kept.name + end))
    current.with_name(f"{current.name}-shm").unlink(missing_ok=True)
    _to_disk(draft)
    draft.replace(current)
    _to_disk(current.parent)
    return kept


# --- files -------------------------------------------------------------------------------------------------------


def _needs_file(database: Database, *, there: bool = True) -> Path:
    if database.path is None:
        raise MemoryPlaneError(f"the database is a {database.dialect} server, which has its own tools for backups")
    if there and not database.path.exists():
        raise MemoryPlaneError(f"there is no {str(database.path)!r}")
    return database.path


@contextmanager
def _reading(path: Path) -> Iterator[sqlite3.Connection]:
    """Open a copy without changing it or its folder; what SQLite says of it becomes one line."""
    if not path.is_file():
        raise MemoryPlaneError(f"{path}: {'is no file' if path.exists() else 'does not exist'}")
    try:
        with opened(path) as connection:
            yield connection
    except sqlite3.DatabaseError as error:
        known = isinstance(error, sqlite3.OperationalError) or "malformed" in str(error)
        reason = f"cannot be read: {error}" if known else "is no database"
        raise StoreError(f"{path}: {reason}") from None
    except OSError as error:
        raise MemoryPlaneError(f"{path}: cannot be read: {error.strerror}") from None


def _to_disk(path: Path) -> None:
    """Wait until a file or folder is on disk, where the system knows how."""
    with suppress(PermissionError):  # Windows opens no folder
        descriptor = os.open(path, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
