"""The hub's HTTP side: REST, events and MCP for many agents, behind one gate."""

from __future__ import annotations

import ipaddress
import json
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any
from uuid import uuid4

import anyio
from fastapi import FastAPI, Query, Request, Response
from fastapi.responses import HTMLResponse, PlainTextResponse
from mcp.server.streamable_http_manager import StreamableHTTPASGIApp, StreamableHTTPSessionManager
from pydantic import BaseModel
from starlette.datastructures import Headers, MutableHeaders
from starlette.routing import Route

from memory_plane import __version__, access, webhooks
from memory_plane.client import Inside
from memory_plane.errors import Refused
from memory_plane.surfaces.events import Feed, events
from memory_plane.surfaces.gate import AGENT_HEADER, IDENTITY, Gate, not_yours, refuse
from memory_plane.surfaces.limits import MAX_BODY, Growth, Limits, TooFast
from memory_plane.surfaces.mcp_server import AGENT_KEY, agent_id, build
from memory_plane.surfaces.mcp_tools import CORE
from memory_plane.surfaces.metrics import CONTENT_TYPE, Metrics, Timed
from memory_plane.surfaces.rest import reference, routes
from memory_plane.surfaces.rest.wire import (
    ERRORS,
    FORBIDDEN,
    TOO_DEEP,
    add_handlers,
    bearer,
    master_only,
    told,
    too_deep,
)

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

    from memory_plane.plane import Plane

__all__ = ["MAX_BODY", "create_app"]

ABOUT = """\
One memory for all of your AI agents, on your own machine. Send the hub's token, or an agent's own, as
`Authorization: Bearer …`. Errors are `{"error": "…"}` of one line; times are ISO 8601."""
_WRITING = frozenset(spec.name for spec in CORE if not spec.read_only)


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
    metrics, feed = Metrics(plane), Feed(plane)
    sessions = StreamableHTTPSessionManager(
        build(Inside(plane), None, threads=True), stateless=True, json_response=True, max_request_body_size=MAX_BODY
    )

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        plane.watchers.append(metrics.watch)
        async with sessions.run(), anyio.create_task_group() as tasks:
            tasks.start_soon(feed.run)
            yield
            tasks.cancel_scope.cancel()
        plane.watchers.remove(metrics.watch)

    mcp = _Named(StreamableHTTPASGIApp(sessions), growth)
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


class _Named:
    """Find out which agent is calling MCP, from token, path or header, and leave it in the scope."""

    path = "/mcp"

    def __init__(self, app: ASGIApp, growth: Growth) -> None:
        self._app = app
        self._growth = growth

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer for the app, or let it answer."""
        scope["route"] = self  # what FastAPI's own routes do
        identity = scope[IDENTITY]
        named = [scope["path_params"].get("agent"), *Headers(scope=scope).getlist(AGENT_HEADER)]
        message = await receive()
        try:
            names = {agent_id(name) for name in named if name is not None}
            if identity is not None and names - {identity}:
                answer: ASGIApp = refuse(403, not_yours(identity))
            elif len(names) > 1:
                answer = refuse(400, "agent: path and header name different ones")
            else:
                agent = identity or next(iter(names), None)
                call = _call(message["body"])
                if agent is not None and _writes(call):
                    self._growth.spend([(agent, len(message["body"]))])
                if isinstance(call, dict) and call.get("method") == "initialize":
                    send = partial(_with_session, send)
                answer = self._app
                scope = {**scope, AGENT_KEY: agent}
        except Refused as error:
            answer = refuse(400, str(error))
        except TooFast as error:
            answer = refuse(429, str(error), {"retry-after": str(error.seconds)})
        await answer(scope, _again(message, receive), send)


def _call(body: bytes) -> Any:
    """Read a call, None where the SDK shall say in its own words what is wrong; refuse what it cannot read unharmed."""
    try:
        call = json.loads(body)
    except ValueError:
        return None
    except RecursionError:
        raise Refused(TOO_DEEP) from None
    if too_deep(call):
        raise Refused(TOO_DEEP)
    return call


async def _with_session(send: Send, message: Message) -> None:
    """Give a client that opens a session a name for it; nothing is kept under it, so a restart ends no session."""
    if message["type"] == "http.response.start" and message["status"] == 200:
        MutableHeaders(scope=message)["mcp-session-id"] = uuid4().hex
    await send(message)


def _writes(call: Any) -> bool:
    params = call.get("params") if isinstance(call, dict) else None
    return isinstance(params, dict) and params.get("name") in _WRITING


def _again(message: Any, receive: Receive) -> Receive:
    waiting = [message]

    async def replayed() -> Any:
        return waiting.pop() if waiting else await receive()

    return replayed
