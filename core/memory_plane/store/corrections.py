"""Operations about an earlier operation: resolve, assign, snooze, pin, retract, release; and which make sense."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import Connection

from memory_plane.operations import FORGET, FORGOTTEN
from memory_plane.store import facts, forgetting, items, log, marks, thoughts
from memory_plane.types import Operation

_ABOUT_ITEMS = ("resolve", "assign", "snooze")


def refusal(connection: Connection, operation: Operation) -> str | None:
    """Say why an operation about another one makes no sense here, field first; None if it does or is about none."""
    target = log.target_of(operation)
    if target is None:
        return None
    field = "item" if operation.op in _ABOUT_ITEMS else "target"
    found = log.get(connection, target)
    if found is None:
        return f"{field}: nothing here has the id {target}"
    row, about = found
    if about.op == FORGOTTEN:
        return f"{field}: {target} was forgotten; nothing is left of it"
    fitting = forgetting.FORGETTABLE if operation.op == FORGET else ("thought", "fact")
    if about.op not in fitting:
        *others, last = fitting
        return f"{field}: {target} is a {about.op!r} operation; give the id of a {', '.join(others)} or {last}"
    if operation.op in _ABOUT_ITEMS and not items.exists(connection, row):
        return f"{field}: {target} is no question, commitment or handoff"
    return None


def fold(connection: Connection, seq: int, operation: Operation, at: datetime) -> None:
    """Bring the operation that this one is about up to date; one that is not here yet will look back when it comes."""
    target = log.target_of(operation)
    found = log.get(connection, target) if target is not None else None
    if found is None:
        return
    row, about = found
    said = marks.read(connection, about.id)
    items.mark(connection, row, said)
    if about.op == "thought":
        thoughts.mark(connection, row, about, said)
    elif about.op == "fact":
        facts.set_visible(connection, row, about, said.visible(held=about.body.get("held", False)))
