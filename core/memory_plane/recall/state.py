"""The current state as the pages and tools show it: heartbeats, thoughts and facts."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import cache
from typing import Any

from sqlalchemy import (
    BindParameter,
    Connection,
    Exists,
    and_,
    bindparam,
    case,
    exists,
    func,
    or_,
    select,
    type_coerce,
)

from memory_plane import models
from memory_plane.operations import SUPERSEDED_BY
from memory_plane.prepared import Prepared
from memory_plane.recall import open_items
from memory_plane.store import log
from memory_plane.store.attention import ADDRESSED
from memory_plane.store.items import ASSERTED
from memory_plane.store.names import folded
from memory_plane.types import Attention, Fact, Heartbeat, Memory, Thought

LATELY = 300
"""How many of the newest thoughts may be news to an agent: old ones that are taken in late are none."""

_log, _thoughts, _items = models.operations, models.thoughts, models.items
_facts, _agents, _attention = models.facts, models.agent_heartbeats, models.attention
_thought = (_log.c.id, _thoughts.c.agent, _thoughts.c.kind, _log.c.text, _thoughts.c.at, _thoughts.c.origin)
_marked = (_thoughts.c.project, _thoughts.c.pinned)
_limit: BindParameter[int] = bindparam("limit")
_heartbeats = Prepared(select(_agents).order_by(_agents.c.written_at.desc(), _agents.c.agent))
_newest = (
    select(*_thought, *_marked)
    .join(_log, _log.c.seq == _thoughts.c.seq)
    .where(_thoughts.c.visible)
    .order_by(_thoughts.c.at.desc(), _log.c.id.desc())
    .limit(_limit)
)
_recent = Prepared(_newest)
_recent_until = Prepared(_newest.where(_thoughts.c.at <= bindparam("until", type_=_thoughts.c.at.type)))
# A declared item that was closed, put off or handed on to somebody else is no news any more.
_over = exists().where(
    _items.c.seq == _attention.c.seq,
    _items.c.method == ASSERTED,
    or_(
        _items.c.status != "open",
        _items.c.snoozed_until > bindparam("now"),
        and_(_attention.c.reason == ADDRESSED, func.lower(_items.c.addressee) != bindparam("agent")),
    ),
)
_lately = select(_thoughts.c.seq).order_by(_thoughts.c.at.desc()).limit(LATELY)
_worthy = (
    select(*_thought, *_marked, _attention.c.score, _attention.c.reason)
    .join(_thoughts, _thoughts.c.seq == _attention.c.seq)
    .join(_log, _log.c.seq == _attention.c.seq)
    .where(_attention.c.agent == bindparam("agent"), _attention.c.score >= bindparam("minimum"), _thoughts.c.visible)
    .where(_attention.c.seq.in_(_lately), ~_over)
    .order_by(_thoughts.c.at.desc(), _log.c.id.desc())
    .limit(_limit)
)
_concerned = Prepared(
    select(_log.c.id, _attention.c.agent, _attention.c.score, _attention.c.reason)
    .join(_log, _log.c.seq == _attention.c.seq)
    .where(
        _attention.c.seq.in_(
            select(_thoughts.c.seq).where(_thoughts.c.visible).order_by(_thoughts.c.at.desc()).limit(_limit)
        )
    )
    .order_by(_attention.c.score.desc(), _attention.c.agent)
)
_naming = Prepared(
    select(*_thought, *_marked)
    .join(_log, _log.c.seq == _thoughts.c.seq)
    .where(
        _thoughts.c.seq.in_(
            select(models.mentions.c.seq)
            .where(models.mentions.c.node == bindparam("node"))
            .distinct()
            .order_by(models.mentions.c.seq.desc())
            .limit(_limit)
        ),
        _thoughts.c.visible,
    )
    .order_by(_thoughts.c.at.desc(), _log.c.id.desc())
)
_attended = Prepared(_worthy)
_attended_since = Prepared(_worthy.where(_thoughts.c.at >= bindparam("since")))
_said = _log.alias("said")
_held = Prepared(
    select(_log.c.seq)
    .where(
        _log.c.seq.in_(select(_thoughts.c.seq).where(~_thoughts.c.visible))
        | _log.c.seq.in_(select(_facts.c.seq).where(~_facts.c.visible)),
        _log.c.body.contains('"held":true'),
        ~exists().where(_said.c.target == _log.c.id, _said.c.op == "retract"),
    )
    .order_by(_log.c.created_at.desc(), _log.c.id.desc())
    .limit(_limit)
)
_since, _until = (bindparam(name, type_=_agents.c.at.type) for name in ("since", "until"))
_gone_stale = Prepared(select(func.count()).select_from(_agents).where(_agents.c.at > _since, _agents.c.at <= _until))


def heartbeats(connection: Connection, now: datetime, stale_after: timedelta) -> tuple[Heartbeat, ...]:
    """Return one row an agent that ever wrote, the newest first; without a heartbeat its focus is empty."""
    return tuple(
        Heartbeat(
            agent=row.agent,
            focus=row.focus or "",
            project=row.project,
            status=row.status or "",
            at=row.at or row.written_at,
            stale=now - (row.at or row.written_at) > stale_after,
        )
        for row in _heartbeats.all(connection)
    )


def writers(connection: Connection) -> tuple[tuple[str, datetime], ...]:
    """Return (agent, time of its last write), the newest first."""
    return tuple((row.agent, row.written_at) for row in _heartbeats.all(connection))


def stirred(connection: Connection, since: datetime, until: datetime, stale_after: timedelta) -> bool:
    """Whether in this time, without any write, an open item woke up or fell due, or a focus became stale."""
    if open_items.stirred(connection, since, until):
        return True
    return bool(_gone_stale.scalar(connection, since=since - stale_after, until=until - stale_after))


def thoughts(connection: Connection, limit: int, until: datetime | None = None) -> tuple[Thought, ...]:
    """Return the newest visible thoughts, or those that were the newest at a time."""
    if until is None:
        return tuple(map(as_thought, _recent.all(connection, limit=limit)))
    return tuple(map(as_thought, _recent_until.all(connection, limit=limit, until=until)))


def naming(connection: Connection, node: int, limit: int) -> tuple[Thought, ...]:
    """Return the newest thoughts that name the node in this row."""
    return tuple(map(as_thought, _naming.all(connection, node=node, limit=limit)))


def held(connection: Connection, limit: int) -> tuple[Memory, ...]:
    """Return the newest thoughts and facts that are held back and were not taken back."""
    found = (log.memory(connection, row.seq) for row in _held.all(connection, limit=limit))
    return tuple(memory for memory, _ in filter(None, found))


def attended(
    connection: Connection,
    agent: str,
    *,
    minimum: float,
    limit: int,
    since: datetime | None = None,
    now: datetime | None = None,
) -> tuple[Thought, ...]:
    """Return the newest thoughts of others that `agent` should care about, with score and reason, no closed item."""
    heard = _attended if since is None else _attended_since
    now = now or datetime.now(UTC)
    rows = heard.all(connection, agent=agent, minimum=minimum, limit=limit, since=since, now=now)
    return tuple(as_thought(row, row.score, row.reason) for row in rows)


def concerned(
    connection: Connection, threshold: Callable[[str], float], limit: int
) -> dict[str, tuple[Attention, ...]]:
    """Return by their ids whom the newest thoughts concern as much as the agent's threshold, the most first."""
    found: dict[str, tuple[Attention, ...]] = {}
    for id, agent, score, reason in _concerned.all(connection, limit=limit):
        if score >= threshold(agent):
            found[id] = (*found.get(id, ()), Attention(agent=agent, score=score, reason=reason))
    return found


