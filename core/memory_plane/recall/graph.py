"""Bounded views of the graph: around a node, around what an agent should care about, or what is newest."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from functools import partial
from itertools import islice
from typing import Any
from uuid import UUID

from sqlalchemy import Connection, Select, and_, bindparam, exists, false, func, or_, select, text

from memory_plane import models
from memory_plane.prepared import Prepared
from memory_plane.recall import holding
from memory_plane.recall.holding import Then
from memory_plane.store import identities
from memory_plane.store.names import folded
from memory_plane.types import Edge, Graph, Node

EVIDENCE = 5
"""How many memory ids an edge shows as its evidence."""

_METHODS = 4
"""By how many methods one memory may say the same of an edge before fewer memories are shown."""

SPARE = 100
"""How many more edges than asked for are looked at, where some may not have held as they were known at a time."""

WIDEST = 400
"""How many nodes a neighbourhood is widened from at once."""

LATELY = 2_000
"""How many of the newest thoughts of all agents are looked through for those of one."""

_nodes, _aliases, _edges = models.graph_nodes, models.aliases, models.graph_edges
_evidence, _mentions, _attention = models.graph_evidence, models.mentions, models.attention
_source, _target = _nodes.alias("source_node"), _nodes.alias("target_node")
# Row numbers are those of one store: what is the same everywhere tells edges of one moment apart.
_told_apart = (_source.c.id, _edges.c.relation, _target.c.id)
_all_edges = (
    select(_edges).join(_source, _source.c.key == _edges.c.source).join(_target, _target.c.key == _edges.c.target)
)
_proof = Prepared(
    select(models.operations.c.id)
    .join(_evidence, _evidence.c.seq == models.operations.c.seq)
    .where(_evidence.c.edge == bindparam("edge"), _evidence.c.at <= bindparam("until", type_=_evidence.c.at.type))
    .order_by(_evidence.c.at.desc(), models.operations.c.id.desc())
    .limit(_METHODS * EVIDENCE)
)
_called = Prepared(
    select(_aliases.c.node).where(_aliases.c.name == bindparam("name")).order_by(_aliases.c.part).limit(20)
)
_some_keys = text("SELECT value FROM json_each(:keys)").columns(value=_nodes.c.key.type)
_by_key = Prepared(select(_nodes).where(_nodes.c.key.in_(_some_keys)))
_names = Prepared(select(_aliases.c.node, _aliases.c.name).where(_aliases.c.node.in_(_some_keys), ~_aliases.c.part))
_another = _aliases.alias("another")
_shared = exists().where(_another.c.name == _aliases.c.name, ~_another.c.part, _another.c.node.not_in(_some_keys))
_own_names = Prepared(
    select(_aliases.c.name)
    .where(_aliases.c.node.in_(_some_keys), ~_aliases.c.part, ~_shared)
    .order_by(_aliases.c.name)
    .distinct()
)
_whole = Prepared(select(_aliases.c.node).where(_aliases.c.name == bindparam("name"), ~_aliases.c.part).limit(2))
_lately = (
    select(models.thoughts.c.seq, models.thoughts.c.agent, models.thoughts.c.at)
    .where(models.thoughts.c.visible)
    .order_by(models.thoughts.c.at.desc())
    .limit(LATELY)
    .subquery()
)
_named_lately = Prepared(
    select(_mentions.c.node)
    .join(_lately, _lately.c.seq == _mentions.c.seq)
    .join(_nodes, _nodes.c.key == _mentions.c.node)
    .where(_lately.c.agent == bindparam("agent"), _nodes.c.type == bindparam("kind"))
    .group_by(_mentions.c.node, _nodes.c.id)
    .order_by(func.max(_lately.c.at).desc(), _nodes.c.id)
    .limit(bindparam("limit"))
)
# This, not a stored number, is the same wherever and whenever it is asked; words of other people take no number away.
_age = func.row_number().over(
    partition_by=_nodes.c.slug, order_by=(_nodes.c.origin == "external", _nodes.c.founded_at, _nodes.c.id)
)
_by_age = Prepared(
    select(_nodes.c.key, _age.label("age")).where(
        _nodes.c.slug.in_(text("SELECT value FROM json_each(:slugs)").columns(value=_nodes.c.slug.type))
    )
)


def newest(connection: Connection, now: datetime, limit: int) -> tuple[Edge, ...]:
    """Return the edges that became known last and still hold."""
    return as_edges(connection, _newest.all(connection, now=now, limit=limit))


def as_of(connection: Connection, then: Then, limit: int, least: float = 0.0) -> Graph:
    """Return the edges that had become known last and held at a time."""
    chosen = _all_edges.where(holding.MAY_HOLD).order_by(_edges.c.known_since.desc(), *_told_apart)
    return _as_graph(connection, _held(connection, chosen, then, limit, least), (), then.known)


def around(
    connection: Connection,
    nodes: Sequence[int],
    at: datetime,
    limit: int,
    *,
    known: datetime | None = None,
    hops: int = 1,
    least: float = 0.0,
) -> Graph:
    """Return the edges within some hops of these nodes that hold at a time, the nearest and most probable first."""
    then = Then.of(at, known)
    found: dict[int, Any] = {}
    seen, front = set(nodes), list(nodes)
    for _ in range(hops):
        if not front or len(found) >= limit:
            break
        touching = or_(_edges.c.source.in_(front), _edges.c.target.in_(front))
        within = and_(_edges.c.source.in_(seen), _edges.c.target.in_(seen)) if found else false()
        rows = _most_probable(connection, _all_edges.where(touching, ~within), then, limit, least)
        found |= {row.key: row for row in rows}
        front = [end for row in rows for end in (row.source, row.target) if end not in seen][:WIDEST]
        seen |= set(front)
    return _as_graph(connection, list(found.values())[:limit], nodes[:limit], then.known)


def attended(
    connection: Connection,
    agent: str,
    minimum: float,
    at: datetime,
    limit: int,
    *,
    known: datetime | None = None,
    least: float = 0.0,
) -> Graph:
    """Return what the agent's newest attention-worthy memories say: their nodes and the edges between them."""
    memories = (
        select(_attention.c.seq)
        .where(_attention.c.agent == agent, _attention.c.score >= minimum)
        .order_by(_attention.c.seq.desc())
        .limit(limit)
    )
    named = select(_mentions.c.node).where(_mentions.c.seq.in_(memories)).distinct().limit(4 * limit)
    nodes = list(connection.execute(named).scalars())
    between = and_(_edges.c.source.in_(nodes), _edges.c.target.in_(nodes))
    then = Then.of(at, known)
    rows = _most_probable(connection, _all_edges.where(between), then, limit, least)
    return _as_graph(connection, rows, nodes[:limit], then.known)


