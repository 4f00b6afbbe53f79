"""setup.py: what is declared on each platform, and the way there and back on real files."""

from __future__ import annotations

import json
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from memory_plane.integration import INSTRUCTIONS, Access, Block, Check, Entry, Integration, Machine
from memory_plane.setup import apply, calls, plan
from memory_plane_antigravity.setup import integration

if TYPE_CHECKING:
    from conftest import Antigravity

# `agy -p "/hooks" --output-format json` as it is documented: it shows what it loaded, and loads nothing from a file in
# which one thing is wrong.
AGY = """#!{python}
import json, sys
from pathlib import Path
assert sys.argv[1:] == ["-p", "/hooks", "--output-format", "json"], sys.argv
path = Path({home!r}, ".gemini", "config", "hooks.json")
EVENTS = {{"PreInvocation", "PostInvocation", "Stop", "SessionStart", "PreToolUse", "PostToolUse"}}
def loaded(name, group):
    assert set(group) <= EVENTS | {{"enabled"}}
    actions = [(event, each) for event, given in group.items() if event != "enabled" for each in given]
    assert all(type(each["timeout"]) is int and each["type"] == "command" for _, each in actions)
    told = [dict(event=event, type="command", command=each["command"], timeout_seconds=each["timeout"])
            for event, each in actions]
    return dict(name=name, enabled=group["enabled"], source=str(path), actions=told)
try:
    print(json.dumps([loaded(*each) for each in json.loads(path.read_text("utf-8")).items()]))
except Exception:
    print("[]")
"""


def machine(home: Path, platform: str = "linux", path: str = "") -> Machine:
    command = ("C:\\Programs\\memory-plane.exe",) if platform == "win32" else ("/opt/memory plane/bin/memory-plane",)
    python = "C:\\Python 311\\python.exe" if platform == "win32" else "/opt/memory plane/bin/python"
    environment = {"PATH": path}
    return Machine(
        home=home, platform=platform, environment=environment, plane=home / "plane", command=command, python=python
    )


@pytest.fixture
def agy(antigravity: Antigravity, tmp_path: Path) -> Machine:
    """A machine on which `agy` stands in the PATH and has run."""
    antigravity.app()
    program = tmp_path / "bin" / "agy"
    program.parent.mkdir()
    program.write_text(AGY.format(python=sys.executable, home=str(antigravity.home)), "utf-8")
    program.chmod(0o755)
    return machine(antigravity.home, path=str(program.parent))


def set_up(declared: Integration, plane: Path) -> plan.Plan:
    with apply.manifest_of(plane) as manifest:
        (planned,) = plan.setups([declared], manifest)
        if not planned.refused:
            apply.setup(planned, manifest)
    return planned


def take_down(plane: Path) -> None:
    with apply.manifest_of(plane) as manifest:
        (planned,) = plan.uninstalls({"antigravity": "Antigravity"}, manifest)
        assert apply.uninstall(planned, manifest) == []


