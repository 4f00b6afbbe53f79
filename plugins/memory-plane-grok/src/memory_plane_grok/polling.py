"""Look which sessions and chats moved since the last poll, and tell of their turns, also where no hook ran."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, NamedTuple

from memory_plane.types import EPOCH, Ingested, Operation
from memory_plane_grok import exchanges, notes
from memory_plane_grok.exchanges import Conversation
from memory_plane_grok.values import number, parsed, table

MOST_CONVERSATIONS = 20
MOST_OPERATIONS = 200
"""After so many of either, the rest waits for the next poll."""
REMEMBERED = 64
"""How many conversations the cursor knows; of others that move, the turns after `floor` are told."""
_VERSION = 1
_MICROSECOND = timedelta(microseconds=1)


class Seen(NamedTuple):
    """A conversation as it was told: its stamp, the end of its last turn that was over, 1 if one was not."""

    stamp: int
    told: int
    open: int


@dataclass(slots=True, kw_only=True)
class Cursor:
    """Up to where conversations were told, and when each note was changed last.

    Times are microseconds since 1970; what ended before `floor` is never told.
    """

    floor: int
    seen: dict[str, Seen] = field(default_factory=dict)
    notes: dict[str, int] = field(default_factory=dict)

    @classmethod
    def read(cls, said: str | None, now: datetime, recent: timedelta) -> Cursor:
        """Return what a cursor says; begin anew, `recent` ago, with one that is not ours or of a wrong clock."""
        value = table(parsed(said)) if said else {}
        floor = number(value.get("floor"))
        if value.get("version") != _VERSION or floor is None or floor > _microseconds(now):
            return cls(floor=_microseconds(max(EPOCH, now - recent)))
        seen = {key: Seen(*one) for key, one in table(value.get("seen")).items() if _is_entry(one)}
        changed = {key: at for key, at in table(value.get("notes")).items() if number(at) is not None}
        return cls(floor=floor, seen=seen, notes=changed)

    def written(self) -> str:
        """Return the cursor as text; what moved longest ago is forgotten, and only told again from then on."""
        order = sorted(self.seen, key=lambda key: self.seen[key].stamp, reverse=True)
        for key in order[REMEMBERED:]:
            self.floor = max(self.floor, self.seen.pop(key).stamp // 1000)
        told = {"version": _VERSION, "floor": self.floor, "seen": self.seen, "notes": self.notes}
        return json.dumps(told, ensure_ascii=False)


def poll(
    sources: Iterable[Iterable[Conversation]], home: Path | None, said: str | None, now: datetime, recent: timedelta
) -> Ingested | None:
    """Tell of turns that are new, and of notes below `home` unless that is None; None where nothing moved."""
    cursor = Cursor.read(said, now, recent)
    operations: list[Operation] = []
    due = (one for source in sources for one in source if _is_due(one, cursor, now))
    for conversation in sorted(due, key=lambda one: one.stamp)[:MOST_CONVERSATIONS]:
        if len(operations) < MOST_OPERATIONS:
            operations += _tell(conversation, cursor, now)
    if home is not None:
        operations += notes.read(home, cursor.notes)
    after = cursor.written()
    return Ingested(operations=tuple(operations), cursor=after) if after != said else None


def _is_due(one: Conversation, cursor: Cursor, now: datetime) -> bool:
    seen = cursor.seen.get(one.key)
    if seen is None:
        return one.stamp // 1000 > cursor.floor
    return seen.stamp != one.stamp or (seen.open > 0 and _microseconds(now - one.quiet) > seen.stamp // 1000)


def _tell(conversation: Conversation, cursor: Cursor, now: datetime) -> Iterator[Operation]:
    """Yield what is new in a conversation, and note in the cursor that it was told."""
    known, over = cursor.seen.get(conversation.key), True
    told = known.told if known else cursor.floor
    turns, folder = conversation.read()
    for turn in turns:
        at = _microseconds(turn.at)
        over = turn.over or now - turn.at > conversation.quiet
        if at > told and (over or turn.id):
            yield from exchanges.operations(conversation.agent, turn, folder, over=over)
        told = max(told, at) if over else told
    cursor.seen[conversation.key] = Seen(conversation.stamp, told, int(not over))


def _is_entry(value: Any) -> bool:
    return isinstance(value, list) and len(value) == len(Seen._fields) and None not in map(number, value)


def _microseconds(at: datetime) -> int:
    return (at - EPOCH) // _MICROSECOND
