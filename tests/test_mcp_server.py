from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, TypeVar

import anyio
import pytest
from mcp.client import Client
from mcp.shared.exceptions import MCPError
from mcp_types import CallToolResult, TextContent, TextResourceContents

from memory_plane import Plane
from memory_plane.errors import ConfigurationError
from memory_plane.integration import INSTRUCTIONS
from memory_plane.surfaces.mcp_server import build, serve_stdio
from memory_plane.surfaces.mcp_tools import CORE
from memory_plane.types import Tool

Answer = TypeVar("Answer")

TOOLS = [
    "memory_get_pulse",
    "memory_post_thought",
    "memory_upsert_fact",
    "memory_ingest",
    "memory_recall",
    "memory_ask",
    "memory_resolve_item",
    "memory_correct",
    "memory_get_graph",
    "memory_sync_status",
]
READERS = {"memory_get_pulse", "memory_recall", "memory_ask", "memory_get_graph", "memory_sync_status"}
MODES = ["legacy", "auto"]
EIGHT_KB = 8 * 1024


def talk(
    plane: Plane,
    agent: str | None,
    conversation: Callable[[Client], Awaitable[Answer]],
    *,
    mode: str = "legacy",
    tools: int = 0,
) -> Answer:
    async def main() -> Answer:
        async with Client(build(plane, agent, tools=tools), mode=mode) as client:
            return await conversation(client)

    return anyio.run(main)


def call(plane: Plane, agent: str | None, tool: str, /, **arguments: Any) -> CallToolResult:
    async def ask(client: Client) -> CallToolResult:
        return await client.call_tool(tool, arguments)

    return talk(plane, agent, ask)


def protocol_error(plane: Plane, conversation: Callable[[Client], Awaitable[Any]]) -> str:
    async def ask(client: Client) -> str:
        try:
            await conversation(client)
        except MCPError as error:
            return str(error)
        raise AssertionError("no error came")

    return talk(plane, "grok", ask)


def text_of(result: CallToolResult) -> str:
    (content,) = result.content
    assert isinstance(content, TextContent)
    return content.text


def good(plane: Plane, agent: str | None, tool: str, /, **arguments: Any) -> dict[str, Any]:
    """Call a tool that must succeed, check what holds for every result, and return its structure."""
    result = call(plane, agent, tool, **arguments)
    text = text_of(result)
    assert not result.is_error, text
    assert json.loads(text) == result.structured_content
    assert len(text.encode()) <= EIGHT_KB
    structure: dict[str, Any] = result.structured_content
    return structure


def listed(plane: Plane, mode: str = "legacy", *, tools: int = 0) -> list[dict[str, Any]]:
    async def ask(client: Client) -> list[dict[str, Any]]:
        found = (await client.list_tools()).tools
        return [tool.model_dump(by_alias=True, mode="json", exclude_none=True) for tool in found]

    return talk(plane, "grok", ask, mode=mode, tools=tools)


