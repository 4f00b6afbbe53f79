"""A call that may come twice, since the hub restarted while it ran: its writes happen once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast
from uuid import UUID, uuid5

from memory_plane.writes import Moment, Writes

if TYPE_CHECKING:
    from memory_plane.client import Client
    from memory_plane.plane import Plane
    from memory_plane.types import Operation, Receipt


@dataclass(frozen=True, slots=True)
class Ticket:
    """Which line of which session a request is; `again` when an earlier hub may have worked on it."""

    session: UUID
    number: int
    again: bool = False


def once(plane: Plane | Client, ticket: Ticket) -> Plane | Client:
    """Return the plane for one call: the ids of what it writes follow from the ticket, unless the caller gives them."""
    return cast("Plane", _Once(plane, ticket))


class _Once(Writes):
    def __init__(self, plane: Writes, ticket: Ticket) -> None:
        self._plane = plane
        self._ticket = ticket
        self._writes = 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self._plane, name)

    def write(
        self,
        op: str,
        body: Mapping[str, Any],
        *,
        agent: str,
        created_at: Moment | None = None,
        id: str | None = None,
    ) -> Receipt:
        """Write an operation by its name."""
        self._writes += 1
        id = id or str(uuid5(self._ticket.session, f"{self._ticket.number}.{self._writes}"))
        return self._plane.write(op, body, agent=agent, created_at=created_at, id=id)

    def get(self, id: str) -> dict[str, Any] | None:
        """Return the operation with this id."""
        return self._plane.get(id)

    def _accept(self, operation: Operation) -> Receipt:
        return self._plane._accept(operation)
