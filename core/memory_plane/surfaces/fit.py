"""What fits into one tool result: shortened texts, pages and the cursors between them."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping, Sequence
from typing import Any

from pydantic_core import to_json

from memory_plane.errors import Refused

ROOM = 8_000
"""Bytes that one result may take, below the 8 KB that clients show whole."""

JOINERS = frozenset("\u200d\ufe0e\ufe0f\U0001f3fb\U0001f3fc\U0001f3fd\U0001f3fe\U0001f3ff")

Entry = dict[str, Any]


def encode(value: Any) -> str:
    """Return compact JSON. A memory inside it cannot leave its string: quotes and line ends are escaped."""
    return to_json(value).decode()


def size(value: Any) -> int:
    """Return how many bytes the JSON of `value` takes."""
    return len(to_json(value))


def shorten(text: str, room: int) -> str:
    """Cut `text` so that its JSON takes at most `room` bytes, and mark the cut."""
    end = cut(text, room)
    return text if end == len(text) else text[:end].rstrip() + "…"


def cut(text: str, room: int) -> int:
    """Return how many code points of `text` fit into `room` bytes of JSON, without splitting a character."""
    if size(text) <= room:
        return len(text)
    end = len(text.encode()[: max(room - 5, 0)].decode(errors="ignore"))
    while end and size(text[:end]) > room - 3:
        end -= max(1, end // 20)
    whole = end
    while end and _joined(text, end):
        end -= 1
    return end or whole


def _joined(text: str, end: int) -> bool:
    """Return whether the code points on both sides of `end` are seen as one character."""
    after = text[end]
    return after in JOINERS or text[end - 1] == "\u200d" or unicodedata.category(after).startswith("M")


def level(entries: Sequence[Entry], room: int) -> list[Entry]:
    """Shorten the longest texts of `entries` until all of them together take at most `room` bytes."""
    sizes = [size(entry["text"]) for entry in entries]
    left = room - sum(size(entry) + 1 for entry in entries) + sum(sizes)
    cap = left
    for number, text_size in enumerate(sorted(sizes)):
        cap = left // (len(sizes) - number)
        if text_size > cap:
            break
        left -= text_size
    else:
        return list(entries)
    return [{**entry, "text": shorten(entry["text"], cap)} for entry in entries]


def page(sections: Mapping[str, Sequence[Entry]], cursor: str, *, heads: int, room: int = ROOM) -> dict[str, Any]:
    """Return one page of `sections`: first the `heads` of each, then the rest, as much as fits.

    The cursor names the last entry given, so that entries which arrive meanwhile shift nothing.
    """
    rows = [(name, entry) for name, entries in sections.items() for entry in entries[:heads]]
    rows += [(name, entry) for name, entries in sections.items() for entry in entries[heads:]]
    start = _resume(rows, cursor)
    result: dict[str, Any] = {name: [] for name in sections}
    left, end = room - size(result), start
    for name, entry in rows[start:]:
        left -= size(entry) + 1
        if left < 0 and end > start:
            break
        result[name].append(entry)
        end += 1
    if end < len(rows):
        result["next_cursor"] = f"{end}.{_key(rows[end - 1])}"
    return result


def _key(row: tuple[str, Entry]) -> str:
    name, entry = row
    key = entry.get("id") or entry.get("agent") or f"{entry['source']} {entry['relation']} {entry['target']}"
    return f"{name}.{key}"


def _resume(rows: Sequence[tuple[str, Entry]], cursor: str) -> int:
    if not cursor:
        return 0
    position, _, key = cursor.partition(".")
    if not position.isdecimal() or not key:
        raise Refused(f"cursor: {cursor[:40]!r} is not a next_cursor of this tool")
    keys = [_key(row) for row in rows]
    return keys.index(key) + 1 if key in keys else min(int(position), len(rows))
