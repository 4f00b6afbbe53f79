"""Eight writers through `Client` while the hub is killed and started again at random and the disk fills once.

eight_writers.py FOLDER HUB EACH KILLS SEED DISK

The writers use the home FOLDER/plane and the hub has FOLDER/HUB, which may be the same. DISK is what fills it: `disk`
writes into FOLDER until there is no room, `limit` forbids the processes any longer file. Prints what the writers were
told, as lines of JSON: [writer, number, id, state], and a line `{"refused": COUNT}` at the end.
"""

from __future__ import annotations

import json
import os
import resource
import sys
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from random import Random
from threading import Event, Thread
from time import monotonic

from memory_plane import Client, bodies, outbox, pipeline, plane, plugins, remote, rendering
from memory_plane.testing.hub import HubProcess
from memory_plane.types import Receipt

WRITERS = 8
SECONDS = 120
PAUSE = 0.01
SHORT, LONG = b".", b"!"

assert bodies and outbox and pipeline and plane and plugins and remote and rendering  # loaded before the forks


def say(writer: int, number: int, receipt: Receipt) -> None:
    """Tell the receipt in one line, so short that a kill cannot cut it."""
    os.write(1, (json.dumps([writer, number, receipt.id, receipt.state]) + "\n").encode())


def write(client: Client, writer: int, number: int, size: bytes, at: datetime) -> Receipt:
    """Write a thought, a fact or a commitment that holds both numbers."""
    agent, words = f"writer-{writer}", f"{writer} {number}{' and so on' * 15_000 if size == LONG else ''}"
    match number % 3:
        case 0:
            return client.post(words, agent=agent, created_at=at)
        case 1:
            return client.fact(f"place {number % 7}", "note", words, agent=agent, created_at=at)
        case _:
            return client.post(words, agent=agent, kind="commitment", created_at=at)


def work(home: Path, writer: int, each: int, gate: int) -> None:
    """Write one for each byte at the gate, which says how much; what is refused is said again until it is taken."""
    with Client(home=home) as client:
        for number in range(each):
            if not (size := os.read(gate, 1)):
                return
            at, deadline = datetime.now(UTC), monotonic() + SECONDS
            while (receipt := write(client, writer, number, size, at)).state == "refused":
                say(writer, number, receipt)
                if monotonic() > deadline:
                    raise TimeoutError(receipt.detail)
                Event().wait(PAUSE)
            say(writer, number, receipt)


def fork(home: Path, each: int, gate: int, latch: int, report: int) -> list[int]:
    """Start the writers, with `report` as their stdout; return their process ids."""
    children = []
    for writer in range(WRITERS):
        child = os.fork()
        if child == 0:
            status = 1
            try:
                os.close(latch)
                os.dup2(report, 1)
                os.close(report)
                work(home, writer, each, gate)
                status = 0
            finally:
                os._exit(status)
        children.append(child)
    return children


class Report:
    """What the writers have said so far."""

    def __init__(self, source: int) -> None:
        self.lines: list[list[int | str]] = []
        self.refused = 0
        self._source = os.fdopen(source)
        self._thread = Thread(target=self._read, daemon=True)
        self._thread.start()

    def _read(self) -> None:
        with self._source:
            for line in self._source:
                said = json.loads(line)
                if said[3] == "refused":
                    self.refused += 1
                else:
                    self.lines.append(said)

    def wait_for(self, receipts: int, refused: int = 0) -> None:
        """Wait until so many writes were taken and so many refused."""
        deadline, tick = monotonic() + SECONDS, Event()
        while len(self.lines) < receipts or self.refused < refused:
            if monotonic() > deadline or not self._thread.is_alive():
                raise TimeoutError(f"the writers stopped after {len(self.lines)} writes and {self.refused} refusals")
            tick.wait(PAUSE)

    def end(self) -> None:
        """Wait until the last writer has gone."""
        self._thread.join(SECONDS)
        if self._thread.is_alive():
            raise TimeoutError(f"the writers hang after {len(self.lines)} writes")


def flush(home: Path) -> int:
    """Send what still waits, by ourselves or by whoever is at it; return how much is left."""
    deadline, tick = monotonic() + SECONDS, Event()
    with Client(home=home) as client:
        while (waiting := client.flush()) and monotonic() < deadline:
            tick.wait(PAUSE)
    return waiting


def fill(folder: Path, disk: str, processes: Iterable[int]) -> None:
    """Take all the room there is on the disk, or forbid the processes to write on."""
    if disk == "limit":
        for process in processes:
            resource.prlimit(process, resource.RLIMIT_FSIZE, (4096, resource.RLIM_INFINITY))
        return
    with (folder / "ballast").open("wb", buffering=0) as ballast:
        for size in (1_000_000, 4096, 1):
            try:
                for _ in range(4096):
                    ballast.write(bytes(size))
            except OSError:
                continue
    # What is above writes at most 4 GB: a disk that has more room than that is none to fill.


def empty(folder: Path, disk: str, processes: Iterable[int]) -> None:
    """Make room again."""
    if disk == "limit":
        for process in processes:
            resource.prlimit(process, resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    (folder / "ballast").unlink(missing_ok=True)


def trouble(
    hub: HubProcess, children: Sequence[int], report: Report, latch: int, writes: int, kills: int, random: Random,
    folder: Path, disk: str,
) -> None:  # fmt: skip
    """Kill the hub and start it again, and fill the disk once, while so many writes are let through the gate."""
    share = writes // (2 * kills + 2)
    for number in range(kills):
        os.write(latch, SHORT * share)
        report.wait_for(len(report.lines) + random.randrange(share))
        if number == kills // 2:
            fill(folder, disk, [*children, hub.process.pid])
            os.write(latch, LONG * share)  # more than there is room for in the files as they are
            report.wait_for(0, refused=5)
        hub.kill()
        empty(folder, disk, children)
        os.write(latch, SHORT * share)
        report.wait_for(len(report.lines) + random.randrange(share))
        hub.start()
    os.write(latch, SHORT * writes)  # more than enough for the rest


def main(folder: Path, hub_home: str, each: int, kills: int, seed: int, disk: str) -> None:
    """Play the drill and print what the writers were told."""
    hub, home = HubProcess(folder / hub_home), folder / "plane"
    os.environ["MEMORY_PLANE_CLIENT__RETRY_AFTER"] = "0.1"
    if hub.home != home:
        os.environ |= {"MEMORY_PLANE_HUB_URL": hub.url, "MEMORY_PLANE_HUB__TOKEN": hub.token}
    gate, latch = os.pipe()
    source, sink = os.pipe()
    children = fork(home, each, gate, latch, sink)
    os.close(sink)
    report = Report(source)
    try:
        trouble(hub, children, report, latch, WRITERS * each, kills, Random(seed), folder, disk)
        report.end()
        failed = [child for child in children if os.waitpid(child, 0)[1] != 0]
        waiting = flush(home)
    finally:
        os.close(latch)
        hub.stop()
    for line in report.lines:
        print(json.dumps(line))
    print(json.dumps({"refused": report.refused, "failed": failed, "waiting": waiting}))


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2], int(sys.argv[3]), int(sys.argv[4]), int(sys.argv[5]), sys.argv[6])
