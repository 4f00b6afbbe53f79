"""The door of the hub's page: a link that works once, the cookie that it brings, and what else a browser must show."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterable
from functools import partial
from threading import Lock
from time import monotonic, time
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from fastapi import APIRouter
from pydantic import BaseModel
from starlette.datastructures import Headers
from starlette.requests import HTTPConnection, Request
from starlette.responses import Response
from starlette.routing import Route

from memory_plane.access import session, session_lasts
from memory_plane.surfaces.gate import IDENTITY, STILL_OPEN, refuse
from memory_plane.surfaces.rest.wire import ERRORS, FORBIDDEN, bearer, known_parameters, master_only, told
from memory_plane.surfaces.web.failing import in_words
from memory_plane.surfaces.web.frame import Frame, cookie

if TYPE_CHECKING:
    from starlette.types import Receive, Scope, Send

LINK_SECONDS = 120
"""How long a link waits to be opened."""
DAYS = 90
"""How long a browser stays signed in; a new token of the hub ends it at once."""
MOST_LINKS = 100

Master = Callable[[], str | None]


class Link(BaseModel):
    """A path of the hub that signs a browser in, once and soon."""

    path: str
    seconds: int


class Door:
    """Lets browsers in: keeps the links that nobody has opened yet, in this process alone."""

    def __init__(self, master: Master, frame: Frame) -> None:
        self._master = master
        self._frame = frame
        self._links: dict[str, float] = {}
        self._lock = Lock()
        self._first = {"sign-in", "assets"}

    def guards(self, paths: Iterable[str]) -> None:
        """Name the paths of the pages: a browser comes in there, and nowhere else."""
        self._first |= {_first(path) for path in paths}

    def covers(self, path: str) -> bool:
        """Tell whether a path is that of a page."""
        return _first(path) in self._first

    def refusal(self, scope: Scope, headers: Headers) -> Response | None:
        """Return why a request for a page is turned away; where it is not, say in the scope who asks."""
        if scope["method"] not in ("GET", "HEAD") and not _from_here(scope, headers):
            return refuse(403, "only the hub's own page may send this")
        if _first(scope["path"]) in ("sign-in", "assets"):
            return None
        asked = HTTPConnection(scope)
        still_open = partial(self._lasts, asked.cookies.get(cookie(asked), ""))
        if not still_open():
            return self._frame.page(Request(scope), "closed.html", status=401)
        scope[IDENTITY], scope[STILL_OPEN] = None, still_open
        return None

    def in_words(self, scope: Scope, receive: Receive, send: Send) -> Send:
        """Return where to send an answer, so that a person is told in words what went wrong."""
        return in_words(scope, receive, send, self._frame)

    def routes(self) -> list[Route]:
        """Return where a link is opened."""
        return [Route("/sign-in", self._enter), Route("/sign-out", self._leave, methods=["POST"])]

    def links(self) -> APIRouter:
        """Return where a link is made, for whoever has the token of the hub."""
        needs = [known_parameters, master_only, bearer]
        responses = ERRORS | FORBIDDEN | told(e413="a body is too large", e415="what was sent is not application/json")
        router = APIRouter(prefix="/api", tags=["care"], responses=responses, dependencies=needs)

        @router.post("/sign-in")
        def link() -> Link:
            """Make a link that signs one browser in."""
            return Link(path=f"/sign-in?code={self._made()}", seconds=LINK_SECONDS)

        return router

    def _made(self) -> str:
        code, now = secrets.token_urlsafe(24), monotonic()
        with self._lock:
            waiting = [(one, until) for one, until in self._links.items() if until > now]
            self._links = dict(waiting[1 - MOST_LINKS :]) | {code: now + LINK_SECONDS}
        return code

    def _enter(self, request: Request) -> Response:
        code, master = request.query_params.get("code", ""), self._master()
        with self._lock:
            # A program that only looks whether a link is there does not use it up.
            until = self._links.pop(code, 0.0) if request.method == "GET" else 0.0
        if master is None or until < monotonic():
            # Who opens a link again that let this very browser in is told no untruth.
            known = self._lasts(request.cookies.get(cookie(request), ""))
            template, status = ("welcome.html", 200) if known else ("closed.html", 401)
            return self._frame.page(request, template, status=status)
        # A page of its own and no redirection: a strict cookie is not sent where the way began at another site.
        response = self._frame.page(request, "welcome.html")
        response.set_cookie(
            cookie(request),
            session(master, int(time()) + DAYS * 86_400),
            max_age=DAYS * 86_400,
            httponly=True,
            samesite="strict",
            secure=request.url.scheme == "https",
        )
        return response

    def _leave(self, request: Request) -> Response:
        response = self._frame.page(request, "closed.html")
        response.delete_cookie(cookie(request))
        return response

    def _lasts(self, shown: str) -> bool:
        master = self._master()
        return master is not None and session_lasts(master, shown, time())


def _first(path: str) -> str:
    return path.split("/", 2)[1] if path.startswith("/") else path


def _from_here(scope: Scope, headers: Headers) -> bool:
    """Tell whether a page of this very host and port sent the request; a cookie alone is sent for all of its ports."""
    if headers.get("sec-fetch-site", "same-origin") != "same-origin":
        return False
    origins = headers.getlist("origin")
    if len(origins) != 1:
        return False
    origin = urlsplit(origins[0])
    return (origin.scheme, origin.netloc.lower()) == (scope["scheme"], headers["host"].lower())
