"""The bundle for Claude Desktop (`.mcpb`, manifest 0.2): one file to open, for a person who edits no configuration."""

from __future__ import annotations

import json
import zipfile
from importlib.metadata import version
from pathlib import Path

import click

from memory_plane.integration import SERVER, Machine
from memory_plane_claude.telling import DESKTOP

_START = '''"""Start the memory's server, for a Claude Desktop that runs this file itself."""

import os
import sys

command = {command!r}
os.execv(command[0], [*command, *sys.argv[1:]])
'''


def manifest(machine: Machine) -> dict[str, object]:
    """Return the manifest: the server is started by absolute paths, since an app has no PATH of a shell."""
    command, *arguments = machine.mcp(DESKTOP)
    return {
        "manifest_version": "0.2",
        "name": SERVER,
        "display_name": "Memory Plane",
        "version": version("memory-plane-claude"),
        "description": "The memory that your AI agents share, on this machine",
        "author": {"name": "Memory Plane"},
        "license": "MIT",
        "server": {
            "type": "python",
            "entry_point": "server/main.py",
            "mcp_config": {"command": command, "args": arguments, "env": {}},
        },
        "compatibility": {"platforms": [machine.platform]},
    }


def write(path: Path, machine: Machine) -> None:
    """Write the bundle for this machine; the same machine gives the same bytes."""
    start = _START.format(command=list(machine.mcp(DESKTOP)))
    parts = {"manifest.json": json.dumps(manifest(machine), indent=2) + "\n", "server/main.py": start}
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in parts.items():
            archive.writestr(zipfile.ZipInfo(name, (2026, 1, 1, 0, 0, 0)), text)


@click.command("bundle")
@click.argument("path", type=click.Path(dir_okay=False, path_type=Path), default="memory-plane.mcpb")
@click.pass_context
def command(ctx: click.Context, path: Path) -> None:
    """Write a bundle for Claude Desktop on this machine: open it, or drop it on Settings, Extensions."""
    write(path, Machine.here(ctx.obj.settings.home))
    click.echo(f"wrote {path}; open it with Claude Desktop")
