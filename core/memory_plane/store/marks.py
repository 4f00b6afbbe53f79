"""What later operations say of an earlier one: resolved, assigned, snoozed, pinned, retracted, released.

The state is a fold over all operations with one target by (time, id), so they may arrive in any order, even before it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime
from operator import itemgetter
from typing import Any

from sqlalchemy import Connection, bindparam, select

from memory_plane import models
from memory_plane.operations import SUPERSEDED_BY, giving_way
from memory_plane.prepared import Prepared

LINKS = 10
"""How many times in turn words that gave way to others are followed."""
_log = models.operations
_about = Prepared(
    select(_log.c.id, _log.c.op, _log.c.body, models.effective().label("at"))
    .where(_log.c.target == bindparam("target"))
    .order_by(models.effective(), _log.c.id)
)


@dataclass(slots=True)
class Marks:
    """The sum of what was said of one operation."""

    status: str = "open"
    addressee: str | None = None
    snoozed_until: datetime | None = None
    pinned: bool = False
    retracted: bool = False
    released: bool = False

    def visible(self, *, held: bool) -> bool:
        """Whether pages, search and the graph may use it; held-back text waits for its release."""
        return not self.retracted and (self.released or not held)


def read(connection: Connection, target: str, until: datetime | None = None) -> Marks:
    """Fold all that was said of the operation with this id, or what had been said `until` a time.

    Of one of several items in a memory that is what was said of it, and of the memory as a whole.
    """
    return reader(connection, target.partition(".")[0], until)(target)


def reader(connection: Connection, memory: str, until: datetime | None = None) -> Callable[[str], Marks]:
    """Read what was said of a memory and of the items in it; return what folds it for the id of either."""
    said: dict[str, list[tuple[int, str, dict[str, Any]]]] = {memory: []}
    for number, row in enumerate(_said(connection, memory, until)):
        if not _in_vain(connection, row, until):
            body = json.loads(row.body)
            said.setdefault(body.get("item", memory), []).append((number, row.op, body))

    def marks(target: str) -> Marks:
        of_item = said.get(target, []) if target != memory else []
        return _fold((op, body) for _, op, body in sorted(said[memory] + of_item, key=itemgetter(0)))

    return marks


def _said(connection: Connection, memory: str, until: datetime | None) -> list[Any]:
    return [row for row in _about.all(connection, target=memory) if until is None or row.at <= until]


def _in_vain(connection: Connection, row: Any, until: datetime | None, links: int = LINKS) -> bool:
    """Whether it takes a memory back for other words that were taken back themselves, and for no others in turn."""
    new = _superseding(row)
    if new is None or not links:
        return False
    retractions = [one for one in _said(connection, new, until) if one.op == "retract"]
    back = [one for one in retractions if not _in_vain(connection, one, until, links - 1)]
    return bool(back) and all(_superseding(one) is None for one in back)


def _superseding(row: Any) -> str | None:
    """Return the id of the words to which the target of an operation gave way; None for anything else."""
    if row.op != "retract" or SUPERSEDED_BY not in row.body:
        return None
    new: str = (json.loads(row.body).get("reason") or "").removeprefix(SUPERSEDED_BY)
    return new if row.id == giving_way(new) else None


def _fold(said: Iterable[tuple[str, dict[str, Any]]]) -> Marks:
    marks = Marks()
    for op, body in said:
        match op:
            case "resolve":
                marks.status = body["status"]
            case "assign":
                marks.addressee = body["to"]
            case "snooze":
                marks.snoozed_until = datetime.fromisoformat(body["until"])
            case "pin":
                marks.pinned = body["pinned"]
            case "retract":
                marks.retracted = True
            case "release":
                marks.released = True
    return marks
