"""The shortest way from one node to another along edges that hold, whichever way they point."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import BindParameter, Connection, Select, and_, bindparam, or_, select

from memory_plane import models
from memory_plane.recall import graph
from memory_plane.types import Edge

WIDEST = 400
"""How many nodes are gone out from at once; a way through more than that says nothing."""
HUB = 200
"""A node with more edges than this is gone to and not through: everybody uses it."""

_edges = models.graph_edges
_keys: BindParameter[list[int]] = bindparam("keys", expanding=True)
_at = bindparam("at", type_=_edges.c.known_since.type)
_holding = and_(
    _edges.c.known_since <= _at,
    or_(_edges.c.valid_from.is_(None), _edges.c.valid_from <= _at),
    or_(_edges.c.valid_until.is_(None), _edges.c.valid_until > _at),
)
_step = (_edges.c.key, _edges.c.source, _edges.c.target, _edges.c.probability)
_from = select(*_step).where(_edges.c.source.in_(_keys), _holding).limit(20 * HUB)
_to = select(*_step).where(_edges.c.target.in_(_keys), _holding).limit(20 * HUB)
_whole = select(_edges).where(_edges.c.key.in_(_keys))
_Step = tuple[int, int]
_Side = dict[int, _Step | None]


def path(
    connection: Connection, source_key: int, target_key: int, max_hops: int = 5, at: datetime | None = None
) -> list[Edge]:
    """Return the edges of a shortest path between two rows of nodes, in order; none where there is none so short.

    Both ends are gone out from in turns, always the smaller side, one query for each end of the edges.
    """
    ahead: _Side = {source_key: None}
    behind: _Side = {target_key: None}
    edges = [ahead, behind]
    fronts = [[source_key], [target_key]]
    for _ in range(max_hops):
        if source_key == target_key or not (fronts[0] and fronts[1]):
            break
        side = int(len(fronts[1]) < len(fronts[0]))
        fronts[side] = _widened(connection, fronts[side], edges[side], at or datetime.now(UTC))
        meeting = next((node for node in fronts[side] if node in edges[1 - side]), None)
        if meeting is not None:
            keys = [*reversed(_walked(ahead, meeting)), *_walked(behind, meeting)]
            rows = {row.key: row for row in connection.execute(_whole, {"keys": keys})}
            return list(graph.as_edges(connection, [rows[key] for key in keys]))
    return []


def _widened(connection: Connection, front: list[int], known: _Side, at: datetime) -> list[int]:
    """Go one edge out from every node of a front; return the nodes that are new."""
    new: list[int] = []
    degrees: dict[int, int] = {}
    steps = list(_steps(connection, front[:WIDEST], at))
    for here, _, _ in steps:
        degrees[here] = degrees.get(here, 0) + 1
    for here, there, row in steps:
        if there not in known and (degrees[here] <= HUB or known[here] is None):
            known[there] = (here, row.key)
            new.append(there)
    return new


def _steps(connection: Connection, front: list[int], at: datetime) -> Iterable[tuple[int, int, Any]]:
    """Yield (from, to, edge), the most probable first."""
    found = [(row.source, row.target, row) for row in _rows(connection, _from, front, at)]
    found += [(row.target, row.source, row) for row in _rows(connection, _to, front, at)]
    return sorted(found, key=lambda step: (-step[2].probability, step[2].key))


def _rows(connection: Connection, chosen: Select[Any], front: list[int], at: datetime) -> Iterable[Any]:
    return connection.execute(chosen, {"keys": front, "at": at})


def _walked(side: _Side, node: int) -> list[int]:
    """Return the edges from a node back to where its side began."""
    keys = []
    while (step := side[node]) is not None:
        node, key = step
        keys.append(key)
    return keys
