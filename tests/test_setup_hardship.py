"""Setting up where things go wrong: killed, edited in between, half done by the agent, or with its notes lost."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import nullcontext, suppress
from dataclasses import replace
from itertools import permutations
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result

from memory_plane import Plugin, hookimpl
from memory_plane.integration import Block, Call, Check, Copy, Edit, Element, Entry, Integration, Machine, OwnFile
from memory_plane.setup import apply, calls, files
from memory_plane.setup.errors import Kept
from memory_plane.types import AgentInfo

POINTER = ("mcpServers", "memory-plane")


class BirdPlugin(Plugin):
    """One agent, with the edits that a test gives it."""

    agents = (AgentInfo(id="wren"), AgentInfo(id="finch"), AgentInfo(id="gull"))
    edits: tuple[Edit, ...] = ()
    checks: tuple[Check, ...] = ()
    others: tuple[Integration, ...] = ()

    @hookimpl
    def integrate(self, machine: Machine) -> Iterator[Integration]:
        yield Integration(agent="wren", name="Wren", found="here", edits=self.edits, checks=self.checks)
        yield from self.others


Run = Callable[..., Result]
Tree = Callable[[Path], dict[str, bytes]]


@pytest.fixture
def base(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of the agent, in the home of a person."""
    folder = tmp_path / "person" / ".wren"
    folder.mkdir(parents=True)
    monkeypatch.setenv("HOME", str(folder.parent))
    return folder


@pytest.fixture
def bird() -> BirdPlugin:
    return BirdPlugin()


@pytest.fixture
def run(commands: Callable[..., Run], base: Path, bird: BirdPlugin) -> Run:
    return commands(bird)


def server(base: Path, command: str = "mp") -> Entry:
    return Entry(path=base / "settings.json", pointer=POINTER, value={"command": command})


def shell(what: str, do: str, undo: str, asks: str, *touches: Path) -> Call:
    """Return a call whose commands are lines for a shell."""
    return Call(
        what=what,
        do=(("sh", "-c", do),),
        undo=(("sh", "-c", undo),),
        asks=("sh", "-c", asks),
        shows="there",
        touches=touches,
    )


def listed(place: Path, name: str) -> Call:
    """Return a call that adds a line to a file, and notes there how often it was run."""
    at = shlex.quote(str(place))
    return shell(
        f"add {name}",
        f"echo {name} >> {at}; echo '# noted' >> {at}",
        f"sed -i '/^{name}$/d' {at}",
        f"grep -qx {name} {at} && echo there",
        place,
    )


# --- killed ------------------------------------------------------------------------------------------------------


class Killed(BaseException):
    """Stands for a kill: nothing of ours runs after it."""


def killed_at(step: int, monkeypatch: pytest.MonkeyPatch, go: Callable[[], Any]) -> bool:
    """Let a command die before its `step`th write or command; return whether it got that far."""
    from memory_plane.setup import calls, manifest

    left = step

    def counted(call: Callable[..., Any]) -> Callable[..., Any]:
        def counting(*arguments: Any, **options: Any) -> Any:
            nonlocal left
            left -= 1
            if left < 0:
                raise Killed
            return call(*arguments, **options)

        return counting

    with monkeypatch.context() as context:
        context.setattr(manifest, "write_file", counted(files.replace))
        context.setattr(files, "replace", counted(files.replace))
        context.setattr(calls, "_must", counted(calls._must))
        try:
            go()
        except Killed:
            return True
    return left < 0


def everything(base: Path, command: str) -> tuple[Edit, ...]:
    return (
        server(base, command),
        Element(path=base / "settings.json", pointer=("hooks", "Stop"), value={"command": f"{command} Stop"}),
        Entry(path=base / "config.toml", pointer=("mcp_servers", "memory-plane"), value={"command": command}),
        Block(path=base / "WREN.md", text=f"Use {command}."),
        OwnFile(path=base / "skills" / "memory" / "SKILL.md", text=f"run {command}\n"),
        Copy(path=base / "rules" / "memory.md", page="brief/wren.md"),
        listed(base / "servers", "memory-plane"),
    )


