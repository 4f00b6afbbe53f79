"""Clocks that disagree: other zones, two hours apart, a change to winter time, a clock set back, one that runs ahead.

Each agent is a process in a zone of its own. Two of them write through the hub, the others on a laptop that syncs.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from memory_plane import Plane
from memory_plane.remote import Hub
from memory_plane.sync import exchange
from memory_plane.testing.hub import HubProcess

if TYPE_CHECKING:
    from memory_plane.testing import MakePlane

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="TZ sets the zone of a process on POSIX alone")

SCRIPT = Path(__file__).with_name("clock_writer.py")
SECONDS = 60
HOUR = 3600.0
# Clocks in Berlin went back from 3:00 to 2:00 at this moment, so that 2:30 was there twice.
WINTER = datetime(2025, 10, 26, 1, tzinfo=UTC).timestamp()


@dataclass(frozen=True)
class Said:
    """One fact: who wrote it at which time of its own clock, as shown and in seconds."""

    id: str
    agent: str
    shown: str
    at: float
    detail: str


Tell = Callable[..., list[Said]]


@pytest.fixture
def tell(hub: HubProcess, home: Path, tmp_path: Path) -> Tell:
    """Have an agent write facts at some moments: on the laptop, or on a machine of its own through the hub."""

    def tell_(agent: str, zone: str, *moments: float, shift: float = 0.0, by_hub: bool = False) -> list[Said]:
        environment = {**os.environ, "TZ": zone}
        if by_hub:
            environment |= {"MEMORY_PLANE_HOME": str(tmp_path / agent), "MEMORY_PLANE_HUB_URL": hub.url}
            environment |= {"MEMORY_PLANE_HUB__TOKEN": hub.token}
        done = subprocess.run(
            [sys.executable, SCRIPT, agent, str(shift), "Gateway"],
            env=environment, input="".join(f"{one!r}\n" for one in moments),
            stdout=subprocess.PIPE, text=True, timeout=SECONDS, check=True,
        )  # fmt: skip
        lines = [json.loads(line) for line in done.stdout.splitlines()]
        assert [state for _, state, _, _ in lines] == ["stored"] * len(moments)
        return [
            Said(id, agent, shown, moment + shift, detail)
            for (id, _, detail, shown), moment in zip(lines, moments, strict=True)
        ]

    return tell_


def history(plane: Plane) -> list[str]:
    """Return the ids of all values of the one fact there is, newest first."""
    found = [one.id for one in plane.facts(subject="Gateway", key="note", history=True)]
    assert [one.id for one in plane.facts(history=True)] == found
    return found


def current(plane: Plane) -> list[str]:
    """Return the ids of the values that hold."""
    return [one.id for one in plane.facts(subject="Gateway", key="note")]


def log(plane: Plane) -> list[str]:
    """Return the ids of all operations in their one order."""
    return [json.loads(line)["id"] for line in plane.export() if '"op":' in line]


def meet(plane: Plane, hub: HubProcess) -> None:
    """Sync the laptop with the hub."""
    with Hub(hub.url, hub.token, connect=5.0, answer=60.0) as there:
        exchange(plane, there)


def test_newest_fact_by_its_own_time_wins_everywhere(tell: Tell, hub: HubProcess, make_plane: MakePlane) -> None:
    laptop = make_plane()
    half = HOUR / 2
    said = [
        *tell("grok", "Europe/Berlin", WINTER - half, WINTER + half, by_hub=True),  # 2:30, an hour later 2:30 again
        *tell("muse", "Asia/Shanghai", WINTER - 60, WINTER + 60, by_hub=True),  # 8 hours ahead on the wall
        *tell("claude", "America/Los_Angeles", WINTER + HOUR),  # the day before on the wall, and the newest
        *tell("codex", "UTC", WINTER + HOUR + 60, shift=-2 * HOUR),  # comes last, by a clock two hours behind
        *tell("cursor", "Europe/Berlin", WINTER + 600),
        *tell("cursor", "Europe/Berlin", WINTER + 1200, shift=-HOUR),  # its clock was set back between the two
        *tell("gemini", "Asia/Kathmandu", WINTER + half),  # in the very same moment as another one
    ]
    wall = [one.shown[11:16] for one in said if one.agent == "grok"]
    assert wall == ["02:30", "02:30"]
    assert next(one for one in said if one.agent == "claude").shown.startswith("2025-10-25T19:00")
    expected = [one.id for one in sorted(said, key=lambda one: (one.at, one.id), reverse=True)]
    assert expected[0] == next(one.id for one in said if one.agent == "claude")
    meet(laptop, hub)
    hub.stop()
    with Plane(home=hub.home) as there:
        for plane in (laptop, there):
            assert current(plane) == expected[:1]
            assert history(plane) == expected
            assert log(plane) == expected[::-1]
            plane.rebuild()
            assert (current(plane), history(plane), log(plane)) == (expected[:1], expected, expected[::-1])
        assert list(laptop.export()) == list(there.export())


def test_clock_that_runs_ahead_does_not_win_for_ever(tell: Tell, hub: HubProcess, make_plane: MakePlane) -> None:
    laptop = make_plane()
    (fast,) = tell("grok", "Asia/Shanghai", time.time(), shift=2 * HOUR, by_hub=True)
    assert "ahead of this machine's clock" in fast.detail
    (right,) = tell("claude", "America/Los_Angeles", time.time())
    meet(laptop, hub)
    hub.stop()
    with Plane(home=hub.home) as there:
        for plane in (laptop, there):
            assert current(plane) == [right.id]
            assert history(plane) == [right.id, fast.id]
            plane.rebuild()
            assert history(plane) == [right.id, fast.id]
        assert list(laptop.export()) == list(there.export())
