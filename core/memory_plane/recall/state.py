"""The current state as the pages and tools show it: heartbeats, open items, thoughts and facts."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from typing import Any

from sqlalchemy import Connection, Row, Select, func, literal, or_, select

from memory_plane import models
from memory_plane.store.names import folded
from memory_plane.types import Fact, Heartbeat, OpenItem, Thought

_log, _thoughts, _items = models.operations, models.thoughts, models.items
_facts, _agents, _attention = models.facts, models.agent_heartbeats, models.attention
_thought = (_log.c.id, _thoughts.c.agent, _thoughts.c.kind, _log.c.text, _thoughts.c.at, _thoughts.c.origin)
_marked = (_thoughts.c.project, _thoughts.c.pinned)
_item = (_items.c.owner, _items.c.addressee, _items.c.object, _items.c.due_at, _items.c.status, _items.c.snoozed_until)
_recent = (
    select(*_thought, *_marked)
    .join(_log, _log.c.seq == _thoughts.c.seq)
    .where(_thoughts.c.visible)
    .order_by(_thoughts.c.at.desc(), _log.c.id.desc())
)
_open = (
    select(*_thought, *_marked, _items.c.kind.label("item_kind"), *_item)
    .select_from(_items)
    .join(_thoughts, _thoughts.c.seq == _items.c.seq)
    .join(_log, _log.c.seq == _items.c.seq)
    .where(models.is_open, _thoughts.c.visible)
    .order_by(_thoughts.c.pinned.desc(), _items.c.due_at.is_(None), _items.c.due_at, _thoughts.c.at, _log.c.id)
)


def heartbeats(connection: Connection, now: datetime, stale_after: timedelta) -> tuple[Heartbeat, ...]:
    """Return one row an agent that ever wrote, the newest first; without a heartbeat its focus is empty."""
    rows = connection.execute(select(_agents).order_by(_agents.c.written_at.desc(), _agents.c.agent)).all()
    return tuple(
        Heartbeat(
            agent=row.agent,
            focus=row.focus or "",
            project=row.project,
            status=row.status or "",
            at=row.at or row.written_at,
            stale=now - (row.at or row.written_at) > stale_after,
        )
        for row in rows
    )


def writers(connection: Connection) -> tuple[tuple[str, datetime], ...]:
    """Return (agent, time of its last write), the newest first."""
    rows = select(_agents.c.agent, _agents.c.written_at).order_by(_agents.c.written_at.desc(), _agents.c.agent)
    return tuple((agent, at) for agent, at in connection.execute(rows))


def items(
    connection: Connection, now: datetime, *, agent: str | None = None, to: str | None = None, limit: int = 50
) -> tuple[OpenItem, ...]:
    """Return open items that are not snoozed: pinned ones, then due ones, then the oldest.

    `agent` opened them, `to` owes them.
    """
    chosen = _open.where(_awake(now))
    if agent is not None:
        chosen = chosen.where(_thoughts.c.agent == agent)
    if to is not None:
        chosen = chosen.where(func.lower(_items.c.addressee) == to.lower())
    return tuple(_open_item(row) for row in connection.execute(chosen.limit(limit)))


def items_total(connection: Connection, now: datetime) -> int:
    """Return how many items are open and not snoozed."""
    count = select(func.count()).select_from(_items).join(_thoughts, _thoughts.c.seq == _items.c.seq)
    awake = count.where(models.is_open, _thoughts.c.visible, _awake(now))
    return connection.execute(awake).scalar_one()


def thoughts(connection: Connection, limit: int) -> tuple[Thought, ...]:
    """Return the newest visible thoughts."""
    return tuple(_as_thought(row) for row in connection.execute(_recent.limit(limit)))


def attended(
    connection: Connection, agent: str, *, minimum: float, limit: int, since: datetime | None = None
) -> tuple[Thought, ...]:
    """Return the newest thoughts of others that `agent` should care about, with score and reason."""
    chosen = (
        select(*_thought, *_marked, _attention.c.score, _attention.c.reason)
        .join(_thoughts, _thoughts.c.seq == _attention.c.seq)
        .join(_log, _log.c.seq == _attention.c.seq)
        .where(_attention.c.agent == agent, _attention.c.score >= minimum, _thoughts.c.visible)
        .order_by(_attention.c.seq.desc())
    )
    if since is not None:
        chosen = chosen.where(_thoughts.c.at >= since)
    return tuple(_as_thought(row, row.score, row.reason) for row in connection.execute(chosen.limit(limit)))


def facts(
    connection: Connection,
    *,
    subject: str | None = None,
    key: str | None = None,
    as_of: datetime | None = None,
    history: bool = False,
    limit: int = 200,
) -> tuple[Fact, ...]:
    """Return facts, the newest first: those that hold at `as_of`, all there ever were, or those that hold now."""
    at = None if history and as_of is None else as_of or datetime.now(UTC)
    rows = connection.execute(_chosen_facts(subject, key, at, now=as_of is None).limit(limit)).all()
    if at is None:
        return tuple(map(_as_fact, rows))
    latest = {(row.subject, row.fact_key): row for row in sorted(rows, key=lambda row: (row.at, row.id))}
    return tuple(_as_fact(row) for row in rows if latest[row.subject, row.fact_key] is row)


def _chosen_facts(subject: str | None, key: str | None, at: datetime | None, *, now: bool) -> Select[Any]:
    chosen = (
        select(_facts, _log.c.id, _log.c.agent, _log.c.text, _log.c.body)
        .join(_log, _log.c.seq == _facts.c.seq)
        .where(_facts.c.visible)
        .order_by(_facts.c.seq.desc())
    )
    if subject is not None:
        chosen = chosen.where(_facts.c.subject == folded(subject))
    if key is not None:
        chosen = chosen.where(_facts.c.fact_key == folded(key))
    if at is None:
        return chosen
    ends = (_holds(end, at) for end in (_facts.c.valid_until, _facts.c.superseded_at))
    # The clock of who writes may run a little ahead: now, what began when it was written has begun.
    begun = _facts.c.valid_from <= at
    return chosen.where(*ends, or_(begun, _facts.c.valid_from <= _facts.c.at) if now else begun)


def _awake(now: datetime) -> Any:
    return or_(_items.c.snoozed_until.is_(None), _items.c.snoozed_until <= now)


def _holds(end: Any, at: datetime) -> Any:
    return or_(end.is_(None), end > literal(at, end.type))


def _as_thought(row: Row[*tuple[Any, ...]], attention: float | None = None, reason: str = "") -> Thought:
    return Thought(
        id=row.id,
        agent=row.agent,
        kind=row.kind,
        text=row.text,
        created_at=row.at,
        origin=row.origin,
        project=row.project,
        attention=attention,
        reason=reason,
        pinned=row.pinned,
    )


def _open_item(row: Row[*tuple[Any, ...]]) -> OpenItem:
    return OpenItem(
        id=row.id,
        kind=row.item_kind,
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


def _as_fact(row: Row[*tuple[Any, ...]]) -> Fact:
    body = json.loads(row.body)
    return Fact(
        id=row.id,
        subject=body["subject"],
        key=body["key"],
        value=row.text,
        confidence=row.confidence,
        agent=row.agent,
        origin=row.origin,
        created_at=row.at,
        valid_from=row.valid_from,
        valid_until=row.valid_until,
        superseded_at=row.superseded_at,
        source=body.get("source"),
    )
