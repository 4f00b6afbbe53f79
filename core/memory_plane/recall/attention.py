"""What a scorer is told of each agent."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from sqlalchemy import Connection, func, select

from memory_plane import models
from memory_plane.prepared import Prepared
from memory_plane.recall.candidates import Known
from memory_plane.store.names import folded
from memory_plane.types import AgentContext, Memory, Node

COUNTED = 1_000
"""Open items are counted no further than this."""

_focus = Prepared(select(models.agent_heartbeats.c.agent, models.agent_heartbeats.c.focus))
_items = models.items
_addressed = (
    select(_items.c.addressee)
    .where(models.is_open, _items.c.addressee.is_not(None))
    .order_by(_items.c.addressee)
    .limit(COUNTED)
    .subquery()
)
_waiting = Prepared(select(_addressed.c.addressee, func.count()).group_by(_addressed.c.addressee))


def contexts(
    connection: Connection,
    memory: Memory,
    nodes: Sequence[Node],
    known: Mapping[str, Known],
    interests: Mapping[str, tuple[str, ...]],
) -> list[AgentContext]:
    """Describe every agent but the memory's own author: all that have interests or ever wrote."""
    focus = {agent: words or "" for agent, words in _focus.all(connection)}
    waiting: Counter[str] = Counter()
    for addressee, count in _waiting.all(connection):
        waiting[addressee.lower()] += count
    return [
        AgentContext(
            id=agent,
            interests=interests.get(agent, ()),
            focus=focus.get(agent, ""),
            open_items=waiting[agent],
            distances=_distances(agent, folded(focus.get(agent, "")), nodes, known),
        )
        for agent in sorted(interests.keys() | focus.keys())
        if agent != memory.agent
    ]


def _distances(agent: str, focus: str, nodes: Sequence[Node], known: Mapping[str, Known]) -> dict[str, int]:
    """Hops to each node: 0 if the agent's focus names it, 1 if one of its own memories did lately."""
    distances = {}
    for node in nodes:
        if focus and folded(node.name) in focus:
            distances[node.id] = 0
        elif node.id in known and agent in known[node.id].agents:
            distances[node.id] = 1
    return distances
