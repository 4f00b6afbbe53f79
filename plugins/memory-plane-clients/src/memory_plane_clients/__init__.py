"""The agents that take a server and hooks by configuration, all of them by one table of formats."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from memory_plane import Plugin, hookimpl
from memory_plane.types import AgentInfo, Event, Ingested, Poll
from memory_plane_clients import table

if TYPE_CHECKING:
    from memory_plane.integration import Integration, Machine


class ClientsPlugin(Plugin):
    """Speaks for each agent of `agents.toml`."""

    agents = tuple(AgentInfo(id=agent, interests=tuple(row["interests"])) for agent, row in table.rows().items())

    @hookimpl
    def ingest(self, cue: Poll | Event) -> Ingested | None:
        """Take in what a hook delivered; there is nothing to look for in between."""
        from memory_plane_clients import events

        found = events.operations(cue, now=datetime.now(UTC)) if isinstance(cue, Event) else ()
        return Ingested(operations=found) if found else None

    @hookimpl
    def integrate(self, machine: Machine) -> Iterable[Integration]:
        """Declare how each agent is told of the memory."""
        from memory_plane_clients import telling

        return [telling.integration(agent, row, machine) for agent, row in table.rows().items()]
