"""Muse Code, the CLI: what its hooks tell of a turn, and how it is told of Memory Plane."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from memory_plane import capture
from memory_plane.integration import SERVER, Edit, Entry, Integration, Machine, first_found
from memory_plane.types import Event, Operation
from memory_plane_muse.agents import MUSE_CODE

EVENTS = ("SessionStart", "UserPromptSubmit", "Stop", "SessionEnd")
_PROMPT, _STOP = "UserPromptSubmit", "Stop"
_VERSION = "schema_version"
_KEYS = frozenset({"mcpServers", "mcp_servers"})


def operations(event: Event) -> tuple[Operation, ...]:
    """Return what a hook's payload becomes: the focus at a prompt, a few thoughts at the end of a turn."""
    payload = event.payload
    name = event.name if event.name in EVENTS else _text(payload, "hook_event_name", "hookEventName")
    prompt = _text(payload, "prompt") if name == _PROMPT else ""
    answer = _text(payload, "last_assistant_message", "lastAssistantMessage") if name == _STOP else ""
    if not prompt and not answer:
        return ()
    folder, turn = _text(payload, "cwd"), _text(payload, "turn_id", "turnId")
    return capture.operations(
        capture.Turn(
            agent=MUSE_CODE,
            session=_text(payload, "session_id", "sessionId"),
            id=f"{turn}:{name}" if turn else "",
            at=event.at or datetime.now(UTC),
            prompt=prompt,
            answer=answer,
            project=capture.project_of(folder) if folder else None,
            asked=event.asked,
        )
    )


def integration(machine: Machine) -> Integration:
    """Declare the MCP server in its settings; hooks are for a person to place, one project at a time."""
    folder = machine.folder("XDG_CONFIG_HOME", ".config") / "muse"
    program = machine.which("muse")
    settings = folder / "settings.json"
    edits, steps = _server(settings, machine) if program or settings.exists() else ((), ())
    return Integration(
        agent=MUSE_CODE,
        name="Muse Code",
        found=first_found(program, settings),
        edits=edits,
        steps=(*steps, *_HOOKS) if program or settings.exists() else (),
        serves=bool(edits),
    )


def hooks(machine: Machine) -> str:
    """Return the text of a project's `.muse/hooks.json` that tells Memory Plane of each turn."""
    groups = {
        name: [{"hooks": [{"type": "command", "command": machine.hook(MUSE_CODE, name), "timeout": 10}]}]
        for name in EVENTS
    }
    return json.dumps({"hooks": groups}, indent=2, ensure_ascii=False) + "\n"


_HOOKS = (
    "To have the turns of a project captured: memory-plane muse hooks > .muse/hooks.json in its folder, then trust the"
    " workspace in Muse Code",
)


def _server(settings: Path, machine: Machine) -> tuple[tuple[Edit, ...], tuple[str, ...]]:
    """Return the edits of its settings, or the step where they are not ours to mend."""
    try:
        found = json.loads(settings.read_bytes())
    except FileNotFoundError:
        found = {_VERSION: 1}
    except (OSError, ValueError, RecursionError):
        return (), (f"{settings} cannot be read as JSON; mend it, then run setup again",)
    if not isinstance(found, dict) or _VERSION not in found:
        return (), (
            f"{settings} has no {_VERSION!r}, without which Muse Code refuses to start; mend it, then run setup",
        )
    if found.keys() >= _KEYS:
        return (), (f"{settings} has both mcpServers and mcp_servers; keep one of them, then run setup again",)
    command = machine.mcp(MUSE_CODE)
    # A required server that does not start would end every session; it is so by default.
    server = {"transport": "stdio", "command": command[0], "args": list(command[1:]), "mode": "optional"}
    key = "mcpServers" if "mcpServers" in found else "mcp_servers"
    version = Entry(path=settings, pointer=(_VERSION,), value=found[_VERSION], stays=True)
    return (version, Entry(path=settings, pointer=(key, SERVER), value=server)), ()


def _text(payload: Mapping[str, Any], *names: str) -> str:
    return next((value for name in names if isinstance(value := payload.get(name), str) and value), "")
