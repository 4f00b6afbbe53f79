"""How Grok Build is told of the memory, and what a person has to do for Grok Bot: it runs elsewhere."""

from __future__ import annotations

import json
from pathlib import Path

from memory_plane.integration import (
    INSTRUCTIONS,
    SERVER,
    Check,
    Copy,
    Entry,
    Integration,
    Machine,
    OwnFile,
    first_found,
    json_server,
)
from memory_plane_grok.places import BOT, BUILD, bot_app, grok_home

EVENTS = ("SessionStart", "UserPromptSubmit", "PostToolUse", "Stop", "PreCompact")
"""The hooks of Grok Build that are ours; none of them can hold up a tool or keep a turn going."""
SECONDS = 10

BOT_STEPS = (
    "memory-plane grok bot-plugin DIR writes a plugin for bots",
    "publish DIR as a repository of yours and import that under Plugins of Grok Bot, or add a custom MCP server there",
    "let a tunnel of yours lead from an https address to the hub, and have it send the hub's own address as Host, as in"
    " cloudflared tunnel --url http://127.0.0.1:8788 --http-host-header 127.0.0.1:8788",
    "the address to give is https://YOUR-TUNNEL/mcp/grokbot, and the token what memory-plane token grokbot prints",
)
"""What connects Grok Bot, in this order."""


def grok_build(machine: Machine, named: Path | None = None) -> Integration:
    """Declare what Grok Build gets: hooks and a file of rules of our own, and an entry for the server."""
    home, program = grok_home(machine, named), machine.which("grok")
    server = {**json_server(machine.mcp(BUILD)), "enabled": True}
    return Integration(
        agent=BUILD,
        name="Grok Build",
        found=first_found(program, home / "config.toml", home / "sessions"),
        edits=(
            OwnFile(path=home / "hooks" / f"{SERVER}.json", text=_hooks(machine)),
            Copy(path=home / "rules" / f"{SERVER}.md", page=f"brief/{BUILD}.md", preface=f"{INSTRUCTIONS}\n\n"),
            Entry(path=home / "config.toml", pointer=("mcp_servers", SERVER), value=server),
        ),
        checks=_checks(machine, program) if program else (),
        steps=("sessions that are open go on without the memory until they are begun anew",),
        hooks=True,
        serves=True,
    )


def grok_bot(machine: Machine) -> Integration:
    """Declare what a person does for Grok Bot, which takes nothing from this machine's files."""
    found = first_found(bot_app(machine), machine.home / ".grokbot")
    return Integration(agent=BOT, name="Grok Bot", found=found, steps=BOT_STEPS)


def _hooks(machine: Machine) -> str:
    hooks = {
        event: [{"hooks": [{"type": "command", "command": machine.hook(BUILD, event), "timeout": SECONDS}]}]
        for event in EVENTS
    }
    return json.dumps({"hooks": hooks}, ensure_ascii=False, indent=2) + "\n"


def _checks(machine: Machine, program: str) -> tuple[Check, ...]:
    again, home = f"memory-plane setup {BUILD}", machine.home
    inspect, doctor = (program, "inspect", "--json"), (program, "mcp", "doctor", SERVER, "--json")
    return (
        Check(what="hooks loaded", command=inspect, shows=f"{BUILD} Stop", remedy=again, folder=home),
        Check(what="rules loaded", command=inspect, shows=f"{SERVER}.md", remedy=again, folder=home),
        Check(what="memory reached", command=doctor, shows='"healthy": true', remedy=again, folder=home),
    )
