"""A question cut into words; politeness and chatter, which ask nothing, are left out."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from typing import NamedTuple

from memory_plane.vocabulary.tables import rows

LONGEST = 32
"""A question of more words than this is not read."""

_WORD = re.compile(r"\w+(?:(?:[-.'’@&+/#]+|(?<=\d)[,:](?=\d))\w+)*(?:\+\+|#(?!\w))?|\.\w+|(?<=s)['’](?!\w)")
_CLITICS = {"'re": "are", "'m": "am", "'ve": "have", "'ll": "will", "'s": "'s", "'d": "would"}
_CHAT = {
    "whats": ("what", "is"),
    "whos": ("who", "is"),
    "wheres": ("where", "is"),
    "hows": ("how", "is"),
    "whens": ("when", "is"),
    "im": ("i", "am"),
    "ive": ("i", "have"),
    "whom": ("who",),
}


class Word(NamedTuple):
    """A word as it was written, folded, and where it stands in the question."""

    text: str
    low: str
    start: int
    end: int


def words(question: str) -> list[Word]:
    """Return the words of a question, clitics apart: "What's Alice's role?" -> what 's Alice 's role."""
    return [word for match in _WORD.finditer(question) for word in _split(match.group(), match.start())]


def _split(text: str, start: int) -> list[Word]:
    plain, end = text.casefold().replace("’", "'"), start + len(text)
    if plain == "'":  # of "James' role"
        return [Word(text, "'s", start, end)]
    if plain in _CHAT:
        return [Word(text, low, start, end) for low in _CHAT[plain]]
    if plain.endswith("n't") and len(plain) > 3:
        return [Word(text[:-3], plain[:-3], start, end - 3), Word(text[-3:], "not", end - 3, end)]
    for clitic, low in _CLITICS.items():
        if plain.endswith(clitic) and len(plain) > len(clitic):
            cut = len(text) - len(clitic)
            return [Word(text[:cut], plain[:cut], start, start + cut), Word(text[cut:], low, start + cut, end)]
    return [Word(text, plain, start, end)]


def asked(found: Sequence[Word], named: frozenset[int], *, openers: bool = True) -> list[int]:
    """Return the places of the words that ask something; those at the places `named` belong to names and stay.

    Without `openers` only chatter is left out: "does anyone know Go" may ask just that.
    """
    at, kept = 0, []
    while openers and at < len(found) and (length := _idle(found, at, "opener", named)):
        at += length
    while at < len(found):
        length = _idle(found, at, "chatter", named)
        if not length:
            kept.append(at)
        at += length or 1
    return kept


def _idle(found: Sequence[Word], at: int, use: str, named: frozenset[int]) -> int:
    """How many words from here on say nothing."""
    for phrase in _phrases().get((use, found[at].low), ()):
        chunk = found[at : at + len(phrase)]
        if tuple(word.low for word in chunk) == phrase and named.isdisjoint(range(at, at + len(phrase))):
            return len(phrase)
    return 0


@cache
def _phrases() -> dict[tuple[str, str], list[tuple[str, ...]]]:
    """Phrases without meaning by their use and first word, the longest first."""
    found: dict[tuple[str, str], list[tuple[str, ...]]] = {}
    for use, text in rows("chatter.tsv"):
        for phrase in sorted((tuple(phrase.split()) for phrase in text.split("; ")), key=len, reverse=True):
            found.setdefault((use, phrase[0]), []).append(phrase)
    return found
