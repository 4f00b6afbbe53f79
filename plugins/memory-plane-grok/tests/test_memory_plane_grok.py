from __future__ import annotations

import json
from pathlib import Path
from string import Template
from typing import TYPE_CHECKING, Any

import httpx
import pytest
import yaml
from click.testing import CliRunner

from memory_plane.access import agent_token
from memory_plane.integration import INSTRUCTIONS, Check, Copy, Entry, OwnFile
from memory_plane.surfaces.cli import main
from memory_plane.surfaces.cli.session import Session
from memory_plane.testing.contract import *  # noqa: F403
from memory_plane.testing.hub import HubProcess
from memory_plane_grok import bot_plugin, places, telling

if TYPE_CHECKING:
    from conftest import MakeMachine


def edits(machine: MakeMachine, kind: type[Any], **environment: str) -> list[Any]:
    return [edit for edit in telling.grok_build(machine(**environment)).edits if isinstance(edit, kind)]


# --- Grok Build --------------------------------------------------------------------------------------------------


def test_grok_moves_with_its_variable_and_with_the_setting(machine: MakeMachine, tmp_path: Path) -> None:
    assert places.grok_home(machine()) == tmp_path / ".grok"
    assert places.grok_home(machine("win32")) == tmp_path / ".grok"
    assert places.grok_home(machine(GROK_HOME="~/elsewhere")) == tmp_path / "elsewhere"
    assert places.grok_home(machine(GROK_HOME="/g"), tmp_path / "set") == tmp_path / "set"


def test_hooks_are_a_file_of_our_own_and_hold_up_no_tool(machine: MakeMachine, tmp_path: Path) -> None:
    (own,) = edits(machine, OwnFile)
    assert own.path == tmp_path / ".grok" / "hooks" / "memory-plane.json"
    hooks = json.loads(own.text)["hooks"]
    assert set(hooks) == {"SessionStart", "UserPromptSubmit", "PostToolUse", "Stop", "PreCompact"}
    ((group,),) = [hooks["Stop"]]
    (handler,) = group["hooks"]
    assert handler["command"].endswith(f"grok Stop {tmp_path / 'p'}")
    assert (handler["type"], handler["timeout"]) == ("command", telling.SECONDS)


def test_rules_are_the_brief_below_what_every_agent_is_told(machine: MakeMachine, tmp_path: Path) -> None:
    (copy,) = edits(machine, Copy)
    assert copy.path == tmp_path / ".grok" / "rules" / "memory-plane.md"
    assert (copy.page, copy.preface) == ("brief/grok.md", f"{INSTRUCTIONS}\n\n")


def test_server_is_an_entry_as_the_command_of_grok_writes_it(machine: MakeMachine, tmp_path: Path) -> None:
    (entry,) = edits(machine, Entry, GROK_HOME=str(tmp_path / "g"))
    assert entry.path == tmp_path / "g" / "config.toml"
    assert entry.pointer == ("mcp_servers", "memory-plane")
    assert entry.value == {"command": "/mp", "args": ["mcp", "--agent", "grok"], "enabled": True}


def test_grok_is_asked_what_it_loaded_where_it_can_be(machine: MakeMachine, tmp_path: Path) -> None:
    program = tmp_path / "bin" / "grok"
    program.parent.mkdir()
    program.touch(0o700)
    integration = telling.grok_build(machine(PATH=str(program.parent)))
    assert integration.found == str(program)
    asked = [check.command[1:] for check in integration.checks if isinstance(check, Check)]
    assert asked == [("inspect", "--json"), ("inspect", "--json"), ("mcp", "doctor", "memory-plane", "--json")]
    (tmp_path / ".grok" / "sessions").mkdir(parents=True)
    without = telling.grok_build(machine())
    assert (without.found, without.checks) == (str(tmp_path / ".grok" / "sessions"), ())


# --- Grok Bot ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("place", [".grokbot", ".config/Grok Bot"])
def test_bot_changes_no_file_and_tells_what_to_do(machine: MakeMachine, tmp_path: Path, place: str) -> None:
    assert telling.grok_bot(machine()).found == ""
    (tmp_path / place).mkdir(parents=True)
    integration = telling.grok_bot(machine())
    assert integration.found == str(tmp_path / place)
    assert (integration.edits, integration.checks) == ((), ())
    assert any("bot-plugin" in step for step in integration.steps)
    assert any("/mcp/grokbot" in step for step in integration.steps)


def test_plugin_of_the_bot_is_written_whole_and_with_the_same_bytes_each_time(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MEMORY_PLANE_PLUGINS__ENABLED", '["grok"]')
    folder = tmp_path / "ein Ort"
    folder.mkdir()
    (folder / "README.md").write_text("mine", "utf-8")
    written = []
    for _ in range(2):
        result = CliRunner().invoke(main, ["grok", "bot-plugin", str(folder)], obj=Session(str(home)))
        assert result.exit_code == 0, result.output
        assert all(step in result.output for step in telling.BOT_STEPS[1:])
        written.append(
            {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}
        )
    assert written[0] == written[1]
    assert written[0]["README.md"] == b"mine"


def test_plugin_of_the_bot_leads_from_the_list_to_its_parts_and_holds_no_secret() -> None:
    held = bot_plugin.files()
    (listed,) = json.loads(held[".cursor-plugin/marketplace.json"])["plugins"]
    manifest = json.loads(held[f"{listed['source']}/.cursor-plugin/plugin.json"])
    assert listed["name"] == manifest["name"]
    root = listed["source"]
    (server,) = json.loads(held[f"{root}/{manifest['mcpServers'].removeprefix('./')}"])["mcpServers"].values()
    wanted = manifest["variables"]
    assert set(wanted["required"]) == set(wanted["properties"])
    assert server["url"] == "${MEMORY_PLANE_MCP_URL}"
    assert server["headers"] == {"Authorization": "Bearer ${MEMORY_PLANE_TOKEN}"}
    assert {"MEMORY_PLANE_MCP_URL", "MEMORY_PLANE_TOKEN"} == set(wanted["required"])
    (skill,) = [
        text for name, text in held.items() if name.startswith(f"{root}/{manifest['skills'].removeprefix('./')}")
    ]
    _, front, body = skill.split("---\n", 2)
    assert yaml.safe_load(front).keys() == {"name", "description"}
    assert INSTRUCTIONS in body


def test_plugin_of_the_bot_reaches_the_hub_and_writes_as_grok_bot(home: Path, tmp_path: Path) -> None:
    (server,) = json.loads(bot_plugin.files()["memory-plane/mcp.json"])["mcpServers"].values()
    hub = HubProcess(tmp_path / "hub")
    try:
        given = {
            "MEMORY_PLANE_MCP_URL": f"{hub.url}/mcp/grokbot",
            "MEMORY_PLANE_TOKEN": agent_token(hub.token, "grokbot"),
        }
        url, token = (Template(text).substitute(given) for text in (server["url"], server["headers"]["Authorization"]))
        call = {"name": "memory_post_thought", "arguments": {"text": "Posted the weekday roundup"}}
        asked = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call}
        headers = {"Authorization": token, "Accept": "application/json, text/event-stream"}
        assert httpx.post(url, json=asked, headers=headers, timeout=30).json()["result"]["isError"] is False
        found = httpx.get(
            f"{hub.url}/api/thoughts", headers={"Authorization": f"Bearer {hub.token}"}, timeout=30
        ).json()
        assert [one["agent"] for one in found] == ["grokbot"]
    finally:
        hub.stop()
