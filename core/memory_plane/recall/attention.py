"""What a scorer is told of each agent."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from itertools import groupby
from operator import itemgetter
from typing import NamedTuple

from sqlalchemy import Connection, bindparam, select, text

from memory_plane import models
from memory_plane.prepared import Prepared
from memory_plane.recall import graph
from memory_plane.recall.candidates import Known
from memory_plane.recall.nearness import FOCUS, Concern, Near, Nearness, concerns, says
from memory_plane.store import log
from memory_plane.types import AgentContext, Attention, Memory, Node

COUNTED = 1_000
"""Open items are counted no further than this."""
RECENT, LATELY = 200, timedelta(days=7)
"""How many of the newest memories are scored anew for an agent, and how old one may be."""
OWN = 2_000
"""Among how many of the newest memories those of the agent are looked for."""

_focus = Prepared(select(models.agent_heartbeats.c.agent, models.agent_heartbeats.c.focus))
_items, _thoughts, _mentions = models.items, models.thoughts, models.mentions
_waiting = Prepared(
    select(_items.c.addressee, _items.c.seq)
    .where(models.is_open, _items.c.addressee.is_not(None))
    .order_by(_items.c.addressee, _items.c.due_at)
    .limit(COUNTED)
)
_recent = Prepared(
    select(_thoughts.c.seq)
    .where(
        _thoughts.c.visible,
        _thoughts.c.agent != bindparam("name"),
        _thoughts.c.at >= bindparam("since", type_=_thoughts.c.at.type),
    )
    .order_by(_thoughts.c.at.desc())
    .limit(RECENT)
)
_some = text("SELECT value FROM json_each(:rows)").columns(value=_mentions.c.seq.type)
_named_in = Prepared(select(_mentions.c.seq, _mentions.c.node).where(_mentions.c.seq.in_(_some)).distinct())
_scores = Prepared(
    select(models.attention.c.seq, models.attention.c.score, models.attention.c.reason).where(
        models.attention.c.agent == bindparam("name"), models.attention.c.seq.in_(_some)
    )
)
_newest = (
    select(_thoughts.c.seq, _thoughts.c.agent).where(_thoughts.c.visible).order_by(_thoughts.c.at.desc()).limit(OWN)
).subquery()
_written = Prepared(
    select(_mentions.c.node)
    .join(_newest, _newest.c.seq == _mentions.c.seq)
    .where(_newest.c.agent == bindparam("name"))
    .distinct()
)


def focuses(connection: Connection) -> dict[str, str]:
    """Return what each agent that ever wrote is doing, empty where it did not say."""
    return {agent: words or "" for agent, words in _focus.all(connection)}


def scores(connection: Connection, agent: str, now: datetime) -> dict[int, Attention]:
    """Return what the agent should care about of the newest memories of others, by their rows."""
    rows = json.dumps([row.seq for row in _recent.all(connection, name=agent, since=now - LATELY)])
    found = _scores.all(connection, name=agent, rows=rows)
    return {row.seq: Attention(agent=agent, score=row.score, reason=row.reason) for row in found}


def contexts(
    connection: Connection,
    memory: Memory,
    nodes: Sequence[Node],
    known: Mapping[str, Known],
    interests: Mapping[str, tuple[str, ...]],
) -> list[AgentContext]:
    """Describe every agent but the memory's own author: all that have interests or ever wrote."""
    focus = {agent: words for agent, words in focuses(connection).items() if agent != memory.agent}
    agents = sorted((interests.keys() | focus.keys()) - {memory.agent})
    waiting = _waiting_for(connection)
    # An agent is linked to all that it does, so that it would make all of that near to whoever it handed something.
    who = {_letters(agent) for agent in (*agents, memory.agent)}
    here = {node.id: known[node.id] for node in nodes if node.id in known and _letters(node.name) not in who}
    owed = {agent: waiting[agent] for agent in agents if agent in waiting}
    own = concerns(connection, focus, owed) if here else {}
    nearness, told = Nearness(connection), {one.key: one.node for one in here.values()}
    return [
        _context(
            _Agent(
                agent, interests.get(agent, ()), focus.get(agent, ""), len(waiting.get(agent, ())), own.get(agent, {})
            ),
            nearness,
            told,
            nodes,
            frozenset(id for id, one in here.items() if agent in one.agents),
        )
        for agent in agents
    ]


def recent(
    connection: Connection, agent: str, interests: Mapping[str, tuple[str, ...]], now: datetime
) -> Iterator[tuple[int, Memory, list[Node], AgentContext]]:
    """Yield the newest memories of others, each in its row with its nodes and the agent as it is now."""
    rows = [row.seq for row in _recent.all(connection, name=agent, since=now - LATELY)]
    named: dict[int, list[int]] = {}
    for seq, node in _named_in.all(connection, rows=json.dumps(rows)):
        named.setdefault(seq, []).append(node)
    nodes = graph.nodes(connection, {key for keys in named.values() for key in keys})
    doing = focuses(connection)
    who = {_letters(name) for name in (*interests, *doing)}
    written = {row.node for row in _written.all(connection, name=agent)}
    waiting, focus = _waiting_for(connection).get(agent, []), doing.get(agent, "")
    own = concerns(connection, {agent: focus}, {agent: waiting}).get(agent, {})
    about, nearness = _Agent(agent, interests.get(agent, ()), focus, len(waiting), own), Nearness(connection)
    for row in rows:
        found = log.memory(connection, row)
        if found is None:
            continue
        here = {key: nodes[key] for key in named.get(row, ()) if key in nodes}
        told = {key: node for key, node in here.items() if _letters(node.name) not in who}
        wrote = frozenset(node.id for key, node in told.items() if key in written)
        yield row, found[0], list(here.values()), _context(about, nearness, told, list(here.values()), wrote)


class _Agent(NamedTuple):
    """What there is to know of an agent whatever the memory."""

    id: str
    interests: tuple[str, ...]
    focus: str
    open_items: int
    own: Mapping[int, Concern]


def _context(
    agent: _Agent, nearness: Nearness, told: Mapping[int, Node], nodes: Sequence[Node], written: frozenset[str]
) -> AgentContext:
    """Describe an agent to whoever scores a memory, of whose `nodes` those in `told` were known before."""
    near = nearness.of(told, agent.own)
    known = {node.id for node in told.values()}
    # A focus may have by name what no memory named before.
    near |= {node.id: Near(0, FOCUS) for node in nodes if node.id not in known and says(agent.focus, node.name)}
    return AgentContext(
        id=agent.id,
        interests=agent.interests,
        focus=agent.focus,
        open_items=agent.open_items,
        distances={id: one.hops for id, one in near.items()},
        ways={id: one.way for id, one in near.items()},
        written=written,
    )


def _waiting_for(connection: Connection) -> dict[str, list[int]]:
    waiting: dict[str, list[int]] = {}
    for addressee, rows in groupby(_waiting.all(connection), key=itemgetter(0)):
        waiting.setdefault(addressee.lower(), []).extend(row.seq for row in rows)
    return waiting


def _letters(name: str) -> str:
    return "".join(filter(str.isalnum, name.casefold()))
