"""Measure Memory Plane beside peerbench's reference server, in one run, and print the tables of docs/performance.md.

python tests/benchmarks/peers.py --peerbench PATH [--sizes 1000,5000,20000] [--json results.json]
"""

# The harness is not installed where types are checked.
# mypy: disable-error-code="import-not-found"

from __future__ import annotations

import argparse
import asyncio
import json
import os
import platform
import sqlite3
import statistics
import sys
import tempfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

Result = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Bar:
    """What was promised of one number."""

    what: str
    most: float
    unit: str
    found: float

    def row(self) -> str:
        """Return the line of the table, with how far a bar was missed."""
        verdict = "met" if self.found <= self.most else f"missed by {self.found - self.most:.3g} {self.unit}".strip()
        return f"| {self.what} | {self.most:g} {self.unit} | {self.found:.3g} {self.unit} | {verdict} |"


async def measure(kind: type, scratch: Path, sizes: list[int], rounds: int, growing: type | None = None) -> Result:
    """Drive one peer through every scenario; `growing` is the adapter for the first, where it is another one."""
    from peerbench import scenarios

    made: list[Any] = []

    def make(folder: Path) -> Any:
        made.append((growing if growing and not made else kind)(Path(sys.executable), folder))
        return made[-1]

    def home(name: str) -> Path:
        return scratch / f"{kind.__name__}-{name}"

    result = {"growth": await scenarios.growth(make, home("growth"), sizes, budget_s=1200.0)}
    writes = getattr(made[0], "write_ms", [])
    result["writes"] = means(writes, sizes)
    result["worst_write_ms"] = max(writes, default=None)
    result["two_writers"] = await scenarios.two_writers(make, home("two"))
    result["burst"] = await scenarios.burst(make, home("burst"))
    result["kill_nine"] = await scenarios.kill_nine(make, home("kill"), rounds)
    result["names"] = await scenarios.names(make, home("names"))
    result["cold_start"] = await scenarios.cold_start(make, home("cold"))
    return result


def means(writes: list[float], sizes: list[int]) -> list[float]:
    """Return the mean of the last 500 writes before each size: a steadier number than the harness's last 200."""
    return [statistics.fmean(writes[max(0, size - 500) : size]) for size in sizes if len(writes) >= size]


def false_employers(result: Result) -> str:
    names = result["names"]
    return f"{names['fact_gone']} / {names['has_a_false_employer']}"


def growth_rows(label: str, result: Result) -> Iterable[str]:
    """One line a size: what a write and a search cost, and what they leave behind."""
    for step in result["growth"]["steps"]:
        write, reads = step["last_200_writes_ms"], step["reads"]
        search, noop = reads["search"]["ms"]["median"], reads["noop"]["ms"]["median"]
        times = [step["last_200_mean_ms"], write["p95"], write["max"], search, noop]
        cells = [label, f"{step['facts']:,}", *(f"{time:.2f}" for time in times), reads["search"]["hits"]]
        cells += [f"{megabytes(step):.2f}", f"{step['peak_rss_mib']:.0f}"]
        yield f"| {' | '.join(cells)} |"


def megabytes(step: Mapping[str, Any]) -> float:
    """Return the megabytes on disk per 1,000 facts."""
    return float(step["bytes"] / step["facts"] / 1000)


def safety_row(label: str, result: Result) -> str:
    """One line a peer: what was lost, and how fast it starts."""
    two, burst, kill, cold = (result[name] for name in ("two_writers", "burst", "kill_nine", "cold_start"))
    cells = [
        label, f"{two['acknowledged']}/{two['asked']}, {two['lost_after_restart']} lost",
        f"{burst['acknowledged']}/{burst['asked']}, {burst['lost_after_restart']} lost",
        f"{kill['acknowledged']}, {kill['lost']} lost", false_employers(result),
        f"{cold['start_ms']['median']:.0f}", f"{cold['first_call_ms']['median']:.1f}",
        f"{cold['later_call_ms']['median']:.2f}",
    ]  # fmt: skip
    return f"| {' | '.join(cells)} |"


