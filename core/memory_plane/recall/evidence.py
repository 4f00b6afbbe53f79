"""What speaks for a memory when a question is asked: read from its text, of which so much is read, and its vector."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import lru_cache
from math import log

from sqlalchemy import Connection, bindparam, text

from memory_plane.prepared import Prepared
from memory_plane.recall import fading
from memory_plane.recall.stems import stem
from memory_plane.store import index, vectors
from memory_plane.types import EPOCH

_MICROSECOND = timedelta(microseconds=1)
_DAY = timedelta(days=1) // _MICROSECOND
READ = 60_000
"""So many characters are read for one question; of many memories, the beginning of each."""
_WORD = re.compile(r"[^\W_]+")
_ASKS = re.compile(r"\?(?![\w&/=%#])")
"""A question mark that is none of an address."""
_SAID = re.compile(r"\s*([^\W\d_]+)[^:\n]{0,40}:\s")
_READ = Prepared(
    text(
        "SELECT o.seq, o.agent, coalesce(t.origin, f.origin) AS origin, substr(o.text, 1, :most) AS words,"
        " f.subject || ' ' || f.fact_key AS about, v.row AS vector, o.created_at, t.at, t.pinned"
        " FROM json_each(:rows) AS c JOIN operations AS o ON o.seq = c.value"
        " LEFT JOIN thoughts AS t ON t.seq = o.seq AND t.visible"
        " LEFT JOIN facts AS f ON f.seq = o.seq AND f.indexed"
        " LEFT JOIN vectors AS v ON v.seq = o.seq AND v.model = :model WHERE coalesce(t.seq, f.seq) IS NOT NULL"
    ).bindparams(bindparam("rows"), bindparam("most"), bindparam("model"))
)


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked and when: its telling words as stems with how telling each is, all its words, and its vector.

    `alike` has, for the stem of every other word that stands for such a one, which and how well: the word itself by 1.
    """

    terms: Mapping[str, float]
    alike: Mapping[str, Mapping[str, float]]
    words: frozenset[str]
    at: datetime
    model: str = ""
    vector: tuple[float, ...] = ()


@dataclass(slots=True)
class Evidence:
    """What one memory has of it: its rank by words, its likeness, the terms in it, who says it; what age leaves.

    `terms` have how telling they are, less where other words say them.
    `asks`: it asks something, so that what comes next may answer it.
    """

    words: float = 0.0
    meaning: float = 0.0
    terms: Mapping[str, float] = field(default_factory=dict)
    asks: bool = False
    named: bool = False
    user: bool = False
    left: float = 1.0

    @property
    def speaks(self) -> bool:
        """Whether it has a word of the question, be it its writer's name."""
        return self.named or any(len(term) > 1 for term in self.terms)  # else a sign of a longer word


def telling(words: Sequence[str], counts: Mapping[str, int], total: int) -> dict[str, float]:
    """Return how telling each word is, by the number of memories that have it."""
    told = {word: log(1 + (max(total - count, 0) + 0.5) / (count + 0.5)) for word, count in counts.items()}
    found: dict[str, float] = {}
    for word in words:
        found.setdefault(stem(word), told[word])
    return found


def alike(words: Sequence[str], others: Mapping[str, Mapping[str, float]]) -> dict[str, dict[str, float]]:
    """Return, by stem, for which words each stands and how well; `others` are the words alike to each."""
    asked = {stem(word): {stem(word): 1.0} for word in words}
    found: dict[str, dict[str, float]] = {}
    for word in words:
        for other, likeness in others.get(word, {}).items():
            terms = found.setdefault(stem(other), {})
            terms[stem(word)] = max(likeness, terms.get(stem(word), 0.0))
    return found | asked  # what is asked for itself stands for nothing else


def split(words: str) -> list[str]:
    """Return the words of a text as they are compared."""
    return _WORD.findall(index.spaced(words).casefold())


def _beginnings(stems: Iterable[str]) -> re.Pattern[str]:
    """Return the pattern of the words whose stem may be one of these: a stem changes but its last letter."""
    heads = sorted({one[:-1] or one for one in stems})
    return re.compile(rf"(?<![^\W_])(?:{'|'.join(map(re.escape, heads))})[^\W_]*" if heads else "(?!)")


@lru_cache(maxsize=1_000)
def _dated(day: int) -> str:
    return index.date(EPOCH + timedelta(days=day))


@lru_cache(maxsize=1_000)
def _first_name(agent: str) -> str:
    return next(iter(split(agent)), "")


def read(
    connection: Connection, question: Question, rows: Iterable[int], ranked: Mapping[int, float]
) -> dict[int, Evidence]:
    """Return the evidence of each of these memories that may be seen."""
    rows = list(rows)
    most = max(READ // max(len(rows), 1), 200)
    worth_stemming = _beginnings(question.alike)
    vector = vectors.whole(question.vector)
    found = {}
    now = (question.at - EPOCH) // _MICROSECOND
    for seq, agent, origin, text_, about, row, written_at, at, pinned in _READ.all(
        connection, rows=json.dumps(rows), most=most, model=question.model
    ):
        said = text_ or ""
        written = index.spaced(f"{agent} {_dated(written_at // _DAY)} {about or ''} {said}").casefold()
        stems = {stem(word) for word in worth_stemming.findall(written)}
        said_by = {_first_name(agent)}
        if ":" in said and (speaker := _SAID.match(said)):
            said_by.add(speaker[1].casefold())
        found[seq] = Evidence(
            words=ranked.get(seq, 0.0),
            meaning=max(vectors.likeness(vector, row), 0.0) if row and vector else 0.0,
            terms=_terms(stems, question) if stems else {},
            asks="?" in said and _ASKS.search(said) is not None,
            named=not said_by.isdisjoint(question.words),
            user=origin == "user",
            left=1.0 if at is None or pinned else fading.left_after(now - at),
        )
    return found


def _terms(stems: Iterable[str], question: Question) -> dict[str, float]:
    has: dict[str, float] = {}
    for one in stems:
        for term, likeness in question.alike.get(one, {}).items():
            has[term] = max(has.get(term, 0.0), likeness * question.terms[term])
    return has
