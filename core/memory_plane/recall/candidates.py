"""Which known nodes the mentions of a memory may be, with the evidence for each."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from itertools import islice

from sqlalchemy import Connection, bindparam, select

from memory_plane import models
from memory_plane.prepared import Prepared
from memory_plane.store.names import folded
from memory_plane.types import Candidate, Memory, Mention, Node

PER_NAME = 8
"""How many nodes of one name are considered, the youngest first."""
RECENT = 30
"""How many of a node's newest mentions count as evidence."""
NEIGHBOURS = 40
"""How many other names of a memory are asked whether they know a node: a list of a thousand is no evidence."""
PART_SCORE = 0.6
"""The name score of a first or last name against a whole one."""

_nodes, _aliases, _mentions, _edges = models.graph_nodes, models.aliases, models.mentions, models.graph_edges
_named = Prepared(
    select(*(_nodes.c[name] for name in ("key", "id", "type", "name", "origin", "founded_at")), _aliases.c.part)
    .join(_aliases, _aliases.c.node == _nodes.c.key)
    .where(_aliases.c.name == bindparam("name"))
    .order_by(_aliases.c.part, _nodes.c.key.desc())
    .limit(PER_NAME)
)
_lately = Prepared(
    select(_mentions.c.seq, models.operations.c.agent, models.effective())
    .join(models.operations, models.operations.c.seq == _mentions.c.seq)
    .where(_mentions.c.node == bindparam("node"))
    .order_by(_mentions.c.seq.desc())
    .limit(RECENT)
)
_linked = Prepared(
    select(_edges.c.key).where(_edges.c.source == bindparam("source"), _edges.c.target == bindparam("target")).limit(1)
)


@dataclass(slots=True)
class Known:
    """A known node, when it got its name, the memories that named it lately, and who wrote them."""

    key: int
    node: Node
    founded_at: datetime
    memories: set[int] = field(default_factory=set)
    agents: set[str] = field(default_factory=set)
    last_seen: datetime | None = None


@dataclass(frozen=True, slots=True)
class Candidates:
    """The candidates for the hooks, the known nodes behind them by id, and the names that were looked up."""

    found: tuple[Candidate, ...] = ()
    known: dict[str, Known] = field(default_factory=dict)
    names: tuple[str, ...] = ()


def candidates(
    connection: Connection, memory: Memory, mentions: Iterable[Mention], *, but: int | None = None
) -> Candidates:
    """Look up each mention by whole name and, for persons, by first or last name; the row `but` is no evidence."""
    options: list[tuple[Mention, Known, float]] = []
    known: dict[str, Known] = {}
    names: dict[str, list[tuple[Known, bool]]] = {}
    for mention in mentions:
        name = folded(mention.text)
        if name not in names:
            names[name] = _look_up(connection, name, known, but)
        options += [(mention, option, PART_SCORE if part else 1.0) for option, part in names[name]]
        if mention.type == "Person" and " " in name and not names[name]:
            first = name.split()[0]
            if first not in names:
                names[first] = _look_up(connection, first, known, but)
            options += [(mention, option, PART_SCORE) for option, _ in names[first]]
    found = [
        Candidate(
            mention=mention,
            node=option.node,
            name_score=score,
            shared_neighbours=_shared(connection, option, name, names),
            same_agent=memory.agent in option.agents,
            last_seen=option.last_seen,
        )
        for mention, option, score in options
        for name in (folded(mention.text),)
    ]
    return Candidates(tuple(found), known, tuple(names))


def outdated(connection: Connection, asked: Candidates) -> bool:
    """Whether somebody has founded a node of one of these names since they were looked up."""
    rows = (row for name in asked.names for row in _named.all(connection, name=name))
    return any(row.id not in asked.known for row in rows)


def _look_up(connection: Connection, name: str, known: dict[str, Known], but: int | None) -> list[tuple[Known, bool]]:
    options = []
    for key, id, type_, label, origin, founded_at, part in _named.all(connection, name=name):
        if id not in known:
            node = Node(id=id, type=type_, name=label, origin=origin)
            known[id] = _recall(connection, Known(key, node, founded_at), but)
        options.append((known[id], part))
    return options


def _recall(connection: Connection, known: Known, but: int | None) -> Known:
    for seq, agent, at in _lately.all(connection, node=known.key):
        if seq == but:
            continue
        known.memories.add(seq)
        known.agents.add(agent)
        known.last_seen = at if known.last_seen is None else max(at, known.last_seen)
    return known


def _shared(connection: Connection, option: Known, own: str, names: Mapping[str, list[tuple[Known, bool]]]) -> int:
    """Count the other names of this memory that stood beside the node before, in one memory or along an edge: to 3."""
    beside = (
        name
        for name, others in islice(names.items(), NEIGHBOURS)
        if name != own and any(other is not option and _together(connection, option, other) for other, _ in others)
    )
    return sum(1 for _ in islice(beside, 3))


def _together(connection: Connection, one: Known, other: Known) -> bool:
    if not one.memories.isdisjoint(other.memories):
        return True
    ways = ((one.key, other.key), (other.key, one.key))
    return any(_linked.first(connection, source=source, target=target) for source, target in ways)
