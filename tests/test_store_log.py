"""The log: each operation once, as it was written."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import Connection

from memory_plane.database import Database
from memory_plane.operations import parse_operation, record_of
from memory_plane.store import log
from memory_plane.types import Operation

MakeOperation = Callable[..., Operation]

AT = datetime(2026, 3, 14, 9, tzinfo=UTC)
ID = "0b5c6b0e-7d53-4c7e-9f2b-2f6f6f0e9a11"


def insert(connection: Connection, *batch: Operation) -> list[int | None]:
    return [log.insert(connection, operation, operation.created_at) for operation in batch]


@pytest.mark.parametrize(
    ("op", "body"),
    [
        ("thought", {"text": "Ann likes tea"}),
        ("thought", {"text": "Tea?", "kind": "question", "origin": "user", "to": "grok", "held": True}),
        ("fact", {"subject": "Ann", "key": "city", "value": "Rome"}),
        ("fact", {"subject": "Ann", "key": "city", "value": "Rome", "confidence": 0, "origin": "external"}),
        ("heartbeat", {"focus": "tea"}),
        ("resolve", {"item": ID}),
        ("retract", {"target": ID}),
    ],
)
def test_operation_comes_back_as_it_was_written(
    engine: Database, operation: MakeOperation, op: str, body: dict[str, object]
) -> None:
    written = operation(op, **body)
    with engine.writing() as connection:
        (seq,) = insert(connection, written)
        assert log.get(connection, written.id) == (seq, written)
        assert parse_operation(record_of(written)) == written


def test_operation_is_inserted_once(engine: Database, operation: MakeOperation) -> None:
    written = operation()
    with engine.writing() as connection:
        assert insert(connection, written, written) == [1, None]
        assert log.count(connection) == 1


def test_operation_of_the_future_is_kept(engine: Database) -> None:
    future = Operation(
        id=ID, op="reshape", agent="muse", created_at=AT, body={"text": "a", "target": ID, "n": [1, None]}
    )
    with engine.writing() as connection:
        insert(connection, future)
        assert log.get(connection, ID) == (1, future)
        assert log.target_of(future) is None


def test_unknown_id_is_nothing(engine: Database) -> None:
    with engine.reading() as connection:
        assert log.get(connection, ID) is None
        assert log.memory(connection, 7) is None


def test_memory_comes_with_the_time_it_counts_from(engine: Database, operation: MakeOperation) -> None:
    thought, beat = operation(text="Ann likes tea"), operation("heartbeat", focus="tea")
    with engine.writing() as connection:
        log.insert(connection, thought, AT)
        log.insert(connection, beat, AT)
        found = log.memory(connection, 1)
        assert found is not None
        assert (found[0].text, found[1]) == ("Ann likes tea", AT)
        assert log.memory(connection, 2) is None


@pytest.mark.parametrize(("op", "target"), [("resolve", ID), ("retract", ID), ("thought", None)])
def test_operation_tells_what_it_is_about(operation: MakeOperation, op: str, target: str | None) -> None:
    bodies = {"resolve": {"item": ID}, "retract": {"target": ID}, "thought": {}}
    assert log.target_of(operation(op, **bodies[op])) == target


def test_replay_is_by_time_and_then_by_id(engine: Database, operation: MakeOperation) -> None:
    batch = [operation(text=text, created_at=AT + timedelta(minutes=at)) for text, at in (("a", 2), ("b", 1), ("c", 1))]
    with engine.writing() as connection:
        insert(connection, *batch)
        told = [one for _, one, _ in log.replay(connection, batch=1)]
        assert told == sorted(batch, key=lambda one: (one.created_at, one.id))
        assert [seq for seq, _, _ in log.replay(connection)] == log.memories(connection)


def test_ids_are_found_by_their_beginning(engine: Database, operation: MakeOperation) -> None:
    ids = [f"aaaa{number:04x}-0000-4000-8000-000000000000" for number in range(12)]
    with engine.writing() as connection:
        insert(connection, *[operation(id=id) for id in [*ids, ID]])
        assert len(log.find(connection, "aaaa")) == 10
        assert log.find(connection, "aaaa0003") == log.find(connection, "AAAA-0003") == [ids[3]]
        assert log.find(connection, ID) == [ID]
        for prefix in ("", "-", "xyz", "b", ID + "0", "aaaa%", "aaaa_"):
            assert log.find(connection, prefix) == []
