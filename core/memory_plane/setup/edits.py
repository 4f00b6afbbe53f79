"""What each kind of edit does to the content of a file: made, undone, and whether it stands. Pure, over bytes."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from memory_plane.copies import COPY_MARK
from memory_plane.integration import ALL, Block, Copy, Element, Entry, OwnFile
from memory_plane.setup import blocks, formats, jsonc
from memory_plane.setup.errors import Broken, Kept
from memory_plane.setup.manifest import Record
from memory_plane.setup.pointers import MISSING, get, missing, same, with_value

_COMMENT = re.compile(rb"(?:#|//|/\*)[^\r\n]*")

FileEdit = Entry | Element | Block | OwnFile | Copy


def stands(edit: FileEdit, data: bytes | None) -> bool:
    """Tell whether the edit is there as it was declared; raise `Broken` for a file that cannot be read."""
    check_read(edit, data)
    return bool(_held(edit, data) == wanted(edit))


def made(
    edit: FileEdit, data: bytes | None, ours: Sequence[Record] = (), *, take_over: bool = False
) -> tuple[bytes, Record | None]:
    """Return the content with the edit, and what is ours of it: None for what stood there before us.

    `ours` is what we may have written there earlier: more than one, if an update was killed. Raise `Kept` for what
    somebody else holds in its place, unless `take_over`.
    """
    check_read(edit, data)
    held = _held(edit, data)
    if held == wanted(edit):
        return data or b"", Record(edit, ours[0].made, ours[0].before) if ours else None
    if any(held == wanted(one.edit) for one in ours if isinstance(one.edit, FileEdit)):
        return _written(edit, data or b""), Record(edit, ours[0].made, ours[0].before)
    check_free(edit, held, take_over=take_over)
    return _written(edit, data or b""), Record(edit, _containers(edit, data), held)


def check_read(edit: FileEdit, data: bytes | None) -> None:
    """Raise `Broken` for a file that its agent cannot read, though we can."""
    if isinstance(edit, Entry | Element) and data and set(edit.reads) != set(ALL):
        jsonc.check(data, edit.reads)


def check_free(edit: FileEdit, held: Any, *, take_over: bool) -> None:
    """Raise `Kept` for what somebody else holds where the edit goes, unless it is taken over and can be put back."""
    if held is not MISSING and not take_over:
        raise Kept(f"holds something else {_place(edit)}; remove that, or take it over with --take-over")
    if held is not MISSING and not _can_be_noted(held):
        raise Kept(f"holds something {_place(edit)} that cannot be noted to put it back; remove that by hand")


def undone(record: Record, data: bytes | None) -> bytes | None:
    """Return the content without the edit, None for no file; raise `Kept` if it is no longer what we wrote."""
    edit = record.edit
    assert isinstance(edit, FileEdit)
    held = _held(edit, data)
    if held is MISSING or data is None:
        return data
    if held != wanted(edit):
        raise Kept(f"what was written {_place(edit)} has been changed since; it is left as it is")
    match edit:
        case Block():
            return blocks.drop(data) if record.before is MISSING else blocks.put(data, record.before)
        case Entry():
            form = formats.of(edit.path)
            if record.before is not MISSING:
                return form.put(data, edit.pointer, record.before)
            after = _dropped(edit, data, form.drop(data, edit.pointer, made=record.made))
            return data if edit.stays and _without_empty(form.load(after) or {}) else after
        case Element():
            after = formats.of(edit.path).drop(data, edit.pointer, edit.value, made=record.made)
            return _dropped(edit, data, after)
        case _:
            return None if record.before is MISSING else _encoded(record.before)


def put_back(record: Record, data: bytes | None) -> bytes | None:
    """Return the content with what was taken over, where nothing stands in its place now."""
    edit = record.edit
    assert isinstance(edit, Entry)
    if record.before is MISSING or _held(edit, data) is not MISSING:
        return data
    return _written_value(replace(edit, value=record.before), data or b"")


def foretold(edit: Entry | Element, data: bytes | None) -> bytes:
    """Return about what an agent's command will make of a file; raise `Broken` where that cannot be said."""
    return _written_value(edit, data or b"")


def same_meaning(path: Path, one: bytes | None, other: bytes | None) -> bool:
    """Tell whether two contents of a settings file say the same: an empty object says what none does."""
    if one is None or other is None:
        return one is other
    form = formats.of(path)
    try:
        return same(_without_empty(form.load(one)), _without_empty(form.load(other)))
    except Broken:
        return one == other


