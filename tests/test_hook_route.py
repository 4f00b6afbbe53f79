from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest

from memory_plane import Plane, Plugin, hookimpl
from memory_plane.errors import PluginError
from memory_plane.plugins import PluginManager
from memory_plane.types import AgentContext, AgentInfo, Attention, Memory, Node, Routing

AGENTS = [AgentContext(id="muse", interests=("people",)), AgentContext(id="grok", interests=("rockets",))]


class InterestsPlugin(Plugin):
    agents = (AgentInfo(id="muse", interests=("people",)), AgentInfo(id="grok", interests=("rockets",)))

    @hookimpl
    def route(self, memory: Memory, nodes: Sequence[Node], agents: Sequence[AgentContext]) -> Routing | None:
        caring = [agent for agent in agents for word in agent.interests if word in memory.text]
        return Routing(attention=tuple(Attention(agent=one.id, score=0.9, reason="an interest") for one in caring))


class StrangerPlugin(Plugin):
    @hookimpl
    def route(self) -> Routing:
        return Routing(attention=(Attention(agent="stranger", score=1, reason=""),))


@pytest.fixture
def memory(make_memory: Callable[..., Memory]) -> Memory:
    return make_memory("rockets fly again")


def test_first_answer_counts_and_is_named(plugin_manager: PluginManager, memory: Memory) -> None:
    class SilentPlugin(Plugin):
        @hookimpl
        def route(self) -> None:
            return None

    plugin_manager.register(SilentPlugin())
    plugin_manager.register(InterestsPlugin())
    answer = plugin_manager.route(memory, (), AGENTS)
    assert answer == (
        "interests",
        Routing(attention=(Attention(agent="grok", score=0.9, reason="an interest"),)),
    )


def test_nobody_answers(plugin_manager: PluginManager, memory: Memory) -> None:
    assert plugin_manager.route(memory, (), AGENTS) is None


def test_score_of_an_unknown_agent_is_a_failure(plugin_manager: PluginManager, memory: Memory) -> None:
    plugin_manager.register(StrangerPlugin())
    with pytest.raises(PluginError, match="scored agent 'stranger', which is unknown"):
        plugin_manager.route(memory, (), AGENTS)


def test_attention_of_a_write_reaches_the_agent(make_plane: Callable[..., Plane]) -> None:
    plane = make_plane(InterestsPlugin())
    plane.post("rockets fly again", agent="muse")
    assert [(one.text, one.attention) for one in plane.graph(agent="grok").attention] == [("rockets fly again", 0.9)]
    assert plane.graph(agent="muse").attention == ()
