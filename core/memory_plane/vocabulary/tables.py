"""Reading the tables of the vocabulary: tab-separated rows, each file parsed once."""

from __future__ import annotations

from functools import cache
from pathlib import Path

_DATA = Path(__file__).with_name("data")

ADDED: list[tuple[str, ...]] = []
"""Relations by configuration, the first rows of their table; see `hints`. A process reads by one vocabulary."""


@cache
def rows(name: str) -> tuple[tuple[str, ...], ...]:
    """Return a table as tuples of cells, without comments and blank lines."""
    text = (_DATA / name).read_text("utf-8")
    lines = (line for line in text.splitlines() if line.strip() and not line.startswith("#"))
    read = (tuple(cell.strip() for cell in line.split("\t")) for line in lines)
    return (*(ADDED if name == "relations.tsv" else ()), *read)
