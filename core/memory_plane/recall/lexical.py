"""The memories that hold the words of a query: any punctuation, any script, never an error, and a bounded price.

BM25 costs about a microsecond for each matching row, so a word that stands everywhere would cost more with every
memory. Here only rare words decide what is scored; common ones add to the score of what rare ones found. A query of
common words alone is answered from the newest memories that hold them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache, lru_cache
from itertools import islice
from typing import Any
from unicodedata import normalize

from sqlalchemy import Connection, bindparam, func, select, text

from memory_plane import models
from memory_plane.prepared import Prepared
from memory_plane.recall import graph
from memory_plane.recall.stopwords import STOP_WORDS
from memory_plane.store import index
from memory_plane.types import EPOCH

COMMON = 2_000
"""A word with more matching memories than this is common: it cannot choose what is scored."""
MAX_TERMS = 64

SCANNED = 5_000
"""How many of the newest memories are read through for what no index holds: signs, emoji, parts of words."""

_log = models.operations
WORD = re.compile(r"[^\W_]+")
_POSSESSIVE = re.compile(r"(?<=\w)['’]s\b", re.IGNORECASE)
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
_PLAIN_COUNT = Prepared(text(_COUNT.format(where="")))
_PLAIN_OLDEST = Prepared(text(_OLDEST.format(where="")))
_LAST = Prepared(text("SELECT max(seq) FROM operations"))
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


@cache
def _term() -> re.Pattern[str]:
    """Return the pattern of a term in any script; it takes too long to compile to do so at every start."""
    apart = index.UNSPACED
    return re.compile(rf"[{apart}]+|[^\W{apart}](?:[^\s{apart}]*[^\W{apart}])?")


class Words:
    """The steps of one search by words, which share its filters."""

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
        query = bare(normalize("NFKC", query))  # as the index has it
        terms = telling((_ASCII_TERM if query.isascii() else _term()).findall(query))
        found = self._ranked(terms, most)
        if not found:
            words = telling(WORD.findall(query))
            found = self._ranked(words, most) if words != terms else []
        return found or self._scanned(query.strip(), most)

    def counts(self, words: Iterable[str]) -> tuple[dict[str, int], int]:
        """Return in about how many memories each word stands, and about how many there are.

        Of a common word the newest are counted, and taken for as many as they would be if it were as common before.
        """
        last = _LAST.scalar(self._connection) or 0
        return {word: self._about(word, last) for word in words}, last

    def allowed(self, rows: Iterable[int]) -> set[int]:
        """Return those of some memories, which may be seen, that the filters let through."""
        return {row for row in rows if not (self._tags or self._where) or self._shows(row)}

    def _shows(self, row: int) -> bool:
        matching = "memory_fts MATCH :query AND " if self._tags else ""
        statement = _prepared(f"SELECT rowid FROM memory_fts WHERE {matching}rowid = :row{{where}}", self._where)
        match = {"query": " AND ".join(self._tags)} if self._tags else {}
        return statement.first(self._connection, row=row, **self._values, **match) is not None

    def _about(self, word: str, last: int) -> int:
        match = f'"{word}"'
        count = int(_PLAIN_COUNT.scalar(self._connection, query=match, most=COMMON + 1))
        if count <= COMMON:
            return count
        oldest = int(_PLAIN_OLDEST.scalar(self._connection, query=match, most=COMMON) or 0)
        return max(count, COMMON * last // max(last - oldest, 1))

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
        shown = (row for (row,) in found if self._shows(row))
        return [(row, 0.0) for row in islice(shown, most)]


@lru_cache(maxsize=64)
def _prepared(query: str, where: str) -> Prepared:
    statement = text(query.format(where=where))
    if ":since" in where:
        statement = statement.bindparams(
            bindparam("since", type_=models.Instant), bindparam("until", type_=models.Instant)
        )
    return Prepared(statement)


def bare(query: str) -> str:
    """Return a query without the endings of possessives: who asks for Ann's car looks for Ann."""
    return _POSSESSIVE.sub("", query)


def telling(words: Sequence[str]) -> list[str]:
    """Return the words that say something, or all of them where none does."""
    different = list(dict.fromkeys(words))[: 4 * MAX_TERMS]
    return ([word for word in different if word.casefold() not in STOP_WORDS] or different)[:MAX_TERMS]
