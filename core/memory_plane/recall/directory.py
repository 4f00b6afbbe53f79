"""Which nodes there are: those that were found last, and those that the newest edges join most often."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from datetime import datetime
from itertools import islice
from typing import Any

from sqlalchemy import ColumnElement, Connection, Select, and_, or_, select, union_all

from memory_plane import models
from memory_plane.errors import Refused
from memory_plane.recall import graph, holding
from memory_plane.recall.holding import Then
from memory_plane.types import Edge, Node

LATELY = 2_000
"""How many of the newest edges are counted, or edges of one node looked at: all would cost more with every memory."""
SPARE = 100
"""How many more edges than asked for are looked at, where some were said to have ended since."""

_nodes, _edges = models.graph_nodes, models.graph_edges


@dataclass(frozen=True, slots=True, kw_only=True)
class Listed:
    """Nodes in their order, how many of the newest edges each has where that was asked, and where it goes on."""

    nodes: tuple[Node, ...]
    links: tuple[int, ...] = ()
    older: str | None = None


def newest(connection: Connection, kind: str | None, before: str | None, limit: int) -> Listed:
    """Return nodes, of one type if that is given, the last found first, behind the one with the id `before`."""
    where: list[ColumnElement[bool]] = [] if kind is None else [_nodes.c.type == kind]
    order = (_nodes.c.key.desc(),) if kind is None else (_nodes.c.founded_at.desc(), _nodes.c.key.desc())
    if before is not None:
        where.append(_behind(connection, kind, before))
    keys = list(connection.execute(select(_nodes.c.key).where(*where).order_by(*order).limit(limit + 1)).scalars())
    found = graph.nodes(connection, keys[:limit])
    shown = tuple(found[key] for key in keys[:limit])
    return Listed(nodes=shown, older=shown[-1].id if len(keys) > limit else None)


def most_linked(connection: Connection, kind: str | None, limit: int) -> Listed:
    """Return the nodes, of one type if that is given, at most ends of the newest edges."""
    recent = select(_edges.c.source, _edges.c.target).order_by(_edges.c.known_since.desc()).limit(LATELY)
    counts = Counter(end for row in connection.execute(recent) for end in row)
    if kind is not None:
        fitting = set(
            connection.execute(select(_nodes.c.key).where(_nodes.c.key.in_(counts), _nodes.c.type == kind)).scalars()
        )
        counts = Counter({key: count for key, count in counts.items() if key in fitting})
    best = sorted(counts, key=lambda key: (-counts[key], key))[:limit]
    found = graph.nodes(connection, best)
    return Listed(nodes=tuple(found[key] for key in best), links=tuple(counts[key] for key in best))


def edges_of(connection: Connection, node: int, now: datetime, limit: int) -> tuple[Edge, ...]:
    """Return edges of a node that hold now, the most probable of `LATELY` each way first: a hub has very many."""
    chosen = _looked_at(node).where(holding.MAY_HOLD)
    best = chosen.order_by(_edges.c.probability.desc(), _edges.c.known_since.desc(), _edges.c.key.desc())
    then = Then.of(now)
    rows = connection.execute(best.limit(limit + SPARE), then.given)
    return graph.as_edges(connection, list(islice(holding.held(connection, rows, then), limit)), now)


def ended_of(connection: Connection, node: int, now: datetime, limit: int) -> tuple[Edge, ...]:
    """Return edges of a node that have ended, as `edges_of` does, those that ended last first."""
    chosen = _looked_at(node).where(_edges.c.valid_until <= now)
    last = chosen.order_by(_edges.c.valid_until.desc(), _edges.c.key.desc()).limit(limit)
    return graph.as_edges(connection, connection.execute(last).all(), now)


def _looked_at(node: int) -> Select[Any]:
    ends = (select(_edges.c.key).where(end == node).limit(LATELY) for end in (_edges.c.source, _edges.c.target))
    return select(_edges).where(_edges.c.key.in_(union_all(*(select(one.subquery()) for one in ends))))


def _behind(connection: Connection, kind: str | None, id: str) -> ColumnElement[bool]:
    """Return what comes after a node in the order of `newest`."""
    keys = graph.find(connection, id)
    place = connection.execute(select(_nodes.c.key, _nodes.c.founded_at).where(_nodes.c.key.in_(keys))).first()
    if place is None:
        raise Refused(f"before: no node here has the id {id}")
    if kind is None:
        return _nodes.c.key < int(place.key)
    same = and_(_nodes.c.founded_at == place.founded_at, _nodes.c.key < place.key)
    return or_(_nodes.c.founded_at < place.founded_at, same)
