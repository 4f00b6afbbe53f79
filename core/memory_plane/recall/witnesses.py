"""What speaks for or against a mention being a known node, beside its name."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import islice
from typing import Protocol

from sqlalchemy import Connection, bindparam, or_, select

from memory_plane import models
from memory_plane.prepared import Prepared
from memory_plane.store.names import folded
from memory_plane.types import Claim
from memory_plane.vocabulary.meanings import is_office, is_sole

NEIGHBOURS = 40
"""How many other names of a memory are asked whether they know a node: a list of a thousand is no evidence."""
CLAIMS = 8
"""How many claims of a memory about one name are compared with what is known."""
_EMPLOYED = "WORKS_AT"
"""Of what one has but one at a time this alone tells two apart: who lives in Oslo is in Rome now and then."""

_edges, _evidence = models.graph_edges, models.graph_evidence
_linked = Prepared(
    select(_edges.c.key).where(_edges.c.source == bindparam("source"), _edges.c.target == bindparam("target")).limit(1)
)
_said = Prepared(
    select(_evidence.c.seq)
    .join(_edges, _edges.c.key == _evidence.c.edge)
    .where(
        _edges.c.source == bindparam("source"),
        _edges.c.relation == bindparam("relation"),
        _edges.c.target == bindparam("target"),
        or_(bindparam("but").is_(None), _evidence.c.seq != bindparam("but")),
    )
    .limit(1)
)
_holding = Prepared(
    select(_edges.c.target)
    .where(
        _edges.c.source == bindparam("source"),
        _edges.c.relation == bindparam("relation"),
        _edges.c.valid_until.is_(None),
    )
    .limit(CLAIMS)
)
_offices = Prepared(
    select(_edges.c.relation)
    .where(
        _edges.c.source == bindparam("source"),
        _edges.c.target == bindparam("target"),
        _edges.c.valid_until.is_(None),
    )
    .limit(CLAIMS)
)
Names = Mapping[str, Sequence[tuple["Thing", bool]]]
"""By folded name the known nodes that have it, and whether it is but a part of theirs."""


class Thing(Protocol):
    """A known node in the graph, and the newest memories that name it."""

    @property
    def key(self) -> int: ...
    @property
    def memories(self) -> set[int]: ...


def shared(connection: Connection, option: Thing, own: str, names: Names) -> int:
    """Count the other names of a memory that stood beside the node before, in one memory or along an edge: to 3."""
    beside = (
        name
        for name, others in islice(names.items(), NEIGHBOURS)
        if name != own and any(other is not option and _together(connection, option, other) for other, _ in others)
    )
    return sum(1 for _ in islice(beside, 3))


def _together(connection: Connection, one: Thing, other: Thing) -> bool:
    if not one.memories.isdisjoint(other.memories):
        return True
    ways = ((one.key, other.key), (other.key, one.key))
    return any(_linked.first(connection, source=source, target=target) is not None for source, target in ways)


class Claimed:
    """What a memory claims, by the name that it is claimed of."""

    def __init__(self, claims: Iterable[Claim], look: Callable[[str], Sequence[tuple[Thing, bool]]]) -> None:
        self._look = look
        self._of: dict[str, list[Claim]] = {}
        for claim in claims:
            if claim.polarity == "positive" and (is_sole(claim.relation) or claim.relation == _EMPLOYED):
                self._of.setdefault(folded(claim.subject.text), []).append(claim)

    def agrees(self, connection: Connection, option: Thing, name: str, but: int | None) -> int:
        """Count the claims about a name that others than the row `but` made of the node and that are true of few."""
        return sum(
            any(
                _said.first(connection, source=option.key, relation=claim.relation, target=other.key, but=but)
                for other, part in self._look(folded(claim.object.text))
                if not part
            )
            for claim in self._of.get(name, ())[:CLAIMS]
            if claim.relation != _EMPLOYED
        )

    def contradicts(self, connection: Connection, option: Thing, name: str) -> bool:
        """Whether a name is claimed to work for others than the node does, or there in another office."""
        claims = self._of.get(name, ())[:CLAIMS]
        if any(self._holds_another(connection, option, claim) for claim in claims if _is_held_alone(claim.relation)):
            return True
        claims = [claim for claim in claims if claim.relation == _EMPLOYED]
        if not claims:
            return False
        known = {row.target for row in _holding.all(connection, source=option.key, relation=_EMPLOYED)}
        told = {other.key for claim in claims for other, _ in self._look(folded(claim.object.text))}
        return bool(known) and known.isdisjoint(told)

    def _holds_another(self, connection: Connection, option: Thing, office: Claim) -> bool:
        """Whether a node is known for another office where it is claimed to hold one, and not for that."""
        held = {
            row.relation
            for other, part in self._look(folded(office.object.text))
            if not part
            for row in _offices.all(connection, source=option.key, target=other.key)
            if _is_held_alone(row.relation)
        }
        return bool(held) and office.relation not in held


def _is_held_alone(relation: str) -> bool:
    """Whether who has this office there has no other: a founder may be anything beside."""
    return is_office(relation) and relation != "FOUNDER_OF"
