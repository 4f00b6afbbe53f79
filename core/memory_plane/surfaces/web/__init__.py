"""The hub's page: HTML of the memory for a person's browser, live, and what a person does there."""

from __future__ import annotations

from itertools import chain

from starlette.requests import Request
from starlette.responses import StreamingResponse
from starlette.routing import BaseRoute, Route

from memory_plane.plane import Plane
from memory_plane.surfaces.events import Feed
from memory_plane.surfaces.gate import STILL_OPEN
from memory_plane.surfaces.web.change import change
from memory_plane.surfaces.web.doctor import Looks, doctor
from memory_plane.surfaces.web.door import Door, Master
from memory_plane.surfaces.web.facts import facts
from memory_plane.surfaces.web.frame import Frame, assets
from memory_plane.surfaces.web.graph import graph
from memory_plane.surfaces.web.memories import memories
from memory_plane.surfaces.web.nodes import nodes
from memory_plane.surfaces.web.pulse import pulse
from memory_plane.surfaces.web.review import review
from memory_plane.surfaces.web.search import search

__all__ = ["Door", "web"]


def web(plane: Plane, feed: Feed, master: Master) -> tuple[Door, list[BaseRoute]]:
    """Return the door of the pages, for the gate, and the routes of all pages."""
    frame = Frame(plane.settings)
    door = Door(master, frame)
    looks = Looks.at(plane)
    telling = (page(plane, frame, looks) for page in (pulse, doctor))
    made = (page(plane, frame) for page in (search, graph, facts, nodes, memories, review, change))
    routes = [*door.routes(), assets(), _live(feed), *chain.from_iterable((*telling, *made))]
    door.guards(route.path for route in routes)
    return door, [*routes, *door.links().routes]


def _live(feed: Feed) -> Route:
    async def live(request: Request) -> StreamingResponse:
        return StreamingResponse(feed.calls(request.scope[STILL_OPEN]), media_type="text/event-stream")

    return Route("/live", live)
