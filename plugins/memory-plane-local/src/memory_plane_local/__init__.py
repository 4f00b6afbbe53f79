"""Knowledge without a model: names, claims, open items, resolution and attention by rules and tables."""

from __future__ import annotations

from collections.abc import Sequence

from pydantic import Field
from pydantic_settings import SettingsConfigDict

from memory_plane.plugins import Plugin, hookimpl
from memory_plane.settings import PluginSettings
from memory_plane.types import AgentContext, Candidate, Classification, Extraction, Memory, Node, Routing
from memory_plane_local import attention, extraction, resolve

__version__ = "0.1.0"
__all__ = ["LocalPlugin", "LocalSettings"]


class LocalSettings(PluginSettings):
    """`join_threshold`: the least probability at which a mention joins a known node."""

    model_config = SettingsConfigDict(env_prefix="MEMORY_PLANE_LOCAL_")

    join_threshold: float = Field(default=0.75, ge=0, le=1)


class LocalPlugin(Plugin):
    """The System One that is always there: deterministic, offline, below a millisecond a memory."""

    settings_model = LocalSettings
    settings: LocalSettings

    @hookimpl(trylast=True)
    def extract(self, memory: Memory, found: Extraction) -> Extraction | None:
        """Find names, claims and open items."""
        return extraction.extract(memory)

    @hookimpl(trylast=True)
    def classify(self, memory: Memory, found: Extraction, candidates: Sequence[Candidate]) -> Classification | None:
        """Join mentions to nodes (noul) and make edges of claims (choice)."""
        return resolve.classify(memory, found, candidates, self.settings.join_threshold)

    @hookimpl(trylast=True)
    def route(self, memory: Memory, nodes: Sequence[Node], agents: Sequence[AgentContext]) -> Routing | None:
        """Score every agent's attention."""
        return attention.route(memory, nodes, agents)
