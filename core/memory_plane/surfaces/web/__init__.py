"""The hub's page: HTML of the memory for a person's browser, live, and what a person does there."""

from __future__ import annotations

from collections.abc import AsyncIterator

import anyio
from starlette.requests import Request
from starlette.responses import StreamingResponse
from starlette.routing import BaseRoute, Route

from memory_plane.plane import Plane
from memory_plane.surfaces.events import Feed
from memory_plane.surfaces.gate import STILL_OPEN
from memory_plane.surfaces.web.door import Door, Master
from memory_plane.surfaces.web.frame import Frame, assets
from memory_plane.surfaces.web.pulse import pulse

__all__ = ["Door", "web"]

PAUSE = 0.25
"""Seconds between two calls to look anew: a batch of a thousand writes is one."""


def web(plane: Plane, feed: Feed, master: Master) -> tuple[Door, list[BaseRoute]]:
    """Return the door of the pages, for the gate, and the routes of all pages."""
    frame = Frame(plane.settings)
    door = Door(master, frame)
    routes = [*door.routes(), assets(), _live(feed), *pulse(plane, frame)]
    door.guards(route.path for route in routes)
    return door, [*routes, *door.links().routes]


def _live(feed: Feed) -> Route:
    async def live(request: Request) -> StreamingResponse:
        stream = await feed.open(None, request.scope[STILL_OPEN])
        return StreamingResponse(_calls(stream), media_type="text/event-stream")

    return Route("/live", live)


async def _calls(stream: AsyncIterator[str]) -> AsyncIterator[str]:
    """Turn each event, and what came with it, into a call to look anew; comments stay."""
    async for event in stream:
        if event.startswith(":"):
            yield event
        else:
            yield "data: changed\n\n"
            await anyio.sleep(PAUSE)
