"""A long queue arrives in its order and nothing of it twice, also when the sender and the hub are killed half way."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from threading import Event
from time import monotonic
from typing import Any

import pytest

from memory_plane import Client, Plane
from memory_plane.operations import make_operation
from memory_plane.outbox import Outbox
from memory_plane.testing.hub import HubProcess

Sized = Callable[[Any, Any], Any]

START = datetime(2026, 1, 5, 9, tzinfo=UTC)
SECONDS = 300
SENDER = "from memory_plane import Client\nwith Client() as client: client.flush()"


@pytest.fixture
def queue(hub: HubProcess, home: Path, sized: Sized, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Queue many operations for the hub; return their ids in order."""
    monkeypatch.setenv("MEMORY_PLANE_HUB_URL", hub.url)
    monkeypatch.setenv("MEMORY_PLANE_HUB__TOKEN", hub.token)
    made = [
        make_operation("thought", {"text": f"thought {number}"}, agent="muse", created_at=START + timedelta(0, number))
        for number in range(sized(3_500, 10_000))
    ]
    assert Outbox(home).append(*made) == len(made)
    return [operation.id for operation in made]


def arrived(hub: HubProcess) -> list[str]:
    """Return the ids of what the hub has, in the order in which it came in."""
    with Plane(home=hub.home) as plane, closing(plane.database) as database, database.reading() as connection:
        rows = connection.exec_driver_sql("SELECT lower(hex(id)) FROM operations ORDER BY seq").scalars()
        return list(rows)


def wait_for(home: Path, waiting: int) -> None:
    """Wait until no more than so many wait."""
    deadline, tick = monotonic() + SECONDS, Event()
    while (left := Outbox(home).depth()) > waiting:
        assert monotonic() < deadline, f"{left} still wait"
        tick.wait(0.005)


def check(hub: HubProcess, home: Path, queue: list[str]) -> None:
    hub.stop()
    assert arrived(hub) == [id.replace("-", "") for id in queue]
    assert (Outbox(home).depth(), Outbox(home).dead()) == (0, [])


def test_long_queue_arrives_once_and_in_order(hub: HubProcess, home: Path, queue: list[str]) -> None:
    with Client() as client:
        assert client.flush() == 0
        assert client.flush() == 0
    check(hub, home, queue)


def test_kill_of_sender_and_hub_half_way_changes_nothing(hub: HubProcess, home: Path, queue: list[str]) -> None:
    for kill_hub in (False, True):
        before = Outbox(home).depth()
        sender = subprocess.Popen([sys.executable, "-c", SENDER])
        wait_for(home, before - 1)  # it is in the middle of the next batch now
        if kill_hub:
            hub.kill()
            sender.wait(SECONDS)
            hub.start()
        else:
            sender.kill()
            sender.wait(SECONDS)
        assert 0 < Outbox(home).depth() < before
    with Client() as client:
        assert client.flush() == 0
    check(hub, home, queue)