def tree(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


# --- what is declared --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("platform", ["linux", "darwin", "win32"])
@pytest.mark.parametrize("app", ["antigravity", "antigravity-ide", "antigravity-cli"])
def test_files_are_the_same_on_every_platform_and_for_every_app(
    antigravity: Antigravity, platform: str, app: str
) -> None:
    folder = antigravity.app(app)
    declared = integration(machine(antigravity.home, platform))
    gemini = antigravity.home / ".gemini"
    assert declared.found == str(folder)
    assert [edit.path for edit in declared.edits if isinstance(edit, Entry | Block)] == [
        gemini / "config" / "mcp_config.json",
        gemini / "config" / "hooks.json",
        gemini / "GEMINI.md",
    ]


@pytest.mark.parametrize("platform", ["linux", "darwin", "win32"])
def test_hooks_are_as_the_strict_file_takes_them(antigravity: Antigravity, platform: str) -> None:
    where = machine(antigravity.home, platform)
    _, hooks, _ = integration(where).edits
    assert isinstance(hooks, Entry)
    assert hooks.pointer == ("memory-plane",)
    group: dict[str, Any] = hooks.value
    assert set(group) == {"enabled", "PreInvocation", "Stop"}, "never PreToolUse, and no key that it does not know"
    for event in ("PreInvocation", "Stop"):
        (handler,) = group[event]
        assert set(handler) == {"type", "command", "timeout"}
        assert type(handler["timeout"]) is int
        assert handler["command"] == where.hook("antigravity", event)
        assert handler["command"].startswith(('"C:\\Python', "'/opt"))


def test_server_is_started_by_its_absolute_path(antigravity: Antigravity) -> None:
    server, _, block = integration(machine(antigravity.home)).edits
    assert isinstance(server, Entry) and isinstance(block, Block)
    assert server.pointer == ("mcpServers", "memory-plane")
    assert server.value == {
        "command": "/opt/memory plane/bin/memory-plane",
        "args": ["mcp", "--agent", "antigravity"],
    }
    assert block.text == INSTRUCTIONS


def test_gemini_cli_alone_is_not_antigravity(antigravity: Antigravity) -> None:
    folder = antigravity.home / ".gemini"
    folder.mkdir()
    (folder / "settings.json").write_text("{}")
    assert integration(machine(antigravity.home)).found == ""


def test_what_is_polled_must_be_readable(antigravity: Antigravity) -> None:
    antigravity.summarize("5f0c2d9e-0000-4000-8000-000000000001", app="antigravity-ide")
    checks = integration(machine(antigravity.home)).checks
    assert [check.path for check in checks if isinstance(check, Access)] == [antigravity.database("antigravity-ide")]


# --- there and back ----------------------------------------------------------------------------------------------


def test_agent_shows_what_was_set_up_and_everything_is_as_before_afterwards(agy: Machine, home: Path) -> None:
    gemini = agy.home / ".gemini"
    (gemini / "config").mkdir()
    (gemini / "config" / "hooks.json").write_bytes(b'{\r\n\t"mine": {"enabled": true, "Stop": []}\r\n}')
    (gemini / "config" / "mcp_config.json").write_bytes(b"")
    (gemini / "GEMINI.md").write_bytes(b"Be brief.\n")
    before = tree(agy.home / ".gemini")
    (check,) = (one for one in integration(agy).checks if isinstance(one, Check))
    assert calls.passes(check) != ""
    planned = set_up(integration(agy), home)
    assert planned.refused == ()
    assert calls.passes(check) == ""
    assert b"Be brief." in (gemini / "GEMINI.md").read_bytes()
    assert json.loads((gemini / "config" / "hooks.json").read_text())["mine"] == {"enabled": True, "Stop": []}
    assert set_up(integration(agy), home).changes == ()
    take_down(home)
    assert tree(agy.home / ".gemini") == before


def test_bare_home_is_bare_again_afterwards(agy: Machine, home: Path) -> None:
    before = tree(agy.home / ".gemini")
    set_up(integration(agy), home)
    assert sorted(tree(agy.home / ".gemini")) == ["GEMINI.md", "config/hooks.json", "config/mcp_config.json"]
    take_down(home)
    assert tree(agy.home / ".gemini") == before
    assert not (agy.home / ".gemini" / "config").exists()


def test_hook_that_is_set_up_is_the_shim_and_answers(antigravity: Antigravity, home: Path) -> None:
    here = Machine.here(home)
    _, hooks, _ = integration(here).edits
    assert isinstance(hooks, Entry)
    words = shlex.split(hooks.value["Stop"][0]["command"])
    assert Path(words[0]).is_file() and Path(words[2]).is_file()
    assert words[3:] == ["antigravity", "Stop", str(home)]


# --- what only a person can do -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ('{"hooks": {"Stop": []}}', "take 'hooks' out of"),
        ('{"x-owner": "somebody"}', "take 'x-owner' out of"),
        ('{"mine": {}, // a comment\n}', "it is not strict JSON"),
        ("[]", "it is not strict JSON"),
    ],
)
def test_person_is_told_what_makes_antigravity_drop_the_hooks(
    antigravity: Antigravity, content: str, said: str
) -> None:
    folder = antigravity.home / ".gemini" / "config"
    folder.mkdir(parents=True)
    (folder / "hooks.json").write_text(content)
    step, _ = integration(machine(antigravity.home)).steps
    assert said in step
    assert str(folder / "hooks.json") in step


@pytest.mark.parametrize("content", ["", "  \n", "{}", '{"mine": {"enabled": true, "Stop": []}}'])
def test_nothing_is_said_of_hooks_that_are_right(antigravity: Antigravity, content: str) -> None:
    folder = antigravity.home / ".gemini" / "config"
    folder.mkdir(parents=True)
    (folder / "hooks.json").write_text(content)
    assert integration(machine(antigravity.home)).steps == ("restart Antigravity if it is running",)


def test_servers_that_only_older_versions_read_are_named(antigravity: Antigravity) -> None:
    old, new = antigravity.app("antigravity") / "mcp_config.json", antigravity.home / ".gemini" / "config"
    servers = {"memory-plane": {"command": "mp"}, "github": {"command": "gh"}, "files": {"command": "fs"}}
    old.write_text(json.dumps({"mcpServers": servers}))
    new.mkdir()
    (new / "mcp_config.json").write_text('{"mcpServers": {"files": {"command": "fs"}}}')
    ours, other, _ = integration(machine(antigravity.home)).steps
    assert ours.startswith(f"remove 'memory-plane' from {old}")
    assert other.startswith(f"Antigravity no longer reads {old}: copy its server 'github' to {new}")


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b'{"mcpServers": 3}', b"\xff\xfe", b'{"mcpServers": ["x"]}'])
def test_old_file_of_any_content_is_survived(antigravity: Antigravity, content: bytes) -> None:
    (antigravity.app("antigravity") / "mcp_config.json").write_bytes(content)
    assert integration(machine(antigravity.home)).steps == ("restart Antigravity if it is running",)