def adds_nothing(path: Path, now: bytes | None, before: bytes | None) -> bool:
    """Tell whether a content says what an earlier one did and has no comment that is not in that one, too."""
    if not same_meaning(path, now, before):
        return False
    with suppress(ValueError, RecursionError):
        json.loads(now or b"")  # strict JSON has no comments
        return True
    return all(one.strip() in (before or b"") for one in _COMMENT.findall(now or b""))


def is_lost(path: Path, now: bytes | None, before: bytes | None) -> bool:
    """Tell whether a settings file that could be read holds only half of it, or nothing any more of what it held."""
    try:
        held = formats.meant(path, before or b"")
    except Broken:
        return False
    try:
        return not formats.meant(path, now or b"") and bool(held)
    except Broken:
        return True


def _can_be_noted(value: Any) -> bool:
    try:
        json.dumps(value, allow_nan=False)
    except (TypeError, ValueError):  # a date of TOML, or a number that is infinite here
        return False
    return True


def _encoded(text: str) -> bytes:
    """Encode the text of a whole file, which may name a path that is no UTF-8."""
    return text.encode("utf-8", "surrogateescape")


def _without_empty(value: Any) -> Any:
    if not isinstance(value, dict):
        return value
    filled = {name: _without_empty(inner) for name, inner in value.items()}
    return {name: inner for name, inner in filled.items() if inner not in ({}, [])}


def _held(edit: FileEdit, data: bytes | None) -> Any:
    """Return what stands where the edit goes, `MISSING` for nothing."""
    match edit:
        case Entry():
            return get(formats.of(edit.path).load(data or b""), edit.pointer)
        case Element():
            array = get(formats.of(edit.path).load(data or b""), edit.pointer)
            if array is not MISSING and not isinstance(array, list):
                raise Broken(f"holds no array at {'.'.join(edit.pointer)}")
            return edit.value if array is not MISSING and edit.value in array else MISSING
        case Block():
            found = blocks.get(data or b"")
            return MISSING if found is None else found
        case _:
            if data is None:
                return MISSING
            text = data.decode("utf-8", "surrogateescape")
            return COPY_MARK if isinstance(edit, Copy) and text.startswith(COPY_MARK) else text


def wanted(edit: FileEdit) -> Any:
    """Return what stands where an edit is made."""
    match edit:
        case Entry() | Element():
            return edit.value
        case Block():
            return edit.text.strip("\n")
        case OwnFile():
            return edit.text
        case _:
            return COPY_MARK


def _written(edit: FileEdit, data: bytes) -> bytes:
    match edit:
        case Block():
            return blocks.put(data, edit.text.strip("\n"))
        case OwnFile():
            return _encoded(edit.text)
        case Copy():
            return _encoded(f"{COPY_MARK}\n{edit.preface}")
        case _:
            return _written_value(edit, data)


def _written_value(edit: Entry | Element, data: bytes) -> bytes:
    """Edit a settings file, and make sure that nothing else in it means anything else now."""
    form = formats.of(edit.path)
    before = form.load(data)
    if isinstance(edit, Entry):
        expected, after = edit.value, form.put(data, edit.pointer, edit.value)
    else:
        array = get(before, edit.pointer)
        expected = [*([] if array is MISSING else array), edit.value]
        after = form.add(data, edit.pointer, edit.value)
    if not same(form.load(after), with_value(before, edit.pointer, expected)):
        raise Broken(f"is laid out in a way that cannot be edited safely; add {'.'.join(edit.pointer)} by hand")
    return after


def _dropped(edit: Entry | Element, data: bytes, after: bytes) -> bytes:
    """Make sure that an edit went out of a settings file alone."""
    form = formats.of(edit.path)
    before, now = form.load(data), form.load(after)
    held, left = get(before, edit.pointer), get(now, edit.pointer)
    if isinstance(edit, Element):
        held, left = [*held], [*([] if left is MISSING else left), edit.value]
        gone = len(left) == len(held) and all(any(same(one, each) for each in held) for one in left)
    else:
        gone = left is MISSING
    if not gone or not same(with_value(now, edit.pointer, get(before, edit.pointer)), before):
        raise Broken(f"is laid out in a way that cannot be edited safely; remove {'.'.join(edit.pointer)} by hand")
    return after


def _containers(edit: FileEdit, data: bytes | None) -> int:
    """Return how many objects and arrays have to be made for the edit."""
    if not isinstance(edit, Entry | Element):
        return 0
    value = formats.of(edit.path).load(data or b"")
    array = isinstance(edit, Element) and get(value, edit.pointer) is MISSING
    return missing(value, edit.pointer) + array


def _place(edit: FileEdit) -> str:
    return f"at {'.'.join(edit.pointer)}" if isinstance(edit, Entry | Element) else "there"
