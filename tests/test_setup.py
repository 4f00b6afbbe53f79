"""`setup` and `uninstall`: agents' files are changed as shown, or not at all, and are theirs again afterwards."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pytest
from click.testing import Result
from hypothesis import given
from hypothesis import strategies as st

from memory_plane import Plugin, hookimpl
from memory_plane.copies import COPY_MARK, Copies
from memory_plane.integration import (
    SERVER,
    Access,
    Block,
    Call,
    Check,
    Copy,
    Element,
    Entry,
    Integration,
    Machine,
    OwnFile,
    first_found,
)
from memory_plane.plane import Plane
from memory_plane.settings import Settings
from memory_plane.setup import apply, edits, files, plan
from memory_plane.setup.errors import Kept
from memory_plane.setup.manifest import Record
from memory_plane.types import AgentInfo

SETTINGS = b'{\r\n  // mine\r\n  "hooks": {"Stop": [], },\r\n}\r\n'
CONFIG = b'# mine\nmodel = "x"\n'

# The agent's own command, which keeps a list of servers in a file and can be told to fail.
TOOL = """
import sys
from pathlib import Path
list, (act, *rest) = Path(sys.argv[1]), sys.argv[2:]
held = list.read_text().split() if list.exists() else []
if act == "show":
    print(*held)
elif Path(sys.argv[1] + ".broken").exists():
    sys.exit("the tool is broken, token=ghp_0123456789abcdefghijABCDEFGHIJ012345")
else:
    held = [*held, *rest] if act == "add" else [one for one in held if one not in rest]
    if Path(sys.argv[1] + ".noting").exists():
        held = [*(one for one in held if one != "noted"), "noted"]
    list.write_text("\\n".join(held) + "\\n" if held else "")
"""


def _second(tool: tuple[str, ...], servers: Path) -> Call:
    """Return one more call that changes the same file."""
    add, remove = (*tool, "add", "more"), (*tool, "remove", "more")
    return Call(
        what="heron add more", do=(add,), undo=(remove,), asks=(*tool, "show"), shows="more", touches=(servers,)
    )


class HeronPlugin(Plugin):
    """Two agents: one with an edit of every kind, and one that shares a file and a block with it."""

    agents = (AgentInfo(id="heron"), AgentInfo(id="crow"), AgentInfo(id="owl"))
    server: Any = MappingProxyType({"command": "mp"})

    quiet = more = elsewhere = False

    @hookimpl
    def integrate(self, machine: Machine) -> Iterator[Integration]:
        if self.quiet:
            return
        base = machine.home / ".heron"
        settings = base / "settings.json"
        block = Block(path=base / "HERON.md", text="Use the memory.")
        tool = (sys.executable, str(base / "tool.py"), str(base / "servers"))
        yield Integration(
            agent="heron",
            name="Heron",
            found=first_found(base),
            edits=(
                Entry(path=settings, pointer=("mcpServers", SERVER), value=dict(self.server)),
                Element(path=settings, pointer=("hooks", "Stop"), value={"command": machine.hook("heron", "Stop")}),
                Entry(path=base / "config.toml", pointer=("mcp_servers", SERVER), value=dict(self.server)),
                block,
                OwnFile(path=base / "skills" / "memory" / "SKILL.md", text="a skill\n"),
                Copy(path=base / "rules" / "memory.md", page="brief/heron.md", preface="From the others:\n\n"),
                Call(
                    what="heron add memory-plane",
                    do=((*tool, "add", SERVER),),
                    undo=((*tool, "remove", SERVER),),
                    asks=(*tool, "show"),
                    shows=SERVER,
                    touches=(base / "servers",),
                ),
                *([_second(tool, base / "servers")] if self.more else ()),
            ),
            checks=(
                Check(what="Heron lists it", command=(*tool, "show"), shows=SERVER, remedy="memory-plane setup heron"),
                Access(what="its messages", path=base / "messages", remedy="give it access"),
            ),
            steps=("restart Heron",),
            hooks=True,
        )
        crow = Entry(path=settings, pointer=("crow",), value=[1])
        yield Integration(agent="crow", name="Crow", found=first_found(base), edits=(block, crow))
        owl = str(base) if self.elsewhere else ""
        yield Integration(agent="owl", name="Owl", found=owl, steps=("log in there",))


Run = Callable[..., Result]
Tree = Callable[[Path], dict[str, bytes]]


@pytest.fixture
def person(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The home folder of a person who has a Heron."""
    folder = tmp_path / "a pérson"
    (folder / ".heron").mkdir(parents=True)
    (folder / ".heron" / "settings.json").write_bytes(SETTINGS)
    (folder / ".heron" / "config.toml").write_bytes(CONFIG)
    (folder / ".heron" / "tool.py").write_text(TOOL)
    (folder / ".heron" / "servers").write_text("other\n")
    monkeypatch.setenv("HOME", str(folder))
    return folder


