"""One score of several: words, meaning, and the same words in what stands beside, each within 0 to 1, then added.

What a neighbour says and means counts for less than one's own and for more than none: a question and its answer share
what is asked. Rank fusion was measured too; on dialogues it is worse than words alone.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from math import fsum
from typing import NamedTuple

from memory_plane.recall.evidence import Evidence
from memory_plane.recall.threads import Around
from memory_plane.settings import RecallSettings

BESIDE, NEXT_BUT_ONE = 0.7, 0.5
"""What a word counts that a direct neighbour, or the one after it, says; the first also for what it means."""


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

    def beside(self, row: int) -> tuple[list[int], list[int]]:
        """Return the direct neighbours, and those next to them."""
        before, after = self._before.get(row), self._after.get(row)
        farther = self._before.get(before) if before else None, self._after.get(after) if after else None
        return self._told(before, after), self._told(*farther)

    def _told(self, *rows: int | None) -> list[int]:
        return [row for row in rows if row is not None and row in self._among]


def fuse(
    evidence: Mapping[int, Evidence],
    around: Mapping[int, Around],
    lent: Mapping[int, float],
    terms: Mapping[str, float],
    weights: RecallSettings,
) -> dict[int, Part]:
    """Return the score of each memory and what it is made of; `lent` is what other memories lend it."""
    chain = Chain(around, evidence)
    beside = {row: chain.beside(row) for row in evidence}
    by_words = _scaled({row: one.words for row, one in evidence.items()}, weights.words)
    by_meaning = _scaled({row: _meaning(row, beside[row][0], evidence) for row in evidence}, weights.meaning)
    by_field = _scaled({row: _field(row, *beside[row], evidence, terms) for row in evidence}, weights.beside)
    own = _scaled({row: by_words[row] + by_meaning[row] + by_field[row] for row in evidence})
    base = _scaled({row: _told(own[row], lent.get(row, 0.0), one, weights) for row, one in evidence.items()})
    found = {}
    for row, one in evidence.items():
        near, far = beside[row]
        thread = weights.thread * _best_beside([base[one] for one in near], [base[one] for one in far])
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


def _best_beside(near: list[float], far: list[float]) -> float:
    """Return the best of the direct neighbours and half the best of the others."""
    near.sort(reverse=True)
    return sum(near[:1]) + max(near[1:] + far, default=0.0) / 2


def _meaning(row: int, near: list[int], evidence: Mapping[int, Evidence]) -> float:
    return evidence[row].meaning + BESIDE * max([evidence[one].meaning for one in near], default=0.0)


def _field(
    row: int, near: list[int], far: list[int], evidence: Mapping[int, Evidence], terms: Mapping[str, float]
) -> float:
    own = evidence[row].terms
    first = frozenset().union(*[evidence[one].terms for one in near]) - own
    second = frozenset().union(*[evidence[one].terms for one in far]) - own - first
    weighed = ((1.0, own), (BESIDE, first), (NEXT_BUT_ONE, second))
    return fsum(weight * terms[term] for weight, found in weighed for term in found)  # sets have no order


def _scaled(values: Mapping[int, float], weight: float = 1.0) -> dict[int, float]:
    """Bring values, none below 0, into 0 to `weight`, which the greatest gets."""
    factor = weight / (max(values.values(), default=0.0) or 1.0)
    return {row: factor * value for row, value in values.items()}
