"""Train the scorer of relations and write its artefact.

    pip install --target PACKAGES scikit-learn
    PYTHONPATH=PACKAGES python training/train_relations.py FILE src/memory_plane_local/data/relations.model

FILE has lines {"text", "fold", "annotated": [relation], "facts": [{"s_span", "r", "o_span"}]}: passages of
KnowledgeNet, in which every fact of an annotated relation is marked. What is seen of a passage are the names that the
rules of today find in it, so only the same input by the same rules (and scikit-learn) gives the same weights: the
artefact names the commit (`rules`) by which it was trained.
"""

# The libraries of training are not installed where types are checked.
# mypy: disable-error-code="import-not-found, import-untyped"

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
from array import array
from collections import Counter
from collections.abc import Iterator, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple

from memory_plane_local.artefact import SCALE, write
from memory_plane_local.name_guesses import guess
from memory_plane_local.names import find_names
from memory_plane_local.relation_features import pair_features, spots
from memory_plane_local.scorer import BUCKETS, bucket, pairs
from memory_plane_local.sentences import sentences
from memory_plane_local.tagger import word_class
from memory_plane_local.tokens import tokenize

RELATIONS = ("WORKS_AT", "FOUNDED", "LOCATED_IN", "PART_OF", "CEO_OF")
LEAST_PAIRS = 3
STRENGTH = 10.0
"""How little the weights are held back."""


class Pair(NamedTuple):
    """Two names of a passage: their characters, their kinds, where what is seen of them is weighed."""

    passage: int
    subject: tuple[int, int]
    object: tuple[int, int]
    kinds: str
    features: array[int]


def passage_pairs(at: int, text: str) -> Iterator[Pair]:
    """Yield the pairs of a passage."""
    tokens = tokenize(text)
    lows = [token.low for token in tokens]
    found = spots(tokens, [name for one in sentences(text, tokens) for name in guess(one, find_names(one))])
    for one, other in pairs(found):
        places = [(tokens[spot.begin].start, tokens[spot.end - 1].end) for spot in (one, other)]
        seen = dict.fromkeys(pair_features(lows, found, one, other, word_class))
        yield Pair(at, places[0], places[1], f"{one.kind}>{other.kind}", array("i", map(bucket, seen)))


def overlap(one: Sequence[int], other: Sequence[int]) -> bool:
    """Return whether two ranges share a character."""
    return one[0] < other[1] and other[0] < one[1]


def says(row: dict[str, Any], pair: Pair, relation: str) -> bool:
    """Return whether a passage says a relation of a pair."""
    return any(
        fact["r"] == relation and overlap(pair.subject, fact["s_span"]) and overlap(pair.object, fact["o_span"])
        for fact in row["facts"]
    )


class Trainer:
    """Fits weights to the pairs of passages."""

    def __init__(self, rows: Sequence[dict[str, Any]]) -> None:
        self.rows = rows
        self.pairs = [pair for at, row in enumerate(rows) for pair in passage_pairs(at, row["text"])]
        self.table = self._table()

    def _table(self) -> Any:
        from scipy.sparse import csr_matrix

        found, ends = array("i"), array("i", [0])
        for pair in self.pairs:
            found.extend(pair.features)
            ends.append(len(found))
        table = csr_matrix((array("d", [1.0]) * len(found), found, ends), shape=(len(self.pairs), BUCKETS))
        table.sum_duplicates()
        return table

    def fit(self, relation: str, folds: Sequence[int]) -> Any:
        """Return the weights of a relation, learnt from some folds."""
        from sklearn.linear_model import LogisticRegression

        chosen = [
            at
            for at, pair in enumerate(self.pairs)
            if relation in self.rows[pair.passage]["annotated"] and self.rows[pair.passage]["fold"] in folds
        ]
        right = [says(self.rows[self.pairs[at].passage], self.pairs[at], relation) for at in chosen]
        learner = LogisticRegression(C=STRENGTH, solver="liblinear", random_state=0, fit_intercept=False)
        return learner.fit(self.table[chosen], right).coef_[0]

    def held_out(self, relation: str) -> list[tuple[int, float, bool]]:
        """Return (pair, sum of weights, right) of all pairs, each judged by what the other folds taught."""
        folds = sorted({row["fold"] for row in self.rows})
        found = []
        for fold in folds:
            weights = self.fit(relation, [other for other in folds if other != fold])
            sums = self.table @ weights
            for at, pair in enumerate(self.pairs):
                row = self.rows[pair.passage]
                if row["fold"] == fold and relation in row["annotated"]:
                    found.append((at, float(sums[at]), says(row, pair, relation)))
        return found


def slope(judged: Sequence[tuple[int, float, bool]]) -> tuple[float, float]:
    """Return the slope and offset that make calibrated probabilities of sums (Platt's scaling)."""
    from sklearn.linear_model import LogisticRegression

    fitted = LogisticRegression(C=1e6).fit([[total] for _, total, _ in judged], [right for _, _, right in judged])
    return round(float(fitted.coef_[0][0]), 4), round(float(fitted.intercept_[0]), 4)


def kinds(trainer: Trainer) -> list[str]:
    """Return the pairs of kinds of which something is ever said."""
    seen = Counter(
        pair.kinds
        for pair in trainer.pairs
        if any(says(trainer.rows[pair.passage], pair, relation) for relation in RELATIONS)
    )
    return sorted(kind for kind, often in seen.items() if often >= LEAST_PAIRS)


def commit() -> str:
    """Return by which commit names are found here."""
    return subprocess.run(["git", "rev-parse", "HEAD"], check=True, capture_output=True, text=True).stdout.strip()


def main() -> None:
    """Read the two paths, train and write."""
    source, into = Path(sys.argv[1]), Path(sys.argv[2])
    trainer = Trainer([json.loads(line) for line in source.read_text("utf-8").splitlines()])
    slopes = [slope(trainer.held_out(relation)) for relation in RELATIONS]
    folds = sorted({row["fold"] for row in trainer.rows})
    columns = [trainer.fit(relation, folds) for relation in RELATIONS]
    about = {
        "what": "Weights of the scorer of relations of memory-plane-local, made by training/train_relations.py",
        "licence": "MIT",
        "sources": [{"name": "KnowledgeNet, folds 1 to 3", "from": "diffbot/knowledge-net", "licence": "MIT",
                     "sha256": hashlib.sha256(source.read_bytes()).hexdigest()}],
        "rules": commit(),
        "scikit-learn": version("scikit-learn"),
        "relations": RELATIONS,
        "slopes": slopes,
        "kinds": kinds(trainer),
    }  # fmt: skip
    write(into, about, [[]], [round(SCALE * column[at]) for at in range(BUCKETS) for column in columns])


if __name__ == "__main__":
    main()