@pytest.fixture
def heron() -> HeronPlugin:
    return HeronPlugin()


@pytest.fixture
def run(commands: Callable[..., Run], person: Path, heron: HeronPlugin) -> Run:
    """Run a command with the plugin of the Heron, in a home beside the person's."""
    return commands(heron)


@pytest.fixture
def machine(home: Path, person: Path) -> Machine:
    return Machine.here(home)


def states(result: Result) -> dict[str, str]:
    return {told["agent"]: told["state"] for told in json.loads(result.stdout)}


# --- there and back ----------------------------------------------------------------------------------------------


def test_dry_run_shows_every_change_and_makes_none(run: Run, person: Path, home: Path, tree: Tree) -> None:
    before = tree(person), tree(home)
    result = run("setup", "--dry-run")
    assert result.exit_code == 0, result.output
    assert (tree(person), tree(home)) == before
    for shown in (
        "+++ ",
        '+    "memory-plane": {',
        "+[mcp_servers.memory-plane]",
        "+a skill",
        "will run: ",
        "add memory-plane",
    ):
        assert shown in result.output
    assert "\nHeron: ~/.heron/settings.json, ~/.heron/config.toml, " in result.output
    assert "; by its commands ~/.heron/servers\nCrow: ~/.heron/settings.json\n\nheron: would change" in result.output


def test_setup_does_what_it_showed_and_asks_the_agent(run: Run, person: Path) -> None:
    result = run("setup", "--yes")
    assert result.exit_code == 0, result.output
    heron = person / ".heron"
    assert b'// mine\r\n  "hooks"' in (heron / "settings.json").read_bytes()
    assert b"memory-plane" in (heron / "config.toml").read_bytes()
    assert (heron / "servers").read_text().split() == ["other", SERVER]
    assert (heron / "rules" / "memory.md").read_text() == f"{COPY_MARK}\nFrom the others:\n\n"
    assert "\n  ok: Heron lists it\n" in result.output
    assert "\nLeft to you:\n  heron: restart Heron\n" in result.output


def test_second_setup_changes_nothing(run: Run, person: Path, home: Path, tree: Tree) -> None:
    run("setup", "--yes")
    before = tree(person), (home / "integrations.json").read_bytes()
    result = run("setup", "--yes", "--json")
    assert states(result) == {"heron": "unchanged", "crow": "unchanged"}
    assert (tree(person), (home / "integrations.json").read_bytes()) == before


def test_uninstall_leaves_every_file_as_it_was(run: Run, person: Path, home: Path, tree: Tree) -> None:
    before = tree(person)
    run("setup", "--yes")
    assert tree(person) != before
    result = run("uninstall", "--yes")
    assert result.exit_code == 0, result.output
    assert tree(person) == before
    assert not (home / "integrations.json").exists()
    assert not list((home / "agents-before").glob("*"))


