"""Which words mean nearly the same: what `training/alike.py` found in the table of meanings, as a list."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache

from memory_plane.types import Expansion
from memory_plane_local import tables


def expand(words: Sequence[str]) -> Expansion:
    """Return what the list has of each word."""
    known = _lines()
    return Expansion(alike={word: _others(known[word]) for word in words if word in known})


@cache
def _lines() -> Mapping[str, str]:
    return dict(line.split("\t") for line in tables.lines("alike.tsv"))


def _others(told: str) -> dict[str, float]:
    """Read `buy 78 purchase 72`."""
    parts = told.split(" ")
    return {other: int(hundredths) / 100 for other, hundredths in zip(parts[::2], parts[1::2], strict=True)}
