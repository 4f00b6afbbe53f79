from __future__ import annotations

import inspect
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest
from pydantic import ValidationError

from memory_plane import Plane, Plugin, hookimpl, presence
from memory_plane.database import Database
from memory_plane.errors import PluginError
from memory_plane.plugins import PluginManager
from memory_plane.schema import drift
from memory_plane.settings import Settings
from memory_plane.testing import contract
from memory_plane.testing.hub import HubProcess
from memory_plane.types import AgentInfo, Extraction, Memory, Operation, Poll

Install = Callable[..., str]

SOUND = """
from memory_plane import Plugin, PluginSettings, SettingsConfigDict, hookimpl
from memory_plane.types import (
    AgentInfo, Attention, Classification, Expansion, Extraction, Ingested, Routing, Tool, Vectors, View
)
from pathlib import Path

class BirdsSettings(PluginSettings):
    model_config = SettingsConfigDict(env_prefix="MEMORY_PLANE_BIRDS_")

class BirdsPlugin(Plugin):
    settings_model = BirdsSettings
    agents = (AgentInfo(id="birds", interests=("seeds",)),)

    @hookimpl
    def ingest(self, cue): return Ingested(cursor="1")
    @hookimpl
    def extract(self, memory): return Extraction()
    @hookimpl
    def classify(self, memory): return Classification()
    @hookimpl
    def route(self, agents): return Routing(attention=tuple(Attention(agent=a.id, score=0, reason="") for a in agents))
    @hookimpl
    def render(self, snapshot): yield View(path=Path("birds.md"), text=str(len(snapshot.items())))
    @hookimpl
    def embed(self, texts): return Vectors(model="birds", rows=tuple((1.0,) for text in texts))
    @hookimpl
    def expand(self, words): return Expansion(alike={word: {} for word in words})
    @hookimpl
    def register_tools(self, plane): yield Tool(name="tweet", description="Tweet", function=self.tweet)
    def tweet(self, text: str) -> str: return text

ThePlugin = BirdsPlugin
"""


# --- fixtures ----------------------------------------------------------------------------------------------------


def test_home_is_fresh_and_the_environment_clean(home: Path) -> None:
    assert " " in str(home)
    assert not str(home).isascii()
    assert list(home.iterdir()) == []
    assert Path.home() == home.parent
    ours = {name for name in os.environ if name.startswith("MEMORY_")}
    assert ours == {"MEMORY_PLANE_HOME", "MEMORY_PLANE_PLUGINS__ENABLED"}
    assert Settings.load().plugins.enabled == []


def test_engine_is_at_head(engine: Database) -> None:
    assert drift(engine) == []


def test_plugin_manager_is_empty_and_strict(plugin_manager: PluginManager) -> None:
    assert plugin_manager.strict
    assert plugin_manager.infos() == []


@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
@pytest.mark.parametrize("forked", [False, True])
def test_hub_is_a_process_that_comes_back_at_its_address(home: Path, empty_database: Path, forked: bool) -> None:
    hub = HubProcess(home, database=empty_database, forked=forked)
    first = hub.process.pid
    assert str(presence.running(home)) == f"pid {first}, {hub.url}"
    hub.kill()
    assert hub.stop()[0] == -signal.SIGKILL
    url = hub.url
    hub.start()
    assert hub.process.pid not in (first, os.getpid())
    assert hub.url == url
    code, _, errors = hub.stop()
    assert (code, errors) == (0, "")


def test_plane_has_no_plugins(plane: Plane, home: Path) -> None:
    assert plane.home == home
    assert plane.plugins.infos() == [] or all(info.state == "not enabled" for info in plane.plugins.infos())
    assert plane.post("hello", agent="muse").state == "stored"


def test_make_plane_takes_names_instances_and_settings(
    make_plane: Callable[..., Plane], install_plugin: Install
) -> None:
    class HandMadePlugin(Plugin):
        agents = (AgentInfo(id="hand"),)

        @hookimpl
        def extract(self, memory: Memory) -> Extraction:
            raise ValueError("no")

    install_plugin("birds", SOUND)
    plane = make_plane("birds", HandMadePlugin(), timeout=1)
    assert [info.name for info in plane.plugins.infos() if info.state == "active"] == ["birds", "hand_made"]
    assert set(plane.plugins.agents) == {"birds", "hand"}
    assert plane.settings.timeout == 1
    with pytest.raises(PluginError):
        plane.post("hello", agent="hand")


