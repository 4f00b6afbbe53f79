"""Count how often what a sentence says of when becomes the times of its edges, by tests/data/times.tsv.

    python tests/benchmarks/times.py [--failures]

An edge is right when source, relation, target and both days are; an edge that is not in the list is wrong. Of the third
part nobody reads the failures.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

from memory_plane.types import Memory
from memory_plane_local.extraction import extract
from memory_plane_local.resolve import classify

DATA = Path(__file__).parents[1] / "data" / "times.tsv"
WRITTEN = datetime(2026, 11, 30, 12, tzinfo=UTC)
UNREAD = "3"


def rows() -> Iterator[tuple[str, str, set[str]]]:
    """Yield part, text and the edges that are right."""
    for line in DATA.read_text("utf-8").splitlines():
        if line and not line.startswith("#"):
            part, text, told = (*line.split("\t"), "")[:3]
            yield part, text, {_whole(edge.strip()) for edge in told.split(";") if edge.strip()}


def _whole(edge: str) -> str:
    """Write an edge with its dots, and the day of writing for "now"."""
    said = edge if ".." in edge else f"{edge} .."
    return said.replace("..now", f"..{WRITTEN.date()}")


def read(text: str) -> set[str]:
    """Return the edges that are made of a text."""
    memory = Memory(id="m", agent="muse", kind="thought", text=text, created_at=WRITTEN, origin="agent")
    answer = classify(memory, extract(memory), ())
    names = {one.node: one.mention.text.removeprefix("the ") for one in answer.resolutions}
    return {
        f"{names[link.source]} {link.relation} {names[link.target]} {_day(link.valid_from)}..{_day(link.valid_until)}"
        for link in answer.links
    }


def _day(at: datetime | None) -> str:
    return "" if at is None else str(at.date())


def main() -> None:
    """Read the option, count and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--failures", action="store_true", help="list what is wrong in parts 1 and 2")
    options = parser.parse_args()
    counts: dict[str, Counter[str]] = {}
    for part, text, wanted in rows():
        found = read(text)
        counts.setdefault(part, Counter()).update(
            texts=1, perfect=found == wanted, wanted=len(wanted), found=len(found), right=len(found & wanted)
        )
        if options.failures and part != UNREAD and found != wanted:
            print(f"{part}: {text}\n   missed {sorted(wanted - found)}\n   wrong  {sorted(found - wanted)}")
    print("| part | texts | all right | edges told | found | right |\n|---|---|---|---|---|---|")
    for part, row in counts.items():
        print(f"| {part} | {row['texts']} | {row['perfect']} | {row['wanted']} | {row['found']} | {row['right']} |")


if __name__ == "__main__":
    main()
