"""What a search is restricted to, and which memories that lets through: looked up, so few of many are cheap."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache
from itertools import islice
from typing import Any

from sqlalchemy import Connection, bindparam, text

from memory_plane import models
from memory_plane.prepared import Prepared
from memory_plane.recall import graph
from memory_plane.store import index
from memory_plane.types import EPOCH

AT_ONCE = 50
"""So many memories are looked up in one go."""
LATEST = 1_000
"""Of so many of the latest of a time, the one that was written last tells where its memories end."""

_IN_TIME = " AND EXISTS (" + " UNION ALL ".join(
    f"SELECT 1 FROM {table} WHERE seq = {{row}} AND at >= :since AND at < :until" for table in ("thoughts", "facts")
) + ")"  # fmt: skip
_NAMED = " AND EXISTS (SELECT 1 FROM mentions WHERE seq = {{row}} AND node IN ({nodes}))"
_LOOKED_UP = (
    "SELECT t.seq, t.agent, t.kind, t.project FROM json_each(:rows) AS c JOIN thoughts AS t ON t.seq = c.value"
    " WHERE true{where} UNION ALL"
    " SELECT t.seq, o.agent, 'fact', json_extract(o.body, '$.project') FROM json_each(:rows) AS c"
    " JOIN facts AS t ON t.seq = c.value JOIN operations AS o ON o.seq = t.seq WHERE true{where}"
)
_LATEST = "SELECT seq FROM {table} WHERE at < :until ORDER BY at DESC LIMIT :most"
_LAST_BEFORE = (
    f"SELECT max(seq) FROM (SELECT * FROM ({_LATEST.format(table='thoughts')})"
    f" UNION ALL SELECT * FROM ({_LATEST.format(table='facts')}))"
)
_LAST_NAMED = "SELECT max(seq) FROM mentions WHERE node IN ({nodes})"


@dataclass(frozen=True, slots=True, kw_only=True)
class Filters:
    """What hits are restricted to; `since` and `until` bound the time of the memory."""

    agent: str | None = None
    kind: str | None = None
    project: str | None = None
    person: str | None = None
    since: datetime | None = None
    until: datetime | None = None


class Sieve:
    """Tells what filters let through. True where there are any.

    `tags` are the words of the index that stand for them, and `where` is the condition, of `{row}` with `values`, for
    what has no word; no memory after `last` is let through.
    """

    def __init__(self, connection: Connection, filters: Filters) -> None:
        self._connection = connection
        wanted = {"agent": filters.agent, "kind": filters.kind, "project": filters.project}
        self._wanted = [None if value is None else value.casefold() for value in wanted.values()]
        self.tags = [index.tag(name, value) for name, value in wanted.items() if value is not None]
        self.where = ""
        self.values: dict[str, Any] = {}
        self.last = sys.maxsize
        self._known: dict[int, bool] = {}
        if filters.since is not None or filters.until is not None:
            self.where += _IN_TIME
            until = filters.until or datetime.max.replace(tzinfo=UTC)
            self.values = {"since": filters.since or EPOCH, "until": until}
            if filters.until is not None:
                self.last = prepared(_LAST_BEFORE).scalar(connection, until=until, most=LATEST) or 0
        if filters.person is not None:
            nodes = ", ".join(map(str, graph.find(connection, filters.person)))
            self.where += _NAMED.format(nodes=nodes)
            last = prepared(_LAST_NAMED.format(nodes=nodes)).scalar(connection) or 0
            self.last = min(last, self.last)

    def __bool__(self) -> bool:
        return bool(self.tags or self.where)

    def first(self, rows: Iterable[int], most: int) -> list[int]:
        """Return the first of some memories that are let through, in their order; no more are looked up than needed."""
        if not self:
            return list(islice(rows, most))
        found: list[int] = []
        left = iter(rows)
        while len(found) < most and (some := list(islice(left, AT_ONCE))):
            self._look_up([row for row in some if row not in self._known])
            found += [row for row in some if self._known[row]]
        return found[:most]

    def _look_up(self, rows: list[int]) -> None:
        self._known |= dict.fromkeys(rows, False)
        query = prepared(_LOOKED_UP.format(where=self.where.format(row="t.seq")))
        for row, *has in query.all(self._connection, rows=json.dumps(rows), **self.values) if rows else ():
            self._known[row] = all(
                value is None or (own is not None and own.casefold() == value)
                for own, value in zip(has, self._wanted, strict=True)
            )


@lru_cache(maxsize=64)
def prepared(query: str) -> Prepared:
    """Return a statement for a query that was put together of parts, compiled once."""
    times = [bindparam(name, type_=models.Instant) for name in ("since", "until") if f":{name}" in query]
    return Prepared(text(query).bindparams(*times))