@pytest.mark.parametrize("again", ["setup", "uninstall"])
@pytest.mark.parametrize("what", ["setup", "update", "uninstall"])
def test_whatever_was_killed_wherever_leads_back(
    run: Run,
    bird: BirdPlugin,
    base: Path,
    home: Path,
    what: str,
    again: str,
    monkeypatch: pytest.MonkeyPatch,
    tree: Tree,
) -> None:
    (base / "settings.json").write_bytes(b'{"theme": "dark", // mine\r\n}')
    (base / "config.toml").write_bytes(b"a = 1\r\nb = 2\n")
    (base / "WREN.md").write_bytes(b"# Mine")
    (base / "servers").write_bytes(b"other\n")
    before = tree(base)
    for step in range(100):
        bird.edits = everything(base, "mp")
        if what != "setup":
            assert run("setup", "--yes").exit_code == 0
        if what == "update":
            bird.edits = everything(base, "newer/mp")
        with monkeypatch.context() as context:
            context.setattr(apply, "_all_or_nothing", lambda _: nullcontext([]))
            reached = killed_at(
                step, monkeypatch, lambda: run("uninstall" if what == "uninstall" else "setup", "--yes")
            )
        if again == "setup":
            result = run("setup", "--yes")
            assert result.exit_code == 0, (step, result.output)
        result = run("uninstall", "--yes")
        assert result.exit_code in (0, 2), (step, result.output)
        left = tree(base)
        assert left.pop("servers").replace(b"# noted\n", b"") == b"other\n", step
        assert left == {name: data for name, data in before.items() if name != "servers"}, step
        (base / "servers").write_bytes(b"other\n")
        assert not (home / "integrations.json").exists()
        if not reached:
            return
    raise AssertionError("it never came to its end")


def test_update_after_a_change_of_others_leaves_nothing_of_the_older_version(
    run: Run, bird: BirdPlugin, base: Path
) -> None:
    (base / "settings.json").write_bytes(b'{"theme": "dark"}')
    bird.edits = (server(base),)
    run("setup", "--yes")
    (base / "settings.json").write_bytes((base / "settings.json").read_bytes().replace(b"dark", b"light"))
    bird.edits = (server(base, "newer/mp"),)
    assert run("setup", "--yes").exit_code == 0
    assert run("uninstall", "--yes").exit_code == 0
    assert (base / "settings.json").read_bytes() == b'{"theme": "light"}'


# --- half done by the agent --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "does",
    ["printf '{\"theme\": ' > {0}; exit 1", ": > {0}", "rm {0}", 'printf \'{"theme":"dark"}\' > {0}; exit 3'],
    ids=["half written", "emptied", "removed", "laid out anew"],
)
def test_file_that_an_agents_command_spoils_is_mended(
    run: Run, bird: BirdPlugin, base: Path, does: str, tree: Tree
) -> None:
    place = base / "state.json"
    place.write_bytes(b'{"theme": "dark"} // mine\n')
    before = tree(base)
    bird.edits = (shell("add", does.replace("{0}", shlex.quote(str(place))), "true", "false", place),)
    result = run("setup", "--yes")
    assert (result.exit_code, "wren: refused" in result.output) == (1, True)
    assert tree(base) == before


@pytest.mark.parametrize(
    "held",
    [None, b"{}", b"", b"{theme: 'dark', /* mine */ }\n", b'{"theme": "dark"}'],
    ids=["none", "empty object", "empty", "JSON5", "JSON"],
)
def test_file_that_was_torn_is_whole_again_whatever_it_held(
    run: Run, bird: BirdPlugin, base: Path, held: bytes | None, tree: Tree
) -> None:
    place = base / "state.json"
    if held is not None:
        place.write_bytes(held)
    before = tree(base)
    entry = Entry(path=place, pointer=("servers", "mp"), value={"command": "/mp"})
    tears = shell("add", f"printf '{{\"servers\": ' > {shlex.quote(str(place))}; exit 1", "true", "false", place)
    bird.edits = (replace(tears, asks=(), sets=(entry,)),)
    result = run("setup", "--yes")
    assert (result.exit_code, "could not be undone" in result.output) == (1, False)
    assert tree(base) == before
    assert run("doctor").exit_code == 0


def test_calls_that_were_made_are_undone_to_the_byte_if_a_later_one_fails(
    run: Run, bird: BirdPlugin, base: Path, home: Path
) -> None:
    place = base / "servers"
    place.write_bytes(b"other\n")
    bird.edits = (listed(place, "one"), shell("add", "false", "true", "false", place))
    assert run("setup", "--yes").exit_code == 1
    assert place.read_bytes() == b"other\n"
    assert not (home / "integrations.json").exists()


# --- what an agent's command takes over ---------------------------------------------------------------------------

# The agent's own command, which adds nothing where something stands, lays its file out anew and can be told to fail.
TOOL = """
import json, sys
from pathlib import Path
place, (act, name, *rest) = Path(sys.argv[1]), sys.argv[2:]
held = json.loads(place.read_text())
servers = held.setdefault("servers", {})
if act == "add" and (name in servers or place.with_name("broken").exists()):
    sys.exit("it cannot")
if act == "add":
    servers[name] = json.loads(rest[0]) | {"env": {}}
else:
    del servers[name]
place.write_text(json.dumps(held, indent=1))
"""
OWN = {"command": "by hand", "env": {"KEY": "x"}}


