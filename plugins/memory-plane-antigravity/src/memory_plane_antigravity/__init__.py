"""Google Antigravity: what its hooks tell of a turn, and what its own files tell of every other one."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import Field

from memory_plane import Plugin, PluginSettings, SettingsConfigDict, hookimpl
from memory_plane.types import AgentInfo, Event, Ingested, Poll
from memory_plane_antigravity.places import AGENT

if TYPE_CHECKING:
    from memory_plane.integration import Integration, Machine

__version__ = "0.1.0"
__all__ = ["AntigravityPlugin", "AntigravitySettings"]


class AntigravitySettings(PluginSettings):
    """`recent_hours`: how far back the first look at its files goes; what is older is left to importers."""

    model_config = SettingsConfigDict(env_prefix="MEMORY_PLANE_ANTIGRAVITY_")

    recent_hours: float = Field(default=24, ge=0, le=1_000_000)


class AntigravityPlugin(Plugin):
    """Speaks for the desktop app, the IDE and `agy`, which share one configuration and are one agent."""

    settings_model = AntigravitySettings
    settings: AntigravitySettings
    agents = (AgentInfo(id=AGENT, interests=("coding", "frontend", "web apps", "refactoring", "tests", "deployment")),)

    @hookimpl
    def ingest(self, cue: Poll | Event) -> Ingested | None:
        """Read the turn that a hook tells of, or whatever moved since the last poll."""
        from memory_plane_antigravity import hooks, polling

        home, now = Path.home(), datetime.now(UTC)
        if isinstance(cue, Event):
            return hooks.take(home, cue, now)
        return polling.poll(home, cue.cursor, now, timedelta(hours=self.settings.recent_hours))

    @hookimpl
    def integrate(self, machine: Machine) -> Iterable[Integration]:
        """Declare the MCP entry, the hooks and the block in `GEMINI.md`."""
        from memory_plane_antigravity import setup

        yield setup.integration(machine)
