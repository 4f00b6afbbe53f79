"""Score the names that `memory-plane-local` finds in labelled sentences, and print a table.

    python tests/benchmarks/names.py FILE.jsonl ...

A line is {"tokens": [...], "spans": [[first, end, TYPE], ...]}. A name is right when both ends and the type are; PER,
ORG and LOC count. The first row is what the plugin as a whole finds in the text, the second its tagger alone.
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path

from memory_plane.types import Memory
from memory_plane_local import tagger
from memory_plane_local.extraction import extract

TYPES = {"Person": "PER", "Agent": "PER", "Organization": "ORG", "Team": "ORG", "Place": "LOC"}
WRITTEN = datetime(2026, 1, 1, tzinfo=UTC)
Spans = set[tuple[int, int, str]]


def plugin(tokens: Sequence[str]) -> Spans:
    """Return what the plugin mentions, as ranges of tokens."""
    text, starts, ends = " ".join(tokens), list[int](), list[int]()
    for token in tokens:
        starts.append(ends[-1] + 1 if ends else 0)
        ends.append(starts[-1] + len(token))
    found = extract(Memory(id="m", agent="muse", kind="thought", text=text, created_at=WRITTEN, origin="user"))
    spans: Spans = set()
    for mention in found.mentions:
        places = [at for at in range(len(tokens)) if starts[at] < mention.end and ends[at] > mention.start]
        if places and mention.type in TYPES:
            spans.add((places[0], places[-1] + 1, TYPES[mention.type]))
    return spans


def alone(tokens: Sequence[str]) -> Spans:
    """Return what the tagger finds by itself."""
    return {(begin, end, kind) for begin, end, kind, _ in tagger.tag(tokens)}


def row(name: str, find: Callable[[Sequence[str]], Spans], sentences: Sequence[tuple[list[str], Spans]]) -> str:
    """Return one line of the table."""
    spent, found = [], []
    for tokens, _ in sentences:
        begin = time.perf_counter()
        found.append(find(tokens))
        spent.append((time.perf_counter() - begin) * 1000)
    cells = [name]
    for kinds in (("PER", "ORG", "LOC"), ("PER",), ("ORG",), ("LOC",)):
        hits = ours = theirs = 0
        for (_, gold), mine in zip(sentences, found, strict=True):
            wanted, given = ({span for span in spans if span[2] in kinds} for spans in (gold, mine))
            hits, ours, theirs = hits + len(wanted & given), ours + len(given), theirs + len(wanted)
        cells.append(f"{100 * hits / max(1, ours):.0f} / {100 * hits / max(1, theirs):.0f}")
        cells[-1] += f" / {200 * hits / max(1, ours + theirs):.1f}"
    return f"| {' | '.join([*cells, f'{statistics.median(spent):.2f}'])} |"


def main() -> None:
    """Read the options, measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("paths", type=Path, nargs="+", metavar="FILE.jsonl", help="labelled sentences")
    tagger.model()
    print("| texts | all P / R / F1 | PER | ORG | LOC | ms, median |\n|---|---|---|---|---|---|")
    for path in parser.parse_args().paths:
        lines = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
        sentences = [(line["tokens"], {(span[0], span[1], span[2]) for span in line["spans"]}) for line in lines]
        print(row(path.stem, plugin, sentences))
        print(row(f"{path.stem}, tagger alone", alone, sentences))


if __name__ == "__main__":
    main()
