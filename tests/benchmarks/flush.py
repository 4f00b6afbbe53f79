"""Measure what it costs to flush a long outbox, in multiples of the bare `POST /api/sync` of the same batches.

Each run has a hub of its own in a fresh home, without plugins; the runs of the two are interleaved and the medians
compared. The bare requests are made ready before the clock runs and go over one open connection.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from statistics import median

import httpx
from pydantic import SecretStr

from memory_plane import Client
from memory_plane.operations import make_operation, record_of
from memory_plane.outbox import MAX_BATCH
from memory_plane.settings import ClientSettings, HubSettings, Settings
from memory_plane.testing.hub import HubProcess
from memory_plane.types import Operation

START = datetime(2026, 1, 5, 9, tzinfo=UTC)
LIMIT = 1.5
ANSWER = 60.0


def operations(count: int) -> list[Operation]:
    """Make thoughts of some 100 bytes, a second apart."""
    words = "Daniel asked Rob about the timing report of the gateway, which Ann wants before the release"
    times = (START + timedelta(seconds=number) for number in range(count))
    return [make_operation("thought", {"text": f"{words} {at:%H%M%S}"}, agent="muse", created_at=at) for at in times]


def bare(hub: HubProcess, home: Path, queue: Sequence[Operation]) -> float:
    """Post the batches and return the seconds that took."""
    bodies = [
        json.dumps({"operations": [record_of(one) for one in queue[start : start + MAX_BATCH]]}).encode()
        for start in range(0, len(queue), MAX_BATCH)
    ]
    headers = {"authorization": f"Bearer {hub.token}", "content-type": "application/json"}
    with httpx.Client(base_url=hub.url, headers=headers, timeout=ANSWER) as http:
        http.get("/health").raise_for_status()
        start = time.perf_counter()
        for body in bodies:
            states = {one["state"] for one in http.post("/api/sync", content=body).raise_for_status().json()}
            assert states == {"stored"}
        return time.perf_counter() - start


def flush(hub: HubProcess, home: Path, queue: Sequence[Operation]) -> float:
    """Flush the same from an outbox and return the seconds that took."""
    settings = Settings(
        home=home, hub=HubSettings(url=hub.url, token=SecretStr(hub.token)), client=ClientSettings(answer=ANSWER)
    )
    with Client(settings) as client:
        client.status()
        client.outbox.append(*queue)
        start = time.perf_counter()
        assert client.flush() == 0
        return time.perf_counter() - start


Way = Callable[[HubProcess, Path, Sequence[Operation]], float]
WAYS: dict[str, Way] = {"bare POST /api/sync": bare, "Client.flush": flush}


def seconds(way: Way, queue: Sequence[Operation]) -> float:
    """Run one of the two once, with a fresh hub."""
    with tempfile.TemporaryDirectory() as folder:
        hub = HubProcess(Path(folder) / "hub")
        try:
            return way(hub, Path(folder) / "home", queue)
        finally:
            hub.stop()


def main() -> int:
    """Print the table; exit 1 when the ratio is over its limit."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--operations", type=int, default=10_000)
    options = parser.parse_args()
    os.environ["MEMORY_PLANE_PLUGINS__ENABLED"] = "[]"
    queue = operations(options.operations)
    rounds = [{name: seconds(way, queue) for name, way in WAYS.items()} for _ in range(options.runs)]
    times = {name: median(each[name] for each in rounds) for name in WAYS}
    sys.stdout.write(f"{'way':<20} {'seconds':>8} {'µs each':>8} {'ratio':>6}\n")
    for name, taken in times.items():
        ratio = taken / times["bare POST /api/sync"]
        sys.stdout.write(f"{name:<20} {taken:>8.2f} {taken / len(queue) * 1e6:>8.0f} {ratio:>6.2f}\n")
    return int(times["Client.flush"] > LIMIT * times["bare POST /api/sync"])


if __name__ == "__main__":
    sys.exit(main())
