"""Which texts rules do not read well: told by what they found in them, and left alone."""

from __future__ import annotations

import re
from collections.abc import Iterator

from memory_plane.types import Extraction, Memory, Mention
from memory_plane_llm.chat import TEXT
from memory_plane_local.dates import find_days
from memory_plane_local.tokens import tokenize

SHORTEST = 20
"""Characters below which a text has nothing that a model would find and rules would not."""
SURE = 0.75
"""Confidence from which on what rules found is taken for settled."""

_SENTENCE = re.compile(r"(?:[^.!?。！？\n]|[.!?](?=\S))+")
_BY = frozenset({"by", "until", "till", "before", "due"})
_LATIN = re.compile(r"[a-zà-ÿ]", re.IGNORECASE)


def complexity(memory: Memory, found: Extraction) -> str:
    """Say why a text is complex, "" where it is not."""
    text = memory.text
    if len(text.strip()) < SHORTEST:
        return ""
    named = [one for one in found.mentions if one.start < one.end]
    if any(claim.confidence < SURE for claim in found.claims if claim.polarity in ("positive", "past")):
        return "a relation is a guess"
    for start, end in _sentences(text):
        inside = [one for one in named if start <= one.start < end]
        if len({one.text.casefold() for one in inside}) > 1 and not _told(found, inside):
            return "names stand together and no relation is known of them"
    if not found.items and _names_a_term(memory):
        return "a day is named by which something is due, and nothing is open"
    letters = [char for char in text if char.isalpha()]
    if not named and letters and 2 * len(_LATIN.findall(text)) < len(letters):
        return "another script, and no name is known"
    return ""


def _names_a_term(memory: Memory) -> bool:
    days = find_days(tokenize(memory.text[:TEXT]), memory.created_at)
    return any(day.before in _BY and day.last >= memory.created_at.date() for day in days)


def _told(found: Extraction, inside: list[Mention]) -> bool:
    """Whether rules understood how some of these names belong together, be it that they do not."""
    places = {(one.start, one.end) for one in inside}
    return any(
        (claim.subject.start, claim.subject.end) in places or (claim.object.start, claim.object.end) in places
        for claim in found.claims
    )


def _sentences(text: str) -> Iterator[tuple[int, int]]:
    for match in _SENTENCE.finditer(text):
        yield match.start(), match.end()
