"""Recall: the best answers of the whole memory to a question in anybody's words, for a bounded price.

Words and meaning each propose a few memories; of the best of those, what stands beside them in their conversations and
what is linked with them is read too, and one score is made of all that speaks for each. docs/recall.md tells it step by
step.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from sqlalchemy import Connection

from memory_plane.errors import Refused
from memory_plane.operations import memory_of
from memory_plane.recall import evidence, fusion, links, meaning, threads
from memory_plane.recall.evidence import Evidence, Question
from memory_plane.recall.filters import Filters, Sieve
from memory_plane.recall.fusion import Part
from memory_plane.recall.lexical import WORD, Words, bare, telling
from memory_plane.recall.threads import Around
from memory_plane.settings import RecallSettings
from memory_plane.store import log, vectors
from memory_plane.types import Beside, Expansion, Hit, Operation, Recall, Vectors

__all__ = ["Filters", "search"]

MAX_RESULTS = 200
SNIPPET = 240
BY_WORDS, BY_MEANING = 30, 20
"""How many memories each way of looking proposes; more of them find nothing that these do not."""
FILTERED = 5
"""Of so many times as much that is near those are proposed that a filter lets through."""
LEADING, LENDING = 10, 5
"""Of how many of these is read what stands beside them, and how many are asked what they are linked with."""
FAR = 0.4
"""What has no word of the question must have such a share of the best score."""
SIGNS_A_TOKEN = 4
"""About so many characters are one token of a language model."""


@dataclass(frozen=True, slots=True)
class _Found:
    """Memories in rank order with what each got, and all that was read for it."""

    ranked: list[tuple[int, float]]
    parts: dict[int, Part]
    around: dict[int, Around]


def search(
    connection: Connection,
    query: str,
    filters: Filters,
    *,
    now: datetime,
    limit: int = 8,
    cursor: str | None = None,
    weights: RecallSettings | None = None,
    vector: Vectors | None = None,
    expansion: Expansion | None = None,
    explain: bool = False,
    tokens: int | None = None,
) -> Recall:
    """Return the best hits for a query in anybody's words, asked at `now`.

    `vector` is what it means, in one row; `expansion` which words mean nearly what the `asked` words of it do.

    With `tokens`, hits come with what was said before and after them, the best first, as far as that many go.
    Raise `Refused` only for a cursor that is not ours; no query is an error.
    """
    offset = _read_cursor(cursor)
    most = min(offset + limit + 1, MAX_RESULTS)
    words = Words(connection, filters)
    question = _question(words, query, vector, expansion, now)
    found = _find(connection, query, words, question, most, weights or RecallSettings())
    shown = found.ranked[offset : offset + limit]
    hits = [_hit(log.at(connection, row), score, query) for row, score in shown]
    if explain:
        hits = [
            replace(hit, why=_told(found.parts.get(row, Part()))) for hit, (row, _) in zip(hits, shown, strict=True)
        ]
    if tokens is not None:
        hits = list(_with_neighbours(connection, hits, [row for row, _ in shown], found.around, tokens))
    more = bool(hits) and len(found.ranked) > offset + limit
    return Recall(hits=tuple(hits), cursor=_write_cursor(offset + limit) if more else None)


def _find(
    connection: Connection, query: str, words: Words, question: Question, most: int, weights: RecallSettings
) -> _Found:
    by_words = words.best(query, max(most, BY_WORDS))
    ranked = dict(by_words[:BY_WORDS])
    near = _near(connection, words.sieve, question) if question.vector else []
    read = evidence.read(connection, question, dict.fromkeys([*ranked, *near]), ranked)
    leading = _leading(fusion.fuse(read, {}, {}, weights))
    around = threads.around(connection, leading)
    lent = links.lent(connection, dict(list(leading.items())[:LENDING]), query) if weights.linked else {}
    rest = dict.fromkeys([row for rows in around.values() for row in rows if row is not None] + list(lent))
    read |= evidence.read(connection, question, [row for row in rest if row not in read], {})
    parts = fusion.fuse(read, around, lent, weights)
    fits = {row for row in read if row in ranked or row in lent or _speaks(read[row], weights)}
    fits &= ranked.keys() | set(words.sieve.first(fits - ranked.keys(), len(fits)))
    if not fits or _relevance(fits, ranked, read, question) < weights.floor:
        return _Found([], {}, {})
    least = FAR * max(parts[row].total for row in fits)
    near_links = {row for row, most in lent.items() if most >= FAR * max(leading.values(), default=0.0)}
    fits = {row for row in fits if row in ranked or row in near_links or read[row].speaks or parts[row].total >= least}
    best = sorted(fits, key=lambda row: (-parts[row].total, -row))
    others = [(row, 0.0) for row, _ in by_words if row not in fits]
    return _Found([*((row, parts[row].total) for row in best), *others][:most], parts, around)


def _near(connection: Connection, sieve: Sieve, question: Question) -> list[int]:
    """Return what means nearly the same, of what the filters let through."""
    most = FILTERED * BY_MEANING if sieve else BY_MEANING
    return sieve.first(meaning.nearest(connection, question.model, question.vector, most), BY_MEANING)


def asked(query: str) -> list[str]:
    """Return the words of a query that say what is looked for, as they are compared."""
    said = evidence.split(bare(query))
    return telling([word for word in said if len(word) > 1 or not word.isascii()]) or telling(said)


def _question(words: Words, query: str, vector: Vectors | None, expansion: Expansion | None, now: datetime) -> Question:
    """Return what is asked: the telling words, weighed by how many memories have them, and the meaning."""
    told = asked(query)
    meant = (vector.model, vectors.unit(vector.rows[0])) if vector is not None else ()
    alike = evidence.alike(told, expansion.alike if expansion is not None else {})
    terms = evidence.telling(told, *words.counts(told))
    return Question(terms, alike, frozenset(evidence.split(bare(query))), now, *meant)


def _leading(parts: dict[int, Part]) -> dict[int, float]:
    """Return the best of what was proposed, the best first, with what each scores so far: 1 the best."""
    best = sorted(parts, key=lambda row: (-parts[row].total, -row))[:LEADING]
    return {row: parts[row].total for row in best}


def _speaks(one: Evidence, weights: RecallSettings) -> bool:
    return one.speaks or one.meaning >= weights.least_meaning


def _relevance(rows: set[int], ranked: dict[int, float], read: dict[int, Evidence], question: Question) -> float:
    """Return how well some memories fit: half the best share of the question, by its words, and half the best likeness.

    1 where there is nothing to tell it by: no vectors, or words that stand where nothing was read.
    """
    if not question.vector or any(row not in read or not read[row].terms for row in rows & ranked.keys()):
        return 1.0
    whole = sum(question.terms.values()) or 1.0
    share = max(sum(read[row].terms.values()) for row in rows) / whole
    return (share + max(read[row].meaning for row in rows)) / 2


def _told(part: Part) -> dict[str, float]:
    return {name: shown for name, value in part._asdict().items() if (shown := round(value, 3))}


def _with_neighbours(
    connection: Connection, hits: Sequence[Hit], rows: Sequence[int], around: dict[int, Around], tokens: int
) -> Iterator[Hit]:
    """Yield the hits that a budget of tokens has room for, the best ones with what stands beside them."""
    left = tokens * SIGNS_A_TOKEN - sum(len(hit.snippet) for hit in hits)
    shown = {hit.id for hit in hits}
    for hit, row in zip(hits, rows, strict=True):
        beside = []
        for other in around.get(row, ()):
            one = None if other is None else _hit(log.at(connection, other), 0.0, "")
            if one is None or one.id in shown or len(one.snippet) > left:
                continue
            shown.add(one.id)
            left -= len(one.snippet)
            beside.append(Beside(id=one.id, agent=one.agent, created_at=one.created_at, snippet=one.snippet))
        yield replace(hit, beside=tuple(beside))


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
    places = [words.casefold().find(term.casefold()) for term in telling(WORD.findall(query)) or [query]]
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
