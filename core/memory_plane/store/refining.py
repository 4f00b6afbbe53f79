"""Several answers about one memory as one: what was asked for later takes the place of what was said at once.

Of a span, of an edge and of an agent's attention the word of the highest rank counts. A deferred edge of probability 0
says that there is none. Nothing depends on the order in which the answers came.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from memory_plane.store.codec import Derivation
from memory_plane.store.places import place
from memory_plane.types import Classification, Link, Resolution, Routing


def refined(answers: Sequence[Derivation]) -> list[Derivation]:
    """Return the answers in the order in which the graph folds them, each without what another one refines."""
    order = sorted(answers, key=lambda one: (-one.rank, one.plugin))
    if not order or order[0].rank == 0:
        return order
    edges, heard = _Edges(order), dict[str, int]()
    return [
        replace(
            one,
            classification=None if one.classification is None else edges.of(one.classification, one.rank),
            routing=None if one.routing is None else _unheard(one.routing, one.rank, heard),
        )
        for one in order
    ]


class _Edges:
    """What the places of a memory mean by all answers together, and which edges were settled by those so far."""

    def __init__(self, order: Sequence[Derivation]) -> None:
        found = [one.classification for one in order if one.classification is not None]
        self._resolutions = tuple(one for classification in found for one in classification.resolutions)
        meant: dict[object, str] = {}
        for one in self._resolutions:
            meant.setdefault(_place(one), one.node)
        named = set(meant.values())
        self._means: dict[str, str] = dict(zip(named, named, strict=True))
        for one in self._resolutions:
            self._means.setdefault(one.node, meant[_place(one)])
        self._first: dict[object, Classification] = {}
        for classification in found:
            for one in classification.resolutions:
                self._first.setdefault(_place(one), classification)
        self._settled: dict[tuple[str, str, str], int] = {}

    def of(self, found: Classification, rank: int) -> Classification:
        """Return all resolutions with those edges of one answer that none of a higher rank has settled."""
        links = tuple(link for link in found.links if self._stands(link, rank))
        doubts = tuple(one for one in found.doubts if self._first.get(_place(one)) is found)
        return Classification(resolutions=self._resolutions, links=links, doubts=doubts)

    def _stands(self, link: Link, rank: int) -> bool:
        edge = self._means.get(link.source, link.source), link.relation, self._means.get(link.target, link.target)
        return self._settled.setdefault(edge, rank) == rank and (rank == 0 or link.probability > 0)


def _place(one: Resolution) -> tuple[int, int, str]:
    return place(one.mention.start, one.mention.end, one.node)


def _unheard(routing: Routing, rank: int, heard: dict[str, int]) -> Routing:
    """Return the attention of those agents alone of whom no answer of a higher rank spoke."""
    kept = [one for one in routing.attention if heard.setdefault(one.agent, rank) == rank]
    return Routing(attention=tuple(one for one in kept if rank == 0 or one.score > 0))