def words(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        for name, inner in value.items():
            yield name
            yield from words(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from words(inner)


@pytest.mark.parametrize("mode", MODES)
def test_the_tools_are_offered_in_order_and_at_most_ten(plane: Plane, mode: str) -> None:
    assert [tool["name"] for tool in listed(plane, mode)] == TOOLS
    assert len(TOOLS) <= 10


def test_input_schemas_are_flat(plane: Plane) -> None:
    for tool in listed(plane):
        schema = tool["inputSchema"]
        assert schema["type"] == "object"
        assert not {"anyOf", "oneOf", "allOf", "$defs", "$ref", "not"} & set(words(schema))
        for parameter in schema["properties"].values():
            assert parameter["type"] in ("string", "integer", "number")
            assert "" not in parameter.get("enum", ["x"])
            assert parameter["description"]
        assert set(schema.get("required", [])) <= set(schema["properties"])
        assert schema["additionalProperties"] is False


def test_tools_are_described_annotated_and_typed(plane: Plane) -> None:
    for tool in listed(plane):
        hints = tool["annotations"]
        assert 40 < len(tool["description"]) < 300
        assert hints["readOnlyHint"] == (tool["name"] in READERS)
        assert hints["destructiveHint"] is (tool["name"] == "memory_correct")
        assert hints["openWorldHint"] is False
        assert hints["idempotentHint"] == (tool["name"] not in ("memory_post_thought", "memory_ingest"))
        assert tool["outputSchema"]["type"] == "object"


def test_each_tool_is_documented_with_its_parameters() -> None:
    pages = Path(__file__).parents[1] / "docs" / "mcp.md"
    headings = [line for line in pages.read_text("utf-8").splitlines() if line.startswith("### memory_")]
    assert headings == [f"### {spec.name}({', '.join(spec.parameters)})" for spec in CORE]


def test_the_list_of_tools_stays_small(plane: Plane) -> None:
    tools = listed(plane)
    seen = [{name: tool[name] for name in ("name", "description", "inputSchema")} for tool in tools]
    assert len(json.dumps(seen)) < 7_600, "about 1,900 tokens, which every session of every agent pays"
    assert len(json.dumps(tools)) < 14_400
    assert len(INSTRUCTIONS.encode()) <= 1024


@pytest.mark.parametrize("mode", MODES)
def test_a_client_learns_name_version_and_instructions(plane: Plane, mode: str) -> None:
    from memory_plane import __version__

    async def ask(client: Client) -> tuple[str, str, str | None]:
        info = client.server_info
        assert info is not None
        return info.name, info.version, client.instructions

    assert talk(plane, "grok", ask, mode=mode) == ("memory-plane", __version__, INSTRUCTIONS)


def test_a_thought_is_stored_under_the_connected_agent(plane: Plane) -> None:
    receipt = good(plane, "Muse", "memory_post_thought", text="Rob wants a demo", kind="decision", project="fpga")
    assert receipt["state"] == "stored"
    (entry,) = good(plane, "grok", "memory_get_pulse")["recent"]
    assert entry["id"] == receipt["id"]
    assert (entry["agent"], entry["kind"], entry["text"]) == ("muse", "decision", "Rob wants a demo")
    assert entry["source"] == "agent, fpga"
    assert datetime.fromisoformat(entry["time"]) <= datetime.now(UTC)


def test_a_bad_agent_name_ends_the_start(plane: Plane) -> None:
    with pytest.raises(ConfigurationError, match="--agent: 'two words' is no agent id"):
        serve_stdio(plane, "two words")


def test_an_unknown_tool_is_a_protocol_error(plane: Plane) -> None:
    said = protocol_error(plane, lambda client: client.call_tool("memory_forget", {}))
    assert said == "unknown tool 'memory_forget'"


@pytest.mark.parametrize("mode", MODES)
def test_resources_are_the_rendered_pages(plane: Plane, mode: str) -> None:
    plane.post("Shipped the release", agent="muse", kind="milestone")
    plane.fact("hub", "port", "8788", agent="muse")

    async def read(client: Client) -> dict[str, str]:
        uris = [resource.uri for resource in (await client.list_resources()).resources]
        contents = {}
        for uri in uris:
            (content,) = (await client.read_resource(uri)).contents
            assert isinstance(content, TextResourceContents)
            assert content.mime_type == "text/markdown"
            contents[uri] = content.text
        return contents

    found = talk(plane, "grok", read, mode=mode)
    assert list(found) == ["memory://pulse", "memory://facts"]
    assert "Shipped the release" in found["memory://pulse"]
    assert "8788" in found["memory://facts"]


def test_an_unknown_resource_is_a_protocol_error(plane: Plane) -> None:
    said = protocol_error(plane, lambda client: client.read_resource("memory://secrets"))
    assert said == "unknown resource 'memory://secrets'; there are memory://pulse, memory://facts"


def caught_up(plane: Plane, **arguments: str) -> str:
    async def ask(client: Client) -> str:
        (prompt,) = (await client.list_prompts()).prompts
        (message,) = (await client.get_prompt(prompt.name, arguments)).messages
        assert isinstance(message.content, TextContent)
        return message.content.text

    return talk(plane, "grok", ask)


def test_catch_up_holds_what_happened_since(plane: Plane) -> None:
    plane.post("An old story", agent="muse", created_at=datetime.now(UTC) - timedelta(days=9))
    plane.post("Fresh news", agent="muse")
    assert "Fresh news" in caught_up(plane)
    assert "An old story" not in caught_up(plane, since="3d")
    assert "An old story" in caught_up(plane, since="2w")


def test_catch_up_refuses_a_time_it_cannot_read(plane: Plane) -> None:
    said = protocol_error(plane, lambda client: client.get_prompt("catch_up", {"since": "whenever"}))
    assert said.startswith("since: 'whenever' is neither")


@pytest.mark.parametrize(("tools", "more"), [(0, 0), (1, 0), (2, 11), (3, 11)])
def test_tools_of_the_graph_come_only_when_asked_for(plane: Plane, tools: int, more: int) -> None:
    offered = [tool["name"] for tool in listed(plane, tools=tools)]
    assert offered[: len(TOOLS)] == TOOLS
    assert len([name for name in offered if name.startswith("memory_graph_")]) == len(offered) - len(TOOLS) == more


def test_plugin_tools_come_only_when_asked_for(plane: Plane, monkeypatch: pytest.MonkeyPatch) -> None:
    def dossier(person: str, limit: int | None = None) -> dict[str, Any]:
        return {"person": person, "limit": limit}

    tool = Tool(name="muse_dossier", description="What Muse knows about a person", function=dossier)
    monkeypatch.setattr(plane.plugins, "tools", lambda plane: [tool])
    assert [tool["name"] for tool in listed(plane)] == TOOLS
    (offered,) = [tool for tool in listed(plane, tools=True) if tool["name"] not in TOOLS]
    assert offered["name"] == "muse_dossier"
    assert offered["inputSchema"]["required"] == ["person"]

    async def ask(client: Client) -> CallToolResult:
        return await client.call_tool("muse_dossier", {"person": "Rob"})

    assert talk(plane, "grok", ask, tools=True).structured_content["person"] == "Rob"