def bars(result: Result) -> list[Bar]:
    """Hold the numbers of Memory Plane against what the project promises of them."""
    steps = result["growth"]["steps"]
    first, last, writes = steps[0], steps[-1], result["writes"]
    reads = last["reads"]
    over = reads["search"]["ms"]["median"] - reads["noop"]["ms"]["median"]
    lost = result["two_writers"]["lost_after_restart"] + result["burst"]["lost_after_restart"]
    unanswered = result["two_writers"]["errors"] + result["burst"]["errors"]
    disk = result["growth"]["bytes_after_close"] / last["facts"] / 1000
    return [
        Bar(what=f"mean write at {first['facts']:,}", most=3, unit="ms", found=writes[0]),
        Bar(what=f"mean write at {last['facts']:,}", most=3, unit="ms", found=writes[-1]),
        Bar(what="growth of the mean write", most=1.3, unit="×", found=writes[-1] / writes[0]),
        Bar(what="worst of all writes", most=50, unit="ms", found=result["worst_write_ms"]),
        Bar(what=f"search above the SDK's no-op at {last['facts']:,}", most=0.6, unit="ms", found=over),
        Bar(what="disk per 1,000 facts", most=0.8, unit="MB", found=disk),
        Bar(what="peak memory", most=120, unit="MiB", found=last["peak_rss_mib"]),
        Bar(what="two writers and a burst of 200: lost or refused", most=0, unit="", found=lost + unanswered),
    ]


def tables(results: dict[str, Result], yardsticks: list[float]) -> str:
    """Return the Markdown of the whole run."""
    low, high = min(yardsticks), max(yardsticks)
    lines = [
        f"Python {platform.python_version()}, SQLite {sqlite3.sqlite_version}, {platform.system()}, "
        f"{os.cpu_count()} cores; the harness's yardstick took {low:.0f} to {high:.0f} ms.", "",
        "| server | facts | write ms | p95 | worst of 200 | search ms | no-op ms | found | MB per 1,000 | peak MiB |",
        "|---|---|---|---|---|---|---|---|---|---|",
        *(row for label, result in results.items() for row in growth_rows(label, result)), "",
        "| server | two writers | burst of 200 | kill -9 | names gone / false | start ms | first call ms | later ms |",
        "|---|---|---|---|---|---|---|---|",
        *(safety_row(label, result) for label, result in results.items()), "",
        "| bar | at most | found | |", "|---|---|---|---|", *(bar.row() for bar in bars(results["memory-plane"])),
    ]  # fmt: skip
    return "\n".join(lines)


async def run(sizes: list[int], rounds: int, scratch: Path) -> tuple[dict[str, Result], list[float]]:
    """Measure the peers, with the harness's yardstick before, between and after."""
    from peerbench.__main__ import yardstick_ms
    from peerbench.adapters import Reference
    from peerbench_adapter import BehindHub, BesideSdk, MemoryPlane

    yardsticks = [yardstick_ms()]
    reference = await measure(Reference, scratch, sizes, rounds)
    yardsticks.append(yardstick_ms())
    plane = await measure(MemoryPlane, scratch, sizes, rounds, growing=BesideSdk)
    yardsticks.append(yardstick_ms())
    hub = await measure(BehindHub, scratch, sizes, rounds)
    results = {"reference": reference, "memory-plane": plane, "memory-plane behind a hub": hub}
    return results, [*yardsticks, yardstick_ms()]


def main() -> None:
    """Read the options, find the harness and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--peerbench", type=Path, default=os.environ.get("PEERBENCH"), help="the harness's folder")
    parser.add_argument("--sizes", default="1000,5000,20000", help="facts at which reads are timed")
    parser.add_argument("--rounds", type=int, default=10, help="rounds of kill -9")
    parser.add_argument("--json", type=Path, help="a file for the results as the harness gave them")
    options = parser.parse_args()
    if options.peerbench is None or not (Path(options.peerbench) / "peerbench" / "scenarios.py").is_file():
        parser.error("give the folder of the peerbench harness as --peerbench, or in PEERBENCH")
    sys.path.insert(0, str(Path(options.peerbench).resolve()))
    sizes = [int(size) for size in options.sizes.split(",")]
    with tempfile.TemporaryDirectory() as scratch:
        results, yardsticks = asyncio.run(run(sizes, options.rounds, Path(scratch)))
    if options.json:
        options.json.write_text(json.dumps({"yardstick_ms": yardsticks, **results}, indent=1), "utf-8")
    print(tables(results, yardsticks))


if __name__ == "__main__":
    main()
