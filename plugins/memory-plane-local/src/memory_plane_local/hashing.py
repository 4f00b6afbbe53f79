"""Vectors of hashed letters and words: what resembles in spelling is near, whatever it means. Kept for comparison."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import pairwise
from math import sqrt

from memory_plane.types import Vectors

MODEL = "letters-256"
SIZE = 256
_BASIS, _PRIME = 2_166_136_261, 16_777_619


def embed(texts: Sequence[str]) -> Vectors:
    """Return one row a text: three letters in a row, words and pairs of words, counted where their hashes fall."""
    return Vectors(model=MODEL, rows=tuple(map(_row, texts)))


def _row(text: str) -> tuple[float, ...]:
    row = [0.0] * SIZE
    for part, count in Counter(_parts(text.lower().strip())).items():
        row[_place(part)] += count
    length = sqrt(sum(value * value for value in row)) or 1.0
    return tuple(value / length for value in row)


def _parts(text: str) -> Iterator[str]:
    for start in range(len(text) - 2):
        yield text[start : start + 3]
    words = [word for word in text.split() if len(word) > 1]
    yield from words
    for one, other in pairwise(words):
        yield f"{one} {other}"


@lru_cache(maxsize=20_000)
def _place(part: str) -> int:
    """Hash by FNV-1a."""
    value = _BASIS
    for byte in part.encode():
        value = (value ^ byte) * _PRIME & 0xFFFFFFFF
    return value % SIZE
