from __future__ import annotations

import json
import os
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
import yaml

from memory_plane import Plane
from memory_plane.integration import Block, Copy, Element, Entry, Integration, OwnFile
from memory_plane.setup import edits
from memory_plane.testing.contract import *  # noqa: F403
from memory_plane.testing.machines import bare_machine
from memory_plane.types import Event
from memory_plane_clients import table, telling
from memory_plane_clients.events import operations

NOW = datetime(2030, 1, 1, tzinfo=UTC)
SHIPPED = "Shipped the login page of herrington.ai to production."
ROWS = table.rows()
every_agent = pytest.mark.parametrize("agent", ROWS)

Hooks = list[tuple[str, dict[str, Any]]]

TURNS: dict[str, Hooks] = json.loads(Path(__file__).with_name("turns.json").read_text("utf-8"))
"""What the hooks of a turn deliver, by agent and version: of Cursor, Windsurf and Cline in VS Code as documented, as
others captured it or as read in their source, of all others as recorded."""

every_turn = pytest.mark.parametrize(
    ("agent", "hooks"), [pytest.param(version.split()[0], hooks, id=version) for version, hooks in TURNS.items()]
)


def declared(agent: str, home: Path, platform: str = "linux", **environment: str) -> Integration:
    return telling.integration(agent, ROWS[agent], bare_machine(home, platform, **environment))


# --- what hooks deliver ------------------------------------------------------------------------------------------


@every_turn
def test_turn_becomes_its_focus_and_what_was_done(make_plane: Callable[..., Plane], agent: str, hooks: Hooks) -> None:
    plane = make_plane("clients")
    for name, payload in hooks:
        plane.spool(Event(agent=agent, name=name, payload=payload))
    plane.ingest()
    thoughts, (beat,) = plane.thoughts(), plane.pulse().heartbeats
    said = json.dumps(hooks)
    assert [(one.kind, one.text) for one in thoughts] == [("milestone", SHIPPED)] * (SHIPPED in said)
    assert (beat.agent, "login page" in beat.focus) == (agent, "Please ship" in said)
    assert {beat.project, *(one.project for one in thoughts)} - {None} == (set() if agent == "windsurf" else {"shop"})


@every_turn
def test_turn_that_comes_again_adds_nothing(make_plane: Callable[..., Plane], agent: str, hooks: Hooks) -> None:
    plane = make_plane("clients")
    for _ in range(2):
        for name, payload in hooks:
            plane.spool(Event(agent=agent, name=name, payload={**payload, "again": os.urandom(4).hex()}))
    plane.ingest()
    assert len(plane.thoughts()) == int(SHIPPED in json.dumps(hooks))


@every_turn
def test_hook_that_tells_nothing_of_a_turn_becomes_nothing(agent: str, hooks: Hooks) -> None:
    told = ROWS[agent]["turns"]
    for name, payload in hooks:
        found = operations(Event(agent=agent, name=name, payload=payload), now=NOW)
        assert bool(found) == (name in told and any(text in json.dumps(payload) for text in (SHIPPED, "Please ship")))


@pytest.mark.parametrize("payload", [{}, {"turn_id": 7, "prompt": ["x"]}, {"prompt": None}, {"prompt": {"text": "x"}}])
@every_agent
def test_payload_of_another_shape_becomes_nothing(agent: str, payload: dict[str, Any]) -> None:
    for name in ROWS[agent].get("turns", ()):
        assert operations(Event(agent=agent, name=name, payload=payload), now=NOW) == ()


def test_what_one_agent_of_cline_has_another_do_is_told_by_the_first() -> None:
    name, payload = TURNS["cline CLI 3.0.65"][-1]
    assert operations(Event(agent="cline", name=name, payload=payload), now=NOW)
    assert not operations(Event(agent="cline", name=name, payload=payload | {"parent_agent_id": "agent_1"}), now=NOW)


