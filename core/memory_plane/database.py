"""The engine, opened the one right way, and its two kinds of transaction."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from time import monotonic, sleep
from typing import TYPE_CHECKING, Any

from sqlalchemy import URL, Connection, Engine, create_engine, event, make_url
from sqlalchemy.exc import ArgumentError, DBAPIError
from sqlalchemy.exc import TimeoutError as PoolTimeout

from memory_plane.errors import ConfigurationError, StoreBusy, StoreError, half_a_character

if TYPE_CHECKING:
    from memory_plane.settings import Settings

_LOCKED = "database is locked"
_CAUSES = (
    (_LOCKED, "another process has held it locked for more than {timeout:g} s; try again when it is done"),
    ("database or disk is full", "the disk is full; free some space and try again"),
    ("readonly database", "it is read-only; check the permissions of the file and its folder"),
    ("unable to open database file", "it cannot be opened; check that its folder exists and may be written"),
    ("disk i/o error", "the disk refused to read or write; check its space and health"),
    ("malformed", "the file is damaged; restore a copy, or move it away and start a new one"),
    ("file is not a database", "the file is no database; move it away, or correct `database` in the configuration"),
    ("no such table", "it has no tables yet; run: memory-plane db upgrade"),
)


_FITS_INTO_MEMORY = 256 * 1024 * 1024
"""Up to this size a file is rewritten by way of memory, beyond it by way of the system's folder for temporary files."""


