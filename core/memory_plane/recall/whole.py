"""The whole graph as a stream, in an order that is the same on every machine; only a part is in memory at a time."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Any, TypeVar

from sqlalchemy import Connection, bindparam, select

from memory_plane import models
from memory_plane.recall import graph, holding
from memory_plane.recall.holding import Then
from memory_plane.types import Edge, Node

T = TypeVar("T")

PART = 500
"""How many nodes or edges are read at once."""

_nodes, _edges = models.graph_nodes, models.graph_edges
_source, _target = _nodes.alias("source_node"), _nodes.alias("target_node")
_part = (
    select(_nodes.c.key, _nodes.c.id)
    .where(_nodes.c.id > bindparam("after"), _nodes.c.founded_at <= holding.KNOWN)
    .order_by(_nodes.c.id)
    .limit(PART)
)
_leaving = (
    select(_edges)
    .join(_source, _source.c.key == _edges.c.source)
    .join(_target, _target.c.key == _edges.c.target)
    .where(
        _edges.c.source.in_(bindparam("keys", expanding=True)),
        _edges.c.probability >= bindparam("least"),
        _target.c.founded_at <= holding.KNOWN,
        holding.MAY_HOLD,
    )
    .order_by(_source.c.id, _edges.c.relation, _target.c.id)
)
_NONE = "00000000-0000-0000-0000-000000000000"


def nodes(connection: Connection, then: Then) -> Iterator[Node]:
    """Yield the nodes that were known, by their ids."""
    for keys in _parts(connection, then):
        found = graph.nodes(connection, keys)
        yield from (found[key] for key in keys)


def edges(connection: Connection, then: Then, least: float = 0.0) -> Iterator[Edge]:
    """Yield the edges that held, by the ids of their nodes."""
    for keys in _parts(connection, then):
        given = {"keys": keys, "least": least, **then.given}
        rows = connection.execute(_leaving, given)
        for some in _in_parts(holding.held(connection, rows, then, least)):
            yield from graph.as_edges(connection, some, then.known)


def links(connection: Connection, then: Then, least: float, limit: int) -> Iterator[tuple[int, int, float]]:
    """Yield (row, row, probability) of the edges that held, at most so many, those known last."""
    chosen = select(_edges).where(holding.MAY_HOLD, _edges.c.probability >= bindparam("least"))
    rows = connection.execute(chosen.order_by(_edges.c.known_since.desc()).limit(limit), {"least": least, **then.given})
    for row in holding.held(connection, rows, then, least):
        yield row.source, row.target, row.probability


def _parts(connection: Connection, then: Then) -> Iterator[Sequence[int]]:
    after = _NONE
    while rows := connection.execute(_part, {"after": after, "known": then.given["known"]}).all():
        yield [row.key for row in rows]
        after = rows[-1].id


def ids(connection: Connection, keys: Sequence[int]) -> dict[int, str]:
    """Return the ids of nodes by their rows."""
    found: dict[int, Any] = {}
    for some in _in_parts(keys):
        chosen = select(_nodes.c.key, _nodes.c.id).where(_nodes.c.key.in_(some))
        found.update((row.key, row.id) for row in connection.execute(chosen))
    return found


def _in_parts(values: Iterable[T]) -> Iterator[list[T]]:
    left = iter(values)
    while part := list(islice(left, PART)):
        yield part
