"""How two nodes hang together: the likeliest short way along edges that hold, whichever way they point.

Both ends are gone out from in turns, always from the smaller side, one edge at a time. A way costs more the less
probable its edges are, the more of them there are, and where it leads through a node that everybody is linked to: two
people who both use Python have little in common.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime
from math import inf, log
from typing import Any, NamedTuple

from sqlalchemy import Column, Connection, Integer, Subquery, bindparam, func, select, text, type_coerce, union_all

from memory_plane import models
from memory_plane.prepared import Prepared
from memory_plane.recall import graph, holding
from memory_plane.recall.holding import Then
from memory_plane.types import Edge, Trail

HUB = 300
"""A node with more edges than this is a hub: gone through last, and at a price."""
WIDEST = 2_000
"""How many edges of a hub are gone along, each way."""
ENOUGH, MOST = 400, 8_000
"""After how many edges a way that was found is good enough, and after how many none is looked for any more."""
_HOP, _THROUGH_HUB = log(2), log(4)
"""A further edge is worth it where it makes a way twice as probable; a hub counts as two."""
_LEAST = 1e-6

_edges = models.graph_edges


class _Label(NamedTuple):
    """One way from an end of the search to a node."""

    cost: float
    hops: int
    node: int
    edge: int
    before: _Label | None

    def rank(self) -> tuple[float, int]:
        return self.cost, self.node


class _Side:
    """What is reached from one end: for each node the first way there, which is the shortest, and the cheapest."""

    def __init__(self, keys: Iterable[int]) -> None:
        self.first = {key: _Label(0.0, 0, key, 0, None) for key in keys}
        self.best = dict(self.first)
        self.front = dict(self.first)
        self.hubs: dict[int, _Label] = {}

    def leave(self) -> list[tuple[_Label, int]]:
        """Return from where to go on and how far around to look; hubs once there is nothing else."""
        labels, widest = (self.front, HUB + 1) if self.front else (self.hubs, WIDEST)
        found = [(label, widest) for label in sorted(labels.values(), key=_Label.rank)]
        labels.clear()
        return found

    def reach(self, label: _Label) -> bool:
        """Note a way to a node; say whether it is worth going on from."""
        known = self.best.get(label.node)
        if known is not None and label.cost >= known.cost:
            return False
        self.first.setdefault(label.node, label)
        self.best[label.node] = self.front[label.node] = label
        return True

    @property
    def nearest(self) -> float:
        """The least that a way costs to where nobody has gone on from yet."""
        return min((label.cost for label in self._ahead()), default=inf)

    @property
    def shortest(self) -> float:
        """The least number of edges to where nobody has gone on from yet."""
        return min((label.hops for label in self._ahead()), default=inf)

    def _ahead(self) -> Iterator[_Label]:
        yield from self.front.values()
        yield from self.hubs.values()


def path(
    connection: Connection,
    source_key: int,
    target_key: int,
    max_hops: int = 5,
    at: datetime | None = None,
    least: float = 0.0,
) -> list[Edge]:
    """Return the edges of the way between two rows of nodes, in order; none where there is none so short."""
    then = Then.of(at or datetime.now(UTC))
    return list(trail(connection, [source_key], [target_key], then, max_hops, least).edges)


def trail(
    connection: Connection,
    sources: Sequence[int],
    targets: Sequence[int],
    then: Then,
    max_hops: int = 5,
    least: float = 0.0,
) -> Trail:
    """Return the best way from one of some nodes to one of others, of edges at least so probable."""
    search = _Search(connection, sources, targets, then, max_hops, least)
    search.run()
    rows = search.rows()
    edges = graph.as_edges(connection, rows, then.known)
    ends = graph.nodes(connection, search.nodes())
    chance = 1.0
    for edge in edges:
        chance *= edge.probability
    nodes = tuple(ends[key] for key in search.nodes())
    return Trail(nodes=nodes, edges=edges, probability=chance if nodes else 0.0, complete=search.complete)


class _Search:
    def __init__(
        self,
        connection: Connection,
        sources: Iterable[int],
        targets: Iterable[int],
        then: Then,
        max_hops: int,
        least: float,
    ) -> None:
        self._connection, self._then, self._least, self._max_hops = connection, then, least, max_hops
        self._given = then.given
        self._sides = _Side(sources), _Side(targets)
        self._hubs: dict[int, bool] = {}
        self._probed = set[int]()
        self._read = 0
        self._cost = inf
        self._ends: tuple[_Label, _Label] | None = None
        self.complete = True
        for node in self._sides[0].first.keys() & self._sides[1].first.keys():
            self._meet(self._sides[0].first[node], self._sides[1].first[node])

    def run(self) -> None:
        """Go out from both ends until no better way can be found, or enough has been looked at."""
        while self._worth_more():
            self._probe()
            side = self._smaller()
            room = self._max_hops - self._sides[1 - side].shortest
            for label, widest in self._sides[side].leave():
                if self._read >= (MOST if self._ends is None else ENOUGH):
                    self.complete = self._ends is not None
                    return
                if label.hops < room:
                    self._go_on(side, label, widest, last=label.hops + 1 >= room)

    def nodes(self) -> list[int]:
        """Return the nodes of the way that was found, in order."""
        if self._ends is None:
            return []
        ahead, behind = (_chain(end) for end in self._ends)
        return [label.node for label in (*reversed(ahead), *behind[1:])]

    def rows(self) -> list[Any]:
        """Return the edges of the way that was found, in order."""
        if self._ends is None:
            return []
        ahead, behind = (_chain(end)[:-1] for end in self._ends)
        keys = [label.edge for label in (*reversed(ahead), *behind)]
        return [self._known(key) for key in keys]

    def _probe(self) -> None:
        """See once whether a hub at which one side stands is linked to what the other side has reached already."""
        for side, own in enumerate(self._sides):
            other = self._sides[1 - side]
            for label in sorted(own.hubs.values(), key=_Label.rank) if other.front and not own.front else ():
                if label.node not in self._probed and label.hops < self._max_hops:
                    self._probed.add(label.node)
                    for reached in self._beyond(label, WIDEST, other.best):
                        self._join(side, reached)

    def _worth_more(self) -> bool:
        one, other = self._sides
        short = one.shortest + other.shortest < self._max_hops
        return short and one.nearest + other.nearest + _HOP < self._cost

    def _smaller(self) -> int:
        """Return the side with fewer nodes to go on from; a hub counts as many."""
        sizes = [len(side.front) or len(side.hubs) * HUB or HUB * WIDEST for side in self._sides]
        return int(sizes[1] < sizes[0])

    def _go_on(self, side: int, label: _Label, widest: int, *, last: bool) -> None:
        """Reach what is linked to a node; with the `last` step only what the other side reached too."""
        own, other = self._sides[side], self._sides[1 - side]
        if widest <= HUB + 1 and self._is_hub(label.node):
            own.hubs[label.node] = label._replace(cost=label.cost + (_THROUGH_HUB if label.before else 0.0))
            return
        for reached in self._beyond(label, widest, other.best if last else None):
            if own.reach(reached) and reached.node in other.best:
                self._join(side, reached)

    def _beyond(self, label: _Label, widest: int, among: Iterable[int] | None) -> Iterator[_Label]:
        """Yield the ways that are one edge longer, as long as they cost less than the best that was found."""
        for there, probability, edge in self._steps(label.node, widest, among):
            cost = label.cost + _HOP - log(max(probability, _LEAST))
            if cost < self._cost:
                yield _Label(cost, label.hops + 1, there, edge, label)

    def _join(self, side: int, reached: _Label) -> None:
        """Look whether the other side has been where this one has come."""
        other = self._sides[1 - side]
        for met in (other.best.get(reached.node), other.first.get(reached.node)):
            if met is not None:
                self._meet(*((reached, met) if side == 0 else (met, reached)))

    def _meet(self, ahead: _Label, behind: _Label) -> None:
        """Keep the way over a node that both sides reach, if it is the best so far."""
        cost = ahead.cost + behind.cost
        if ahead.hops + behind.hops > self._max_hops or cost >= self._cost:
            return
        if ahead.before and behind.before and self._is_hub(ahead.node):
            cost += _THROUGH_HUB
        if cost < self._cost:
            self._cost, self._ends = cost, (ahead, behind)

    def _is_hub(self, node: int) -> bool:
        if node not in self._hubs:
            self._hubs[node] = sum(row[0] for row in _degree.all(self._connection, node=node, most=HUB + 1)) > HUB
        return self._hubs[node]

    def _steps(self, node: int, widest: int, among: Iterable[int] | None) -> list[tuple[int, float, int]]:
        """Return (node, probability, edge) along the edges of a node, so many at most each way, or those to some."""
        given = {"node": node, "least": self._least, "widest": widest, **self._given}
        if among is None:
            rows = _steps.all(self._connection, **given)
            self._read += len(rows)
        else:
            rows = _steps_to.all(self._connection, among=json.dumps(list(among)), **given)
            self._read += len(rows) + 1
        found = []
        for there, probability, edge, later in rows:
            known = self._known(edge) if later else None
            if not later:
                found.append((there, probability, edge))
            elif known is not None and known.probability >= self._least:
                found.append((there, known.probability, edge))
        return found

    def _known(self, edge: int) -> Any:
        return holding.as_known(self._connection, _by_key.first(self._connection, key=edge), self._then)


def _chain(label: _Label | None) -> list[_Label]:
    """Return a way from where it leads back to where its side began."""
    found = []
    while label is not None:
        found.append(label)
        label = label.before
    return found


def _along(here: Column[Any], there: Column[Any]) -> Subquery:
    """Select the edges that may be gone along from a node at one of their ends."""
    found = select(
        there.label("there"), _edges.c.probability, _edges.c.key, type_coerce(holding.LATER, Integer).label("later")
    )
    least = _edges.c.probability >= bindparam("least")
    return found.where(here == bindparam("node"), least, holding.MAY_HOLD).limit(bindparam("widest")).subquery()


def _to(here: Column[Any], there: Column[Any]) -> Subquery:
    """Select the same to some nodes alone; which they are is told by the index, without a look at the other edges."""
    near = select(_edges.c.key, there.label("there")).where(here == bindparam("node")).limit(bindparam("widest"))
    listed = near.subquery()
    later = type_coerce(holding.LATER, Integer).label("later")
    found = select(listed.c.there, _edges.c.probability, _edges.c.key, later)
    some = listed.c.there.in_(_some)
    least = _edges.c.probability >= bindparam("least")
    return found.join(_edges, _edges.c.key == listed.c.key).where(some, least, holding.MAY_HOLD).subquery()


_some = text("SELECT value FROM json_each(:among)").columns(value=_edges.c.key.type)
_degree = Prepared(
    union_all(
        *(
            select(func.count()).select_from(
                select(_edges.c.key).where(here == bindparam("node")).limit(bindparam("most")).subquery()
            )
            for here in (_edges.c.source, _edges.c.target)
        )
    )
)
_steps_to = Prepared(
    union_all(select(_to(_edges.c.source, _edges.c.target)), select(_to(_edges.c.target, _edges.c.source)))
)
_steps = Prepared(
    union_all(select(_along(_edges.c.source, _edges.c.target)), select(_along(_edges.c.target, _edges.c.source)))
)
_by_key = Prepared(select(_edges).where(_edges.c.key == bindparam("key")))
