"""What was promised, done and changed: items whatever became of them, thoughts and changes of a stretch of time."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import BindParameter, ColumnElement, Connection, and_, bindparam, func, or_, select, union_all

from memory_plane import models
from memory_plane.prepared import Prepared
from memory_plane.recall import graph, state
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
_newest_items = select(_items.c.seq).order_by(_items.c.seq.desc()).limit(MOST)
_an_item = (
    select(*_thought, *_marked, _items.c.kind.label("item_kind"), *state.ITEM)
    .select_from(_items)
    .join(_thoughts, _thoughts.c.seq == _items.c.seq)
    .join(_log, _log.c.seq == _items.c.seq)
    .where(_items.c.seq.in_(_newest_items), _thoughts.c.visible)
    .order_by(_items.c.due_at.is_(None), _items.c.due_at, _thoughts.c.at, _log.c.id)
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
_nodes: BindParameter[list[int]] = bindparam("nodes", expanding=True)
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
_new_facts = Prepared(
    select(_facts, _log.c.id, _log.c.agent, _log.c.text, _log.c.body)
    .join(_log, _log.c.seq == _facts.c.seq)
    .where(_facts.c.visible, _facts.c.at >= _begin, _facts.c.at < _end)
    .order_by(_facts.c.at.desc(), _log.c.id.desc())
    .limit(bindparam("limit"))
)


def items(
    connection: Connection, limit: int, due: tuple[datetime, datetime] | None = None, **wanted: Collection[str]
) -> list[OpenItem]:
    """Return items among the newest, those with a date first, or those `due` from one time to another.

    `wanted` has what their owner, addressee, kind, status or `either` owner or addressee may be, in any case.
    """
    columns: dict[str, tuple[Any, ...]] = {
        "owner": (_items.c.owner,),
        "addressee": (_items.c.addressee,),
        "kind": (_items.c.kind,),
    }
    columns |= {"status": (_items.c.status,), "either": (_items.c.owner, _items.c.addressee)}
    conditions = [or_(*(_is_one(column, values) for column in columns[name])) for name, values in wanted.items()]
    if due is not None:
        conditions += [_items.c.due_at >= due[0], _items.c.due_at < due[1]]
    rows = connection.execute(_an_item.where(*conditions), {"limit": limit})
    return [state.open_item(row) for row in rows]


def fuller(connection: Connection, name: str) -> list[str]:
    """Return how owners and addressees of the newest items are called whose names go on after this one."""
    ends = [select(column.label("name"), _items.c.seq) for column in (_items.c.owner, _items.c.addressee)]
    called = union_all(*ends).subquery()
    longer = func.lower(called.c.name).startswith(f"{name.lower()} ", autoescape=True)
    asked = select(called.c.name).distinct().where(called.c.seq.in_(_newest_items), longer)
    return sorted(connection.scalars(asked.limit(_FULLER)))


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


def named_in(connection: Connection, nodes: Sequence[int], limit: int) -> list[Thought]:
    """Return the newest thoughts that name one of these nodes."""
    found = {thought.id: thought for node in nodes for thought in state.naming(connection, node, limit)}
    return sorted(found.values(), key=lambda thought: (thought.created_at, thought.id), reverse=True)


def new_edges(
    connection: Connection, begin: datetime, end: datetime, limit: int, nodes: Sequence[int] | None = None
) -> tuple[Edge, ...]:
    """Return the edges that became known in a stretch of time, of all or at some nodes."""
    rows: Sequence[Any]
    if nodes is None:
        rows = _new_edges.all(connection, begin=begin, end=end, limit=limit)
    else:
        given = {"nodes": list(nodes), "begin": begin, "end": end, "limit": limit}
        rows = connection.execute(_new_at_nodes, given).all()
    return graph.as_edges(connection, rows)


def new_facts(connection: Connection, begin: datetime, end: datetime, limit: int) -> list[Fact]:
    """Return the facts that were told in a stretch of time, the newest first."""
    return [state.as_fact(row) for row in _new_facts.all(connection, begin=begin, end=end, limit=limit)]