def named_lately(connection: Connection, agent: str, kind: str, limit: int) -> list[int]:
    """Return the nodes of a type that the agent's thoughts among the newest of all name, the last named first."""
    return [node for (node,) in _named_lately.all(connection, agent=agent, kind=kind, limit=limit)]


def find(connection: Connection, name: str) -> list[int]:
    """Return the nodes that a name, a slug (`node:person:rob-2`) or an id means."""
    try:
        chosen = select(_nodes.c.key).where(_nodes.c.id == identities.representative(connection, str(UUID(name))))
    except ValueError:
        if name.startswith("node:"):
            return _by_slug(connection, name.removeprefix("node:"))
        return list(dict.fromkeys(row.node for row in _called.all(connection, name=folded(name))))
    return list(connection.execute(chosen).scalars())


def own_names(connection: Connection, keys: Iterable[int]) -> list[str]:
    """Return the names, folded, that these nodes have had and nothing else has."""
    names = [row.name for row in _own_names.all(connection, keys=json.dumps(list(keys)))]
    # SQLite compares letters beyond ASCII by case.
    return [*names, *(name.title() for name in names if not name.isascii())]


def called(connection: Connection, name: str) -> list[str]:
    """Return a name and all others of whoever alone has it."""
    found = _whole.all(connection, name=folded(name))
    return [name, *own_names(connection, [found[0].node])] if len(found) == 1 else [name]


