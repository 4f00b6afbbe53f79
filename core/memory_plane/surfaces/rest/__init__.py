"""The REST surface: every operation, every read, the feed of changes, webhooks; `/openapi.json` describes it."""

from __future__ import annotations

from starlette.routing import BaseRoute

from memory_plane.plane import Plane
from memory_plane.surfaces.limits import Growth
from memory_plane.surfaces.rest.graphs import graphs
from memory_plane.surfaces.rest.reads import reads
from memory_plane.surfaces.rest.webhooks import webhooks
from memory_plane.surfaces.rest.writes import writes

__all__ = ["routes"]


def routes(plane: Plane, growth: Growth) -> list[BaseRoute]:
    """Return the endpoints below `/api`, and that of webhooks."""
    read = (*reads(plane).routes, *graphs(plane).routes)
    return [*read, *writes(plane, growth).routes, *webhooks(plane, growth).routes]
