"""Count what capture keeps of labelled turns: python capture.py [--failures [HALF] | --long | --echoes]."""

from __future__ import annotations

import argparse
import json
import re
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from memory_plane.capture import Turn, operations
from memory_plane.echoes import news
from memory_plane.types import Operation, Thought

TURNS = Path(__file__).parents[1] / "data" / "turns.json"
AT = datetime(2026, 11, 20, 9, 30, tzinfo=UTC)


@dataclass
class Score:
    """What was kept of some turns, against what should be."""

    right: int = 0
    of_the_kind: int = 0
    wrong: int = 0
    missed: int = 0
    focus: list[bool] = field(default_factory=list)
    small: list[bool] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)

    @property
    def precision(self) -> float:
        """The share of the kept sentences that should be kept; those that may be do not count."""
        return self.right / max(self.right + self.wrong, 1)

    @property
    def recall(self) -> float:
        """The share of the sentences to keep that were."""
        return self.right / max(self.right + self.missed, 1)


def turns(half: str) -> list[dict[str, Any]]:
    """Return the labelled turns of one half, "development" or "held_out"."""
    found: list[dict[str, Any]] = json.loads(TURNS.read_text("utf-8"))[half]
    return found


def captured(labelled: dict[str, Any]) -> tuple[Operation, ...]:
    """Return what a labelled turn becomes."""
    turn = Turn(
        agent="scribe", session="s", id="t", at=AT, prompt=labelled["prompt"], answer=labelled["answer"], project="p"
    )
    return operations(turn)


def score(labelled: Sequence[dict[str, Any]]) -> Score:
    """Compare what the turns become with their labels."""
    total = Score()
    for one in labelled:
        found = captured(one)
        _count_focus(total, one, found)
        _count_thoughts(total, one, [dict(operation.body) for operation in found if operation.op == "thought"])
    return total


def _count_focus(total: Score, labelled: dict[str, Any], found: Sequence[Operation]) -> None:
    if labelled["small"]:
        total.small.append(bool(found))
        if found:
            total.failures.append(f"{labelled['name']}: small talk became {[one.body for one in found]}")
    elif labelled["focus"]:
        focus = next((one.body["focus"] for one in found if one.op == "heartbeat"), "")
        total.focus.append(_plain(labelled["focus"]) in _plain(focus))
        if not total.focus[-1]:
            total.failures.append(f"{labelled['name']}: focus is {focus!r}")


def _count_thoughts(total: Score, labelled: dict[str, Any], bodies: Sequence[dict[str, Any]]) -> None:
    left = list(labelled["keep"])
    for body in bodies:
        wanted = next((one for one in left if _same(one["text"], body["text"])), None)
        if wanted is not None:
            left.remove(wanted)
            total.right += 1
            total.of_the_kind += wanted["kind"] == body["kind"] and wanted.get("to") == body.get("to")
            if wanted["kind"] != body["kind"]:
                total.failures.append(f"{labelled['name']}: {body['kind']}, not {wanted['kind']}: {body['text']!r}")
        elif not any(_same(text, body["text"]) for text in labelled["may"]):
            total.wrong += 1
            total.failures.append(f"{labelled['name']}: kept {body['kind']} {body['text']!r}")
    total.missed += len(left)
    total.failures += [f"{labelled['name']}: missed {one['kind']} {one['text']!r}" for one in left]


def _same(wanted: str, kept: str) -> bool:
    one, other = _plain(wanted), _plain(kept)
    return one in other or (len(other) > 20 and other in one)


def _plain(text: str) -> str:
    return re.sub(r"[\W_]+", " ", text).strip().lower()


def rows() -> Iterator[str]:
    """Yield the table of both halves as Markdown."""
    yield "| half | turns | precision | recall | kind right | focus right | small talk stored |"
    yield "|---|---|---|---|---|---|---|"
    for half in ("development", "held_out"):
        labelled = turns(half)
        got = score(labelled)
        cells = (
            half.replace("_", " "),
            str(len(labelled)),
            f"{got.precision:.2f} ({got.right} of {got.right + got.wrong})",
            f"{got.recall:.2f} ({got.right} of {got.right + got.missed})",
            f"{got.of_the_kind} of {got.right}",
            f"{sum(got.focus)} of {len(got.focus)}",
            f"{sum(got.small)} of {len(got.small)}",
        )
        yield f"| {' | '.join(cells)} |"


def echoes() -> Iterator[str]:
    """Yield of how many deeds and decisions of their own agents are robbed, when another one said all other turns'."""
    for half in ("development", "held_out"):
        said = [[one for one in captured(turn) if one.op == "thought"] for turn in turns(half)]
        lost = kept = 0
        for number, batch in enumerate(said):
            others = [_heard(one) for place, other in enumerate(said) if place != number for one in other]
            own = [one for one in batch if one.body["kind"] in ("milestone", "decision")]
            kept += len(own)
            lost += len(own) - len(news(own, others))
        yield f"{half.replace('_', ' ')}: {lost} of {kept} taken for an echo"


def _heard(operation: Operation) -> Thought:
    known: dict[str, Any] = {name: operation.body.get(name) for name in ("text", "kind", "origin", "project")}
    return Thought(id="x", agent="another", created_at=operation.created_at, **known)


def long_answers() -> Iterator[str]:
    """Yield how long answers of 1 MB take, of several shapes."""
    shapes = {
        "prose": "I fixed the import and it now reads a file line by line. ",
        "one line": "word ",
        "lists": "- Renamed the module `a_b` to `c_d`, see [the list](https://example.org/list)\n",
        "a page of ours": "- 2026-11-20 09:30 · muse · decision · We decided to wait\n",
        "brackets": "[",
        "backticks": "`a``",
        "no end": "**a** _b_ <c ~~d ",
        "results of tools": '{"note": "Entries are data that agents reported", "hits": [',
    }
    for name, piece in shapes.items():
        text = piece * (1_000_000 // len(piece))
        begin = time.perf_counter()
        captured({"prompt": text, "answer": text})
        yield f"{name}: {time.perf_counter() - begin:.2f} s for a prompt and an answer of 1 MB each"


def main() -> None:
    """Print the table, with --failures what went wrong in one half, with --long how long long answers take.

    With --echoes it is how often an own deed is taken for another agent's.
    """
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("half", nargs="?", choices=("development", "held_out"), default="development")
    parser.add_argument("--failures", action="store_true")
    parser.add_argument("--long", action="store_true")
    parser.add_argument("--echoes", action="store_true")
    given = parser.parse_args()
    if given.long:
        print(*long_answers(), sep="\n")
    elif given.echoes:
        print(*echoes(), sep="\n")
    elif given.failures:
        print(*score(turns(given.half)).failures, sep="\n")
    else:
        print(*rows(), sep="\n")


if __name__ == "__main__":
    main()
