"""The engine: two kinds of transaction, files that only their owner reads, and one clear line for every failure."""

from __future__ import annotations

import os
import shutil
import sqlite3
import stat
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest
from sqlalchemy import text

from memory_plane.database import Database
from memory_plane.errors import ConfigurationError, StoreError
from memory_plane.settings import Settings

Open = Callable[..., Database]

ADD = text("INSERT INTO cursors (plugin, value) VALUES (:plugin, 'x')")
COUNT = text("SELECT count(*) FROM cursors")


@pytest.fixture
def open_database(engine: Database) -> Iterator[Open]:
    """Open a database by its path, by default the upgraded one."""
    opened: list[Database] = []

    def open_(path: Path | None = None, *, timeout: float = 0.05, synchronous: str = "full") -> Database:
        opened.append(Database(f"sqlite:///{path or engine.path}", timeout=timeout, synchronous=synchronous))
        return opened[-1]

    yield open_
    for database in opened:
        database.close()


def add(database: Database, plugin: str) -> None:
    with database.writing() as connection:
        connection.execute(ADD, {"plugin": plugin})


def count(database: Database) -> int:
    with database.reading() as connection:
        return int(connection.execute(COUNT).scalar_one())


def told(database: Database, act: Callable[[Database], object]) -> str:
    """What the error says after the name of the file."""
    with pytest.raises(StoreError) as error:
        act(database)
    message = str(error.value)
    assert message.startswith(f"database {str(database.path)!r}: ")
    assert "\n" not in message
    return message.removeprefix(f"database {str(database.path)!r}: ")


def write(database: Database) -> None:
    add(database, "muse")


# --- transactions ------------------------------------------------------------------------------------------------


def test_write_is_there_for_everybody_after_its_end(engine: Database, open_database: Open) -> None:
    with engine.writing() as connection:
        connection.execute(ADD, {"plugin": "muse"})
        assert count(open_database()) == 0
    assert count(open_database()) == 1


def test_failing_write_leaves_nothing(engine: Database) -> None:
    with pytest.raises(RuntimeError), engine.writing() as connection:
        connection.execute(ADD, {"plugin": "muse"})
        raise RuntimeError
    assert count(engine) == 0
    write(engine)


def test_reader_sees_one_moment(engine: Database) -> None:
    with engine.reading() as connection:
        assert connection.execute(COUNT).scalar_one() == 0
        write(engine)
        assert connection.execute(COUNT).scalar_one() == 0
    assert count(engine) == 1


def test_reading_takes_no_lock(engine: Database, open_database: Open) -> None:
    with engine.reading() as connection:
        connection.execute(COUNT)
        write(open_database())


@pytest.mark.parametrize(
    ("synchronous", "durable", "level"), [("full", True, 2), ("full", False, 1), ("normal", True, 1)]
)
def test_acknowledged_writes_wait_for_the_disk(
    open_database: Open, synchronous: str, durable: bool, level: int
) -> None:
    with open_database(synchronous=synchronous).writing(durable=durable) as connection:
        assert connection.execute(text("PRAGMA synchronous")).scalar() == level


def test_next_write_is_durable_again(engine: Database) -> None:
    for durable, level in ((False, 1), (True, 2)):
        with engine.writing(durable=durable) as connection:
            assert connection.execute(text("PRAGMA synchronous")).scalar() == level


@pytest.mark.parametrize(("pragma", "value"), [("journal_mode", "wal"), ("foreign_keys", 1)])
def test_connections_are_configured(engine: Database, pragma: str, value: object) -> None:
    with engine.reading() as connection:
        assert connection.execute(text(f"PRAGMA {pragma}")).scalar() == value


# --- files -------------------------------------------------------------------------------------------------------


def test_only_the_owner_may_read_the_files(tmp_path: Path, open_database: Open) -> None:
    before = os.umask(0)
    try:
        database = open_database(tmp_path / "new" / "deep" / "memory.db")
        with database.writing() as connection:
            connection.execute(text("CREATE TABLE t (a)"))
            modes = {file.name: stat.S_IMODE(file.stat().st_mode) for file in database_files(database)}
    finally:
        os.umask(before)
    assert modes == {"memory.db": 0o600, "memory.db-wal": 0o600, "memory.db-shm": 0o600}
    assert stat.S_IMODE((tmp_path / "new" / "deep").stat().st_mode) == 0o700


def database_files(database: Database) -> list[Path]:
    assert database.path is not None
    return list(database.path.parent.iterdir())


def test_size_counts_the_log_too(engine: Database) -> None:
    assert engine.path is not None
    write(engine)
    log = engine.path.with_name("memory.db-wal")
    assert engine.size() == engine.path.stat().st_size + log.stat().st_size > 0


def test_closing_folds_the_log_into_the_file(engine: Database) -> None:
    write(engine)
    engine.close()
    assert [file.name for file in database_files(engine)] == ["memory.db"]
    assert count(engine) == 1


