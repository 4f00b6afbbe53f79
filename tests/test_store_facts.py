"""Facts: a chain of values by their own time; the last visible one is current, and it alone is in the index."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from itertools import permutations
from typing import Any

import pytest
from sqlalchemy import Connection, text

from memory_plane.database import Database
from memory_plane.operations import iso
from memory_plane.recall import search, state
from memory_plane.store import operations
from memory_plane.types import Operation

MakeOperation = Callable[..., Operation]

AT = datetime(2026, 3, 14, 9, tzinfo=UTC)
HOUR = timedelta(hours=1)


def append(connection: Connection, *batch: Operation) -> None:
    for operation in batch:
        operations.append(connection, operation, operation.created_at)


def chain(connection: Connection) -> list[tuple[str, datetime | None]]:
    """Every visible value with when it gave way, the oldest first."""
    facts = sorted(state.facts(connection, history=True), key=lambda fact: (fact.created_at, fact.id))
    return [(fact.value, fact.superseded_at) for fact in facts]


def indexed(connection: Connection) -> set[str]:
    query = "SELECT o.text FROM memory_fts f JOIN operations o ON o.seq = f.rowid WHERE memory_fts MATCH 'city'"
    return set(connection.execute(text(query)).scalars())


@pytest.fixture
def city(operation: MakeOperation) -> Callable[..., Operation]:
    """Give `city(value, hour)`: a value of (Ann, city) written so many hours after nine."""

    def make(value: str, hour: float, **body: Any) -> Operation:
        named = {"subject": "Ann", "key": "city"} | body
        return operation("fact", value=value, created_at=AT + hour * HOUR, **named)

    return make


@pytest.mark.parametrize("order", [*permutations(range(3))])
def test_chain_is_the_same_in_any_order(
    engine: Database, city: Callable[..., Operation], order: tuple[int, ...]
) -> None:
    values = [city("Rome", 0), city("Oslo", 1), city("Bern", 2)]
    with engine.writing() as connection:
        append(connection, *[values[place] for place in order])
        assert chain(connection) == [("Rome", AT + HOUR), ("Oslo", AT + 2 * HOUR), ("Bern", None)]
        assert indexed(connection) == {"Bern"}


@pytest.mark.parametrize("gone", [0, 1, 2])
def test_neighbours_of_a_retracted_value_close_up(
    engine: Database, operation: MakeOperation, city: Callable[..., Operation], gone: int
) -> None:
    values = [city("Rome", 0), city("Oslo", 1), city("Bern", 2)]
    with engine.writing() as connection:
        append(connection, *values, operation("retract", target=values[gone].id))
        first, second = (value for place, value in enumerate(values) if place != gone)
        assert chain(connection) == [(first.body["value"], second.created_at), (second.body["value"], None)]
        assert indexed(connection) == {second.body["value"]}


def test_all_values_may_be_retracted(
    engine: Database, operation: MakeOperation, city: Callable[..., Operation]
) -> None:
    values = [city("Rome", 0), city("Oslo", 1)]
    with engine.writing() as connection:
        append(connection, *values, *[operation("retract", target=one.id) for one in values])
        assert chain(connection) == []
        assert indexed(connection) == set()
        append(connection, city("Bern", 0.5))
        assert chain(connection) == [("Bern", None)]


def test_value_retracted_before_it_came_never_counts(
    engine: Database, operation: MakeOperation, city: Callable[..., Operation]
) -> None:
    wrong = city("Oslo", 1)
    with engine.writing() as connection:
        append(connection, city("Rome", 0), operation("retract", target=wrong.id), wrong)
        assert chain(connection) == [("Rome", None)]
        assert indexed(connection) == {"Rome"}


def test_values_of_one_moment_are_ordered_by_id(engine: Database, city: Callable[..., Operation]) -> None:
    values = sorted((city("Rome", 0), city("Oslo", 0)), key=lambda one: one.id)
    for order in (values, values[::-1]):
        with pytest.raises(ZeroDivisionError), engine.writing() as connection:
            append(connection, *order)
            assert [fact.value for fact in state.facts(connection)] == [values[1].body["value"]]
            raise ZeroDivisionError  # undo, for the other order


@pytest.mark.parametrize(("subject", "key"), [("ANN", "City"), (" ann ", "CITY"), ("Ａｎｎ", "city")])
def test_spelling_makes_no_other_fact(engine: Database, city: Callable[..., Operation], subject: str, key: str) -> None:
    with engine.writing() as connection:
        append(connection, city("Rome", 0), city("Oslo", 1, subject=subject, key=key))
        assert len(state.facts(connection)) == 1
        assert len(state.facts(connection, subject=subject, key=key, history=True)) == 2


@pytest.mark.parametrize(("subject", "key"), [("Anne", "city"), ("Ann", "cities"), ("Ánn", "city")])
def test_other_names_are_other_facts(engine: Database, city: Callable[..., Operation], subject: str, key: str) -> None:
    with engine.writing() as connection:
        append(connection, city("Rome", 0), city("Oslo", 1, subject=subject, key=key))
        assert len(state.facts(connection)) == 2


def test_value_gives_way_when_the_next_one_begins_to_hold(engine: Database, city: Callable[..., Operation]) -> None:
    with engine.writing() as connection:
        append(connection, city("Rome", 0, valid_from=AT - 9 * HOUR), city("Oslo", 1, valid_from=AT + 5 * HOUR))
        assert chain(connection) == [("Rome", AT + 5 * HOUR), ("Oslo", None)]
        for hour, value in ((-8, "Rome"), (4, "Rome"), (5, "Oslo")):
            assert [fact.value for fact in state.facts(connection, as_of=AT + hour * HOUR)] == [value]


def test_fact_keeps_what_was_written_of_it(engine: Database, city: Callable[..., Operation]) -> None:
    with engine.writing() as connection:
        append(connection, city("Rome", 0, confidence=0.25, origin="user", source="mail", valid_until=AT + HOUR))
        (fact,) = state.facts(connection, as_of=AT)
    assert (fact.confidence, fact.origin, fact.source, fact.agent) == (0.25, "user", "mail", "muse")
    assert (fact.created_at, fact.valid_from, fact.valid_until) == (AT, AT, AT + HOUR)


def test_value_with_an_end_covers_what_was_before_only_while_it_lasts(
    engine: Database, city: Callable[..., Operation]
) -> None:
    with engine.writing() as connection:
        append(connection, city("Rome", 0))
        append(connection, city("Oslo", 1, valid_from=AT + 2 * HOUR, valid_until=AT + 4 * HOUR))
        held = [state.facts(connection, as_of=AT + hour * HOUR)[0].value for hour in range(1, 6)]
        now = [fact.value for fact in state.facts(connection)]
    assert held == ["Rome", "Oslo", "Oslo", "Rome", "Rome"]
    assert now == ["Rome"]


def test_value_of_the_future_leaves_the_present_alone(engine: Database, city: Callable[..., Operation]) -> None:
    ahead = datetime.now(UTC) + 24 * HOUR
    with engine.writing() as connection:
        append(connection, city("Rome", 0))
        append(connection, city("Oslo", 1, valid_from=ahead))
        assert [fact.value for fact in state.facts(connection)] == ["Rome"]
        assert [fact.value for fact in state.facts(connection, as_of=ahead + HOUR)] == ["Oslo"]
        assert {
            hit.snippet for hit in search.search(connection, "Rome", search.Filters(), now=datetime.now(UTC)).hits
        } == {"Ann city: Rome"}


@pytest.mark.parametrize(("true", "known", "value"), [(1, 1, "Rome"), (3, 3, "Rome"), (3, 5, "Oslo"), (5, 5, "Oslo"),
                                                      (1, 5, "Rome"), (0, 0, None), (-1, 9, None)])  # fmt: skip
def test_fact_is_as_it_was_known_then(
    engine: Database, city: Callable[..., Operation], true: int, known: int, value: str | None
) -> None:
    with engine.writing() as connection:
        append(connection, city("Rome", 0.5, valid_from=iso(AT)), city("Oslo", 4, valid_from=iso(AT + 2 * HOUR)))
        found = state.facts(connection, as_of=AT + true * HOUR, known=AT + known * HOUR)
        assert [fact.value for fact in found] == ([value] if value else [])


def test_history_ends_with_what_was_known(engine: Database, city: Callable[..., Operation]) -> None:
    with engine.writing() as connection:
        append(connection, *[city(f"town {hour}", hour) for hour in range(30)])
        found = state.facts(connection, known=AT + 20 * HOUR, limit=1)
        assert [(fact.value, fact.superseded_at) for fact in found] == [("town 20", None)]
