"""Ask the questions of a file of a memory that holds their texts, and count right, wrong and unanswered ones.

    python tests/benchmarks/ask.py FILE… [--failures]
    python tests/benchmarks/ask.py FILE --speed HOME

An answer is right if it has every word of `must` and none of `must_not`, whatever the case; where `must` is empty, if
it says that it does not know or has no word of `must_not` (with `unknown`, only if it does not know). All else is
`wrong`, but for "I don't know", which is `open`. With `--speed` each question is asked of the memory in HOME instead,
and timed; where there is none, one of 20,000 sentences is made, about 3,000 people of sixty first names.
"""

from __future__ import annotations

import argparse
import json
import random
import shutil
import statistics
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

from memory_plane.ask import ask
from memory_plane.plane import Plane
from memory_plane.settings import Settings
from memory_plane.types import Answer

NAMES = {
    "first": "Aisha Alice Bob Carol Dan Erin Ines Iris Jonas Kofi Lena Marco Marta Nina Omar Paul Petra Priya Rob Tom"
    " Adam Bea Carl Clara Daniel Dora Emil Felix Fred Gina Hans Hugo Ivan Jane Karl Leo Lisa Maria Mark Maya Noah Nora"
    " Olga Oscar Pete Quinn Rita Ruth Sam Sara Simon Tara Tina Uma Vera Victor Viktor Walt Yara Zoe",
    "last": "Allen Baker Bennett Brown Clark Cooper Cox Davies Edwards Evans Fisher Foster Green Hall Harris"
    " Hill Hughes Jackson James Johnson Jones Kelly King Lee Marshall Martin Mason Moore Morgan Morris Parker Price"
    " Roberts Robinson Scott Shaw Shepherd Smith Taylor Thomas Thompson Turner Walker Ward Watson Wood Young",
    "trade": "Bank Energy Foods Labs Media Works",
    "tool": "Docker Figma Go Grafana Java Jira Kafka Kotlin Notion Odoo Postgres Python Redis Rust Scala Slack Spark",
    "place": "Athens Berlin Dublin Hamburg Leeds Lisbon London Madrid Oslo Paris Porto Prague Rome Vienna York Zurich",
}
SENTENCES = (
    ("{first} {last} works at {other_last} {trade}.", 30),
    ("{first} {last} lives in {place}.", 15),
    ("{first} {last} uses {tool} and knows {other_tool}.", 15),
    ("{first} {last} is working on Project {other_last}.", 10),
    ("{first} {last} will send {other_first} {other_last} the contract by Friday.", 8),
    ("{other_last} {trade} is based in {place}.", 6),
    ("{first} {last} is the CTO of {other_last} {trade}.", 6),
    ("{first} {last} manages {other_first} {other_last}.", 5),
    ("Decided to use {tool} because it is cheaper.", 5),
)


class Case(NamedTuple):
    """One question, the memories that it is asked of, what its answer must have and must not, and when all that is."""

    group: str
    memories: Sequence[str | Mapping[str, Any]]
    question: str
    must: Sequence[str]
    must_not: Sequence[str]
    unknown: bool
    now: datetime | None = None


def cases(path: Path) -> Iterator[Case]:
    """Yield the questions of a file: each with texts of its own, or many of one world."""
    held = json.loads(path.read_text("utf-8"))
    now = datetime.fromisoformat(held["now"]) if "now" in held else None
    for one in held.get("questions", ()):
        yield Case(one["group"], one["texts"], one["question"], one["must"], one["must_not"], False, now)
    for world in held.get("worlds", ()):
        for one in world["questions"]:
            wanted = one.get("must", ()), one.get("must_not", ()), one.get("unknown", False)
            yield Case(f"{world['part']}: {world['name']}", world["memories"], one["question"], *wanted, now)


def verdict(case: Case, text: str, known: bool) -> str:
    """Judge one answer."""
    said = text.casefold()
    if any(word.casefold() in said for word in case.must_not):
        return "wrong"
    if not case.must:
        return "wrong" if known and case.unknown else "right"
    if not known:
        return "open"
    return "right" if all(word.casefold() in said for word in case.must) else "wrong"


