"""kill -9 of a hub and of a restore: the next one starts, and what was acknowledged is there."""

from __future__ import annotations

import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from threading import Timer

import httpx
import pytest

from memory_plane import Plane, backup, presence, schema
from memory_plane.settings import Settings
from memory_plane.testing.hub import HubProcess

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")

Start = Callable[..., subprocess.Popen[str]]
ROUNDS = 4
SECONDS = 60


@pytest.fixture
def running(environment: dict[str, str], tmp_path: Path, empty_database: Path) -> Iterator[HubProcess]:
    """A hub with a home of its own."""
    hub = HubProcess(tmp_path / "hub ж", database=empty_database, forked=True)
    yield hub
    hub.stop()


def post(hub: HubProcess, text: str) -> str | None:
    """Post a thought; return its id once it is stored, None where the hub is gone."""
    headers, said = {"authorization": f"Bearer {hub.token}"}, {"agent": "muse", "text": text}
    try:
        answer = httpx.post(f"{hub.url}/api/thought", json=said, headers=headers, timeout=SECONDS, trust_env=False)
    except httpx.HTTPError:
        return None
    receipt = answer.json()
    assert receipt["state"] == "stored", receipt
    return str(receipt["id"])


def test_acknowledged_writes_survive_the_hub_and_the_next_one_has_its_port(
    running: HubProcess, sized: Callable[[int, int], int]
) -> None:
    moment, rounds = random.Random(7), sized(2, ROUNDS)
    stored: dict[str, str] = {}
    for turn in range(rounds):
        killer = Timer(moment.uniform(0, 0.02), running.process.kill)  # it dies within a write, or between two
        number = 0
        while (id := post(running, f"write{turn}x{number}")) is not None:
            stored[id] = f"write{turn}x{number}"
            number += 1
            if number == 3:
                killer.start()
        killer.join(SECONDS)
        running.process.wait(SECONDS)
        left = presence.read(running.home)
        assert left is not None
        running.kill()
        running.start()
        there = presence.running(running.home)
        assert there is not None
        assert (there.url, there.pid) == (left.url, running.process.pid)
    running.stop()
    assert len(stored) >= 3 * rounds
    with Plane(home=running.home) as plane:
        assert {id: (plane.get(id) or {})["body"]["text"] for id in stored} == stored
        assert schema.check(plane.database) == []


def test_hub_that_is_killed_while_it_starts_is_started_again(environment: dict[str, str], tmp_path: Path) -> None:
    moment = random.Random(11)
    home = tmp_path / "hub"
    for _ in range(ROUNDS):
        command = [sys.executable, "-m", "memory_plane", "--home", str(home), "up", "--port", "0"]
        with subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL) as starting:
            time.sleep(moment.uniform(0.2, 1.6))  # no event to wait for: any moment of a start is what is tried
            starting.kill()
    hub = HubProcess(home)
    try:
        assert post(hub, "hello") is not None
    finally:
        hub.stop()
    assert presence.read(home) is None


STEPS = ("_prepare", "+_prepare", "_take", "+_take", "_keep", "+_keep", "_swap", "+_swap")


@pytest.fixture
def copy(environment: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> Path:
    """A backup of a memory that has gone on since, with some megabytes in it."""
    home = environment["MEMORY_PLANE_HOME"]
    with Plane(home=home) as plane:
        plane.post("old", agent="muse")
        made = backup.make(Settings.load(home=home))
        for number in range(5):
            plane.post(f"new {number} {'x' * 200_000}", agent="muse")
    return made.path


def texts(home: Path) -> set[str]:
    """Read a memory that must be sound."""
    with Plane(home=home) as plane:
        assert schema.check(plane.database) == []
        return {thought.text[:5].strip() for thought in plane.thoughts()}


NEW = {"old", *(f"new {number}" for number in range(5))}


@pytest.mark.parametrize("step", STEPS)
def test_restore_that_is_killed_leaves_the_old_memory_or_the_new_one(
    start: Start, store: Path, copy: Path, step: str
) -> None:
    process = start("restorer.py", str(copy), step)
    assert process.communicate(timeout=SECONDS)[0] == f"{step}\n"
    assert process.returncode == -signal.SIGKILL
    assert texts(store.parent) == ({"old"} if step == "+_swap" else NEW)
    settings = Settings.load(home=store.parent)
    with presence.claimed(store.parent):
        assert backup.restore(settings, copy).operations == 1
    assert texts(store.parent) == {"old"}
    assert list(store.parent.glob(".restore-*")) == []


def test_restore_that_is_killed_at_random_loses_nothing(environment: dict[str, str], store: Path, copy: Path) -> None:
    moment = random.Random(3)
    command = [sys.executable, "-m", "memory_plane", "restore", str(copy), "--yes"]
    for _ in range(2 * ROUNDS):
        with subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL) as restoring:
            time.sleep(moment.uniform(0.3, 1.2))  # no event to wait for: the middle of the copying is what is tried
            restoring.kill()
        found = texts(store.parent)
        assert found in (NEW, {"old"})
        if found == {"old"}:
            assert backup.verify(max(store.parent.glob("memory.db.*.bak"))).operations in (1, 6)
        for kept in store.parent.glob("memory.db.*.bak"):  # whole, or not there
            backup.verify(kept)
