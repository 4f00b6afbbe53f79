"""Edges of which only one can hold though nobody said that the other is over: two employers or homes of one person."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from sqlalchemy import Connection, exists, or_, select, text

from memory_plane import models
from memory_plane.prepared import Prepared
from memory_plane.recall import graph
from memory_plane.store import exclusivity
from memory_plane.types import Contradiction

LATELY = 5_000
"""How many of the newest edges are looked through."""

_edges = models.graph_edges
_newest = select(_edges.c.key).order_by(_edges.c.known_since.desc()).limit(LATELY)
_open = or_(_edges.c.closed_at.is_(None), _edges.c.opened_at > _edges.c.closed_at)
_listed = text("SELECT value FROM json_each(:relations)").columns(value=_edges.c.relation.type)
_rival = _edges.alias("rival")
_has_rivals = exists().where(
    _rival.c.source == _edges.c.source, _rival.c.relation.in_(_listed), _rival.c.target != _edges.c.target
)
_whose = Prepared(
    select(_edges.c.source)
    .where(_edges.c.key.in_(_newest), _edges.c.relation.in_(_listed), _open, _has_rivals)
    .order_by(_edges.c.known_since.desc())
)


def contradictions(connection: Connection, limit: int) -> list[Contradiction]:
    """Return what stands against what, what became known last first."""
    return list(islice(_all(connection), limit))


def _all(connection: Connection) -> Iterator[Contradiction]:
    for relation in exclusivity.relations():
        sources = (row.source for row in _whose.all(connection, relations=exclusivity.listed(relation)))
        for source in dict.fromkeys(sources):
            pairs = exclusivity.rivals(connection, source, relation)
            edges = graph.as_edges(connection, [row for pair in pairs for row in pair])
            for stands, against in zip(edges[::2], edges[1::2], strict=True):
                yield Contradiction(stands=stands, against=against)
