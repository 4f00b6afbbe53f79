"""What fits into one tool result: shortened texts, pages and the cursors between them."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping, Sequence
from hashlib import blake2b
from typing import Any

from pydantic_core import to_json

from memory_plane.errors import Refused

ROOM = 8_000
"""Bytes that one result may take, below the 8 KB that clients show whole."""

JOINERS = frozenset("\u200d\ufe0e\ufe0f\U0001f3fb\U0001f3fc\U0001f3fd\U0001f3fe\U0001f3ff")

_MARK = re.compile(r"0|[1-9][0-9]{0,4}-[0-9a-f]{8}|k(?:[0-9a-f]{12})?")
_LONGEST_MARK = len("99999-01234567.")

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

    The cursor says how far each section was given. Whatever others write between two pages may repeat entries, but
    an entry that was there all the time is never left out, and the pages always end.
    """
    walks = {
        name: _Walk(entries, mark)
        for (name, entries), mark in zip(sections.items(), _marks(cursor, len(sections)), strict=True)
    }
    rows = [(name, entry) for name, walk in walks.items() for entry in walk.left[: walk.heads(heads)]]
    rows += [(name, entry) for name, walk in walks.items() for entry in walk.left[walk.heads(heads) :]]
    result: dict[str, Any] = {name: [] for name in sections}
    free = room - size(result | {"next_cursor": ""}) - _LONGEST_MARK * len(sections)
    for place, (name, entry) in enumerate(rows):
        if place == 0 and size(entry) > free:
            entry = _squeezed(entry, free)
        free -= size(entry) + 1
        if free < 0 and place:
            result["next_cursor"] = ".".join(walk.mark(len(result[name])) for name, walk in walks.items())
            break
        result[name].append(entry)
    return result


def place_in(text: str, cursor: str) -> int:
    """Return the position in `text` that the cursor of a long text names."""
    if not cursor:
        return 0
    if not re.fullmatch(r"[0-9]{1,9}", cursor) or int(cursor) > len(text):
        raise foreign(cursor)
    return int(cursor)


def foreign(cursor: str) -> Refused:
    """Say that a cursor was not given out by the tool."""
    return Refused(f"cursor: {cursor[:40]!r} is not a next_cursor of this tool")


class _Walk:
    """What is left of one section after a mark.

    A mark is a count and a fingerprint of the entries given. Where these are no longer the first ones, the section
    begins anew, now in an order that no write changes, and the mark is the last place in that order.
    """

    def __init__(self, entries: Sequence[Entry], mark: str) -> None:
        self._entries = entries
        self._count = int(mark.partition("-")[0]) if mark[0] != "k" else 0
        self._place = mark if mark[0] == "k" else ""
        if not self._place and mark != self._counted(self._count):
            self._count, self._place = 0, "k"
        if self._place:
            placed = sorted(((_place(entry), number) for number, entry in enumerate(entries)))
            self.left = [entries[number] for place, number in placed if place > self._place]
        else:
            self.left = list(entries[self._count :])

    def heads(self, heads: int) -> int:
        """Return how many of what is left come before the rest of the other sections."""
        return 0 if self._place else max(heads - self._count, 0)

    def mark(self, given: int) -> str:
        """Return the mark after so many more."""
        if self._place:
            return _place(self.left[given - 1]) if given else self._place
        return self._counted(self._count + given)

    def _counted(self, count: int) -> str:
        return f"{count}-{_digest([_key(entry) for entry in self._entries[:count]], 4)}" if count else "0"


def _marks(cursor: str, count: int) -> list[str]:
    if not cursor:
        return ["0"] * count
    marks = cursor.split(".") if len(cursor) <= count * _LONGEST_MARK else []
    if len(marks) != count or not all(map(_MARK.fullmatch, marks)):
        raise foreign(cursor)
    return marks


def _key(entry: Entry) -> Any:
    if key := entry.get("id") or entry.get("agent"):
        return key
    return [entry.get(name) for name in ("source", "relation", "target", "method", "valid_from")]


def _place(entry: Entry) -> str:
    return "k" + _digest(_key(entry), 6)


def _digest(value: Any, length: int) -> str:
    return blake2b(to_json(value), digest_size=length).hexdigest()


def _squeezed(entry: Entry, room: int) -> Entry:
    """Shorten every text of an entry that is too large for a page of its own."""
    each = max(room // len(entry) - 20, 60)  # an id stays whole
    return {name: shorten(value, each) if isinstance(value, str) else value for name, value in entry.items()}
