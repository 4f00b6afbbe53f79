"""Open items: questions, commitments and handoffs, and what became of them. A memory may have several."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, and_, bindparam, delete, false, select, update

from memory_plane import models
from memory_plane.prepared import Prepared
from memory_plane.store import log, marks
from memory_plane.types import Item, Memory, Operation

_items = models.items
_known = Prepared(
    select(_items.c.place, _items.c.method).where(_items.c.seq == bindparam("row")).order_by(_items.c.place)
)
_opened = Prepared(
    select(
        _items.c.place,
        _items.c.kind.label("item"),
        _items.c.owner,
        _items.c.addressee.label("to"),
        _items.c.due_at,
        _items.c.object,
        _items.c.status,
        _items.c.snoozed_until,
    )
    .where(_items.c.seq == bindparam("row"))
    .order_by(_items.c.place)
)
_new = Prepared(lambda insert: insert(_items).on_conflict_do_nothing())
ASSERTED = "asserted"
SHOWN = 20
"""How many places of items a refusal names."""


def open_asserted(connection: Connection, seq: int, operation: Operation) -> None:
    """Open the item that the writer declared."""
    body = operation.body
    _open(
        connection,
        seq,
        marks.read(connection, f"{operation.id}.0"),
        0,
        kind=body["kind"],
        method=ASSERTED,
        owner=_declared_owner(operation),
        addressee=body.get("to"),
        due_at=_time(body.get("due_at")),
        object=None,
    )


def open_derived(connection: Connection, seq: int, memory: Memory, items: Sequence[Item], plugin: str) -> None:
    """Open the items that a plugin found in the text of a memory, unless those of another stand there already.

    Of a declared one the first fills what the writer left open; the others of its kind are opened beside it, for whom
    and by when was declared where the text says nothing else of them. An item of which the plugin does not say where
    it begins is where its words are, so that it has the same id wherever and whenever it is read.
    """
    known = _known.first(connection, row=seq)
    declared = known is not None and known.method == ASSERTED
    if known is not None and not declared:
        return
    found: dict[object, Item] = {}
    for item in items:
        found.setdefault((item.kind, item.owner, item.to, item.object.casefold()), item)
    others = _fill(connection, seq, list(found.values())) if declared else found.values()
    marked = marks.reader(connection, memory.id)
    body = log.at(connection, seq).body if declared else {}
    taken = {0} if declared else set()
    for item in others:
        place = item.start or max(memory.text.find(item.object), 0)
        while place in taken:
            place += 1
        taken.add(place)
        _open(
            connection,
            seq,
            marked(f"{memory.id}.{place}"),
            place,
            kind=item.kind,
            method=plugin,
            owner=item.owner,
            addressee=item.to or body.get("to"),
            due_at=item.due_at or _time(body.get("due_at")),
            object=item.object,
        )


def _fill(connection: Connection, seq: int, items: list[Item]) -> list[Item]:
    """Fill what the writer of a declared item left open; return the items of its kind that are others."""
    operation = log.at(connection, seq)
    alike = [item for item in items if item.kind == operation.body["kind"]]
    first = next(iter(alike or items), None)
    if first is None:
        return []
    same = _items.c.kind == first.kind
    unsaid = false() if "owner" in operation.body else _items.c.owner == _declared_owner(operation)
    open_ = (
        (_items.c.due_at, first.due_at, _items.c.due_at.is_(None)),
        (_items.c.addressee, first.to, and_(same, _items.c.addressee.is_(None))),
        (_items.c.owner, first.owner, and_(same, unsaid)),
        (_items.c.object, first.object if len(alike) > 1 else None, _items.c.object.is_(None)),
    )
    for column, value, empty in open_:
        if value is not None:
            chosen = (_items.c.seq == seq, _items.c.place == 0, empty)
            connection.execute(update(_items).where(*chosen).values({column: value}))
    beside = connection.scalar(select(_items.c.place).where(_items.c.seq == seq, _items.c.place > 0).limit(1))
    return alike[1:] if beside is None else []


def refusal(connection: Connection, seq: int, id: str) -> str | None:
    """Say why the id is of no item of the memory in this row; None if it is."""
    memory, _, place = id.partition(".")
    places = [row.place for row in _known.all(connection, row=seq)]
    if not places:
        return f"{memory} is no question, commitment or handoff"
    if place and int(place) not in places:
        more = f" and {len(places) - SHOWN} more" if len(places) > SHOWN else ""
        return f"{memory} has no item at {place}, but at {', '.join(map(str, places[:SHOWN]))}{more}"
    return None


def opened(connection: Connection, seq: int, id: str) -> dict[str, Any]:
    """Return the `item` that a memory opened, by its kind, its `object`, `owner`, `to`, `due_at` and what became of it.

    The id is that of the memory in this row, or of one of several items there. Of several without a place it is the
    first that is open, if any, and `items` has them all by their ids.
    """
    memory, _, place = id.partition(".")
    rows = [row for row in _opened.all(connection, row=seq) if not place or row.place == int(place)]
    if not rows:
        return dict.fromkeys(("item", "object", "owner", "to", "due_at"))
    found = _told(next((row for row in rows if row.status == "open"), rows[0]))
    if len(rows) > 1:
        found["items"] = {f"{memory}.{row.place}": _told(row) for row in rows}
    return found


def _told(row: Any) -> dict[str, Any]:
    due, later = (at and at.isoformat() for at in (row.due_at, row.snoozed_until))
    who = {"item": row.item, "object": row.object, "owner": row.owner, "to": row.to}
    return {**who, "due_at": due, "status": row.status, "snoozed_until": later}


def remove_derived(connection: Connection, seq: int) -> None:
    """Take away the items that plugins found in a memory, or what they filled in of a declared one."""
    connection.execute(delete(_items).where(_items.c.seq == seq, _items.c.method != ASSERTED))
    if _known.first(connection, row=seq) is None:
        return
    operation = log.at(connection, seq)
    body, said = operation.body, marks.read(connection, f"{operation.id}.0")
    declared = {"due_at": _time(body.get("due_at")), "addressee": said.addressee or body.get("to")}
    declared |= {"owner": _declared_owner(operation), "object": None}
    connection.execute(update(_items).where(_items.c.seq == seq).values(declared))


def mark(connection: Connection, seq: int, id: str) -> None:
    """Bring the items of a memory, or the one with this id, up to date with what was said of them."""
    memory, _, place = id.partition(".")
    marked = marks.reader(connection, memory)
    for row in _known.all(connection, row=seq):
        if place and row.place != int(place):
            continue
        said = marked(f"{memory}.{row.place}")
        values = {"status": said.status, "snoozed_until": said.snoozed_until}
        if said.addressee is not None:
            values["addressee"] = said.addressee
        connection.execute(update(_items).where(_items.c.seq == seq, _items.c.place == row.place).values(**values))


def _open(connection: Connection, seq: int, said: marks.Marks, place: int, **values: object) -> None:
    if said.addressee is not None:
        values["addressee"] = said.addressee
    _new.run(connection, seq=seq, place=place, status=said.status, snoozed_until=said.snoozed_until, **values)


def _declared_owner(operation: Operation) -> str | None:
    """Return who owes what was declared: whoever is named, else the agent, whose promise for its person is its own."""
    owner: str | None = operation.body.get("owner")
    return owner or (operation.agent if operation.body["kind"] == "commitment" else None)


def _time(value: str | None) -> datetime | None:
    return None if value is None else datetime.fromisoformat(value)
