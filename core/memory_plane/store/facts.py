"""Facts: a chain of values for each (subject, key), ordered by when they were written and not by arrival.

A value gives way from the next one's `valid_from` on, but never before it began itself.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import Connection, Row, and_, bindparam, insert, or_, select, update

from memory_plane import models
from memory_plane.prepared import Prepared
from memory_plane.store import derivations, index, log, marks
from memory_plane.store.names import folded
from memory_plane.types import Operation

_facts, _log = models.facts, models.operations
_same = (
    select(_facts.c.seq, _facts.c.valid_from, _facts.c.superseded_at, _log.c.id)
    .join(_log, _log.c.seq == _facts.c.seq)
    .where(_facts.c.subject == bindparam("subject"), _facts.c.fact_key == bindparam("key"), _facts.c.visible)
    .limit(1)
)
_earlier = or_(_facts.c.at < bindparam("at"), and_(_facts.c.at == bindparam("at"), _log.c.id < bindparam("id")))
_later = or_(_facts.c.at > bindparam("at"), and_(_facts.c.at == bindparam("at"), _log.c.id > bindparam("id")))
_before = Prepared(_same.where(_earlier).order_by(_facts.c.at.desc(), _log.c.id.desc()))
_after = Prepared(_same.where(_later).order_by(_facts.c.at, _log.c.id))
_new = Prepared(insert(_facts))


def fold(connection: Connection, seq: int, operation: Operation, at: datetime) -> None:
    """Put a value into its place in the chain."""
    body = operation.body
    visible = marks.read(connection, operation.id).visible(held=False)
    row = {
        "seq": seq,
        "subject": folded(body["subject"]),
        "fact_key": folded(body["key"]),
        "at": at,
        "origin": body["origin"],
        "confidence": body["confidence"],
        "valid_from": _time(body.get("valid_from")) or at,
        "valid_until": _time(body.get("valid_until")),
        "superseded_at": None,
        "visible": visible,
    }
    if visible:
        row["superseded_at"] = _link(connection, operation.id, row)
    _new.run(connection, **row)
    if visible and row["superseded_at"] is None:
        index.put(connection, document(seq, operation))


def set_visible(connection: Connection, seq: int, operation: Operation, visible: bool) -> None:
    """Take a value out of its chain, or back into it; its neighbours close up."""
    known = connection.execute(select(_facts).where(_facts.c.seq == seq)).one_or_none()
    if known is None or known.visible == visible:  # a rebuild may not have come to it yet
        return
    place = {"subject": known.subject, "fact_key": known.fact_key, "at": known.at, "valid_from": known.valid_from}
    if visible:
        superseded_at = _link(connection, operation.id, place)
        _set(connection, seq, superseded_at=superseded_at, visible=True)
        if superseded_at is None:
            index.put(connection, document(seq, operation))
        derivations.apply_all(connection, seq)
    else:
        _set(connection, seq, superseded_at=None, visible=False)
        if known.superseded_at is None:
            index.take(connection, document(seq, operation))
        derivations.remove_all(connection, seq)
        _unlink(connection, operation.id, place)


def document(seq: int, operation: Operation) -> index.Document:
    """Return the fact as the index has it."""
    body = operation.body
    words = f"{body['subject']} {body['key'].replace('_', ' ')}: {body['value']}"
    project = body.get("project")
    return index.document(seq, words, agent=operation.agent, kind="fact", project=project, at=operation.created_at)


def _link(connection: Connection, id: str, row: dict[str, Any]) -> datetime | None:
    """Make the value before give way to this one; return when this one gave way, None if it is current."""
    before, after = _neighbours(connection, id, row)
    if before is not None:
        _give_way(connection, before, max(row["valid_from"], before.valid_from))
    return None if after is None else max(after.valid_from, row["valid_from"])


def _unlink(connection: Connection, id: str, row: dict[str, Any]) -> None:
    before, after = _neighbours(connection, id, row)
    if before is not None:
        _give_way(connection, before, None if after is None else max(after.valid_from, before.valid_from))


def _neighbours(
    connection: Connection, id: str, row: dict[str, Any]
) -> tuple[Row[*tuple[Any, ...]] | None, Row[*tuple[Any, ...]] | None]:
    place = {"subject": row["subject"], "key": row["fact_key"], "at": row["at"], "id": id}
    return _before.first(connection, **place), _after.first(connection, **place)


def _give_way(connection: Connection, fact: Row[*tuple[Any, ...]], at: datetime | None) -> None:
    """Close a value at a time, or make it the current one again; only the current one is in the index."""
    _set(connection, fact.seq, superseded_at=at)
    if (fact.superseded_at is None) == (at is None):
        return
    found = log.get(connection, fact.id)
    assert found is not None
    change = index.put if at is None else index.take
    change(connection, document(*found))


def _set(connection: Connection, seq: int, **values: Any) -> None:
    connection.execute(update(_facts).where(_facts.c.seq == seq).values(**values))


def _time(value: str | None) -> datetime | None:
    return None if value is None else datetime.fromisoformat(value)
