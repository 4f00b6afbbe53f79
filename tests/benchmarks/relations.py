"""Score the relations that the scorer of `memory-plane-local` reads in labelled passages, and print a table.

    python tests/benchmarks/relations.py FILE.jsonl                     # the scorer that is shipped
    PYTHONPATH=PACKAGES python tests/benchmarks/relations.py FILE.jsonl --cross-validate

A line is {"text", "fold", "annotated", "facts": [{"r", "s_span", "o_span"}]}. A relation is right when it is the same
and both spans overlap; those not annotated for a passage do not count. With `--cross-validate` each fold is judged by
what the others taught; that needs the libraries named in training/train_relations.py.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from memory_plane_local import scorer
from memory_plane_local.name_guesses import guess
from memory_plane_local.names import find_names
from memory_plane_local.relation_features import spots
from memory_plane_local.sentences import sentences
from memory_plane_local.tokens import tokenize

TRAINING = Path(__file__).parents[2] / "plugins" / "memory-plane-local" / "training"
LEASTS = (0.4, 0.5, 0.6, 0.62, 0.64, 0.66, 0.7, 0.8, 0.9)
Span = tuple[int, int]


class Said(NamedTuple):
    """A relation found in a passage."""

    passage: int
    relation: str
    subject: Span
    object: Span
    probability: float


def shipped(rows: Sequence[dict[str, Any]]) -> Iterator[Said]:
    """Yield what the scorer that is shipped finds."""
    for at, row in enumerate(rows):
        tokens = tokenize(row["text"])
        names = [name for one in sentences(row["text"], tokens) for name in guess(one, find_names(one))]
        for one in scorer.judged([token.low for token in tokens], spots(tokens, names)):
            subject, target = (
                (tokens[spot.begin].start, tokens[spot.end - 1].end) for spot in (one.subject, one.object)
            )
            yield Said(at, one.relation, subject, target, one.probability)


def cross_validated(rows: Sequence[dict[str, Any]]) -> Iterator[Said]:
    """Yield what is found in each fold by weights that the others taught."""
    sys.path.insert(0, str(TRAINING))
    import train_relations  # type: ignore[import-not-found]

    trainer = train_relations.Trainer(rows)
    seen = set(train_relations.kinds(trainer))
    for relation in train_relations.RELATIONS:
        judged = trainer.held_out(relation)
        slope, offset = train_relations.slope(judged)
        for at, total, _ in judged:
            pair = trainer.pairs[at]
            probability = 1 / (1 + math.exp(-slope * total - offset))
            if pair.kinds in seen:
                yield Said(pair.passage, relation, pair.subject, pair.object, probability)


def overlap(one: Sequence[int], other: Sequence[int]) -> bool:
    """Return whether two ranges share a character."""
    return one[0] < other[1] and other[0] < one[1]


def right(rows: Sequence[dict[str, Any]], found: Sequence[Said], least: float) -> list[tuple[Said, bool]]:
    """Return what counts of what was found, each with whether it is right; a fact can be found once."""
    passages: dict[int, list[Said]] = {}
    for said in found:
        if said.relation in rows[said.passage]["annotated"]:
            passages.setdefault(said.passage, []).append(said)
    judged: list[tuple[Said, bool]] = []
    for at, here in passages.items():
        facts, kept = list(rows[at]["facts"]), list[Said]()
        for said in scorer.rivals(here, least):
            if any(same(said, other.relation, other.subject, other.object) for other in kept):
                continue
            kept.append(said)
            fact = next((one for one in facts if same(said, one["r"], one["s_span"], one["o_span"])), None)
            if fact:
                facts.remove(fact)
            judged.append((said, fact is not None))
    return judged


def same(said: Said, relation: str, subject: Sequence[int], target: Sequence[int]) -> bool:
    """Return whether a relation is this one: both spans share a character."""
    return said.relation == relation and overlap(said.subject, subject) and overlap(said.object, target)


def table(rows: Sequence[dict[str, Any]], found: Sequence[Said], relations: Sequence[str]) -> str:
    """Return precision, recall and F1 at some thresholds, over all relations and of each."""
    lines = [f"| at least | all P / R / F1 | {' | '.join(relations)} |", "|---" * (len(relations) + 2) + "|"]
    for least in LEASTS:
        cells = []
        judged = right(rows, found, least)
        for chosen in (relations, *((relation,) for relation in relations)):
            hits = [hit for said, hit in judged if said.relation in chosen]
            wanted = sum(fact["r"] in chosen for row in rows for fact in row["facts"])
            precision, recall = 100 * sum(hits) / max(1, len(hits)), 100 * sum(hits) / max(1, wanted)
            f1 = 200 * sum(hits) / max(1, len(hits) + wanted)
            cells.append(f"{precision:.0f} / {recall:.0f} / {f1:.1f}")
        lines.append(f"| {least} | {' | '.join(cells)} |")
    return "\n".join(lines)


def main() -> None:
    """Read the options, measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("path", type=Path, metavar="FILE.jsonl", help="labelled passages")
    parser.add_argument("--cross-validate", action="store_true", help="judge each fold by what the others teach")
    options = parser.parse_args()
    rows = [json.loads(line) for line in options.path.read_text("utf-8").splitlines()]
    found = list((cross_validated if options.cross_validate else shipped)(rows))
    relations = sorted({said.relation for said in found})
    print(table(rows, found, relations))


if __name__ == "__main__":
    main()
