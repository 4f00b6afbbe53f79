"""A linear scorer of relations: how probable it is that a sentence says one of a few of two of its names."""

from __future__ import annotations

import math
import zlib
from array import array
from collections.abc import Container, Hashable, Iterable, Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple, Protocol, TypeVar

from memory_plane_local.artefact import SCALE, read
from memory_plane_local.relation_features import Spot, pair_features
from memory_plane_local.tagger import word_class

_MODEL = Path(__file__).with_name("data") / "relations.model"
BUCKETS = 2**17
LIKELY, MARGIN = 0.64, 0.15
"""How probable a relation must be, and by how much more a second subject of one object."""
_NEXT = 8
"""A name is judged with so many after it."""


class Scored(NamedTuple):
    """A relation of two names or pronouns, and how probable it is that the sentence says it."""

    subject: Spot
    relation: str
    object: Spot
    probability: float


class Claim(Protocol):
    """What can be ranked."""

    @property
    def relation(self) -> str: ...
    @property
    def object(self) -> Hashable: ...
    @property
    def probability(self) -> float: ...


Claimed = TypeVar("Claimed", bound=Claim)


class Model(NamedTuple):
    """What training left: weights of hashed features for each relation, and how sums become probabilities."""

    relations: tuple[str, ...]
    weights: array[int]
    slopes: tuple[tuple[float, float], ...]
    kinds: frozenset[str]


@lru_cache(maxsize=1)
def model() -> Model:
    """Read the trained artefact, once a process."""
    about, _, numbers = read(_MODEL)
    slopes = tuple((float(slope), float(offset)) for slope, offset in about["slopes"])
    return Model(tuple(about["relations"]), numbers, slopes, frozenset(about["kinds"]))


def bucket(feature: str) -> int:
    """Return where the weights of a feature stand: the same on every machine; two features may share a place."""
    return zlib.crc32(feature.encode()) % BUCKETS


def score(
    lows: Sequence[str], spots: Sequence[Spot], least: float = LIKELY, asked: Container[tuple[int, int]] | None = None
) -> list[Scored]:
    """Return the relations of a sentence that are at least so probable, the likeliest first.

    `asked`: the first tokens of subject and object of the pairs to judge, by default all.
    """
    return list(rivals(judged(lows, spots, asked), least))


def judged(
    lows: Sequence[str], spots: Sequence[Spot], asked: Container[tuple[int, int]] | None = None
) -> Iterator[Scored]:
    """Yield how probable each relation of each pair is."""
    for one, other in pairs(spots):
        if asked is None or (one.begin, other.begin) in asked:
            yield from _judge(lows, spots, one, other)


def rivals(found: Iterable[Claimed], least: float) -> Iterator[Claimed]:
    """Yield what is likely, the likeliest first; a second subject of one object must be clearly so."""
    taken: set[tuple[str, Hashable]] = set()
    for one in sorted(found, key=lambda one: -one.probability):
        key = one.relation, one.object
        if one.probability >= (least + MARGIN if key in taken else least):
            taken.add(key)
            yield one


def pairs(spots: Sequence[Spot]) -> Iterator[tuple[Spot, Spot]]:
    """Yield the pairs to judge, both ways round."""
    for at, one in enumerate(spots):
        for other in spots[at + 1 : at + 1 + _NEXT]:
            if one.end <= other.begin:
                yield one, other
                yield other, one


def _judge(lows: Sequence[str], spots: Sequence[Spot], one: Spot, other: Spot) -> Iterator[Scored]:
    trained = model()
    if f"{one.kind}>{other.kind}" not in trained.kinds:
        return
    width = len(trained.relations)
    seen = dict.fromkeys(pair_features(lows, spots, one, other, word_class))
    starts = [bucket(feature) * width for feature in seen]
    for label, relation in enumerate(trained.relations):
        slope, offset = trained.slopes[label]
        weight = slope * sum([trained.weights[start + label] for start in starts]) / SCALE + offset
        yield Scored(one, relation, other, 1 / (1 + math.exp(-max(-30.0, min(30.0, weight)))))
