"""The stream of thoughts, page by page: each once, newest first, whatever is asked for and whatever one page reads."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import Connection, delete, insert

from memory_plane import models
from memory_plane.database import Database
from memory_plane.recall import stream
from memory_plane.recall.stream import Wanted

AT = datetime(2026, 3, 14, 9, tzinfo=UTC)
NODE = 1

THOUGHTS = st.lists(
    st.fixed_dictionaries(
        {
            "agent": st.sampled_from(["muse", "grok"]),
            "kind": st.sampled_from(["thought", "decision"]),
            "project": st.sampled_from([None, "atlas"]),
            "origin": st.sampled_from(["user", "external"]),
            "at": st.integers(0, 6).map(lambda minute: AT + timedelta(minutes=minute)),
            "visible": st.sampled_from([True, True, True, False]),
            "named": st.booleans(),
        }
    ),
    max_size=24,
)
FILTERS = st.fixed_dictionaries(
    {},
    optional={
        "agent": st.just("muse"),
        "kind": st.just("decision"),
        "project": st.just("atlas"),
        "origin": st.just("external"),
        "about": st.just("Ann"),
        "since": st.just(AT + timedelta(minutes=1)),
        "until": st.just(AT + timedelta(minutes=4)),
    },
)


@pytest.fixture
def connection(engine: Database, monkeypatch: pytest.MonkeyPatch) -> Iterator[Connection]:
    """A transaction that lasts for the test; one page reads seven thoughts at most."""
    monkeypatch.setattr(stream, "LOOKED_AT", 7)
    with engine.writing() as connection:
        yield connection


def fill(connection: Connection, thoughts: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Write these and nothing else, and return them with their ids, newest first."""
    for table in (models.mentions, models.aliases, models.thoughts, models.operations, models.graph_nodes):
        connection.execute(delete(table))
    ann = {"key": NODE, "id": str(UUID(int=9)), "type": "Person", "name": "Ann", "slug": "person:ann"}
    connection.execute(insert(models.graph_nodes), [{**ann, "origin": "user", "founded_at": AT}])
    connection.execute(insert(models.aliases), [{"name": "ann", "node": NODE, "part": False, "uses": 1}])
    # Ids are in no order, as in life.
    rows = [{**one, "seq": seq, "id": str(UUID(int=seq * 7919 % 101 + 100))} for seq, one in enumerate(thoughts, 1)]
    for row in rows:
        said = {"op": "thought", "agent": row["agent"], "created_at": row["at"], "text": "Hello Ann", "body": "{}"}
        connection.execute(insert(models.operations), [{"seq": row["seq"], "id": row["id"], **said}])
        columns = ("seq", "agent", "kind", "project", "origin", "at", "visible")
        connection.execute(insert(models.thoughts), [{name: row[name] for name in columns} | {"pinned": False}])
        if row["named"]:
            connection.execute(insert(models.mentions), [{"seq": row["seq"], "start": 6, "end": 9, "node": NODE}])
    return sorted(rows, key=lambda row: (row["at"], row["id"]), reverse=True)


def fits(row: dict[str, Any], wanted: dict[str, Any]) -> bool:
    equal = all(row[name] == value for name, value in wanted.items() if name in row)
    within = wanted.get("since", AT) <= row["at"] <= wanted.get("until", row["at"])
    return bool(row["visible"] and equal and within and (row["named"] or "about" not in wanted))


def pages(connection: Connection, wanted: dict[str, Any], limit: int) -> Iterator[stream.Page]:
    before = None
    while True:
        page = stream.page(connection, Wanted(**wanted, before=before), limit)
        yield page
        if (before := page.older) is None:
            return


@given(thoughts=THOUGHTS, wanted=FILTERS, limit=st.integers(1, 5))
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_pages_give_all_that_fits_once_and_in_order(
    connection: Connection, thoughts: list[dict[str, Any]], wanted: dict[str, Any], limit: int
) -> None:
    rows = fill(connection, thoughts)
    got = list(pages(connection, wanted, limit))
    assert [thought.id for page in got for thought in page.thoughts] == [row["id"] for row in rows if fits(row, wanted)]
    assert all(len(page.thoughts) <= limit for page in got)


def test_a_page_without_a_hit_says_where_to_go_on(connection: Connection) -> None:
    plain = {"kind": "thought", "project": None, "origin": "user", "visible": True, "named": False}
    fill(connection, [{**plain, "agent": "grok" if n else "muse", "at": AT + timedelta(minutes=n)} for n in range(9)])
    first = stream.page(connection, Wanted(agent="muse"), 3)
    assert first.thoughts == ()
    assert first.older is not None
    second = stream.page(connection, Wanted(agent="muse", before=first.older), 3)
    assert [thought.agent for thought in second.thoughts] == ["muse"]


@pytest.mark.parametrize("about", [None, "Ann"])
def test_the_oldest_is_reached_however_much_fits(connection: Connection, about: str | None) -> None:
    plain = {"agent": "muse", "kind": "thought", "project": None, "origin": "user", "visible": True, "named": True}
    rows = fill(connection, [{**plain, "at": AT + timedelta(minutes=number)} for number in range(30)])
    got = [one.id for page in pages(connection, {"about": about} if about else {}, 4) for one in page.thoughts]
    assert got == [row["id"] for row in rows]
