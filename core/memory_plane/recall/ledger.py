"""Facts by subject, a page at a time: what each (subject, key) is now, and every value that it ever had."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any

from sqlalchemy import Connection, and_, bindparam, or_, select, tuple_

from memory_plane import models
from memory_plane.errors import Refused
from memory_plane.prepared import Prepared
from memory_plane.recall import state
from memory_plane.store import log
from memory_plane.store.names import folded
from memory_plane.types import Fact

LOOKED_AT = 400
"""How many (subject, key) one page looks at for those that have a value now."""
_FIRST, _LAST = "\x01", "\U0010ffff"
"""What a subject followed by either stands before: no other one, and all that begin so."""

_log, _facts = models.operations, models.facts
_pair = (_facts.c.subject, _facts.c.fact_key)
_next = Prepared(
    select(*_pair)
    .where(tuple_(*_pair) > tuple_(bindparam("subject"), bindparam("key")), _facts.c.subject < bindparam("end"))
    .order_by(*_pair)
    .limit(1)
)
_at, _id = bindparam("at", type_=_facts.c.at.type), bindparam("id", type_=_log.c.id.type)
_all_values = (
    select(_facts, _log.c.id, _log.c.agent, _log.c.text, _log.c.body)
    .join(_log, _log.c.seq == _facts.c.seq)
    .where(_facts.c.subject == bindparam("subject"), _facts.c.fact_key == bindparam("key"))
    .order_by(_facts.c.at.desc(), _log.c.id.desc())
    .limit(bindparam("limit"))
)
_values = Prepared(_all_values)
_behind = Prepared(_all_values.where(or_(_facts.c.at < _at, and_(_facts.c.at == _at, _log.c.id < _id))))
_place = select(_facts.c.at).where(_facts.c.seq == bindparam("row"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Current:
    """Facts by subject and key, and the (subject, key) after which the next page begins; None at the end."""

    facts: tuple[Fact, ...]
    after: tuple[str, str] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Value:
    """One value of a fact; it is not `visible` where it was taken back or is held."""

    fact: Fact
    visible: bool


def current(connection: Connection, beginning: str, after: tuple[str, str] | None, limit: int) -> Current:
    """Return the facts that hold now, of subjects that begin so; fewer where `LOOKED_AT` had no more."""
    beginning = folded(beginning)
    return _current(connection, (beginning, f"{beginning}{_LAST}"), after, limit)


def of_subject(connection: Connection, subject: str, limit: int) -> Current:
    """Return the facts that hold now of one subject, by their keys; see `current`."""
    subject = folded(subject)
    return _current(connection, (subject, f"{subject}{_FIRST}"), None, limit)


def _current(connection: Connection, bounds: tuple[str, str], after: tuple[str, str] | None, limit: int) -> Current:
    found: list[Fact] = []
    last = None
    for last in islice(_pairs(connection, bounds, after), LOOKED_AT):
        found += state.facts(connection, subject=last[0], key=last[1], limit=1)
        if len(found) == limit:
            break
    more = last is not None and next(_pairs(connection, bounds, last), None) is not None
    return Current(facts=tuple(found), after=last if more else None)


def history(connection: Connection, subject: str, key: str, before: str | None, limit: int) -> tuple[Value, ...]:
    """Return the values of (subject, key), also those that were taken back, the newest first, behind the one `before`.

    Raise `Refused` for an id that is no fact's.
    """
    given = {"subject": folded(subject), "key": folded(key), "limit": limit}
    rows = _values.all(connection, **given) if before is None else _rows_behind(connection, before, given)
    return tuple(Value(fact=state.as_fact(row), visible=row.visible) for row in rows)


def _rows_behind(connection: Connection, id: str, given: dict[str, Any]) -> list[Any]:
    found = log.get(connection, id)
    at = None if found is None else connection.execute(_place, {"row": found[0]}).scalar()
    if at is None:
        raise Refused(f"before: no fact here has the id {id}")
    return _behind.all(connection, at=at, id=id, **given)


def _pairs(connection: Connection, bounds: tuple[str, str], after: tuple[str, str] | None) -> Iterator[tuple[str, str]]:
    """Yield each (subject, key) once, with one look into the index each: a long history costs no more."""
    subject, key = max(after or (bounds[0], ""), (bounds[0], ""))
    while True:
        row = _next.first(connection, subject=subject, key=key, end=bounds[1])
        if row is None:
            return
        subject, key = row
        yield subject, key
