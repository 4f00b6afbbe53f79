"""Words of dates as numbers: pieces of a text, phrases of the date table, counts, ordinals and years."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from typing import NamedTuple

from memory_plane_local.tables import rows
from memory_plane_local.tokens import Token

SPLIT = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)*|\d+|[^\w\s]|_")
_ENDINGS = frozenset({"st", "nd", "rd", "th"})


class Piece(NamedTuple):
    """A word, number or mark; `number` is -1 for none, `glued` = nothing stands between it and the piece before."""

    text: str
    low: str
    start: int
    end: int
    number: int
    glued: bool


class Reading(NamedTuple):
    """A value read from pieces, and the piece after it."""

    value: int
    end: int


def pieces(tokens: Sequence[Token]) -> list[Piece]:
    """Cut tokens further: Dec31 -> Dec 31, 2026-12-24 -> 2026 - 12 - 24; links say no date."""
    found: list[Piece] = []
    before = -1
    for text, low, start, end, shape in tokens:
        if shape == "link" or low == "\n":
            found.append(Piece("\n", "\n", start, end, -1, False))
            before = end
        elif text.isalpha():
            found.append(Piece(text, low, start, end, -1, before == start))
            before = end
        else:
            for part in SPLIT.finditer(text):
                said, begin = part.group(), start + part.start()
                number = int(said) if said.isdecimal() and len(said) <= 4 else -1
                found.append(
                    Piece(said, said.lower().replace("’", "'"), begin, begin + len(said), number, before == begin)
                )
                before = found[-1].end
    return found


@cache
def spoken() -> frozenset[str]:
    """Return the words that a count, an ordinal or a year can begin with."""
    return frozenset(["'", "’"]).union(*map(_values, ("number", "tens", "ordinal", "count")))


@cache
def _values(kind: str) -> dict[str, int]:
    """The numbers of one kind that are one word."""
    return {
        word.strip(): int(value) for name, value, text in rows("dates.tsv") if name == kind for word in text.split(";")
    }


@cache
def phrases(kind: str) -> dict[str, tuple[tuple[tuple[str, ...], str], ...]]:
    """Return the phrases of one kind by first word, longest first: (words, value)."""
    found: dict[str, list[tuple[tuple[str, ...], str]]] = {}
    for name, value, text in rows("dates.tsv"):
        for phrase in text.split(";") if name == kind else ():
            words = tuple(re.findall(r"\w+(?:'\w+)*|[-.']", phrase))
            found.setdefault(words[0], []).append((words, value))
    return {first: tuple(sorted(entries, key=lambda entry: -len(entry[0]))) for first, entries in found.items()}


def phrase(kind: str, at: int, found: Sequence[Piece]) -> tuple[str, int] | None:
    """Return the value of the longest phrase of a kind at `at`, and the piece after it."""
    if at >= len(found):
        return None
    for words, value in phrases(kind).get(found[at].low, ()):
        if len(words) == 1 or words == tuple(piece.low for piece in found[at : at + len(words)]):
            return value, at + len(words)
    return None


def number(at: int, found: Sequence[Piece]) -> Reading | None:
    """Read a cardinal: 12, twelve, twenty-three."""
    if at >= len(found):
        return None
    piece = found[at]
    if piece.number >= 0:
        return None if _ended(at, found) else Reading(piece.number, at + 1)
    return _in_words("number", at, found)


def ordinal(at: int, found: Sequence[Piece]) -> Reading | None:
    """Read an ordinal: 12th, twelfth, twenty-third."""
    if at >= len(found):
        return None
    piece = found[at]
    if piece.number >= 0:
        return Reading(piece.number, at + 2) if _ended(at, found) else None
    return _in_words("ordinal", at, found)


def _ended(at: int, found: Sequence[Piece]) -> bool:
    """Whether the number at `at` has the ending of an ordinal."""
    return at + 1 < len(found) and found[at + 1].glued and found[at + 1].low in _ENDINGS


def _in_words(kind: str, at: int, found: Sequence[Piece]) -> Reading | None:
    ones = _values(kind)
    if (tens := _values("tens").get(found[at].low)) is not None:
        after = at + 2 if at + 1 < len(found) and found[at + 1].low == "-" else at + 1
        one = ones.get(found[after].low, 0) if after < len(found) else 0
        if 0 < one < 10:
            return Reading(tens + one, after + 1)
        return Reading(tens, at + 1) if kind == "number" else None
    return Reading(ones[found[at].low], at + 1) if found[at].low in ones else None


def count(at: int, found: Sequence[Piece]) -> Reading | None:
    """Read how many: 12, twelve, a, a couple of, a few."""
    counts = _values("count")
    at += at + 1 < len(found) and found[at].low in ("a", "the") and found[at + 1].low in counts
    if at < len(found) and found[at].low in counts:
        after = at + 1
        return Reading(counts[found[at].low], after + (after < len(found) and found[after].low == "of"))
    return number(at, found)


def year(at: int, found: Sequence[Piece]) -> Reading | None:
    """Read a year: 2026, '26, nineteen eighty-six, two thousand and fifteen."""
    if at >= len(found):
        return None
    piece = found[at]
    if piece.number >= 0:
        return Reading(piece.number, at + 1) if len(piece.text) == 4 and 1000 <= piece.number < 3000 else None
    if piece.low in ("'", "’") and at + 1 < len(found) and len(found[at + 1].text) == 2 and found[at + 1].number >= 0:
        return Reading(century(found[at + 1].number), at + 2)
    first = number(at, found)
    if first is None or first.end >= len(found):
        return None
    if first.value == 2 and found[first.end].low == "thousand":
        after = first.end + 1 + (first.end + 1 < len(found) and found[first.end + 1].low == "and")
        rest = number(after, found)
        return Reading(2000 + rest.value, rest.end) if rest and rest.value < 100 else Reading(2000, first.end + 1)
    rest = number(first.end, found)
    if first.value in (18, 19, 20) and rest and 10 <= rest.value < 100 and found[first.end].number < 0:
        return Reading(100 * first.value + rest.value, rest.end)
    return None


def century(short: int) -> int:
    """Return the year that two digits mean: 26 -> 2026, 87 -> 1987."""
    return short + (2000 if short < 40 else 1900)
