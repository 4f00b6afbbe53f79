"""What a model wrote, held against text and vocabulary: a name that is not in the text is refused."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from datetime import UTC, tzinfo
from itertools import islice
from typing import Any

from memory_plane.types import Claim, Extraction, Item, Memory, Mention, Polarity
from memory_plane.vocabulary.catalogue import relations, types
from memory_plane_llm.chat import TEXT, WRITER
from memory_plane_llm.items import Items
from memory_plane_llm.places import MOST, places, plain
from memory_plane_local.letters import read_letter

REACH = 400
"""Characters between two names beyond which a text does not speak of both at once."""

_HOLDS: Mapping[object, Polarity] = {"now": "positive", "over": "past"}
_DOUBTED = frozenset({"negative", "hypothetical", "question"})
_I = frozenset({WRITER.casefold(), "i", "we", "us"})
_ANSWERABLE = frozenset({"Person", "Agent", "Organization", "Team"})


class Reading:
    """One memory, what was found in it at once, how sure one is of a model, and where the writer's day begins.

    `refused` counts what was not taken of the answer, by why.
    """

    def __init__(self, memory: Memory, found: Extraction, confidence: float, zone: tzinfo | None = UTC) -> None:
        self.refused: Counter[str] = Counter()
        self._zone = zone
        self._memory = memory
        self._found = found
        self._confidence = confidence
        self._text = memory.text[:TEXT]
        self._places: dict[str, list[Mention]] = {}

    def extraction(self, written: Mapping[str, Any]) -> Extraction:
        """Return what text and vocabulary allow of an answer, less the names and claims that were found at once."""
        for entry in _entries(written.get("entities")):
            self._name(entry.get("name"), entry.get("type"))
        claims = [claim for entry in _entries(written.get("relations")) for claim in self._claims(entry)]
        items, promises = self._items(written)
        claims += promises
        ends = [end for claim in claims for end in (claim.subject, claim.object)]
        named = [mention for places in self._places.values() for mention in places[:1]]
        known = set(self._found.mentions)
        return Extraction(
            mentions=tuple(one for one in dict.fromkeys([*named, *ends]) if one not in known),
            claims=tuple(claims),
            items=items,
        )

    def _refuse(self, why: str) -> None:
        self.refused[why] += 1

    def _name(self, name: object, kind: object) -> None:
        if not isinstance(name, str) or not isinstance(kind, str) or kind not in types():
            self._refuse("a name of no known type")
        elif found := self._mentions(name, kind):
            self._places.setdefault(plain(name), found)
        else:
            self._refuse("a name that is not in the text")

    def _items(self, written: Mapping[str, Any]) -> tuple[tuple[Item, ...], list[Claim]]:
        """Return the open items, none where rules found one: theirs stays."""
        if self._found.items:
            return (), []
        reader = Items(self._memory, self._zone, self._who, self._refuse)
        return reader.read(_entries(written.get("items")), self._confidence)

    def _who(self, name: object) -> Mention | None:
        """Return the person, agent or group of a name that stands in the text, or the writer as far as it is known."""
        if not isinstance(name, str):
            return None
        if name.strip().casefold() in _I:
            return self._writer()
        known = self._places.get(plain(name)) or [one for one in self._found.mentions if plain(one.text) == plain(name)]
        return next((one for one in known if one.type in _ANSWERABLE), None)

    def _writer(self) -> Mention | None:
        said = read_letter(self._memory).writer
        if said is None:
            return None
        writer = Mention(text=said.text, type=said.type, start=said.start, end=said.end, confidence=said.strength)
        return next((one for one in self._found.mentions if _place(one) == _place(writer)), writer)

    def _mentions(self, name: str, kind: str) -> list[Mention]:
        """Return where a name stands; what rules found there keeps its bounds, and its type if they were surer."""
        found = (self._mention(start, end, kind) for start, end in places(self._text, name))
        return [one for one in found if one is not None]

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
        if known is None:
            return self._refuse("a relation that is in no vocabulary")
        if pair is None:
            return self._refuse("a relation of names that do not stand together in the text")
        if polarity is None:
            return self._refuse("a relation that does not hold")
        subject, target = pair
        if (subject.type, target.type) not in known.joins:
            return self._refuse("a relation between types that it does not join")
        if self._is_settled(subject, known.name, target):
            return None
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
        return self._places.get(plain(name), [])

    def _is_settled(self, subject: Mention, relation: str, target: Mention) -> bool:
        """Whether rules have read the same, or that the text doubts what it says of the two."""
        ends = {plain(subject.text), plain(target.text)}
        return any(
            claim.relation == relation or claim.polarity in _DOUBTED
            for claim in self._found.claims
            if {plain(claim.subject.text), plain(claim.object.text)} == ends
        )


def _entries(value: Any) -> Iterator[Mapping[str, Any]]:
    if isinstance(value, list):
        yield from islice((entry for entry in value if isinstance(entry, dict)), MOST)


def _place(mention: Mention) -> tuple[int, int, str]:
    return mention.start, mention.end, mention.text
