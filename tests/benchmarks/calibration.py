"""Compare confidences with how often they are right: a reliability table and the expected calibration error (ECE).

    python tests/benchmarks/calibration.py [--names FILE.jsonl] [--relations FILE.jsonl] [--failures]

Claims of the plugin are judged by tests/data/claims.tsv, in three parts; names that the tagger gives by labelled
sentences, relations that the scorer gives by labelled passages (formats of names.py and relations.py beside this file).
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path

import relations as passages

from memory_plane.types import Memory
from memory_plane_local import tagger
from memory_plane_local.extraction import extract

CLAIMS = Path(__file__).parents[1] / "data" / "claims.tsv"
EDGES = (0.0, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)
UNREAD = "3"
"""The part whose failures nobody reads."""
Judged = tuple[float, bool]


def claims(part: str, *, failures: bool) -> Iterator[Judged]:
    """Yield the confidence of each claim in a part of the labelled notes, and whether it is right."""
    written = datetime(2026, 1, 1, tzinfo=UTC)
    for line in CLAIMS.read_text("utf-8").splitlines():
        which, _, rest = line.partition("\t")
        if which != part:
            continue
        text, _, told = rest.partition("\t")
        right = {claim.strip().lower() for claim in told.split(";")}
        found = extract(Memory(id="m", agent="muse", kind="thought", text=text, created_at=written, origin="user"))
        for claim in found.claims:
            if claim.polarity != "positive":
                continue
            said = f"{claim.subject.text} {claim.relation} {claim.object.text}"
            hit = said.lower() in right
            if failures and not hit:
                print(f"wrong, {claim.confidence}: {said!r} in {text!r}, right: {told!r}")
            yield claim.confidence, hit


def names(path: Path) -> Iterator[Judged]:
    """Yield the probability of each name that the tagger gives, and whether it is right."""
    for line in path.read_text("utf-8").splitlines():
        row = json.loads(line)
        right = {tuple(span) for span in row["spans"]}
        for begin, end, kind, probability in tagger.tag(row["tokens"]):
            yield probability, (begin, end, kind) in right


def relations(path: Path) -> Iterator[Judged]:
    """Yield the probability of each relation that the scorer gives, and whether it is right."""
    rows = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    for said, hit in passages.right(rows, list(passages.shipped(rows)), least=0.5):
        yield said.probability, hit


def table(name: str, judged: Iterable[Judged]) -> str:
    """Return one line a bin: how many, how sure on average, how often right; then the ECE."""
    pairs = list(judged)
    lines, error = [f"\n{name}\n", "| confidence | n | mean | right |", "|---|---|---|---|"], 0.0
    for low, high in pairwise(EDGES):
        inside = [pair for pair in pairs if low <= pair[0] < high or pair[0] == high == 1]
        if inside:
            lines.append(f"| {low} to {high} | {len(inside)} | {mean(inside, 0):.2f} | {mean(inside, 1):.2f} |")
            error += abs(mean(inside, 0) - mean(inside, 1)) * len(inside) / len(pairs)
    return "\n".join([*lines, f"\nECE {error:.3f} over {len(pairs)}"])


def mean(pairs: Sequence[Judged], which: int) -> float:
    """Return the mean of the first or second of each pair."""
    return sum(pair[which] for pair in pairs) / len(pairs)


def main() -> None:
    """Read the options, measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--names", type=Path, help="labelled sentences")
    parser.add_argument("--relations", type=Path, help="labelled passages")
    parser.add_argument("--failures", action="store_true", help="list the wrong claims of parts 1 and 2")
    options = parser.parse_args()
    for part in ("1", "2", "3"):
        print(table(f"claims, part {part}", claims(part, failures=options.failures and part != UNREAD)))
    if options.names:
        print(table("names by the tagger", names(options.names)))
    if options.relations:
        print(table("relations by the scorer", relations(options.relations)))


if __name__ == "__main__":
    main()
