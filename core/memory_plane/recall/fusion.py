"""One score of several: words, meaning, and the same words in what stands beside, each within 0 to 1, then added.

What a neighbour says and means counts for less than one's own and for more than none: a question and its answer share
what is asked. Rank fusion was measured too; on dialogues it is worse than words alone.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from math import fsum
from typing import NamedTuple

from memory_plane.recall.evidence import Evidence
from memory_plane.recall.threads import Around
from memory_plane.settings import RecallSettings

BESIDE, NEXT_BUT_ONE = 0.7, 0.5
"""What a word counts that a direct neighbour, or the one after it, says; the first also for what it means.

What a question says that a memory answers counts as its own.
"""


class Part(NamedTuple):
    """What one memory got for each reason; `total` is what it is ranked by."""

    words: float = 0.0
    meaning: float = 0.0
    beside: float = 0.0
    speaker: float = 0.0
    linked: float = 0.0
    thread: float = 0.0
    age: float = 0.0
    total: float = 0.0


class Beside(NamedTuple):
    """What stands directly beside a memory, and next to that; `before` is what it may answer."""

    before: int | None = None
    near: tuple[int, ...] = ()
    far: tuple[int, ...] = ()


ALONE = Beside()


class Chain:
    """Which memory comes before and after which, as far as known; only those in `among` are told."""

    def __init__(self, around: Mapping[int, Around], among: Collection[int]) -> None:
        self._among = among
        self._after: dict[int, int] = {}
        for row, (second, first, after, last) in around.items():
            for one, other in ((second, first), (first, row), (row, after), (after, last)):
                if one is not None and other is not None:
                    self._after[one] = other
        self._before = {after: row for row, after in self._after.items()}

    def beside(self, rows: Iterable[int]) -> dict[int, Beside]:
        """Return what stands beside each."""
        linked = self._after.keys() | self._before.keys()
        return {row: self._beside(row) if row in linked else ALONE for row in rows}

    def _beside(self, row: int) -> Beside:
        before, after = self._before.get(row), self._after.get(row)
        farther = self._before.get(before) if before else None, self._after.get(after) if after else None
        return Beside(before, self._told(before, after), self._told(*farther))

    def _told(self, *rows: int | None) -> tuple[int, ...]:
        return tuple([row for row in rows if row is not None and row in self._among])


def fuse(
    evidence: Mapping[int, Evidence], around: Mapping[int, Around], lent: Mapping[int, float], weights: RecallSettings
) -> dict[int, Part]:
    """Return the score of each memory and what it is made of; `lent` is what other memories lend it."""
    beside = Chain(around, evidence).beside(evidence)
    by_words = _scaled({row: one.words for row, one in evidence.items()}, weights.words)
    by_meaning = _scaled({row: _meaning(row, beside[row], evidence) for row in evidence}, weights.meaning)
    by_field = _scaled({row: _field(row, beside[row], evidence) for row in evidence}, weights.beside)
    own = _scaled({row: by_words[row] + by_meaning[row] + by_field[row] for row in evidence})
    base = _scaled({row: _told(own[row], lent.get(row, 0.0), one, weights) for row, one in evidence.items()})
    found = {}
    for row, one in evidence.items():
        thread = weights.thread * _best_beside(beside[row], base)
        aged = weights.decay * (1 - one.left)
        found[row] = Part(
            words=by_words[row],
            meaning=by_meaning[row],
            beside=by_field[row],
            speaker=weights.speaker * one.named,
            linked=weights.linked * lent.get(row, 0.0),
            thread=thread,
            age=-aged * (base[row] + thread),
            total=(1 - aged) * (base[row] + thread),
        )
    return found


def _told(own: float, lent: float, one: Evidence, weights: RecallSettings) -> float:
    """Return the score of what a memory says, by whom it is said, and of what it is linked with."""
    said = own + weights.speaker * one.named + weights.linked * lent
    return said * (weights.user if one.user else 1.0)


def _best_beside(beside: Beside, base: Mapping[int, float]) -> float:
    """Return the best of the direct neighbours and half the best of the others."""
    if beside is ALONE:
        return 0.0
    near = sorted([base[row] for row in beside.near], reverse=True)
    return sum(near[:1]) + max([*near[1:], *[base[row] for row in beside.far]], default=0.0) / 2


def _meaning(row: int, beside: Beside, evidence: Mapping[int, Evidence]) -> float:
    if beside is ALONE:
        return evidence[row].meaning
    lent = [_share(one, beside, evidence) * evidence[one].meaning for one in beside.near]
    return evidence[row].meaning + max(lent, default=0.0)


def _field(row: int, beside: Beside, evidence: Mapping[int, Evidence]) -> float:
    """Return what the words of the question count that a memory has, or else that stand beside it."""
    best = evidence[row].terms
    for one in (*beside.near, *beside.far):
        if terms := evidence[one].terms:  # most have none
            share = _share(one, beside, evidence)
            best = {**best, **{term: share * own for term, own in terms.items() if share * own > best.get(term, 0.0)}}
    return fsum(best.values()) if best else 0.0  # sets have no order


def _share(one: int, beside: Beside, evidence: Mapping[int, Evidence]) -> float:
    if one == beside.before and evidence[one].asks:
        return 1.0
    return BESIDE if one in beside.near else NEXT_BUT_ONE


def _scaled(values: Mapping[int, float], weight: float = 1.0) -> dict[int, float]:
    """Bring values, none below 0, into 0 to `weight`, which the greatest gets."""
    factor = weight / (max(values.values(), default=0.0) or 1.0)
    return {row: factor * value for row, value in values.items()}
