"""summaries.py: the app's database, of any version, while the app writes to it."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from shutil import copytree
from typing import TYPE_CHECKING, Any

import pytest

from memory_plane_antigravity import summaries
from memory_plane_antigravity.summaries import read

if TYPE_CHECKING:
    from conftest import Antigravity

ID = "5f0c2d9e-0000-4000-8000-000000000001"
SCHEMAS = ["early", "usual", "late"]


@pytest.mark.parametrize("schema", SCHEMAS)
def test_versions_differ_in_their_columns(antigravity: Antigravity, schema: str) -> None:
    a = antigravity
    a.summarize(ID, schema=schema, title="Login", preview="Fix the login", workspace_uris=["file:///w/web%20shop"])
    found = read(a.app())
    assert found is not None
    one = found[ID]
    assert (one.title, one.preview, one.workspaces) == ("Login", "Fix the login", ("file:///w/web%20shop",))
    assert one.modified == a.now + timedelta(microseconds=2530)
    assert (one.running, one.killed, one.failed, one.aside) == (False, False, False, False)


def test_columns_may_be_in_any_order_and_of_other_kinds(antigravity: Antigravity) -> None:
    with closing(sqlite3.connect(antigravity.database())) as database, database:
        database.execute("CREATE TABLE conversation_summaries (killed, new_one, Title, conversation_id)")
        database.execute("INSERT INTO conversation_summaries VALUES ('true', x'00', 'Login', ?)", (ID,))
    found = read(antigravity.app())
    assert found is not None
    assert (found[ID].title, found[ID].killed, found[ID].modified) == ("Login", True, None)


@pytest.mark.parametrize(
    ("columns", "field"),
    [
        ({"status": "CASCADE_RUN_STATUS_RUNNING"}, "running"),
        ({"status": "CASCADE_RUN_STATUS_IDLE", "not_fully_idle": 1}, "running"),
        ({"killed": 1}, "killed"),
        ({"status": "CASCADE_RUN_STATUS_ERROR"}, "failed"),
        ({"nesting_depth": 1}, "aside"),
        ({"parent_conversation_id": "5f0c2d9e-0000-4000-8000-00000000000a"}, "aside"),
        ({"winning_conversation_id": "5f0c2d9e-0000-4000-8000-00000000000a"}, "aside"),
    ],
)
def test_state_of_a_conversation_is_known(antigravity: Antigravity, columns: dict[str, Any], field: str) -> None:
    antigravity.summarize(ID, **columns)
    found = read(antigravity.app())
    assert found is not None
    assert [name for name in ("running", "killed", "failed", "aside") if getattr(found[ID], name)] == [field]


def test_winner_of_a_battle_speaks_for_itself(antigravity: Antigravity) -> None:
    antigravity.summarize(ID, battle_id="b", winning_conversation_id=ID)
    assert not (read(antigravity.app()) or {})[ID].aside


@pytest.mark.parametrize(
    ("written", "folders"),
    [
        ('["file:///c%3A/web%20shop", "/w/x"]', ("file:///c%3A/web%20shop", "/w/x")),
        ("file:///w/shop", ("file:///w/shop",)),
        ("/w/shop", ("/w/shop",)),
        ("", ()),
        ("[]", ()),
        ('["/w/', ()),
        ("[null, 3, {}]", ()),
    ],
)
def test_workspaces_are_a_list_or_one(antigravity: Antigravity, written: str, folders: tuple[str, ...]) -> None:
    antigravity.summarize(ID, workspace_uris=written)
    assert (read(antigravity.app()) or {})[ID].workspaces == folders


@pytest.mark.parametrize(
    "written",
    [
        "2026-09-01 10:00:00.002530482+00:00",
        "2026-09-01T10:00:00.00253Z",
        "2026-09-01 12:00:00.002530+0200",
        "2026-09-01 10:00:00.00253",
        "2026-09-01 10:00:00.00253 +0000 UTC",
        "2026-09-01 05:30:00.00253 -0430 -0430",
        1788256800002530,
        "1788256800002530",
    ],
)
def test_times_are_written_in_several_ways(antigravity: Antigravity, written: Any) -> None:
    antigravity.summarize(ID, last_modified_time=written)
    modified = (read(antigravity.app()) or {})[ID].modified
    assert modified == datetime(2026, 9, 1, 10, 0, 0, 2530, tzinfo=UTC)


@pytest.mark.parametrize("value", ["", "0001-01-01 00:00:00+00:00", "soon", None, b"\xff", -5, 10**30, "9" * 400])
def test_times_that_are_none_are_survived(antigravity: Antigravity, value: Any) -> None:
    with closing(sqlite3.connect(antigravity.database())) as database, database:
        database.execute("CREATE TABLE conversation_summaries (conversation_id, last_modified_time)")
        value = str(value) if isinstance(value, int) and value > 2**63 else value
        database.execute("INSERT INTO conversation_summaries VALUES (?, ?)", (ID, value))
    assert (read(antigravity.app()) or {})[ID].modified is None


def test_only_the_newest_are_read(antigravity: Antigravity, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(summaries, "MOST", 2)
    a = antigravity
    for number in range(5):
        a.summarize(ID[:-1] + str(number), last_modified_time=a.stamp(a.at(number)))
    assert sorted(read(a.app()) or {}) == [ID[:-1] + "0", ID[:-1] + "1"]
    assert list(read(a.app(), ID[:-1] + "4") or {}) == [ID[:-1] + "4"]


def test_what_another_process_is_writing_is_not_waited_for(antigravity: Antigravity) -> None:
    a = antigravity
    a.summarize(ID, title="Login")
    with closing(sqlite3.connect(a.database(), isolation_level=None)) as writer:
        writer.execute("BEGIN IMMEDIATE")
        writer.execute("UPDATE conversation_summaries SET title = 'Checkout'")
        assert (read(a.app()) or {})[ID].title == "Login"
        writer.execute("COMMIT")
        assert (read(a.app()) or {})[ID].title == "Checkout", "out of the write-ahead log"


def test_locked_database_is_told_from_an_empty_one(antigravity: Antigravity, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(summaries, "_PATIENCE", 0.01)
    a = antigravity
    a.summarize(ID)
    with closing(sqlite3.connect(a.database(), isolation_level=None)) as writer:
        writer.execute("PRAGMA locking_mode = EXCLUSIVE")
        writer.execute("PRAGMA journal_mode = DELETE")
        writer.execute("BEGIN EXCLUSIVE")
        assert read(a.app()) is None


def test_nothing_is_written_into_it(antigravity: Antigravity) -> None:
    a = antigravity
    a.summarize(ID)
    with closing(sqlite3.connect(a.database())) as writer, writer:
        writer.execute("UPDATE conversation_summaries SET title = 'Login'")
        writer.commit()
        copytree(a.app(), a.app("antigravity"), dirs_exist_ok=True)
    files = [a.database("antigravity"), a.app("antigravity") / "conversation_summaries.db-wal"]
    before = [file.read_bytes() for file in files]
    assert (read(a.app("antigravity")) or {})[ID].title == "Login"
    assert [file.read_bytes() for file in files] == before


def test_nothing_is_left_beside_it(antigravity: Antigravity) -> None:
    a = antigravity
    a.summarize(ID)
    with closing(sqlite3.connect(a.database())) as writer:
        assert writer.execute("PRAGMA journal_mode = wal").fetchone() == ("wal",)
    before = sorted(a.app().iterdir())
    assert ID in (read(a.app()) or {})
    assert sorted(a.app().iterdir()) == before


@pytest.mark.parametrize("content", [b"", b"no database at all", b"SQLite format 3\0" + b"\0" * 200], ids=len)
def test_file_that_is_no_database_holds_nothing(antigravity: Antigravity, content: bytes) -> None:
    antigravity.database().write_bytes(content)
    assert read(antigravity.app()) == {}


def test_file_that_vanishes_holds_nothing(antigravity: Antigravity, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(summaries, "summaries", lambda app: app / "gone.db")
    assert summaries.read(antigravity.app()) == {}


def test_table_without_ids_holds_nothing(antigravity: Antigravity) -> None:
    with closing(sqlite3.connect(antigravity.database())) as database, database:
        database.execute("CREATE TABLE conversation_summaries (title)")
        database.execute("INSERT INTO conversation_summaries VALUES ('Login')")
    assert read(antigravity.app()) == {}


def test_link_is_not_followed(antigravity: Antigravity, tmp_path: Path) -> None:
    a = antigravity
    a.summarize(ID, app="antigravity-ide")
    a.database().symlink_to(a.database("antigravity-ide"))
    assert read(a.app()) == {}
    assert read(a.app("antigravity")) == {}
