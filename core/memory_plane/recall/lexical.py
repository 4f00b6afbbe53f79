"""The memories that hold the words of a query: any punctuation, any script, never an error, and a bounded price.

BM25 costs about a microsecond for each matching row, so a word that stands everywhere would cost more with every
memory. Here only rare words decide what is scored; common ones add to the score of what rare ones found. A query of
common words alone is answered from the newest memories that hold them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache, cached_property
from itertools import combinations
from math import fsum, log
from unicodedata import normalize

from sqlalchemy import Connection, bindparam, exists, func, or_, select, text

from memory_plane import models
from memory_plane.prepared import Prepared
from memory_plane.recall.filters import Filters, Sieve, prepared
from memory_plane.recall.stopwords import STOP_WORDS
from memory_plane.store import index

COMMON = 500
"""A word with more matching memories than this is common: it cannot choose what is scored, nor can words together."""
NEWEST = 200
"""Of what has a common word so many of the newest are looked at."""
RAREST = 3
"""Of so many common words the newest are looked at where no rare word decides."""
ENOUGH = 100
"""So many of these that a filter lets through are enough."""
LOOKED_UP = 2_000
"""Of what has a common word so many of the newest are looked up where a filter has no word in the index."""
TELLING, BESIDE = 2.0, 3
"""So much a common word must weigh, and so many may be looked for beside rare ones."""
MAX_TERMS = 64

SCANNED = 5_000
"""How many of the newest memories are read through for what no index holds: signs, emoji, parts of words."""

_log = models.operations
WORD = re.compile(r"[^\W_]+")
_POSSESSIVE = re.compile(r"(?<=\w)['’]s\b", re.IGNORECASE)
_ASCII_TERM = re.compile(r"\w(?:\S*\w)?")
_COUNT, _MATCHING = (
    Prepared(text(query).bindparams(bindparam("query"), bindparam("most")))
    for query in (
        "SELECT count(*), min(rowid)"
        " FROM (SELECT rowid FROM memory_fts WHERE memory_fts MATCH :query ORDER BY rowid DESC LIMIT :most)",
        "SELECT rowid FROM memory_fts WHERE memory_fts MATCH :query ORDER BY rowid DESC LIMIT :most",
    )
)
_PASSING = (
    "SELECT rowid FROM (SELECT rowid FROM memory_fts WHERE memory_fts MATCH :query AND rowid <= :last"
    " ORDER BY rowid DESC LIMIT :looked) AS passing WHERE true{where} LIMIT :most"
)
_SCORED = Prepared(
    text("SELECT rowid, bm25(memory_fts) FROM memory_fts WHERE memory_fts MATCH :query").bindparams(bindparam("query"))
)
_LAST = Prepared(text("SELECT max(seq) FROM operations"))
_newest = select(_log.c.seq, _log.c.text).order_by(_log.c.seq.desc()).limit(bindparam("scanned")).subquery()
_shown = or_(
    exists().where(models.thoughts.c.seq == _newest.c.seq, models.thoughts.c.visible),
    exists().where(models.facts.c.seq == _newest.c.seq, models.facts.c.indexed),
)
_SCAN = Prepared(
    select(_newest.c.seq)
    .where(func.instr(_newest.c.text, bindparam("words")) > 0, _shown)
    .order_by(_newest.c.seq.desc())
)


@cache
def _term() -> re.Pattern[str]:
    """Return the pattern of a term in any script; it takes too long to compile to do so at every start."""
    apart = index.UNSPACED
    return re.compile(rf"[{apart}]+|[^\W{apart}](?:[^\s{apart}]*[^\W{apart}])?")


class Words:
    """The steps of one search by words, which share its filters."""

    def __init__(self, connection: Connection, filters: Filters) -> None:
        self._connection = connection
        self.sieve = Sieve(connection, filters)
        self._counts: dict[str, tuple[int, int]] = {}

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

    @cached_property
    def _total(self) -> int:
        """About how many memories there are."""
        return int(_LAST.scalar(self._connection) or 0)

    def _about(self, phrase: str) -> int:
        count, oldest = self._counted(phrase)
        return count if count <= COMMON else max(count, count * self._total // max(self._total - oldest, 1))

    def _ranked(self, terms: Sequence[str], most: int) -> list[tuple[int, float]]:
        phrases = ['"{}"'.format(index.spaced(term).replace('"', " ").strip()) for term in terms]
        rare = self._choosing(phrases)
        scores = self._scored(rare) if rare else {}
        if all(one in rare for one in phrases if self._count(one)):
            return self._best(scores, most)
        for row, weight in self._beside(rare, phrases).items() if rare else ():
            scores[row] += weight
        found = self._best(scores, most)
        newest = self._newest(phrases) if len(found) < most else {}
        rest = {row: weight for row, weight in newest.items() if row not in scores}
        return [*found, *self._best(rest, most)][:most]

    def _best(self, scores: Mapping[int, float], most: int) -> list[tuple[int, float]]:
        """Return the best that the filters let through."""
        best = sorted(scores, key=lambda row: (-scores[row], -row))
        return [(row, scores[row]) for row in self.sieve.first(best, most)]

    def _scored(self, rare: Sequence[str]) -> dict[int, float]:
        """Return what the memories with any of these phrases score, by row: by BM25, which counts all of them."""
        return {row: -score for row, score in _SCORED.all(self._connection, query=" OR ".join(rare))}

    def _beside(self, rare: Sequence[str], phrases: Sequence[str]) -> dict[int, float]:
        """Return what telling common words weigh that stand beside rare ones, by row."""
        common = [one for one in self._by_count(phrases) if one not in rare and self._weight(one) >= TELLING]
        either = " OR ".join(rare)
        return self._together([(f"({either}) AND {one}", [one]) for one in common[:BESIDE]], self._matching)

    def _newest(self, phrases: Sequence[str]) -> dict[int, float]:
        """Return what the newest matches weigh, by row: of each two of the rarest phrases, and of each of them.

        All phrases together would be looked for through all that has the rarest of them.
        """
        rarest = self._by_count(phrases)[:RAREST]
        groups = [*combinations(rarest, 2), *((phrase,) for phrase in rarest)]
        return self._together([(" AND ".join(group), group) for group in groups], self._let_through)

    def _together(
        self, groups: Iterable[tuple[str, Iterable[str]]], matching: Callable[[str], Iterable[int]]
    ) -> dict[int, float]:
        """Return what the phrases weigh that rows have, by row: of each group what matches, and what it then has."""
        has: dict[int, set[str]] = {}
        for match, phrases in groups:
            for row in matching(match):
                has.setdefault(row, set()).update(phrases)
        weights = {phrase: self._weight(phrase) for phrase in set().union(*has.values())}
        return {row: fsum([weights[phrase] for phrase in found]) for row, found in has.items()}

    def _weight(self, phrase: str) -> float:
        count = self._about(phrase)
        return log(1 + (max(self._total - count, 0) + 0.5) / (count + 0.5))

    def _matching(self, match: str, most: int = COMMON) -> list[int]:
        """Return the newest matches, whatever the filters."""
        return [row for (row,) in _MATCHING.all(self._connection, query=match, most=most)]

    def _let_through(self, match: str) -> list[int]:
        """Return the newest matches that the filters let through.

        Of few matches each is looked up; of many, the index finds those of an agent, a kind or a project, which would
        take it longer than a look at few.
        """
        if not self.sieve:
            return self._matching(match, NEWEST)
        if self._counts.get(match, (0, 0))[0] < NEWEST and len(found := self._matching(match, NEWEST)) < NEWEST:
            return self.sieve.first(found, ENOUGH)
        query = " AND ".join([f"({match})", *self.sieve.tags])
        statement = prepared(_PASSING.format(where=self.sieve.where.format(row="passing.rowid")))
        bounds = {"last": self.sieve.last, "looked": LOOKED_UP, "most": ENOUGH}
        return [row for (row,) in statement.all(self._connection, query=query, **bounds, **self.sieve.values)]

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
        """Count matching memories, whatever the filters, but no further than needed to call them many."""
        return self._counted(match)[0]

    def _counted(self, match: str) -> tuple[int, int]:
        """Return how many of the newest match, and the oldest of these."""
        if match not in self._counts:
            ((count, oldest),) = _COUNT.all(self._connection, query=match, most=COMMON + 1)
            self._counts[match] = count, oldest or 0
        return self._counts[match]

    def _scanned(self, words: str, most: int) -> list[tuple[int, float]]:
        """Read the newest memories through for what is no word: signs, emoji, parts of words."""
        if not words:
            return []
        found = _SCAN.all(self._connection, words=words, scanned=SCANNED)
        return [(row, 0.0) for row in self.sieve.first((row for (row,) in found), most)]


def bare(query: str) -> str:
    """Return a query without the endings of possessives: who asks for Ann's car looks for Ann."""
    return _POSSESSIVE.sub("", query)


def telling(words: Sequence[str]) -> list[str]:
    """Return the words that say something, or all of them where none does."""
    different = list(dict.fromkeys(words))[: 4 * MAX_TERMS]
    return ([word for word in different if word.casefold() not in STOP_WORDS] or different)[:MAX_TERMS]
