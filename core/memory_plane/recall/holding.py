"""Which edges hold: true at one time, as it was known at another."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime, timedelta
from functools import partial
from types import SimpleNamespace
from typing import Any, NamedTuple

from sqlalchemy import BigInteger, ColumnElement, Connection, and_, bindparam, func, or_

from memory_plane import models
from memory_plane.store import exclusivity
from memory_plane.store import graph as fold
from memory_plane.types import EPOCH

EVER = exclusivity.NOW
"""A time of knowing at which everything is known."""
_MICROSECOND = timedelta(microseconds=1)
_edges = models.graph_edges
# Microseconds as they are stored: a search asks thousands of times with the same two.
_at, KNOWN = bindparam("at", type_=BigInteger), bindparam("known", type_=BigInteger)
# Of what does not say since when it is so, nothing is known of the time before it was noted.
_begun = func.coalesce(_edges.c.valid_from, _edges.c.known_since) <= _at
_lasting = or_(_edges.c.valid_until.is_(None), _edges.c.valid_until > _at)

# Another edge took its place, at some time or other.
_SUPERSEDED = and_(
    _edges.c.valid_until.is_not(None), or_(_edges.c.closed_at.is_(None), _edges.c.opened_at > _edges.c.closed_at)
)
LATER = or_(
    _SUPERSEDED,
    func.coalesce(_edges.c.opened_at, _edges.c.known_since) > KNOWN,
    func.coalesce(_edges.c.closed_at, _edges.c.known_since) > KNOWN,
)
"""Whether something was said of an edge after the time of knowing: then the evidence tells what was known."""
MAY_HOLD: ColumnElement[bool] = and_(_edges.c.known_since <= KNOWN, or_(and_(_begun, _lasting), LATER))
"""Whether an edge holds, where nothing was said of it `LATER`. Both take the parameters `at` and `known`."""


class Then(NamedTuple):
    """What was true `at` a time, as it was `known` at a time; both aware UTC."""

    at: datetime
    known: datetime

    @classmethod
    def of(cls, at: datetime, known: datetime | None = None) -> Then:
        """Without a time of knowing, what was known at that very time."""
        return cls(at, known or at)

    @property
    def given(self) -> Mapping[str, int]:
        """The parameters of `MAY_HOLD`."""
        return {name: (at - EPOCH) // _MICROSECOND for name, at in self._asdict().items()}


def held(connection: Connection, rows: Iterable[Any], then: Then, least: float = 0.0) -> Iterator[Any]:
    """Yield the rows of edges that hold and are as probable as `least`, as they were known then."""
    for row in rows:
        known = as_known(connection, row, then)
        if known is not None and known.probability >= least:
            yield known


def as_known(connection: Connection, row: Any, then: Then) -> Any | None:
    """Return an edge as its row was at the time of knowing; None where it did not hold then."""
    row = told(connection, row, then.known)
    return row if row is not None and _holds(row, then.at) else None


def told(connection: Connection, row: Any, known: datetime) -> Any | None:
    """Return an edge as its row was at a time of knowing, over or not; None where nobody had spoken of it."""
    if known == EVER:
        return row
    superseded = exclusivity.concerns(row.relation) and row.valid_until != exclusivity.own_end(row)
    if superseded or any(word is not None and word > known for word in (row.opened_at, row.closed_at)):
        values = fold.as_known(connection, row.key, known)
        if values is None:
            return None
        row = SimpleNamespace(**{**row._asdict(), **values})
        if row.valid_until is None and exclusivity.concerns(row.relation):
            row.valid_until = exclusivity.end_known(connection, row, known, partial(_values, connection, known))
    return row if row.known_since <= known else None


def _values(connection: Connection, known: datetime, row: Any) -> Mapping[str, Any] | None:
    return fold.as_known(connection, row.key, known)


def _holds(row: Any, at: datetime) -> bool:
    return (row.valid_from or row.known_since) <= at and (row.valid_until is None or row.valid_until > at)
