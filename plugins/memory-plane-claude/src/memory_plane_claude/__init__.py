"""Claude Code and Claude Desktop: what a turn was about, what Claude noted for itself, and how both are told of us."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from memory_plane import Plugin, PluginSettings, hookimpl
from memory_plane.plugin_settings import SettingsConfigDict
from memory_plane.types import AgentInfo, Event, Ingested, Poll

if TYPE_CHECKING:
    import click

    from memory_plane.integration import Integration, Machine

INTERESTS = ("code", "software", "release", "bug", "test", "refactoring", "architecture", "deployment", "pull request")


class ClaudeSettings(PluginSettings):
    """What people may set of Claude."""

    model_config = SettingsConfigDict(env_prefix="MEMORY_PLANE_CLAUDE_")

    config_dir: Path | None = None
    """Where Claude Code keeps its files; left out: CLAUDE_CONFIG_DIR, or ~/.claude."""
    notes: bool = True
    """Whether what Claude Code notes for itself (its auto memory) is taken in."""


class ClaudePlugin(Plugin):
    """Speaks for Claude Code and Claude Desktop."""

    settings_model = ClaudeSettings
    agents = (
        AgentInfo(id="claude-code", interests=INTERESTS),
        AgentInfo(id="claude-desktop", interests=("documents", "research", "writing", "planning", "analysis")),
    )
    settings: ClaudeSettings

    @hookimpl
    def ingest(self, cue: Poll | Event) -> Ingested | None:
        """Take in a hook's event, or the notes that have changed since the last look."""
        from memory_plane.integration import Machine
        from memory_plane_claude import events, notes, telling

        base = self.settings.config_dir or telling.config_dir(Machine.here(Path()))
        if isinstance(cue, Event):
            operations = events.operations(cue, base / "projects", now=datetime.now(UTC))
            return Ingested(operations=operations) if operations else None
        return notes.read(base / "projects", cue.cursor) if self.settings.notes else None

    @hookimpl
    def integrate(self, machine: Machine) -> Iterable[Integration]:
        """Declare hooks, MCP server and standing instructions of Claude Code, and the server of Claude Desktop."""
        from memory_plane_claude import telling

        yield telling.claude_code(machine, self.settings.config_dir)
        yield telling.claude_desktop(machine)

    @hookimpl
    def register_commands(self) -> Iterable[click.Command]:
        """Offer `memory-plane claude bundle`."""
        from memory_plane_claude import bundle

        yield bundle.command