@pytest.mark.parametrize(
    ("response", "kept"),
    [
        (
            "### Planner Response\n\nFixed the cart.\n\n*Ran command `npm test`*\n\n### Planner Response\n\nOk.",
            [],
        ),
        ("*Created file `/w/a.py`*\n\n*Deleted file `/w/b.py`*\n", []),
        (f"### Planner Response\n\n{SHIPPED}\n\n*Edited file `/w/a.py`*", [SHIPPED]),
        (f"*Renamed file a to b*\n\n{SHIPPED}", [SHIPPED]),
        (f"**{SHIPPED}**", [SHIPPED]),
    ],
    ids=["earlier word", "steps alone", "steps after it", "no headings", "bold"],
)
def test_steps_of_windsurf_are_not_what_it_said(response: str, kept: list[str]) -> None:
    payload = {"trajectory_id": "r", "tool_info": {"response": response}}
    found = operations(Event(agent="windsurf", name="post_cascade_response", payload=payload), now=NOW)
    assert [one.body["text"] for one in found] == kept


def test_next_prompt_closes_the_question_of_its_session(make_plane: Callable[..., Plane]) -> None:
    plane = make_plane("clients")
    _, (ask, asks), (stop, stops), _ = TURNS["codex 0.171"]
    for session in ("s", "another"):
        asked = {"session_id": session, "last_assistant_message": f"Shall I drop the old tables of {session}?"}
        plane.spool(Event(agent="codex", name=stop, payload=stops | asked))
    plane.ingest()
    plane.spool(Event(agent="codex", name=ask, payload=asks | {"session_id": "s", "turn_id": "t-2", "prompt": "yes"}))
    plane.ingest()
    assert [item.text for item in plane.items()] == ["Shall I drop the old tables of another?"]


@every_agent
def test_every_hook_that_is_registered_and_tells_of_a_turn_is_tried(agent: str) -> None:
    row = ROWS[agent]
    told = set(row.get("turns", ()))
    assert told <= {name for version, hooks in TURNS.items() if version.split()[0] == agent for name, _ in hooks}
    registered = {*row.get("hooks", row.get("scripts", {})).get("events", told)}
    assert told <= registered <= told | {"SessionStart", "sessionStart"}


@pytest.mark.parametrize(
    ("version", "at"),
    [
        ("cline 4", datetime(2026, 3, 4, 9, tzinfo=UTC)),
        ("gemini-cli 0.61", datetime(2026, 11, 30, 8, 18, 42, 829000, UTC)),
    ],
)
def test_time_of_the_agent_counts_where_none_is_known_of_the_event(version: str, at: datetime) -> None:
    told = {
        operation.created_at
        for name, payload in TURNS[version]
        if SHIPPED in json.dumps(payload)
        for operation in operations(Event(agent=version.split()[0], name=name, payload=payload), now=NOW)
    }
    assert told == {at}


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
        ("cline", "linux", {}, ".cline/data/settings/cline_mcp_settings.json"),
        ("goose", "linux", {}, ".config/goose/config.yaml"),
        ("goose", "darwin", {}, ".config/goose/config.yaml"),
        ("goose", "win32", {}, "AppData/Roaming/Block/goose/config/config.yaml"),
        ("cline", "win32", {"CLINE_DIR": "~/c"}, "c/data/settings/cline_mcp_settings.json"),
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
    assert Entry(path=tmp_path / ".cursor" / "hooks.json", pointer=("version",), value=1, stays=True) in edits
    names = {edit.pointer[-1] for edit in edits if isinstance(edit, Element)}
    assert names == {"sessionStart", "beforeSubmitPrompt", "afterAgentResponse"}  # "stop" could ask for another turn


@every_agent
def test_no_hook_can_hold_up_a_tool(tmp_path: Path, agent: str) -> None:
    for edit in declared(agent, tmp_path).edits:
        if isinstance(edit, Element):
            assert "tool" not in edit.pointer[-1].lower()


