"""The operation log: insert a row, read operations back."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, bindparam, func, or_, select, update

from memory_plane import models
from memory_plane.operations import FORGOTTEN, TARGET_FIELD, TEXT_FIELD, memory_of
from memory_plane.prepared import Prepared
from memory_plane.types import Memory, Operation

_log = models.operations
_columns = (_log.c.seq, _log.c.id, _log.c.op, _log.c.agent, _log.c.created_at, _log.c.text, _log.c.body)
_USUAL: dict[str, dict[str, Any]] = {
    "thought": {"kind": "thought", "origin": "agent"},
    "fact": {"confidence": 1.0, "origin": "agent"},
}
"""What most bodies say is not stored. Rows rely on it, so it can never change."""

_effective = models.effective().label("effective")
_by_id = Prepared(select(*_columns).where(_log.c.id == bindparam("id")))
_by_seq = Prepared(select(*_columns, _effective).where(_log.c.seq == bindparam("seq")))
_new = Prepared(
    lambda insert: insert(_log).on_conflict_do_nothing().returning(_log.c.seq),
    *(column.name for column in _log.c if column is not _log.c.seq),
)
_prefix = select(_log.c.id).where(_log.c.id.between(bindparam("low"), bindparam("high"))).limit(10)


def insert(
    connection: Connection, operation: Operation, effective_at: datetime, received_from: str | None = None
) -> int | None:
    """Add an operation; return its row, None where its id is there already."""
    words, body = _apart(operation)
    seq: int | None = _new.scalar(
        connection,
        id=operation.id,
        op=operation.op,
        agent=operation.agent,
        created_at=operation.created_at,
        effective_at=None if effective_at == operation.created_at else effective_at,
        target=target_of(operation),
        text=words,
        body=body,
        received_from=received_from,
    )
    return seq


def empty(connection: Connection, seq: int, tombstone: Operation) -> None:
    """Leave only a tombstone in a row."""
    words, body = _apart(tombstone)
    values = {"op": tombstone.op, "target": None, "text": words, "body": body}
    connection.execute(update(_log).where(_log.c.seq == seq).values(**values))


def target_of(operation: Operation) -> str | None:
    """Return the id of the operation that this one is about, of a memory also where it is about one of its items."""
    field = TARGET_FIELD.get(operation.op)
    found: str | None = None if field is None else operation.body.get(field)
    return None if found is None else found.partition(".")[0]


def get(connection: Connection, id: str) -> tuple[int, Operation] | None:
    """Return the row and the operation with this id."""
    row = _by_id.first(connection, id=id)
    return None if row is None else (row.seq, _restore(row))


def memory(connection: Connection, seq: int) -> tuple[Memory, datetime] | None:
    """Return the memory in this row and its effective time, None where it holds another operation or nothing."""
    row = _by_seq.first(connection, seq=seq)
    found = None if row is None else memory_of(_restore(row))
    return None if row is None or found is None else (found, row.effective)


def at(connection: Connection, seq: int) -> Operation:
    """Return the operation in this row, which must be there."""
    return _restore(_by_seq.first(connection, seq=seq))


def effective(connection: Connection, seq: int) -> datetime:
    """Return the time that the operation in this row counts from; it must be there."""
    row = _by_seq.first(connection, seq=seq)
    assert row is not None
    at: datetime = row.effective
    return at


def find(connection: Connection, prefix: str) -> list[str]:
    """Return up to 10 ids that begin with `prefix`: hexadecimal digits, dashes allowed, the place of an item kept."""
    beginning, dot, place = prefix.partition(".")
    digits = beginning.replace("-", "").lower()
    if not digits or len(digits) > 32 or set(digits) - set("0123456789abcdef"):
        return []
    bounds = {"low": digits.ljust(32, "0"), "high": digits.ljust(32, "f")}
    return [f"{id}{dot}{place}" for id in connection.execute(_prefix, bounds).scalars()]


def count(connection: Connection) -> int:
    """Return the number of operations."""
    return connection.execute(select(func.count()).select_from(_log)).scalar_one()


def replay(connection: Connection, batch: int = 1000) -> Iterator[tuple[int, Operation, datetime]]:
    """Yield every operation as (row, operation, effective time) in (created_at, id) order."""
    ordered = select(*_columns, _effective).order_by(_log.c.created_at, _log.c.id)
    for row in connection.execute(ordered.execution_options(yield_per=batch)):
        yield row.seq, _restore(row), row.effective


def between(
    connection: Connection, after: int, end: int, peer: str | None, batch: int = 200
) -> Iterator[tuple[int, Operation, datetime]]:
    """Yield what was written in the rows behind `after` up to `end`, but for what came from `peer` or is forgotten."""
    chosen = (_log.c.seq > after, _log.c.seq <= end, _log.c.op != FORGOTTEN)
    rows = select(*_columns, _effective).where(*chosen).order_by(_log.c.seq)
    if peer is not None:
        rows = rows.where(or_(_log.c.received_from.is_(None), _log.c.received_from != peer))
    for row in connection.execute(rows.execution_options(yield_per=batch)):
        yield row.seq, _restore(row), row.effective


def memories(connection: Connection) -> list[int]:
    """Return the rows of all memories in (created_at, id) order."""
    chosen = select(_log.c.seq).where(_log.c.op.in_(("thought", "fact"))).order_by(_log.c.created_at, _log.c.id)
    return list(connection.execute(chosen).scalars())


def _restore(row: Any) -> Operation:
    """Make the operation of a row with the log's columns."""
    body: dict[str, Any] = {**_USUAL.get(row.op, {}), **json.loads(row.body)}
    if row.text is not None:
        body[TEXT_FIELD[row.op]] = row.text
    return Operation(id=row.id, op=row.op, agent=row.agent, created_at=row.created_at, body=body)


def _apart(operation: Operation) -> tuple[str | None, str]:
    field = TEXT_FIELD.get(operation.op)
    usual = _USUAL.get(operation.op, {})
    rest = {name: value for name, value in operation.body.items() if name != field and usual.get(name) != value}
    words = operation.body.get(field) if field is not None else None
    return words, json.dumps(rest, ensure_ascii=False, separators=(",", ":"), sort_keys=True)
