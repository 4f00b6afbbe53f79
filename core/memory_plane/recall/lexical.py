"""The memories that hold the words of a query: any punctuation, any script, never an error, and a bounded price.

BM25 costs about a microsecond for each matching row, so a word that stands everywhere would cost more with every
memory. Here only rare words decide what is scored; common ones add to the score of what rare ones found. A query of
common words alone is answered from the newest memories that hold them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache, cached_property, lru_cache
from heapq import nsmallest
from itertools import islice
from math import fsum, log
from typing import Any
from unicodedata import normalize

from sqlalchemy import Connection, bindparam, func, select, text

from memory_plane import models
from memory_plane.prepared import Prepared
from memory_plane.recall import graph
from memory_plane.recall.stopwords import STOP_WORDS
from memory_plane.store import index
from memory_plane.types import EPOCH

COMMON = 1_000
"""A word with more matching memories than this is common: it cannot choose what is scored, nor can words together."""
NEWEST = 200
"""Of what has a common word so many of the newest are looked at, also to tell how common it is."""
RAREST = 3
"""Of so many common words the newest are looked at where no rare word decides."""
TELLING, BESIDE = 2.0, 3
"""So much a common word must weigh, and so many may be looked for beside rare ones."""
MAX_TERMS = 64

SCANNED = 5_000
"""How many of the newest memories are read through for what no index holds: signs, emoji, parts of words."""

_log = models.operations
WORD = re.compile(r"[^\W_]+")
_POSSESSIVE = re.compile(r"(?<=\w)['’]s\b", re.IGNORECASE)
_ASCII_TERM = re.compile(r"\w(?:\S*\w)?")
_COUNT = "SELECT count(*) FROM (SELECT 1 FROM memory_fts WHERE memory_fts MATCH :query{where} LIMIT :most)"
_MATCHING = "SELECT rowid FROM memory_fts WHERE memory_fts MATCH :query{where} ORDER BY rowid DESC LIMIT :most"
_IN_TIME = (
    " AND EXISTS (SELECT 1 FROM operations WHERE seq = memory_fts.rowid"
    " AND coalesce(effective_at, created_at) >= :since AND coalesce(effective_at, created_at) < :until)"
)
_NAMED = " AND EXISTS (SELECT 1 FROM mentions WHERE seq = memory_fts.rowid AND node IN ({nodes}))"
_SCORED = Prepared(
    text("SELECT rowid, bm25(memory_fts) FROM memory_fts WHERE memory_fts MATCH :query").bindparams(bindparam("query"))
)
_OLDEST = Prepared(
    text(
        "SELECT rowid FROM memory_fts WHERE memory_fts MATCH :query ORDER BY rowid DESC LIMIT 1 OFFSET :most"
    ).bindparams(bindparam("query"), bindparam("most"))
)
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
        self._counts: dict[tuple[str, str], int] = {}
        self._abouts: dict[str, int] = {}
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
        return {word: self._about(f'"{word}"') for word in words}, self._total

    def allowed(self, rows: Iterable[int]) -> set[int]:
        """Return those of some memories, which may be seen, that the filters let through."""
        return {row for row in rows if not self._filtered or self._shows(row)}

    @property
    def _filtered(self) -> bool:
        return bool(self._tags or self._where)

    def _shows(self, row: int) -> bool:
        matching = "memory_fts MATCH :query AND " if self._tags else ""
        statement = _prepared(f"SELECT rowid FROM memory_fts WHERE {matching}rowid = :row{{where}}", self._where)
        match = {"query": " AND ".join(self._tags)} if self._tags else {}
        return statement.first(self._connection, row=row, **self._values, **match) is not None

    @cached_property
    def _total(self) -> int:
        """About how many memories there are."""
        return int(_LAST.scalar(self._connection) or 0)

    def _about(self, phrase: str) -> int:
        match = f"({phrase})"
        count = self._counted(match, "")
        if count <= COMMON:
            return count
        if match not in self._abouts:
            oldest = int(_OLDEST.scalar(self._connection, query=match, most=NEWEST) or 0)
            self._abouts[match] = max(count, NEWEST * self._total // max(self._total - oldest, 1))
        return self._abouts[match]

    def _ranked(self, terms: Sequence[str], most: int) -> list[tuple[int, float]]:
        phrases = ['"{}"'.format(index.spaced(term).replace('"', " ").strip()) for term in terms]
        if not phrases:
            return []
        rare = self._choosing(phrases)
        if all(one in rare for one in phrases if self._count(one)):
            return _best(self._scored(rare), most) if rare else []
        scores = self._scored(rare) if rare else {}
        for row, weight in self._beside(rare, phrases).items() if rare else ():
            scores[row] += weight
        newest = self._newest(phrases) if len(scores) < most else {}
        rest = {row: weight for row, weight in newest.items() if row not in scores}
        return [*_best(scores, most), *_best(rest, most)][:most]

    def _scored(self, rare: Sequence[str]) -> dict[int, float]:
        """Return what the memories with any of these phrases score, by row: by BM25, where few have them.

        BM25 would count everything that has a phrase, at every question, and a filter is one.
        """
        either = " OR ".join(rare)
        if self._filtered and self._counted(f"({either})", "") > COMMON:
            return self._together([(phrase, [phrase]) for phrase in rare])
        scores = {row: -score for row, score in _SCORED.all(self._connection, query=either)}
        if not self._filtered:
            return scores
        return {row: scores[row] for row in self._matching(either)}

    def _beside(self, rare: Sequence[str], phrases: Sequence[str]) -> dict[int, float]:
        """Return what telling common words weigh that stand beside rare ones, by row."""
        common = [one for one in self._by_count(phrases) if one not in rare and self._weight(one) >= TELLING]
        either = " OR ".join(rare)
        return self._together([(f"({either}) AND {one}", [one]) for one in common[:BESIDE]])

    def _newest(self, phrases: Sequence[str]) -> dict[int, float]:
        """Return what the newest matches weigh, by row: of all phrases, of the two rarest, of each of the rarest."""
        rarest = self._by_count(phrases)
        groups = dict.fromkeys([tuple(phrases), tuple(rarest[:2]), *((phrase,) for phrase in rarest[:RAREST])])
        return self._together([(" AND ".join(group), group) for group in groups if group], NEWEST)

    def _together(self, groups: Iterable[tuple[str, Iterable[str]]], most: int = COMMON) -> dict[int, float]:
        """Return what the phrases weigh that rows have, by row: of each group what matches, and what it then has."""
        has: dict[int, set[str]] = {}
        for match, phrases in groups:
            for row in self._matching(match, most):
                has.setdefault(row, set()).update(phrases)
        weights = {phrase: self._weight(phrase) for phrase in set().union(*has.values())}
        return {row: fsum([weights[phrase] for phrase in found]) for row, found in has.items()}

    def _weight(self, phrase: str) -> float:
        count = self._about(phrase)
        return log(1 + (max(self._total - count, 0) + 0.5) / (count + 0.5))

    def _matching(self, match: str, most: int = COMMON) -> list[int]:
        """Return the newest matches."""
        query = self._within(match)
        rows = _prepared(_MATCHING, self._where).all(self._connection, query=query, most=most, **self._values)
        return [row for (row,) in rows]

    def _choosing(self, phrases: Sequence[str]) -> list[str]:
        """Return the rarest phrases, as many as together match no more than a word that is not common may."""
        chosen, left = [], COMMON
        for phrase in self._by_count(phrases):
            left -= self._count(phrase)
            if left < 0:
                break
            chosen.append(phrase)
        return chosen

    def _by_count(self, phrases: Sequence[str]) -> list[str]:
        """Return the phrases that anything matches, the rarest first."""
        return sorted(filter(self._count, phrases), key=lambda phrase: (self._count(phrase), self._about(phrase)))

    def _count(self, match: str) -> int:
        """Count matches; where few match at all, it is not looked which of them a filter lets through."""
        found = self._counted(f"({match})", "")
        return found if found <= COMMON or not self._filtered else self._counted(self._within(match), self._where)

    def _counted(self, match: str, where: str) -> int:
        """Count matching memories, but no further than needed to call them many."""
        if (match, where) not in self._counts:
            values = self._values if where else {}
            found = _prepared(_COUNT, where).scalar(self._connection, query=match, most=COMMON + 1, **values)
            self._counts[match, where] = int(found)
        return self._counts[match, where]

    def _within(self, match: str) -> str:
        return " AND ".join([f"({match})", *self._tags])

    def _scanned(self, words: str, most: int) -> list[tuple[int, float]]:
        """Read the newest memories through for what is no word: signs, emoji, parts of words."""
        if not words:
            return []
        found = _SCAN.all(self._connection, words=words, scanned=SCANNED)
        shown = (row for (row,) in found if self._shows(row))
        return [(row, 0.0) for row in islice(shown, most)]


def _best(scores: Mapping[int, float], most: int) -> list[tuple[int, float]]:
    return nsmallest(most, scores.items(), key=lambda one: (-one[1], -one[0]))


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
