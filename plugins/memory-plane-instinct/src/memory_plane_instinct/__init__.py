"""OpenClaw, the agent `instinct`: what its turns come to, what it notes for itself, and how it is told of us."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import Field

from memory_plane import Plugin, PluginSettings, hookimpl
from memory_plane.plugin_settings import SettingsConfigDict
from memory_plane.types import AgentInfo, Event, Ingested, Poll
from memory_plane_instinct.agent import INSTINCT, Mode

if TYPE_CHECKING:
    from memory_plane.integration import Integration, Machine

INTERESTS = (
    "message",
    "email",
    "calendar",
    "appointment",
    "reminder",
    "errand",
    "travel",
    "shopping",
    "family",
    "home",
)


class InstinctSettings(PluginSettings):
    """What people may set of OpenClaw."""

    model_config = SettingsConfigDict(env_prefix="MEMORY_PLANE_INSTINCT_")

    auto_ingest: Mode = "distilled"
    """What a turn becomes: nothing, a few thoughts, or also each message of it."""
    min_chars: int = Field(default=20, ge=1)
    """How long a message is at least, where all are taken in."""
    notes: bool = True
    """Whether MEMORY.md and memory/*.md of its workspaces are taken in."""
    state_dir: Path | None = None
    """Where OpenClaw keeps its state; left out: as OpenClaw finds it itself."""


class InstinctPlugin(Plugin):
    """Speaks for OpenClaw."""

    settings_model = InstinctSettings
    agents = (AgentInfo(id=INSTINCT, interests=INTERESTS),)
    settings: InstinctSettings

    @hookimpl
    def ingest(self, cue: Poll | Event) -> Ingested | None:
        """Take in a turn, or the notes that have changed since the last look."""
        if isinstance(cue, Event):
            from memory_plane_instinct import turns

            found = turns.operations(cue, self.settings.auto_ingest, self.settings.min_chars, datetime.now(UTC))
            return Ingested(operations=found) if found else None
        return self._notes(cue.cursor) if self.settings.notes else None

    @hookimpl
    def integrate(self, machine: Machine) -> Iterable[Integration]:
        """Declare plugin, server, memory search, pages and skill."""
        from memory_plane_instinct import telling

        yield telling.openclaw(machine, self._state_dir)

    @property
    def _state_dir(self) -> Path | None:
        return self.settings.state_dir.expanduser() if self.settings.state_dir else None

    def _notes(self, cursor: str | None) -> Ingested | None:
        from memory_plane import notes
        from memory_plane.integration import Machine
        from memory_plane_instinct import places

        spaces = places.find(Machine.here(Path()), self._state_dir).workspaces
        paths = [path for space in spaces for path in notes.files(space, "MEMORY.md", "memory/*.md")]
        return notes.read(INSTINCT, paths, cursor, scope=lambda _: "", project=lambda _: None)
