"""Time paths, neighbourhoods, search, communities and exports of a graph that is made directly in the tables.

    python tests/benchmarks/graph.py [--nodes 10000] [--edges 1000000] [--shape even|hubs] [--paths] [--cpu] [--home H]

`even` joins nodes at random; `hubs` joins three nodes with a third of all others besides, as a person's own name and
languages are. A folder that has a memory already is measured as it is. Times are milliseconds, the least of
five tries of each call; of this process's CPU with `--cpu`, for machines on which others work too.
"""

from __future__ import annotations

import argparse
import random
import statistics
import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import nullcontext
from functools import partial
from pathlib import Path
from time import perf_counter, process_time
from typing import Any
from uuid import UUID

from sqlalchemy import insert

from memory_plane import Plane, models
from memory_plane.types import EPOCH

TYPES = ("Person", "Organization", "Project", "Tool")
RELATIONS = ("KNOWS", "WORKS_AT", "USES", "DEPENDS_ON")
CHUNK = 20_000
TRIES = 5


def fill(plane: Plane, nodes: int, edges: int, shape: str, seed: int = 7) -> None:
    """Make the nodes and the edges; two more nodes hang at the ends of chains of two, and one has no edge."""
    chance = random.Random(seed)
    with plane.database.writing() as connection:
        for start in range(0, nodes + 6, CHUNK):
            rows = [_node(key, chance) for key in range(start + 1, min(start + CHUNK, nodes + 6) + 1)]
            connection.execute(insert(models.graph_nodes), rows)
            names = [{"name": row["name"].casefold(), "node": row["key"], "part": False, "uses": 1} for row in rows]
            connection.execute(insert(models.aliases), names)
        chunk: list[dict[str, object]] = []
        for row in _edges(nodes, edges, shape, chance):
            chunk.append(row)
            if len(chunk) == CHUNK:
                connection.execute(insert(models.graph_edges), chunk)
                chunk = []
        if chunk:
            connection.execute(insert(models.graph_edges), chunk)


def _node(key: int, chance: random.Random) -> dict[str, Any]:
    name = f"Name {key}"
    kind = TYPES[key % len(TYPES)]
    id = str(UUID(int=chance.getrandbits(128)))
    slug = f"{kind.lower()}:name-{key}"
    return {
        "key": key, "id": id, "type": kind, "name": name, "slug": slug, "origin": "agent", "founded_at": EPOCH
    }  # fmt: skip


def _edges(nodes: int, edges: int, shape: str, chance: random.Random) -> Iterator[dict[str, object]]:
    known: set[tuple[int, int, int]] = set()
    hubs = range(1, 4) if shape == "hubs" else ()
    wanted = [(hub, node) for hub in hubs for node in chance.sample(range(4, nodes + 1), nodes // 3)]
    wanted += [(1, nodes + 1), (nodes + 1, nodes + 2), (2, nodes + 3), (nodes + 3, nodes + 4)]
    while len(known) < edges:
        source, target = wanted.pop() if wanted else (chance.randint(1, nodes), chance.randint(1, nodes))
        triple = (source, chance.randrange(len(RELATIONS)), target)
        if source == target or triple in known:
            continue
        known.add(triple)
        yield {
            "source": source, "relation": RELATIONS[triple[1]], "target": target, "method": "local", "origin": "agent",
            "probability": round(chance.uniform(0.5, 1), 3), "known_since": EPOCH, "opened_at": EPOCH,
        }  # fmt: skip


def paths(plane: Plane, nodes: int, count: int, clock: Callable[[], float]) -> Iterator[str]:
    """Measure ways between nodes at random, to the end of a chain, and to a node without edges."""
    chance = random.Random(3)
    some = [str(chance.randint(4, nodes)) for _ in range(2 * count)]
    for title, pairs in (
        ("two at random", list(zip(some[:count], some[count:], strict=True))),
        ("to the end of a chain of two", [(one, str(nodes + 4)) for one in some[:count]]),
        ("chain to chain", [(str(nodes + 2), str(nodes + 4))] * 9),
        ("to one without edges: absent", [(one, str(nodes + 6)) for one in some[:count]]),
    ):
        times, lengths, sure = [], [], 0
        for one, other in pairs:
            spent, trail = best(clock, partial(plane.path, f"Name {one}", f"Name {other}"))
            times.append(spent)
            lengths.append(len(trail.edges))
            sure += trail.complete
        found = [length for length in lengths if length]
        said = f"{len(found)} of {len(pairs)} found, {statistics.mean(found or [0]):.1f} edges; complete {sure}"
        yield f"| path, {title} | {told(times)} | {said} |"


def best(clock: Callable[[], float], call: Callable[[], Any]) -> tuple[float, Any]:
    """Return the least time that a call took, and what it answered: what others do at the time only adds to it."""
    spent, found = [], None
    for _ in range(TRIES):
        started = clock()
        found = call()
        spent.append(clock() - started)
    return min(spent), found


def told(times: Iterable[float]) -> str:
    ordered = sorted(1000 * time for time in times)
    return f"{statistics.median(ordered):.1f} / {ordered[int(0.95 * (len(ordered) - 1))]:.1f}"


def reads(plane: Plane, nodes: int, count: int, clock: Callable[[], float]) -> Iterator[str]:
    """Measure what else is read."""
    chance = random.Random(5)
    names = [f"Name {chance.randint(4, nodes)}" for _ in range(count)]
    calls: tuple[tuple[str, Callable[[str], Any], int], ...] = (
        ("around a name, 40 edges", lambda name: plane.graph(about=name), count),
        ("around a name, 3 hops, 80 edges", lambda name: plane.graph(about=name, hops=3, limit=80), count),
        ("around a hub, 40 edges", lambda name: plane.graph(about="Name 1"), 9),
        ("search by name", plane.search, count),
        ("communities", lambda name: plane.communities(), 1),
        ("export, all, JSON", lambda name: sum(1 for _ in plane.visualize("json")), 1),
    )
    for title, call, times in calls:
        spent = []
        for name in names[:times]:
            spent.append(best(clock, partial(call, name))[0])
        yield f"| {title} | {told(spent)} | |"


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--nodes", type=int, default=10_000)
    parser.add_argument("--edges", type=int, default=1_000_000)
    parser.add_argument("--shape", choices=("even", "hubs"), default="even")
    parser.add_argument("--home", type=Path)
    parser.add_argument("--count", type=int, default=60)
    parser.add_argument("--cpu", action="store_true")
    parser.add_argument("--paths", action="store_true", help="paths only")
    given = parser.parse_args()
    place = tempfile.TemporaryDirectory() if given.home is None else nullcontext(given.home)
    with place as home, Plane(home=home) as plane:
        if not plane.stats().nodes_by_type:
            fill(plane, given.nodes, given.edges, given.shape)
        print(f"{given.nodes:,} nodes, {given.edges:,} edges, {given.shape}\n")
        print("| | median / p95 ms | |\n|---|---|---|")
        clock = process_time if given.cpu else perf_counter
        for measured in (paths,) if given.paths else (paths, reads):
            for row in measured(plane, given.nodes, given.count, clock):
                print(row, flush=True)


if __name__ == "__main__":
    main()
