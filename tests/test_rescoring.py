"""Attention follows the focus and the interests of an agent: what is there already is scored for it anew."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from memory_plane import Plane, Plugin, hookimpl
from memory_plane.plugins import PluginManager
from memory_plane.settings import Settings
from memory_plane.sync import exchange
from memory_plane.types import AgentContext, Attention, Memory, Node, Routing


class WordsPlugin(Plugin):
    """Scores a memory for each agent that has a word of it in its focus or interests."""

    @hookimpl
    def route(self, memory: Memory, nodes: Sequence[Node], agents: Sequence[AgentContext]) -> Routing:
        words = set(memory.text.lower().split())
        return Routing(
            attention=tuple(
                Attention(agent=agent.id, score=0.8, reason="a word of it")
                for agent in agents
                if words & {*agent.focus.lower().split(), *agent.interests}
            )
        )


OpenPlane = Callable[..., Plane]


@pytest.fixture
def open_plane(tmp_path: Path) -> OpenPlane:
    def open_(name: str = "here", interests: tuple[str, ...] = ()) -> Plane:
        agents = {"muse": {"interests": interests}}
        plugins = PluginManager(strict=True)
        plugins.register(WordsPlugin())
        return Plane(Settings.load(home=tmp_path / name, agents=agents, synchronous="normal"), plugins=plugins)

    return open_


def heard(plane: Plane, agent: str = "muse") -> list[str]:
    return sorted(thought.text for thought in plane.graph(agent=agent, min_attention=0.5).attention)


def test_new_focus_brings_what_was_said_before_and_drops_what_mattered_for_the_old_one(open_plane: OpenPlane) -> None:
    with open_plane() as plane:
        plane.heartbeat(agent="muse", focus="the firewall")
        for text in ("firewall open", "budget approved"):
            plane.post(text, agent="grok")
        plane.post("budget mine", agent="muse")
        assert heard(plane) == ["firewall open"]
        plane.heartbeat(agent="muse", focus="the budget")
        assert heard(plane) == ["budget approved"]
        assert "budget approved" in plane.page("brief/muse.md")
        plane.rebuild()
        assert heard(plane) == ["budget approved"]
        plane.heartbeat(agent="muse", focus="the firewall")
        assert heard(plane) == ["firewall open"]


def test_same_focus_again_scores_nothing(open_plane: OpenPlane) -> None:
    with open_plane() as plane:
        plane.post("budget approved", agent="grok")
        plane.heartbeat(agent="muse", focus="the budget")
        before = list(plane.export())
        plane.heartbeat(agent="muse", focus="the budget", status="waiting")
        assert len(list(plane.export())) == len(before) + 1
        assert plane.stats().answers_by_plugin == {"words": 1}


def test_what_the_writer_addressed_stays_addressed(open_plane: OpenPlane) -> None:
    with open_plane() as plane:
        plane.post("call Rob", agent="grok", kind="handoff", to="muse")
        plane.heartbeat(agent="muse", focus="the budget")
        (item,) = plane.graph(agent="muse", min_attention=0.5).attention
        assert (item.text, item.attention) == ("call Rob", 1.0)


def test_old_memories_are_left_alone(open_plane: OpenPlane) -> None:
    with open_plane() as plane:
        plane.post("budget of last year", agent="grok", created_at=datetime.now(UTC) - timedelta(days=8))
        plane.heartbeat(agent="muse", focus="the budget")
        assert heard(plane) == []


def test_other_interests_are_noticed_by_the_next_round(open_plane: OpenPlane) -> None:
    with open_plane() as plane:
        plane.post("budget approved", agent="grok")
        plane.ingest()
        assert heard(plane) == []
    with open_plane(interests=("budget",)) as plane:
        plane.ingest()
        assert heard(plane) == ["budget approved"]


def test_two_machines_agree_on_whom_it_concerns(open_plane: OpenPlane) -> None:
    with open_plane("here") as here, open_plane("there") as there:
        here.post("budget approved", agent="grok")
        there.post("firewall open", agent="grok")
        here.heartbeat(agent="muse", focus="the firewall")
        exchange(here, there)
        there.heartbeat(agent="muse", focus="the budget")
        exchange(here, there)
        exchange(here, there)
        assert heard(here) == heard(there) == ["budget approved"]
        assert list(here.export()) == list(there.export())
