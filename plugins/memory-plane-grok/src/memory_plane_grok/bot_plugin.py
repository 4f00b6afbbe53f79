"""The plugin for Grok Bot: a folder to publish, with a skill and where the server is. No secret stands in it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from importlib.metadata import version
from pathlib import Path
from typing import Any

import click

from memory_plane.integration import INSTRUCTIONS, SERVER
from memory_plane_grok.telling import BOT_STEPS

_ADDRESS, _TOKEN = "MEMORY_PLANE_MCP_URL", "MEMORY_PLANE_TOKEN"
_ABOUT = "The memory that this user's AI agents share, on the user's own machine"
_SKILL = f"""\
---
name: {SERVER}
description: {_ABOUT}. Use it at the start
  of every conversation and routine, before asking the user for context, and when something is decided, finished,
  promised or handed over.
---

# Memory Plane

{INSTRUCTIONS}

Nothing you do reaches the memory by itself: what you do not post, no other agent knows. When the memory cannot be
reached, go on without it and say so once.
"""


def files() -> Mapping[str, str]:
    """Return the files of the plugin by their place; the same version gives the same text."""
    about: dict[str, Any] = {"name": SERVER, "description": _ABOUT, "version": version("memory-plane-grok")}
    about |= {"author": {"name": "Memory Plane"}, "license": "MIT", "keywords": ["memory", "mcp"], "category": "memory"}
    listed = {"name": SERVER, "source": SERVER, "description": _ABOUT}
    parts = {"skills": "./skills/", "mcpServers": "./mcp.json", "variables": _variables()}
    headers = {"Authorization": f"Bearer ${{{_TOKEN}}}"}
    server = {"type": "http", "url": f"${{{_ADDRESS}}}", "headers": headers}
    market = {"name": SERVER, "owner": about["author"], "plugins": [listed]}
    return {
        ".cursor-plugin/marketplace.json": _json(market),
        f"{SERVER}/.cursor-plugin/plugin.json": _json(about | parts),
        f"{SERVER}/mcp.json": _json({"mcpServers": {SERVER: server}}),
        f"{SERVER}/skills/{SERVER}/SKILL.md": _SKILL,
    }


def write(folder: Path) -> None:
    """Write the plugin into a folder, over an older one; nothing else in it is touched."""
    for name, text in files().items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8", newline="\n")


def _variables() -> dict[str, Any]:
    address = (
        "The https address of your tunnel to the hub, ending in /mcp/grokbot; localhost cannot be reached from there"
    )
    token = "What `memory-plane token grokbot` prints; it writes as Grok Bot and as nobody else"
    properties = {
        _ADDRESS: {"type": "string", "title": "Address of the memory", "description": address},
        _TOKEN: {"type": "string", "title": "Token", "description": token},
    }
    return {"type": "object", "properties": properties, "required": [_ADDRESS, _TOKEN]}


def _json(value: object) -> str:
    return json.dumps(value, indent=2) + "\n"


@click.command("bot-plugin")
@click.argument("folder", metavar="DIR", type=click.Path(file_okay=False, path_type=Path))
def command(folder: Path) -> None:
    """Write the plugin for Grok Bot into DIR, and say what to do with it."""
    write(folder)
    click.echo(f"wrote {folder}; next, by hand:")
    for step in BOT_STEPS[1:]:
        click.echo(f"- {step}")