@pytest.mark.parametrize("order", [("heron", "crow"), ("crow", "heron")])
def test_agents_that_share_a_file_leave_one_by_one(run: Run, person: Path, order: tuple[str, str], tree: Tree) -> None:
    before = tree(person)
    run("setup", "--yes")
    first, second = order
    assert run("uninstall", first, "--yes").exit_code == 0
    assert b"Use the memory." in (person / ".heron" / "HERON.md").read_bytes()
    assert run("uninstall", second, "--yes").exit_code == 0
    assert tree(person) == before


def test_what_others_changed_meanwhile_stays(run: Run, person: Path) -> None:
    run("setup", "--yes")
    settings, notes = person / ".heron" / "settings.json", person / ".heron" / "HERON.md"
    settings.write_bytes(settings.read_bytes().replace(b"// mine\r\n", b'// mine\r\n  "theme": "dark",\r\n'))
    notes.write_text(f"# My own\n\n{notes.read_text()}")
    assert run("uninstall", "--yes").exit_code == 0
    assert settings.read_bytes() == SETTINGS.replace(b"// mine\r\n", b'// mine\r\n  "theme": "dark",\r\n')
    assert notes.read_text() == "# My own\n"


def test_what_others_changed_meanwhile_stays_when_agents_leave_one_by_one(run: Run, person: Path) -> None:
    run("setup", "--yes")
    settings = person / ".heron" / "settings.json"
    settings.write_bytes(settings.read_bytes().replace(b"// mine\r\n", b'// mine\r\n  "theme": "dark",\r\n'))
    for agent in ("heron", "crow"):
        assert run("uninstall", agent, "--yes").exit_code == 0
    assert settings.read_bytes() == SETTINGS.replace(b"// mine\r\n", b'// mine\r\n  "theme": "dark",\r\n')


def test_setup_after_a_change_of_others_still_leads_back(run: Run, person: Path, heron: HeronPlugin) -> None:
    run("setup", "--yes")
    settings = person / ".heron" / "settings.json"
    changed = SETTINGS.replace(b"// mine", b"// theirs")
    settings.write_bytes(settings.read_bytes().replace(b"// mine", b"// theirs"))
    heron.server = {"command": "a newer mp"}
    assert run("setup", "--yes").exit_code == 0
    assert b"a newer mp" in settings.read_bytes()
    assert run("uninstall", "--yes").exit_code == 0
    assert settings.read_bytes() == changed


def test_newer_version_replaces_what_the_older_wrote(run: Run, person: Path, heron: HeronPlugin, tree: Tree) -> None:
    before = tree(person)
    run("setup", "--yes")
    heron.server = {"command": "a newer mp", "env": {"A": "b"}}
    assert states(run("setup", "--yes", "--json"))["heron"] == "set up"
    assert (person / ".heron" / "settings.json").read_bytes().count(b"a newer mp") == 1
    run("uninstall", "--yes")
    assert tree(person) == before


# --- what a diff shows -------------------------------------------------------------------------------------------


def diff(before: bytes | None, after: bytes | None) -> str:
    return plan.Change(Path("/p"), files.Found(Path("/p"), before, 0o600), after, 0o600).diff()


ALIKE = (
    b"a\n", b"a", b"a\r\n", b"a\r", b"\xef\xbb\xbfa\n", b"a\xff\n", "a\ufffd\n".encode(), "a␍\n".encode(), b"a\x0c\n",
    "a\u2028\n".encode(), "a\u200b\n".encode(), "a⟦0C⟧\n".encode(), b"a\\x0c\n", b"a\n\\ No newline at end of file\n",
    b"a\n\n", b"\n", b"", None,
)  # fmt: skip


def test_no_two_contents_look_the_same_in_a_diff() -> None:
    for other in (b"b\n", None, b""):
        shown = [diff(other, one) for one in ALIKE if one != other]
        assert len(set(shown)) == len(shown)
        assert all(text.replace("\n", "").isprintable() for text in shown)


