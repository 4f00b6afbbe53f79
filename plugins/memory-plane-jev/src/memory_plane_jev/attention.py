"""How much each agent should care: one score an agent, all in one request."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any

from memory_plane.types import AgentContext, Attention, Memory, Node, Routing
from memory_plane_jev.subjects import told
from memory_plane_jev.systemone import Answers, Question, Score, expected

AGENTS, NAMES, INTERESTS = 32, 24, 24
"""How many agents are asked about, and how many names and interests are told."""
LEVELS = (
    "of no use to it",
    "worth knowing some day",
    "about its work or its interests",
    "needed for what it does now",
)


def state(memory: Memory, nodes: Sequence[Node], agents: Sequence[AgentContext]) -> dict[str, Any]:
    """Return what the questions are about: the memory, its names, and what is known of each agent."""
    names = [{"name": node.name, "type": node.type} for node in nodes[:NAMES]]
    return told(memory) | {"names": names, "agents": {id: _told(agent) for id, agent in _numbered(agents)}}


def questions(agents: Sequence[AgentContext]) -> dict[str, Question]:
    """Return one question an agent, by its id."""
    return {
        agent.id: Score(f"How much should the agent `agents.{number}` care about what `text` says?", LEVELS)
        for number, agent in _numbered(agents)
    }


def routing(answers: Answers) -> Routing | None:
    """Return the expected level of each agent, with the likeliest as the reason."""
    attention = (
        Attention(agent=agent, score=round(expected(said), 3), reason=max(said, key=said.__getitem__))
        for agent, said in answers.items()
    )
    found = tuple(attention)
    return Routing(attention=found) if found else None


def _told(agent: AgentContext) -> dict[str, Any]:
    return {
        "name": agent.id,
        "interests": list(agent.interests[:INTERESTS]),
        "works_on": agent.focus,
        "open_items": agent.open_items,
        **({"spoke_of_the_names": True} if agent.distances else {}),
    }


def _numbered(agents: Sequence[AgentContext]) -> Iterator[tuple[str, AgentContext]]:
    for number, agent in enumerate(islice(agents, AGENTS), 1):
        yield f"a{number}", agent