def added(place: Path, command: str = "mp") -> Call:
    """Return a call that adds a server, of which the agent's file tells."""
    tool, value = (sys.executable, "-c", TOOL, str(place)), {"command": command}
    return Call(
        what="add the server",
        do=((*tool, "add", "memory-plane", json.dumps(value)),),
        undo=((*tool, "remove", "memory-plane"),),
        sets=(Entry(path=place, pointer=("servers", "memory-plane"), value=value),),
        touches=(place,),
    )


@pytest.fixture
def state(base: Path) -> Path:
    """The file of an agent, in which its person has a server of our name."""
    place = base / "state.json"
    place.write_text(json.dumps({"theme": "dark", "servers": {"memory-plane": OWN, "other": {}}}))
    return place


def test_entry_under_an_agents_command_is_refused_and_taken_over(
    run: Run, bird: BirdPlugin, base: Path, state: Path, tree: Tree
) -> None:
    before = tree(base)
    bird.edits = (added(state), server(base))
    result = run("setup", "--yes")
    assert (result.exit_code, "state.json: holds something else at servers.memory-plane" in result.output) == (1, True)
    assert tree(base) == before
    result = run("setup", "--yes", "--take-over")
    assert (result.exit_code, "remove memory-plane" in result.output) == (0, True)
    assert json.loads(state.read_bytes())["servers"]["memory-plane"] == {"command": "mp", "env": {}}
    assert "nothing to change" in run("setup", "--yes").output
    assert run("uninstall", "--yes").exit_code == 0
    assert tree(base) == before


@pytest.mark.parametrize("update", [False, True])
@pytest.mark.parametrize("ours", ["stands", "is gone", "was changed"])
def test_entry_that_was_taken_over_comes_back_whatever_else_changed(
    run: Run, bird: BirdPlugin, state: Path, ours: str, update: bool
) -> None:
    bird.edits = (added(state),)
    run("setup", "--yes", "--take-over")
    held = json.loads(state.read_bytes()) | {"theme": "light"}
    state.write_text(json.dumps(held))
    if update:
        bird.edits = (added(state, "newer/mp"),)
        assert run("setup", "--yes").exit_code == 0
    held = json.loads(state.read_bytes())
    if ours != "stands":
        del held["servers"]["memory-plane"]
    if ours == "was changed":
        held["servers"]["memory-plane"] = {"command": "a third"}
    state.write_text(json.dumps(held))
    assert run("uninstall", "--yes").exit_code == 0
    expected = {"command": "a third"} if ours == "was changed" else OWN
    left = json.loads(state.read_bytes())
    assert (left["theme"], left["servers"]) == ("light", {"other": {}, "memory-plane": expected})


def test_entry_comes_back_where_the_agent_fails_or_wants_it_no_more(
    run: Run, bird: BirdPlugin, base: Path, state: Path
) -> None:
    before = state.read_bytes()
    bird.edits = (added(state),)
    (base / "broken").touch()
    assert run("setup", "--yes", "--take-over").exit_code == 1
    assert state.read_bytes() == before
    (base / "broken").unlink()
    assert run("setup", "--yes", "--take-over").exit_code == 0
    bird.edits = (server(base),)
    assert run("setup", "--yes").exit_code == 0
    assert json.loads(state.read_bytes())["servers"]["memory-plane"] == OWN


def test_what_stood_there_before_its_command_is_not_ours(run: Run, bird: BirdPlugin, state: Path) -> None:
    state.write_text('{"servers": {"memory-plane": {"command": "mp", "more": 1}}}')
    before = state.read_bytes()
    bird.edits = (added(state),)
    assert "is done already; uninstall leaves it" in run("setup", "--yes", "--take-over").output
    assert run("uninstall", "--yes").exit_code == 0
    assert state.read_bytes() == before


def test_changes_of_an_agents_command_are_foretold_and_shown(
    run: Run, bird: BirdPlugin, base: Path, state: Path, tree: Tree
) -> None:
    state.write_text('{"theme": "dark"}')
    before = tree(base)
    bird.edits = (added(state),)
    result = run("setup", "--dry-run")
    assert "about so" in result.output
    assert '+{"theme": "dark", "servers": {"memory-plane": {"command": "mp"}}}' in result.output
    assert tree(base) == before
    (change,) = json.loads(run("setup", "--yes", "--json").stdout)[0]["commands_changed"]
    assert change["path"] == str(state)
    assert '+ "theme": "dark",\n+ "servers": {' in change["diff"]
    assert "its commands changed" in (result := run("uninstall", "--yes")).output
    assert '+{"theme": "dark"}' in result.output


