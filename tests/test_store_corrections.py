"""Operations about another one: what makes sense, and how all that was said of one memory adds up."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from itertools import permutations
from typing import Any

import pytest

from memory_plane.database import Database
from memory_plane.store import corrections, marks, operations
from memory_plane.store.marks import Marks
from memory_plane.types import Operation

MakeOperation = Callable[..., Operation]

AT = datetime(2026, 3, 14, 9, tzinfo=UTC)
UNKNOWN = "0b5c6b0e-7d53-4c7e-9f2b-2f6f6f0e9a11"
ITEMS: dict[str, dict[str, Any]] = {"resolve": {}, "assign": {"to": "grok"}, "snooze": {"until": AT}}
TARGETS: dict[str, dict[str, Any]] = {"pin": {}, "retract": {}, "release": {}}


@pytest.mark.parametrize(("op", "field"), [(op, "item") for op in ITEMS] + [(op, "target") for op in TARGETS])
def test_operation_about_something_unknown_makes_no_sense(
    engine: Database, operation: MakeOperation, op: str, field: str
) -> None:
    about = operation(op, **{field: UNKNOWN}, **(ITEMS | TARGETS)[op])
    with engine.writing() as connection:
        assert corrections.refusal(connection, about) == f"{field}: nothing here has the id {UNKNOWN}"


@pytest.mark.parametrize("op", ITEMS)
def test_only_items_can_be_settled(engine: Database, operation: MakeOperation, op: str) -> None:
    thought, question = operation(text="Tea"), operation(text="Tea?", kind="question")
    with engine.writing() as connection:
        for one in (thought, question):
            operations.append(connection, one, one.created_at)
        told = corrections.refusal(connection, operation(op, item=thought.id, **ITEMS[op]))
        assert told == f"item: {thought.id} is no question, commitment or handoff"
        assert corrections.refusal(connection, operation(op, item=question.id, **ITEMS[op])) is None


@pytest.mark.parametrize("op", TARGETS)
def test_only_memories_can_be_corrected(engine: Database, operation: MakeOperation, op: str) -> None:
    fact, beat = operation("fact", subject="Ann", key="city", value="Rome"), operation("heartbeat", focus="tea")
    with engine.writing() as connection:
        for one in (fact, beat):
            operations.append(connection, one, one.created_at)
        told = corrections.refusal(connection, operation(op, target=beat.id, **TARGETS[op]))
        assert told == f"target: {beat.id} is a 'heartbeat' operation; give the id of a thought or fact"
        assert corrections.refusal(connection, operation(op, target=fact.id, **TARGETS[op])) is None


def test_operation_about_nothing_makes_sense(engine: Database, operation: MakeOperation) -> None:
    with engine.writing() as connection:
        assert corrections.refusal(connection, operation()) is None


def test_marks_add_up_by_time_whatever_the_order(engine: Database, operation: MakeOperation) -> None:
    said = [
        operation("resolve", item=UNKNOWN, status="done"),
        operation("resolve", item=UNKNOWN, status="dropped"),
        operation("assign", item=UNKNOWN, to="grok"),
        operation("snooze", item=UNKNOWN, until=AT),
        operation("pin", target=UNKNOWN),
    ]
    expected = Marks(status="dropped", addressee="grok", snoozed_until=AT, pinned=True)
    for order in permutations(said):
        with pytest.raises(ZeroDivisionError), engine.writing() as connection:
            for one in order:
                operations.append(connection, one, one.created_at)
            assert marks.read(connection, UNKNOWN) == expected
            raise ZeroDivisionError  # undo, for the next order


def test_memory_of_which_nothing_was_said_is_open_and_visible(engine: Database) -> None:
    with engine.reading() as connection:
        said = marks.read(connection, UNKNOWN)
    assert said == Marks()
    assert said.visible(held=False)
    assert not said.visible(held=True)


def test_retraction_is_stronger_than_release() -> None:
    assert Marks(released=True).visible(held=True)
    assert not Marks(released=True, retracted=True).visible(held=False)