def facts(
    connection: Connection,
    *,
    subject: str | None = None,
    key: str | None = None,
    as_of: datetime | None = None,
    known: datetime | None = None,
    history: bool = False,
    corrected: bool = False,
    limit: int = 200,
) -> tuple[Fact, ...]:
    """Return facts, the newest first: those that hold at `as_of`, all there ever were, or those that hold now.

    With `corrected`, all there ever were have those too in whose place a correction put another value, ended by it.
    With `known`, as if nothing had been written after that time; it then is `as_of` too, unless that is given.
    """
    as_of = as_of or known
    at = None if history and as_of is None else as_of or datetime.now(UTC)
    given = {"subject": subject and folded(subject), "key": key and folded(key), "at": at, "known": known}
    values = {name: value for name, value in given.items() if value is not None}
    rows = _facts_by(*values, now=as_of is None, corrected=corrected and at is None).all(
        connection, limit=limit, **values
    )
    if at is None:
        return tuple(map(as_fact, rows))
    latest: dict[tuple[str, str], Any] = {}
    for row in rows:
        latest.setdefault((row.subject, row.fact_key), row)
    found = map(as_fact, latest.values())
    return tuple(found if known is None else (replace(fact, superseded_at=None) for fact in found))


_back = models.operations.alias("back")
_put_right = (
    select(func.min(func.coalesce(_back.c.effective_at, _back.c.created_at)))
    .where(_back.c.target == _log.c.id, _back.c.op == "retract", _back.c.body.contains(f'"{SUPERSEDED_BY}'))
    .scalar_subquery()
)
"""When a correction put other words in the place of an operation's."""


