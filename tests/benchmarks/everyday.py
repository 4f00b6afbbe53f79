"""Write what people and agents say on an ordinary day, and count edges and open items by tests/data/everyday.tsv.

    python tests/benchmarks/everyday.py [--failures]

Each text goes through the whole line of a write into an empty memory of its own. An edge is right when source, relation
and target are; an item when kind, object, owner, receiver and due day are. Of the third part nobody reads the failures.
"""

from __future__ import annotations

import argparse
import shutil
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import product
from pathlib import Path

from memory_plane.plane import Plane
from memory_plane.settings import Settings

DATA = Path(__file__).parents[1] / "data" / "everyday.tsv"
WRITTEN = datetime(2026, 11, 30, 12, tzinfo=UTC)
UNREAD = "3"
TEXTS = frozenset({"question", "handoff"})
"""Kinds whose object is the whole text, so that it is not judged."""


@dataclass(slots=True)
class Told:
    """What should come of a text: one of several spellings each; what is `free` counts neither way."""

    wanted: list[frozenset[str]] = field(default_factory=list)
    free: set[str] = field(default_factory=set)

    def judge(self, found: set[str]) -> tuple[list[str], list[str]]:
        """Return what is missed and what is wrong."""
        missed = [" / ".join(sorted(one)) for one in self.wanted if not one & found]
        allowed = self.free.union(*self.wanted)
        return missed, sorted(found - allowed)


def rows() -> Iterator[tuple[str, str, str, Told, Told]]:
    """Yield part, writer, text, and the edges and items that are right."""
    for line in DATA.read_text("utf-8").splitlines():
        if not line or line.startswith("#"):
            continue
        part, writer, text, told = (*line.split("\t"), "")[:4]
        edges, items = Told(), Told()
        for entry in filter(None, map(str.strip, told.lower().split(";"))):
            one, free = entry.removeprefix("~").strip(), entry.startswith("~")
            side, spellings = (items, _items(one)) if "|" in one else (edges, _edges(one))
            side.free.update(spellings) if free else side.wanted.append(frozenset(spellings))
        yield part, writer, text, edges, items


def _edges(told: str) -> Iterator[str]:
    """The spellings of an edge; the relation is the word that names may not have: with an underscore or known."""
    words = told.split()
    at = next(place for place, word in enumerate(words) if word.split("/")[0] in RELATIONS or "_" in word)
    ends = (" ".join(words[:at]).split("/"), words[at].split("/"), " ".join(words[at + 1 :]).split("/"))
    yield from (" ".join(map(_bare, choice)) for choice in product(*ends))


RELATIONS = frozenset({"uses", "leads", "owns", "knows", "builds", "manages", "prefers"})


def _items(told: str) -> Iterator[str]:
    """The spellings of an item; "~" before its receiver lets it have none."""
    kinds, things, owner, to, due = (*told.split("|"), "", "", "", "")[:5]
    receivers = ["", to.removeprefix("~")] if to.startswith("~") else [to]
    for kind, thing, receiver in product(kinds.split("/"), things.split("/"), receivers):
        yield "|".join((kind, "" if kind in TEXTS else _bare(thing), owner, receiver, due))


def _bare(name: str) -> str:
    return name.strip().removeprefix("the ").removeprefix("a ")


def read(plane: Plane, writer: str, text: str) -> tuple[set[str], set[str]]:
    """Post a text and return the edges and items that are in the memory after it."""
    agent, origin = ("user", "user") if writer == "me" else (writer, "agent")
    plane.post(text, agent=agent, origin=origin, created_at=WRITTEN)
    edges = {
        f"{_bare(edge.source.name.lower())} {edge.relation.lower()} {_bare(edge.target.name.lower())}"
        for edge in plane.graph(as_of=WRITTEN).edges
        if edge.relation != "COMMITTED_TO"
    }
    items = set()
    for item in plane.items():
        thing = "" if item.kind in TEXTS else _bare(item.text.lower())
        owner = "" if item.kind in TEXTS else item.owner or ""
        due = str(item.due_at.date()) if item.due_at else ""
        items.add("|".join((item.kind, thing, owner, item.to or "", due)).lower())
    return edges, items


def main() -> None:
    """Read the option, write, count and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--failures", action="store_true", help="list what is missed and wrong in parts 1 and 2")
    options = parser.parse_args()
    counts: dict[str, Counter[str]] = {}
    with tempfile.TemporaryDirectory() as folder:
        empty, home = Path(folder) / "empty", Path(folder) / "home"
        with Plane(home=empty):
            pass
        for part, writer, text, *told in rows():
            shutil.rmtree(home, ignore_errors=True)
            shutil.copytree(empty, home)
            with Plane(home=home, settings=Settings(home=home, timezone="UTC")) as plane:
                found = read(plane, writer, text)
            failed = count(counts.setdefault(part, Counter()), told, found)
            if failed and options.failures and part != UNREAD:
                print(f"{part}: {text}\n{failed}")
    print(table(counts))


def count(row: Counter[str], told: Sequence[Told], found: Sequence[set[str]]) -> str:
    """Count one text and return what is not right in it."""
    lines = []
    for name, wanted, had in zip(("edges", "items"), told, found, strict=True):
        missed, wrong = wanted.judge(had)
        row[f"{name} told"] += len(wanted.wanted)
        row[f"{name} found"] += len(wanted.wanted) - len(missed) + len(wrong)
        row[f"{name} right"] += len(wanted.wanted) - len(missed)
        lines += [f"   missed {one}" for one in missed] + [f"   wrong  {one}" for one in wrong]
    nothing = not told[0].wanted and not told[1].wanted
    row["texts"] += 1
    row["perfect"] += not lines
    row["empty"] += nothing
    row["left empty"] += nothing and not lines
    return "\n".join(lines)


def table(counts: dict[str, Counter[str]]) -> str:
    """Return the counts as Markdown."""
    lines = [
        "| part | texts all right | of these nothing to find | edges told / found / right | P / R | items | P / R |",
        "|---|---|---|---|---|---|---|",
    ]
    for part, row in counts.items():
        cells = [part, f"{row['perfect']} of {row['texts']}", f"{row['left empty']} of {row['empty']}"]
        for name in ("edges", "items"):
            told, found, right = (row[f"{name} {what}"] for what in ("told", "found", "right"))
            cells += [f"{told} / {found} / {right}", f"{right / max(found, 1):.2f} / {right / max(told, 1):.2f}"]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


if __name__ == "__main__":
    main()