def test_nothing_is_run_to_look_where_the_agents_file_tells(
    run: Run, bird: BirdPlugin, base: Path, state: Path
) -> None:
    bird.edits = (replace(added(state), do=(("sh", "-c", f"touch '{base}/run'"),)),)
    bird.checks = (Check(what="it", command=("sh", "-c", f"touch '{base}/run'"), shows="", remedy=""),)
    run("setup", "--dry-run", "--take-over")
    state.write_text('{"servers": {"memory-plane": {"command": "mp"}}}')
    run("setup", "--dry-run")
    run("uninstall", "--dry-run")
    run("doctor")
    assert not (base / "run").exists()
    run("doctor", "--ask")


@pytest.mark.parametrize("name", ["settings.json", "config.toml"])
@pytest.mark.parametrize("is_there", [True, False])
def test_comment_made_between_setup_and_uninstall_stays(
    run: Run, bird: BirdPlugin, base: Path, name: str, is_there: bool
) -> None:
    bird.edits = everything(base, "mp")[:3]
    place = base / name
    if is_there:
        place.write_text('{"theme": "dark"}\n' if name == "settings.json" else "a = 1\n")
    run("setup", "--yes")
    comment = "// mine\n" if name == "settings.json" else "# mine\n"
    place.write_text(comment + place.read_text())
    assert run("uninstall", "--yes").exit_code == 0
    assert place.read_text().startswith(comment)
    assert "mp" not in place.read_text()


# --- two memories of one person ----------------------------------------------------------------------------------


def shared(base: Path, home: Path) -> tuple[Edit, ...]:
    return (
        *everything(base, f"{home}/mp")[:3],
        *everything(base, str(home))[4:6],
        added(base / "state.json", f"{home}/mp"),
    )


@pytest.mark.parametrize("first", [0, 1])
@pytest.mark.parametrize("empty", [False, True])
def test_two_memories_leave_in_any_order(
    run: Run, bird: BirdPlugin, base: Path, tmp_path: Path, tree: Tree, first: int, empty: bool
) -> None:
    if not empty:
        (base / "settings.json").write_bytes(b'{"theme": "dark", // mine\r\n"mcpServers": {"memory-plane": 1}}')
        (base / "config.toml").write_bytes(b"a = 1\r\nb = 2\n")
        (base / "state.json").write_text(json.dumps({"servers": {"memory-plane": OWN}}))
    else:
        (base / "state.json").write_text("{}")
    before = tree(base.parent)
    homes = [tmp_path / "one", tmp_path / "other"]

    for home in homes:
        bird.edits = shared(base, home)
        result = run("setup", "--yes", "--take-over", at=home)
        assert result.exit_code == 0, result.output
    assert run("uninstall", "--yes", at=homes[first]).exit_code == 0
    assert tree(base.parent) != before
    assert run("uninstall", "--yes", at=homes[1 - first]).exit_code == 0
    assert tree(base.parent) == before


@pytest.mark.parametrize("first", [0, 1])
def test_memory_that_takes_over_again_comes_after_the_other(
    run: Run, bird: BirdPlugin, base: Path, tmp_path: Path, tree: Tree, first: int
) -> None:
    (base / "settings.json").write_bytes(b'{"theme": "dark"}')
    (base / "state.json").write_text(json.dumps({"servers": {"memory-plane": OWN}}))
    before = tree(base.parent)
    homes = [tmp_path / "one", tmp_path / "other"]
    edits = [tuple(one for one in shared(base, home) if not isinstance(one, Copy)) for home in homes]
    for number in (0, 1, 0):
        bird.edits = edits[number]
        assert run("setup", "--yes", "--take-over", at=homes[number]).exit_code == 0
    run("uninstall", "--yes", at=homes[first])
    bird.edits = edits[1 - first]
    assert "Wren is connected" in run("doctor", at=homes[1 - first]).output
    run("uninstall", "--yes", at=homes[1 - first])
    assert tree(base.parent) == before


@pytest.mark.parametrize("order", list(permutations(range(3))), ids=str)
def test_three_memories_leave_in_any_order_and_none_comes_back(
    run: Run, bird: BirdPlugin, base: Path, tmp_path: Path, tree: Tree, order: tuple[int, ...]
) -> None:
    before = tree(base.parent)
    homes = [tmp_path / name for name in ("one", "two", "three")]
    hooks = base / "hooks.json"
    for home in homes:
        bird.edits = (
            Entry(path=hooks, pointer=("version",), value=1, stays=True),
            Element(path=hooks, pointer=("hooks", "Stop"), value={"command": str(home)}),
        )
        assert run("setup", "--yes", at=home).exit_code == 0
    for place, number in enumerate(order, 1):
        assert run("uninstall", "--yes", at=homes[number]).exit_code == 0
        text = hooks.read_text() if hooks.exists() else ""
        assert [home for home in homes if str(home) in text] == [homes[each] for each in sorted(order[place:])]
    assert tree(base.parent) == before


