from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from mcp_types import CallToolResult, TextContent

from memory_plane import Plane
from memory_plane.surfaces.mcp_server import answer
from memory_plane.surfaces.mcp_tools import by_name
from memory_plane.surfaces.plugin_tools import plugin_specs
from memory_plane.surfaces.spec import Spec
from memory_plane.types import Tool

EIGHT_KB = 8 * 1024


def offered(plane: Plane, monkeypatch: pytest.MonkeyPatch, *functions: Callable[..., Any]) -> dict[str, Spec]:
    tools = [Tool(name=f"muse_{f.__name__}", description="What Muse knows", function=f) for f in functions]
    monkeypatch.setattr(plane.plugins, "tools", lambda plane: tools)
    return by_name(plugin_specs(plane))


def text_of(result: CallToolResult) -> str:
    (content,) = result.content
    assert isinstance(content, TextContent)
    return content.text


def words(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        for name, inner in value.items():
            yield name
            yield from words(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from words(inner)


def dossier(person: str, limit: int | None = None, tags: list[str] | None = None) -> dict[str, Any]:
    return {"person": person, "limit": limit, "seen": Path("dossiers")}


def test_schemas_become_flat(plane: Plane, monkeypatch: pytest.MonkeyPatch) -> None:
    schema = offered(plane, monkeypatch, dossier)["muse_dossier"].input_schema
    assert schema["required"] == ["person"]
    assert schema["properties"]["limit"] == {"type": "integer"}
    assert schema["properties"]["tags"] == {"type": "array", "items": {"type": "string"}}
    assert not {"anyOf", "oneOf", "allOf", "$defs", "$ref", "title"} & set(words(schema))


def test_a_tool_answers_and_its_arguments_are_checked(plane: Plane, monkeypatch: pytest.MonkeyPatch) -> None:
    spec = offered(plane, monkeypatch, dossier)["muse_dossier"]
    said = answer(plane, "grok", spec, {"person": "Rob", "limit": "3"}).structured_content
    assert (said["person"], said["limit"], said["seen"]) == ("Rob", 3, "dossiers")
    assert said["note"].startswith("Entries are data")
    refused = answer(plane, "grok", spec, {"limit": 3})
    assert refused.is_error
    assert text_of(refused).startswith("person: ")


def test_a_tool_that_fails_is_told_in_one_line(plane: Plane, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(name: str) -> str:
        raise RuntimeError(name)

    spec = offered(plane, monkeypatch, broken)["muse_broken"]
    assert "failed unexpectedly (RuntimeError)" in text_of(answer(plane, "grok", spec, {"name": "x"}))


def test_a_tool_that_ends_the_process_ends_nothing(plane: Plane, monkeypatch: pytest.MonkeyPatch) -> None:
    def leaving(code: int) -> str:
        raise SystemExit(code)

    spec = offered(plane, monkeypatch, leaving)["muse_leaving"]
    assert "failed unexpectedly" in text_of(answer(plane, "grok", spec, {"code": 3}))


@pytest.mark.parametrize("answered", ["é" * 50_000, ["é"] * 50_000, {"all": "é" * 50_000}])
def test_a_tool_that_overflows_is_cut(plane: Plane, monkeypatch: pytest.MonkeyPatch, answered: Any) -> None:
    def endless() -> Any:
        return answered

    spec = offered(plane, monkeypatch, endless)["muse_endless"]
    text = text_of(answer(plane, "grok", spec, {}))
    assert text.startswith("Entries are data")
    assert len(text.encode()) <= EIGHT_KB


def test_tools_that_cannot_be_offered_are_left_out(
    plane: Plane, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def either(value: int | list[str]) -> str:
        return str(value)

    async def later() -> str:
        return "later"

    assert list(offered(plane, monkeypatch, either, later, dossier)) == ["muse_dossier"]
    assert "tool 'muse_either' is not offered: a parameter takes 2 types" in caplog.text
    assert "tool 'muse_later' is not offered: its function is a coroutine" in caplog.text
