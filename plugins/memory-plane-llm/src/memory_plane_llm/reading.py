"""What a model wrote, held against text and vocabulary: a name that is not in the text is refused."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any

from memory_plane.types import Claim, Extraction, Memory, Mention, Polarity
from memory_plane.vocabulary.catalogue import relations, types
from memory_plane_llm.chat import TEXT, WRITER

MOST = 64
"""Names and relations that are taken of one answer."""
REACH = 400
"""Characters between two names beyond which a text does not speak of both at once."""

_HOLDS: Mapping[object, Polarity] = {"now": "positive", "over": "past"}
_DOUBTED = frozenset({"negative", "hypothetical", "question"})


class Reading:
    """One memory, what was found in it at once, and how sure one is of a model."""

    def __init__(self, memory: Memory, found: Extraction, confidence: float) -> None:
        self._memory = memory
        self._found = found
        self._confidence = confidence
        self._text = memory.text[:TEXT]
        self._places: dict[str, list[Mention]] = {}

    def extraction(self, written: Mapping[str, Any]) -> Extraction:
        """Return the names and claims of an answer that text and vocabulary allow, and that were not found at once."""
        for entry in _entries(written.get("entities")):
            name, kind = entry.get("name"), entry.get("type")
            if isinstance(name, str) and isinstance(kind, str) and kind in types():
                self._places.setdefault(_plain(name), self._mentions(name, kind))
        claims = [claim for entry in _entries(written.get("relations")) for claim in self._claims(entry)]
        ends = [end for claim in claims for end in (claim.subject, claim.object)]
        named = [mention for places in self._places.values() for mention in places[:1]]
        known = set(self._found.mentions)
        return Extraction(
            mentions=tuple(one for one in dict.fromkeys([*named, *ends]) if one not in known), claims=tuple(claims)
        )

    def _mentions(self, name: str, kind: str) -> list[Mention]:
        """Return where a name stands; what rules found there keeps its bounds, and its type if they were surer."""
        pattern = re.compile(rf"(?<!\w){re.escape(name.strip())}(?!\w)", re.IGNORECASE)
        matches = pattern.finditer(self._text) if name.strip() else ()
        return [
            one
            for match in islice(matches, MOST)
            if (one := self._mention(match.start(), match.end(), kind)) is not None
        ]

    def _mention(self, start: int, end: int, kind: str) -> Mention | None:
        over = [one for one in self._found.mentions if one.start < end and start < one.end]
        same = next((one for one in over if (one.start, one.end) == (start, end)), None)
        if same is not None and (same.type == kind or same.confidence >= self._confidence):
            return same
        if over and same is None:
            return over[0] if len(over) == 1 and over[0].start <= start and end <= over[0].end else None
        return Mention(text=self._text[start:end], type=kind, start=start, end=end, confidence=self._confidence)

    def _claims(self, entry: Mapping[str, Any]) -> Iterator[Claim]:
        """Yield the claim of one entry, if there is any."""
        known = relations().get(entry.get("relation", "")) if isinstance(entry.get("relation"), str) else None
        polarity = _HOLDS.get(entry.get("holds", "now")) if isinstance(entry.get("holds", "now"), str) else None
        pair = self._pair(entry.get("source"), entry.get("target"))
        if known is None or polarity is None or pair is None:
            return
        subject, target = pair
        if (subject.type, target.type) not in known.joins or self._is_settled(subject, known.name, target):
            return
        yield Claim(
            subject=subject,
            relation=known.name,
            object=target,
            start=min(subject.start, target.start),
            end=max(subject.end, target.end),
            confidence=self._confidence,
            polarity=polarity,
        )

    def _pair(self, source: object, target: object) -> tuple[Mention, Mention] | None:
        """Return the two mentions that stand closest to each other."""
        pairs = [
            (0 if one.start == one.end else abs(one.start - other.start), one.start, one, other)
            for one in self._ends(source)
            for other in self._ends(target)
            if (one.start, one.end) != (other.start, other.end)
        ]
        distance, _, one, other = min(pairs, key=lambda pair: pair[:2], default=(REACH + 1, 0, None, None))
        return (one, other) if one is not None and other is not None and distance <= REACH else None

    def _ends(self, name: object) -> list[Mention]:
        if not isinstance(name, str):
            return []
        if name == WRITER:  # whom rules know, or nobody: the words of other people have a writer whom nobody knows
            return [one for one in self._found.mentions if one.start == one.end][:1]
        return self._places.get(_plain(name), [])

    def _is_settled(self, subject: Mention, relation: str, target: Mention) -> bool:
        """Whether rules have read the same, or that the text doubts what it says of the two."""
        ends = {_plain(subject.text), _plain(target.text)}
        return any(
            claim.relation == relation or claim.polarity in _DOUBTED
            for claim in self._found.claims
            if {_plain(claim.subject.text), _plain(claim.object.text)} == ends
        )


def _entries(value: Any) -> Iterator[Mapping[str, Any]]:
    if isinstance(value, list):
        yield from islice((entry for entry in value if isinstance(entry, dict)), MOST)


def _plain(name: str) -> str:
    return " ".join(name.casefold().split())