def test_memory_that_stays_is_whole_when_the_earlier_leaves(
    run: Run, bird: BirdPlugin, base: Path, tmp_path: Path
) -> None:
    (base / "state.json").write_text("{}")
    for home in (tmp_path / "one", tmp_path / "other"):
        bird.edits = (*everything(base, f"{home}/mp")[:3], added(base / "state.json", f"{home}/mp"))
        run("setup", "--yes", "--take-over", at=home)
    run("uninstall", "--yes", at=tmp_path / "one")
    assert "Wren is connected" in run("doctor", at=tmp_path / "other").output
    text = "".join(path.read_text() for path in base.iterdir())
    assert (f"{tmp_path}/one/mp" in text, f"{tmp_path}/other/mp" in text) == (False, True)


# --- its notes lost ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("spoiled", [None, b"other bytes"], ids=["gone", "changed"])
def test_ours_goes_although_the_copy_of_what_was_before_is_lost(
    run: Run, bird: BirdPlugin, base: Path, home: Path, spoiled: bytes | None
) -> None:
    (base / "settings.json").write_bytes(b'{"theme": "dark"}')
    bird.edits = (server(base), listed(base / "servers", "memory-plane"))
    run("setup", "--yes")
    for copy in (home / "agents-before").iterdir():
        copy.unlink() if spoiled is None else copy.write_bytes(spoiled)
    bird.edits = (server(base, "newer/mp"), *bird.edits[1:])
    assert run("setup", "--yes").exit_code == 0
    assert run("uninstall", "--yes").exit_code == 0
    assert (base / "settings.json").read_bytes() == b'{"theme": "dark"}'
    assert not (home / "integrations.json").exists()


def test_agent_is_connected_where_all_of_it_stood_there_before(
    run: Run, bird: BirdPlugin, base: Path, home: Path, tree: Tree
) -> None:
    bird.edits = (server(base),)
    run("setup", "--yes")
    before = tree(base)
    (home / "integrations.json").unlink()
    assert "uninstall leaves it" in run("setup", "--yes").output
    assert "Wren is connected" in run("doctor").output
    assert run("uninstall", "--yes").exit_code == 0
    assert tree(base) == before


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('{"version": 2, "anything": []}', "another version of Memory Plane"),
        ("[]", "cannot be read"),
        ('{"version": 1, "agents": {"wren": [{"kind": "spell"}]}, "files": {}}', "cannot be read"),
        ('{"version": 1, "agents": {}, "files": {"/x": 3}}', "cannot be read"),
        ("[" * 100_000, "cannot be read"),
    ],
)
def test_notes_that_cannot_be_understood_stop_everything(
    run: Run, bird: BirdPlugin, base: Path, home: Path, text: str, words: str, tree: Tree
) -> None:
    bird.edits = (server(base),)
    (home / "integrations.json").write_text(text)
    for command in ("setup", "uninstall"):
        result = run(command, "--yes")
        assert result.exit_code == 1
        assert words in str(result.exception) + result.output
    assert not tree(base)
    assert (home / "integrations.json").read_text() == text


# --- an agent that cannot answer ---------------------------------------------------------------------------------


def test_what_a_failing_command_should_have_taken_back_stays_noted(
    run: Run, bird: BirdPlugin, base: Path, tree: Tree
) -> None:
    (base / "settings.json").write_bytes(b"{}")
    before = tree(base)
    broken = base.parent / "broken"
    call = listed(base / "servers", "memory-plane")
    bird.edits = (server(base), replace(call, undo=(("sh", "-c", f"! test -e '{broken}' && rm '{base}/servers'"),)))
    run("setup", "--yes")
    broken.touch()
    result = run("uninstall", "--yes")
    assert (result.exit_code, "run: memory-plane uninstall wren" in result.output) == (1, True)
    assert (base / "settings.json").read_bytes() == b"{}"
    assert "memory-plane" in (base / "servers").read_text()
    broken.unlink()
    assert run("uninstall", "--yes").exit_code == 0
    assert tree(base) == before


