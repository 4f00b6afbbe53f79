"""A part of the graph for a person to look at: so many nodes, the edges between them, and how many more hang on each.

Of one node so many edges are looked at, however many it has: of a hub some are seen, and that there are more.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

from sqlalchemy import Column, ColumnElement, Connection, Select, literal, select

from memory_plane import models
from memory_plane.recall import graph, holding
from memory_plane.recall.holding import Then
from memory_plane.types import Edge, Node

LOOKED_AT = 2_000
"""How many edges of a node, or of the newest of all, are looked at each way for those that are wanted."""
WIDEST = 300
"""How many of those count, each way."""
MOST_EDGES = 600
"""How many edges one part of the graph has, the most probable ones."""
WORDS = 50
"""How many of the newest memories that speak of an edge are looked at for who wrote them."""

_log, _nodes, _edges, _evidence = models.operations, models.graph_nodes, models.graph_edges, models.graph_evidence


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """Which edges count: as they held `then`, so probable, of a relation, told by an agent; which types of nodes."""

    then: Then
    least: float = 0.0
    relation: str | None = None
    agent: str | None = None
    types: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """Nodes, the edges between them, and by node id how many neighbours are not shown; `uncounted` have even more."""

    nodes: tuple[Node, ...]
    edges: tuple[Edge, ...]
    hidden: Mapping[str, int] = field(default_factory=dict)
    uncounted: frozenset[str] = frozenset()


class _Steps(NamedTuple):
    """What hangs on a node: neighbours, the likeliest first, edges with where each leads, and whether it is all."""

    neighbours: tuple[int, ...]
    edges: tuple[tuple[int, int], ...]
    whole: bool


class Neighbourhood:
    """Reads parts of the graph, each node once."""

    def __init__(self, connection: Connection, wanted: Wanted) -> None:
        self._connection = connection
        self._wanted = wanted
        self._read: dict[int, _Steps] = {}

    def around(self, seeds: Iterable[int], limit: int) -> list[int]:
        """Return nodes near some others; none of these takes more than half of the room that is left to it."""
        shown: dict[int, None] = {}
        queue = deque(dict.fromkeys(seeds))
        while queue and len(shown) < limit:
            node = queue.popleft()
            shown[node] = None
            fresh = self._fresh(node, shown, (limit - len(shown) + 1) // 2)
            shown |= dict.fromkeys(fresh)
            queue.extend(fresh)
        return list(shown)

    def newest(self) -> list[int]:
        """Return the nodes that the newest edges are about, those of most of them first."""
        newest = select(_edges.c.key).order_by(_edges.c.known_since.desc()).limit(LOOKED_AT)
        chosen = select(_edges).where(_edges.c.key.in_(newest), *self._conditions).order_by(_edges.c.known_since.desc())
        rows = self._connection.execute(chosen.limit(WIDEST), self._wanted.then.given)
        held = holding.held(self._connection, rows, self._wanted.then, self._wanted.least)
        counted = Counter(end for row in held for end in (row.source, row.target))
        return self._of_types([node for node, _ in counted.most_common()])

    def opened(self, shown: Sequence[int], node: int, step: int) -> list[int]:
        """Return what is shown and so many more neighbours of a node, at most."""
        return [*shown, *self._fresh(node, shown, step)]

    def part(self, shown: Collection[int]) -> Part:
        """Return these nodes with what is between them and what hangs on them."""
        found = graph.nodes(self._connection, shown)
        steps = {key: self._steps(key) for key in found}
        between = {edge for read in steps.values() for edge, there in read.edges if there in found}
        hidden = {found[key].id: len(set(read.neighbours) - found.keys()) for key, read in steps.items()}
        return Part(
            nodes=tuple(found[key] for key in shown if key in found),
            edges=self._edges(between),
            hidden={id: count for id, count in hidden.items() if count},
            uncounted=frozenset(found[key].id for key, read in steps.items() if not read.whole),
        )

    def _fresh(self, node: int, shown: Collection[int], limit: int) -> list[int]:
        return [there for there in self._steps(node).neighbours if there not in shown][:limit]

    def _steps(self, node: int) -> _Steps:
        if node not in self._read:
            self._read[node] = self._looked(node)
        return self._read[node]

    def _looked(self, node: int) -> _Steps:
        ways = (_edges.c.source, _edges.c.target), (_edges.c.target, _edges.c.source)
        given = self._wanted.then.given
        found = [self._connection.execute(self._along(node, *way), given).all() for way in ways]
        rows = sorted((row for way in found for row in way), key=lambda row: (-row.probability, -row.key))
        rows = [row for row in rows if row.there != node and (not row.later or self._held(row.key))]
        return _Steps(
            neighbours=tuple(dict.fromkeys(row.there for row in rows)),
            edges=tuple((row.key, row.there) for row in rows),
            whole=all(len(way) < WIDEST for way in found),
        )

    def _along(self, node: int, here: Column[Any], there: Column[Any]) -> Select[Any]:
        """Select the edges of a node at one of their ends that may count, and where they lead."""
        # The relation stands in the index, so that of a hub too those of one are found.
        looked = select(_edges.c.key).where(here == node, *self._relation).limit(LOOKED_AT)
        chosen = select(there.label("there"), _edges.c.key, _edges.c.probability, holding.LATER.label("later"))
        chosen = chosen.where(_edges.c.key.in_(looked), *self._conditions).limit(WIDEST)
        if self._wanted.types:
            chosen = chosen.join(_nodes, _nodes.c.key == there).where(_nodes.c.type.in_(self._wanted.types))
        return chosen

    @cached_property
    def _conditions(self) -> list[ColumnElement[bool]]:
        wanted = self._wanted
        conditions: list[ColumnElement[bool]] = [holding.MAY_HOLD, _edges.c.probability >= wanted.least]
        conditions += self._relation
        if wanted.agent is not None:
            tellers = select(_log.c.agent).join(_evidence, _evidence.c.seq == _log.c.seq)
            newest = tellers.where(_evidence.c.edge == _edges.c.key).order_by(_evidence.c.at.desc()).limit(WORDS)
            conditions.append(literal(wanted.agent).in_(newest.correlate(_edges)))
        return conditions

    @property
    def _relation(self) -> list[ColumnElement[bool]]:
        return [] if self._wanted.relation is None else [_edges.c.relation == self._wanted.relation]

    def _held(self, edge: int) -> bool:
        row = self._connection.execute(select(_edges).where(_edges.c.key == edge)).one()
        known = holding.as_known(self._connection, row, self._wanted.then)
        return known is not None and known.probability >= self._wanted.least

    def _edges(self, keys: Collection[int]) -> tuple[Edge, ...]:
        chosen = select(_edges).where(_edges.c.key.in_(keys))
        rows = self._connection.execute(chosen.order_by(_edges.c.probability.desc(), _edges.c.key).limit(MOST_EDGES))
        held = list(holding.held(self._connection, rows, self._wanted.then, self._wanted.least))
        return graph.as_edges(self._connection, held, self._wanted.then.known)

    def _of_types(self, keys: Sequence[int]) -> list[int]:
        if not self._wanted.types:
            return list(keys)
        chosen = select(_nodes.c.key).where(_nodes.c.key.in_(keys), _nodes.c.type.in_(self._wanted.types))
        fitting = set(self._connection.execute(chosen).scalars())
        return [key for key in keys if key in fitting]


def rows(connection: Connection, ids: Iterable[str]) -> list[int]:
    """Return the rows of the nodes with these ids, in their order; those that are not there are left out."""
    wanted = list(dict.fromkeys(ids))
    found = connection.execute(select(_nodes.c.id, _nodes.c.key).where(_nodes.c.id.in_(wanted))).all()
    keys = {row.id: row.key for row in found}
    return [keys[id] for id in wanted if id in keys]


def newest_nodes(connection: Connection, limit: int) -> list[int]:
    """Return the nodes that were founded last, for a graph without edges."""
    return list(connection.execute(select(_nodes.c.key).order_by(_nodes.c.key.desc()).limit(limit)).scalars())
