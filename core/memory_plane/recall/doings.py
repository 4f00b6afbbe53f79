"""What was promised, done and changed: items whatever became of them, thoughts and changes of a stretch of time."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from datetime import datetime
from itertools import islice
from typing import Any, NamedTuple

from sqlalchemy import (
    BindParameter,
    Column,
    ColumnElement,
    Connection,
    Select,
    and_,
    bindparam,
    exists,
    func,
    or_,
    select,
    union,
)

from memory_plane import models
from memory_plane.prepared import Prepared
from memory_plane.recall import graph, holding, open_items, state
from memory_plane.store import derivations, log, marks
from memory_plane.types import Edge, Fact, OpenItem, Thought

MOST = 2_000
"""How many of the newest items or thoughts are looked through."""
_FULLER = 8
"""How many spellings of fuller names are looked at."""

_log, _thoughts, _items = models.operations, models.thoughts, models.items
_facts, _edges = models.facts, models.graph_edges
_begin, _end = (bindparam(name, type_=_thoughts.c.at.type) for name in ("begin", "end"))
_thought = (_log.c.id, _thoughts.c.agent, _thoughts.c.kind, _log.c.text, _thoughts.c.at, _thoughts.c.origin)
_marked = (_thoughts.c.project, _thoughts.c.pinned)
_behind = select(_items.c.seq).order_by(_items.c.seq.desc()).limit(1)
_newest_items = _items.c.seq > func.coalesce(_behind.offset(MOST).scalar_subquery(), 0)
_known = bindparam("known", type_=_thoughts.c.at.type)
# What was told by a time stands before the last that was written by then, but for what came in late.
_by_then = select(_thoughts.c.seq).where(_thoughts.c.at <= _known).order_by(_thoughts.c.at.desc()).limit(1)
_before_then = _items.c.seq <= _by_then.scalar_subquery()
_items_by_then = and_(
    _before_then, _items.c.seq > func.coalesce(_behind.where(_before_then).offset(MOST).scalar_subquery(), 0)
)
_later = models.operations.alias("later")
_marked_later = exists().where(
    _later.c.target == _log.c.id, func.coalesce(_later.c.effective_at, _later.c.created_at) > _known
)
_an_item = (
    select(*open_items.COLUMNS)
    .select_from(_items)
    .join(_thoughts, _thoughts.c.seq == _items.c.seq)
    .join(_log, _log.c.seq == _items.c.seq)
    .where(_thoughts.c.visible)
    .order_by(_items.c.due_at.is_(None), _items.c.due_at, _thoughts.c.at, _log.c.id, _items.c.place)
    .limit(bindparam("limit"))
)
_in_time = (
    select(_thoughts.c.seq)
    .where(_thoughts.c.at >= _begin, _thoughts.c.at < _end)
    .order_by(_thoughts.c.at.desc())
    .limit(MOST)
)
_a_thought = (
    select(*_thought, *_marked)
    .join(_log, _log.c.seq == _thoughts.c.seq)
    .where(_thoughts.c.seq.in_(_in_time), _thoughts.c.visible)
    .order_by(_thoughts.c.at.desc(), _log.c.id.desc())
    .limit(bindparam("limit"))
)
_new_edges = Prepared(
    select(_edges)
    .where(_edges.c.known_since >= _begin, _edges.c.known_since < _end)
    .order_by(_edges.c.known_since.desc())
    .limit(bindparam("limit"))
)
_ENDS = {name: (name,) for name in ("owner", "addressee", "kind", "status")} | {"either": ("owner", "addressee")}
_nodes: BindParameter[list[int]] = bindparam("nodes", expanding=True)
_mentions = models.mentions
_naming_then = (
    select(*_thought, *_marked)
    .join(_log, _log.c.seq == _thoughts.c.seq)
    .where(
        _thoughts.c.seq.in_(
            select(_mentions.c.seq)
            .where(_mentions.c.node.in_(_nodes), _mentions.c.seq <= _by_then.scalar_subquery())
            .order_by(_mentions.c.seq.desc())
            .limit(bindparam("limit"))
        ),
        _thoughts.c.visible,
        _thoughts.c.at <= _known,
    )
)
_in_span = and_(_edges.c.known_since >= _begin, _edges.c.known_since < _end)
_closed_in_span = and_(_edges.c.closed_at >= _begin, _edges.c.closed_at < _end)
# A node that everything touches has more edges than can be looked through: then those count that are the newest of all.
_some_edges = [
    select(_edges.c.key).where(_edges.c.source.in_(_nodes)).limit(MOST),
    select(_edges.c.key).where(_edges.c.target.in_(_nodes)).limit(MOST),
    select(_edges.c.key).where(_in_span).order_by(_edges.c.known_since.desc()).limit(MOST),
]
_new_at_nodes = (
    select(_edges)
    .where(
        or_(*(_edges.c.key.in_(some) for some in _some_edges)),
        or_(_edges.c.source.in_(_nodes), _edges.c.target.in_(_nodes)),
        or_(_in_span, _closed_in_span),
    )
    .order_by(_edges.c.known_since.desc())
    .limit(bindparam("limit"))
)
_beats = models.agent_heartbeats
_focuses = Prepared(
    select(_beats.c.agent, _beats.c.focus, _beats.c.at, _log.c.id)
    .join(_log, _log.c.seq == _beats.c.seq)
    .where(_beats.c.focus != "")
    .order_by(_beats.c.at.desc(), _beats.c.agent)
)
_new_facts = Prepared(
    select(_facts, _log.c.id, _log.c.agent, _log.c.text, _log.c.body)
    .join(_log, _log.c.seq == _facts.c.seq)
    .where(_facts.c.visible, _facts.c.at >= _begin, _facts.c.at < _end)
    .order_by(_facts.c.at.desc(), _log.c.id.desc())
    .limit(bindparam("limit"))
)


def _longer(column: Column[str]) -> Select[Any]:
    """Select the names in a column that go on after a beginning; the beginning of a name is no pattern."""
    begins = func.substr(func.lower(column), 1, func.length(bindparam("beginning"))) == bindparam("beginning")
    return select(column).where(_newest_items, begins)


_fuller = union(*map(_longer, (_items.c.owner, _items.c.addressee))).limit(_FULLER)


class Focus(NamedTuple):
    """What an agent said last that it is doing, when, and the id of the heartbeat."""

    agent: str
    focus: str
    at: datetime
    id: str


def items(
    connection: Connection,
    limit: int,
    due: tuple[datetime, datetime] | None = None,
    known: datetime | None = None,
    among: Collection[int] | None = None,
    **wanted: Collection[str],
) -> list[OpenItem]:
    """Return items among the newest or in some rows, with a date first, or those `due` from one time to another.

    `wanted` has what their owner, addressee, kind, status or `either` owner or addressee may be, in any case. With
    `known` they are as they were then, whatever became of them since.
    """
    if among is not None and not among:
        return []
    conditions = [or_(*(_is_one(_items.c[end], values) for end in _ENDS[name])) for name, values in wanted.items()]
    chosen = _an_item
    if due is not None:
        chosen = chosen.where(_items.c.due_at >= due[0], _items.c.due_at < due[1])
    newest: ColumnElement[bool] = _newest_items if among is None else _items.c.seq.in_(among)
    if known is None:
        rows = connection.execute(chosen.where(newest, *conditions), {"limit": limit})
        return [open_items.as_item(row) for row in rows]
    told = newest if among is not None else or_(newest, _items_by_then)
    chosen = chosen.where(told, _thoughts.c.at <= _known, or_(and_(*conditions), _marked_later))
    found = [_as_known(connection, row, known) for row in connection.execute(chosen, {"limit": MOST, "known": known})]
    fitting = (item for item in found if all(_fits(item, name, values) for name, values in wanted.items()))
    return list(islice(fitting, limit))


def _as_known(connection: Connection, row: Any, known: datetime) -> OpenItem:
    """Return a row of items as it was before what was said of it after a time."""
    item = open_items.as_item(row)
    now, then = (marks.read(connection, f"{row.id}.{row.place}", until) for until in (None, known))
    if now == then:
        return item
    to = item.to if now.addressee is None else then.addressee or _addressee(connection, item)
    return replace(item, to=to, status=then.status, snoozed_until=then.snoozed_until, pinned=then.pinned)


def _addressee(connection: Connection, item: OpenItem) -> str | None:
    """Return whom an item was for before it was handed on."""
    found = log.get(connection, item.memory)
    assert found is not None
    memory = log.memory(connection, found[0])
    read = derivations.read(connection, found[0], memory[0]) if memory is not None else ()
    said = (one for answer in read if answer.extraction for one in answer.extraction.items)
    ends = (one.to for one in said if one.kind == item.kind and item.text in (one.object, found[1].body.get("text")))
    to: str | None = found[1].body.get("to") or next(filter(None, ends), None)
    return to


def _fits(item: OpenItem, name: str, values: Collection[str]) -> bool:
    said = {"owner": item.owner, "addressee": item.to, "kind": item.kind, "status": item.status}
    return any((said[end] or "").lower() in {value.lower() for value in values} for end in _ENDS[name])


def fuller(connection: Connection, name: str) -> list[str]:
    """Return how owners and addressees of the newest items are called whose names go on after this one."""
    given = {"beginning": f"{name.lower()} "}
    return sorted(connection.scalars(_fuller, given))


def _is_one(column: ColumnElement[str], values: Collection[str]) -> ColumnElement[bool]:
    return or_(column.in_(list(values)), func.lower(column).in_([value.lower() for value in values]))


def said(
    connection: Connection,
    begin: datetime,
    end: datetime,
    limit: int,
    *,
    agents: Collection[str] = (),
    kinds: Collection[str] = (),
) -> list[Thought]:
    """Return the newest thoughts of a stretch of time, by some agents or of some kinds where these are given."""
    asked = [
        column.in_(list(some)) for column, some in ((_thoughts.c.agent, agents), (_thoughts.c.kind, kinds)) if some
    ]
    rows = connection.execute(_a_thought.where(*asked), {"begin": begin, "end": end, "limit": limit})
    return [state.as_thought(row) for row in rows]


def named_in(connection: Connection, nodes: Sequence[int], limit: int, known: datetime | None = None) -> list[Thought]:
    """Return the newest thoughts that name one of these nodes, or those that were the newest at a time."""
    found = {thought.id: thought for node in nodes for thought in state.naming(connection, node, limit)}
    if known is not None:
        given = {"nodes": list(nodes), "known": known, "limit": limit}
        then = (state.as_thought(row) for row in connection.execute(_naming_then, given))
        found = {one.id: one for one in (*found.values(), *then) if one.created_at <= known}
    return sorted(found.values(), key=lambda thought: (thought.created_at, thought.id), reverse=True)


def new_edges(
    connection: Connection,
    begin: datetime,
    end: datetime,
    limit: int,
    nodes: Sequence[int] | None = None,
    known: datetime | None = None,
) -> tuple[Edge, ...]:
    """Return the edges that became known in a stretch of time, of all or at some nodes, as they are or were `known`.

    Of some nodes those too that were said to have ended in it.
    """
    rows: Sequence[Any]
    if nodes is None:
        rows = _new_edges.all(connection, begin=begin, end=end, limit=limit)
    else:
        given = {"nodes": list(nodes), "begin": begin, "end": end, "limit": limit}
        rows = connection.execute(_new_at_nodes, given).all()
    if known is not None:
        told = (holding.told(connection, row, known) for row in rows)
        rows = [
            row
            for row in told
            if row is not None and (row.known_since >= begin or (row.closed_at is not None and row.closed_at >= begin))
        ]
    return graph.as_edges(connection, rows, known)


def focuses(connection: Connection) -> list[Focus]:
    """Return what each agent said last that it is doing, the newest first."""
    return [Focus(*row) for row in _focuses.all(connection)]


def new_facts(connection: Connection, begin: datetime, end: datetime, limit: int) -> list[Fact]:
    """Return the facts that were told in a stretch of time, the newest first."""
    return [state.as_fact(row) for row in _new_facts.all(connection, begin=begin, end=end, limit=limit)]