@given(one=st.binary(max_size=6), other=st.binary(max_size=6), third=st.binary(max_size=6))
def test_no_two_bytes_look_the_same_in_a_diff(one: bytes, other: bytes, third: bytes) -> None:
    assert (diff(b"before", one) == diff(b"before", other)) == (one == other)
    assert bool(diff(one, third)) and (one == third or diff(one, third) != diff(third, one))


def test_diff_tells_what_is_not_seen() -> None:
    assert diff(b"\xef\xbb\xbfa\r\n", b"a") == (
        "--- /p\n+++ /p\n@@ -1 +1 @@\n-⟦FEFF⟧a␍\n+a\n\\ No newline at end of file"
    )
    assert diff(None, b"") == "--- /dev/null\n+++ /p"


# --- whose it is -------------------------------------------------------------------------------------------------


def version_and_server(settings: Path) -> tuple[Entry, Entry]:
    version = Entry(path=settings, pointer=("version",), value=1, stays=True)
    return version, Entry(path=settings, pointer=("servers", SERVER), value={"command": "mp"})


@pytest.mark.parametrize(
    ("added", "left"),
    [(b"", {}), (b'"theme": "dark", ', {"version": 1, "theme": "dark"}), (b'"themes": {}, ', {"themes": {}})],
    ids=["nothing", "a setting", "an empty one"],
)
def test_entry_that_the_rest_of_a_file_needs_stays_with_it(tmp_path: Path, added: bytes, left: object) -> None:
    data: bytes | None = None
    records = []
    for edit in version_and_server(tmp_path / "settings.json"):
        data, record = edits.made(edit, data)
        records.append(record)
    assert data is not None
    data = data.replace(b'"servers"', added + b'"servers"')
    for record in reversed(records):
        assert record is not None
        data = edits.undone(record, data)
    assert json.loads(data or b"{}") == left


def test_entry_that_was_edited_since_is_left_and_named(run: Run, person: Path) -> None:
    run("setup", "--yes")
    settings = person / ".heron" / "settings.json"
    settings.write_bytes(settings.read_bytes().replace(b'"command": "mp"', b'"command": "my own"'))
    result = run("setup", "heron", "--yes")
    assert result.exit_code == 1
    assert "holds something else at mcpServers.memory-plane" in result.output
    result = run("uninstall", "--yes")
    assert b"my own" in settings.read_bytes()
    assert "has been changed since" in result.output


def test_entry_of_somebody_else_is_refused_and_can_be_taken_over(run: Run, person: Path, tree: Tree) -> None:
    settings = person / ".heron" / "settings.json"
    settings.write_text('{"mcpServers": {"memory-plane": {"command": "by hand"}}}')
    before = tree(person)
    result = run("setup", "heron", "--yes")
    assert result.exit_code == 1
    assert tree(person) == before, "an agent is set up whole, or not at all"
    assert run("setup", "heron", "--yes", "--take-over").exit_code == 0
    assert "by hand" not in settings.read_text()
    run("uninstall", "--yes")
    assert tree(person) == before


def test_what_stood_there_already_is_not_ours(run: Run, person: Path, machine: Machine) -> None:
    (person / ".heron" / "settings.json").write_text(
        json.dumps({"mcpServers": {SERVER: {"command": "mp"}}, "crow": [1]})
    )
    result = run("setup", "--yes")
    assert "stands there already; uninstall leaves it" in result.output
    run("uninstall", "--yes")
    held = json.loads((person / ".heron" / "settings.json").read_text())
    assert held == {"mcpServers": {SERVER: {"command": "mp"}}, "crow": [1]}


def test_file_of_somebody_else_in_our_place_is_refused(run: Run, person: Path, tree: Tree) -> None:
    (person / ".heron" / "rules").mkdir()
    (person / ".heron" / "rules" / "memory.md").write_text("my rules\n")
    before = tree(person)
    assert run("setup", "heron", "--yes").exit_code == 1
    assert tree(person) == before


