"""How Claude Code and Claude Desktop are told of the memory: which files, which entries."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from memory_plane.integration import (
    INSTRUCTIONS,
    SERVER,
    Beyond,
    Block,
    Call,
    Check,
    Edit,
    Element,
    Entry,
    Integration,
    Machine,
    first_found,
    json_server,
)

CODE, DESKTOP = "claude-code", "claude-desktop"

EVENTS: dict[str, dict[str, Any]] = {
    "SessionStart": {"matcher": "startup|resume|clear|compact"},
    "UserPromptSubmit": {},
    "Stop": {},
    "PreCompact": {},
    "SessionEnd": {},
}
"""The hooks of Claude Code that are ours; a tool is never held up by one."""
SECONDS = 10
_READS: Beyond = ("mark",)
"""What either reads beyond JSON."""


def config_dir(machine: Machine) -> Path:
    """Return where Claude Code keeps settings, instructions and transcripts."""
    return machine.folder("CLAUDE_CONFIG_DIR", ".claude")


def state_file(machine: Machine) -> Path:
    """Return the file with the MCP servers of a person, which Claude Code rewrites all the time."""
    moved = machine.environment.get("CLAUDE_CONFIG_DIR", "").strip()
    return (config_dir(machine) if moved else machine.home) / ".claude.json"


def desktop_config(machine: Machine) -> Path:
    """Return the configuration file of Claude Desktop."""
    return machine.settings() / "Claude" / "claude_desktop_config.json"


def claude_code(machine: Machine, base: Path | None = None) -> Integration:
    """Declare what Claude Code gets: hooks, the server by its own command where there is one, instructions."""
    base, program = base or config_dir(machine), machine.which("claude")
    hooks = [
        Element(
            path=base / "settings.json",
            pointer=("hooks", event),
            value={**options, "hooks": [{"type": "command", "command": machine.hook(CODE, event), "timeout": SECONDS}]},
            reads=_READS,
        )
        for event, options in EVENTS.items()
    ]
    server = _by_command(machine, program) if program else _by_entry(machine)
    checks = (
        Check(
            what="Claude Code reaches the memory",
            command=(program or "claude", "mcp", "get", SERVER),
            shows="Connected",
            remedy=f"memory-plane setup {CODE}; then restart the sessions that are open",
        ),
    )
    return Integration(
        agent=CODE,
        name="Claude Code",
        found=first_found(program, base, state_file(machine)),
        edits=(*hooks, server, Block(path=base / "CLAUDE.md", text=INSTRUCTIONS)),
        checks=checks if program else (),
        steps=("sessions that are open go on without the memory until they are restarted",),
        hooks=True,
        serves=True,
    )


def claude_desktop(machine: Machine) -> Integration:
    """Declare what Claude Desktop gets: a stdio server, which is all it takes from a file."""
    config = desktop_config(machine)
    return Integration(
        agent=DESKTOP,
        name="Claude Desktop",
        found=first_found(config.parent),
        edits=(
            Entry(path=config, pointer=("mcpServers", SERVER), value=json_server(machine.mcp(DESKTOP)), reads=_READS),
        ),
        steps=("quit Claude Desktop and open it again: it reads its servers at the start",),
        serves=True,
    )


def _by_command(machine: Machine, program: str) -> Edit:
    command = machine.mcp(CODE)
    return Call(
        what=f"claude mcp add --scope user {SERVER}",
        do=((program, "mcp", "add", "--scope", "user", SERVER, "--", *command),),
        undo=((program, "mcp", "remove", "--scope", "user", SERVER),),
        sets=(
            Entry(path=state_file(machine), pointer=("mcpServers", SERVER), value=json_server(command), reads=_READS),
        ),
        touches=(state_file(machine),),
    )


def _by_entry(machine: Machine) -> Edit:
    value = {"type": "stdio", **json_server(machine.mcp(CODE)), "env": {}}
    return Entry(path=state_file(machine), pointer=("mcpServers", SERVER), value=value, reads=_READS)
