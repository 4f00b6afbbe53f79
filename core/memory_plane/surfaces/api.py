"""The hub's HTTP side: REST, events and MCP for many agents, behind one gate."""

from __future__ import annotations

import ipaddress
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Annotated

import anyio
from fastapi import FastAPI, Query, Request, Response
from fastapi.responses import HTMLResponse, PlainTextResponse
from pydantic import BaseModel
from starlette.routing import Route

from memory_plane import __version__, access, webhooks
from memory_plane.surfaces.events import Feed, events
from memory_plane.surfaces.gate import Gate
from memory_plane.surfaces.limits import MAX_BODY, Growth, Limits
from memory_plane.surfaces.mcp_http import McpOverHttp
from memory_plane.surfaces.metrics import CONTENT_TYPE, Metrics, Timed
from memory_plane.surfaces.rest import reference, routes
from memory_plane.surfaces.rest.wire import (
    ERRORS,
    FORBIDDEN,
    add_handlers,
    bearer,
    master_only,
    told,
)
from memory_plane.surfaces.web import web

if TYPE_CHECKING:
    from starlette.types import Scope

    from memory_plane.plane import Plane

__all__ = ["MAX_BODY", "create_app"]

ABOUT = """\
One memory for all of your AI agents, on your own machine. Send the hub's token, or an agent's own, as
`Authorization: Bearer …`. Errors are `{"error": "…"}` of one line; times are ISO 8601."""


def create_app(
    plane: Plane, *, token: str | Callable[[], str | None], port: int, names: Iterable[str] | None = None
) -> FastAPI:
    """Return the ASGI app of a hub that listens on `port` of this machine and opens to `token`.

    A function as `token` is asked at each request, so that it can change. `names` are hosts beside those of loopback,
    by default `hub.names` of the settings. Call `app.state.end_streams()` when the hub begins to end: streams of events
    would hold it open.
    """
    master = (lambda: token) if isinstance(token, str) else token
    growth = Growth(plane.settings.hub.growth_mb_per_hour)
    metrics, feed, mcp = Metrics(plane), Feed(plane), McpOverHttp(plane, growth)
    door, pages = web(plane, feed, master)

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        plane.watchers.append(metrics.watch)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(feed.run)
            tasks.start_soon(mcp.run)
            yield
            tasks.cancel_scope.cancel()
        plane.watchers.remove(metrics.watch)

    app = FastAPI(
        title="Memory Plane",
        version=__version__,
        description=ABOUT,
        lifespan=lifespan,
        routes=[
            Route("/mcp", mcp, methods=["POST"]),
            Route("/mcp/{agent}", mcp, methods=["POST"]),
            *routes(plane, growth),
            *events(feed).routes,
            *pages,
        ],
        docs_url=None,  # FastAPI's own page loads scripts from elsewhere
        redoc_url=None,
        redirect_slashes=False,
    )
    _add_care(app, metrics, master)
    add_handlers(app)
    app.add_middleware(Limits)
    app.add_middleware(
        Gate,
        master=master,
        port=port,
        names=plane.settings.hub.names if names is None else names,
        webhook=lambda agent, secret: webhooks.opens(plane.home, agent, secret),
        door=door,
    )
    app.add_middleware(Timed, metrics=metrics)
    app.state.end_streams, app.state.open_streams = feed.end, feed.count
    return app


class Health(BaseModel):
    """That the hub lives; `proof` is there where a challenge was given under the id of a key that it knows."""

    status: str
    version: str
    proof: str | None = None


def _add_care(app: FastAPI, metrics: Metrics, master: Callable[[], str | None]) -> None:
    @app.get(
        "/health",
        response_model=Health,
        response_model_exclude_none=True,
        responses=told(e422="the challenge is too long"),
        tags=["care"],
    )
    def health(
        request: Request,
        challenge: Annotated[
            str | None, Query(min_length=1, max_length=access.LONGEST_CHALLENGE, examples=["9vGq3yYb0Cw1"])
        ] = None,
        key: Annotated[str | None, Query(max_length=512, description="the id of the key that proves it")] = None,
    ) -> Health:
        """Whether the hub lives and, to a challenge, the proof that it knows a token; needs none."""
        now = master()
        token = access.named(now, key) if challenge and key and now else None
        authority = request.headers["host"]
        proved = token and challenge and _dialled(request.scope, authority)
        return Health(
            status="ok",
            version=__version__,
            proof=access.proof(token, challenge, authority) if token and challenge and proved else None,
        )

    @app.get(
        "/metrics",
        response_class=PlainTextResponse,
        responses=ERRORS | FORBIDDEN,
        dependencies=[master_only, bearer],
        tags=["care"],
    )
    def numbers() -> Response:
        """Numbers for Prometheus."""
        return Response(metrics.text(), media_type=CONTENT_TYPE)

    @app.get("/docs", include_in_schema=False)
    def docs() -> HTMLResponse:
        return HTMLResponse(reference.page(app.openapi()), headers=reference.HEADERS)


def _dialled(scope: Scope, authority: str) -> bool:
    """Tell whether whoever dialled `authority` reached this socket and could reach no other.

    Two programs may listen on one port, one at 127.0.0.1 and one at [::1]: a stranger at the other address could have
    the challenge answered here. So a proof is given for the address that the connection came to, or for a name that the
    person has set, and never for `localhost`.
    """
    host = authority.rpartition(":")[0] if authority.rpartition(":")[2].isdecimal() else authority
    host = host.strip("[]").lower()
    try:
        asked = ipaddress.ip_address(host)
    except ValueError:
        return host != "localhost"
    server = scope.get("server")
    try:
        return server is not None and ipaddress.ip_address(server[0]) == asked
    except ValueError:
        return False
