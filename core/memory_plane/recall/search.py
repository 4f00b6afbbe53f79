"""Full-text recall: any punctuation, any script, never an error for a query, and a bounded price.

BM25 costs about a microsecond for each matching row, so a word that stands everywhere would cost more with every
memory. Here only rare words decide what is scored; common ones add to the score of what rare ones found. A query of
common words alone is answered from the newest memories that hold them.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache, lru_cache
from itertools import islice
from typing import Any
from unicodedata import normalize

from sqlalchemy import Connection, bindparam, func, select, text

from memory_plane import models
from memory_plane.errors import Refused
from memory_plane.operations import memory_of
from memory_plane.prepared import Prepared
from memory_plane.recall import graph
from memory_plane.recall.stopwords import STOP_WORDS
from memory_plane.store import index, log
from memory_plane.types import EPOCH, Hit, Operation, Recall

COMMON = 2_000
"""A word with more matching memories than this is common: it cannot choose what is scored."""
MAX_TERMS = 64
MAX_RESULTS = 200
SNIPPET = 240

SCANNED = 5_000
"""How many of the newest memories are read through for what no index holds: signs, emoji, parts of words."""

_log = models.operations
_WORD = re.compile(r"[^\W_]+")
_ASCII_TERM = re.compile(r"\w(?:\S*\w)?")
_COUNT = "SELECT count(*) FROM (SELECT 1 FROM memory_fts WHERE memory_fts MATCH :query{where} LIMIT :most)"
_OLDEST = "SELECT rowid FROM memory_fts WHERE memory_fts MATCH :query{where} ORDER BY rowid DESC LIMIT 1 OFFSET :most"
_RANKED = (
    "SELECT rowid, bm25(memory_fts) AS score FROM memory_fts WHERE memory_fts MATCH :query{where}"
    " AND rowid >= :oldest ORDER BY score, rowid DESC LIMIT :most"
)
_IN_TIME = (
    " AND EXISTS (SELECT 1 FROM operations WHERE seq = memory_fts.rowid"
    " AND coalesce(effective_at, created_at) >= :since AND coalesce(effective_at, created_at) < :until)"
)
_NAMED = " AND EXISTS (SELECT 1 FROM mentions WHERE seq = memory_fts.rowid AND node IN ({nodes}))"
_newest = select(_log.c.seq, _log.c.text).order_by(_log.c.seq.desc()).limit(bindparam("scanned")).subquery()
_SCAN = Prepared(
    select(_newest.c.seq).where(func.instr(_newest.c.text, bindparam("words")) > 0).order_by(_newest.c.seq.desc())
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Filters:
    """What hits are restricted to; `since` and `until` bound the time of the memory."""

    agent: str | None = None
    kind: str | None = None
    project: str | None = None
    person: str | None = None
    since: datetime | None = None
    until: datetime | None = None


def search(
    connection: Connection, query: str, filters: Filters, *, limit: int = 8, cursor: str | None = None
) -> Recall:
    """Return the best hits for a query in anybody's words.

    Raise `Refused` only for a cursor that is not ours; no query is an error.
    """
    query = query.encode(errors="replace").decode().replace("\x00", "\N{REPLACEMENT CHARACTER}")
    offset = _read_cursor(cursor)
    most = min(offset + limit + 1, MAX_RESULTS)
    ranked = _Search(connection, filters).best(query, most)
    hits = _hits(connection, ranked[offset : offset + limit], query)
    more = bool(hits) and len(ranked) > offset + limit
    return Recall(hits=hits, cursor=_write_cursor(offset + limit) if more else None)


@cache
def _term() -> re.Pattern[str]:
    """Return the pattern of a term in any script; it takes too long to compile to do so at every start."""
    apart = index.UNSPACED
    return re.compile(rf"[{apart}]+|[^\W{apart}](?:[^\s{apart}]*[^\W{apart}])?")


class _Search:
    """The steps of one search, which share its filters."""

    def __init__(self, connection: Connection, filters: Filters) -> None:
        self._connection = connection
        self._tags = [
            index.tag(name, value)
            for name, value in (("agent", filters.agent), ("kind", filters.kind), ("project", filters.project))
            if value is not None
        ]
        self._where = ""
        self._values: dict[str, Any] = {}
        if filters.since is not None or filters.until is not None:
            self._where += _IN_TIME
            self._values |= {
                "since": filters.since or EPOCH,
                "until": filters.until or datetime.max.replace(tzinfo=UTC),
            }
        if filters.person is not None:
            nodes = graph.find(connection, filters.person)
            self._where += _NAMED.format(nodes=", ".join(map(str, nodes)))

    def best(self, query: str, most: int) -> list[tuple[int, float]]:
        """Return (row, score) of the best matches: by phrases, else by single words, else by reading the newest."""
        query = normalize("NFKC", query)  # as the index has it
        terms = _telling((_ASCII_TERM if query.isascii() else _term()).findall(query))
        found = self._ranked(terms, most)
        if not found:
            words = _telling(_WORD.findall(query))
            found = self._ranked(words, most) if words != terms else []
        return found or self._scanned(query.strip(), most)

    def _ranked(self, terms: Sequence[str], most: int) -> list[tuple[int, float]]:
        phrases = ['"{}"'.format(index.spaced(term).replace('"', " ").strip()) for term in terms]
        if not phrases:
            return []
        anything = " OR ".join(phrases)
        if self._count(anything) <= COMMON:
            return self._score(anything, most)
        rare = [phrase for phrase in phrases if 0 < self._count(phrase) <= COMMON]
        found = self._score(f"({' OR '.join(rare)}) AND ({anything})", most) if rare else []
        for wider in (" AND ".join(phrases), anything):
            if len(found) < most:
                known = {row for row, _ in found}
                newest = self._score(wider, most, self._oldest(wider))
                found += [(row, score) for row, score in newest if row not in known]
        return found[:most]

    def _count(self, match: str) -> int:
        """Count matching memories, but no further than needed to call them many."""
        return int(self._run(_COUNT, match, most=COMMON + 1)[0][0])

    def _oldest(self, match: str) -> int:
        """Return the row from which on only the newest matches lie."""
        rows = self._run(_OLDEST, match, most=COMMON)
        return int(rows[0][0]) if rows else 0

    def _score(self, match: str, most: int, oldest: int = 0) -> list[tuple[int, float]]:
        return [(row, -score) for row, score in self._run(_RANKED, match, most=most, oldest=oldest)]

    def _run(self, query: str, match: str, **values: int) -> list[Any]:
        match = " AND ".join([f"({match})", *self._tags])
        return _prepared(query, self._where).all(self._connection, query=match, **values, **self._values)

    def _scanned(self, words: str, most: int) -> list[tuple[int, float]]:
        """Read the newest memories through for what is no word: signs, emoji, parts of words."""
        if not words:
            return []
        found = _SCAN.all(self._connection, words=words, scanned=SCANNED)
        matching = "memory_fts MATCH :query AND " if self._tags else ""
        narrowed = f"SELECT rowid FROM memory_fts WHERE {matching}rowid = :row{{where}}"
        values = {**self._values, **({"query": " AND ".join(self._tags)} if self._tags else {})}
        shown = _prepared(narrowed, self._where)
        rows = (row for (row,) in found if shown.first(self._connection, row=row, **values))
        return [(row, 0.0) for row in islice(rows, most)]


@lru_cache(maxsize=64)
def _prepared(query: str, where: str) -> Prepared:
    statement = text(query.format(where=where))
    if ":since" in where:
        statement = statement.bindparams(
            bindparam("since", type_=models.Instant), bindparam("until", type_=models.Instant)
        )
    return Prepared(statement)


def _telling(words: Sequence[str]) -> list[str]:
    """Return the words that say something, or all of them where none does."""
    different = list(dict.fromkeys(words))[: 4 * MAX_TERMS]
    return ([word for word in different if word.casefold() not in STOP_WORDS] or different)[:MAX_TERMS]


def _hits(connection: Connection, ranked: Sequence[tuple[int, float]], query: str) -> tuple[Hit, ...]:
    return tuple(_hit(log.at(connection, row), score, query) for row, score in ranked)


def _hit(operation: Operation, score: float, query: str) -> Hit:
    memory = memory_of(operation)
    assert memory is not None
    source = ", ".join(filter(None, (memory.origin, memory.project, operation.body.get("source"))))
    return Hit(
        id=memory.id,
        agent=memory.agent,
        kind=memory.kind,
        created_at=memory.created_at,
        source=source,
        snippet=_snippet(memory.text, query),
        score=round(score, 4),
    )


def _snippet(words: str, query: str) -> str:
    """Cut a long text down to where the first of the query's words stands in it."""
    if len(words) <= SNIPPET:
        return words
    places = [words.casefold().find(term.casefold()) for term in _telling(_WORD.findall(query)) or [query]]
    first = min((place for place in places if place >= 0), default=0)
    start = max(0, min(first - SNIPPET // 3, len(words) - SNIPPET))
    end = start + SNIPPET
    return f"{'…' if start else ''}{words[start:end].strip()}{'…' if end < len(words) else ''}"


def _write_cursor(offset: int) -> str:
    return f"r{offset}"


def _read_cursor(cursor: str | None) -> int:
    if not cursor:
        return 0
    if not re.fullmatch(r"r[0-9]{1,4}", cursor):
        raise Refused(f"cursor: {cursor!r} is not one that recall gave out")
    return int(cursor[1:])