def nodes(connection: Connection, keys: Iterable[int]) -> dict[int, Node]:
    """Return nodes by their rows, with their slugs and the names they have had."""
    rows = _by_key.all(connection, keys=json.dumps(list(keys)))
    ranks = _ranks(connection, {row.slug for row in rows})
    aliases: dict[int, list[str]] = {}
    for key, name in _names.all(connection, keys=json.dumps([row.key for row in rows])):
        aliases.setdefault(key, []).append(name)
    return {
        row.key: Node(
            id=row.id,
            type=row.type,
            name=row.name,
            slug=f"node:{row.slug}{'' if ranks[row.key] == 1 else f'-{ranks[row.key]}'}",
            aliases=tuple(sorted(name for name in aliases.get(row.key, ()) if name != folded(row.name))),
            origin=row.origin,
        )
        for row in rows
    }


def mentions(connection: Connection, key: int) -> int:
    """Return how often memories name a node."""
    return connection.execute(select(func.count()).select_from(_mentions).where(_mentions.c.node == key)).scalar_one()


def named_in(connection: Connection, seq: int) -> list[int]:
    """Return the nodes that the memory in this row names."""
    return list(connection.execute(select(_mentions.c.node).where(_mentions.c.seq == seq).distinct()).scalars())


def _by_slug(connection: Connection, slug: str) -> list[int]:
    base, _, number = slug.rpartition("-")
    plain = {key for key, rank in _ranks(connection, {slug}).items() if rank == 1}
    numbered = {key for key, rank in _ranks(connection, {base}).items() if number.isdigit() and rank == int(number)}
    return sorted(plain | numbered)


def _ranks(connection: Connection, slugs: set[str]) -> dict[int, int]:
    """Number the nodes of one slug by age, those that only other people named last."""
    return {key: rank for key, rank in _by_age.all(connection, slugs=json.dumps(list(slugs)))}


_now = bindparam("now", type_=_edges.c.known_since.type)
_newest = Prepared(
    _all_edges.where(
        _edges.c.known_since <= _now,
        or_(_edges.c.valid_from.is_(None), _edges.c.valid_from <= _now),
        or_(_edges.c.valid_until.is_(None), _edges.c.valid_until > _now),
    )
    .order_by(_edges.c.known_since.desc(), *_told_apart)
    .limit(bindparam("limit"))
)


def _most_probable(connection: Connection, chosen: Select[Any], then: Then, limit: int, least: float) -> list[Any]:
    ordered = chosen.where(holding.MAY_HOLD).order_by(
        _edges.c.probability.desc(), _edges.c.known_since.desc(), *_told_apart
    )
    rows = _held(connection, ordered, then, limit, least)
    return sorted(rows, key=lambda row: -row.probability)


def _held(connection: Connection, chosen: Select[Any], then: Then, limit: int, least: float) -> list[Any]:
    """Return the rows that hold, in their order."""
    likely = chosen.where(_edges.c.probability >= least).limit(limit + SPARE)
    return list(islice(holding.held(connection, connection.execute(likely, then.given), then, least), limit))


def as_edges(connection: Connection, rows: Sequence[Any], known: datetime | None = None) -> tuple[Edge, ...]:
    """Return rows of the table of edges with their nodes and their evidence, as far as it was known."""
    proof = partial(_proof.all, connection, until=known or datetime.max.replace(tzinfo=UTC))
    ends = nodes(connection, {end for row in rows for end in (row.source, row.target)}) if rows else {}
    return tuple(
        Edge(
            source=ends[row.source],
            relation=row.relation,
            target=ends[row.target],
            probability=row.probability,
            method=row.method,
            evidence=tuple(dict.fromkeys(id for (id,) in proof(edge=row.key)))[:EVIDENCE],
            known_since=row.known_since,
            valid_from=row.valid_from,
            valid_until=row.valid_until,
            origin=row.origin,
        )
        for row in rows
    )


def _as_graph(connection: Connection, rows: Sequence[Any], seeds: Sequence[int], known: datetime) -> Graph:
    edges = as_edges(connection, rows, known)
    found = {node.id: node for edge in edges for node in (edge.source, edge.target)}
    found |= {node.id: node for node in nodes(connection, seeds).values()}
    return Graph(nodes=tuple(found.values()), edges=edges)
