"""Places in parsed files: a pointer is the keys from the top down, all of them of objects."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from memory_plane.setup.errors import Broken


class _Missing:
    def __repr__(self) -> str:
        return "MISSING"


MISSING: Any = _Missing()
"""Stands for nothing: None is a value."""


def get(value: Any, pointer: Sequence[str]) -> Any:
    """Return what stands at `pointer`, `MISSING` if nothing does; raise `Broken` if no object is on the way."""
    value = {} if value is None else value
    for depth, key in enumerate(pointer):
        if not isinstance(value, dict):
            raise Broken(f"holds no object at {'.'.join(pointer[:depth]) or 'the top'}")
        if key not in value:
            return MISSING
        value = value[key]
    return value


def missing(value: Any, pointer: Sequence[str]) -> int:
    """Return how many of the objects on the way to `pointer` are not there."""
    return sum(get(value, pointer[:depth]) is MISSING for depth in range(1, len(pointer)))


def same(one: Any, other: Any) -> bool:
    """Tell whether two parsed values are the same: here a number that is none equals itself, and 1 is not true."""
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(same(one[key], other[key]) for key in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(same, one, other))
    return type(one) is type(other) and bool(one == other or (one != one and other != other))


def with_value(value: Any, pointer: Sequence[str], new: Any) -> Any:
    """Return a copy of `value` with `new` at `pointer`."""
    if not pointer:
        return new
    held = {} if value in (None, MISSING) else value
    return {**held, pointer[0]: with_value(held.get(pointer[0], MISSING), pointer[1:], new)}
