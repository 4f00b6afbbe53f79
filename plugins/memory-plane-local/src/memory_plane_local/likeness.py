"""Whether two words mean nearly the same, by the table of meanings: travel and flight, investment and invested."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from math import sqrt
from operator import mul

from memory_plane_local import embedding

LEAST = 0.6
"""The least cosine of two that mean nearly the same."""
_APART = 48
"""Two vectors that differ in the sign of more than so many of 128 numbers are never so close."""
Meaning = tuple[int, tuple[float, ...]]


def alike(phrase: str, word: str) -> bool:
    """Return whether a phrase and a word mean nearly the same; what the table has only in pieces means nothing."""
    one, other = meaning(phrase), meaning(word)
    if one is None or other is None or (one[0] ^ other[0]).bit_count() > _APART:
        return False
    return bool(sum(map(mul, one[1], other[1])) >= LEAST)


@lru_cache(maxsize=8192)
def meaning(phrase: str) -> Meaning | None:
    """Return the signs of a phrase's vector as bits, and the vector, of length 1; None where a word is not known."""
    table = embedding.table()
    if any(len(table.pieces(word)) != 1 for word in embedding.words(phrase)):
        return None
    vector = table.embed(phrase)
    length = sqrt(sum(value * value for value in vector))
    return (_signs(vector), tuple(value / length for value in vector)) if length else None


def _signs(vector: Sequence[float]) -> int:
    return int("".join("1" if value > 0 else "0" for value in vector), 2)
