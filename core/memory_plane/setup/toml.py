"""Edits of TOML files as people keep them: comments, order and line ends stay."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Mapping, MutableMapping, Sequence
from functools import wraps
from typing import Any

import tomlkit
from tomlkit.exceptions import TOMLKitError

from memory_plane.setup.errors import Broken
from memory_plane.setup.pointers import MISSING, get, same, with_value

_BOM = b"\xef\xbb\xbf"


def _after_the_mark(edit: Callable[..., bytes]) -> Callable[..., bytes]:
    """Let an edit see what comes after a byte order mark alone."""

    @wraps(edit)
    def edited(data: bytes, *arguments: Any, **options: Any) -> bytes:
        bare = data.removeprefix(_BOM)
        return data[: len(data) - len(bare)] + edit(bare, *arguments, **options)

    return edited


def load(data: bytes) -> Any:
    """Return what a file means; raise `Broken`."""
    try:
        return tomllib.loads(data.removeprefix(_BOM).decode())
    except UnicodeDecodeError:
        raise Broken("is not UTF-8") from None
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise Broken(f"is no valid TOML: {error}") from None


@_after_the_mark
def put(data: bytes, pointer: Sequence[str], value: Any) -> bytes:
    """Set the value at `pointer`; tables on the way are made, and a new table comes last, in lines of its own."""
    before = load(data)
    held = get(before, pointer)
    if isinstance(value, Mapping):
        lines = _lines(pointer, value, data)
        earlier = _lines(pointer, held, data) if isinstance(held, Mapping) else b""
        after = data + _gap(data) + lines if held is MISSING else data.replace(earlier, lines) if earlier else data
        if _means(after, with_value(before, pointer, value)):
            return after
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


@_after_the_mark
def add(data: bytes, pointer: Sequence[str], value: Any) -> bytes:
    """Add an element to the end of the array at `pointer`, which is made where it is missing."""
    before = load(data)
    array = get(before, pointer)
    if array is not MISSING and not isinstance(array, list):
        raise Broken(f"holds no array at {'.'.join(pointer)}")
    if isinstance(value, Mapping):
        after = data + _gap(data) + _lines(pointer, [value], data)
        if _means(after, with_value(before, pointer, [*([] if array is MISSING else array), value])):
            return after
    if array is MISSING:
        return put(data, pointer, [value])
    document = _parse(data)
    get(document, pointer).append(value)
    return _dumped(document, data)


@_after_the_mark
def drop(data: bytes, pointer: Sequence[str], element: Any = MISSING, *, made: int = 0) -> bytes:
    """Remove the entry at `pointer`, or one `element` of its array, and the `made` containers that are empty then."""
    held = load(data)
    after = _without_lines(data, pointer, get(held, pointer) if element is MISSING else [element])
    if after is not None:
        return after
    document = _parse(data)
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
    candidates = (bare + _newline(data), dropped, bare)
    value = get(held, pointer)
    return next((one for one in candidates if element is MISSING and put(one, pointer, value) == data), dropped)


# --- lines of our own ---------------------------------------------------------------------------------------------


def _lines(pointer: Sequence[str], value: Any, data: bytes) -> bytes:
    """Return a table, or an array of tables, as it stands for itself in a file."""
    name, text = tomlkit.key(list(pointer)).as_string(), ""
    for table in value if isinstance(value, list) else [value]:
        held = tomlkit.document()
        for key, inner in table.items():
            held[key] = _inline(inner) if isinstance(inner, Mapping) else inner
        text += f"[[{name}]]\n" if isinstance(value, list) else f"[{name}]\n"
        text += tomlkit.dumps(held)
    return _encoded(text).replace(b"\n", _newline(data))


def _inline(value: Mapping[str, Any]) -> tomlkit.items.InlineTable:
    table = tomlkit.inline_table()
    table.update(value)
    return table


def _without_lines(data: bytes, pointer: Sequence[str], value: Any) -> bytes | None:
    """Return the file without such lines and the empty one before them, None where they do not stand by themselves."""
    tables = value if isinstance(value, list) else [value]
    if not all(isinstance(one, Mapping) for one in tables):
        return None
    start, lines, rest = data.rpartition(_lines(pointer, value, data))
    newline = _newline(data)
    after = (start.removesuffix(newline) if start.endswith(newline * 2) else start) + rest
    held, left = get(load(data), pointer), _held(after, pointer)
    expected = [one for one in held if one != value[0]] or MISSING if isinstance(value, list) else MISSING
    return after if lines and same(left, expected) else None


def _held(data: bytes, pointer: Sequence[str]) -> Any:
    try:
        return get(load(data), pointer)
    except Broken:
        return None


def _gap(data: bytes) -> bytes:
    newline = _newline(data)
    return b"" if not data else newline if data.endswith(b"\n") else newline * 2


def _newline(data: bytes) -> bytes:
    return b"\r\n" if b"\r\n" in data else b"\n"


def _means(data: bytes, expected: Any) -> bool:
    try:
        return same(load(data), expected)
    except Broken:
        return False


def _parse(data: bytes) -> tomlkit.TOMLDocument:
    load(data)
    try:
        return tomlkit.parse(data.decode())
    except TOMLKitError as error:
        raise Broken(f"cannot be edited: {error}") from None


def _dumped(document: tomlkit.TOMLDocument, before: bytes) -> bytes:
    text = _encoded(tomlkit.dumps(document))
    if b"\r\n" not in before:
        return text
    # What is new comes with line feeds alone; what stood there may have both.
    start = _alike(before, text)
    end = len(text) - _alike(before[start:][::-1], text[start:][::-1])
    return text[:start] + text[start:end].replace(b"\r\n", b"\n").replace(b"\n", b"\r\n") + text[end:]


def _encoded(text: str) -> bytes:
    try:
        return text.encode()
    except UnicodeEncodeError:
        raise Broken("cannot hold a path that is no UTF-8") from None


def _alike(one: bytes, other: bytes) -> int:
    """Return how many bytes two contents have alike at the start."""
    ends = (place for place, (left, right) in enumerate(zip(one, other, strict=False)) if left != right)
    return next(ends, min(len(one), len(other)))
