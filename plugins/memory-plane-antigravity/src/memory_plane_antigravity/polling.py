"""Look which conversations moved since the last poll, and tell of them: turns are seen without any hook or tool."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, NamedTuple
from zlib import crc32

from memory_plane.types import EPOCH, Ingested, Operation
from memory_plane_antigravity import places, summaries, turns
from memory_plane_antigravity.places import Conversation
from memory_plane_antigravity.summaries import Summary
from memory_plane_antigravity.values import number, parsed

MOST_CONVERSATIONS = 20
MOST_TURNS = 50
"""After this many turns the rest of a conversation waits for the next poll."""
MOST_OPERATIONS = 200
"""After this many operations the other conversations wait for the next poll."""
REMEMBERED = 32
"""How many conversations the cursor knows; of others that move, the turns after `floor` are told."""

_VERSION = 1
_UNKNOWN = -1
"""The stamp of a conversation that is to be looked at again."""
_MICROSECOND = timedelta(microseconds=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Moved:
    """A conversation that is not as the cursor knows it; `at` is when it moved, `stamp` is of how it is now."""

    key: str
    conversation: Conversation
    summary: Summary | None
    at: int
    stamp: int


class Seen(NamedTuple):
    """A conversation as it was told: when it had moved, the end of its last turn that was over, 1 if one was not."""

    at: int
    told: int
    stamp: int
    open: int


@dataclass(slots=True, kw_only=True)
class Cursor:
    """Up to where conversations were told. Times are microseconds since 1970.

    What ended before `floor` is never told.
    """

    floor: int
    seen: dict[str, Seen] = field(default_factory=dict)

    @classmethod
    def read(cls, text: str | None, now: datetime) -> Cursor | None:
        """Return what a cursor says, None for one that is not ours, or of a clock that was wrong."""
        value = parsed(text) if text else None
        if not isinstance(value, dict) or value.get("version") != _VERSION:
            return None
        floor, seen = number(value.get("floor")), value.get("seen")
        if floor is None or floor > _microseconds(now):
            return None
        if not isinstance(seen, dict) or not all(map(_is_entry, seen.values())):
            return None
        return cls(floor=floor, seen={key: Seen(*entry) for key, entry in seen.items()})

    def trim(self) -> None:
        """Forget what moved longest ago; should that move again, only turns from then on are told."""
        order = sorted(self.seen, key=lambda key: self.seen[key].at, reverse=True)
        for key in order[REMEMBERED:]:
            self.floor = max(self.floor, self.seen.pop(key).at)

    def text(self) -> str:
        """Write the cursor."""
        return json.dumps({"version": _VERSION, "floor": self.floor, "seen": self.seen}, separators=(",", ":"))


def poll(home: Path, cursor: str | None, now: datetime, recent: timedelta) -> Ingested | None:
    """Tell of the conversations that moved since the cursor, of those of the `recent` time where there is none."""
    known = Cursor.read(cursor, now) or Cursor(floor=_microseconds(max(now - recent, EPOCH)))
    moved = sorted((one for app in places.apps(home) for one in _moved(app, known, now)), key=lambda one: one.at)
    found: list[Operation] = []
    for one in moved[:MOST_CONVERSATIONS]:  # the oldest first: the cursor's floor may then rise
        found += _tell(one, known, now)
        if len(found) >= MOST_OPERATIONS:
            break
    known.trim()
    return Ingested(operations=tuple(found), cursor=known.text()) if moved else None


def _moved(app: Path, cursor: Cursor, now: datetime) -> Iterator[Moved]:
    """Yield the conversations of an app that are not as they were; none while its database is locked."""
    known = summaries.read(app)
    if known is None:
        return
    written = dict(places.transcripts(app))
    for id in {**written, **known}:
        summary, key = known.get(id), f"{app.name}/{id}"
        modified = _microseconds(summary.modified) if summary and summary.modified else 0
        at = min(max(written.get(id, 0) // 1000, modified), _microseconds(now))
        stamp = crc32(repr((written.get(id), summary)).encode())
        aside = summary is not None and summary.aside
        due = not aside and _is_due(cursor.seen.get(key), at, stamp, cursor.floor, now)
        if due and (conversation := places.conversation(app, id)):
            yield Moved(key=key, conversation=conversation, summary=summary, at=at, stamp=stamp)


def _is_due(seen: Seen | None, at: int, stamp: int, floor: int, now: datetime) -> bool:
    if seen is None:
        return at > floor
    return seen.stamp != stamp or (seen.open > 0 and now - _time(at) > turns.QUIET)


def _tell(moved: Moved, cursor: Cursor, now: datetime) -> Iterator[Operation]:
    """Yield what is new in a conversation, and note in the cursor that it was told."""
    heard, summary, over = _time(moved.at), moved.summary, True
    told = cursor.seen[moved.key].told if moved.key in cursor.seen else cursor.floor
    running, killed = (summary.running, summary.killed) if summary else (False, False)
    ended = [(_microseconds(one.at or heard), one) for one in turns.exchanges(moved.conversation, summary)]
    due = [each for each in ended if each[0] > told or (each[0] == told and each is ended[-1])]  # its title may be new
    for at, exchange in due[:MOST_TURNS]:
        over = turns.is_over(exchange, running=running, killed=killed, quiet=now - heard)
        yield from turns.operations(moved.conversation, exchange, summary, heard=heard, over=over)
        told = max(told, at) if over else told
    stamp = moved.stamp if len(due) <= MOST_TURNS else _UNKNOWN
    cursor.seen[moved.key] = Seen(moved.at, told, stamp, int(not over))


def _is_entry(value: Any) -> bool:
    numbers = [number(each) for each in value] if isinstance(value, list) else []
    return len(numbers) == len(Seen._fields) and None not in numbers


def _microseconds(at: datetime) -> int:
    return (at - EPOCH) // _MICROSECOND


def _time(microseconds: int) -> datetime:
    return EPOCH + microseconds * _MICROSECOND
