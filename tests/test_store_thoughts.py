"""Thoughts: visible unless they are held back or retracted, and in the index exactly while they are visible."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import permutations

import pytest
from sqlalchemy import Connection, text

from memory_plane.database import Database
from memory_plane.recall import state
from memory_plane.store import operations
from memory_plane.types import Operation

MakeOperation = Callable[..., Operation]


def append(connection: Connection, batch: Sequence[Operation]) -> None:
    for operation in batch:
        operations.append(connection, operation, operation.created_at)


def indexed(connection: Connection) -> list[int]:
    return list(connection.execute(text("SELECT rowid FROM memory_fts WHERE memory_fts MATCH 'tea'")).scalars())


def test_thought_has_what_was_written(engine: Database, operation: MakeOperation) -> None:
    written = operation(text="Ann likes tea", kind="decision", project="kitchen", origin="user")
    with engine.writing() as connection:
        append(connection, [written])
        (thought,) = state.thoughts(connection, 10)
        assert indexed(connection) == [1]
    assert (thought.id, thought.text, thought.kind) == (written.id, "Ann likes tea", "decision")
    assert (thought.project, thought.origin, thought.created_at) == ("kitchen", "user", written.created_at)
    assert not thought.pinned


@pytest.mark.parametrize(
    ("held", "about", "visible"),
    [
        (None, [], True),
        (True, [], False),
        (True, ["release"], True),
        (None, ["retract"], False),
        (None, ["release"], True),
        (True, ["release", "retract"], False),
        (True, ["retract", "release"], False),
        (None, ["retract", "retract"], False),
        (None, ["pin", "retract"], False),
    ],
)
def test_what_is_said_of_a_thought_decides_in_any_order(
    engine: Database, operation: MakeOperation, held: bool | None, about: list[str], visible: bool
) -> None:
    thought = operation(text="Ann likes tea", held=held)
    batch = [thought, *(operation(op, target=thought.id) for op in about)]
    for order in permutations(batch):
        with pytest.raises(ZeroDivisionError), engine.writing() as connection:
            append(connection, order)
            assert len(state.thoughts(connection, 10)) == len(indexed(connection)) == int(visible)
            raise ZeroDivisionError  # undo, for the next order


@pytest.mark.parametrize(("pins", "pinned"), [([True], True), ([True, False], False), ([False, True], True)])
def test_last_pin_counts(engine: Database, operation: MakeOperation, pins: list[bool], pinned: bool) -> None:
    thought = operation(text="Ann likes tea")
    batch = [operation("pin", target=thought.id, pinned=value) for value in pins]
    with engine.writing() as connection:
        append(connection, [*batch[::-1], thought])
        assert state.thoughts(connection, 10)[0].pinned == pinned
