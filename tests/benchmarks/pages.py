"""Measure how soon each page of the hub is painted and ready, in memories of several sizes.

    python tests/benchmarks/pages.py --sizes 1000 100000 1000000

A tenth of the edges and mentions belong to one node, the hub that every memory has; 200 items are open. Times are the
browser's own, from the click on: the first paint of any content, and when the page can be used (for the graph: when it
is drawn).
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from statistics import median
from uuid import UUID

from playwright.sync_api import Page
from recall_size import Author, fill

from memory_plane.plane import Plane
from memory_plane.settings import Settings
from memory_plane_local import embedding

sys.path.append(str(Path(__file__).parents[1]))
from browser.stage import browser, enter, serving

TIMES = """async () => {
  const paint = await new Promise((found) => new PerformanceObserver((seen) => seen.getEntriesByName(
    "first-contentful-paint").forEach(found)).observe({ type: "paint", buffered: true }));
  return [paint.startTime, performance.getEntriesByType("navigation")[0].domContentLoadedEventEnd];
}"""
DRAWN = "() => performance.now()"
# Each takes `count`, the number of thoughts, whose rows are 1 to count; ids of all that is made here are its number.
GRAPH = """
INSERT INTO graph_nodes(key, id, type, name, slug, origin, founded_at)
SELECT seq, id_of(:nodes + seq), CASE seq % 3 WHEN 0 THEN 'Person' WHEN 1 THEN 'Organization' ELSE 'Project' END,
  'Node ' || seq, 'node-' || seq, 'agent', at FROM thoughts WHERE seq <= :nodes;
INSERT INTO aliases(name, node, part, uses) SELECT 'node ' || key, key, 0, 1 FROM graph_nodes;
INSERT INTO mentions(seq, start, "end", node)
SELECT seq, 0, 6, CASE WHEN seq % 10 = 0 THEN 1 ELSE 1 + seq * 7919 % :nodes END FROM thoughts;
INSERT OR IGNORE INTO graph_edges(source, relation, target, probability, method, origin, known_since, opened_at)
SELECT CASE WHEN seq % 10 = 0 THEN 1 ELSE 1 + seq * 7919 % :nodes END, 'KNOWS', 1 + seq * 104729 % :nodes,
  0.5 + seq % 50 / 100.0, 'local', 'agent', at, at FROM thoughts WHERE seq <= 2 * :nodes;
INSERT INTO graph_evidence(edge, seq, method, probability, origin, at)
SELECT key, key, method, probability, origin, known_since FROM graph_edges;
INSERT INTO doubts(seq, one, other, probability)
SELECT seq, id_of(:nodes + seq), id_of(:nodes + seq + 1), 0.5 FROM thoughts WHERE seq < :nodes AND seq % 10 = 0;
"""
WORK = """
INSERT INTO items(seq, kind, method, owner, addressee, due_at, status)
SELECT seq, 'commitment', 'asserted', 'muse', 'grok', at + 3600000000,
  CASE WHEN seq > :count - 10000 THEN 'open' ELSE 'done' END
FROM thoughts WHERE seq % 50 = 0;
INSERT INTO operations(seq, id, op, agent, created_at, text, body)
SELECT :count + seq, id_of(2 * :count + seq), 'fact', 'muse', at, seq || ' seats',
  '{"subject":"Subject ' || (seq % :nodes) || '","key":"seats"}'
FROM thoughts WHERE seq <= 2 * :nodes;
INSERT INTO facts(seq, subject, fact_key, at, origin, confidence, valid_from, superseded_at, indexed, visible)
SELECT :count + seq, 'subject ' || (seq % :nodes), 'seats', at, 'agent', 1, at,
  CASE WHEN seq <= :nodes THEN at + 1 END, 0, 1 FROM thoughts WHERE seq <= 2 * :nodes;