def test_link_stays_a_link(run: Run, person: Path, tree: Tree) -> None:
    dotfiles = person / "dotfiles"
    dotfiles.mkdir()
    settings = person / ".heron" / "settings.json"
    settings.rename(dotfiles / "settings.json")
    settings.symlink_to(Path("..", "dotfiles", "settings.json"))
    before = tree(person)
    run("setup", "--yes")
    assert settings.is_symlink()
    assert b"memory-plane" in (dotfiles / "settings.json").read_bytes()
    run("uninstall", "--yes")
    assert settings.is_symlink()
    assert tree(person) == before


def test_mode_of_a_file_stays(run: Run, person: Path) -> None:
    settings = person / ".heron" / "settings.json"
    settings.chmod(0o640)
    run("setup", "--yes")
    assert settings.stat().st_mode & 0o777 == 0o640


# --- what is refused ---------------------------------------------------------------------------------------------


def _broken(person: Path) -> None:
    (person / ".heron" / "settings.json").write_bytes(b'{"a": 1')


def _read_only(person: Path) -> None:
    (person / ".heron" / "settings.json").chmod(0o444)


def _a_folder(person: Path) -> None:
    (person / ".heron" / "settings.json").unlink()
    (person / ".heron" / "settings.json").mkdir()


def _no_object(person: Path) -> None:
    (person / ".heron" / "settings.json").write_bytes(b'{"mcpServers": []}')


def _a_loop(person: Path) -> None:
    (person / ".heron" / "settings.json").unlink()
    (person / ".heron" / "settings.json").symlink_to("settings.json")


@pytest.mark.parametrize("spoil", [_broken, _read_only, _a_folder, _no_object, _a_loop])
def test_file_that_cannot_be_changed_is_named_and_all_is_left(
    run: Run, person: Path, home: Path, spoil: Callable[[Path], None], tree: Tree
) -> None:
    spoil(person)
    before = tree(person)
    result = run("setup", "heron", "--yes")
    assert result.exit_code == 1
    assert "settings.json" in result.output
    assert "heron: refused" in result.output
    assert tree(person) == before
    assert not (home / "integrations.json").exists()


def test_file_of_another_user_is_left_alone(
    run: Run, person: Path, monkeypatch: pytest.MonkeyPatch, tree: Tree
) -> None:
    before = tree(person)
    monkeypatch.setattr(os, "geteuid", lambda: 12345)
    result = run("setup", "heron", "--yes")
    assert result.exit_code == 1
    assert "belongs to another user" in result.output
    assert tree(person) == before


def test_file_that_changes_before_it_is_written_is_left_alone(
    heron: HeronPlugin, machine: Machine, person: Path, home: Path, tree: Tree
) -> None:
    integration = next(iter(heron.integrate(machine)))
    with apply.manifest_of(home) as manifest:
        (planned,) = plan.setups([integration], manifest)
        (person / ".heron" / "config.toml").write_bytes(b'model = "y"\n')
        before = tree(person)
        with pytest.raises(Kept, match=r"config\.toml: was changed by somebody else"):
            apply.setup(planned, manifest)
    assert tree(person) == before
    assert not (home / "integrations.json").exists()


def test_call_that_fails_takes_the_edits_back(run: Run, person: Path, tree: Tree) -> None:
    (person / ".heron" / "servers.broken").touch()
    before = tree(person)
    result = run("setup", "heron", "--yes")
    assert result.exit_code == 1
    assert "the tool is broken" in result.output
    assert "ghp_0123456789" not in result.output
    assert tree(person) == before


