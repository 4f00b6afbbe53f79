"""Open items: questions, commitments and handoffs, and what became of them."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import Connection, and_, bindparam, delete, false, select, update

from memory_plane import models
from memory_plane.prepared import Prepared
from memory_plane.store import log
from memory_plane.store.marks import Marks
from memory_plane.types import Item, Operation

_items = models.items
_method = Prepared(select(_items.c.method).where(_items.c.seq == bindparam("row")))
_opened = Prepared(
    select(_items.c.kind.label("item"), _items.c.owner, _items.c.addressee.label("to"), _items.c.due_at).where(
        _items.c.seq == bindparam("row")
    )
)
_new = Prepared(lambda insert: insert(_items).on_conflict_do_nothing())
ASSERTED = "asserted"


def open_asserted(connection: Connection, seq: int, operation: Operation, said: Marks) -> None:
    """Open the item that the writer declared."""
    body = operation.body
    _open(
        connection,
        seq,
        said,
        kind=body["kind"],
        method=ASSERTED,
        owner=_declared_owner(operation),
        addressee=body.get("to"),
        due_at=_time(body.get("due_at")),
        object=None,
    )


def open_derived(connection: Connection, seq: int, item: Item, plugin: str, said: Marks) -> None:
    """Open the item that a plugin found in a text, or fill what the writer left open in a declared one."""
    known = _method.scalar(connection, row=seq)
    if known == ASSERTED:
        operation = log.at(connection, seq)
        same = _items.c.kind == item.kind
        unsaid = false() if "owner" in operation.body else _items.c.owner == _declared_owner(operation)
        open_ = (
            (_items.c.due_at, item.due_at, _items.c.due_at.is_(None)),
            (_items.c.addressee, item.to, and_(same, _items.c.addressee.is_(None))),
            (_items.c.owner, item.owner, and_(same, unsaid)),
        )
        for column, value, empty in open_:
            if value is not None:
                connection.execute(update(_items).where(_items.c.seq == seq, empty).values({column: value}))
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
    return _method.scalar(connection, row=seq) is not None


def opened(connection: Connection, seq: int) -> dict[str, Any]:
    """Return the `item` that the memory in this row opened, by its kind, and `owner`, `to`, `due_at`; or None each."""
    found = _opened.first(connection, row=seq)
    if found is None:
        return dict.fromkeys(("item", "owner", "to", "due_at"))
    return {**found._asdict(), "due_at": found.due_at and found.due_at.isoformat()}


def remove_derived(connection: Connection, seq: int, said: Marks) -> None:
    """Take away the item that plugins found in a memory, or what they filled in of a declared one."""
    known = _method.scalar(connection, row=seq)
    if known == ASSERTED:
        operation = log.at(connection, seq)
        body = operation.body
        declared = {"due_at": _time(body.get("due_at")), "addressee": said.addressee or body.get("to")}
        declared["owner"] = _declared_owner(operation)
        connection.execute(update(_items).where(_items.c.seq == seq).values(declared))
    elif known is not None:
        connection.execute(delete(_items).where(_items.c.seq == seq))


def mark(connection: Connection, seq: int, said: Marks) -> None:
    """Bring an item up to date with what was said of it."""
    values = {"status": said.status, "snoozed_until": said.snoozed_until}
    if said.addressee is not None:
        values["addressee"] = said.addressee
    connection.execute(update(_items).where(_items.c.seq == seq).values(**values))


def _open(connection: Connection, seq: int, said: Marks, **values: object) -> None:
    if said.addressee is not None:
        values["addressee"] = said.addressee
    _new.run(connection, seq=seq, status=said.status, snoozed_until=said.snoozed_until, **values)


def _declared_owner(operation: Operation) -> str | None:
    """Return who owes what was declared: whoever is named, else the agent, whose promise for its person is its own."""
    owner: str | None = operation.body.get("owner")
    return owner or (operation.agent if operation.body["kind"] == "commitment" else None)


def _time(value: str | None) -> datetime | None:
    return None if value is None else datetime.fromisoformat(value)
