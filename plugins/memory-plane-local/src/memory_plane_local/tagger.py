"""A linear-chain tagger of people, organisations and places in words that no rule knows."""

from __future__ import annotations

import math
from array import array
from collections.abc import Sequence
from functools import lru_cache
from operator import mul
from pathlib import Path
from typing import NamedTuple

from memory_plane_local.artefact import SCALE, read
from memory_plane_local.name_features import FAR, NEAR, place_features, seen_from, word_features

_MODEL = Path(__file__).with_name("data") / "names.model"
_CERTAIN = 6.0
"""Of so much more weight than any other label, "no name" is taken for settled."""
_WORDS = 8192


class Tag(NamedTuple):
    """A name: its first word, the word after its last, PER, ORG or LOC, and how probable all of that is."""

    begin: int
    end: int
    type: str
    probability: float


class Model(NamedTuple):
    """What training left: weights of each feature for each label (`labels[0]` is none), and what the word lists say."""

    labels: tuple[str, ...]
    rows: dict[str, int]
    weights: array[int]
    moves: tuple[tuple[float, ...], ...]
    lexicon: dict[str, tuple[str, ...]]


@lru_cache(maxsize=1)
def model() -> Model:
    """Read the trained artefact, once a process."""
    about, (names, kinds, features), numbers = read(_MODEL)
    known = [tuple(kind.split()) for kind in kinds]
    lexicon = dict(zip(names, map(known.__getitem__, numbers[: len(names)]), strict=True))
    moves = tuple(tuple(math.exp(weight) for weight in row) for row in about["moves"])
    rows = dict(zip(features, range(len(features)), strict=True))
    return Model(tuple(about["labels"]), rows, numbers[len(names) :], moves, lexicon)


def listed(word: str) -> bool:
    """Return whether a lower-case word stands in a list of names."""
    return any(feature.startswith("g=") for feature in model().lexicon.get(word, ()))


def word_class(word: str) -> str:
    """Return the class of words that a lower-case word is like, "-" when it has none."""
    return model().lexicon.get(word, ("-",))[0]


def tag(words: Sequence[str]) -> list[Tag]:
    """Find the names in the words of a sentence; linear in their number."""
    trained = model()
    scores = _scores(trained, words)
    found: list[Tag] = []
    begin = 0
    for at in range(len(words) + 1):
        settled = at == len(words) or scores[at][0] > max(scores[at][1:]) + _CERTAIN
        if settled and begin < at:
            opened, closed = begin > 0, at < len(words)
            found += _spans(trained.labels, _marginals(trained, scores[begin:at], opened, closed), begin)
        begin = at + 1 if settled else begin
    return found


def _scores(trained: Model, words: Sequence[str]) -> list[list[float]]:
    """The weight of each label for each word, from what is seen there and around it."""
    rows = [_word(word) for word in words]
    places = place_features(words, trained.lexicon)
    last = len(words) - 1
    scores: list[list[float]] = []
    for at, row in enumerate(rows):
        seen = [row[0]]
        for turn, distance in enumerate((*NEAR, *FAR), 1):
            if 0 <= at + distance <= last:
                seen.append(rows[at + distance][turn])
        if places[at]:
            seen.append(_sum(trained, places[at]))
        scores.append(list(map(sum, zip(*seen, strict=True))))
    return scores


@lru_cache(maxsize=_WORDS)
def _word(word: str) -> tuple[tuple[float, ...], ...]:
    """What a word weighs for its own label and for those of its neighbours."""
    trained = model()
    features = word_features(word, trained.lexicon)
    return tuple(_sum(trained, list(seen_from(distance, features))) for distance in (0, *NEAR, *FAR))


def _sum(trained: Model, features: Sequence[str]) -> tuple[float, ...]:
    width = len(trained.labels)
    starts = [trained.rows[feature] * width for feature in features if feature in trained.rows]
    if not starts:
        return (0.0,) * width
    weights = trained.weights
    return tuple(sum(weights[start + label] for start in starts) / SCALE for label in range(width))


def _marginals(trained: Model, scores: Sequence[Sequence[float]], opened: bool, closed: bool) -> list[list[float]]:
    """The probability of each label at each word (forward-backward); `opened`, `closed` = no name is before, after."""
    moves, columns = trained.moves, tuple(zip(*trained.moves, strict=True))
    local = [[math.exp(score - most) for score in row] for row in scores for most in [max(row)]]
    ahead: list[list[float]] = []
    moved: Sequence[float] = moves[0] if opened else [1.0] * len(moves)
    for row in local:
        now = list(map(mul, row, moved))
        whole = sum(now) or 1.0
        ahead.append([value / whole for value in now])
        moved = _moved(ahead[-1], columns)
    found: list[list[float]] = []
    after: Sequence[float] = columns[0] if closed else [1.0] * len(moves)
    for row, seen in zip(reversed(local), reversed(ahead), strict=True):
        now = list(map(mul, seen, after))
        whole = sum(now) or 1.0
        found.append([value / whole for value in now])
        back = list(map(mul, row, after))
        scale = max(back) or 1.0
        after = [value / scale for value in _moved(back, moves)]
    return found[::-1]


def _moved(row: Sequence[float], matrix: Sequence[Sequence[float]]) -> list[float]:
    """Multiply a matrix by a row of seven labels, term by term: sums take three times as long."""
    a, b, c, d, e, f, g = row
    return [a * p + b * q + c * r + d * s + e * t + f * u + g * v for p, q, r, s, t, u, v in matrix]


def _spans(labels: Sequence[str], chances: Sequence[Sequence[float]], offset: int) -> list[Tag]:
    """Join the likeliest labels to names; the least likely word tells how sure one is."""
    found: list[Tag] = []
    for at, row in enumerate(chances):
        best = max(range(len(labels)), key=row.__getitem__)
        place, kind, probability = offset + at, labels[best][2:], row[best]
        if best == 0:
            continue
        before = found[-1] if found else None
        if before and labels[best][0] == "I" and before.end == place and before.type == kind:
            found[-1] = before._replace(end=place + 1, probability=min(before.probability, probability))
        else:
            found.append(Tag(place, place + 1, kind, probability))
    return found
