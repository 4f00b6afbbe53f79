"""Muse Code: what its hooks tell, and how its settings are changed and given back; what only a person can do."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from click.testing import CliRunner

from memory_plane.integration import Access, Check, Entry, Integration, Machine
from memory_plane.types import Event
from memory_plane_muse import MusePlugin, MuseSettings, muse_code
from memory_plane_muse.imessage import ANSWERS

if TYPE_CHECKING:
    from memory_plane import Plane

TURN = {
    "session_id": "s-1",
    "turn_id": "t-1",
    "cwd": "/Users/zoë/code/web shop",
    "transcript_path": "/Users/zoë/.local/share/muse/sessions/2026/11/30/s-1/session.jsonl",
    "model": "muse-spark",
    "permission_mode": "default",
}
PROMPT = {**TURN, "hook_event_name": "UserPromptSubmit", "prompt": "Fix the login bug of the shop"}
STOP = {
    **TURN,
    "hook_event_name": "Stop",
    "stop_hook_active": False,
    "last_assistant_message": "Fixed the login bug and deployed v2.3 to staging.",
}


def event(payload: dict[str, Any], name: str | None = None) -> Event:
    return Event(agent="muse-code", name=name or str(payload.get("hook_event_name", "")), payload=payload)


@pytest.fixture
def machine(home: Path) -> Machine:
    """A machine on which somebody has Muse Code."""
    person = home.parent
    program = person / "bin" / "muse"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    path = {"PATH": str(program.parent)}
    return Machine(
        home=person, platform="linux", environment=path, plane=home, command=("/opt/mp",), python="/opt/python"
    )


def declared(machine: Machine, agent: str, **settings: Any) -> Integration:
    found = {one.agent: one for one in MusePlugin(MuseSettings(**settings)).integrate(machine)}
    assert set(found) == {"muse", "muse-code"}
    return found[agent]


# --- turns -------------------------------------------------------------------------------------------------------


def test_turn_becomes_its_focus_and_what_was_done(make_plane: Callable[..., Plane]) -> None:
    plane = make_plane("muse")
    for payload in (PROMPT, STOP):
        plane.spool(event(payload))
    plane.ingest()
    (beat,) = plane.pulse().heartbeats
    assert (beat.agent, beat.focus, beat.project) == ("muse-code", "Fix the login bug of the shop", "web shop")
    (thought,) = plane.thoughts()
    assert (thought.agent, thought.origin, thought.text) == ("muse-code", "agent", STOP["last_assistant_message"])


def test_turn_told_twice_is_one(make_plane: Callable[..., Plane]) -> None:
    plane = make_plane("muse")
    for payload in (PROMPT, STOP, PROMPT, STOP):
        plane.spool(event(payload))
    assert plane.ingest().stored == 2


def test_next_prompt_closes_the_question(make_plane: Callable[..., Plane]) -> None:
    plane = make_plane("muse")
    for payload, open_ in (
        ({**STOP, "last_assistant_message": "Shall I deploy the shop to production?"}, 1),
        ({**PROMPT, "prompt": "yes", "turn_id": "t-2"}, 0),
    ):
        plane.spool(event(payload))
        plane.ingest()
        assert len(plane.items()) == open_


def test_name_of_the_event_comes_from_the_hook_or_from_its_payload() -> None:
    assert muse_code.operations(event(STOP, "Stop")) != ()
    unnamed = {key: value for key, value in STOP.items() if key != "hook_event_name"}
    assert muse_code.operations(event(unnamed, "Stop")) != ()
    assert muse_code.operations(event(unnamed, "unknown")) == ()


@pytest.mark.parametrize(
    "payload",
    [{}, {"prompt": 5}, {"last_assistant_message": ["x"]}, {"raw": "torn"}, {"prompt": "x", "cwd": 5, "turn_id": {}}],
)
@pytest.mark.parametrize("name", ["Stop", "UserPromptSubmit", "SessionStart", "x"])
def test_payloads_of_any_content_are_survived(payload: dict[str, Any], name: str) -> None:
    assert all(one.agent == "muse-code" for one in muse_code.operations(event(payload, name)))


# --- settings.json -----------------------------------------------------------------------------------------------


def settings_of(machine: Machine) -> Path:
    return machine.home / ".config" / "muse" / "settings.json"


def test_new_file_gets_its_version_and_an_optional_server(machine: Machine) -> None:
    found = declared(machine, "muse-code")
    version, server = found.edits
    assert isinstance(version, Entry)
    assert isinstance(server, Entry)
    assert (version.pointer, version.value, version.stays) == (("schema_version",), 1, True)
    assert (server.pointer, server.path) == (("mcp_servers", "memory-plane"), settings_of(machine))
    assert server.value == {
        "transport": "stdio",
        "command": "/opt/mp",
        "args": ["mcp", "--agent", "muse-code"],
        "mode": "optional",
    }
    assert (found.found, found.serves, found.hooks) == (str(machine.home / "bin" / "muse"), True, False)


@pytest.mark.parametrize(
    ("content", "pointer"),
    [
        ('{"schema_version": 1}', "mcp_servers"),
        ('{"schema_version": 2, "mcp_servers": {}}', "mcp_servers"),
        ('{"schema_version": 1, "mcpServers": {"other": {"command": "x"}}}', "mcpServers"),
    ],
)
def test_file_that_is_there_keeps_its_version_and_its_spelling(machine: Machine, content: str, pointer: str) -> None:
    path = settings_of(machine)
    path.parent.mkdir(parents=True)
    path.write_text(content, "utf-8")
    version, server = declared(machine, "muse-code").edits
    assert isinstance(version, Entry)
    assert isinstance(server, Entry)
    assert (version.value, server.pointer[0]) == (json.loads(content)["schema_version"], pointer)


@pytest.mark.parametrize(
    ("content", "step"),
    [
        ("{}", "has no 'schema_version'"),
        ("[]", "has no 'schema_version'"),
        ("{", "cannot be read as JSON"),
        ('{"schema_version": 1, "mcpServers": {}, "mcp_servers": {}}', "has both mcpServers and mcp_servers"),
    ],
)
def test_file_that_is_not_ours_to_mend_is_left_with_a_step(machine: Machine, content: str, step: str) -> None:
    path = settings_of(machine)
    path.parent.mkdir(parents=True)
    path.write_text(content, "utf-8")
    found = declared(machine, "muse-code")
    assert (found.edits, found.serves) == ((), False)
    assert step in found.steps[0]


def test_folder_of_its_configuration_may_be_elsewhere(machine: Machine, tmp_path: Path) -> None:
    moved = replace(machine, environment={**machine.environment, "XDG_CONFIG_HOME": str(tmp_path / "config")})
    assert {edit.path for edit in declared(moved, "muse-code").edits} == {  # type: ignore[union-attr]
        tmp_path / "config" / "muse" / "settings.json"
    }


@pytest.mark.parametrize("before", [None, b'{\r\n  "schema_version": 1,\r\n  "theme": "dark",\r\n}\r\n'])
def test_setup_and_uninstall_lead_back_to_the_same_bytes(
    home: Path, machine: Machine, monkeypatch: pytest.MonkeyPatch, before: bytes | None
) -> None:
    from memory_plane.surfaces.cli import main
    from memory_plane.surfaces.cli.session import Session

    path = settings_of(machine)
    if before is not None:
        before = before.replace(b'dark",', b'dark"')
        path.parent.mkdir(parents=True)
        path.write_bytes(before)
    monkeypatch.setenv("MEMORY_PLANE_PLUGINS__ENABLED", '["muse"]')
    monkeypatch.setenv("PATH", machine.environment["PATH"])

    def run(*words: str) -> Any:
        return CliRunner().invoke(main, words, obj=Session(str(home)))

    done = run("setup", "muse-code", "--yes")
    assert done.exit_code == 0, done.output
    held = json.loads(path.read_bytes())
    assert held["schema_version"] == 1
    assert held["mcp_servers"]["memory-plane"]["mode"] == "optional"
    assert "memory-plane muse hooks" in done.output
    assert run("setup", "muse-code", "--yes").exit_code == 0
    assert json.loads(path.read_bytes()) == held
    undone = run("uninstall", "muse-code", "--yes")
    assert undone.exit_code == 0, undone.output
    assert (path.read_bytes() if path.exists() else None) == before


def test_what_muse_code_adds_to_a_file_of_ours_stays_readable_after_uninstall(
    home: Path, machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    from memory_plane.surfaces.cli import main
    from memory_plane.surfaces.cli.session import Session

    monkeypatch.setenv("MEMORY_PLANE_PLUGINS__ENABLED", '["muse"]')
    monkeypatch.setenv("PATH", machine.environment["PATH"])
    CliRunner().invoke(main, ["setup", "muse-code", "--yes"], obj=Session(str(home)))
    path = settings_of(machine)
    path.write_text(json.dumps(json.loads(path.read_text("utf-8")) | {"provider": "meta"}), "utf-8")
    CliRunner().invoke(main, ["uninstall", "muse-code", "--yes"], obj=Session(str(home)))
    assert json.loads(path.read_text("utf-8")) == {"schema_version": 1, "provider": "meta"}


def test_hooks_of_a_project_are_strict_and_have_absolute_commands(machine: Machine) -> None:
    held = json.loads(muse_code.hooks(machine))
    assert list(held) == ["hooks"]
    assert list(held["hooks"]) == ["SessionStart", "UserPromptSubmit", "Stop", "SessionEnd"]
    commands = set()
    for name, groups in held["hooks"].items():
        ((handler,),) = (group["hooks"] for group in groups)
        assert [set(group) for group in groups] == [{"hooks"}]
        assert set(handler) == {"type", "command", "timeout"}
        assert handler["command"].startswith("/opt/python -S /")
        assert f" muse-code {name} " in handler["command"]
        commands.add(handler["command"])
    assert len(commands) == 4  # a command that comes twice is refused


# --- messages ----------------------------------------------------------------------------------------------------


@pytest.fixture
def mac(machine: Machine) -> Machine:
    (machine.home / "Library" / "Messages").mkdir(parents=True)
    return replace(machine, platform="darwin")


def test_mac_without_a_source_is_told_how_to_name_one(mac: Machine) -> None:
    found = declared(mac, "muse")
    assert (found.found, found.edits, found.checks) == (str(mac.home / "Library" / "Messages"), (), ())
    assert f'chat_db = "{mac.home / "Library" / "Messages" / "chat.db"}"' in found.steps[0]
    assert "Full Disk Access" in found.steps[0]
    assert "memory-plane muse webhook --register" in found.steps[1]


def test_messages_elsewhere_are_nobodys_on_another_system(mac: Machine) -> None:
    found = declared(replace(mac, platform="linux"), "muse")
    assert (found.found, found.steps) == ("", ())


def test_database_of_messages_must_be_readable(mac: Machine) -> None:
    path = mac.home / "Library" / "Messages" / "chat.db"
    found = declared(mac, "muse", chat_db=path)
    (access,) = found.checks
    assert isinstance(access, Access)
    assert (access.path, "Full Disk Access" in access.remedy, found.steps) == (path, True, ())


def test_server_is_asked_by_doctor_without_its_password_in_any_command(machine: Machine) -> None:
    found = declared(machine, "muse", bluebubbles="http://127.0.0.1:1234", password="hunter2secret")
    (check,) = found.checks
    assert isinstance(check, Check)
    assert (check.command, check.shows) == (("/opt/mp", "muse", "status"), ANSWERS)
    assert "hunter2secret" not in repr(found)
    assert found.steps == ("To have new messages come at once: memory-plane muse webhook --register",)


def test_paths_of_the_settings_may_begin_at_home(home: Path) -> None:
    settings = MuseSettings(chat_db=Path("~/Library/Messages/chat.db"), dossiers=Path("~/people"))
    assert settings.chat_db == home.parent / "Library" / "Messages" / "chat.db"
    assert settings.dossiers == home.parent / "people"
