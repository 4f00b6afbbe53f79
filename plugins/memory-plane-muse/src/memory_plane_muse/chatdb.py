"""The database of Messages on a Mac: read only, while Messages writes it, whichever columns its version has."""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from memory_plane.sqlite_files import opened
from memory_plane.types import EPOCH
from memory_plane_muse.message import Message, clean
from memory_plane_muse.typedstream import text_of

REMEDY = (
    "give Full Disk Access to the program that runs memory-plane (System Settings, Privacy & Security, Full Disk"
    " Access) and start it again"
)

_APPLE = datetime(2001, 1, 1, tzinfo=UTC)
_NANOSECONDS = 10**11
"""A time above this is in nanoseconds; before macOS 10.13 it is in seconds."""
_GROUP = 43
_BACK = 5_000
"""So many rows back, edits and unsent messages are looked for: both must happen soon after sending."""
_SETTLED = timedelta(minutes=2)
"""A message so old has its conversation, if it still has one."""
_CHANGES = ("date_edited", "date_retracted")
_CELLS = (
    *("guid", "text", "attributedBody", "date", "is_from_me", "item_type", "cache_roomnames"),
    *("associated_message_type", "associated_message_guid", *_CHANGES),
)
_CHAT = ("guid", "chat_identifier", "display_name", "style")


class Unreadable(Exception):
    """The database cannot be read; the message says why, and what to do."""


@dataclass(frozen=True, slots=True)
class Place:
    """How far the database was read: the last row, and the last change of an older one, as Messages counts time."""

    row: int = 0
    change: int = 0


def read(path: Path, place: Place, since: datetime, limit: int) -> tuple[list[Message], Place]:
    """Return what is new or changed after a place and not sent before `since`, oldest first, and where to go on.

    Raise `Unreadable` where the file cannot be opened or is not of Messages.
    """
    try:
        with opened(path, patience=1.0) as connection:
            connection.row_factory, connection.isolation_level = sqlite3.Row, None
            connection.execute("BEGIN")  # one moment of it
            return _Reader(connection, since, limit).read(place)
    except FileNotFoundError:
        raise Unreadable(f"{str(path)!r} does not exist; correct plugin.muse.chat_db") from None
    except (sqlite3.Error, OSError) as error:
        raise Unreadable(f"{str(path)!r} cannot be read: {error}; {REMEDY}") from None


def apple_time(value: object) -> datetime | None:
    """Return the moment that a number of Messages means; None for none."""
    if not isinstance(value, int | float) or value <= 0:
        return None
    try:
        if value > _NANOSECONDS:
            return _APPLE + timedelta(microseconds=int(value) // 1000)
        return _APPLE + timedelta(seconds=value)
    except OverflowError:
        return None


class _Reader:
    """Reads one moment of the database, `limit` rows at a time."""

    def __init__(self, connection: sqlite3.Connection, since: datetime, limit: int) -> None:
        self._connection, self._limit = connection, limit
        self._columns = self._of("message")
        if not {"guid", "date"} <= self._columns:
            raise sqlite3.DatabaseError("it holds no messages")
        self._handles = "handle_id" in self._columns and "id" in self._of("handle")
        self._chat = self._of("chat") if {"chat_id", "message_id"} <= self._of("chat_message_join") else set()
        newest, self._last = connection.execute("SELECT max(date), max(ROWID) FROM message").fetchone()
        self._newest = newest if isinstance(newest, int) else 0
        fine = not self._newest or self._newest > _NANOSECONDS
        self._since = int((since - _APPLE).total_seconds()) * (10**9 if fine else 1)

    def read(self, place: Place) -> tuple[list[Message], Place]:
        fresh = self._rows("m.ROWID > ?", place.row)
        settled = self._settled(fresh)
        row = settled[-1]["ROWID"] if settled else place.row if fresh else max(place.row, self._last or 0)
        changed = self._changed(place)
        change = max([place.change, *map(_change, changed)]) if place.row else self._newest
        messages = [one for found in (*changed, *settled) if (one := self._message(found)) is not None]
        return sorted(messages, key=lambda one: one.at), Place(row, change)

    def _settled(self, rows: list[sqlite3.Row]) -> list[sqlite3.Row]:
        """End before a message that was just sent and has no conversation yet: it gets one in a moment."""
        for count, row in enumerate(rows):
            if self._chat and row["chat_guid"] is None and _is_young(row):
                return rows[:count]
        return rows

    def _changed(self, place: Place) -> list[sqlite3.Row]:
        known = [name for name in _CHANGES if name in self._columns]
        if not known or not place.row:
            return []
        later = " OR ".join(f"m.{name} > ?" for name in known)
        start = max(0, place.row - _BACK)
        return self._rows(f"m.ROWID > ? AND m.ROWID <= ? AND ({later})", start, place.row, *[place.change] * len(known))

    def _rows(self, condition: str, *values: int) -> list[sqlite3.Row]:
        cells = [f"m.{name}" if name in self._columns else f"NULL AS {name}" for name in _CELLS]
        tables = "message AS m"
        if self._handles:
            tables += " LEFT JOIN handle AS h ON h.ROWID = m.handle_id"
        cells.append("h.id AS address" if self._handles else "NULL AS address")
        if self._chat:
            join = "(SELECT min(j.chat_id) FROM chat_message_join AS j WHERE j.message_id = m.ROWID)"
            tables += f" LEFT JOIN chat AS c ON c.ROWID = {join}"
        cells += [f"c.{name} AS chat_{name}" if name in self._chat else f"NULL AS chat_{name}" for name in _CHAT]
        where = f"m.date >= ? AND {condition} ORDER BY m.ROWID LIMIT ?"
        statement = f"SELECT m.ROWID, {', '.join(cells)} FROM {tables} WHERE {where}"
        return self._connection.execute(statement, (self._since, *values, self._limit)).fetchall()

    def _of(self, table: str) -> set[str]:
        return {row["name"] for row in self._connection.execute(f"PRAGMA table_info({table})")}

    def _message(self, row: sqlite3.Row) -> Message | None:
        """Return the message; None for a tapback, what happens in a group, and what its reader has deleted."""
        at, guid = apple_time(row["date"]), _text(row["guid"])
        deleted = self._chat and row["chat_guid"] is None
        if at is None or not guid or deleted or row["item_type"] or any(row[name] for name in _CELLS[7:9]):
            return None
        group = row["chat_style"] == _GROUP if self._chat else bool(row["cache_roomnames"])
        other = _text(row["address"]) or _text(row["chat_chat_identifier"])
        mine = bool(row["is_from_me"])
        return Message(
            guid=guid,
            text=clean(row["text"]) or clean(text_of(row["attributedBody"])),
            at=at,
            mine=mine,
            other="" if group and (mine or not row["address"]) else other,
            chat=_text(row["chat_guid"]) or _text(row["cache_roomnames"]) or other,
            group=group,
            title=_text(row["chat_display_name"]),
            edited=_milliseconds(apple_time(row["date_edited"])),
            retracted=apple_time(row["date_retracted"]) is not None,
        )


def _change(row: sqlite3.Row) -> int:
    return max((value for name in _CHANGES if isinstance(value := row[name], int)), default=0)


def _is_young(row: sqlite3.Row) -> bool:
    at = apple_time(row["date"])
    return at is not None and at > datetime.now(UTC) - _SETTLED


def _milliseconds(at: datetime | None) -> int:
    return 0 if at is None else (at - EPOCH) // timedelta(milliseconds=1)


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""
