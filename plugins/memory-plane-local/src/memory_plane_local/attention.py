"""score: how much each agent should care: its interests, focus and neighbours, what is addressed to it, and news."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from memory_plane.types import AgentContext, Attention, Memory, Node, Routing
from memory_plane_local.lexicon import is_common
from memory_plane_local.tables import words
from memory_plane_local.tokens import Token, tokenize

_RARE, _COMMON, _PART = 0.8, 0.5, 0.25
_HOPS = {0: (0.5, "about its focus"), 1: (0.4, "1 hop from its focus"), 2: (0.2, "2 hops from its focus")}
_FOCUS, _WAITING, _ADDRESSED = 0.6, 0.15, 0.85
_TOLD = {"milestone": (0.5, "a milestone"), "decision": (0.5, "a decision")}
_LEAST = 0.05


def route(memory: Memory, nodes: Sequence[Node], agents: Sequence[AgentContext]) -> Routing:
    """Score every agent but the author; an agent that nothing speaks for is left out."""
    tokens = tokenize(memory.text)
    said = frozenset(_stem(token.low) for token in tokens if _counts(token))
    said = said.union(*(_content(node.name) for node in nodes))
    lows = [letters for token in tokens if (letters := _letters(token.low))]
    told = [_TOLD[memory.kind]] if memory.kind in _TOLD and memory.origin != "external" else []
    attention = (_attention(agent, lows, said, told) for agent in agents if agent.id != memory.agent)
    return Routing(attention=tuple(one for one in attention if one.score >= _LEAST))


def _attention(
    agent: AgentContext, lows: Sequence[str], said: frozenset[str], told: Sequence[tuple[float, str]]
) -> Attention:
    """Combine all reasons (noisy or); the strongest one is told. What was done or decided is news to all by itself."""
    reasons = [*_interests(agent, said), *_focus(agent, said), *_nearness(agent), *_address(agent, lows), *told]
    missed = 1.0
    for weight, _ in reasons:
        missed *= 1 - weight
    best = max(reasons, default=(0.0, ""))
    return Attention(agent=agent.id, score=round(1 - missed, 3), reason=best[1])


def _interests(agent: AgentContext, said: frozenset[str]) -> list[tuple[float, str]]:
    found = []
    for interest in agent.interests:
        wanted = _content(interest)
        hits = sum(1 for word in wanted if word in said)
        if wanted and hits == len(wanted):
            rare = len(wanted) > 1 or not is_common(interest.lower())
            found.append((_RARE if rare else _COMMON, f"interest: {interest}"))
        elif hits:
            found.append((_PART * hits / len(wanted), f"interest: {interest}"))
    return found


def _focus(agent: AgentContext, said: frozenset[str]) -> list[tuple[float, str]]:
    wanted = _content(agent.focus)
    shared = said.intersection(wanted)
    if not shared:
        return []
    share = len(shared) / min(len(wanted), 4)
    return [(_FOCUS * min(1.0, share), "close to its focus")]


def _nearness(agent: AgentContext) -> list[tuple[float, str]]:
    if not agent.distances:
        return []
    near = _HOPS.get(min(agent.distances.values()))
    if near is None:
        return []
    return [near, (_WAITING, near[1])] if agent.open_items else [near]


def _address(agent: AgentContext, lows: Sequence[str]) -> list[tuple[float, str]]:
    """Whether the agent is spoken of by its id, hyphens or not: "@muse", "grok bot"."""
    name = _letters(agent.id)
    for at, low in enumerate(lows):
        if name.startswith(low) and name in (low, low + (lows[at + 1] if at + 1 < len(lows) else "")):
            return [(_ADDRESSED, f"addressed to {agent.id}")]
    return []


def _letters(text: str) -> str:
    if text.isalnum():
        return text
    return "".join(char for char in text.casefold() if char.isalnum())


@lru_cache(maxsize=4096)
def _content(text: str) -> tuple[str, ...]:
    """The stems of an interest or focus, which come back with every memory."""
    return tuple(_stem(token.low) for token in tokenize(text) if _counts(token))


def _counts(token: Token) -> bool:
    return token.shape != "mark" and len(token.low) > 1 and token.low not in words("function.txt")


def _stem(word: str) -> str:
    """The shortest base form: investments, investing and invest are one."""
    word = word[:-1] if word.endswith("s") and not word.endswith("ss") else word
    for suffix in ("ment", "ing", "ed", "ion", "or", "er"):
        if word.endswith(suffix) and len(word) - len(suffix) >= 4:
            return word[: -len(suffix)]
    return word