class Database:
    """A SQLAlchemy engine with `reading()` (deferred) and `writing()` (immediate) transactions.

    Every failure of the database itself leaves as a `StoreError` of one line, never as a trace with SQL in it; a text
    that no database holds is `Refused`.
    """

    @classmethod
    def of(cls, settings: Settings) -> Database:
        """Open the database that the settings name: by default `memory.db` in the home."""
        url = settings.database or URL.create("sqlite", database=str(settings.home / "memory.db"))
        place = settings.place("database")
        try:
            return cls(url, synchronous=settings.synchronous, timeout=settings.timeout)
        except ConfigurationError as error:
            raise ConfigurationError(f"{error}  ({place})") from None
        except (ArgumentError, ImportError) as error:
            raise ConfigurationError(f"'database' names none that can be opened: {error}  ({place})") from None

    def __init__(self, url: str | URL, *, synchronous: str = "full", timeout: float = 5.0) -> None:
        self.url = make_url(url)
        self.timeout = timeout
        self.path = Path(self.url.database) if self._is_sqlite and self.url.database else None
        self._synchronous = synchronous.upper()
        self._identity: tuple[int, int] | None = None
        self._idle: list[Connection] = []
        self._process, self._left = os.getpid(), list[object]()
        self.engine = self._sqlite_engine() if self._is_sqlite else create_engine(self.url, hide_parameters=True)

    @property
    def _is_sqlite(self) -> bool:
        return self.url.get_backend_name() == "sqlite"

    @property
    def dialect(self) -> str:
        """The name of the SQL dialect: `sqlite` or `postgresql`."""
        return self.engine.dialect.name

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """A transaction over one moment of the database."""
        with self._guarded():
            self._check_file()
            with self._connected() as connection:
                self._begin(connection, "DEFERRED")
                yield connection

    @contextmanager
    def writing(self, *, durable: bool = True) -> Iterator[Connection]:
        """A transaction that holds the write lock from its start, and is on disk at its end if `durable`.

        Derived rows can be derived again, so they need not wait for the disk.
        """
        with self._guarded():
            self._check_file()
            with self._connected() as connection:
                self._begin(connection, "IMMEDIATE", self._synchronous if durable else "NORMAL")
                with connection.begin():
                    yield connection

    @property
    def address(self) -> str:
        """The URL without its password."""
        if self.path is not None:  # SQLAlchemy cannot write a path that is not UTF-8
            return f"{self.url.drivername}:///{self.path}"
        return self.url.render_as_string(hide_password=True)

    def size(self) -> int:
        """Return the bytes of the file and its write-ahead log; 0 for a server."""
        if self.path is None:
            return 0
        files = (self.path, self.path.with_name(f"{self.path.name}-wal"))
        return sum(file.stat().st_size for file in files if file.exists())

    def log_is_free(self, wait: float) -> bool:
        """Fold the write-ahead log into the file and empty it; False if a reader needs it for longer than `wait` s."""
        with self._guarded(), self._alone(wait) as driver:
            return driver is None or _emptied(driver)

    def rewrite(self, wait: float) -> bool:
        """Write the file anew, so that it holds what the tables hold and no byte more; False as with `log_is_free`.

        SQLite leaves copies of moved rows in the gaps of its pages, which no setting of it clears.
        """
        with self._guarded(), self._alone(wait) as driver:
            if driver is None:
                return True
            driver.execute(f"PRAGMA temp_store = {'MEMORY' if self.size() < _FITS_INTO_MEMORY else 'FILE'}")
            driver.execute("VACUUM")
            return _emptied(driver)

    def close(self) -> None:
        """Close every connection; the last one to go folds the write-ahead log into the file."""
        self._be_alone()
        while self._idle:
            self._idle.pop().close()
        self.engine.dispose()

    @contextmanager
    def _connected(self) -> Iterator[Connection]:
        """Lend a connection; one that went well waits for the next call, since a check-out costs more than a query."""
        self._be_alone()
        try:
            connection = self._idle.pop()
        except IndexError:
            connection = self.engine.connect()
        try:
            yield connection
            connection.rollback()
            if self._is_sqlite:
                connection.connection.rollback()  # what only the driver knows of
        except BaseException:
            connection.close()
            raise
        self._idle.append(connection)

    def _be_alone(self) -> None:
        """Open connections of its own in a process that was forked off: SQLite allows no inherited one, not even
        to be closed.
        """
        if self._process != os.getpid():
            self._left += (self._idle, self.engine.pool)
            self._process, self._idle = os.getpid(), []
            self.engine.dispose(close=False)

    @contextmanager
    def _alone(self, wait: float) -> Iterator[Any]:
        """Lend a driver's connection that nobody else will use; None where a server takes care of its own files."""
        if not self._is_sqlite:
            yield None
            return
        self._be_alone()
        with self.engine.connect() as connection:
            connection.detach()
            driver: Any = connection.connection.dbapi_connection
            driver.execute(f"PRAGMA busy_timeout = {int(wait * 1000)}")
            yield driver

    def _sqlite_engine(self) -> Engine:
        if self.path is None:
            raise ConfigurationError(f"database {str(self.url)!r} names no file; give sqlite:////absolute/path.db")
        engine = create_engine(
            self.url,
            connect_args={"timeout": self.timeout, "check_same_thread": False, "isolation_level": None},
            pool_size=8,
            max_overflow=32,
            pool_timeout=self.timeout,
            hide_parameters=True,  # they are what people wrote, and errors are logged
        )
        event.listen(engine, "do_connect", self._prepare_file)
        event.listen(engine, "connect", self._configure)
        return engine

    def _prepare_file(self, *_: Any) -> None:
        """Make the file before SQLite would, so that nobody else may read it even for a moment.

        One that is there is not opened: closing it would end the locks that this process has on it elsewhere,
        and the next process to leave would take the write-ahead log away under them.
        """
        assert self.path is not None
        if self._identity is None:
            try:
                self.path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
                os.close(os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))
            except OSError as error:
                if not self.path.exists():
                    raise StoreError(f"database {str(self.path)!r}: cannot be made: {error.strerror}") from error
            found = self.path.stat()
            self._identity = (found.st_dev, found.st_ino)

    def _configure(self, connection: sqlite3.Connection, _: Any) -> None:
        self._to_wal(connection)
        for pragma in (
            f"synchronous = {self._synchronous}",
            "foreign_keys = ON",
            "temp_store = MEMORY",
            "cache_size = -8000",
        ):
            connection.execute(f"PRAGMA {pragma}")

    def _to_wal(self, connection: sqlite3.Connection) -> None:
        """Switch the file to a write-ahead log; where two do so at once one fails, and SQLite does not wait."""
        deadline = monotonic() + self.timeout
        while True:
            try:
                connection.execute("PRAGMA journal_mode = WAL")
            except sqlite3.OperationalError as error:
                if "locked" not in str(error) or monotonic() > deadline:
                    raise
                sleep(0.01)
            else:
                return

    def _begin(self, connection: Connection, kind: str, synchronous: str | None = None) -> None:
        """Begin where the driver would only do so at the first change; an engine event for it would slow all calls."""
        if not self._is_sqlite:
            return
        driver = connection.connection.dbapi_connection
        assert driver is not None
        if synchronous is not None:
            driver.execute(f"PRAGMA synchronous = {synchronous}")
        driver.execute(f"BEGIN {kind}")

    def _check_file(self) -> None:
        """Refuse to use a file that has no name any more: what it holds was taken away."""
        if self.path is None or self._identity is None:
            return
        try:
            found = self.path.stat()
        except FileNotFoundError:
            found = None
        if found is None or (found.st_dev, found.st_ino) != self._identity:
            raise StoreError(f"database {str(self.path)!r}: the file was deleted or replaced while in use; start again")

    @contextmanager
    def _guarded(self) -> Iterator[None]:
        try:
            yield
        except PoolTimeout as error:
            raise StoreBusy(f"database {self._name!r}: all connections are busy; try again") from error
        except DBAPIError as error:
            raise self._told(error.orig) from error
        except sqlite3.Error as error:
            raise self._told(error) from error
        except UnicodeEncodeError as error:
            raise half_a_character(error) from None

    @property
    def _name(self) -> str:
        return str(self.path or self.address)

    def _told(self, error: BaseException | None) -> StoreError:
        """Say in one line what the driver means."""
        said = str(error).lower()
        for sign, cause in _CAUSES:
            if sign in said:
                kind = StoreBusy if sign == _LOCKED else StoreError
                return kind(f"database {self._name!r}: {cause.format(timeout=self.timeout)}")
        return StoreError(f"database {self._name!r} failed: {error}")


def _emptied(driver: Any) -> bool:
    """Whether the write-ahead log could be folded into the file and cut to nothing."""
    busy, *_ = driver.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
    return not busy
