"""Heartbeats: one row an agent, its newest focus and its last write."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from itertools import permutations

import pytest
from sqlalchemy import Connection

from memory_plane.database import Database
from memory_plane.recall import state
from memory_plane.store import operations
from memory_plane.types import Operation

MakeOperation = Callable[..., Operation]

AT = datetime(2026, 3, 14, 9, tzinfo=UTC)
HOUR = timedelta(hours=1)


def append(connection: Connection, *batch: Operation) -> None:
    for operation in batch:
        operations.append(connection, operation, operation.created_at)


def test_newest_heartbeat_counts_in_any_order(engine: Database, operation: MakeOperation) -> None:
    beats = [operation("heartbeat", focus=f"{hour}", created_at=AT + hour * HOUR) for hour in range(3)]
    for order in permutations(beats):
        with pytest.raises(ZeroDivisionError), engine.writing() as connection:
            append(connection, *order)
            (beat,) = state.heartbeats(connection, AT, HOUR)
            assert (beat.focus, beat.at) == ("2", AT + 2 * HOUR)
            raise ZeroDivisionError  # undo, for the next order


def test_heartbeats_of_one_moment_are_ordered_by_id(engine: Database, operation: MakeOperation) -> None:
    beats = [operation("heartbeat", focus=focus, created_at=AT) for focus in ("tea", "milk")]
    last = max(beats, key=lambda one: one.id)
    for order in (beats, beats[::-1]):
        with pytest.raises(ZeroDivisionError), engine.writing() as connection:
            append(connection, *order)
            assert [beat.focus for beat in state.heartbeats(connection, AT, HOUR)] == [last.body["focus"]]
            raise ZeroDivisionError  # undo, for the other order


def test_every_write_tells_when_its_agent_last_wrote(engine: Database, operation: MakeOperation) -> None:
    future = Operation(
        id="0b5c6b0e-7d53-4c7e-9f2b-2f6f6f0e9a11", op="reshape", agent="jev", created_at=AT + 3 * HOUR, body={}
    )
    with engine.writing() as connection:
        append(connection, operation("heartbeat", agent="muse", focus="tea", created_at=AT))
        append(
            connection, operation(agent="grok", created_at=AT + HOUR), operation(agent="muse", created_at=AT + 2 * HOUR)
        )
        append(connection, operation(agent="grok", created_at=AT), future)
        assert state.writers(connection) == (("jev", AT + 3 * HOUR), ("muse", AT + 2 * HOUR), ("grok", AT + HOUR))
        beats = {beat.agent: (beat.focus, beat.status, beat.at) for beat in state.heartbeats(connection, AT, HOUR)}
    assert beats["muse"] == ("tea", "active", AT)
    assert beats["grok"] == ("", "", AT + HOUR)


@pytest.mark.parametrize(("age", "stale"), [(HOUR, False), (HOUR + timedelta(microseconds=1), True)])
def test_old_heartbeat_is_stale(engine: Database, operation: MakeOperation, age: timedelta, stale: bool) -> None:
    with engine.writing() as connection:
        append(connection, operation("heartbeat", focus="tea", created_at=AT))
        assert state.heartbeats(connection, AT + age, HOUR)[0].stale == stale
