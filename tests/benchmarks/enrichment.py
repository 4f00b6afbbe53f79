"""Time what is understood of a message at once: names, identity, edges, open items, attention, meaning.

    python tests/benchmarks/enrichment.py [--gold FILE] [--memories 2000] [--shapes]

The texts are those of tests/data (claims, times, attention), and those of a gold file; five agents have interests and a
focus. Each is written into one growing memory with the local plugin, and into one with none: the difference is what the
plugin and the fold of its answers cost. Milliseconds of the writing thread's CPU, the least of three writes of one text
with different numbers at its end, so that other programs count little. `--shapes` times texts of one shape instead.
"""

from __future__ import annotations

import argparse
import json
import statistics
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from itertools import cycle, islice
from pathlib import Path
from time import thread_time
from typing import Any

from memory_plane.plane import Plane
from memory_plane.settings import Settings

DATA = Path(__file__).parents[1] / "data"
TRIES = 3
LONG = 100_000
"""How many characters the long text has."""

SHAPES = (
    "I'll send Rob the deck and ", "I'll send Rob the deck by Friday and ", "Owner: Alice; Due: Friday; ",
    "- [ ] Rob: send the deck to Alice by Friday\n", "| Send deck | Alice Moreau | Friday |\n",
    "Alice Moreau, Bob Baker, Carol Zhang, ", "  - Alice uses Redis\n    - Bob uses Kafka\n",
    "王伟在腾讯工作并使用数据库李娜住在北京", "foo(bar, Baz.qux) -> Quux; ",
)  # fmt: skip
"""What is repeated to 80 kB: as dense as no note is, since cost must not grow faster than length anywhere."""
DENSE = 80_000


def texts(gold: Path | None) -> Iterator[str]:
    """Yield the sentences that are written."""
    for name in ("claims.tsv", "times.tsv"):
        lines = (DATA / name).read_text("utf-8").splitlines()
        yield from (line.split("\t")[1] for line in lines if "\t" in line and not line.startswith("#"))
    for world in json.loads((DATA / "attention.json").read_text("utf-8"))["worlds"]:
        yield from (one["text"] for one in (*world["before"], *world["texts"]))
    yield from _texts(json.loads(gold.read_text("utf-8"))) if gold else ()


def _texts(held: Any) -> Iterator[str]:
    """Yield whatever is called text in a file of labels."""
    if isinstance(held, dict):
        yield from ([held["text"]] if isinstance(held.get("text"), str) else ())
        held = list(held.values())
    for one in held if isinstance(held, list) else ():
        yield from _texts(one)


def opened(home: Path, plugins: Sequence[str], embedding: str = "meanings") -> Plane:
    """Open an empty memory in which five agents have interests and a focus."""
    (world, *_) = json.loads((DATA / "attention.json").read_text("utf-8"))["worlds"]
    interests = {agent: {"interests": about["interests"]} for agent, about in world["agents"].items()}
    choice, chosen = {"enabled": list(plugins)}, {"local": {"embedding": embedding}}
    plane = Plane(Settings.load(home=home, plugins=choice, plugin=chosen, agents=interests, synchronous="normal"))
    for agent, about in world["agents"].items():
        plane.heartbeat(agent=agent, focus=about["focus"])
    return plane


def timed(plane: Plane, written: Iterable[str]) -> list[float]:
    """Return how long each write took, in milliseconds."""
    spent = []
    for number, text in enumerate(written):
        tries = []
        for again in range(TRIES):
            begin = thread_time()
            plane.post(f"{text} ({number}.{again})", agent="notes", origin="user")
            tries.append(1000 * (thread_time() - begin))
        spent.append(min(tries))
    return spent


def shapes() -> None:
    """Print what 80 kB of each shape take in an empty memory."""
    print("| 80 kB of | ms |\n|---|---|")
    for shape in SHAPES:
        text = (shape * (DENSE // len(shape) + 1)).encode()[:DENSE].decode(errors="ignore")
        with tempfile.TemporaryDirectory() as home, opened(Path(home), ("local",)) as plane:
            print(f"| {shape.strip()!r} | {timed(plane, [text])[0]:.0f} |")


def main() -> None:
    """Write, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--gold", type=Path, help="a file of labelled texts, such as chat40.json")
    parser.add_argument("--memories", type=int, default=1_200, help="how many are written")
    parser.add_argument("--shapes", action="store_true", help="time long texts of one shape, and nothing else")
    options = parser.parse_args()
    if options.shapes:
        shapes()
        return
    some = list(dict.fromkeys(texts(options.gold)))
    written = list(islice(cycle(some), options.memories // TRIES))
    long = " ".join(islice(cycle(some), 4_000))[:LONG]
    found: dict[str, list[float]] = {}
    for name, plugins, embedding in (
        ("with the plugin", ("local",), "meanings"),
        ("without vectors", ("local",), "none"),
        ("with none", (), "none"),
    ):
        with tempfile.TemporaryDirectory() as home, opened(Path(home), plugins, embedding) as plane:
            timed(plane, some[:20])
            found[name] = timed(plane, written)
            found[f"100 kB, {name}"] = timed(plane, [long])
    print("| a write | median ms | 95th percentile |\n|---|---|---|")
    for name, spent in found.items():
        ordered = sorted(spent)
        print(f"| {name} | {statistics.median(ordered):.2f} | {ordered[int(0.95 * (len(ordered) - 1))]:.2f} |")
    for name in ("with the plugin", "without vectors"):
        ordered = sorted(one - other for one, other in zip(found[name], found["with none"], strict=True))
        row = f"{statistics.median(ordered):.2f} | {ordered[int(0.95 * (len(ordered) - 1))]:.2f}"
        print(f"| {name}, the difference to none | {row} |")


if __name__ == "__main__":
    main()
