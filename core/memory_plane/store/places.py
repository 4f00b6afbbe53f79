"""Where in a memory a name stands, as far as it settles what is meant."""

from __future__ import annotations

Place = tuple[int, int, str]


def place(start: int, end: int, node: str) -> Place:
    """Return what a resolution settles: a span means one node, but implied names all stand in one empty span."""
    return (start, end, node if start == end else "")
