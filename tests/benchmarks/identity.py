"""Who is who: how often two are taken for one, how often one for two, on blocks of marked texts.

    python tests/benchmarks/identity.py [tests/data/identity.txt] [--show] [--everyday /path/to/peerbench]
    python tests/benchmarks/identity.py --speed 1000 100000

With `--speed` the price of looking a new name up among so many made-up ones is measured instead. With `--everyday` the
harness's 600 people with everyday names are written as well: which facts are gone, and who has got another one's
employer.
"""

from __future__ import annotations

import argparse
import re
import shutil
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from functools import cache
from itertools import combinations
from pathlib import Path
from random import Random
from string import ascii_lowercase
from typing import NamedTuple

from sqlalchemy import Connection

from memory_plane import Plane
from memory_plane.operations import make_operation, memory_of
from memory_plane.plugins import PluginManager
from memory_plane.recall.candidates import candidates
from memory_plane.settings import Settings
from memory_plane.store import derivations, identities, log, operations
from memory_plane.store.codec import Derivation
from memory_plane.types import Classification, Memory, Mention, Resolution, new_node_id

DATA = Path(__file__).parents[1] / "data" / "identity.txt"
UNREAD = ("three", "four")
NAMES, WARMING = 5, 100
_MARKED = re.compile(r"\[(?P<name>[^|\]]+)\|(?P<group>\w+)\.(?P<number>\d+)\]")


class Named(NamedTuple):
    """A marked name: in which line of its block it stands, and which of its group it is."""

    line: int
    name: str
    group: str
    number: str


