from __future__ import annotations

from collections.abc import Callable

import pytest

from memory_plane import Plane, Plugin, hookimpl
from memory_plane.plugins import PluginManager
from memory_plane.types import Classification, Extraction, Item, Memory, Mention, Resolution, new_node_id


def mention(memory: Memory, text: str, type: str = "Person", confidence: float = 0.8) -> Mention:
    start = memory.text.index(text)
    return Mention(text=text, type=type, start=start, end=start + len(text), confidence=confidence)


class PeoplePlugin(Plugin):
    @hookimpl
    def extract(self, memory: Memory, found: Extraction) -> Extraction | None:
        return Extraction(mentions=(mention(memory, "Ann"), mention(memory, "Rust", confidence=0.3)))


class ToolsPlugin(Plugin):
    @hookimpl
    def extract(self, memory: Memory, found: Extraction) -> Extraction | None:
        return Extraction(mentions=(mention(memory, "Rust", "Language"),))

    @hookimpl
    def classify(self, memory: Memory, found: Extraction) -> Classification:
        return Classification(
            resolutions=tuple(
                Resolution(mention=one, node=new_node_id(memory.id, one), probability=1) for one in found.mentions
            )
        )


@pytest.fixture
def memory(make_memory: Callable[..., Memory]) -> Memory:
    return make_memory("Ann learns Rust")


def test_answers_are_united_by_span(plugin_manager: PluginManager, memory: Memory) -> None:
    plugin_manager.register(PeoplePlugin())
    plugin_manager.register(ToolsPlugin())
    found = plugin_manager.extract(memory)
    assert [(one.text, one.type) for one in found.mentions] == [("Ann", "Person"), ("Rust", "Language")]


def test_answers_are_kept_as_given_for_the_record(plugin_manager: PluginManager, memory: Memory) -> None:
    plugin_manager.register(PeoplePlugin())
    plugin_manager.register(ToolsPlugin())
    given = plugin_manager.extractions(memory)
    assert [(name, len(found.mentions)) for name, found in given] == [("people", 2), ("tools", 1)]


def test_each_is_shown_what_those_before_found(plugin_manager: PluginManager, memory: Memory) -> None:
    shown: list[Extraction] = []

    class CuriousPlugin(Plugin):
        @hookimpl
        def extract(self, found: Extraction) -> None:
            shown.append(found)

    plugin_manager.register(PeoplePlugin())
    plugin_manager.register(ToolsPlugin())
    plugin_manager.register(CuriousPlugin())
    plugin_manager.extract(memory)
    assert [one.type for one in shown[0].mentions] == ["Person", "Language"]


def test_none_is_nothing_found(plugin_manager: PluginManager, memory: Memory) -> None:
    class BlindPlugin(Plugin):
        @hookimpl
        def extract(self) -> None:
            return None

    plugin_manager.register(BlindPlugin())
    assert plugin_manager.extract(memory) == Extraction()
    assert plugin_manager.extractions(memory) == []


def test_mentions_of_a_write_are_in_the_graph(make_plane: Callable[..., Plane]) -> None:
    plane = make_plane(ToolsPlugin())
    assert plane.post("Ann learns Rust", agent="muse").state == "stored"
    assert [node.name for node in plane.graph(about="Rust").nodes] == ["Rust"]


def test_item_found_in_a_thought_is_open(make_plane: Callable[..., Plane]) -> None:
    class PromisesPlugin(Plugin):
        @hookimpl
        def extract(self) -> Extraction:
            return Extraction(items=(Item(kind="commitment", owner="Ann", to="Bob", object="send the plan"),))

    plane = make_plane(PromisesPlugin())
    plane.post("Ann will send Bob the plan", agent="muse")
    assert [(item.kind, item.owner) for item in plane.items()] == [("commitment", "Ann")]


def test_write_is_stored_whatever_the_extractor_does(make_plane: Callable[..., Plane]) -> None:
    class HarmfulPlugin(Plugin):
        @hookimpl
        def extract(self, memory: Memory) -> Extraction:
            far = Mention(text="Ann", type="Person", start=10**6, end=10**6 + 3, confidence=9)
            return Extraction(mentions=(far,))

    plane = make_plane(HarmfulPlugin(), strict=False)
    assert plane.post("Ann learns Rust", agent="muse").state == "stored"
    assert plane.graph(about="Ann").nodes == ()
    assert [failure.plugin for failure in plane.plugins.failures] == ["harmful"]