def planes(found: Sequence[Case], scratch: Path) -> Iterator[tuple[Case, Plane]]:
    """Yield each question with a memory that holds what belongs to it and nothing else."""
    with _open(scratch / "empty"):
        pass
    known: dict[str, Plane] = {}
    for case in found:
        key = json.dumps(case.memories)
        if key not in known:
            home = scratch / str(len(known))
            shutil.copytree(scratch / "empty", home)
            known[key] = _open(home)
            for memory in case.memories:
                _write(known[key], memory, case.now)
        yield case, known[key]
    for plane in known.values():
        plane.close()


def _open(home: Path) -> Plane:
    return Plane(Settings.load(home=home, plugins={"enabled": ["local"]}, timezone="UTC", synchronous="normal"))


def _write(plane: Plane, memory: str | Mapping[str, Any], at: datetime | None) -> None:
    if isinstance(memory, str):
        plane.post(memory, agent="notes", origin="user", created_at=at)
    else:
        given = {"created_at": at, **memory}
        getattr(plane, given.pop("op"))(**given)


def _ask(plane: Plane, case: Case) -> Answer:
    """Ask at the time of the file, which words such as "Friday" depend on."""
    with plane.database.reading() as connection:
        return ask(connection, case.question, case.now or datetime.now(UTC), UTC)


def table(found: Sequence[Case], *, failures: bool) -> None:
    """Print a row for each group."""
    counts: dict[str, dict[str, int]] = {}
    with tempfile.TemporaryDirectory() as scratch:
        for case, plane in planes(found, Path(scratch)):
            answer = _ask(plane, case)
            judged = verdict(case, answer.text, answer.known)
            row = counts.setdefault(case.group, {"right": 0, "wrong": 0, "open": 0})
            row[judged] += 1
            if failures and judged != "right":
                print(f"{judged}: {case.question} -> {answer.text!r}, wanted {case.must}, not {case.must_not}")
    print("| questions | asked | right | wrong | open |\n|---|---|---|---|---|")
    for group, row in counts.items():
        print(f"| {group} | {sum(row.values())} | {row['right']} | {row['wrong']} | {row['open']} |")


def fill(home: Path, count: int = 20_000) -> None:
    """Write sentences about people whose names have parts in common."""
    chance = random.Random(5)
    texts, weights = zip(*SENTENCES, strict=True)
    names = {kind: text.split() for kind, text in NAMES.items()}
    with _open(home) as plane:
        for text in chance.choices(texts, weights, k=count):
            one = {kind: chance.choice(some) for kind, some in names.items()}
            more = {f"other_{kind}": chance.choice(some) for kind, some in names.items()}
            _write(plane, text.format(**one, **more), None)


def speed(found: Sequence[Case], home: Path, rounds: int = 5) -> None:
    """Print how long the questions take in a memory, in milliseconds."""
    if not (home / "memory.db").exists():
        fill(home)
    spent, processor = [], []
    with _open(home) as plane:
        for case in found:
            plane.ask(case.question)
            for _ in range(rounds):
                begin, busy = time.perf_counter(), time.process_time()
                plane.ask(case.question)
                spent.append((time.perf_counter() - begin) * 1000)
                processor.append((time.process_time() - busy) * 1000)
    for name, times in (("on the clock", spent), ("of the processor", processor)):
        times.sort()
        print(f"{statistics.median(times):.2f} ms {name}, 95 % below {times[len(times) * 95 // 100]:.2f} ms")


def main() -> None:
    """Read the command line and print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="+", type=Path)
    parser.add_argument("--failures", action="store_true", help="print each answer that is not right")
    parser.add_argument("--speed", type=Path, metavar="HOME", help="time the questions in the memory of this home")
    given = parser.parse_args()
    found = [case for path in given.files for case in cases(path)]
    if given.speed:
        speed(found, given.speed)
    else:
        table(found, failures=given.failures)


if __name__ == "__main__":
    main()