def main() -> None:
    """Print a row for each part."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", nargs="?", type=Path, default=DATA)
    parser.add_argument("--show", action="store_true", help="show each pair that is wrong, but for those nobody reads")
    parser.add_argument("--everyday", type=Path, help="the folder of the peerbench harness")
    parser.add_argument("--speed", type=int, nargs="+", help="numbers of nodes")
    given = parser.parse_args()
    if given.speed:
        for nodes in given.speed:
            speed(nodes)
        return
    print("part    different  taken for one    same  taken for two  of these in review  not read")
    for part, blocks in parts(given.file.read_text("utf-8")):
        count = Counter[str]()
        for block in blocks:
            judge(block, count, show=given.show and part not in UNREAD)
        print(
            f"{part:8}{count['different']:9}{count['false']:15}{count['same']:8}{count['missed']:15}"
            f"{count['asked']:20}{count['unread']:10}"
        )
    if given.everyday is not None:
        everyday(given.everyday)


def parts(text: str) -> Iterator[tuple[str, list[list[str]]]]:
    """Yield the name of each part with its blocks of lines."""
    text = "\n".join(line for line in text.splitlines() if not line.startswith("#"))
    for part in text.split("== ")[1:]:
        name, _, rest = part.partition("\n")
        yield name.strip(), [block.splitlines() for block in re.split(r"\n\s*\n", rest.strip())]


def judge(block: list[str], count: Counter[str], *, show: bool) -> None:
    """Write a block into a memory of its own and compare each pair of its marked names."""
    with tempfile.TemporaryDirectory() as home, opened(home) as plane:
        named: list[tuple[Named, str | None]] = []
        for number, line in enumerate(block):
            agent, _, text = line.partition(": ")
            plain = _MARKED.sub(lambda one: one["name"], text)
            id = plane.post(plain, agent=agent).id
            nodes = meant(plane, id)
            named += [
                (Named(number, one["name"], one["group"], one["number"]), nodes.get(one["name"].removesuffix(".")))
                for one in _MARKED.finditer(text)
            ]
        reviews = {frozenset((one.one.id, one.other.id)) for one in plane.reviews(limit=100)}
        for (one, first), (other, second) in combinations(named, 2):
            if one.group == other.group and one.line != other.line:
                wrong = verdict(one, first, other, second, reviews, count)
                if show and wrong:
                    print(f"  {wrong}: {one.name!r} and {other.name!r} in {block}")


def verdict(
    one: Named, first: str | None, other: Named, second: str | None, reviews: set[frozenset[str]], count: Counter[str]
) -> str | None:
    """Count a pair; return what is wrong with it."""
    if first is None or second is None:
        count["unread"] += 1
        return "not read"
    same = one.number == other.number
    count["same" if same else "different"] += 1
    if same and first != second:
        count["missed"] += 1
        count["asked"] += frozenset((first, second)) in reviews
        return "taken for two"
    if not same and first == second:
        count["false"] += 1
        return "taken for one"
    return None


def meant(plane: Plane, memory: str) -> dict[str, str]:
    """Return the ids of the nodes that a memory names, by the words there."""
    with plane.database.reading() as connection:
        found = log.get(connection, memory)
        assert found is not None
        stored = log.memory(connection, found[0])
        assert stored is not None
        answers = identities.seen(connection, memory, derivations.read(connection, found[0], stored[0]))
        classified = [one.classification for one in answers if one.classification is not None]
    return {one.mention.text.removesuffix("."): one.node for found_ in classified for one in found_.resolutions}


def opened(home: str) -> Plane:
    """Open an empty memory with the plugin `local` alone; it is a copy, since making one takes half a second."""
    shutil.copy(_empty(), Path(home) / "memory.db")
    settings = Settings.load(home=home, plugins={"enabled": ["local"]}, synchronous="normal")
    return Plane(settings, plugins=_plugins())


@cache
def _empty() -> Path:
    home = Path(tempfile.mkdtemp())
    Plane(home=home, plugins=PluginManager()).close()
    return home / "memory.db"


@cache
def _plugins() -> PluginManager:
    return PluginManager.load(Settings.load(home=tempfile.mkdtemp(), plugins={"enabled": ["local"]}))


def speed(nodes: int) -> None:
    """Print the processor time that the candidates of one new name take in a memory of so many names."""
    draw = Random(7)
    with tempfile.TemporaryDirectory() as home, opened(home) as plane:
        with plane.database.writing(durable=False) as connection:
            for _ in range(nodes // NAMES):
                memory = written(connection, [made_up(draw) for _ in range(NAMES)])
        with plane.database.reading() as connection:
            asked = [mention(name, name) for name in (made_up(draw) for _ in range(600))]
            for part in (asked[:WARMING], asked[WARMING:]):
                began = time.process_time()
                for one in part:
                    candidates(connection, memory, [one])
            print(f"{nodes:9,} nodes: {(time.process_time() - began) / len(part) * 1e6:.0f} µs a name")


def written(connection: Connection, names: list[str]) -> Memory:
    """Write a memory that founds a node for each name."""
    text = ", ".join(names)
    operation = make_operation("thought", {"text": text}, agent="muse")
    memory = memory_of(operation)
    assert memory is not None
    mentions = [mention(text, name) for name in names]
    new = (Resolution(mention=one, node=new_node_id(memory.id, one), probability=1) for one in mentions)
    answer = Derivation(plugin="local", version="1", classification=Classification(resolutions=tuple(new)))
    seq = operations.append(connection, operation, operation.created_at).seq
    derivations.record(connection, seq, memory, operation.created_at, [answer])
    return memory


def made_up(draw: Random) -> str:
    """Make a name of two long words that nobody has."""
    return " ".join("".join(draw.choices(ascii_lowercase, k=draw.randint(6, 9))).capitalize() for _ in range(2))


def mention(text: str, name: str) -> Mention:
    """Return a name where it stands."""
    start = text.index(name)
    return Mention(text=name, type="Person", start=start, end=start + len(name), confidence=1)


def everyday(harness: Path) -> None:
    """Write the 600 people of the harness; print which facts are gone and who has got another's employer."""
    sys.path.insert(0, str(harness))
    from peerbench.corpus import everyday as corpus  # type: ignore[import-not-found]

    facts = corpus(600)
    with tempfile.TemporaryDirectory() as home, opened(home) as plane:
        for one in facts:
            plane.post(one.text, agent="bench")
        employers = {one.subject: one.object for one in facts}
        gone = false = 0
        for one in facts:
            edges = [edge for edge in plane.graph(about=one.subject, limit=200).edges if edge.relation == "WORKS_AT"]
            own = [edge.target.name for edge in edges if edge.source.name == one.subject]
            gone += employers[one.subject] not in own
            false += any(target != employers[one.subject] for target in own)
    print(f"everyday names: {len(facts)} facts, {gone} gone, {false} with another's employer")


if __name__ == "__main__":
    main()
