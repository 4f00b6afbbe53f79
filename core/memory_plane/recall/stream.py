"""What was said, newest first, a page at a time: by whom, of what kind, about whom and when."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import ColumnElement, Connection, and_, func, or_, select

from memory_plane import models
from memory_plane.recall.graph import find
from memory_plane.recall.state import as_thought
from memory_plane.types import Thought

LOOKED_AT = 5_000
"""How many thoughts one page looks at: a filter that fits few of them does not read the whole memory."""

_log, _thoughts, _mentions = models.operations, models.thoughts, models.mentions


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """Which thoughts are wanted; `about` is a name, slug or id of a node, `before` the place where a page ended."""

    agent: str | None = None
    kind: str | None = None
    project: str | None = None
    origin: str | None = None
    about: str | None = None
    since: datetime | None = None
    until: datetime | None = None
    before: tuple[datetime, str] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """Thoughts, newest first, and where the next page begins; None at the end."""

    thoughts: tuple[Thought, ...]
    older: tuple[datetime, str] | None = None


def page(connection: Connection, wanted: Wanted, limit: int) -> Page:
    """Return a page of at most `limit` thoughts; fewer where `LOOKED_AT` had no more that are wanted."""
    few, many = _naming(connection, wanted)
    looked = (
        select(_thoughts.c.seq, _thoughts.c.at, _log.c.id)
        .join(_log, _log.c.seq == _thoughts.c.seq)
        .where(*_bounds(wanted), *few)
        .order_by(_thoughts.c.at.desc(), _log.c.id.desc())
        .limit(LOOKED_AT)
        .subquery()
    )
    chosen = (
        select(
            _log.c.id,
            _thoughts.c.agent,
            _thoughts.c.kind,
            _log.c.text,
            _thoughts.c.at,
            _thoughts.c.origin,
            _thoughts.c.project,
            _thoughts.c.pinned,
        )
        .join(looked, looked.c.seq == _thoughts.c.seq)
        .join(_log, _log.c.seq == _thoughts.c.seq)
        .where(_thoughts.c.visible, *_equals(wanted), *many)
        .order_by(_thoughts.c.at.desc(), _log.c.id.desc())
        .limit(limit)
    )
    found = tuple(as_thought(row) for row in connection.execute(chosen))
    if len(found) == limit:
        return Page(thoughts=found, older=(found[-1].created_at, found[-1].id))
    last = connection.execute(select(looked.c.at, looked.c.id).order_by(looked.c.at, looked.c.id).limit(1)).first()
    full = connection.execute(select(looked.c.seq).offset(LOOKED_AT - 1).limit(1)).first() is not None
    return Page(thoughts=found, older=(last.at, last.id) if last is not None and full else None)


def _bounds(wanted: Wanted) -> list[ColumnElement[bool]]:
    """Return what an index can answer."""
    bounds: list[ColumnElement[bool]] = []
    if wanted.before is not None:
        at, id = wanted.before
        bounds += [_thoughts.c.at <= at, or_(_thoughts.c.at < at, and_(_thoughts.c.at == at, _log.c.id < id))]
    if wanted.since is not None:
        bounds.append(_thoughts.c.at >= wanted.since)
    if wanted.until is not None:
        bounds.append(_thoughts.c.at <= wanted.until)
    return bounds


def _naming(connection: Connection, wanted: Wanted) -> tuple[list[ColumnElement[bool]], list[ColumnElement[bool]]]:
    """Return that a thought names the node: where few do, to find them by; where many do, to be looked for in each."""
    if wanted.about is None:
        return [], []
    named = select(_mentions.c.seq).where(_mentions.c.node.in_(find(connection, wanted.about)))
    if connection.execute(named.offset(LOOKED_AT).limit(1)).first() is None:
        return [_thoughts.c.seq.in_(named)], []
    return [], [named.where(_mentions.c.seq == _thoughts.c.seq).correlate(_thoughts).exists()]


def _equals(wanted: Wanted) -> list[ColumnElement[bool]]:
    columns = ("agent", "kind", "project", "origin")
    given = [(_thoughts.c[name], getattr(wanted, name)) for name in columns]
    # The database lowers Latin letters alone.
    return [or_(column == value, func.lower(column) == value.lower()) for column, value in given if value is not None]
