"""How Antigravity is told of Memory Plane: one MCP entry, one group of hooks, one block; all apps share the files."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from memory_plane.integration import (
    INSTRUCTIONS,
    SERVER,
    Access,
    Block,
    Check,
    Entry,
    Integration,
    Machine,
    first_found,
    json_server,
)
from memory_plane_antigravity import places
from memory_plane_antigravity.places import AGENT
from memory_plane_antigravity.values import parsed

_TIMEOUTS = {"PreInvocation": 5, "Stop": 10}
"""The events that we hear, with whole seconds: the file takes no others. PreToolUse is a gate that we leave alone."""


def integration(machine: Machine) -> Integration:
    """Declare what connects Antigravity on a machine."""
    folder, program = places.shared(machine.home), machine.which("agy")
    servers, hooks = folder / "mcp_config.json", folder / "hooks.json"
    return Integration(
        agent=AGENT,
        name="Antigravity",
        found=first_found(program, *places.apps(machine.home)),
        edits=(
            Entry(path=servers, pointer=("mcpServers", SERVER), value=json_server(machine.mcp(AGENT))),
            Entry(path=hooks, pointer=(SERVER,), value=_hooks(machine)),
            Block(path=machine.home / ".gemini" / "GEMINI.md", text=INSTRUCTIONS),
        ),
        checks=(*_loaded(machine, program, hooks), *_readable(machine.home)),
        steps=(*_legacy(machine.home, servers), *_foreign(hooks), "restart Antigravity if it is running"),
        hooks=True,
        serves=True,
    )


def _hooks(machine: Machine) -> dict[str, Any]:
    """Return our group. One key more than these, anywhere in the file, and Antigravity drops all of it."""
    handlers = {
        event: [{"type": "command", "command": machine.hook(AGENT, event), "timeout": seconds}]
        for event, seconds in _TIMEOUTS.items()
    }
    return {"enabled": True, **handlers}


def _loaded(machine: Machine, program: str | None, hooks: Path) -> Iterator[Check]:
    if program:
        yield Check(
            what="hooks loaded",
            command=(program, "-p", "/hooks", "--output-format", "json"),
            shows=f'"{SERVER}"',
            remedy=f"look for a mistake in {hooks}: one anywhere makes Antigravity drop the whole file",
            folder=machine.home,
        )


def _readable(home: Path) -> Iterator[Access]:
    for app in places.apps(home):
        for path in (app / "conversation_summaries.db", app / "brain"):
            if path.exists():
                yield Access(what=f"conversations of {app.name}", path=path, remedy=f"make {path} readable for you")


def _legacy(home: Path, servers: Path) -> Iterator[str]:
    """Tell of servers in the file that versions before the shared folder read."""
    path = home / ".gemini" / "antigravity" / "mcp_config.json"
    old, new = _table(path).get("mcpServers"), _table(servers).get("mcpServers")
    for name in old if isinstance(old, Mapping) else ():
        if name == SERVER:
            yield f"remove {name!r} from {path}: older versions of Antigravity read it there, and would start it twice"
        elif not isinstance(new, Mapping) or name not in new:
            yield f"Antigravity no longer reads {path}: copy its server {name!r} to {servers} if you still want it"


def _foreign(hooks: Path) -> Iterator[str]:
    """Tell of what makes Antigravity drop the file of hooks, ours among them."""
    try:
        text = hooks.read_text("utf-8")
    except (OSError, ValueError):
        return
    table = parsed(text)
    if text.strip() and not isinstance(table, dict):
        yield f"correct {hooks}: it is not strict JSON, and Antigravity drops the whole file"
    for name, group in table.items() if isinstance(table, dict) else ():
        if name == "hooks" or not isinstance(group, Mapping):
            yield f"take {name!r} out of {hooks}: it is no group of hooks, and Antigravity drops the whole file for it"


def _table(path: Path) -> dict[str, Any]:
    try:
        value = parsed(path.read_text("utf-8"))
    except (OSError, ValueError):
        return {}
    return value if isinstance(value, dict) else {}
