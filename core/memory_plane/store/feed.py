"""What this store has to tell another one since a position, and what another one told it.

A position is two numbers, `<row of the log>.<number of a late answer>`. An operation is passed on together with its
derivations, once the inline plugins have answered; an answer that comes later is numbered, and passed on by itself.
What came from a store is never told to that store again.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import uuid4

from sqlalchemy import ColumnElement, Connection, func, or_, select

from memory_plane import models
from memory_plane.answers import received
from memory_plane.errors import PluginError, Refused
from memory_plane.operations import iso, record_of
from memory_plane.reports import Changes
from memory_plane.store import cursors, derivations, enrichment, log
from memory_plane.store.codec import Derivation, decode
from memory_plane.types import Memory

logger = logging.getLogger(__name__)

MAX_BYTES = 4_500_000
"""How large one answer is as JSON, which leaves room in a request of 5 MB; a memory that is larger comes alone."""
FROM_A_FILE = "00000000-0000-0000-0000-000000000000"
"""The peer that stands for an export: what it holds was first taken elsewhere, and is told to every store."""
_IDENTITY = "store id"  # no plugin has a space in its name

_log, _derivations, _queue = models.operations, models.derivations, models.enrichment


@dataclass(frozen=True, slots=True, kw_only=True)
class Delivery:
    """What came along with operations of another store: their stamps and derivations, by id of the operation."""

    peer: str | None = None
    stamps: Mapping[str, datetime] = field(default_factory=dict)
    answers: Mapping[str, Sequence[Mapping[str, Any]]] = field(default_factory=dict)


NOTHING = Delivery()
"""What comes along with an operation that is written here."""


def identity(connection: Connection) -> str | None:
    """Return the id of this store, None before it needed one."""
    return cursors.get(connection, _IDENTITY)


def identify(connection: Connection, *, anew: bool = False) -> str:
    """Return the id of this store, giving it one if it has none, or a new one."""
    known = None if anew else identity(connection)
    if known is None:
        known = str(uuid4())
        cursors.put(connection, _IDENTITY, known)
    return known


def changes(connection: Connection, since: str | None, peer: str | None, limit: int) -> Changes:
    """Return what `peer` does not know since a position, None for the beginning; at most `limit` operations.

    Raise `Refused` for a position that this store never gave: it may have been restored from a backup.
    """
    after, heard = _position(since)
    last = connection.execute(select(func.coalesce(func.max(_log.c.seq), 0))).scalar_one()
    latest = derivations.latest_change(connection)
    if after > last or heard > latest:
        raise Refused("since: lies behind the end of this memory; start again from the beginning")
    unanswered = select(func.min(_queue.c.seq)).where(_queue.c.plugin == enrichment.INLINE, _queue.c.tries == 0)
    barrier = connection.execute(unanswered).scalar()
    end = last if barrier is None else min(last, barrier - 1)
    operations: list[Mapping[str, Any]] = []
    answers: list[Mapping[str, Any]] = []
    size = 0
    for seq, operation, effective_at in log.between(connection, after, end, peer):
        record = record_of(operation)
        if effective_at != operation.created_at:
            record["effective_at"] = iso(effective_at)
        told = [_answer(operation.id, *row) for row in derivations.answers(connection, seq)]
        size += sum(map(_size, (record, *told)))
        if operations and (len(operations) == limit or size > MAX_BYTES):
            return Changes(
                operations=tuple(operations), derivations=tuple(answers), cursor=f"{after}.{heard}", more=True
            )
        operations.append(record)
        answers += told
        after = seq
    after = max(after, end)
    late = _late(connection, heard, after, peer, limit)
    for changed, *row in late:
        answer = _answer(*row)
        size += _size(answer)
        if (operations or answers) and size > MAX_BYTES:
            break
        answers.append(answer)
        heard = changed
    else:
        heard = heard if len(late) == limit else latest
    return Changes(
        operations=tuple(operations), derivations=tuple(answers), cursor=f"{after}.{heard}", more=heard < latest
    )


def take_in(
    connection: Connection, seq: int, memory: Memory, at: datetime, delivery: Delivery, *, new: bool
) -> list[str]:
    """Keep the derivations that came for a memory, the greater of two that differ; return whose there were any.

    For a memory that is `new` they travel on with it, for others by themselves.
    """
    known = {
        (rank, plugin): (version, answer) for plugin, version, rank, answer in derivations.answers(connection, seq)
    }
    better: list[Derivation] = []
    plugins: list[str] = []
    for record in delivery.answers.get(memory.id, ()):
        try:
            derivation = _read(memory, record)
        except (PluginError, ValueError, TypeError, LookupError, ArithmeticError) as error:
            logger.warning("a derivation of memory %s from another store was left out: %s", memory.id, error)
            continue
        plugins.append(derivation.plugin)
        if (record["version"], record["answer"]) > known.get((derivation.rank, derivation.plugin), ("", "")):
            better.append(derivation)
    if better:
        derivations.record(connection, seq, memory, at, better, peer=delivery.peer, late=not new)
    return plugins


def _position(since: str | None) -> tuple[int, int]:
    if since is None:
        return 0, 0
    after, point, heard = since.partition(".")
    if not (point and after.isdecimal() and heard.isdecimal() and since.isascii() and len(since) < 40):
        raise Refused(f"since: {since[:40]!r} is no position; give the cursor of an earlier answer")
    return int(after), int(heard)


def _late(connection: Connection, heard: int, end: int, peer: str | None, limit: int) -> Sequence[Any]:
    """Return the late answers about what was passed on, or came from `peer`; those about others travel with them."""
    row = _derivations.c
    chosen = (
        select(row.changed, _log.c.id, row.plugin, row.version, row.rank, row.answer)
        .join(_log, _log.c.seq == row.seq)
        .where(row.changed > heard, or_(row.seq <= end, _log.c.received_from == (peer or "")))
        .where(_not_from(row.received_from, peer))
        .order_by(row.changed)
        .limit(limit)
    )
    return connection.execute(chosen).all()


def _not_from(column: Any, peer: str | None) -> ColumnElement[bool]:
    return or_(column.is_(None), column != peer)


def _size(record: Mapping[str, Any]) -> int:
    return len(json.dumps(record, ensure_ascii=False).encode())


def _answer(memory: str, plugin: str, version: str, rank: int, answer: str) -> dict[str, Any]:
    return {"memory": memory, "plugin": plugin, "version": version, "rank": rank, "answer": answer}


def _read(memory: Memory, record: Mapping[str, Any]) -> Derivation:
    plugin, version, rank, answer = (record[name] for name in ("plugin", "version", "rank", "answer"))
    if not (isinstance(plugin, str) and plugin and isinstance(version, str) and rank in (0, 1)):
        raise ValueError("its plugin, version or rank is none")
    derivation = decode(memory, answer, plugin=plugin, version=version, rank=rank)
    received(derivation.extraction, derivation.classification, derivation.routing, memory)
    return derivation
