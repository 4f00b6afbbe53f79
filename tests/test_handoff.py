"""Handing over and holding back, as the agents that read pages see it."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from memory_plane.capture import Turn, operations
from memory_plane.plane import Plane

TOMORROW = datetime.now(UTC) + timedelta(days=1)
TEXT = "Find out what FPGA boards cost for the pilot"


def brief(plane: Plane, agent: str) -> str:
    """Return the brief as the agent's hook finds it on the disk when it returns."""
    plane.render()
    page = plane.home / "brief" / f"{agent}.md"
    return page.read_text("utf-8") if page.exists() else ""


def hand_over(plane: Plane, text: str = TEXT, to: str = "grok") -> str:
    receipt = plane.post(text, agent="antigravity", kind="handoff", to=to)
    assert receipt.state == "stored"
    return receipt.id


def test_handoff_waits_in_the_brief_of_an_agent_that_is_away_once(plane: Plane) -> None:
    hand_over(plane)
    assert brief(plane, "grok").count(TEXT) == 1
    assert "## Open for you" in brief(plane, "grok")
    plane.heartbeat(agent="grok", focus="Back again")
    assert brief(plane, "grok").count(TEXT) == 1
    assert TEXT not in brief(plane, "antigravity")


def test_handoff_that_interests_its_agent_is_there_once_all_the_same(make_plane: Callable[..., Plane]) -> None:
    plane = make_plane("local", agents={"grok": {"interests": ["FPGA", "pilot"]}, "muse": {"interests": ["FPGA"]}})
    hand_over(plane)
    assert brief(plane, "grok").count(TEXT) == 1
    assert brief(plane, "muse").count(TEXT) == 1


@pytest.mark.parametrize("status", ["done", "dropped", "answered", "acknowledged"])
def test_handoff_leaves_every_brief_once_it_is_closed(make_plane: Callable[..., Plane], status: str) -> None:
    plane = make_plane("local", agents={"muse": {"interests": ["FPGA"]}})
    item = hand_over(plane)
    assert plane.resolve(item, agent="grok", status=status).state == "stored"
    assert TEXT not in brief(plane, "grok") + brief(plane, "muse")


def test_handoff_that_is_handed_on_is_in_the_next_brief_alone(plane: Plane) -> None:
    item = hand_over(plane)
    plane.assign(item, "muse", agent="grok")
    assert TEXT not in brief(plane, "grok")
    assert brief(plane, "muse").count(TEXT) == 1
    plane.assign(item, "grok", agent="muse")
    assert brief(plane, "grok").count(TEXT) == 1
    assert TEXT not in brief(plane, "muse")


def test_handoff_that_is_put_off_is_in_no_section_until_its_time(plane: Plane) -> None:
    item = hand_over(plane)
    plane.snooze(item, TOMORROW, agent="grok")
    assert TEXT not in brief(plane, "grok")
    plane.snooze(item, datetime.now(UTC) - timedelta(seconds=1), agent="grok")
    assert brief(plane, "grok").count(TEXT) == 1


def test_handoff_that_is_taken_back_is_gone(plane: Plane) -> None:
    item = hand_over(plane)
    plane.retract(item, agent="antigravity")
    assert TEXT not in brief(plane, "grok")


def test_pinned_handoff_comes_first(plane: Plane) -> None:
    hand_over(plane, "The older one")
    item = hand_over(plane, "The pinned one")
    plane.pin(item, agent="grok")
    page = brief(plane, "grok")
    assert page.index("The pinned one") < page.index("The older one")


def test_handoff_that_an_agent_said_reaches_the_other_agent(plane: Plane) -> None:
    said = "I can't browse from here. I'm handing the price research over to Grok: three FPGA boards, by Monday."
    turn = Turn(agent="claude-code", session="s", id="t", at=datetime.now(UTC), answer=said)
    for one in operations(turn):
        plane.write(one.op, one.body, agent=one.agent, created_at=one.created_at, id=one.id)
    assert brief(plane, "grok").count("three FPGA boards") == 1


def test_handoff_survives_a_rebuild_and_another_machine(make_plane: Callable[..., Plane], tmp_path: Path) -> None:
    here, there = make_plane(), make_plane(home=tmp_path / "there")
    item = hand_over(here)
    here.assign(item, "muse", agent="grok")
    there.merge(list(reversed(here.changes().operations)))
    there.rebuild()
    assert TEXT not in brief(there, "grok")
    assert brief(there, "muse").count(TEXT) == 1
