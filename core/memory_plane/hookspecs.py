"""The whole plugin contract. `None` always means "not my business"; docs/hooks.md has an example of each."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import pluggy

if TYPE_CHECKING:
    import click

    from memory_plane.integration import Integration, Machine
    from memory_plane.plane import Plane
    from memory_plane.types import (
        AgentContext,
        Candidate,
        Classification,
        Event,
        Expansion,
        Extraction,
        Ingested,
        Memory,
        Node,
        Poll,
        Routing,
        Snapshot,
        Tool,
        Vectors,
        View,
    )

hookspec = pluggy.HookspecMarker("memory_plane")


class Hooks:
    """Pipeline hooks are pure: data in, one frozen dataclass out, no database and no `Plane`."""

    @hookspec
    def ingest(self, cue: Poll | Event) -> Ingested | None:
        """Turn what an agent's own files, hooks or webhooks hold into operations."""

    @hookspec
    def extract(self, memory: Memory, found: Extraction) -> Extraction | None:
        """Find mentions, claims and open items in one memory; `found`: names of the graph in it, what others found."""

    @hookspec(firstresult=True)
    def classify(self, memory: Memory, found: Extraction, candidates: Sequence[Candidate]) -> Classification | None:
        """Decide which node each mention is (noul) and which edge each claim makes (choice)."""

    @hookspec(firstresult=True)
    def route(self, memory: Memory, nodes: Sequence[Node], agents: Sequence[AgentContext]) -> Routing | None:
        """Score how much each agent should care about the memory (score)."""

    @hookspec
    def render(self, snapshot: Snapshot) -> Iterable[View]:
        """Make the plugin's own pages; paths lie below the home."""

    @hookspec(firstresult=True)
    def embed(self, texts: Sequence[str]) -> Vectors | None:
        """Turn texts into vectors of one model."""

    @hookspec(firstresult=True)
    def expand(self, words: Sequence[str]) -> Expansion | None:
        """Say which other words mean nearly what the words of a question do."""

    @hookspec
    def integrate(self, machine: Machine) -> Iterable[Integration]:
        """Declare how the plugin's agents are told of Memory Plane; nothing is changed by saying it."""

    @hookspec
    def register_tools(self, plane: Plane) -> Iterable[Tool]:
        """Offer MCP tools; the core prefixes their names with the plugin's."""

    @hookspec
    def register_commands(self) -> Iterable[click.Command]:
        """Offer commands below `memory-plane <plugin>`; they reach the plane through the click context."""
