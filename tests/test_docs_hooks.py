from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import click
import pytest
from click.testing import CliRunner

from memory_plane import Plane, Plugin
from memory_plane.plugin import HOOKS
from memory_plane.plugins import PluginManager
from memory_plane.testing.machines import bare_machine
from memory_plane.types import AgentContext, Event, Extraction, Memory, Mention, Poll

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "hooks.md").read_text("utf-8")


def blocks() -> Iterator[tuple[str, str]]:
    """Yield each Python block with the hook whose section it stands in."""
    for section in PAGE.split("\n## ")[1:]:
        for block in re.findall(r"```python\n(.*?)```", section, re.DOTALL):
            yield section.partition("(")[0], block


def example(hook: str, number: int = 0) -> Plugin:
    """Run one block and return an instance of the plugin that it defines."""
    names: dict[str, Any] = {"__name__": f"docs_{hook}"}
    exec([block for name, block in blocks() if name == hook][number], names)
    (kind,) = (
        value
        for value in names.values()
        if isinstance(value, type) and issubclass(value, Plugin) and value is not Plugin
    )
    plugin: Plugin = kind()
    return plugin


@pytest.fixture
def memory(make_memory: Callable[..., Memory]) -> Memory:
    return make_memory("AB-12 is about rivers")


@pytest.mark.parametrize("hook", HOOKS)
def test_hook_is_documented_with_its_arguments(hook: str) -> None:
    assert f"\n## {hook}({', '.join(HOOKS[hook])})\n" in PAGE


@pytest.mark.parametrize("hook", HOOKS)
def test_hook_has_a_test_file(hook: str) -> None:
    assert (ROOT / "tests" / f"test_hook_{hook}.py").is_file()


@pytest.mark.parametrize("hook", HOOKS)
def test_hook_is_in_the_table_with_a_link_to_its_section(hook: str) -> None:
    anchor = f"{hook}({', '.join(HOOKS[hook])})".replace(" ", "-")
    assert f"| [`{hook}`](#{re.sub(r'[(),]', '', anchor)}) |" in PAGE


def test_example_of_ingest_reads_an_event_once(make_plane: Callable[..., Plane]) -> None:
    plane = make_plane(example("ingest"))
    for _ in range(2):
        sent = {"id": 7, "text": "an otter", "sent_at": "2026-01-05T09:00:00+01:00"}
        plane.spool(Event(agent="heron", name="message", payload=sent))
    assert plane.ingest().stored == 1
    assert [hit.snippet for hit in plane.recall("otter").hits] == ["an otter"]


def test_example_of_polling_continues_where_it_was(home: Path, plugin_manager: PluginManager) -> None:
    plugin_manager.register(example("ingest", 1))
    diary = home.parent / "diary.txt"
    diary.write_text("one\n\ntwo\n", "utf-8")
    ((_, first),) = plugin_manager.ingest(Poll())
    diary.write_text("one\n\ntwo\nthree\n", "utf-8")
    ((_, second),) = plugin_manager.ingest(Poll(cursor=first.cursor))
    assert [operation.body["text"] for operation in (*first.operations, *second.operations)] == ["one", "two", "three"]


def test_example_of_extract_finds_a_ticket(plugin_manager: PluginManager, memory: Memory) -> None:
    plugin_manager.register(example("extract"))
    (mention,) = plugin_manager.extract(memory).mentions
    assert mention.text == "AB-12"


def test_example_of_classify_founds_a_node(plugin_manager: PluginManager, memory: Memory) -> None:
    plugin_manager.register(example("classify"))
    mention = Mention(text="AB-12", type="Document", start=0, end=5, confidence=1)
    answer = plugin_manager.classify(memory, Extraction(mentions=(mention,)), ())
    assert answer
    assert answer[1].resolutions[0].mention == mention


def test_example_of_route_scores_who_cares(plugin_manager: PluginManager, memory: Memory) -> None:
    plugin_manager.register(example("route"))
    agents = [AgentContext(id="heron", interests=("rivers",)), AgentContext(id="grok", interests=("rockets",))]
    answer = plugin_manager.route(memory, (), agents)
    assert answer
    assert [(one.agent, one.reason) for one in answer[1].attention] == [("heron", "about rivers")]


def test_example_of_render_writes_its_page(make_plane: Callable[..., Plane], home: Path) -> None:
    plane = make_plane(example("render"))
    plane.post("water the plants", agent="muse", kind="commitment")
    plane.render()
    assert "water the plants" in (home / "todo" / "open.md").read_text("utf-8")


def test_example_of_embed_gives_a_row_a_text(plugin_manager: PluginManager) -> None:
    plugin_manager.register(example("embed"))
    vectors = plugin_manager.embed(["abba", ""])
    assert vectors
    assert vectors.rows[0][:2] == (2.0, 2.0)


def test_example_of_expand_knows_other_words(plugin_manager: PluginManager) -> None:
    plugin_manager.register(example("expand"))
    expansion = plugin_manager.expand(["k8s", "tea"])
    assert expansion
    assert expansion.alike == {"k8s": {"kubernetes": 0.9}}


def test_example_of_register_tools_has_the_name_that_is_said(make_plane: Callable[..., Plane]) -> None:
    plane = make_plane(example("register_tools"))
    plane.post("call Ann", agent="muse", kind="commitment", due_at="2026-01-05T09:00:00Z")
    (tool,) = plane.plugins.tools(plane)
    assert (tool.name, tool.function()) == ("follow_up_overdue", ["call Ann"])


def test_example_of_register_commands_prints_facts(make_plane: Callable[..., Plane]) -> None:
    plane = make_plane(example("register_commands"))
    plane.fact("Ann", "city", "Kyiv", agent="muse")
    group = click.Group("who", commands=plane.plugins.commands()["who"])
    assert (
        CliRunner().invoke(group, ["about", "Ann"], obj=type("Session", (), {"plane": plane})).output == "city: Kyiv\n"
    )


def test_integrate_example_declares_its_server_and_its_hook(tmp_path: Path) -> None:
    (integration,) = example("integrate").integrate(bare_machine(tmp_path))  # type: ignore[attr-defined]
    assert integration.found == ""
    assert [edit.pointer for edit in integration.edits] == [("mcpServers", "memory-plane"), ("hooks", "Stop")]
