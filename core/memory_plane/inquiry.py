"""What a deferred plugin is asked about one memory: its text, what was found in it at once, what is known of that."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import reduce

from sqlalchemy import Connection

from memory_plane.answers import unite
from memory_plane.recall import attention, graph
from memory_plane.recall.candidates import Candidates, Known, candidates
from memory_plane.store import derivations, identities, log
from memory_plane.store.codec import Derivation
from memory_plane.types import AgentContext, Candidate, Classification, Edge, Extraction, Memory, Node, Origin

DESCRIBED = 16
"""How many candidates are described by what is known of them."""
EDGES = 4
"""By how many edges each."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Inquiry:
    """What is asked; `said` are the answers that there are so far, `at` is from when the memory in row `seq` counts."""

    seq: int
    memory: Memory
    at: datetime
    found: Extraction
    candidates: Sequence[Candidate]
    nodes: Sequence[Node]
    agents: Sequence[AgentContext]
    said: tuple[Derivation, ...]


def inquire(connection: Connection, seq: int, interests: Mapping[str, tuple[str, ...]]) -> Inquiry | None:
    """Return what to ask about the memory in this row, None if it was forgotten, retracted or is held back.

    The memory itself is no evidence for what its names mean: who decides anew must not hear the old decision twice.
    Nor are nodes that came after it: of two that are one, only the younger can be asked to give way.
    """
    stored = log.memory(connection, seq)
    if stored is None or not derivations.visible(connection, seq, stored[0]):
        return None
    memory, at = stored
    said = tuple(identities.seen(connection, memory.id, derivations.read(connection, seq, memory)))
    found = reduce(unite, (one.extraction for one in said if one.extraction is not None), Extraction())
    classification = next((one.classification for one in said if one.classification), Classification())
    known = candidates(connection, memory, found.mentions, found.claims, but=seq)
    nodes = nodes_of(classification, known.known, memory.origin)
    return Inquiry(
        seq=seq,
        memory=memory,
        at=at,
        found=found,
        candidates=_described(connection, memory, at, classification, known),
        nodes=nodes,
        agents=attention.contexts(connection, memory, nodes, known.known, interests),
        said=said,
    )


def settled(asked: Inquiry, answer: Classification) -> Classification:
    """Return what inline plugins make of a later extraction; names that were settled before mean what they did."""
    before = {
        (one.mention.start, one.mention.end, one.mention.text): one
        for said in reversed(asked.said)
        for one in (said.classification.resolutions if said.classification else ())
    }
    old = [before.get((one.mention.start, one.mention.end, one.mention.text)) for one in answer.resolutions]
    means = {new.node: known.node for new, known in zip(answer.resolutions, old, strict=True) if known is not None}
    links = tuple(
        replace(link, source=means.get(link.source, link.source), target=means.get(link.target, link.target))
        for link in answer.links
    )
    ends = {end for link in links for end in (link.source, link.target)}
    resolutions = tuple(
        replace(new, node=means.get(new.node, new.node))
        for new, known in zip(answer.resolutions, old, strict=True)
        if known is None or known.node in ends or known.mention.type != new.mention.type
    )
    return Classification(resolutions=resolutions, links=links)


def nodes_of(classification: Classification, known: Mapping[str, Known], origin: Origin) -> list[Node]:
    """Return the nodes that a memory names: known ones, and those it founds."""
    nodes: dict[str, Node] = {}
    for one in classification.resolutions:
        if one.node in known:
            nodes[one.node] = known[one.node].node
        else:
            mention = one.mention
            nodes.setdefault(one.node, Node(id=one.node, type=mention.type, name=mention.text, origin=origin))
    return list(nodes.values())


def _described(
    connection: Connection, memory: Memory, at: datetime, classification: Classification, known: Candidates
) -> tuple[Candidate, ...]:
    """Add to each candidate whether the mention was taken for it, and what other memories say of it.

    Those that a person keeps apart from whom the mention was taken for are no candidates.
    """
    taken = {(one.mention.start, one.mention.end, one.node) for one in classification.resolutions}
    told = [replace(one, taken=(one.mention.start, one.mention.end, one.node.id) in taken) for one in known.found]
    told = [one for one in told if one.taken or known.known[one.node.id].founded_at < at]
    foes = identities.Foes(connection)
    meant = {one.mention: one.node.id for one in told if one.taken}
    told = [one for one in told if one.taken or not foes.are_distinct(meant.get(one.mention, one.node.id), one.node.id)]
    chosen = list(dict.fromkeys(one.node.id for one in told))[:DESCRIBED]
    facts = {id: _facts(connection, known.known[id], memory) for id in chosen}
    return tuple(replace(one, facts=facts.get(one.node.id, ())) for one in told)


def _facts(connection: Connection, known: Known, memory: Memory) -> tuple[str, ...]:
    edges = graph.around(connection, [known.key], datetime.now(UTC), EDGES + 1).edges
    return tuple(_words(edge) for edge in edges if set(edge.evidence) != {memory.id})[:EDGES]


def _words(edge: Edge) -> str:
    return f"{edge.source.name} {edge.relation} {edge.target.name}"
