"""The queue of what plugins have yet to say, and the cursors of their sources."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from memory_plane.database import Database
from memory_plane.store import cursors, enrichment

AT = datetime(2026, 3, 14, 9, tzinfo=UTC)
MINUTE = timedelta(minutes=1)


def test_entries_wait_until_they_are_done(engine: Database) -> None:
    with engine.writing() as connection:
        enrichment.put(connection, 2, ("jev", "llm"))
        enrichment.put(connection, 1, ("jev",))
        enrichment.put(connection, 1, ())
        assert [entry[1] for entry in enrichment.due(connection, AT, 10)] == [1, 2, 2]
        assert [entry[:2] for entry in enrichment.due(connection, AT, 1)] == [("jev", 1)]
        assert enrichment.depth(connection) == 3
        enrichment.done(connection, "jev", 2)
        assert {entry for entry in enrichment.due(connection, AT, 10)} == {("jev", 1, 0), ("llm", 2, 0)}


def test_entry_is_put_once(engine: Database) -> None:
    with engine.writing() as connection:
        enrichment.put(connection, 1, ("jev",))
        enrichment.postpone(connection, "jev", 1, AT, "down")
        enrichment.put(connection, 1, ("jev",))
        assert enrichment.due(connection, AT, 10) == [("jev", 1, 1)]


def test_postponed_entry_comes_again_at_its_time(engine: Database) -> None:
    with engine.writing() as connection:
        enrichment.put(connection, 1, ("jev",))
        enrichment.postpone(connection, "jev", 1, AT + MINUTE, "down " * 500)
        assert enrichment.due(connection, AT, 10) == []
        assert enrichment.depth(connection) == 1
        assert enrichment.due(connection, AT + MINUTE, 10) == [("jev", 1, 1)]


def test_cursor_is_the_last_one_put(engine: Database) -> None:
    with engine.writing() as connection:
        assert cursors.get(connection, "muse") is None
        cursors.put(connection, "muse", "1")
        cursors.put(connection, "muse", "")
        cursors.put(connection, "grok", "7")
        assert (cursors.get(connection, "muse"), cursors.get(connection, "grok")) == ("", "7")
