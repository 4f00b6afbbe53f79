"""Which module edits a file: all of them have the same four functions over bytes."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Protocol, cast

from memory_plane.setup import jsonc, toml, yaml
from memory_plane.setup.errors import Broken

LARGEST_JSON5 = 64 * 1024
"""Bytes of JSON5 that are read: its parser takes a second for some twenty thousand."""

_BY_SUFFIX = {".toml": toml, ".yaml": yaml, ".yml": yaml}


class Format(Protocol):
    """Pure edits of the bytes of one file; each raises `Broken` for what it cannot read."""

    def load(self, data: bytes) -> Any:
        """Return what the file means, None for nothing."""
        ...

    def put(self, data: bytes, pointer: Sequence[str], value: Any) -> bytes:
        """Set the value at `pointer`."""
        ...

    def add(self, data: bytes, pointer: Sequence[str], value: Any) -> bytes:
        """Add an element to the array at `pointer`."""
        ...

    def drop(self, data: bytes, pointer: Sequence[str], element: Any = ..., *, made: int = 0) -> bytes:
        """Remove what stands at `pointer`, or one element of it, and the `made` containers that are empty then."""
        ...


def of(path: Path) -> Format:
    """Return the format of a file by its name; what is neither TOML nor YAML is JSON."""
    return cast("Format", _BY_SUFFIX.get(path.suffix.lower(), jsonc))


def meant(path: Path, data: bytes) -> Any:
    """Return what a file means that its agent edits by itself, in JSON5 too, None for nothing; raise `Broken`."""
    import json5

    try:
        return of(path).load(data)
    except Broken as error:
        try:
            if len(data) <= LARGEST_JSON5:
                return json5.loads(data.decode("utf-8-sig"))
        except (ValueError, RecursionError):
            pass
        raise error from None
