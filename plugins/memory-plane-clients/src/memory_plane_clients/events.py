"""What the hooks of the agents of the table deliver, turned into operations."""

from __future__ import annotations

from datetime import datetime

from memory_plane.capture import Turn, project_of
from memory_plane.capture import operations as captured
from memory_plane.importers.times import moment
from memory_plane.types import Event, Operation
from memory_plane_clients import table


def operations(event: Event, *, now: datetime) -> tuple[Operation, ...]:
    """Return what an event says: nothing where the table has no turn for it."""
    row = table.rows().get(event.agent, {})
    wanted = row.get("turns", {}).get(event.name)
    if wanted is None:
        return ()
    said = table.fields(row, event.payload, wanted)
    if said.get("parent"):  # what one agent has another do is told by the one that asked
        return ()
    return captured(
        Turn(
            agent=event.agent,
            session=said.get("session", ""),
            id=said.get("turn", ""),
            at=event.at or moment(said.get("at", "")) or now,
            prompt=said.get("prompt", ""),
            answer=table.spoken(row, said.get("answer", "")),
            project=project_of(said.get("folder", "")),
            asked=event.asked,
        )
    )
