"""The open items as the pages and tools show them, and those that wait for somebody."""

from __future__ import annotations

import json
from collections.abc import Collection
from datetime import datetime, timedelta
from functools import cache
from typing import Any

from sqlalchemy import Connection, and_, bindparam, exists, func, or_, select, text

from memory_plane import models
from memory_plane.prepared import Prepared
from memory_plane.types import OpenItem

FRESH = timedelta(hours=8)
"""How long an agent is not told of its own promise."""

CROWD = 8
"""So many undated items of one memory come before those of others: a long list hides nothing that came after it."""

_log, _thoughts, _items = models.operations, models.thoughts, models.items
_beside = models.items.alias("beside")
_several = exists().where(_beside.c.seq == _items.c.seq, _beside.c.place != _items.c.place)
COLUMNS = (
    _log.c.id,
    _thoughts.c.agent,
    _log.c.text,
    _thoughts.c.at,
    _thoughts.c.origin,
    _thoughts.c.project,
    _thoughts.c.pinned,
    _items.c.kind,
    _items.c.owner,
    _items.c.addressee,
    _items.c.object,
    _items.c.due_at,
    _items.c.status,
    _items.c.snoozed_until,
    _items.c.place,
    _several.label("several"),
)
"""What `as_item` reads, of items joined to their thoughts and operations."""
_undated = _items.c.due_at.is_(None)
_crowding = and_(
    _undated, func.row_number().over(partition_by=_items.c.seq, order_by=(_undated, _items.c.place)) > CROWD
)
_awake = or_(_items.c.snoozed_until.is_(None), _items.c.snoozed_until <= bindparam("now"))
_open = (
    select(*COLUMNS)
    .select_from(_items)
    .join(_thoughts, _thoughts.c.seq == _items.c.seq)
    .join(_log, _log.c.seq == _items.c.seq)
    .where(models.is_open, _thoughts.c.visible, _awake)
    .order_by(
        _thoughts.c.pinned.desc(), _crowding, _undated, _items.c.due_at, _thoughts.c.at, _log.c.id, _items.c.place
    )
    .limit(bindparam("limit"))
)
_told = or_(_thoughts.c.agent != bindparam("name"), _thoughts.c.at <= bindparam("then", type_=_thoughts.c.at.type))
_owed = and_(_items.c.kind == "commitment", func.lower(_items.c.owner) == bindparam("name"), _told)
_before = Prepared(_open.where(or_(func.lower(_items.c.addressee) == bindparam("name"), _owed)))
_open_count = Prepared(
    select(func.count())
    .select_from(_items)
    .join(_thoughts, _thoughts.c.seq == _items.c.seq)
    .where(models.is_open, _thoughts.c.visible, _awake)
)
_since, _until = (bindparam(name, type_=_items.c.due_at.type) for name in ("since", "until"))
_stirred = Prepared(
    select(func.count())
    .select_from(_items)
    .where(
        models.is_open,
        or_(
            and_(_items.c.snoozed_until > _since, _items.c.snoozed_until <= _until),
            and_(_items.c.due_at > _since, _items.c.due_at <= _until),
        ),
    )
)


def listed(
    connection: Connection,
    now: datetime,
    *,
    agent: str | None = None,
    to: Collection[str] | None = None,
    limit: int = 50,
) -> tuple[OpenItem, ...]:
    """Return open items that are not snoozed: pinned ones, then due ones, then the oldest, of a long list its first.

    `agent` opened them, whoever has the names `to` is to have them.
    """
    given = {"agent": agent, "to": None if to is None else json.dumps([*to, *map(str.lower, to)])}
    values = {name: value for name, value in given.items() if value is not None}
    return tuple(map(as_item, _by(*values).all(connection, now=now, limit=limit, **values)))


@cache
def _by(*filters: str) -> Prepared:
    some = text("SELECT value FROM json_each(:to)")
    conditions = {
        "agent": _thoughts.c.agent == bindparam("agent"),
        "to": or_(*(one.in_(some) for one in (_items.c.addressee, func.lower(_items.c.addressee)))),
    }
    return Prepared(_open.where(*(conditions[name] for name in filters)))


def concerning(connection: Connection, now: datetime, names: Collection[str], limit: int) -> tuple[OpenItem, ...]:
    """Return those that somebody of these names (in lower case) owes or is to have, as `listed` orders them."""
    ends = [func.lower(column).in_(names) for column in (_items.c.owner, _items.c.addressee)]
    return tuple(map(as_item, connection.execute(_open.where(or_(*ends)), {"now": now, "limit": limit})))


def among(connection: Connection, now: datetime, ids: Collection[str], limit: int) -> tuple[OpenItem, ...]:
    """Return the open items among these memories, as `listed` orders them."""
    chosen = _open.where(_log.c.id.in_(ids))
    return tuple(map(as_item, connection.execute(chosen, {"now": now, "limit": limit})))


def before(connection: Connection, now: datetime, agent: str, limit: int) -> tuple[OpenItem, ...]:
    """Return what waits for an agent, as `listed` orders it: open items addressed to it, and what it promised.

    What it promised itself comes after `FRESH`: in the talk of the promise it would only hear its own words again.
    """
    found = _before.all(connection, now=now, limit=limit, name=agent.lower(), then=now - FRESH)
    return tuple(map(as_item, found))


def total(connection: Connection, now: datetime) -> int:
    """Return how many items are open and not snoozed."""
    return int(_open_count.scalar(connection, now=now))


def stirred(connection: Connection, since: datetime, until: datetime) -> bool:
    """Whether an item woke up or fell due in this time, without any write."""
    return bool(_stirred.scalar(connection, since=since, until=until))


def as_item(row: Any) -> OpenItem:
    """Return a row of items as what it tells."""
    return OpenItem(
        id=f"{row.id}.{row.place}" if row.several else row.id,
        kind=row.kind,
        text=row.object or row.text,
        agent=row.agent,
        owner=row.owner,
        to=row.addressee,
        status=row.status,
        created_at=row.at,
        origin=row.origin,
        project=row.project,
        due_at=row.due_at,
        snoozed_until=row.snoozed_until,
        pinned=row.pinned,
    )