@cache
def _facts_by(*filters: str, now: bool, corrected: bool) -> Prepared:
    at = bindparam("at", type_=_facts.c.at.type)
    # The clock of who writes may run a little ahead: now, what began when it was written has begun.
    begun = or_(_facts.c.valid_from <= at, _facts.c.valid_from <= _facts.c.at) if now else _facts.c.valid_from <= at
    ends = (_facts.c.valid_until,) if "known" in filters else (_facts.c.valid_until, _facts.c.superseded_at)
    known = bindparam("known", type_=_facts.c.at.type)
    conditions = {
        "known": (_facts.c.at <= known, ~_another(at, known)),
        "subject": (_facts.c.subject == bindparam("subject"),),
        "key": (_facts.c.fact_key == bindparam("key"),),
        "at": (*(or_(end.is_(None), end > at) for end in ends), begun),
    }
    ended = case((_facts.c.visible, _facts.c.superseded_at), else_=type_coerce(_put_right, _facts.c.superseded_at.type))
    columns = [ended.label(one.name) if corrected and one is _facts.c.superseded_at else one for one in _facts.c]
    was_shown = and_(_put_right.is_not(None), ~_log.c.body.contains('"held":true'))
    shown = or_(_facts.c.visible, was_shown) if corrected else _facts.c.visible
    return Prepared(
        select(*columns, _log.c.id, _log.c.agent, _log.c.text, _log.c.body)
        .join(_log, _log.c.seq == _facts.c.seq)
        .where(shown, *(condition for name in filters for condition in conditions[name]))
        .order_by(_facts.c.at.desc(), _log.c.id.desc())
        .limit(_limit)
    )


def _another(at: Any, known: Any) -> Exists:
    """Whether a value that was written later, and was known, claims the time for itself: that takes its place."""
    later = _facts.alias("later")
    lasting = or_(later.c.valid_until.is_(None), later.c.valid_until > at)
    same = and_(later.c.subject == _facts.c.subject, later.c.fact_key == _facts.c.fact_key, later.c.visible)
    said = and_(later.c.at > _facts.c.at, later.c.at <= known)
    return exists().where(same, said, later.c.valid_from <= at, lasting)


def as_thought(row: Any, attention: float | None = None, reason: str = "") -> Thought:
    """Return a row of thoughts as what it tells."""
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


def as_fact(row: Any) -> Fact:
    """Return a row of facts as what it tells."""
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
