"""The fold of thoughts: their own row, their open item and their place in the full-text index."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import Connection, bindparam, delete, insert, select, update

from memory_plane import models
from memory_plane.prepared import Prepared
from memory_plane.store import attention, derivations, index, items, marks
from memory_plane.types import OPEN_KINDS, Operation

_thoughts = models.thoughts
_visible = Prepared(select(_thoughts.c.visible).where(_thoughts.c.seq == bindparam("row")))
_new = Prepared(insert(_thoughts))


def fold(connection: Connection, seq: int, operation: Operation, at: datetime) -> None:
    """Store a new thought in the state that operations about it, which may have come first, give it."""
    body = operation.body
    said = marks.read(connection, operation.id)
    visible = said.visible(held=body.get("held", False))
    _new.run(
        connection,
        seq=seq,
        agent=operation.agent,
        kind=body["kind"],
        project=body.get("project"),
        thread=body.get("thread") or body.get("project"),
        origin=body["origin"],
        at=at,
        visible=visible,
        pinned=said.pinned,
    )
    if body["kind"] in OPEN_KINDS:
        items.open_asserted(connection, seq, operation)
    if visible:
        index.put(connection, document(seq, operation))
        attention.put(connection, seq, attention.addressed(operation))


def mark(connection: Connection, seq: int, operation: Operation, said: marks.Marks) -> None:
    """Bring a thought up to date with what was said of it; hidden, it leaves the index and the graph."""
    visible = said.visible(held=operation.body.get("held", False))
    was = _visible.scalar(connection, row=seq)
    if was is None:  # a rebuild has not come to it yet
        return
    connection.execute(update(_thoughts).where(_thoughts.c.seq == seq).values(visible=visible, pinned=said.pinned))
    if visible and not was:
        index.put(connection, document(seq, operation))
        attention.put(connection, seq, attention.addressed(operation))
        derivations.apply_all(connection, seq)
    elif was and not visible:
        index.take(connection, document(seq, operation))
        derivations.remove_all(connection, seq)
        attention.take(connection, seq, [one.agent for one in attention.addressed(operation)])


def remove(connection: Connection, seq: int, operation: Operation) -> None:
    """Take a thought out for good."""
    mark(connection, seq, operation, marks.Marks(retracted=True))
    connection.execute(delete(_thoughts).where(_thoughts.c.seq == seq))


def document(seq: int, operation: Operation) -> index.Document:
    """Return the thought as the index has it."""
    body = operation.body
    return index.document(
        seq,
        body["text"],
        agent=operation.agent,
        kind=body["kind"],
        project=body.get("project"),
        at=operation.created_at,
    )
