"""The queue of what plugins have yet to say of stored memories."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import datetime

from sqlalchemy import Connection, bindparam, delete, func, or_, select, update

from memory_plane import models
from memory_plane.prepared import Prepared

INLINE = ""
"""Stands for the plugins that are asked in the same call as the write; an entry that stays tells of a crash."""
MEANING = "*"
"""Stands for what a memory means: a deferred model was not asked for it while the memory was held back."""

_queue = models.enrichment
_put = Prepared(lambda insert: insert(_queue).on_conflict_do_nothing(), "plugin", "seq", "tries")
_done = Prepared(delete(_queue).where(_queue.c.plugin == bindparam("name"), _queue.c.seq == bindparam("row")))


def put(connection: Connection, seq: int, plugins: Sequence[str]) -> None:
    """Have plugins asked about the memory in this row."""
    _put.run_all(connection, [{"plugin": name, "seq": seq, "tries": 0} for name in plugins])


def put_all(connection: Connection, rows: Sequence[int]) -> None:
    """Have the inline plugins asked about all of these memories."""
    _put.run_all(connection, [{"plugin": INLINE, "seq": row, "tries": 0} for row in rows])


def due(connection: Connection, now: datetime, limit: int, *, but: Collection[str] = ()) -> list[tuple[str, int, int]]:
    """Return (plugin, row, tries) of the entries that are due, oldest memory first, leaving out plugins that rest."""
    ready = or_(_queue.c.not_before.is_(None), _queue.c.not_before <= now)
    awake = _queue.c.plugin.not_in(but)
    entries = select(_queue.c.plugin, _queue.c.seq, _queue.c.tries).where(ready, awake)
    entries = entries.order_by(_queue.c.seq).limit(limit)
    return [(plugin, seq, tries) for plugin, seq, tries in connection.execute(entries)]


def cut_short(connection: Connection) -> list[tuple[int, int]]:
    """Return (row, tries) of the memories that the inline plugins have yet to be asked about, oldest first."""
    entries = select(_queue.c.seq, _queue.c.tries).where(_queue.c.plugin == INLINE).order_by(_queue.c.seq)
    return [(seq, tries) for seq, tries in connection.execute(entries)]


def depth(connection: Connection) -> int:
    """Return how many entries wait."""
    return connection.execute(select(func.count()).select_from(_queue)).scalar_one()


def done(connection: Connection, plugin: str, seq: int) -> None:
    """Take an entry off the queue."""
    _done.run(connection, name=plugin, row=seq)


def begin(connection: Connection, plugin: str, seq: int, tries: int, not_before: datetime) -> bool:
    """Note that one more try begins, and when to make the next unless it ends; False if another process was first."""
    entry = update(_queue).where(_queue.c.plugin == plugin, _queue.c.seq == seq, _queue.c.tries == tries)
    begun = connection.execute(entry.values(tries=tries + 1, not_before=not_before, error="has not come to an end"))
    return begun.rowcount == 1


def take_back(connection: Connection, plugin: str, seq: int) -> None:
    """Let the latest try not count."""
    entry = update(_queue).where(_queue.c.plugin == plugin, _queue.c.seq == seq)
    connection.execute(entry.values(tries=_queue.c.tries - 1, not_before=None, error=None))


def explain(connection: Connection, plugin: str, seq: int, error: str) -> None:
    """Say why the latest try failed."""
    entry = update(_queue).where(_queue.c.plugin == plugin, _queue.c.seq == seq)
    connection.execute(entry.values(error=error[:500]))


def postpone(connection: Connection, plugin: str, seq: int, not_before: datetime, error: str) -> None:
    """Note a failed try, and when to try again."""
    entry = update(_queue).where(_queue.c.plugin == plugin, _queue.c.seq == seq)
    connection.execute(entry.values(tries=_queue.c.tries + 1, not_before=not_before, error=error[:500]))
