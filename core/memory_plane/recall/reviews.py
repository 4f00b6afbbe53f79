"""What a person may judge: two nodes that may be one, with what speaks for it and what is known of each."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from datetime import datetime
from itertools import islice

from sqlalchemy import ColumnElement, Connection, and_, bindparam, or_, select

from memory_plane import models
from memory_plane.prepared import Prepared
from memory_plane.recall import graph
from memory_plane.store import identities
from memory_plane.types import Node, Review

LOOKED_AT = 50
"""How many doubts are looked through for one that is shown: most pairs are doubted more than once."""
EDGES = 4
"""By how many edges a node is described."""
EVIDENCE = 5
"""How many memories are named that speak for a pair."""

_doubts = models.doubts
_likely = Prepared(
    select(_doubts.c.one, _doubts.c.other, _doubts.c.probability, models.operations.c.id)
    .join(models.operations, models.operations.c.seq == _doubts.c.seq)
    .order_by(_doubts.c.probability.desc(), models.operations.c.id, _doubts.c.one, _doubts.c.other)
    .limit(bindparam("limit"))
)
_Pairs = dict[tuple[str, str], tuple[float, list[str]]]


def reviews(connection: Connection, now: datetime, limit: int) -> tuple[Review, ...]:
    """Return the pairs that are likeliest one, without those of which that was said, or the contrary."""
    pairs = _pairs(connection, _likely.all(connection, limit=limit * LOOKED_AT))
    open_ = ((said, known) for pair, said in pairs.items() if len(known := _nodes(connection, pair)) == len(pair))
    return tuple(
        Review(
            one=known[0][1],
            other=known[1][1],
            probability=probability,
            evidence=tuple(evidence[:EVIDENCE]),
            known=tuple(_known(connection, key, now) for key, _ in known),
        )
        for (probability, evidence), known in islice(open_, limit)
    )


def asked(connection: Connection, ids: Iterable[str]) -> list[tuple[str, str]]:
    """Return the pairs of these nodes of which it is asked whether they are one."""
    members = _members(connection, ids)
    return _asked(connection, and_(_doubts.c.one.in_(members), _doubts.c.other.in_(members)))


def others(connection: Connection, ids: Collection[str]) -> set[str]:
    """Return the nodes of which it is asked whether they are one with these."""
    if not ids:
        return set()
    members = _members(connection, ids)
    pairs = _asked(connection, or_(_doubts.c.one.in_(members), _doubts.c.other.in_(members)))
    own = {identities.representative(connection, id) for id in ids}
    return {id for pair in pairs for id in pair} - own


def _members(connection: Connection, ids: Iterable[str]) -> list[str]:
    stand = (identities.representative(connection, id) for id in ids)
    return [member for id in stand for member in identities.members(connection, id)]


def _asked(connection: Connection, doubted: ColumnElement[bool]) -> list[tuple[str, str]]:
    rows = connection.execute(select(_doubts.c.one, _doubts.c.other).where(doubted).distinct()).all()
    return sorted(_pairs(connection, ((one, other, 1.0, "") for one, other in rows)))


def _nodes(connection: Connection, pair: tuple[str, str]) -> list[tuple[int, Node]]:
    """Return the nodes of a pair with their rows, in its order; fewer where one is gone."""
    return [found for id in pair for found in graph.nodes(connection, graph.find(connection, id)).items()]


def _pairs(connection: Connection, doubts: Iterable[tuple[str, str, float, str]]) -> _Pairs:
    pairs: _Pairs = {}
    foes = identities.Foes(connection)
    for one, other, probability, memory in doubts:
        pair = identities.representative(connection, one), identities.representative(connection, other)
        if pair[0] == pair[1] or foes.are_distinct(*pair):
            continue
        pairs.setdefault(min(pair, pair[::-1]), (probability, []))[1].append(memory)
    return pairs


def _known(connection: Connection, key: int, now: datetime) -> tuple[str, ...]:
    def words() -> Iterator[str]:
        for edge in graph.around(connection, [key], now, EDGES).edges:
            yield f"{edge.source.name} {edge.relation} {edge.target.name}"

    return tuple(words())