def test_call_whose_change_cannot_be_seen_is_refused(run: Run, person: Path, tree: Tree) -> None:
    (person / ".heron" / "tool.py").write_text("")
    before = tree(person)
    result = run("setup", "heron", "--yes")
    assert result.exit_code == 1
    assert "does not show 'memory-plane'" in result.output
    assert tree(person) == before


def test_call_that_somebody_took_back_is_made_again(run: Run, person: Path) -> None:
    run("setup", "heron", "--yes")
    (person / ".heron" / "servers").write_text("other\n")
    assert states(run("setup", "heron", "--yes", "--json")) == {"heron": "set up"}
    assert (person / ".heron" / "servers").read_text().split() == ["other", SERVER]


@pytest.mark.parametrize("more", [False, True])
def test_what_an_agents_command_notes_besides_goes_with_our_change(
    run: Run, person: Path, heron: HeronPlugin, more: bool, tree: Tree
) -> None:
    heron.more = more
    (person / ".heron" / "servers.noting").touch()
    before = tree(person)
    run("setup", "heron", "--yes")
    assert "noted" in (person / ".heron" / "servers").read_text().split()
    run("uninstall", "heron", "--yes")
    assert tree(person) == before


def test_what_somebody_noted_there_meanwhile_stays(run: Run, person: Path) -> None:
    (person / ".heron" / "servers.noting").touch()
    run("setup", "heron", "--yes")
    with (person / ".heron" / "servers").open("a") as file:
        file.write("mine\n")
    run("setup", "heron", "--yes")
    run("uninstall", "heron", "--yes")
    assert (person / ".heron" / "servers").read_text().split() == ["other", "mine", "noted"]


def test_old_bytes_do_not_come_back_where_a_command_failed(run: Run, person: Path) -> None:
    run("setup", "heron", "--yes")
    (person / ".heron" / "servers.broken").touch()
    result = run("uninstall", "heron", "--yes")
    assert "the tool is broken" in result.output
    assert (person / ".heron" / "servers").read_text().split() == ["other", SERVER]


def test_secrets_are_cut_from_what_is_shown(run: Run, person: Path) -> None:
    secret = "ghp_0123456789abcdefghijABCDEFGHIJ012345"
    (person / ".heron" / "config.toml").write_text(f'token = "{secret}"\n')
    assert secret not in run("setup", "--dry-run").output


def test_nobody_is_asked_where_nobody_can_answer(run: Run, person: Path, tree: Tree) -> None:
    before = tree(person)
    result = run("setup")
    assert result.exit_code == 2
    assert "give --yes" in result.output
    assert tree(person) == before


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (("setup", "herom"), 2, "did you mean 'heron'"),
        (("setup", "owl"), 1, "Owl is not on this machine"),
        (("uninstall", "heron"), 2, "'heron' is not set up"),
    ],
)
def test_agent_that_cannot_be_meant_is_refused(run: Run, arguments: tuple[str, ...], code: int, words: str) -> None:
    result = run(*arguments, "--yes")
    assert result.exit_code == code
    assert words in result.output


def test_two_setups_at_once_do_not_meet(run: Run, home: Path) -> None:
    with apply.manifest_of(home):
        result = run("setup", "--yes")
    assert result.exit_code == 1
    assert "another setup is at work" in result.output


def test_broken_manifest_is_named(run: Run, home: Path) -> None:
    (home / "integrations.json").write_text("{")
    result = run("setup", "--yes")
    assert result.exit_code == 1
    assert "integrations.json" in result.output


def test_setup_that_broke_off_after_its_note_is_finished_by_the_next(
    run: Run,
    heron: HeronPlugin,
    machine: Machine,
    person: Path,
    home: Path,
    monkeypatch: pytest.MonkeyPatch,
    tree: Tree,
) -> None:
    before = tree(person)

    def die(*_: object) -> None:
        raise SystemExit

    integration = next(iter(heron.integrate(machine)))
    with apply.manifest_of(home) as manifest, monkeypatch.context() as context:
        (planned,) = plan.setups([integration], manifest)
        context.setattr(files, "write", die)
        context.setattr(apply, "_all_or_nothing", NothingUndone)
        with pytest.raises(SystemExit):
            apply.setup(planned, manifest)
    assert (home / "integrations.json").exists()
    assert run("setup", "heron", "--yes").exit_code == 0
    assert run("uninstall", "--yes").exit_code == 0
    assert tree(person) == before


