"""sqlite_files.py: what is in the database of another program is read, and nothing is left beside it."""

from __future__ import annotations

import os
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from memory_plane.sqlite_files import opened


@pytest.fixture
def other(tmp_path: Path) -> Iterator[sqlite3.Connection]:
    """A program that has its database open: "old" is in the file, and "new" in the log that it writes ahead."""
    with closing(sqlite3.connect(tmp_path / "other.db", isolation_level=None)) as connection:
        connection.executescript("PRAGMA journal_mode = wal; CREATE TABLE said (text); INSERT INTO said VALUES ('old')")
        connection.execute("PRAGMA wal_checkpoint(truncate)")
        connection.execute("INSERT INTO said VALUES ('new')")
        yield connection


@pytest.fixture
def place(tmp_path: Path) -> Path:
    folder = tmp_path / "pl ace #1?"
    folder.mkdir()
    return folder / "other.db"


def copied(place: Path, *ends: str) -> Path:
    for end in ends:
        shutil.copy(f"{place.parent.parent / place.name}{end}", f"{place}{end}")
    return place


def said(path: Path) -> list[str]:
    with opened(path, patience=0.05) as connection:
        return [text for (text,) in connection.execute("SELECT text FROM said")]


def names(path: Path) -> set[str]:
    return {one.name for one in path.parent.iterdir()}


@pytest.mark.parametrize("ends", [("", "-wal", "-shm"), ("", "-wal")], ids=["all", "without its index"])
def test_what_a_crash_left_in_the_log_is_read(other: sqlite3.Connection, place: Path, ends: tuple[str, ...]) -> None:
    copied(place, *ends)
    assert said(place) == ["old", "new"]
    assert names(place) == {f"other.db{end}" for end in ends}


@pytest.mark.parametrize("log", [None, b""], ids=["none", "empty"])
def test_database_at_rest_is_read_without_a_log(other: sqlite3.Connection, place: Path, log: bytes | None) -> None:
    copied(place, "")
    if log is not None:
        place.with_name("other.db-wal").write_bytes(log)
    before = names(place)
    assert said(place) == ["old"]
    assert names(place) == before


def test_what_is_written_meanwhile_is_read(other: sqlite3.Connection, tmp_path: Path) -> None:
    assert said(tmp_path / "other.db") == ["old", "new"]
    other.execute("INSERT INTO said VALUES ('newer')")
    assert said(tmp_path / "other.db") == ["old", "new", "newer"]


@pytest.mark.skipif(os.name != "posix", reason="links need rights on Windows")
def test_log_is_looked_for_beside_what_a_link_leads_to(other: sqlite3.Connection, tmp_path: Path, place: Path) -> None:
    place.symlink_to(tmp_path / "other.db")
    assert said(place) == ["old", "new"]
    assert names(place) == {"other.db"}


def test_what_may_be_torn_counts_as_locked(other: sqlite3.Connection, place: Path) -> None:
    copied(place, "")
    with (
        pytest.raises(sqlite3.OperationalError, match="written to while") as refused,
        opened(place) as connection,
        closing(sqlite3.connect(place)) as writer,
    ):
        connection.execute("SELECT text FROM said").fetchall()
        writer.execute("INSERT INTO said VALUES ('newer')")
        writer.commit()
        writer.execute("PRAGMA wal_checkpoint(truncate)")
    assert refused.value.sqlite_errorcode == sqlite3.SQLITE_BUSY


def test_lock_is_waited_for_no_longer_than_asked(tmp_path: Path) -> None:
    path = tmp_path / "locked.db"
    with closing(sqlite3.connect(path, isolation_level=None)) as writer:
        writer.executescript("CREATE TABLE said (text); BEGIN EXCLUSIVE; INSERT INTO said VALUES ('x')")
        with pytest.raises(sqlite3.OperationalError, match="locked"):
            said(path)


@pytest.mark.parametrize(
    "content", [b"SQLite format 3\0\x10\0\2\2" + b"\xa5" * 5000, b"nothing of the kind" * 9, b""], ids=len
)
def test_what_is_no_database_is_an_error_of_sqlite(place: Path, content: bytes) -> None:
    place.write_bytes(content)
    with pytest.raises(sqlite3.Error):
        said(place)
    assert names(place) == {"other.db"}


def test_file_that_is_gone_is_told_as_such(place: Path) -> None:
    with pytest.raises(FileNotFoundError):
        said(place)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no named pipes")
def test_pipe_is_not_waited_for(place: Path) -> None:
    os.mkfifo(place)
    with pytest.raises(sqlite3.DatabaseError, match="no file"):
        said(place)
