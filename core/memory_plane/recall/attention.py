"""What a scorer is told of each agent."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sqlalchemy import Connection, select

from memory_plane import models
from memory_plane.prepared import Prepared
from memory_plane.recall.candidates import Known
from memory_plane.recall.nearness import FOCUS, Near, Nearness, concerns, says
from memory_plane.types import AgentContext, Memory, Node

COUNTED = 1_000
"""Open items are counted no further than this."""

_focus = Prepared(select(models.agent_heartbeats.c.agent, models.agent_heartbeats.c.focus))
_items = models.items
_waiting = Prepared(
    select(_items.c.addressee, _items.c.seq)
    .where(models.is_open, _items.c.addressee.is_not(None))
    .order_by(_items.c.addressee, _items.c.due_at)
    .limit(COUNTED)
)


def contexts(
    connection: Connection,
    memory: Memory,
    nodes: Sequence[Node],
    known: Mapping[str, Known],
    interests: Mapping[str, tuple[str, ...]],
) -> list[AgentContext]:
    """Describe every agent but the memory's own author: all that have interests or ever wrote."""
    focus = {agent: words or "" for agent, words in _focus.all(connection) if agent != memory.agent}
    agents = sorted((interests.keys() | focus.keys()) - {memory.agent})
    waiting: dict[str, list[int]] = {}
    for addressee, seq in _waiting.all(connection):
        waiting.setdefault(addressee.lower(), []).append(seq)
    # An agent is linked to all that it does, so that it would make all of that near to whoever it handed something.
    who = {_letters(agent) for agent in (*agents, memory.agent)}
    here = {node.id: known[node.id] for node in nodes if node.id in known and _letters(node.name) not in who}
    owed = {agent: waiting[agent] for agent in agents if agent in waiting}
    own = concerns(connection, focus, owed) if here else {}
    nearness = Nearness(connection, {one.key: one.node for one in here.values()})
    told = []
    for agent in agents:
        near = nearness.of(own.get(agent, {})) | _named(nodes, here, focus.get(agent, ""))
        told.append(
            AgentContext(
                id=agent,
                interests=interests.get(agent, ()),
                focus=focus.get(agent, ""),
                open_items=len(waiting.get(agent, ())),
                distances={id: one.hops for id, one in near.items()},
                ways={id: one.way for id, one in near.items()},
                written=frozenset(id for id, one in here.items() if agent in one.agents),
            )
        )
    return told


def _letters(name: str) -> str:
    return "".join(filter(str.isalnum, name.casefold()))


def _named(nodes: Sequence[Node], here: Mapping[str, Known], focus: str) -> dict[str, Near]:
    """Return the nodes which no memory named before, that a focus has by name all the same."""
    return {node.id: Near(0, FOCUS) for node in nodes if node.id not in here and says(focus, node.name)}
