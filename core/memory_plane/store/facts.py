"""Facts: the values of each (subject, key), ordered by when they were written and not by arrival.

What holds at a time is the value written last of those that claim to hold then. One that is still open gives way to the
next open one, from that one's `valid_from` on; one with an end only covers what was before while it lasts.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from itertools import count
from typing import Any, NamedTuple

from sqlalchemy import Connection, Integer, and_, bindparam, delete, insert, or_, select, update

from memory_plane import models
from memory_plane.prepared import Prepared
from memory_plane.store import derivations, index, log, marks
from memory_plane.store.names import folded
from memory_plane.types import Operation

_facts, _log = models.facts, models.operations
_same = (
    select(_facts.c.seq, _facts.c.at, _facts.c.valid_from, _facts.c.valid_until, _facts.c.indexed, _log.c.id)
    .join(_log, _log.c.seq == _facts.c.seq)
    .where(_facts.c.subject == bindparam("subject"), _facts.c.fact_key == bindparam("key"), _facts.c.visible)
)
_earlier = or_(_facts.c.at < bindparam("at"), and_(_facts.c.at == bindparam("at"), _log.c.id < bindparam("id")))
_later = or_(_facts.c.at > bindparam("at"), and_(_facts.c.at == bindparam("at"), _log.c.id > bindparam("id")))
_before = Prepared(
    _same.where(_earlier)
    .order_by(_facts.c.at.desc(), _log.c.id.desc())
    .limit(1)
    .offset(bindparam("nth", type_=Integer))
)
_next_open = Prepared(_same.where(_later, _facts.c.valid_until.is_(None)).order_by(_facts.c.at, _log.c.id).limit(1))
_new = Prepared(insert(_facts))


def fold(connection: Connection, seq: int, operation: Operation, at: datetime) -> None:
    """Put a value into its place among the others."""
    body = operation.body
    visible = marks.read(connection, operation.id).visible(held=body.get("held", False))
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
        "indexed": False,
        "visible": visible,
    }
    _new.run(connection, **row)
    if visible:
        _settle(connection, operation.id, row)


def set_visible(connection: Connection, seq: int, operation: Operation, visible: bool) -> None:
    """Take a value out, or back in; its neighbours close up."""
    known = connection.execute(select(_facts).where(_facts.c.seq == seq)).mappings().one_or_none()
    if known is None or known["visible"] == visible:  # a rebuild may not have come to it yet
        return
    _set(connection, seq, visible=visible)
    if visible:
        _settle(connection, operation.id, known)
        derivations.apply_all(connection, seq)
        return
    _set(connection, seq, superseded_at=None)
    _show(connection, seq, operation.id, was=known["indexed"], shown=False)
    derivations.remove_all(connection, seq)
    _settle_before(connection, operation.id, known, _following(connection, operation.id, known))


def remove(connection: Connection, seq: int, operation: Operation) -> None:
    """Take a value out for good; `fold` can put it in anew."""
    set_visible(connection, seq, operation, visible=False)
    connection.execute(delete(_facts).where(_facts.c.seq == seq))


def document(seq: int, operation: Operation) -> index.Document:
    """Return the fact as the index has it."""
    body = operation.body
    words = f"{body['subject']} {body['key'].replace('_', ' ')}: {body['value']}"
    project = body.get("project")
    return index.document(seq, words, agent=operation.agent, kind="fact", project=project, at=operation.created_at)


def _settle(connection: Connection, id: str, row: Mapping[Any, Any]) -> None:
    """Find what the value gives way to, and have those before it give way to it if it is open."""
    following = _following(connection, id, row)
    _give_way(connection, row["seq"], id, row["valid_from"], following, was=False)
    if row["valid_until"] is None:
        _settle_before(connection, id, row, _Open(row["at"], row["valid_from"]))


def _settle_before(connection: Connection, id: str, row: Mapping[Any, Any], following: _Open | None) -> None:
    """Have the values before this one, back to the last open one, give way to what follows."""
    place = _place(id, row)
    for nth in count():
        earlier = _before.first(connection, nth=nth, **place)
        if earlier is None:
            return
        _give_way(connection, earlier.seq, earlier.id, earlier.valid_from, following, was=earlier.indexed)
        if earlier.valid_until is None:
            return


def _following(connection: Connection, id: str, row: Mapping[Any, Any]) -> _Open | None:
    found = _next_open.first(connection, **_place(id, row))
    return None if found is None else _Open(found.at, found.valid_from)


def _give_way(
    connection: Connection, seq: int, id: str, valid_from: datetime, following: _Open | None, *, was: bool
) -> None:
    """Note when a value ends, which is never before it began; while it may still hold it stays in the index."""
    end = None if following is None else max(following.valid_from, valid_from)
    _set(connection, seq, superseded_at=end)
    _show(connection, seq, id, was=was, shown=following is None or (end is not None and end > following.at))


def _show(connection: Connection, seq: int, id: str, *, was: bool, shown: bool) -> None:
    if was == shown:
        return
    _set(connection, seq, indexed=shown)
    found = log.get(connection, id)
    assert found is not None
    change = index.put if shown else index.take
    change(connection, document(*found))


class _Open(NamedTuple):
    """An open value: when it was written, and from when on it holds."""

    at: datetime
    valid_from: datetime


def _place(id: str, row: Mapping[Any, Any]) -> dict[str, Any]:
    return {"subject": row["subject"], "key": row["fact_key"], "at": row["at"], "id": id}


def _set(connection: Connection, seq: int, **values: Any) -> None:
    connection.execute(update(_facts).where(_facts.c.seq == seq).values(**values))


def _time(value: str | None) -> datetime | None:
    return None if value is None else datetime.fromisoformat(value)