def test_a_second_opening_in_this_process_leaves_the_locks_of_the_first(engine: Database, open_database: Open) -> None:
    assert engine.path is not None
    add(engine, "muse")
    second = open_database()
    count(second)
    second.close()
    # Another process that ends takes the write-ahead log away unless it sees that somebody is still there.
    script = "import sqlite3, sys; c = sqlite3.connect(sys.argv[1]); c.execute('SELECT * FROM cursors'); c.close()"
    subprocess.run([sys.executable, "-c", script, str(engine.path)], check=True)
    assert engine.path.with_name(f"{engine.path.name}-wal").exists()
    add(engine, "grok")
    with closing(sqlite3.connect(engine.path)) as other:
        assert other.execute("SELECT count(*) FROM cursors").fetchone() == (2,)


def test_dialect_is_named(engine: Database) -> None:
    assert engine.dialect == "sqlite"


@pytest.mark.parametrize("url", ["sqlite://", "sqlite:///"])
def test_database_without_a_file_is_a_wrong_configuration(url: str) -> None:
    with pytest.raises(ConfigurationError, match="names no file; give sqlite:"):
        Database(url)


@pytest.mark.parametrize("url", ["sqlite://", "no address", "nosuch://me"])
def test_setting_that_names_no_database_is_told_with_its_place(url: str, home: Path) -> None:
    (home / "config.toml").write_text(f"database = '{url}'\n")
    with pytest.raises(ConfigurationError, match=r"^'?database.*  \(database in .*config.toml\)$"):
        Database.of(Settings.load())


# --- failures ----------------------------------------------------------------------------------------------------


def test_lock_of_another_writer_is_waited_for_and_then_told(engine: Database, open_database: Open) -> None:
    with engine.writing():
        assert told(open_database(), write) == (
            "another process has held it locked for more than 0.05 s; try again when it is done"
        )
        assert count(open_database()) == 0
    write(open_database())


def test_read_only_database_is_told(engine: Database, open_database: Open) -> None:
    database = open_database()
    with engine.reading() as connection:
        connection.exec_driver_sql("PRAGMA query_only")
    with database.reading() as connection:
        connection.exec_driver_sql("PRAGMA query_only = ON")
    assert told(database, write).startswith("it is read-only; check the permissions of the file and its folder")


def test_damaged_database_is_told(engine: Database, open_database: Open) -> None:
    assert engine.path is not None
    engine.close()
    with engine.path.open("r+b") as file:
        file.seek(4096)
        file.write(b"\xa5" * (engine.path.stat().st_size - 4096))
    assert told(open_database(), count).startswith("the file is damaged; restore a copy, or move it away")


@pytest.mark.parametrize("content", [b"not a database, but long enough to be one " * 30, os.urandom(8192)])
def test_file_that_is_no_database_is_told(tmp_path: Path, open_database: Open, content: bytes) -> None:
    path = tmp_path / "notes.txt"
    path.write_bytes(content)
    assert told(open_database(path), count).startswith("the file is no database; move it away")
    assert path.read_bytes() == content


def test_empty_file_has_no_tables(tmp_path: Path, open_database: Open) -> None:
    assert told(open_database(tmp_path / "empty.db"), count) == "it has no tables yet; run: memory-plane db upgrade"


def test_folder_in_place_of_the_file_is_told(tmp_path: Path, open_database: Open) -> None:
    assert "cannot be opened" in told(open_database(tmp_path), count)


def test_file_in_place_of_the_folder_is_told(tmp_path: Path, open_database: Open) -> None:
    (tmp_path / "file").write_text("", "utf-8")
    assert "cannot be made: " in told(open_database(tmp_path / "file" / "memory.db"), count)


@pytest.mark.parametrize("use", [write, count])
@pytest.mark.parametrize("gone", ["file", "folder"])
def test_use_of_a_deleted_file_is_refused(engine: Database, gone: str, use: Callable[[Database], object]) -> None:
    assert engine.path is not None
    write(engine)
    shutil.rmtree(engine.path.parent) if gone == "folder" else engine.path.unlink()
    assert told(engine, use) == "the file was deleted or replaced while in use; start again"


@pytest.mark.parametrize("use", [write, count])
def test_use_of_a_replaced_file_is_refused(engine: Database, tmp_path: Path, use: Callable[[Database], object]) -> None:
    assert engine.path is not None
    write(engine)
    shutil.copy(engine.path, tmp_path / "copy.db")
    (tmp_path / "copy.db").replace(engine.path)
    assert told(engine, use) == "the file was deleted or replaced while in use; start again"


def test_too_many_readers_are_told(engine: Database, open_database: Open) -> None:
    database = open_database()
    held = [database.engine.connect() for _ in range(40)]
    assert told(database, count) == "all connections are busy; try again"
    for connection in held:
        connection.close()
    assert count(database) == 0


def test_other_failures_keep_their_words(engine: Database) -> None:
    def act(database: Database) -> None:
        with database.reading() as connection:
            connection.exec_driver_sql("SELECT missing FROM cursors")

    with pytest.raises(StoreError, match=r"failed: no such column: missing$"):
        act(engine)


def test_file_stays_a_plain_sqlite_database(engine: Database) -> None:
    assert engine.path is not None
    write(engine)
    with closing(sqlite3.connect(engine.path)) as connection:
        assert connection.execute("SELECT plugin FROM cursors").fetchall() == [("muse",)]
