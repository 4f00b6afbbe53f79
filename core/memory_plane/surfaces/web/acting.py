"""What pages do with what a browser sends: addresses that make no sense are told, forms become writes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime
from uuid import UUID

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from memory_plane.errors import Refused
from memory_plane.surfaces.web.frame import Frame, came_from, form
from memory_plane.types import Receipt
from memory_plane.writes import moment

Given = Mapping[str, str]


def shows(frame: Frame, path: str, page: Callable[[Request], Response]) -> Route:
    """Return where a page is; what its address asks for in vain is told on a page of its own."""

    def guarded(request: Request) -> Response:
        try:
            return page(request)
        except Refused as error:
            return frame.page(request, "refused.html", status=400, reason=str(error), back=came_from(request))

    return Route(path, guarded)


def acts(frame: Frame, path: str, act: Callable[[Given], Receipt]) -> Route:
    """Return where forms go: `act` writes what one says, and the browser goes back to the page of the form."""

    async def write(request: Request) -> Response:
        given = await form(request)
        receipt = await run_in_threadpool(_tried, act, given)
        return frame.done(request, receipt, given.get("back", "/"))

    return Route(path, write, methods=["POST"])


def missing(frame: Frame, request: Request, what: str) -> Response:
    """Return the page that says that there is no such thing."""
    return frame.page(request, "missing.html", status=404, what=what)


def id_in(given: Given, name: str) -> str | None:
    """Return the id that an address gives under a name, None where it gives none; raise `Refused` for what is none."""
    return an_id(name, given[name]) if given.get(name) else None


def an_id(name: str, text: str) -> str:
    """Return an id in its one spelling; raise `Refused` for a text that is none."""
    try:
        return str(UUID(text))
    except ValueError:
        raise Refused(f"{name}: {text!r} is no id") from None


def place_in(given: Given) -> tuple[datetime, str] | None:
    """Return where a page of the stream ended, as `placed` wrote it; raise `Refused` for what is no place."""
    at, _, id = given.get("before", "").partition(" ")
    place = moment("before", at) if at else None
    return None if place is None else (place, an_id("before", id))


def placed(place: tuple[datetime, str] | None) -> str | None:
    """Write where a page of the stream ended."""
    return None if place is None else f"{place[0].isoformat()} {place[1]}"


def _tried(act: Callable[[Given], Receipt], given: Given) -> Receipt:
    try:
        return act(given)
    except Refused as error:
        return Receipt(id="", state="refused", detail=str(error))
