"""Count the open items, decisions and blockers that are read in the notes of tests/data/commitments.tsv.

    python tests/benchmarks/items.py [--failures]

An item is found when its kind is right and its object holds what it must and nothing that it must not; of what is found
its owner, receiver and day are counted each by itself, and all of them together. An item or edge that is not listed is
wrong. The failures of part three are not shown: nobody shall read them.
"""

from __future__ import annotations

import argparse
import re
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from zoneinfo import ZoneInfo

from memory_plane.types import Extraction, Item, Memory, Origin
from memory_plane_local.extraction import extract

DATA = Path(__file__).parents[1] / "data" / "commitments.tsv"
ZONE = ZoneInfo("Europe/Berlin")
WRITTEN = datetime(2026, 3, 11, 16, 30, tzinfo=ZONE)
UNREAD = "3"
FIELDS = ("owner", "to", "due")
RELATIONS = frozenset({"USES", "BLOCKED_BY"})
_LIGHT = frozenset({"the", "a", "an", "my", "our", "her", "his", "their"})


@dataclass(frozen=True)
class Wanted:
    """An item that should come of a text; `free` = it may be missing."""

    free: bool
    kind: str
    core: frozenset[str]
    most: frozenset[str]
    fields: tuple[str, ...]

    def is_found(self, item: Item) -> bool:
        """Whether an item is this one, whosever and whenever it is."""
        words = _words(item.object)
        return self.kind == item.kind and (not self.core or self.core <= words <= self.most)

    def right(self, item: Item) -> list[bool]:
        """Return for each of `FIELDS` whether it is right; whole texts have no owner."""
        found = (item.owner or "", item.to or "", str(item.due_at.astimezone(ZONE).date()) if item.due_at else "")
        told = zip(self.fields, (value.lower() for value in found), strict=True)
        return [value == wanted.lstrip("~") or (wanted.startswith("~") and not value) for wanted, value in told]


def _words(text: str) -> frozenset[str]:
    return frozenset(re.findall(r"[\w'’-]+", text.lower())) - _LIGHT


def wanted(entry: str) -> Wanted:
    """Read "kind|core < most|owner|to|due"."""
    kind, thing, *fields = (part.strip() for part in entry.lower().removeprefix("~").split("|"))
    core, _, most = thing.partition("<")
    return Wanted(entry.startswith("~"), kind, _words(core), _words(most or core), tuple(fields))


def edges(entry: str) -> frozenset[tuple[str, str, str]]:
    """Read "a/b RELATION c": each spelling of the edge."""
    said = re.fullmatch(r"~?\s*(.+) ([A-Z_]+) (.+)", entry)
    assert said is not None, entry
    return frozenset((source, said[2], _bare(said[3])) for source in map(_bare, said[1].split("/")))


def _bare(name: str) -> str:
    return name.strip().lower().removeprefix("the ")


def rows() -> Iterator[tuple[str, Memory, list[str]]]:
    """Yield part, memory and what should come of it."""
    for line in DATA.read_text("utf-8").splitlines():
        if line and not line.startswith("#"):
            part, writer, text, told = (*line.split("\t"), "")[:4]
            yield (
                part,
                written(writer, text.replace("\\n", "\n")),
                [entry.strip() for entry in told.split(";") if entry.strip()],
            )


def written(writer: str, text: str) -> Memory:
    """Return what "me" or an agent has written."""
    origin: Origin = "user" if writer == "me" else "agent"
    agent = "user" if writer == "me" else writer
    return Memory(id="m", agent=agent, kind="thought", text=text, created_at=WRITTEN, origin=origin)


def judge(count: Counter[str], told: Sequence[str], found: Extraction) -> list[str]:
    """Count what is right of one text; return what is not."""
    wrong = _items(count, [wanted(entry) for entry in told if "|" in entry], found.items)
    wrong += _edges(count, [entry for entry in told if "|" not in entry], found)
    count["texts"] += 1
    count["all right"] += not wrong
    return wrong


def _items(count: Counter[str], told: Iterable[Wanted], items: Sequence[Item]) -> list[str]:
    left, wrong = list(items), list[str]()
    for one in told:
        item = next((item for item in left if one.is_found(item)), None)
        if item is None:
            count["told"] += not one.free
            wrong += [] if one.free else [f"missed {one.kind} {' '.join(sorted(one.core))} {one.fields}"]
            continue
        left.remove(item)
        right = one.right(item)
        count.update({"told": 1, "found": 1, "hit": 1, "whole": all(right)})
        count.update(name for name, good in zip(FIELDS, right, strict=True) if good)
        wrong += [] if all(right) else [f"fields {one.fields} of {item}"]
    count["found"] += len(left)
    return wrong + [f"wrong  {item}" for item in left]


def _edges(count: Counter[str], told: Iterable[str], found: Extraction) -> list[str]:
    said = {
        (_bare(claim.subject.text), claim.relation, _bare(claim.object.text))
        for claim in found.claims
        if claim.polarity == "positive" and claim.relation in RELATIONS
    }
    allowed, missed = frozenset[tuple[str, str, str]](), list[str]()
    for entry in told:
        allowed |= edges(entry)
        if not entry.startswith("~"):
            hit = bool(edges(entry) & said)
            count.update({"edges told": 1, "edges right": hit})
            missed += [] if hit else [f"missed {entry}"]
    count["edges wrong"] += len(said - allowed)
    return missed + [f"wrong  {edge}" for edge in sorted(said - allowed)]


def main() -> None:
    """Read the option, count and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--failures", action="store_true", help="list what is missed and wrong in parts 1 and 2")
    options = parser.parse_args()
    counts: dict[str, Counter[str]] = {}
    begin = time.process_time()
    for part, memory, told in rows():
        wrong = judge(counts.setdefault(part, Counter()), told, extract(memory, zone=ZONE))
        if wrong and options.failures and part != UNREAD:
            print("\n   ".join((f"{part}: {memory.text!r}", *wrong)))
    spent = 1000 * (time.process_time() - begin) / sum(count["texts"] for count in counts.values())
    print(table(counts) + f"\n{spent:.2f} ms a text")


def table(counts: dict[str, Counter[str]]) -> str:
    """Return the counts as Markdown."""
    lines = [
        "| part | texts all right | items told / found / right | P / R | owner | receiver | day | all three "
        "| edges right, wrong |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for part, count in counts.items():
        told, found, hit = count["told"], count["found"], count["hit"]
        share = f"{hit / max(found, 1):.2f} / {hit / max(told, 1):.2f}"
        cells = [part, f"{count['all right']} of {count['texts']}", f"{told} / {found} / {hit}", share]
        cells += [f"{count[name]} of {hit}" for name in (*FIELDS, "whole")]
        cells.append("{edges right} of {edges told}, {edges wrong}".format_map(count))
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


if __name__ == "__main__":
    main()
