"""Measure which share of a question's evidence recall finds: every turn is posted, every question asked, no model.

    python tests/benchmarks/recall.py locomo locomo10.json [--only 1-2] [--set recall.meaning=0] [--abstain]

Each dialogue goes into a memory of its own, each turn as one thought with its speaker as agent and its time. With
`--abstain` the first dialogue is asked its own questions and those of the second, for which it has no answer, as they
are and with the names of its own speakers; told is at which floor how many of each find nothing.
"""

from __future__ import annotations

import argparse
import logging
import re
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from statistics import mean, median
from typing import Any

from recall_sets import SETS, Dialogue

from memory_plane.operations import make_operation
from memory_plane.plane import Plane
from memory_plane.settings import Settings

AT = (1, 5, 10)
"""After how many hits is looked."""
FLOORS = (0, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4)
"""Of these it is told what they refuse."""
UNTOLD = "adversarial"
"""The questions of LoCoMo that have no answer; the mean leaves them out, as everybody's does."""

Scores = dict[str, list[tuple[float, ...]]]


def fill(plane: Plane, dialogue: Dialogue) -> dict[str, str]:
    """Post every turn; return the ids of the turns by those of their memories."""
    turns: dict[str, str] = {}
    batch = []
    for turn in dialogue.turns:
        body = {"text": turn.text, "origin": turn.origin}
        if turn.text.strip():
            batch.append(make_operation("thought", body, agent=turn.speaker.lower(), created_at=turn.at))
            turns[batch[-1].id] = turn.id
    receipts = plane.apply_all(batch)
    assert {receipt.state for receipt in receipts} <= {"stored", "duplicate"}, receipts
    plane.rebuild()  # a deferred model of vectors is asked here, about all of them
    return turns


def ask(plane: Plane, dialogue: Dialogue, turns: dict[str, str], scores: Scores) -> Iterator[float]:
    """Note which share of each question's evidence is among the first hits; yield the milliseconds it took."""
    for question in dialogue.questions:
        begin = time.perf_counter()
        hits = plane.recall(question.text, limit=max(AT)).hits
        yield (time.perf_counter() - begin) * 1000
        found = [turns[hit.id] for hit in hits]
        share = tuple(len(question.evidence & set(found[:at])) / len(question.evidence) for at in AT)
        scores[question.kind].append(share)


def abstain(own: Dialogue, other: Dialogue, given: list[str]) -> Iterator[tuple[float, ...]]:
    """Yield floors, and the share of each kind of questions that then finds nothing."""
    kinds = [[one.text for one in dialogue.questions if one.kind != UNTOLD] for dialogue in (own, other)]
    names = dict(zip(_speakers(other), _speakers(own), strict=True))
    named = re.compile("|".join(map(re.escape, names)))
    kinds.append([named.sub(lambda found: names[found[0]], question) for question in kinds[1]])
    with tempfile.TemporaryDirectory() as home:
        with Plane(settings(Path(home), given)) as plane:
            fill(plane, own)
        for floor in FLOORS:
            with Plane(settings(Path(home), [*given, f"recall.floor={floor}"])) as plane:
                yield floor, *(mean(not plane.recall(one).hits for one in questions) for questions in kinds)


def _speakers(dialogue: Dialogue) -> list[str]:
    return list(dict.fromkeys(turn.speaker for turn in dialogue.turns))


def settings(home: Path, given: list[str]) -> Settings:
    """Return the settings of one memory; `given` holds `key=value`, with a point before a key inside a table."""
    values: dict[str, Any] = {"home": home, "synchronous": "normal"}
    for one in given:
        key, value = one.split("=", 1)
        place = values
        *tables, last = key.split(".")
        for table in tables:
            place = place.setdefault(table, {})
        place[last] = value
    return Settings.load(**values)


def numbers(text: str) -> tuple[int, int | None]:
    """Return from where to where dialogues are taken by numbers such as 3, 1-2 or 4-."""
    first, dash, last = text.partition("-")
    begin, end = int(first), int(last or 0) if dash else int(first)
    if begin < 1 or 0 < end < begin:
        raise ValueError(text)
    return begin - 1, end or None


def main() -> int:
    """Print one row a kind of question."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("set", choices=SETS)
    parser.add_argument("path", type=Path)
    parser.add_argument("--only", type=numbers, default="1-", help="dialogues by number, as in 3, 1-2 or 4-")
    parser.add_argument("--set", dest="settings", action="append", default=[], metavar="KEY=VALUE")
    parser.add_argument("--abstain", action="store_true", help="tell what a floor refuses instead")
    given = parser.parse_args()
    if not (given.path.is_dir() if given.set == "beam" else given.path.is_file()):
        parser.error(f"there is no {'folder' if given.set == 'beam' else 'file'} {given.path}")
    logging.disable(logging.WARNING)
    if given.abstain:
        print("| floor | own | of another dialogue | the same with the names of this one |\n|---|---|---|---|")
        own, other = islice(SETS[given.set](given.path), 2)
        for floor, *refused in abstain(own, other, given.settings):
            print(f"| {floor} | {' | '.join(f'{100 * share:.0f} %' for share in refused)} |")
        return 0
    scores: Scores = defaultdict(list)
    spent: list[float] = []
    for dialogue in islice(SETS[given.set](given.path), *given.only):
        with tempfile.TemporaryDirectory() as home, Plane(settings(Path(home), given.settings)) as plane:
            turns = fill(plane, dialogue)
            spent += ask(plane, dialogue, turns, scores)
        print(f"{dialogue.name}: {len(turns)} turns, {len(dialogue.questions)} questions", file=sys.stderr)
    if not scores:
        parser.error(f"no questions of {given.set} with evidence in {given.path}, among the dialogues asked for")
    print(f"| questions | n | {' | '.join(f'R@{at}' for at in AT)} |\n|---|---|{'---|' * len(AT)}")
    together = [share for kind, shares in scores.items() if kind != UNTOLD for share in shares]
    for kind, shares in {**dict(sorted(scores.items())), "all but adversarial": together}.items():
        columns = " | ".join(f"{100 * mean(column):.1f}" for column in zip(*shares, strict=True))
        print(f"| {kind} | {len(shares)} | {columns} |")
    print(f"\n{median(spent):.1f} ms a question")
    return 0


if __name__ == "__main__":
    sys.exit(main())
