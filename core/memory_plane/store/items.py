"""Open items: questions, commitments and handoffs, and what became of them."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import Connection, bindparam, delete, select, update

from memory_plane.models import ItemRow, table
from memory_plane.store.dialect import insert_new
from memory_plane.store.marks import Marks
from memory_plane.types import Item, Operation

_items = table(ItemRow)
_method = select(_items.c.method).where(_items.c.seq == bindparam("row"))
ASSERTED = "asserted"


def open_asserted(connection: Connection, seq: int, operation: Operation, said: Marks) -> None:
    """Open the item that the writer declared."""
    body = operation.body
    due_at = body.get("due_at")
    _open(
        connection,
        seq,
        said,
        kind=body["kind"],
        method=ASSERTED,
        owner=operation.agent if body["kind"] == "commitment" else None,
        addressee=body.get("to"),
        due_at=datetime.fromisoformat(due_at) if due_at else None,
        object=None,
    )


def open_derived(connection: Connection, seq: int, item: Item, plugin: str, said: Marks) -> None:
    """Open the item that a plugin found in a text, or fill what the writer left open in a declared one."""
    known = connection.execute(_method, {"row": seq}).scalar()
    if known == ASSERTED:
        empty = (_items.c.seq == seq) & _items.c.due_at.is_(None)
        if item.due_at is not None:
            connection.execute(update(_items).where(empty).values(due_at=item.due_at))
    elif known is None:
        _open(
            connection,
            seq,
            said,
            kind=item.kind,
            method=plugin,
            owner=item.owner,
            addressee=item.to,
            due_at=item.due_at,
            object=item.object,
        )


def exists(connection: Connection, seq: int) -> bool:
    """Whether the memory in this row opened an item, resolved or not."""
    return connection.execute(_method, {"row": seq}).scalar() is not None


def remove_derived(connection: Connection, seq: int) -> None:
    """Take away the item that plugins found in a memory."""
    connection.execute(delete(_items).where(_items.c.seq == seq, _items.c.method != ASSERTED))


def mark(connection: Connection, seq: int, said: Marks) -> None:
    """Bring an item up to date with what was said of it."""
    values = {"status": said.status, "snoozed_until": said.snoozed_until}
    if said.addressee is not None:
        values["addressee"] = said.addressee
    connection.execute(update(_items).where(_items.c.seq == seq).values(**values))


def _open(connection: Connection, seq: int, said: Marks, **values: object) -> None:
    if said.addressee is not None:
        values["addressee"] = said.addressee
    row = {"seq": seq, "status": said.status, "snoozed_until": said.snoozed_until, **values}
    connection.execute(insert_new(connection, _items), row)
