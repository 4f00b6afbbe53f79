"""Knowledge without a model: names, claims, open items, resolution and attention by rules and tables."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, tzinfo
from typing import Literal
from zoneinfo import ZoneInfo

from pydantic import Field

from memory_plane.plugin_settings import PluginSettings, SettingsConfigDict, Zone
from memory_plane.plugins import Plugin, hookimpl
from memory_plane.types import (
    AgentContext,
    Candidate,
    Classification,
    Expansion,
    Extraction,
    Memory,
    Node,
    Routing,
    Vectors,
)

__version__ = "0.1.0"
__all__ = ["LocalPlugin", "LocalSettings"]


class LocalSettings(PluginSettings):
    """`embedding`: what vectors are made of: a table of meanings, hashed letters and words, or nothing.

    `join_threshold`: the least probability at which a mention joins a known node.
    `timezone`: where "tomorrow" begins; by default that of the core's settings, or where the machine is.
    """

    model_config = SettingsConfigDict(env_prefix="MEMORY_PLANE_LOCAL_")

    embedding: Literal["meanings", "letters", "none"] = "meanings"
    join_threshold: float = Field(default=0.75, ge=0, le=1)
    timezone: Zone | None = None

    @property
    def zone(self) -> tzinfo:
        """The zone of the writer."""
        return ZoneInfo(self.timezone) if self.timezone else _machine_zone()


class LocalPlugin(Plugin):
    """The System One that is always there: deterministic, offline, below a millisecond a memory."""

    settings_model = LocalSettings
    settings: LocalSettings

    @hookimpl(trylast=True)
    def extract(self, memory: Memory, found: Extraction) -> Extraction | None:
        """Find names, claims and open items."""
        from memory_plane_local import extraction

        known = {mention.text.lower(): mention.type for mention in found.mentions}
        return extraction.extract(memory, known, self.settings.zone)

    @hookimpl(trylast=True)
    def classify(self, memory: Memory, found: Extraction, candidates: Sequence[Candidate]) -> Classification | None:
        """Join mentions to nodes (noul) and make edges of claims (choice)."""
        from memory_plane_local import resolve

        return resolve.classify(memory, found, candidates, self.settings.join_threshold)

    @hookimpl(trylast=True)
    def route(self, memory: Memory, nodes: Sequence[Node], agents: Sequence[AgentContext]) -> Routing | None:
        """Score every agent's attention."""
        from memory_plane_local import attention, likeness

        if self.settings.embedding == "meanings":
            return attention.route(memory, nodes, agents, likeness.meaning)
        return attention.route(memory, nodes, agents)

    @hookimpl(trylast=True)
    def embed(self, texts: Sequence[str]) -> Vectors | None:
        """Say what texts mean; the table is read when the first one is."""
        match self.settings.embedding:
            case "meanings":
                from memory_plane_local import embedding

                return embedding.embed(texts)
            case "letters":
                from memory_plane_local import hashing

                return hashing.embed(texts)
        return None

    @hookimpl(trylast=True)
    def expand(self, words: Sequence[str]) -> Expansion | None:
        """Say which words mean nearly the same, as the table of meanings has it."""
        if self.settings.embedding != "meanings":
            return None
        from memory_plane_local import thesaurus

        return thesaurus.expand(words)


def _machine_zone() -> tzinfo:
    zone = datetime.now().astimezone().tzinfo
    assert zone is not None
    return zone
