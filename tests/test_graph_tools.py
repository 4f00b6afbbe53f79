"""The eleven tools of `--tools graph`: each does what its name says, within the size of every answer."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from click.testing import CliRunner
from mcp_types import TextContent

from memory_plane import Plane
from memory_plane.surfaces.cli import main
from memory_plane.surfaces.graph_tools import GRAPH
from memory_plane.surfaces.mcp_server import answer
from memory_plane.surfaces.mcp_tools import by_name

MakePlane = Callable[..., Plane]
Call = Callable[..., dict[str, Any]]

TOOLS = by_name(GRAPH)
SEED = (
    "memory_graph_ingest", "memory_graph_query", "memory_graph_search", "memory_graph_path", "memory_graph_stats",
    "memory_graph_temporal", "memory_graph_supersede", "memory_graph_decay", "memory_graph_embed",
    "memory_graph_semantic_search", "memory_graph_dedup_relations",
)  # fmt: skip


@pytest.fixture
def plane(make_plane: MakePlane) -> Plane:
    return make_plane("local")


@pytest.fixture
def call(plane: Plane) -> Call:
    """Call a tool that must succeed, by what follows `memory_graph_`."""

    def good(name: str, **arguments: Any) -> dict[str, Any]:
        result = answer(plane, "instinct", TOOLS[f"memory_graph_{name}"], arguments)
        (content,) = result.content
        assert isinstance(content, TextContent)
        assert not result.is_error, content.text
        assert len(content.text.encode()) <= 8 * 1024
        structure: dict[str, Any] = result.structured_content
        assert json.loads(content.text) == structure
        return structure

    return good


def names(found: list[dict[str, Any]]) -> list[str]:
    return [one["name"] for one in found]


def test_they_are_the_eleven_and_no_default_tool_is_one_of_them() -> None:
    assert tuple(TOOLS) == SEED


def test_demo_of_the_graph_memory_does_what_it_shows(call: Call) -> None:
    found = call(
        "ingest",
        text="Hey, I just met Viktor who's the CTO of Nexus Labs. They're building SkyNet-X using Rust and ROS2.",
    )
    assert found["state"] == "1 stored"
    assert {"Viktor", "Nexus Labs", "SkyNet-X", "Rust"} <= set(names(found["entities"]))
    assert "Viktor" in call("query", question="Who works at Nexus Labs?")["answer"]
    path = call("path", **{"from": "Viktor", "to": "Rust"})
    assert path["path"] == "Viktor →[CTO_OF]→ Nexus Labs →[BUILDS]→ SkyNet-X →[USES]→ Rust"
    assert (path["found"], path["complete"], len(path["relationships"])) == (True, True, 3)
    assert "entities" not in path
    assert not call("path", **{"from": "Viktor", "to": "Rust", "max_hops": 1})["found"]
    assert names(call("search", query="nexus")["entities"]) == ["Nexus Labs"]
    assert call("search", query="nexus", type="Person")["entities"] == []
    assert "Viktor" in names(call("semantic_search", query="who was met")["entities"])
    stats = call("stats")
    assert stats["types"]["Language"] >= 1
    assert stats["entities"] == sum(stats["types"].values())


def test_new_value_replaces_the_old_one_and_the_past_is_kept(plane: Plane, call: Call) -> None:
    plane.post("Alice works at Acme.", agent="notes", created_at="2026-01-01T09:00:00Z")
    call("supersede", entity="Alice", relation="WORKS_AT", new="Globex", old="Acme")
    now = call("temporal", entity="Alice")
    assert [(fact["key"], fact["value"]) for fact in now["facts"]] == [("works at", "Globex")]
    works = {one["target"] for one in now["relationships"] if one["relation"] == "WORKS_AT"}
    assert works == {"node:organization:globex"}
    then = call("temporal", entity="Alice", at="2026-01-02T00:00:00Z")
    assert [one["target"] for one in then["relationships"]] == ["node:organization:acme"]
    assert then["facts"] == []


def test_what_needs_no_work_says_so(plane: Plane, call: Call) -> None:
    plane.post("Alice uses Go.", agent="notes", created_at="2020-01-01T09:00:00Z")
    faded = call("decay")["faded"]
    assert [(one["source"], one["weight"]) for one in faded] == [("node:person:alice", 0.1)]
    assert call("embed")["generated"] == 0
    assert call("dedup_relations")["removed"] == 0
    assert plane.status().operations == 1


def test_answers_stay_small_however_much_there_is(plane: Plane, call: Call) -> None:
    for number in range(120):
        plane.post(f"Alice uses Tool{number}X.", agent="notes")
    found: list[str] = []
    cursor = ""
    while cursor or not found:
        page = call("search", query="tool", limit=100, cursor=cursor)
        found += names(page["entities"])
        cursor = page.get("next_cursor", "")
    assert len(set(found)) == 100
    assert "next_cursor" in call("temporal", entity="Alice")
    assert "next_cursor" not in call("ingest", text="Alice uses " + ", ".join(f"Kit{n}X" for n in range(90)) + ".")


@pytest.mark.parametrize(
    ("name", "given", "reason"),
    [
        ("path", {"from": "Nobody", "to": "Rust"}, "source: nothing in the graph is called 'Nobody'"),
        ("path", {"from": "Nobody"}, "to: missing"),
        ("ingest", {"text": ""}, "text: "),
        ("temporal", {"entity": "x", "at": "then"}, "at: 'then' is no ISO 8601 time"),
        (
            "supersede",
            {"entity": "a", "relation": "USES", "new": "b", "valid_from": "\ud800"},
            "valid_from: '\\ud800'",
        ),
        ("supersede", {"entity": "x", "relation": "y", "new": ""}, "value: "),
    ],
)
def test_what_makes_no_sense_is_told(plane: Plane, name: str, given: dict[str, Any], reason: str) -> None:
    result = answer(plane, "instinct", TOOLS[f"memory_graph_{name}"], given)
    (content,) = result.content
    assert result.is_error
    assert isinstance(content, TextContent)
    assert content.text.startswith(reason)


@pytest.mark.parametrize("name", ["ingest", "supersede"])
def test_who_names_no_agent_writes_nothing(plane: Plane, name: str) -> None:
    given = {"ingest": {"text": "x"}, "supersede": {"entity": "a", "relation": "b", "new": "c"}}[name]
    assert answer(plane, None, TOOLS[f"memory_graph_{name}"], given).is_error
    assert plane.status().operations == 0


def test_unknown_kind_of_tools_is_refused(plane: Plane) -> None:
    result = CliRunner().invoke(main, ["--home", str(plane.home), "mcp", "--agent", "muse", "--tools", "gruff"])
    assert result.exit_code == 2
    assert "--tools: 'gruff' is unknown; give plugins or graph" in result.stderr
