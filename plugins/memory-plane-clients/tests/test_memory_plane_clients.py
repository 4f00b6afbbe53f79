from __future__ import annotations

import json
import os
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from memory_plane import Plane
from memory_plane.integration import Element, Entry, Integration, Machine, OwnFile
from memory_plane.testing.contract import *  # noqa: F403
from memory_plane.types import Event
from memory_plane_clients import table, telling

SHIPPED = "Shipped the login page of herrington.ai to production."
ROWS = table.rows()
every_agent = pytest.mark.parametrize("agent", ROWS)

TURNS: dict[str, list[tuple[str, dict[str, Any]]]] = json.loads(
    Path(__file__).with_name("turns.json").read_text("utf-8")
)
"""What hooks deliver: of Gemini CLI 0.61 and Codex 0.171 as recorded, of the others as their documentation has it."""


def machine(home: Path, platform: str = "linux", **environment: str) -> Machine:
    return Machine(
        home=home,
        platform=platform,
        environment={"PATH": "", **environment},
        plane=home / "p",
        command=("/mp",),
        python="/py",
    )


def declared(agent: str, home: Path, platform: str = "linux", **environment: str) -> Integration:
    return telling.integration(agent, ROWS[agent], machine(home, platform, **environment))


# --- what hooks deliver ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("agent", TURNS)
def test_turn_becomes_its_focus_and_what_was_done(make_plane: Callable[..., Plane], agent: str) -> None:
    plane = make_plane("clients")
    for name, payload in TURNS[agent]:
        plane.spool(Event(agent=agent, name=name, payload=payload))
    plane.ingest()
    assert [(one.agent, one.kind, one.text) for one in plane.thoughts()] == [(agent, "milestone", SHIPPED)]
    assert [(beat.agent, "login page" in beat.focus) for beat in plane.pulse().heartbeats] == [(agent, True)]
    projects = {one.project for one in plane.thoughts()}
    assert projects == ({None} if agent == "windsurf" else {"shop"})


@pytest.mark.parametrize("agent", TURNS)
def test_turn_that_comes_again_adds_nothing(make_plane: Callable[..., Plane], agent: str) -> None:
    plane = make_plane("clients")
    for _ in range(2):
        for name, payload in TURNS[agent]:
            plane.spool(Event(agent=agent, name=name, payload={**payload, "again": os.urandom(4).hex()}))
    plane.ingest()
    assert len(plane.thoughts()) == 1


def test_next_prompt_closes_the_question_of_its_session(make_plane: Callable[..., Plane]) -> None:
    plane = make_plane("clients")
    (ask, asks), (stop, stops) = TURNS["codex"]
    for session in ("s", "another"):
        asked = {"session_id": session, "last_assistant_message": f"Shall I drop the old tables of {session}?"}
        plane.spool(Event(agent="codex", name=stop, payload=stops | asked))
    plane.ingest()
    plane.spool(Event(agent="codex", name=ask, payload=asks | {"turn_id": "t-2", "prompt": "yes"}))
    plane.ingest()
    assert [item.text for item in plane.items()] == ["Shall I drop the old tables of another?"]


def test_every_hook_that_is_registered_and_tells_of_a_turn_is_tried() -> None:
    for agent, row in ROWS.items():
        told = set(row.get("turns", {}))
        assert told <= {name for name, _ in TURNS.get(agent, [])}
        registered = {*row.get("hooks", {}).get("events", ()), *row.get("scripts", {}).get("events", ())}
        assert not registered or told <= registered


def test_time_of_the_agent_counts_where_none_is_known_of_the_event(make_plane: Callable[..., Plane]) -> None:
    from memory_plane_clients.events import operations

    name, payload = TURNS["cline"][2]
    found = operations(Event(agent="cline", name=name, payload=payload), now=datetime(2030, 1, 1, tzinfo=UTC))
    assert {operation.created_at for operation in found} == {datetime(2026, 3, 4, 9, tzinfo=UTC)}


# --- how they are told -------------------------------------------------------------------------------------------


@every_agent
@pytest.mark.parametrize("platform", ["linux", "darwin", "win32"])
def test_every_agent_gets_a_server_by_absolute_paths(tmp_path: Path, agent: str, platform: str) -> None:
    integration = declared(agent, tmp_path, platform)
    server = integration.edits[0]
    assert isinstance(server, Entry)
    assert server.pointer[-1] == "memory-plane"
    assert "/mp" in json.dumps(server.value)
    assert agent in json.dumps(server.value)
    assert "{" not in json.dumps(server.value).replace('"', "").replace("{}", "").strip("{}")
    assert all(getattr(edit, "path").is_relative_to(tmp_path) for edit in integration.edits)  # noqa: B009 - all files