# The agent's own command, which keeps the folders that it is told of; told to fail, it takes nothing back.
LINKS = """
import json, sys
from pathlib import Path
place, (act, *rest) = Path(sys.argv[1]), sys.argv[2:]
held = json.loads(place.read_text())
if place.with_name("busy").exists():
    sys.exit("it is busy")
elif act == "link":
    held |= {"links": {"paths": rest}, "on": {"memory-plane": {"ours": True}}, "search": {"pages": rest}}
elif act == "unlink":
    held["links"]["paths"].remove(rest[0])
    held["on"]["memory-plane"] = {"enabled": False}
elif act == "unset":
    del held["on"]["memory-plane"]
else:
    held["search"] = {}
place.write_text(json.dumps(held | {"written": held.get("written", 0) + 1}))
"""


def linked(base: Path) -> tuple[Edit, ...]:
    """Return edits of an agent that is told of one folder of ours, and not of another."""
    place, folder = base / "state.json", str(base / "ours")
    tool = (sys.executable, "-c", LINKS, str(place))
    entry, pages = ("on", "memory-plane"), Element(path=place, pointer=("search", "pages"), value=folder)
    link = Call(
        what="link",
        do=((*tool, "link", folder),),
        undo=((*tool, "unlink", folder), (*tool, "unset")),
        sets=(
            Element(path=place, pointer=("links", "paths"), value=folder),
            Entry(path=place, pointer=(*entry, "ours"), value=True),
        ),
        leaves=(Entry(path=place, pointer=entry, value={"enabled": False}),),
        touches=(place,),
    )
    search = replace(link, what="search", do=((*tool, "link", folder),), undo=((*tool, "forget"),), sets=(pages,))
    return (
        OwnFile(path=base / "ours" / "plugin.js", text="run\n"),
        Copy(path=base / "ours" / "pages" / "PULSE.md", page="PULSE.md"),
        OwnFile(path=base / "skill" / "SKILL.md", text="a skill\n"),
        link,
        search,
    )


@pytest.mark.parametrize("meanwhile", ["", "unlink", "theme"])
def test_what_an_agent_is_told_of_stays_until_it_has_taken_it_back(
    run: Run, bird: BirdPlugin, base: Path, home: Path, tree: Tree, meanwhile: str
) -> None:
    place = base / "state.json"
    place.write_bytes(b'{"theme": "dark"}\n')
    before = tree(base)
    bird.edits = linked(base)
    assert run("setup", "--yes").exit_code == 0
    (base / "busy").touch()
    for _ in range(2):
        result = run("uninstall", "--yes")
        assert (result.exit_code, "it is busy" in result.output) == (1, True)
        assert {"ours/plugin.js", "ours/pages/PULSE.md"} <= tree(base).keys()
        assert "skill/SKILL.md" not in tree(base)
        (found,) = json.loads(run("doctor", "wren", "--json").stdout)
        assert (found["state"], found["remedy"]) == ("wrong", "memory-plane uninstall wren")
    (base / "busy").unlink()
    if meanwhile:
        held = json.loads(place.read_bytes())
        held |= {"theme": "light"} if meanwhile == "theme" else {}
        place.write_text(json.dumps(held))
    if meanwhile == "unlink":
        subprocess.run((sys.executable, "-c", LINKS, str(place), meanwhile, str(base / "ours")), check=True)
    assert run("uninstall", "--yes").exit_code == 0
    left = tree(base)
    if meanwhile:
        held = json.loads(left.pop("state.json"))
        assert held.pop("written") > 2
        theme = {"theme": "light" if meanwhile == "theme" else "dark"}
        assert held == theme
        del before["state.json"]
    assert left == before
    assert not (home / "integrations.json").exists()


def test_setup_after_an_unfinished_uninstall_is_whole_again(run: Run, bird: BirdPlugin, base: Path) -> None:
    (base / "state.json").write_bytes(b"{}")
    bird.edits = linked(base)
    run("setup", "--yes")
    (base / "busy").touch()
    run("uninstall", "--yes")
    (base / "busy").unlink()
    assert run("setup", "--yes").exit_code == 0
    assert {one["state"] for one in json.loads(run("doctor", "--json").stdout)} <= {"ok", "note"}
    assert (base / "skill" / "SKILL.md").exists()
    assert run("uninstall", "--yes").exit_code == 0
    assert (base / "state.json").read_bytes() == b"{}"


