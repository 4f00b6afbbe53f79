"""Whether two words mean nearly the same, by the table of meanings: travel and flight, investment and invested."""

from __future__ import annotations

from array import array
from functools import lru_cache
from math import sqrt
from operator import mul
from typing import NamedTuple

from memory_plane_local import embedding

LEAST = 0.6
"""The least cosine of two that mean nearly the same."""
APART = 48
"""Two vectors that differ in the sign of more than so many of 128 numbers are never so close."""


class Meaning(NamedTuple):
    """The signs of a vector as bits, and the vector."""

    signs: int
    vector: array[float]

    def alike(self, other: Meaning) -> bool:
        """Return whether two mean nearly the same; nearly all that do not are told by their signs."""
        if (self.signs ^ other.signs).bit_count() > APART:
            return False
        one, two = self.vector, other.vector
        return bool(sum(map(mul, one, two)) >= LEAST * sqrt(sum(map(mul, one, one)) * sum(map(mul, two, two))))


@lru_cache(maxsize=8192)
def meaning(phrase: str) -> Meaning | None:
    """Return what a phrase means; None where the table has a word of it only in pieces."""
    table = embedding.table()
    words = embedding.words(phrase)
    if not words or any(len(table.pieces(word)) != 1 for word in words):
        return None
    vector = table.embed(phrase)
    return Meaning(int("".join(["1" if value > 0 else "0" for value in vector]), 2), array("d", vector))
