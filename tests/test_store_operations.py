"""Appending: an operation and its fold are one step, and a clock that runs ahead does not win."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from memory_plane.database import Database
from memory_plane.store import log, operations
from memory_plane.store.operations import AHEAD
from memory_plane.types import Operation

MakeOperation = Callable[..., Operation]

NOW = datetime(2026, 3, 14, 9, tzinfo=UTC)


def test_new_operation_is_told_from_a_known_one(engine: Database, operation: MakeOperation) -> None:
    first, other = operation(text="Ann likes tea"), operation(text="Bob likes milk")
    clash = replace(other, id=first.id)
    with engine.writing() as connection:
        told = [operations.append(connection, one, NOW) for one in (first, first, clash)]
        assert [(one.seq, one.new, one.clash, one.ahead) for one in told] == [
            (1, True, False, False), (1, False, False, False), (1, False, True, False),
        ]  # fmt: skip
        assert log.get(connection, first.id) == (1, first)


@pytest.mark.parametrize(
    ("ahead", "counts_from"),
    [(AHEAD, NOW + AHEAD), (AHEAD + timedelta(microseconds=1), NOW), (timedelta(days=900), NOW), (-AHEAD, NOW - AHEAD)],
)
def test_time_counts_from_now_where_it_is_too_far_ahead(
    engine: Database, operation: MakeOperation, ahead: timedelta, counts_from: datetime
) -> None:
    early = operation(created_at=NOW + ahead)
    with engine.writing() as connection:
        appended = operations.append(connection, early, NOW)
        assert appended.ahead == (ahead > AHEAD)
        ((_, stored, effective_at),) = log.replay(connection)
    assert (stored.created_at, effective_at) == (NOW + ahead, counts_from)


def test_fold_that_fails_takes_the_operation_with_it(engine: Database, operation: MakeOperation) -> None:
    broken = replace(operation("heartbeat", focus="tea"), body={})
    with pytest.raises(KeyError), engine.writing() as connection:
        operations.append(connection, broken, NOW)
    with engine.reading() as connection:
        assert log.count(connection) == 0
