"""Meaning as a vector: each word has 128 numbers in a table, a text is their weighted sum. No model runs.

The table is distilled from a sentence encoder by `tests/distill.py`; its first line says from which, under what licence
and how. The sum is one addition of large integers a word, each number in a lane of 32 bits: thirty times as fast as a
loop over the numbers.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Sequence
from functools import cache, lru_cache
from importlib.resources import files
from math import sqrt
from typing import Any, NamedTuple
from unicodedata import category, normalize

from memory_plane.store import index
from memory_plane.types import Vectors

MOST = 4_096
"""So many words of a text count; the lanes hold twice as many."""
LITTLE = 0.2
"""A text whose words sum up to so much of the usual is taken for half of what it says."""
BYTES = 4
BIAS = 128
_LOW = 0 if sys.byteorder == "little" else BYTES - 1
_WORD = re.compile(r"[^\W_]{1,40}")


class Sum(NamedTuple):
    """The weighted sum of words: numbers in lanes, each too large by `BIAS` a unit of weight, and the weight."""

    lanes: int
    weight: int


class Table:
    """The words of a language with their vectors; a word that is not in it is the sum of its longest pieces."""

    def __init__(self, content: bytes) -> None:
        """Read what `tests/distill.py` wrote: a line of JSON, the words, their weights, their rows."""
        start = content.index(b"\n") + 1
        head: dict[str, Any] = json.loads(content[:start])
        rest = memoryview(content)[start:]  # four megabytes, which are not to be held twice
        self.model: str = head["model"]
        self.size: int = head["size"]
        self._usual: float = head["usual"]
        words = str(rest[: head["bytes"]], "utf-8").split("\n")
        self._places = dict(zip(words, range(len(words)), strict=True))
        end = head["bytes"] + 2 * len(words)
        self._weights = rest[head["bytes"] : end]
        self._rows = rest[end:]
        self._sum = lru_cache(maxsize=4_096)(self._of_word)

    def embed(self, text: str) -> tuple[float, ...]:
        """Return the vector of a text; it is shorter than 1 by as much as the text says little."""
        sums = self._sums(text)
        length = _length(sums) + self._usual * LITTLE
        return tuple([value / length for value in sums])

    def length(self, text: str) -> float:
        """Return how long the sum of a text's words is."""
        return _length(self._sums(text))

    def pieces(self, word: str) -> list[int]:
        """Cut a word into the longest pieces that the table knows; nothing where one is unknown."""
        found, start = [], 0
        while start < len(word):
            mark = "##" if start else ""
            for end in range(len(word), start, -1):
                place = self._places.get(mark + word[start:end])
                if place is not None:
                    found.append(place)
                    start = end
                    break
            else:
                return []
        return found

    def words(self) -> list[str]:
        """Return the words that are whole, the commonest first, as far as the encoder's makers knew."""
        return [word for word in self._places if not word.startswith(("##", "["))]

    def _sums(self, text: str) -> list[int]:
        lanes = weight = 0
        for word in words(text)[:MOST]:
            found = self._sum(word)
            lanes += found.lanes
            weight += found.weight
        bias = BIAS * weight
        return [lane - bias for lane in memoryview(lanes.to_bytes(BYTES * self.size, sys.byteorder)).cast("I")]

    def _of_word(self, word: str) -> Sum:
        lanes = weight = 0
        for place in self.pieces(word):
            times = int.from_bytes(self._weights[2 * place : 2 * place + 2], "little")
            spread = bytearray(BYTES * self.size)
            spread[_LOW::BYTES] = self._rows[place * self.size : (place + 1) * self.size]
            lanes += times * int.from_bytes(spread, sys.byteorder)
            weight += times
        return Sum(lanes, weight)


def _length(values: Sequence[float]) -> float:
    return sqrt(sum([value * value for value in values]))


def words(text: str) -> list[str]:
    """Return the words of a text as the table spells them: small, without accents, unspaced scripts taken apart."""
    if not text.isascii():
        apart = normalize("NFD", index.spaced(text))
        text = "".join(sign for sign in apart if category(sign) != "Mn")
    return _WORD.findall(text.lower())


@cache
def table() -> Table:
    """Return the table that is part of this package; it is read when a text is first embedded."""
    return Table(files(__package__).joinpath("data", "meanings.bin").read_bytes())


def embed(texts: Sequence[str]) -> Vectors:
    """Return one row a text."""
    known = table()
    return Vectors(model=known.model, rows=tuple(map(known.embed, texts)))
