"""Eight writers while the hub is killed and started again at random, and the disk fills once."""

from __future__ import annotations

import json
import random
import shutil
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from memory_plane import Client, Plane

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="limits of a running process are set on Linux alone")

Sized = Callable[[Any, Any], Any]

SCRIPT = Path(__file__).with_name("eight_writers.py")
# A new mount namespace: the small disk is gone with the process, and nobody else ever sees it.
MOUNT = 'mount -t tmpfs -o size=64m tmpfs "$0" && out=$1 && shift && "$@"; code=$?; cp -a "$0"/. "$out"; exit $code'
WRITERS = 8


@dataclass(frozen=True)
class Drill:
    """What is left of a drill, and what the writers were told: (writer, number), id and state."""

    home: Path
    hub: Path
    receipts: list[tuple[tuple[int, int], str, str]]
    end: dict[str, Any]


def small_disk(folder: Path, copy: Path) -> tuple[str, ...]:
    """Return what runs a command with a small disk at `folder` and copies it, nothing where none can be mounted."""
    launcher = ("unshare", "-rm", "sh", "-c", MOUNT, str(folder), str(copy))
    can = shutil.which("unshare") and subprocess.run([*launcher, "true"], check=False, capture_output=True)
    return launcher if can and can.returncode == 0 else ()


@pytest.fixture
def play(tmp_path: Path, sized: Sized, monkeypatch: pytest.MonkeyPatch) -> Callable[[str, bool], Drill]:
    """Play the drill with the hub in a home of this name, on a small disk where one can be mounted."""

    def play_(hub: str, mount: bool) -> Drill:
        each, kills, plugins = sized((20, 2, "[]"), (500, 12, '["local"]'))
        seed = random.randrange(10**6)
        monkeypatch.setenv("MEMORY_PLANE_PLUGINS__ENABLED", plugins)
        left = folder = tmp_path / "the disk é"
        folder.mkdir()
        launcher: tuple[str, ...] = ()
        if mount:
            copy = tmp_path / "what is left"
            copy.mkdir()
            launcher = small_disk(folder, copy)
            left = copy if launcher else folder
        disk = "disk" if launcher else "limit"
        command = [*launcher, sys.executable, SCRIPT, folder, hub, each, kills, seed, disk]
        done = subprocess.run(
            list(map(str, command)), capture_output=True, text=True, timeout=sized(300, 1800), check=False
        )
        assert done.returncode == 0, f"seed {seed}: {done.stderr[-2000:]}"
        *lines, end = map(json.loads, done.stdout.splitlines())
        receipts = [((writer, number), id, state) for writer, number, id, state in lines]
        assert len(receipts) == WRITERS * each
        return Drill(left / "plane", left / hub, receipts, end)

    return play_


def arrived(home: Path) -> list[dict[str, Any]]:
    """Return the operations of a memory in the order in which they came in."""
    with Plane(home=home) as plane, closing(plane.database) as database, database.reading() as connection:
        rows = connection.exec_driver_sql("SELECT lower(hex(id)) FROM operations ORDER BY seq").scalars()
        order = {id: place for place, id in enumerate(rows)}
        found = [json.loads(line) for line in plane.export() if '"op":' in line]
    return sorted(found, key=lambda one: order[one["id"].replace("-", "")])


def written(operation: dict[str, Any]) -> tuple[int, int]:
    """Return the numbers of the writer and of the write."""
    body = operation["body"]
    writer, number = (body.get("text") or body["value"]).split()[:2]
    assert operation["agent"] == f"writer-{writer}"
    return int(writer), int(number)


def check(drill: Drill, home: Path) -> None:
    """Check that all that was acknowledged is there once and in order, and that nothing is left over."""
    operations = arrived(home)
    assert sorted(map(written, operations)) == sorted(one for one, _, _ in drill.receipts)
    assert {written(one): one["id"] for one in operations} == {one: id for one, id, _ in drill.receipts}
    by_time = sorted(operations, key=lambda one: (one["created_at"], one["id"]))
    for order in (operations, by_time):
        for writer in range(WRITERS):
            own = [number for one in order for by, number in [written(one)] if by == writer]
            assert own == sorted(own)
    assert {state for _, _, state in drill.receipts} <= {"stored", "duplicate", "queued"}
    assert drill.end["failed"] == []
    assert drill.end["waiting"] == 0
    with Client(home=drill.home) as client:
        assert client.outbox.depth() == 0
        assert client.outbox.dead() == []
    checked = subprocess.run(
        [sys.executable, "-m", "memory_plane", "--home", home, "db", "check"], capture_output=True, check=False
    )
    assert checked.returncode == 0, checked


def test_writers_of_the_hubs_own_home_lose_and_double_nothing(home: Path, play: Callable[[str, bool], Drill]) -> None:
    drill = play("plane", True)
    check(drill, drill.home)
    assert drill.end["refused"] >= 5  # the disk was full indeed


def test_writers_of_another_home_lose_and_double_nothing(home: Path, play: Callable[[str, bool], Drill]) -> None:
    drill = play("the hub", False)
    check(drill, drill.hub)
    assert drill.end["refused"] >= 5
    assert "queued" in {state for _, _, state in drill.receipts}
    assert not (drill.home / "memory.db").exists()