class NothingUndone:
    def __init__(self, *_: object) -> None: ...

    def __enter__(self) -> list[Any]:
        return []

    def __exit__(self, *_: object) -> None: ...


# --- copies of pages ---------------------------------------------------------------------------------------------


def test_copy_follows_its_page(run: Run, person: Path, home: Path, make_plane: Callable[..., Plane]) -> None:
    run("setup", "heron", "--yes")
    plane = make_plane()
    plane.post("The lock is fixed", agent="crow", kind="handoff", to="heron")
    plane.render()
    copy = (person / ".heron" / "rules" / "memory.md").read_text("utf-8")
    assert copy == f"{COPY_MARK}\nFrom the others:\n\n{(home / 'brief' / 'heron.md').read_text('utf-8')}"
    assert "The lock is fixed" in copy


def test_copy_is_not_written_over_what_is_not_ours(run: Run, person: Path, home: Path) -> None:
    run("setup", "heron", "--yes")
    copy = person / ".heron" / "rules" / "memory.md"
    copy.write_text("mine now\n")
    Copies(home).write()
    assert copy.read_text() == "mine now\n"
    copy.unlink()
    copy.symlink_to(person / ".heron" / "config.toml")
    Copies(home).write()
    assert (person / ".heron" / "config.toml").read_bytes().startswith(CONFIG)


def test_copy_is_not_made_where_its_folder_is_gone(run: Run, person: Path, home: Path) -> None:
    run("setup", "heron", "--yes")
    (person / ".heron" / "rules" / "memory.md").unlink()
    (person / ".heron" / "rules").rmdir()
    Copies(home).write()
    assert not (person / ".heron" / "rules").exists()


def test_every_kind_of_edit_survives_the_manifest(heron: HeronPlugin, machine: Machine, home: Path) -> None:
    edits: Iterable[Any] = next(iter(heron.integrate(machine))).edits
    with apply.manifest_of(home) as manifest:
        manifest.agents["heron"] = tuple(Record(edit) for edit in edits)
        manifest.save()
    with apply.manifest_of(home) as again:
        assert [one.edit for one in again.agents["heron"]] == list(edits)


def test_settings_of_the_home_decide_which_memory_the_agents_get(home: Path) -> None:
    assert "--home" not in Machine.here(home).mcp("heron")
    home = home / "elsewhere"
    assert Machine.here(Settings.load(home=home).home).mcp("heron")[-5:] == (
        "--home",
        str(home),
        "mcp",
        "--agent",
        "heron",
    )


# --- what doctor says of them ------------------------------------------------------------------------------------


def findings(run: Run) -> dict[str, list[tuple[str, str]]]:
    found: dict[str, list[tuple[str, str]]] = {}
    for one in json.loads(run("doctor", "--json").stdout):
        if one["what"].startswith("agent "):
            found.setdefault(one["what"], []).append((one["state"], f"{one['detail']} | {one['remedy']}"))
    return found


def test_agent_that_is_here_and_not_connected_is_noted(run: Run) -> None:
    ((state, words),) = findings(run)["agent heron"]
    assert (state, "memory-plane setup heron" in words) == ("note", True)
    assert "agent owl" not in findings(run)


def test_agent_that_was_never_heard_is_noted_until_it_is(run: Run, home: Path) -> None:
    run("setup", "--yes")
    ((state, words),) = findings(run)["agent heron"]
    assert (state, "no hook was heard yet" in words, "restart Heron, take a turn" in words) == ("note", True, True)
    (home / "seen").mkdir()
    (home / "seen" / "heron.hook").write_text("Stop")
    ((state, words),) = findings(run)["agent heron"]
    assert (state, "(Stop)" in words) == ("ok", True)


