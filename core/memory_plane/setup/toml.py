"""Edits of TOML files as people keep them: comments, order and line ends stay."""

from __future__ import annotations

import tomllib
from collections.abc import MutableMapping, Sequence
from typing import Any

import tomlkit
from tomlkit.exceptions import TOMLKitError

from memory_plane.setup.errors import Broken
from memory_plane.setup.pointers import MISSING, get


def load(data: bytes) -> Any:
    """Return what a file means; raise `Broken`."""
    try:
        return tomllib.loads(data.decode())
    except UnicodeDecodeError:
        raise Broken("is not UTF-8") from None
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise Broken(f"is no valid TOML: {error}") from None


def put(data: bytes, pointer: Sequence[str], value: Any) -> bytes:
    """Set the value at `pointer`; tables on the way are made."""
    document = _parse(data)
    table: MutableMapping[str, Any] = document
    for depth, key in enumerate(pointer[:-1]):
        if key not in table:
            table[key] = tomlkit.table(is_super_table=depth < len(pointer) - 1)
        table = table[key]
        if not isinstance(table, MutableMapping):
            raise Broken(f"holds no table at {'.'.join(pointer[: depth + 1])}")
    table[pointer[-1]] = value
    return _dumped(document, data)


def add(data: bytes, pointer: Sequence[str], value: Any) -> bytes:
    """Add an element to the end of the array at `pointer`, which is made where it is missing."""
    array = get(load(data), pointer)
    if array is not MISSING and not isinstance(array, list):
        raise Broken(f"holds no array at {'.'.join(pointer)}")
    return put(data, pointer, [value] if array is MISSING else [*array, value])


def drop(data: bytes, pointer: Sequence[str], element: Any = MISSING, *, made: int = 0) -> bytes:
    """Remove the entry at `pointer`, or one `element` of its array, and the `made` containers that are empty then."""
    document = _parse(data)
    held = load(data)
    left = list(pointer)
    if element is MISSING:
        del get(document, left[:-1])[left.pop()]
    else:
        array = get(document, pointer)
        del array[array.index(element)]
    while made > 0 and left and not get(document, left):
        del get(document, left[:-1])[left.pop()]
        made -= 1
    dropped = _dumped(document, data)
    # An empty line may have come with the entry: right is what would become this content again, as most files end.
    bare = dropped.rstrip(b"\r\n")
    candidates = (bare + (b"\r\n" if b"\r\n" in data else b"\n"), dropped, bare)
    value = get(held, pointer)
    return next((one for one in candidates if element is MISSING and put(one, pointer, value) == data), dropped)


def _parse(data: bytes) -> tomlkit.TOMLDocument:
    load(data)
    try:
        return tomlkit.parse(data.decode())
    except TOMLKitError as error:
        raise Broken(f"cannot be edited: {error}") from None


def _dumped(document: tomlkit.TOMLDocument, before: bytes) -> bytes:
    text = tomlkit.dumps(document)
    if b"\r\n" in before:  # what is new comes with line feeds alone
        text = text.replace("\r\n", "\n").replace("\n", "\r\n")
    return text.encode()
