"""What later operations say of an earlier one: resolved, assigned, snoozed, pinned, retracted, released.

The state is a fold over all operations with one target by (time, id), so they may arrive in any order, even before it.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, bindparam, select

from memory_plane import models
from memory_plane.prepared import Prepared

_log = models.operations
_about = Prepared(
    select(_log.c.op, _log.c.body, models.effective().label("at"))
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
    """Fold all that was said of the operation with this id, or what had been said `until` a time."""
    said = _about.all(connection, target=target)
    return _fold((row.op, row.body) for row in said if until is None or row.at <= until)


def _fold(said: Iterable[tuple[str, str]]) -> Marks:
    marks = Marks()
    for op, text in said:
        body: dict[str, Any] = json.loads(text)
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