def test_uninstall_that_was_killed_is_named_by_doctor(
    run: Run, bird: BirdPlugin, base: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bird.edits = (server(base), listed(base / "servers", "memory-plane"))
    run("setup", "--yes")
    assert killed_at(1, monkeypatch, lambda: run("uninstall", "--yes"))
    assert "uninstall of Wren is unfinished" in " ".join(run("doctor", "wren").output.split())
    assert run("uninstall", "--yes").exit_code == 0


def test_agent_whose_command_is_gone_still_leaves_its_file_as_it_was(run: Run, bird: BirdPlugin, base: Path) -> None:
    tool, place = base / "tool", base / "servers"
    tool.write_text(f"#!/bin/sh\n[ $1 = add ] && echo there >> '{place}'; cat '{place}'\n")
    tool.chmod(0o700)
    place.write_bytes(b"other\n")
    words = str(tool)
    bird.edits = (
        Call(
            what="add",
            do=((words, "add"),),
            undo=((words, "no"),),
            asks=(words, "ask"),
            shows="there",
            touches=(place,),
        ),
    )
    assert run("setup", "--yes").exit_code == 0
    tool.unlink()
    assert "cannot be run: No such file" in run("doctor").output
    assert run("uninstall", "--yes").exit_code == 0
    assert place.read_bytes() == b"other\n"


def test_agent_that_hangs_is_ended_with_all_that_it_started(
    run: Run, bird: BirdPlugin, base: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(calls, "SECONDS", 0.5)
    note = base.parent / "note"
    bird.checks = (
        Check(what="it", command=("sh", "-c", f"sleep 60 & echo $! > '{note}'; wait"), shows="x", remedy=""),
    )
    bird.edits = (server(base),)
    result = run("setup", "--yes")
    assert result.exit_code == 1
    assert "did not end within" in result.output
    state = subprocess.run(("ps", "-o", "stat=", "-p", note.read_text().strip()), capture_output=True, check=False)
    assert state.stdout.strip()[:1] in (b"", b"Z"), "gone, or only not noticed yet by the first of all processes"


def test_nothing_more_is_run_after_a_command_that_hangs(
    run: Run, bird: BirdPlugin, base: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    call = listed(base / "servers", "memory-plane")
    bird.edits = (replace(call, undo=(("sleep", "60"), ("touch", str(base / "more")))),)
    run("setup", "--yes")
    monkeypatch.setattr(calls, "SECONDS", 0.5)
    result = run("uninstall", "--yes")
    assert (result.exit_code, "did not end within" in result.output) == (1, True)
    assert not (base / "more").exists()


def test_what_only_a_person_can_do_is_asked_for_by_doctor_alone(run: Run, bird: BirdPlugin, base: Path) -> None:
    asked = ("sh", "-c", f"test -e '{base / 'trusted'}' && echo trusted")
    bird.checks = (Check(what="trust", command=asked, shows="trusted", remedy="trust its hooks", by_hand=True),)
    bird.edits = (server(base),)
    result = run("setup", "--yes")
    assert (result.exit_code, "trust" in result.output) == (0, False)
    result = run("doctor", "--ask")
    assert (result.exit_code, "trust its hooks" in result.output) == (1, True)
    (base / "trusted").touch()
    assert "trust its hooks" not in run("doctor", "--ask").output


def test_doctor_looks_at_the_agents_that_are_named_and_asks_no_other(run: Run, bird: BirdPlugin, base: Path) -> None:
    asked = base / "asked"
    bird.checks = (Check(what="it", command=("sh", "-c", f"echo >> '{asked}'"), shows="", remedy=""),)
    bird.edits = (server(base),)
    bird.others = (
        Integration(agent="finch", name="Finch", found="here", edits=(server(base / "finch"),), checks=bird.checks),
        Integration(agent="gull", name="Gull", found="", edits=(server(base / "gull"),)),
    )
    run("setup", "--yes")
    asked.unlink()
    found = json.loads(run("doctor", "--ask", "wren", "gull", "--json").stdout)
    assert [(one["what"], one["state"]) for one in found] == [("agent wren", "ok"), ("agent gull", "note")]
    assert "is not on this machine" in found[1]["detail"]
    assert asked.read_text() == "\n"
    result = run("doctor", "finc")
    assert (result.exit_code, "did you mean 'finch'?" in result.output) == (2, True)


def test_doctor_does_not_wait_for_what_is_no_file(run: Run, bird: BirdPlugin, base: Path) -> None:
    bird.edits = (server(base),)
    run("setup", "--yes")
    (base / "settings.json").unlink()
    os.mkfifo(base / "settings.json")
    result = run("doctor")
    assert (result.exit_code, "is no file" in result.output) == (1, True)


# --- what files are besides their bytes --------------------------------------------------------------------------


@pytest.mark.skipif(os.name == "nt" or os.geteuid() != 0, reason="only root may give a file away")
def test_group_and_attributes_of_a_file_stay(run: Run, bird: BirdPlugin, base: Path) -> None:
    place = base / "settings.json"
    place.write_bytes(b"{}")
    os.chown(place, -1, 12345)
    place.chmod(0o660)
    with suppress(OSError):
        os.setxattr(place, "user.mine", b"yes")
    held = os.listxattr(place)
    bird.edits = (server(base),)
    run("setup", "--yes")
    found = place.stat()
    assert (found.st_gid, found.st_mode & 0o777, os.listxattr(place)) == (12345, 0o660, held)


@pytest.mark.skipif(os.name == "nt", reason="no such modes")
def test_folder_that_its_owner_made_read_only_is_left_alone(run: Run, bird: BirdPlugin, base: Path, tree: Tree) -> None:
    (base / "settings.json").write_bytes(b"{}")
    base.chmod(0o500)
    bird.edits = (server(base),)
    result = run("setup", "--yes")
    base.chmod(0o700)
    assert (result.exit_code, "is read-only" in result.output) == (1, True)
    assert tree(base) == {"settings.json": b"{}"}


def test_file_that_its_agent_does_not_read_is_left_and_named(
    run: Run, bird: BirdPlugin, base: Path, tree: Tree
) -> None:
    bird.edits = (replace(server(base), reads=("comments",)),)
    (base / "settings.json").write_bytes(b'{"theme": "dark", } // mine')
    before = tree(base)
    result = run("setup", "--yes")
    assert (result.exit_code, "settings.json: holds a comma after the last" in result.output) == (1, True)
    assert tree(base) == before
    (base / "settings.json").write_bytes(b'{"theme": "dark" } // mine')
    assert run("setup", "--yes").exit_code == 0
    (base / "settings.json").write_bytes((base / "settings.json").read_bytes().replace(b"dark", b"dark"[:2]) + b"\n")
    assert run("doctor").exit_code == 0
    (base / "settings.json").write_bytes((base / "settings.json").read_bytes().replace(b'"da"', b'["da",]'))
    assert "its agent does not read" in run("doctor").output
    assert run("uninstall", "--yes").exit_code == 0


def test_file_with_two_names_is_left_and_named(run: Run, bird: BirdPlugin, base: Path, tree: Tree) -> None:
    (base / "settings.json").write_bytes(b"{}")
    os.link(base / "settings.json", base / "other name")
    before = tree(base)
    bird.edits = (server(base),)
    result = run("setup", "--yes")
    assert (result.exit_code, "settings.json: has 2 names (hard links)" in result.output) == (1, True)
    assert tree(base) == before
    assert (base / "settings.json").samefile(base / "other name")


def test_path_that_is_no_utf8_is_set_up_and_taken_out(run: Run, bird: BirdPlugin, base: Path, tree: Tree) -> None:
    odd = base / os.fsdecode(b"odd\xff\x1b[31m")
    odd.mkdir()
    (odd / "settings.json").write_bytes(b'{"mcpServers": {"memory-plane": {"command": "\\ud800"}}}')
    (odd / "hook.sh").write_bytes(b"\xff mine")
    (odd / "config.toml").write_bytes(b"")
    before = tree(base)
    bird.edits = (server(odd, f"{odd}/mp"), OwnFile(path=odd / "hook.sh", text=f"exec {odd}/mp\n"))
    result = run("setup", "--yes", "--take-over")
    assert result.exit_code == 0, result.output
    assert "\x1b" not in result.output
    assert b"exec " + os.fsencode(odd) in (odd / "hook.sh").read_bytes()
    for name in ("settings.json", "hook.sh"):
        (odd / name).touch()
    assert run("doctor").exit_code in (0, 1)
    assert run("uninstall", "--yes").exit_code == 0
    assert tree(base) == before
    bird.edits = (Entry(path=odd / "config.toml", pointer=POINTER, value={"command": f"{odd}/mp"}),)
    assert "is no UTF-8" in run("setup", "--yes").output
    assert tree(base) == before


def test_json_asks_nobody(run: Run, bird: BirdPlugin, base: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    bird.edits = (server(base),)
    result = run("setup", "--json")
    assert (result.exit_code, "nobody can be asked with --json" in result.output) == (2, True)
    assert json.loads(run("setup", "--json", "--dry-run").stdout)[0]["state"] == "would change"


@pytest.mark.skipif(os.name == "nt", reason="no such limit")
def test_disk_that_is_full_is_named_and_nothing_is_left(
    run: Run, bird: BirdPlugin, base: Path, monkeypatch: pytest.MonkeyPatch, tree: Tree
) -> None:
    import resource

    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    bird.edits = (server(base),)
    run("setup", "--dry-run")
    place = base / "new" / "deep" / "settings.json"
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, limits[1]))
    try:
        result = run("setup", "--yes", "--json")
        with pytest.raises(Kept, match="cannot be written"):
            files.write(files.look(place), b"{}", 0o600)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert result.exit_code == 1
    assert "integrations.json: cannot be written" in json.loads(result.stdout)[0]["refused"][0]
    assert not tree(base)