INSERT INTO agent_heartbeats(agent, written_at, focus, project, status, at)
SELECT 'agent-' || seq, at, 'Focus ' || seq, 'p1', 'active', at FROM thoughts WHERE seq <= 20;
INSERT INTO attention(agent, seq, score, reason) SELECT 'agent-1', seq, 0.5, 'asked' FROM thoughts WHERE seq % 10 = 0;
"""


def fill_rest(plane: Plane, count: int) -> None:
    """Write the graph, items, facts and heartbeats of so many thoughts past the plane."""
    with plane.database.engine.connect() as connection:
        driver = connection.connection.dbapi_connection
        assert driver is not None
        driver.create_function("id_of", 1, lambda number: UUID(int=number + 2**64).bytes)
        driver.execute("BEGIN IMMEDIATE")
        for statement in filter(str.strip, (GRAPH + WORK).split(";")):
            driver.execute(statement, {"count": count, "nodes": count // 10} if ":" in statement else {})
        driver.execute("COMMIT")


def pages(count: int) -> dict[str, str]:
    """Return the address of each page by the name that the table has for it."""
    thought, node = UUID(int=count // 2), UUID(int=2**64 + count // 10 + 1)
    return {
        "Pulse": "/",
        "Pulse, about the hub": "/?about=Node+1",
        "Pulse, about one": "/?about=Node+77",
        "Search": "/search?q=doctor+garden+winter",
        "Graph": "/graph",
        "Graph, around the hub": "/graph?about=Node+1",
        "People": "/nodes",
        "A node, the hub": f"/nodes/{node}",
        "Facts": "/facts",
        "Review": "/review",
        "Health": "/doctor",
        "A memory": f"/memories/{thought}",
    }


def measured(page: Page, path: str, times: int) -> tuple[float, float]:
    """Return the median milliseconds until a page is painted and until it can be used."""
    found = []
    for _ in range(times + 1):
        answer = page.goto(path, wait_until="load")
        assert answer is not None
        assert answer.ok, path
        painted, ready = page.evaluate(TIMES)
        if path.startswith("/graph"):
            page.locator("body[data-graph=rests]").wait_for()
            ready = page.evaluate(DRAWN)
        found.append((painted, ready))
    painted, ready = zip(*found[1:], strict=True)
    return median(painted), median(ready)


def made(home: Path, count: int, author: Callable[[], Author]) -> None:
    """Make a memory of a size, unless it is there from another run."""
    if not (home / "memory.db").exists():
        with Plane(Settings.load(home=home, synchronous="normal")) as plane:
            fill(plane, author(), count)
            fill_rest(plane, count)


def main() -> int:
    """Print the table: a row a page, and for each size when it was painted and when it could be used."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", type=int, nargs="+", default=[1000, 100_000])
    parser.add_argument("--times", type=int, default=5)
    parser.add_argument("--keep", type=Path, help="a folder to keep the memories in, and to find them again")
    given = parser.parse_args()
    words = [word for word in embedding.table().words() if word.isalpha() and len(word) > 2]
    os.environ["MEMORY_PLANE_PLUGINS__ENABLED"] = json.dumps(["local"])
    table: dict[str, list[str]] = {}
    with tempfile.TemporaryDirectory() as folder, browser() as chromium:
        for size in given.sizes:
            home = (given.keep or Path(folder)) / str(size)
            made(home, size, lambda: Author(words))
            with serving(home) as hub, chromium.new_context(base_url=hub.url) as context:
                page = context.new_page()
                enter(page, hub)
                for name, path in pages(size).items():
                    painted, ready = measured(page, path, given.times)
                    table.setdefault(name, []).append(f"{painted:.0f} / {ready:.0f}")
    print("| page | " + " | ".join(f"{size:,}" for size in given.sizes) + " |")
    print("|---" * (len(given.sizes) + 1) + "|")
    for name, cells in table.items():
        print(f"| {name} | " + " | ".join(cells) + " |")
    return 0


if __name__ == "__main__":
    sys.exit(main())
