"""How OpenClaw is told of the memory: its own plugin, server and memory search by its own commands, pages, a skill."""

from __future__ import annotations

import json
import shlex
import subprocess
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path

from memory_plane.integration import (
    SERVER,
    Call,
    Check,
    Copy,
    Edit,
    Element,
    Entry,
    Integration,
    Machine,
    OwnFile,
    first_found,
    json_server,
)
from memory_plane_instinct import places
from memory_plane_instinct.agent import INSTINCT
from memory_plane_instinct.places import Places
from memory_plane_instinct.turns import EVENT

PLUGIN = ("package.json", "openclaw.plugin.json", "index.js")
PAGES = ("PULSE.md", "SHARED_MEMORY.md")

_ENTRY = f"plugins.entries.{SERVER}"
_ALLOWED = ("plugins", "entries", SERVER, "hooks", "allowConversationAccess")
_EXTRA_PATHS = "memory.search.extraPaths"


def openclaw(machine: Machine, state: Path | None = None) -> Integration:
    """Declare what OpenClaw gets; `state` is its folder, if it is known."""
    found, program = places.find(machine, state), machine.which("openclaw")
    name = program or "openclaw"
    checks = (
        Check(
            what="OpenClaw runs the hooks of its plugin",
            command=(name, "plugins", "inspect", SERVER, "--runtime", "--json"),
            shows='"name": "before_prompt_build"',
            remedy=f"memory-plane setup {INSTINCT}; then openclaw plugins enable {SERVER}",
        ),
        Check(
            what="OpenClaw reaches the memory",
            command=(name, "mcp", "doctor", SERVER, "--probe"),
            shows=f"{SERVER}: ok",
            remedy=f"memory-plane setup {INSTINCT}; then openclaw mcp doctor --probe",
        ),
    )
    return Integration(
        agent=INSTINCT,
        name="OpenClaw",
        found=first_found(program, found.state),
        edits=(*_files(machine, found), *_calls(machine, found, name, places.moved(machine, state))),
        checks=checks if program else (),
        steps=("where a Gateway does not take changes over by itself (gateway.reload.mode): openclaw gateway restart",),
        hooks=True,
        serves=True,
    )


def _files(machine: Machine, found: Places) -> Iterator[Edit]:
    """Yield the plugin, with what it needs to know; the skill; and copies, since links out of a workspace are ignored.

    The skill goes where all agents find it: in a workspace that is new it would stand for one that is set up already,
    and OpenClaw would leave out what it does at the first start.
    """
    folder = _folder(machine)
    for name in PLUGIN:
        yield OwnFile(path=folder / name, text=_data("openclaw", name))
    knows = {"home": str(machine.plane), "shim": machine.shim(INSTINCT, EVENT)}
    yield OwnFile(path=folder / f"{SERVER}.json", text=json.dumps(knows, ensure_ascii=False, indent=2) + "\n")
    join = subprocess.list2cmdline if machine.platform == "win32" else shlex.join
    skill = _data("SKILL.md").format(command=join(machine.command), agent=INSTINCT)
    yield OwnFile(path=found.state / "skills" / SERVER / "SKILL.md", text=skill)
    for page in PAGES:
        yield Copy(path=_pages(found) / page, page=page)


def _calls(machine: Machine, found: Places, program: str, environment: dict[str, str]) -> Iterator[Call]:
    """Yield the changes of its configuration; each command takes seconds, so that they are few."""
    touches, folder, pages = (found.config,), str(_folder(machine)), str(_pages(found))
    yield Call(
        what=f"openclaw plugins install --link {folder}, which may read conversations "
        "(its commands write openclaw.json anew: comments are gone until uninstall)",
        do=(
            (program, "plugins", "install", "--link", folder, "--force", "--accept-capabilities"),
            (program, "config", "set", ".".join(_ALLOWED), "true", "--strict-json"),
        ),
        undo=(
            (program, "plugins", "uninstall", SERVER, "--force"),
            (program, "config", "unset", _ENTRY),
        ),
        sets=(
            Element(path=found.config, pointer=("plugins", "load", "paths"), value=folder),
            Entry(path=found.config, pointer=_ALLOWED, value=True),
        ),
        leaves=(Entry(path=found.config, pointer=_ALLOWED[:3], value={"enabled": False}),),
        touches=touches,
        environment=environment or None,
    )
    server = json_server(machine.mcp(INSTINCT))
    yield Call(
        what=f"openclaw mcp set {SERVER}",
        do=((program, "mcp", "set", SERVER, json.dumps(server)),),
        undo=((program, "mcp", "unset", SERVER),),
        sets=(Entry(path=found.config, pointer=("mcp", "servers", SERVER), value=server),),
        touches=touches,
        environment=environment or None,
    )
    extra = (machine.python, "-m", f"{__package__}.extra_paths", program)
    yield Call(
        what=f"openclaw config set {_EXTRA_PATHS} (with {pages} added)",
        do=((*extra, "add", pages),),
        undo=((*extra, "remove", pages),),
        sets=(Element(path=found.config, pointer=tuple(_EXTRA_PATHS.split(".")), value=pages),),
        touches=touches,
        environment=environment or None,
    )


def _data(*name: str) -> str:
    return files(__package__).joinpath(*name).read_text("utf-8")


def _folder(machine: Machine) -> Path:
    """Return the folder of the plugin: with the memory, so that OpenClaw never looks for one that an update moved."""
    return machine.plane / "openclaw"


def _pages(found: Places) -> Path:
    """Return the folder of the pages in the workspace; OpenClaw's search wants the real one."""
    return found.workspaces[0].resolve() / SERVER
