"""What is read before something is put right: the same methods for `Plane` and `Client`."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from memory_plane.errors import Refused
from memory_plane.operations import make_operation
from memory_plane.reports import Preview
from memory_plane.types import Node, Review

if TYPE_CHECKING:
    from memory_plane.database import Database

MOST = 1_000
"""How many pairs one read returns at most."""


class Judgements(ABC):
    """Reads what a person judges by; `merge_nodes`, `split`, `distinct` and `alias` write what comes of it."""

    @abstractmethod
    def _judge(self, name: str, arguments: Mapping[str, Any]) -> Any:
        """Return what the read of that name answers."""

    def nodes(self, name: str) -> list[Node]:
        """Return the nodes that a name, a slug (`node:person:rob-2`) or an id means."""
        return self._judge("nodes", {"name": name})  # type: ignore[no-any-return]

    def reviews(self, *, limit: int = 20) -> list[Review]:
        """Return pairs of nodes that may be one, the likeliest first; `merge_nodes` or `distinct` answers one."""
        return self._judge("reviews", {"limit": limit})  # type: ignore[no-any-return]

    def preview(self, op: str, body: Mapping[str, Any]) -> Preview:
        """Return what writing an operation would change, and change nothing; raise `Refused` for a bad body.

        `supersede`, with `target` and `text`, is shown as what goes with the old words, and the new ones.
        """
        if op == "supersede":
            shown = self.preview("retract", {"target": body.get("target")})
            return shown if shown.refusal else replace(shown, new=(*shown.new, str(body.get("text") or "")))
        return self._judge("preview", {"op": op, "body": body})  # type: ignore[no-any-return]


def read(database: Database, name: str, arguments: Mapping[str, Any]) -> Any:
    """Answer a read from a database."""
    from memory_plane.recall import graph, reviews

    now = datetime.now(UTC)
    if name == "preview":
        from memory_plane.previews import preview

        return preview(database, make_operation(**arguments, agent="preview"), now)
    with database.reading() as connection:
        if name == "nodes":
            return list(graph.nodes(connection, graph.find(connection, arguments["name"])).values())
        limit = arguments["limit"]
        if not 1 <= limit <= MOST:
            raise Refused(f"limit: {limit} is too {'small' if limit < 1 else 'large'}; give 1 to {MOST:,}")
        return list(reviews.reviews(connection, now, limit))
