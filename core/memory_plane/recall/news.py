"""What was written lately, head by head: enough to know that something happened, without its text."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, bindparam, select

from memory_plane import models
from memory_plane.prepared import Prepared

_log = models.operations
_columns = (_log.c.seq, _log.c.id, _log.c.op, _log.c.agent, _log.c.created_at, _log.c.target, _log.c.body)
_newest = Prepared(select(_log.c.seq, _log.c.id).order_by(_log.c.seq.desc()).limit(1))
_row_of = Prepared(select(_log.c.seq).where(_log.c.id == bindparam("id")))
_after = Prepared(select(*_columns).where(_log.c.seq > bindparam("seq")).order_by(_log.c.seq).limit(bindparam("limit")))


@dataclass(frozen=True, slots=True, kw_only=True)
class Headline:
    """An operation without its text; `kind` is that of a thought, `target` the id of what it is about."""

    id: str
    op: str
    agent: str
    created_at: datetime
    kind: str | None
    target: str | None


def newest(connection: Connection) -> tuple[int, str | None]:
    """Return row and id of the operation that was written last, (0, None) where there is none."""
    row = _newest.first(connection)
    return (0, None) if row is None else (row.seq, row.id)


def row_of(connection: Connection, id: str) -> int | None:
    """Return the row of an operation, None for an id that is not here."""
    found: int | None = _row_of.scalar(connection, id=id)
    return found


def after(connection: Connection, seq: int, limit: int) -> list[tuple[int, Headline]]:
    """Return what was written after a row, in the order of writing, each with its row."""
    return [(row.seq, _headline(row)) for row in _after.all(connection, seq=seq, limit=limit)]


def _headline(row: Any) -> Headline:
    kind = json.loads(row.body).get("kind", "thought") if row.op == "thought" else None
    return Headline(id=row.id, op=row.op, agent=row.agent, created_at=row.created_at, kind=kind, target=row.target)
