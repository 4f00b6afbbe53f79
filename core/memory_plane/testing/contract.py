"""What every plugin must keep. One line in its test file runs all of it:

    from memory_plane.testing.contract import *  # noqa: F403

The fixture `plugin_name` reads the name off `test_memory_plane_<name>.py`; override it in a file called otherwise.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from memory_plane.discovery import installed
from memory_plane.plugin import Plugin, short_name
from memory_plane.plugin_settings import PluginSettings
from memory_plane.plugins import PluginManager
from memory_plane.settings import Settings
from memory_plane.testing.machines import bare_machine
from memory_plane.types import AgentContext, Candidate, Event, Extraction, Memory, Mention, Node, Poll

if TYPE_CHECKING:
    from memory_plane.plane import Plane

__all__ = [
    "test_agents_have_interests_worth_matching",
    "test_close_may_be_called_twice",
    "test_defaults_validate",
    "test_entry_point_matches_the_class",
    "test_environment_prefix_is_the_name",
    "test_events_of_any_content_are_survived",
    "test_integrations_find_nothing_on_a_bare_machine",
    "test_memories_of_any_text_are_survived",
    "test_pages_tools_and_commands_of_an_empty_memory",
    "test_polls_with_any_cursor_are_survived",
    "test_texts_of_any_kind_are_embedded",
    "test_words_of_any_kind_are_expanded",
]

_ID = "00000000-0000-4000-8000-000000000000"
_UNIT = "Bob Иванов said 李雷 will review the Café plan by 2026-03-04. "
_TEXTS: Mapping[str, str] = {
    "empty": "",
    "blank": " \n\t\u00a0 ",
    "punctuation": "([{<*_`|\\%$#@~^\"'",
    "non-Latin": "Алиса передала دفتر ليلى в 東京 👩‍👩‍👧 — e\u0301",
    "huge": _UNIT * (100_000 // len(_UNIT)),
    "unbroken": "A" * 100_000,
}
any_text = pytest.mark.parametrize("text", _TEXTS.values(), ids=_TEXTS)


def test_entry_point_matches_the_class(plugin_name: str) -> None:
    offer = installed()[plugin_name]
    kind = offer.load()
    assert short_name(kind).replace("_", "") == plugin_name.replace("_", "")  # My3dPlugin may be my_3d
    assert kind.__module__.partition(".")[0] == f"memory_plane_{plugin_name}"
    assert offer.distribution.lower().replace("_", "-") == f"memory-plane-{plugin_name}".replace("_", "-")


def test_defaults_validate(plugin_name: str, home: Path) -> None:
    _kind(plugin_name).settings_model()


def test_environment_prefix_is_the_name(plugin_name: str) -> None:
    model = _kind(plugin_name).settings_model
    assert model is PluginSettings or model.model_config["env_prefix"] == f"MEMORY_PLANE_{plugin_name.upper()}_"


def test_agents_have_interests_worth_matching(plugin_name: str) -> None:
    agents = _kind(plugin_name).agents
    assert len({agent.id for agent in agents}) == len(agents)
    assert all(interest.strip() for agent in agents for interest in agent.interests)


@any_text
def test_memories_of_any_text_are_survived(plugin_name: str, home: Path, text: str) -> None:
    memory = Memory(id=_ID, agent="muse", kind="thought", text=text, created_at=datetime(2026, 1, 5, tzinfo=UTC))
    node = Node(id=_ID, type="Person", name="Bob", slug="node:person:bob")
    mention = Mention(text=text[:3], type="Person", start=0, end=3, confidence=0.5)
    found = Extraction(mentions=(mention,) if len(text) > 3 else ())
    candidates = [
        Candidate(mention=one, node=node, name_score=0.5, shared_neighbours=0, same_agent=False, last_seen=None)
        for one in found.mentions
    ]
    agents = [AgentContext(id="muse", interests=("people",)), AgentContext(id="grok", focus="rockets")]
    with closing(_running(plugin_name)) as manager:
        if plugin_name in manager.deferred:
            manager.run_deferred(plugin_name, memory, found, candidates, [node], agents)
        else:
            manager.extract(memory)
            manager.classify(memory, found, candidates)
            manager.route(memory, [node], agents)


@any_text
def test_events_of_any_content_are_survived(plugin_name: str, home: Path, text: str) -> None:
    payloads: list[Mapping[str, Any]] = [
        {},
        {"text": text, "id": text},
        {"text": None, "id": 7},
        {"message": {"content": [{"type": "text", "text": text}]}},
    ]
    with closing(_running(plugin_name)) as manager:
        for agent in manager.agents:
            for payload in payloads:
                manager.ingest(Event(agent=agent, name="unknown", payload=payload))


@pytest.mark.parametrize("cursor", [None, "", "not a cursor of yours"])
def test_polls_with_any_cursor_are_survived(plugin_name: str, home: Path, cursor: str | None) -> None:
    with closing(_running(plugin_name)) as manager:
        for _, found in manager.ingest(Poll(cursor=cursor)):
            manager.ingest(Poll(cursor=found.cursor))


def test_texts_of_any_kind_are_embedded(plugin_name: str, home: Path) -> None:
    with closing(_running(plugin_name)) as manager:
        manager.embed(tuple(_TEXTS.values()))
        manager.embed(())


def test_words_of_any_kind_are_expanded(plugin_name: str, home: Path) -> None:
    with closing(_running(plugin_name)) as manager:
        manager.expand(tuple(_TEXTS.values()))
        manager.expand(())


def test_pages_tools_and_commands_of_an_empty_memory(plugin_name: str, make_plane: Callable[..., Plane]) -> None:
    plane = make_plane(plugin_name)
    with plane.snapshot() as snapshot:
        plane.plugins.render(snapshot)
    plane.plugins.commands()
    for tool in plane.plugins.tools(plane):
        bare = [each for each in inspect.signature(tool.function).parameters.values() if each.annotation is each.empty]
        assert not bare, f"tool {tool.name!r} has parameters without annotations: {bare}"


@pytest.mark.parametrize("platform", ["linux", "darwin", "win32"])
def test_integrations_find_nothing_on_a_bare_machine(plugin_name: str, home: Path, platform: str) -> None:
    bare = home / "a bare Maschine"
    with closing(_running(plugin_name)) as manager:
        found = [one.agent for _, one in manager.integrate(bare_machine(bare, platform)) if one.found]
    assert not found, f"found {found} where nothing is"
    assert not bare.exists(), "integrate made something; it only declares"


def test_close_may_be_called_twice(plugin_name: str, home: Path) -> None:
    kind = _kind(plugin_name)
    plugin = kind(kind.settings_model())
    plugin.close()
    plugin.close()


def _kind(name: str) -> type[Plugin]:
    return installed()[name].load()


def _running(name: str) -> PluginManager:
    """Load the plugin alone; a strict manager raises for every failure and every wrong answer."""
    return PluginManager.load(Settings.load(plugins={"enabled": [name]}), strict=True)
