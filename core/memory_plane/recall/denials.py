"""Memories that deny an edge: nothing is linked that was said not to be so, yet it can be asked for."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator
from datetime import datetime
from typing import NamedTuple

from sqlalchemy import Connection, bindparam, func, select, text

from memory_plane import models
from memory_plane.prepared import Prepared
from memory_plane.store import derivations, log
from memory_plane.types import Claim, Memory, Origin

NAMED, READ = 200, 20
"""How many of the newest memories that name a node are looked at, and how many that deny something are read."""

_mentions, _derivations = models.mentions, models.derivations
_nodes = text("SELECT value FROM json_each(:nodes)").columns(value=_mentions.c.node.type)
_lately = select(_mentions.c.seq).where(_mentions.c.node.in_(_nodes)).order_by(_mentions.c.seq.desc()).limit(NAMED)
_denying = Prepared(
    select(_derivations.c.seq)
    .where(_derivations.c.seq.in_(_lately), func.instr(_derivations.c.answer, '"negative"') > 0)
    .distinct()
    .order_by(_derivations.c.seq.desc())
    .limit(READ)
)
_places = Prepared(
    select(_mentions.c.start, _mentions.c.end, _mentions.c.node).where(_mentions.c.seq == bindparam("row"))
)


class Denial(NamedTuple):
    """A memory that says that something is not so, and when it said it."""

    memory: str
    at: datetime
    origin: Origin

    @property
    def rank(self) -> tuple[bool, datetime, str]:
        """Order denials: the one that counts last."""
        return self.origin != "external", self.at, self.memory


def denials(
    connection: Connection, nodes: Collection[int], relations: Collection[str], until: datetime
) -> dict[tuple[int, int], Denial]:
    """Return the newest memory up to a time that denies one of these relations at some nodes, by (source, target).

    One in words of other people counts only where there is no other.
    """
    found: dict[tuple[int, int], Denial] = {}
    for (seq,) in _denying.all(connection, nodes=json.dumps(list(nodes))):
        said = log.memory(connection, seq)
        if said is None or said[1] > until:
            continue
        denial = Denial(said[0].id, said[1], said[0].origin)
        for pair in _denied(connection, seq, said[0], relations):
            known = found.get(pair)
            if known is None or denial.rank > known.rank:
                found[pair] = denial
    return found


def _denied(connection: Connection, seq: int, memory: Memory, relations: Collection[str]) -> Iterator[tuple[int, int]]:
    places = {(start, end): node for start, end, node in _places.all(connection, row=seq)}
    for claim in _claims(connection, seq, memory):
        ends = [places.get((mention.start, mention.end)) for mention in (claim.subject, claim.object)]
        if claim.polarity == "negative" and claim.relation in relations and ends[0] and ends[1]:
            yield ends[0], ends[1]


def _claims(connection: Connection, seq: int, memory: Memory) -> Iterator[Claim]:
    for derivation in derivations.read(connection, seq, memory):
        if derivation.extraction is not None:
            yield from derivation.extraction.claims
