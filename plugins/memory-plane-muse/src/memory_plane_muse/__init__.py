"""Speak for Muse: what is said in iMessage and stands in dossiers, and what Muse Code does."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from pydantic import Field, SecretStr, field_validator

from memory_plane.plugin_settings import PluginSettings, SettingsConfigDict
from memory_plane.plugins import Plugin, hookimpl
from memory_plane.types import AgentInfo, Event, Ingested, Poll, Snapshot, View
from memory_plane_muse.agents import MUSE, MUSE_CODE

if TYPE_CHECKING:
    import click

    from memory_plane.integration import Integration, Machine
    from memory_plane_muse.bluebubbles import BlueBubbles
    from memory_plane_muse.polling import Sources

__version__ = "0.1.0"
__all__ = ["MusePlugin", "MuseSettings"]


class MuseSettings(PluginSettings):
    """Which sources are read; none is, unless it is named.

    `chat_db`: the database of Messages on this Mac. `bluebubbles`, `password`: a BlueBubbles server, asked for messages
    where there is no `chat_db`, and for names. `history_days`: how far the first look goes back. `dossiers`: a folder
    of Markdown files; `dossiers_origin`: whose words they are.
    """

    model_config = SettingsConfigDict(env_prefix="MEMORY_PLANE_MUSE_")

    chat_db: Path | None = None
    bluebubbles: str | None = None
    password: SecretStr | None = None
    history_days: int = Field(default=14, ge=0, le=3650)
    dossiers: Path | None = None
    dossiers_origin: Literal["external", "user"] = "external"

    @field_validator("chat_db", "dossiers")
    @classmethod
    def _absolute(cls, path: Path | None) -> Path | None:
        return None if path is None else path.expanduser().absolute()

    @field_validator("bluebubbles")
    @classmethod
    def _address(cls, url: str | None) -> str | None:
        if url is None:
            return None
        from memory_plane_muse.bluebubbles import is_address

        if not is_address(url):
            raise ValueError("is no address of a server; write it as 'http://127.0.0.1:1234', without the password")
        return url

    def server(self) -> BlueBubbles | None:
        """Return the BlueBubbles server, None where its address or its password is not set."""
        from memory_plane_muse.bluebubbles import BlueBubbles

        return BlueBubbles(self.bluebubbles, self.password) if self.bluebubbles and self.password else None


class MusePlugin(Plugin):
    """Notes what is promised, asked and introduced; small talk stays where it is."""

    settings_model = MuseSettings
    settings: MuseSettings
    agents = (
        AgentInfo(id=MUSE, interests=("people", "introductions", "commitments", "messages", "contacts")),
        AgentInfo(id=MUSE_CODE, interests=("coding", "software engineering", "pull requests")),
    )

    @hookimpl
    def ingest(self, cue: Poll | Event) -> Ingested | None:
        """Take in what webhooks and hooks brought, and look at the sources."""
        if isinstance(cue, Poll):
            return self._sources.poll(cue.cursor)
        if cue.agent == MUSE_CODE:
            from memory_plane_muse import muse_code

            return Ingested(operations=muse_code.operations(cue))
        return Ingested(operations=self._sources.event(cue)) if cue.agent == MUSE else None

    @hookimpl
    def render(self, snapshot: Snapshot) -> Iterable[View]:
        """Make a dossier of each person whom muse spoke of lately."""
        from memory_plane_muse.pages import pages

        yield from pages(snapshot)

    @hookimpl
    def integrate(self, machine: Machine) -> Iterator[Integration]:
        """Declare how messages and Muse Code are connected."""
        from memory_plane_muse import imessage, muse_code

        given = self.settings
        yield imessage.integration(machine, chat_db=given.chat_db, server=given.bluebubbles, dossiers=given.dossiers)
        yield muse_code.integration(machine)

    @hookimpl
    def register_commands(self) -> Iterable[click.Command]:
        """Offer the webhook's address, the state of the sources, and hooks for Muse Code."""
        from memory_plane_muse.commands import commands

        yield from commands(self.settings)

    def close(self) -> None:
        """Close the connection to the server."""
        sources = vars(self).pop("_sources", None)
        if sources is not None:
            sources.close()

    @cached_property
    def _sources(self) -> Sources:
        from memory_plane_muse.polling import Sources

        return Sources(
            chat_db=self.settings.chat_db,
            server=self.settings.server(),
            dossiers=self.settings.dossiers,
            origin=self.settings.dossiers_origin,
            days=self.settings.history_days,
        )
