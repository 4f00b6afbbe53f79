"""Reading the data files: word lists and tab-separated tables, each parsed once."""

from __future__ import annotations

from functools import cache
from pathlib import Path

_DATA = Path(__file__).with_name("data")


@cache
def lines(name: str) -> tuple[str, ...]:
    """Return the lines of a data file without comments and blank lines."""
    text = (_DATA / name).read_text("utf-8")
    return tuple(line for line in text.splitlines() if line.strip() and not line.startswith("#"))


@cache
def words(name: str) -> frozenset[str]:
    """Return a word list as a set."""
    return frozenset(word for line in lines(name) for word in line.split())


@cache
def rows(name: str) -> tuple[tuple[str, ...], ...]:
    """Return a table as tuples of cells."""
    return tuple(tuple(cell.strip() for cell in line.split("\t")) for line in lines(name))


@cache
def cues(use: str) -> frozenset[str]:
    """Return the closed set of words that are cues for one thing."""
    return frozenset(next(text for name, text in rows("cues.tsv") if name == use).split())
