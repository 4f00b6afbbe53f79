"""Grok Build and Grok Bot: what a turn was about, what Grok noted for itself, and how both are told of us."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import Field

from memory_plane import Plugin, PluginSettings, SettingsConfigDict, hookimpl
from memory_plane.types import AgentInfo, Event, Ingested, Poll
from memory_plane_grok.places import BOT, BUILD, bot_data, grok_home

if TYPE_CHECKING:
    import click

    from memory_plane.integration import Integration, Machine

__version__ = "0.1.0"
__all__ = ["GrokPlugin", "GrokSettings"]

BUILD_INTERESTS = ("code", "software", "bug", "test", "release", "shipping", "production", "deployment", "architecture")
BOT_INTERESTS = ("research", "news", "monitoring", "routine", "browser", "social media", "post", "inbox")


class GrokSettings(PluginSettings):
    """What people may set of Grok."""

    model_config = SettingsConfigDict(env_prefix="MEMORY_PLANE_GROK_")

    home: Path | None = None
    """Where Grok Build keeps its files; left out: GROK_HOME, or ~/.grok."""
    notes: bool = True
    """Whether what Grok Build notes for itself (its memory) is taken in."""
    recent_hours: float = Field(default=24, ge=0, le=1_000_000)
    """How far back the first look at sessions and chats goes."""
    bot_mirror: bool = False
    """Whether the chats with Grok Bot that its app keeps on this machine are read."""


class GrokPlugin(Plugin):
    """Speaks for Grok Build and Grok Bot."""

    settings_model = GrokSettings
    settings: GrokSettings
    agents = (
        AgentInfo(id=BUILD, interests=BUILD_INTERESTS),
        AgentInfo(id=BOT, interests=BOT_INTERESTS),
    )

    @hookimpl
    def ingest(self, cue: Poll | Event) -> Ingested | None:
        """Take in a hook's event, or the sessions, chats and notes that have changed since the last look."""
        from memory_plane.integration import Machine
        from memory_plane_grok import events, mirror, polling, sessions

        machine, now = Machine.here(Path()), datetime.now(UTC)
        home = grok_home(machine, self.settings.home)
        if isinstance(cue, Event):
            operations = events.operations(cue, sessions.folder(home), now=now)
            return Ingested(operations=operations) if operations else None
        sources = [sessions.conversations(home)]
        if self.settings.bot_mirror:
            sources.append(mirror.conversations(bot_data(machine)))
        recent = timedelta(hours=self.settings.recent_hours)
        return polling.poll(sources, home if self.settings.notes else None, cue.cursor, now, recent)

    @hookimpl
    def integrate(self, machine: Machine) -> Iterable[Integration]:
        """Declare hooks, rules and MCP server of Grok Build, and say what to do by hand for Grok Bot."""
        from memory_plane_grok import telling

        yield telling.grok_build(machine, self.settings.home)
        yield telling.grok_bot(machine)

    @hookimpl
    def register_commands(self) -> Iterable[click.Command]:
        """Offer `memory-plane grok bot-plugin`."""
        from memory_plane_grok import bot_plugin

        yield bot_plugin.command
