"""Score what `memory-plane-local` finds in the texts of a gold file, in process, and print a table.

    python tests/benchmarks/quality.py --peerbench PATH --gold FILE [--failures]

Each text goes into an empty memory of its own; what the graph then holds is scored by peerbench, as for every rival.
Of the groups "three", "five" and "seven" nobody reads the failures.
"""

# The harness is not installed where types are checked.
# mypy: disable-error-code="import-not-found"

from __future__ import annotations

import argparse
import json
import os
import shutil
import sqlite3
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

from memory_plane.plane import Plane

NODES = "SELECT key, name, type FROM graph_nodes"
# From the tables, since the graph that agents see leaves out what is over, and the gold asks for that too.
EDGES = "SELECT source, relation, target, valid_until FROM graph_edges"
UNREAD = ("three", "five", "seven")


def predict(empty: Path, home: Path, text: str) -> dict[str, Any]:
    """Post one text into a copy of an empty memory; return its graph as the harness reads one."""
    shutil.rmtree(home, ignore_errors=True)
    shutil.copytree(empty, home)
    with Plane(home=home) as plane:
        begin = time.perf_counter()
        receipt = plane.post(text, agent="user", origin="user")
        spent = (time.perf_counter() - begin) * 1000
    with closing(sqlite3.connect(home / "memory.db")) as connection:
        nodes = {key: {"name": name, "type": type} for key, name, type in connection.execute(NODES)}
        edges = list(connection.execute(EDGES))
    relations = [
        {"s": nodes[source]["name"], "label": label, "o": nodes[target]["name"], "valid_until": until}
        for source, label, target, until in edges
    ]
    error = {"error": receipt.detail} if receipt.state != "stored" else {}
    return {"entities": list(nodes.values()), "relations": relations, "ms": round(spent, 2), **error}


def predictions(gold: Path, scratch: Path) -> Iterator[dict[str, Any]]:
    """Yield the prediction for every text of the gold file."""
    from peerbench.quality import Gold

    with Plane(home=scratch / "empty"):
        pass
    for items in Gold(gold).groups.values():
        for item in items:
            yield {"id": item["id"], **predict(scratch / "empty", scratch / "home", Gold.text(item))}


def table(report: dict[str, Any]) -> str:
    """Return the scores as Markdown."""
    lines = [
        "| texts | entities P / R / F1 | types right | relations P / R / F1 | pairs F1 | false claims | perfect |",
        "|---|---|---|---|---|---|---|",
    ]
    for group, found in report.items():
        named, strict, loose = (found[name] for name in ("entities", "relations_strict", "relations_loose"))
        perfect = f"{found['notes'].get('perfect items', 0)}/{found['items']}"
        cells = [f"{group} ({found['items']})", scores(named), found["type_accuracy_of_found"], scores(strict)]
        cells += [loose["f1"], len(found["violations"]), perfect]
        lines.append(f"| {' | '.join(map(str, cells))} |")
    return "\n".join(lines)


def scores(tally: dict[str, float]) -> str:
    return f"{tally['precision']} / {tally['recall']} / {tally['f1']}"


def main() -> None:
    """Read the options, predict, score and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--peerbench", type=Path, default=os.environ.get("PEERBENCH"), help="the harness's folder")
    parser.add_argument("--gold", type=Path, required=True, help="the labelled texts")
    parser.add_argument("--failures", action="store_true", help="list what was missed and what was made up")
    options = parser.parse_args()
    if options.peerbench is None or not (Path(options.peerbench) / "peerbench" / "quality.py").is_file():
        parser.error("give the folder of the peerbench harness as --peerbench, or in PEERBENCH")
    sys.path.insert(0, str(Path(options.peerbench).resolve()))
    from peerbench.quality import score

    with tempfile.TemporaryDirectory() as folder:
        predicted = Path(folder) / "predicted.jsonl"
        rows = predictions(options.gold, Path(folder))
        predicted.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), "utf-8")
        report = score(options.gold, predicted)
    print(table(report))
    if options.failures:
        failures = {group: found["failures"] for group, found in report.items() if group not in UNREAD}
        print(json.dumps(failures, ensure_ascii=False, indent=1))


if __name__ == "__main__":
    main()