def test_scripts_of_cline_can_be_run_and_its_rules_hold_the_brief(tmp_path: Path) -> None:
    integration = declared("cline", tmp_path)
    scripts = [edit for edit in integration.edits if isinstance(edit, OwnFile)]
    assert {edit.path.name for edit in scripts} == {"TaskStart", "UserPromptSubmit", "TaskComplete"}
    assert all(edit.executable and edit.text.startswith("#!/bin/sh\nexec /py -S /") for edit in scripts)
    (rules,) = [edit for edit in integration.edits if isinstance(edit, Copy)]
    assert rules.page == "brief/cline.md"
    assert rules.path == tmp_path / "Documents" / "Cline" / "Rules" / "memory-plane.md"
    assert integration.hooks


def test_cline_gets_no_scripts_of_a_shell_on_windows_and_its_person_is_told(tmp_path: Path) -> None:
    integration = declared("cline", tmp_path, "win32")
    assert [type(edit) for edit in integration.edits] == [Entry, Copy]
    assert not integration.hooks
    (step,) = integration.steps
    assert "Windows" in step


def test_plugin_of_opencode_calls_the_shim_by_absolute_paths(tmp_path: Path) -> None:
    (plugin,) = [edit for edit in declared("opencode", tmp_path).edits if isinstance(edit, OwnFile)]
    line = next(line for line in plugin.text.splitlines() if line.startswith("const SHIM"))
    words = json.loads(line.partition("= ")[2])
    assert (words[0], words[3:]) == ("/py", ["opencode", str(tmp_path / "p")])
    assert "__" not in plugin.text


def test_goose_gets_a_server_of_its_form_and_a_plugin_of_hooks(tmp_path: Path) -> None:
    server, *hooks, manifest = declared("goose", tmp_path).edits
    assert isinstance(server, Entry)
    assert server.value.keys() > {"name", "type", "cmd", "args", "enabled", "envs", "timeout"}
    assert (server.value["type"], server.value["name"]) == ("stdio", server.pointer[-1])
    assert isinstance(manifest, OwnFile)
    assert json.loads(manifest.text)["name"] == manifest.path.parent.name
    places = {edit.path for edit in hooks if isinstance(edit, Element)}
    assert places == {manifest.path.with_name("hooks") / "hooks.json"}


def test_goose_gets_no_lines_of_a_shell_on_windows_and_its_person_is_told(tmp_path: Path) -> None:
    integration = declared("goose", tmp_path, "win32")
    assert [type(edit) for edit in integration.edits] == [Entry]
    assert not integration.hooks
    assert "Windows" in integration.steps[0]


def test_goose_is_found_by_its_settings_and_not_by_a_program_of_that_name(tmp_path: Path) -> None:
    program = tmp_path / "bin" / "goose"
    program.parent.mkdir()
    program.touch(mode=0o755)
    assert not declared("goose", tmp_path, PATH=str(program.parent)).found
    (tmp_path / ".config" / "goose").mkdir(parents=True)
    (tmp_path / ".config" / "goose" / "config.yaml").touch()
    assert declared("goose", tmp_path).found


def test_settings_of_goose_are_edited_as_goose_writes_them(tmp_path: Path) -> None:
    data = b"extensions:\n  developer:\n    enabled: true\n    args:\n    - --x\n    envs: {}\nGOOSE_MODE: auto\n"
    server = declared("goose", tmp_path).edits[0]
    assert isinstance(server, Entry)
    after, record = edits.made(server, data)
    assert record is not None
    assert yaml.safe_load(after)["extensions"]["memory-plane"] == server.value
    anew = yaml.safe_dump(yaml.safe_load(after), sort_keys=False).encode()
    assert edits.stands(server, anew)
    assert edits.undone(record, after) == data
    assert yaml.safe_load(edits.undone(record, anew) or b"") == yaml.safe_load(data)


def test_nothing_is_written_into_the_hints_of_goose(tmp_path: Path) -> None:
    # It puts the file of that name in the place of each @name there, and the keys of its models are in one beside it.
    assert not [edit for edit in declared("goose", tmp_path).edits if isinstance(edit, Block | Copy)]


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
