"""What of a memory is asked about: its names, whom they may mean, and which of them may be linked."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

from memory_plane.gates import same_digits
from memory_plane.types import Candidate, Claim, Extraction, Memory, Mention, Node, new_node_id
from memory_plane.vocabulary.catalogue import types

TEXT = 8_000
"""Characters of a text that are sent; names after them are not asked about."""
NAMES, RIVALS, PAIRS = 16, 3, 12
"""How many names of a memory, known nodes of each and pairs of names are asked about."""

_BETWEEN_SENTENCES = re.compile(r"[.!?。！？]\s|\n")
_NEAR = 3
_GUESS = 0.8  # the confidence below which the type of a name is not taken for known
_STATED = frozenset({"positive", "past"})

Key = tuple[str, str]


@dataclass(slots=True)
class Subject:
    """One name of a memory with all its mentions; `taken` is the node that was chosen at once, if any is known."""

    key: Key
    mentions: list[Mention] = field(default_factory=list)
    candidates: list[Candidate] = field(default_factory=list)

    @property
    def first(self) -> Mention:
        """The earliest mention."""
        return self.mentions[0]

    @property
    def is_named(self) -> bool:
        """Whether the text has the name, and does not only imply it."""
        return self.first.start < self.first.end

    @property
    def types(self) -> frozenset[str]:
        """The types that it may have: any, where its own is a guess."""
        sure = self.first.confidence > _GUESS or not self.is_named
        return frozenset({self.first.type}) if sure else frozenset({self.first.type, *types()})

    def taken(self, memory: Memory, mention: Mention) -> str:
        """Return the id of the node that the name was taken for at once, or that of the one that `mention` founds."""
        return next((one.node.id for one in self.candidates if one.taken), new_node_id(memory.id, mention))

    def founded(self, memory: Memory) -> frozenset[str]:
        """Return the ids of nodes that exist because of this name."""
        return frozenset(new_node_id(memory.id, mention) for mention in self.mentions)

    def rivals(self, memory: Memory) -> list[Node]:
        """Return the known nodes that it may be, likeliest first: of its type, with its digits, not made of it."""
        own = self.founded(memory)
        fitting = (
            one
            for one in self.candidates
            if one.node.id not in own and one.node.type in self.types and same_digits(self.first, one.node)
        )
        order = sorted(fitting, key=lambda one: (not one.taken, -one.name_score, -one.shared_neighbours))
        nodes = {one.node.id: one.node for one in order}
        return list(islice(nodes.values(), RIVALS))

    def facts(self, node: str) -> tuple[str, ...]:
        """Return what other memories say of one of the nodes."""
        return next((one.facts for one in self.candidates if one.node.id == node), ())


@dataclass(frozen=True, slots=True)
class Pair:
    """Two names of which the text may say a relation, with the claims that were found at once."""

    one: Subject
    other: Subject
    claims: tuple[tuple[Claim, bool], ...] = ()


def subjects(found: Extraction, candidates: Sequence[Candidate]) -> dict[Key, Subject]:
    """Return the names that stand in the part of the text that is sent, in their order."""
    known: dict[Mention, list[Candidate]] = {}
    for candidate in candidates:
        known.setdefault(candidate.mention, []).append(candidate)
    order: dict[Key, Subject] = {}
    for mention in sorted(_mentions(found), key=lambda one: (one.start, one.end)):
        if mention.end > TEXT:
            continue
        subject = order.setdefault(key_of(mention), Subject(key_of(mention)))
        subject.mentions.append(mention)
        subject.candidates += known.get(mention, ())
    return dict(islice(order.items(), NAMES))


def pairs(memory: Memory, found: Extraction, names: Mapping[Key, Subject]) -> list[Pair]:
    """Return the pairs to ask about: those of claims first, then neighbours in a sentence.

    What a sentence denies, asks or only imagines is not asked: nobody is to make an edge of it.
    """
    claims: dict[frozenset[Key], list[Claim]] = {}
    for claim in found.claims:
        claims.setdefault(frozenset({key_of(claim.subject), key_of(claim.object)}), []).append(claim)
    near = [frozenset(keys) for keys in _neighbours(memory, names.values())]
    chosen = [keys for keys in dict.fromkeys([*claims, *near]) if len(keys) == 2 and keys <= names.keys()]
    return [
        _pair(keys, names, claims.get(keys, ()))
        for keys in chosen
        if all(claim.polarity in _STATED for claim in claims.get(keys, ()))
    ][:PAIRS]


def key_of(mention: Mention) -> Key:
    """Return what makes mentions one subject: the name, however it is written, and the type."""
    return " ".join(mention.text.casefold().split()), mention.type


def told(memory: Memory) -> dict[str, Any]:
    """Return the memory as every question sees it; words of other people are marked as theirs."""
    whose = {"user": "the user", "agent": f"the agent {memory.agent}", "external": "other people"}
    return {
        "text": memory.text[:TEXT],
        "kind": memory.kind,
        "words_of": whose[memory.origin],
        "written_on": memory.created_at.date().isoformat(),
        **({"project": memory.project} if memory.project else {}),
    }


def _pair(keys: frozenset[Key], names: Mapping[Key, Subject], claims: Iterable[Claim]) -> Pair:
    one, other = sorted((names[key] for key in keys), key=lambda subject: (subject.first.start, subject.key))
    turned = tuple((claim, key_of(claim.subject) != one.key) for claim in claims)
    return Pair(one, other, turned)


def _neighbours(memory: Memory, names: Iterable[Subject]) -> Iterator[tuple[Key, Key]]:
    places = sorted(
        (mention.start, mention.end, subject.key)
        for subject in names
        if subject.is_named and subject.first.type in types()
        for mention in subject.mentions
    )
    for at, (_, end, key) in enumerate(places):
        for start, _, other in places[at + 1 : at + _NEAR]:
            if key != other and not _BETWEEN_SENTENCES.search(memory.text, end, start):
                yield key, other


def _mentions(found: Extraction) -> Iterator[Mention]:
    yield from dict.fromkeys(
        (*found.mentions, *(end for claim in found.claims for end in (claim.subject, claim.object)))
    )
