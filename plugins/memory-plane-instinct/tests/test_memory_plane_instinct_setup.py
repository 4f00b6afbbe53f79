"""How OpenClaw is told of the memory, and where it keeps what."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from memory_plane.integration import Call, Check, Copy, Machine, OwnFile
from memory_plane.surfaces.cli import main
from memory_plane.surfaces.cli.session import Session
from memory_plane_instinct import extra_paths, places, telling


def machine(home: Path, platform: str = "linux", **environment: str) -> Machine:
    plane, command = home / ".memory-plane", ("/opt/my tools/memory-plane",)
    held = {"PATH": "", **environment}
    return Machine(home=home, platform=platform, environment=held, plane=plane, command=command, python="/py")


# --- where it is -------------------------------------------------------------------------------------------------


def configure(home: Path, value: Any, place: str = ".openclaw/openclaw.json") -> None:
    path = home / place
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(value if isinstance(value, str) else json.dumps(value), "utf-8")


@pytest.mark.parametrize(
    ("environment", "state", "config", "workspace"),
    [
        ({}, ".openclaw", ".openclaw/openclaw.json", ".openclaw/workspace"),
        ({"OPENCLAW_STATE_DIR": "~/st"}, "st", "st/openclaw.json", "st/workspace"),
        ({"OPENCLAW_HOME": "~/oh"}, "oh/.openclaw", "oh/.openclaw/openclaw.json", "oh/.openclaw/workspace"),
        ({"OPENCLAW_PROFILE": "work"}, ".openclaw", ".openclaw/openclaw.json", ".openclaw-work/workspace"),
        ({"OPENCLAW_PROFILE": "default"}, ".openclaw", ".openclaw/openclaw.json", ".openclaw/workspace"),
        ({"OPENCLAW_CONFIG_PATH": "~/c.json"}, ".openclaw", "c.json", ".openclaw/workspace"),
        ({"OPENCLAW_WORKSPACE_DIR": "~/w"}, ".openclaw", ".openclaw/openclaw.json", "w"),
    ],
)
def test_variables_move_it_as_openclaw_says(
    tmp_path: Path, environment: dict[str, str], state: str, config: str, workspace: str
) -> None:
    for platform in ("linux", "darwin", "win32"):
        found = places.find(machine(tmp_path, platform, **environment))
        assert (found.state, found.config) == (tmp_path / state, tmp_path / config)
        assert found.workspaces == (tmp_path / workspace,)


def test_folder_of_old_is_used_while_there_is_no_new_one(tmp_path: Path) -> None:
    (tmp_path / ".clawdbot").mkdir()
    assert places.find(machine(tmp_path)).state == tmp_path / ".clawdbot"
    (tmp_path / ".openclaw").mkdir()
    assert places.find(machine(tmp_path)).state == tmp_path / ".openclaw"


@pytest.mark.parametrize(
    ("agents", "expected"),
    [
        ({"defaults": {"workspace": "~/mine"}}, ["mine"]),
        ({"defaults": {"workspace": "${HERE}/mine"}}, ["here/mine"]),
        ({"entries": {"solo": {}}, "defaults": {"workspace": "~/mine"}}, ["mine"]),
        ({"entries": {"work": {}, "main": {"workspace": "~/mine"}}}, ["mine", ".openclaw/workspace-work"]),
        ({"entries": {"a": {}, "b": {}}, "defaults": {"workspace": "~/all"}}, ["all/a", "all/b"]),
        ({"list": [{"id": "a", "default": True}, {"id": "b"}]}, [".openclaw/workspace", ".openclaw/workspace-b"]),
        ({"entries": {"a": 7}, "list": "x", "defaults": []}, [".openclaw/workspace"]),
        ("nothing", [".openclaw/workspace"]),
    ],
)
def test_workspaces_are_those_of_all_agents(tmp_path: Path, agents: object, expected: list[str]) -> None:
    configure(tmp_path, {"agents": agents})
    found = places.find(machine(tmp_path, HERE=str(tmp_path / "here"))).workspaces
    assert found == tuple(tmp_path / name for name in expected)


@pytest.mark.parametrize(
    "text", ["", "{", "7", "[" * 100_000, "\ufeff{agents: {defaults: {workspace: '~/.openclaw/workspace',}}}"]
)
def test_configuration_may_be_written_as_people_do_or_broken(tmp_path: Path, text: str) -> None:
    configure(tmp_path, text)
    assert places.find(machine(tmp_path)).workspaces == (tmp_path / ".openclaw" / "workspace",)


# --- what is declared --------------------------------------------------------------------------------------------


def test_everything_of_its_configuration_goes_through_its_own_commands(tmp_path: Path) -> None:
    program = tmp_path / "bin" / "openclaw"
    program.parent.mkdir()
    program.touch(0o700)
    integration = telling.openclaw(machine(tmp_path, PATH=str(program.parent)))
    calls = [edit for edit in integration.edits if isinstance(edit, Call)]
    others = [edit.path for edit in integration.edits if isinstance(edit, OwnFile | Copy)]
    assert len(calls) + len(others) == len(integration.edits)
    assert tmp_path / ".openclaw" / "openclaw.json" not in others
    assert {path for call in calls for path in call.touches} == {tmp_path / ".openclaw" / "openclaw.json"}
    assert all(str(program) in command for call in calls for command in (*call.do, *call.undo))
    assert all(isinstance(check, Check) and check.command[0] == str(program) for check in integration.checks)
    assert integration.found == str(program)


def test_skill_stands_where_a_new_workspace_stays_new(tmp_path: Path) -> None:
    edits = telling.openclaw(machine(tmp_path)).edits
    (skill,) = [edit for edit in edits if isinstance(edit, OwnFile) and edit.path.name == "SKILL.md"]
    assert skill.path == tmp_path / ".openclaw" / "skills" / "memory-plane" / "SKILL.md"
    assert "'/opt/my tools/memory-plane' recall" in skill.text
    description = next(line for line in skill.text.splitlines() if line.startswith("description: "))
    assert len(description) <= 160


def test_its_commands_mean_the_same_openclaw_later(tmp_path: Path) -> None:
    moved = machine(tmp_path, OPENCLAW_STATE_DIR=str(tmp_path / "st"), OPENCLAW_HOME=" ")
    for declared, expected in (
        (telling.openclaw(machine(tmp_path)), None),
        (telling.openclaw(moved), {"OPENCLAW_STATE_DIR": str(tmp_path / "st")}),
        (telling.openclaw(machine(tmp_path), tmp_path / "set"), {"OPENCLAW_STATE_DIR": str(tmp_path / "set")}),
    ):
        assert [edit.environment for edit in declared.edits if isinstance(edit, Call)] == [expected] * 3


def test_openclaw_that_is_not_here_is_not_found(tmp_path: Path) -> None:
    assert telling.openclaw(machine(tmp_path)).found == ""


# --- there and back, with a stand-in for its command ---------------------------------------------------------------


@pytest.fixture
def plane(home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("MEMORY_PLANE_PLUGINS__ENABLED", '["instinct"]')
    return home


def run(home: Path, *arguments: str) -> Result:
    return CliRunner().invoke(main, [*arguments, "instinct", "--yes"], obj=Session(str(home)))


def config(person: Path) -> dict[str, Any]:
    held: dict[str, Any] = json.loads((person / ".openclaw" / "openclaw.json").read_text("utf-8"))
    return held


def test_set_up_and_taken_out_again_it_is_as_it_was(plane: Path, person: Path) -> None:
    before = {path: path.read_bytes() for path in person.rglob("*") if path.is_file()}
    result = run(plane, "setup")
    assert result.exit_code == 0, result.output
    assert "ok: OpenClaw runs the hooks of its plugin" in result.output
    held = config(person)
    assert held["plugins"]["load"]["paths"] == [str(plane / "openclaw")]
    assert held["mcp"]["servers"]["memory-plane"]["args"][-3:] == ["mcp", "--agent", "instinct"]
    pages = person / ".openclaw" / "workspace" / "memory-plane"
    assert held["memory"]["search"]["extraPaths"] == [
        "/srv/mine",
        {"path": "/srv/notes", "pattern": "*.md"},
        str(pages),
    ]
    assert (pages / "PULSE.md").is_file()
    assert "nothing to change" in run(plane, "setup").output
    assert run(plane, "uninstall").exit_code == 0
    assert {path: path.read_bytes() for path in person.rglob("*") if path.is_file()} == before
    assert not (person / ".openclaw" / "workspace").exists()
    assert not (plane / "openclaw").exists()


def test_server_of_our_name_that_the_person_made_comes_back(plane: Path, person: Path) -> None:
    own = {"command": "by hand", "env": {"TOKEN": "x"}}
    place = person / ".openclaw" / "openclaw.json"
    place.write_text(f"// mine\n{{mcp: {{servers: {{'memory-plane': {json.dumps(own)}}}}}}}", "utf-8")
    before = place.read_bytes()
    result = run(plane, "setup")
    assert (result.exit_code, "holds something else at mcp.servers.memory-plane" in result.output) == (1, True)
    assert place.read_bytes() == before
    assert run(plane, "setup", "--take-over").exit_code == 0
    assert config(person)["mcp"]["servers"]["memory-plane"]["args"][-1] == "instinct"
    configure(person, config(person) | {"theme": "dark"})
    assert run(plane, "uninstall").exit_code == 0
    held = config(person)
    assert (held["theme"], held["mcp"]["servers"]) == ("dark", {"memory-plane": own})


def test_what_the_person_set_meanwhile_stays(plane: Path, person: Path) -> None:
    run(plane, "setup")
    held = config(person)
    held["memory"]["search"]["extraPaths"].append("/srv/new")
    held["theme"] = "dark"
    configure(person, held)
    assert run(plane, "uninstall").exit_code == 0
    held = config(person)
    assert held["memory"]["search"]["extraPaths"] == [
        "/srv/mine",
        {"path": "/srv/notes", "pattern": "*.md"},
        "/srv/new",
    ]
    assert held["theme"] == "dark"
    assert "memory-plane" not in json.dumps(held)


# --- folders for its memory search -------------------------------------------------------------------------------


def search_paths(person: Path) -> Any:
    return config(person).get("memory", {}).get("search", {}).get("extraPaths")


def change(person: Path, act: str, folder: str) -> int:
    return extra_paths.main([str(person / "bin" / "openclaw"), act, folder])


def test_folder_is_added_and_removed_once_beside_those_of_others(person: Path) -> None:
    mine = ["/srv/mine", {"path": "/srv/notes", "pattern": "*.md"}]
    for act, expected in (("add", [*mine, "/à b"]), ("add", [*mine, "/à b"]), ("remove", mine), ("remove", mine)):
        assert change(person, act, "/à b") == 0
        assert search_paths(person) == expected


def test_setting_that_we_made_goes_with_our_folder(person: Path) -> None:
    configure(person, {})
    assert change(person, "remove", "/a") == 0
    assert change(person, "add", "/a") == 0
    assert search_paths(person) == ["/a"]
    assert change(person, "remove", "/a") == 0
    assert search_paths(person) is None


def test_change_that_another_made_in_between_is_not_overwritten(
    person: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(extra_paths, "_held", lambda _: ["/srv/old"])
    assert change(person, "add", "/a") == 1
    assert "did not match" in capfd.readouterr().err
    assert b"// my OpenClaw" in (person / ".openclaw" / "openclaw.json").read_bytes()


def test_module_is_a_command(person: Path) -> None:
    command = [sys.executable, "-m", "memory_plane_instinct.extra_paths", str(person / "bin" / "openclaw"), "add", "/a"]
    extra_paths._run(*command)
    assert "/a" in search_paths(person)