@pytest.mark.parametrize(
    ("agent", "platform", "environment", "expected"),
    [
        ("vscode", "linux", {}, ".config/Code/User/mcp.json"),
        ("vscode", "darwin", {}, "Library/Application Support/Code/User/mcp.json"),
        ("vscode", "win32", {}, "AppData/Roaming/Code/User/mcp.json"),
        ("vscode", "linux", {"XDG_CONFIG_HOME": "~/conf"}, "conf/Code/User/mcp.json"),
        ("zed", "darwin", {}, ".config/zed/settings.json"),
        ("zed", "win32", {}, "AppData/Roaming/Zed/settings.json"),
        ("codex", "linux", {}, ".codex/config.toml"),
        ("codex", "linux", {"CODEX_HOME": "~/c"}, "c/config.toml"),
        ("windsurf", "darwin", {}, ".codeium/windsurf/mcp_config.json"),
        ("opencode", "linux", {}, ".config/opencode/opencode.json"),
    ],
)
def test_server_is_where_the_system_has_it(
    tmp_path: Path, agent: str, platform: str, environment: dict[str, str], expected: str
) -> None:
    server = declared(agent, tmp_path, platform, **environment).edits[0]
    assert isinstance(server, Entry)
    assert server.path == tmp_path / expected


def test_configuration_with_comments_is_taken_where_it_is_there(tmp_path: Path) -> None:
    base = tmp_path / ".config" / "opencode"
    base.mkdir(parents=True)
    (base / "opencode.jsonc").write_text("{}")
    server = declared("opencode", tmp_path).edits[0]
    assert isinstance(server, Entry)
    assert server.path.name == "opencode.jsonc"


def test_hooks_of_cursor_say_their_version(tmp_path: Path) -> None:
    edits = declared("cursor", tmp_path).edits
    assert Entry(path=tmp_path / ".cursor" / "hooks.json", pointer=("version",), value=1) in edits
    assert {edit.pointer for edit in edits if isinstance(edit, Element)} >= {
        ("hooks", "stop"),
        ("hooks", "sessionStart"),
    }


@every_agent
def test_no_hook_can_hold_up_a_tool(tmp_path: Path, agent: str) -> None:
    for edit in declared(agent, tmp_path).edits:
        if isinstance(edit, Element):
            assert "tool" not in edit.pointer[-1].lower()


def test_scripts_of_cline_can_be_run(tmp_path: Path) -> None:
    scripts = [edit for edit in declared("cline", tmp_path).edits if isinstance(edit, OwnFile)]
    assert {edit.path.name for edit in scripts} == {"TaskStart", "TaskResume", "UserPromptSubmit", "TaskComplete"}
    assert all(edit.executable and edit.text.startswith("#!/bin/sh\nexec /py -S /") for edit in scripts)


def test_plugin_of_opencode_calls_the_shim_by_absolute_paths(tmp_path: Path) -> None:
    (plugin,) = [edit for edit in declared("opencode", tmp_path).edits if isinstance(edit, OwnFile)]
    line = next(line for line in plugin.text.splitlines() if line.startswith("const SHIM"))
    words = json.loads(line.partition("= ")[2])
    assert (words[0], words[3:]) == ("/py", ["opencode", str(tmp_path / "p")])
    assert "__" not in plugin.text


def test_gemini_is_not_taken_for_found_where_only_antigravity_is(tmp_path: Path) -> None:
    (tmp_path / ".gemini" / "antigravity").mkdir(parents=True)
    assert not declared("gemini-cli", tmp_path).found
    (tmp_path / ".gemini" / "settings.json").touch()
    assert declared("gemini-cli", tmp_path).found


@every_agent
def test_every_agent_has_a_page_that_names_its_files(tmp_path: Path, agent: str) -> None:
    page = (Path(__file__).parents[3] / "docs" / "agents" / f"{agent}.md").read_text("utf-8")
    for edit in declared(agent, tmp_path).edits:
        assert getattr(edit, "path").name in page  # noqa: B009 - edits of several kinds, all of files