def test_make_plane_may_be_lenient(make_plane: Callable[..., Plane]) -> None:
    class BrokenPlugin(Plugin):
        @hookimpl
        def extract(self) -> Extraction:
            raise ValueError("no")

    plane = make_plane(BrokenPlugin(), strict=False)
    assert plane.post("hello", agent="muse").state == "stored"
    assert [failure.plugin for failure in plane.plugins.failures] == ["broken"]


def test_operations_are_distinct_and_ordered(operation: Callable[..., Operation]) -> None:
    first, second = operation(), operation(text="hello", kind="decision")
    assert second.created_at - first.created_at == timedelta(seconds=1)
    assert first.id != second.id
    assert (second.body["text"], second.body["kind"]) == ("hello", "decision")
    assert operation("heartbeat", agent="grok", focus="rockets").agent == "grok"


def test_fixtures_import_nothing_heavy() -> None:
    heavy = "{'sqlalchemy', 'pydantic', 'click', 'memory_plane.plugins', 'memory_plane.types'}"
    code = f"import sys, memory_plane.testing; print({heavy} & set(sys.modules) or '')"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "\n"


# --- the contract suite ------------------------------------------------------------------------------------------


@pytest.fixture
def keeps(home: Path, make_plane: Callable[..., Plane], install_plugin: Install) -> Callable[..., None]:
    """Run one test of the suite on the sound plugin, perhaps with one thing changed."""

    def run(test: str, old: str = "", new: str = "", text: str = "hello") -> None:
        assert old in SOUND
        install_plugin("birds", SOUND.replace(old, new) if old else SOUND)
        values = {
            "plugin_name": "birds",
            "home": home,
            "make_plane": make_plane,
            "text": text,
            "cursor": "none of yours",
            "platform": "linux",
        }
        function = getattr(contract, test)
        function(**{name: values[name] for name in inspect.signature(function).parameters})

    return run


@pytest.mark.parametrize("test", [test for test in contract.__all__ if "entry_point" not in test])
def test_sound_plugin_keeps_the_contract(keeps: Callable[..., None], test: str) -> None:
    keeps(test)


@pytest.mark.parametrize(
    ("test", "old", "new"),
    [
        ("test_entry_point_matches_the_class", "ThePlugin = BirdsPlugin", "class ThePlugin(BirdsPlugin): pass"),
        ("test_environment_prefix_is_the_name", "MEMORY_PLANE_BIRDS_", "MEMORY_PLANE_BRIDS_"),
        ("test_defaults_validate", 'BIRDS_")', 'BIRDS_")\n    seeds: int'),
        ("test_agents_have_interests_worth_matching", '"seeds",', '" ",'),
        ("test_memories_of_any_text_are_survived", "return Extraction()", "return memory.text[0]"),
        ("test_memories_of_any_text_are_survived", "return Classification()", "return []"),
        ("test_memories_of_any_text_are_survived", "attention=tuple(", "attention=list("),
        ("test_events_of_any_content_are_survived", 'Ingested(cursor="1")', "cue.payload['text']"),
        ("test_polls_with_any_cursor_are_survived", 'cursor="1"', "cursor=str(int(cue.cursor))"),
        ("test_texts_of_any_kind_are_embedded", "for text in texts", "for text in texts if text"),
        ("test_words_of_any_kind_are_expanded", "word: {}", "word: 1"),
        ("test_pages_tools_and_commands_of_an_empty_memory", "birds.md", "../birds.md"),
        ("test_pages_tools_and_commands_of_an_empty_memory", "text: str) -> str", "text)"),
        ("test_close_may_be_called_twice", "def tweet", "def close(self): del self.settings\n    def tweet"),
    ],
)
def test_breach_of_the_contract_is_found(keeps: Callable[..., None], test: str, old: str, new: str) -> None:
    with pytest.raises((AssertionError, AttributeError, PluginError, ValidationError)):
        keeps(test, old, new)


def test_every_test_of_the_suite_is_handed_over() -> None:
    assert contract.__all__ == sorted(name for name in vars(contract) if name.startswith("test_"))


def test_polling_an_empty_manager_gives_nothing(plugin_manager: PluginManager) -> None:
    assert plugin_manager.ingest(Poll()) == []