def test_agent_that_a_person_connects_is_no_failure_and_shown_when_it_was_heard(
    run: Run, heron: HeronPlugin, home: Path
) -> None:
    heron.elsewhere = True
    for _ in range(2):
        ((state, words),) = findings(run)["agent owl"]
        assert (state, "last heard: never" in words) == ("note", True)
        assert run("doctor").exit_code == 0
        assert "log in there" in run("setup", "owl", "--yes").output
    (home / "seen").mkdir()
    (home / "seen" / "owl.mcp").touch()
    ((state, words),) = findings(run)["agent owl"]
    assert (state, "last heard: 20" in words) == ("ok", True)


def test_what_an_agent_does_because_it_is_asked_is_not_heard_of_it(run: Run, person: Path, home: Path) -> None:
    tool = person / ".heron" / "tool.py"
    (home / "seen").mkdir()
    note = home / "seen" / "heron.hook"
    tool.write_text(f"open({str(note)!r}, 'w').write('SessionEnd')\n{TOOL}")
    assert run("setup", "--yes").exit_code == 0
    assert not note.exists()
    ((state, words),) = findings(run)["agent heron"]
    assert (state, "no hook was heard yet" in words) == ("note", True)
    note.write_text("Stop")
    at = note.stat().st_mtime_ns
    findings(run)
    assert note.stat().st_mtime_ns == at


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("settings.json", b"{}", "is gone, changed, or of an older version"),
        ("settings.json", b"{", "is no valid JSON"),
        ("skills/memory/SKILL.md", None, "is gone"),
        ("servers", b"", "heron add memory-plane: is not done, or no longer"),
    ],
)
def test_what_does_not_stand_any_more_is_wrong(
    run: Run, person: Path, name: str, content: bytes | None, words: str
) -> None:
    run("setup", "--yes")
    path = person / ".heron" / name
    path.unlink() if content is None else path.write_bytes(content)
    found = findings(run)["agent heron"]
    assert {state for state, _ in found} == {"wrong"}
    assert any(words in told for _, told in found)
    assert run("doctor").exit_code == 1


def test_agent_that_is_gone_and_one_without_a_plugin_are_wrong(run: Run, person: Path, heron: HeronPlugin) -> None:
    run("setup", "--yes")
    (person / ".heron").rename(person / ".heron-of-old")
    assert "memory-plane uninstall heron" in findings(run)["agent heron"][0][1]
    heron.quiet = True
    assert "no plugin speaks for it" in findings(run)["agent crow"][0][1]


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="root may read everything")
def test_file_that_must_be_readable_and_is_not_is_wrong(run: Run, person: Path) -> None:
    run("setup", "--yes")
    (person / ".heron" / "messages").touch(0o000)
    ((state, words),) = findings(run)["agent heron"]
    assert (state, "give it access" in words) == ("wrong", True)


@pytest.mark.parametrize(
    ("name", "before", "comment"),
    [
        ("config.toml", "a = 1\n", "# mine\n"),
        ("config.yaml", "a: 1\n", "# mine\n"),
        ("settings.json", '{\n  "a": 1\n}\n', "// mine\n"),
        ("settings.json", '// old\n{\n  "a": 1 /* old */\n}\n', "/* mine */\n"),
    ],
)
def test_comment_that_a_person_made_meanwhile_stays(tmp_path: Path, name: str, before: str, comment: str) -> None:
    path = tmp_path / name
    assert not edits.adds_nothing(path, (before + comment).encode(), before.encode())
    assert edits.adds_nothing(path, before.replace("\n", "\r\n").encode(), before.encode())
    assert edits.adds_nothing(path, before.encode(), (before + comment).encode())
