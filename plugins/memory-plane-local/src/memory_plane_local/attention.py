"""score: how much each agent should care: its interests, focus and neighbours, what is addressed to it, and news."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from itertools import islice, pairwise

from memory_plane.types import AgentContext, Attention, Memory, Node, Routing
from memory_plane_local.lexicon import is_common
from memory_plane_local.likeness import APART, Meaning
from memory_plane_local.tables import words
from memory_plane_local.tokens import Token, tokenize

Reason = tuple[float, str]
Means = Callable[[str], Meaning | None]
"""What a phrase means, as far as that is known."""

_RARE, _COMMON, _ALIKE, _NEARLY, _PART = 0.8, 0.55, 0.55, 0.45, 0.25
"""What an interest counts: said whole, in a common word, meant by a word, the same of several words, said in part."""
_NEAR = (0.6, 0.52, 0.25)
"""What a node counts that an agent's focus or open item names, and one that is one or two links away."""
_FOCUS, _PAIR, _WRITTEN, _ADDRESSED = 0.6, 0.85, 0.3, 0.85
_TOLD = {"milestone": (0.5, "a milestone"), "decision": (0.5, "a decision")}
_LEAST = 0.05
_NO_PLURALS = frozenset({"arms", "customs", "goods", "means", "news", "odds"})
"""Words whose form without the s is another word."""
_DOUBLED = frozenset("bdgmnprt")
"""Letters that an ending doubles: ship, shipping."""
_COMPARED = 60
"""How many words of a text are compared by their meaning."""


def route(
    memory: Memory, nodes: Sequence[Node], agents: Sequence[AgentContext], means: Means = lambda _: None
) -> Routing:
    """Score every agent but the author; an agent that nothing speaks for is left out."""
    said = _Said(memory, nodes, means)
    attention = (_attention(agent, said) for agent in agents if agent.id != memory.agent)
    return Routing(attention=tuple(one for one in attention if one.score >= _LEAST))


class _Said:
    """What a memory says, taken apart once for all agents."""

    def __init__(self, memory: Memory, nodes: Sequence[Node], means: Means) -> None:
        tokens = tokenize(memory.text)
        telling = [token.low for token in tokens if _counts(token)]
        self.stems = frozenset(map(_stem, telling)).union(*(_content(node.name) for node in nodes))
        words = islice(dict.fromkeys(telling), _COMPARED)
        self.meanings = [(word, meant) for word in words if (meant := means(word)) is not None]
        lows = [letters for token in tokens if (letters := _letters(token.low))]
        self.spoken = {*lows, *map("".join, pairwise(lows))}
        self.names = {node.id: node.name for node in nodes}
        self.news = _TOLD.get(memory.kind, (0.0, "")) if memory.origin != "external" else (0.0, "")
        self.means = means
        self._interesting: dict[str, Reason | None] = {}

    def interesting(self, interest: str) -> Reason | None:
        """Return what speaks for an interest, which several agents may have."""
        if interest not in self._interesting:
            self._interesting[interest] = _interest(interest, self)
        return self._interesting[interest]

    def alike(self, phrase: str) -> str:
        """Return a word that means nearly the same as a phrase, empty for none."""
        own = self.means(phrase) if self.meanings else None
        if own is None:
            return ""
        signs = own.signs
        near = [pair for pair in self.meanings if (signs ^ pair[1].signs).bit_count() <= APART]
        return next((word for word, meant in near if own.alike(meant)), "")


def _attention(agent: AgentContext, said: _Said) -> Attention:
    """Combine all reasons (noisy or); the strongest one is told. What was done or decided is news to all, no reason."""
    reasons = [*_interests(agent, said), *_focus(agent, said), *_nearness(agent, said), *_address(agent, said)]
    missed = 1.0
    for weight, _ in reasons:
        missed *= 1 - weight
    best = max(reasons, default=(0.0, ""))
    score, reason = max((1 - missed, best[1]), said.news)
    return Attention(agent=agent.id, score=round(score, 3), reason=reason)


def _interests(agent: AgentContext, said: _Said) -> list[Reason]:
    return [reason for interest in agent.interests if (reason := said.interesting(interest))]


def _interest(interest: str, said: _Said) -> Reason | None:
    """All words of an interest, a word that means the same, or some of its words."""
    wanted = _content(interest)
    hits = sum(map(said.stems.__contains__, wanted))
    if wanted and hits == len(wanted):
        rare = len(wanted) > 1 or not is_common(interest.lower())
        return (_RARE if rare else _COMMON, f"interest: {interest}")
    if word := said.alike(interest):
        return (_ALIKE if len(wanted) == 1 else _NEARLY, f"interest: {interest} ({word})")
    return (_PART * hits / len(wanted), f"interest: {interest}") if hits else None


def _focus(agent: AgentContext, said: _Said) -> list[Reason]:
    wanted = _content(agent.focus)
    shared = said.stems.intersection(wanted)
    if not shared:
        return []
    pair = len(shared) > 1 and not all(map(is_common, shared))
    share = max(len(shared) / min(len(wanted), 4), _PAIR if pair else 0.0)
    return [(_FOCUS * min(1.0, share), "close to its focus")]


def _nearness(agent: AgentContext, said: _Said) -> list[Reason]:
    """The nearest node by the graph, and one that the agent wrote of itself."""
    found = []
    if agent.distances:
        hops, id = min((hops, id) for id, hops in agent.distances.items())
        name, way = said.names.get(id, ""), agent.ways.get(id, "near its focus")
        found += [(_NEAR[hops], f"{name}: {way}" if name else way)] if hops < len(_NEAR) else []
    if own := sorted(said.names[id] for id in agent.written if id in said.names):
        found.append((_WRITTEN, f"{own[0]}: it wrote of it"))
    return found


def _address(agent: AgentContext, said: _Said) -> list[Reason]:
    """Whether the agent is spoken of by its id, hyphens or not: "@muse", "grok bot"."""
    return [(_ADDRESSED, f"addressed to {agent.id}")] if _letters(agent.id) in said.spoken else []


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
    """The shortest base form: investments and invest are one, shipping and ship, introduction and introduced too."""
    if word in _NO_PLURALS:
        return word
    word = word[:-1] if word.endswith("s") and not word.endswith("ss") else word
    for suffix in ("ment", "ing", "ed", "ion", "or", "er"):
        if word.endswith(suffix) and len(word) - len(suffix) >= 4:
            word = word[: -len(suffix)]
            word = word[:-1] if word[-1] == word[-2] and word[-1] in _DOUBLED else word
            break
    return word[:-1] if word.endswith("uct") else word
