"""The hub's HTTP side: MCP for many agents on loopback, behind a token and checks on where a request comes from."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

import anyio
import anyio.to_thread
from mcp.server.streamable_http_manager import StreamableHTTPASGIApp, StreamableHTTPSessionManager
from mcp.server.transport_security import RequestBodyLimitMiddleware
from starlette.applications import Starlette
from starlette.datastructures import Headers
from starlette.responses import JSONResponse
from starlette.routing import Route

from memory_plane import __version__
from memory_plane.errors import MemoryPlaneError, Refused
from memory_plane.surfaces.gate import Gate, refuse
from memory_plane.surfaces.mcp_server import AGENT_KEY, agent_id, build

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.types import ASGIApp, Receive, Scope, Send

    from memory_plane.plane import Plane

logger = logging.getLogger(__name__)

MAX_BODY = 1_500_000
INGEST_EVERY = 30.0
"""Seconds between two looks at what waits."""
AGENT_HEADER = "x-memory-plane-agent"


def create_app(plane: Plane, *, token: str, port: int) -> ASGIApp:
    """Return the ASGI app of a hub that listens on `port` of this machine and opens to `token`."""
    sessions = StreamableHTTPSessionManager(
        build(plane, None, threads=True), stateless=True, json_response=True, max_request_body_size=MAX_BODY
    )
    mcp = _Named(StreamableHTTPASGIApp(sessions))

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        async with sessions.run(), anyio.create_task_group() as tasks:
            tasks.start_soon(_ingest, plane)
            yield
            tasks.cancel_scope.cancel()

    routes = [
        Route("/health", _health, methods=["GET"]),
        Route("/mcp", mcp, methods=["POST"]),
        Route("/mcp/{agent}", mcp, methods=["POST"]),
    ]
    app = RequestBodyLimitMiddleware(Starlette(routes=routes, lifespan=lifespan), MAX_BODY)
    return Gate(app, token=token, port=port)


class _Named:
    """Find out which agent is calling, from the path or the header, and leave it in the scope."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        named = [scope["path_params"].get("agent"), *Headers(scope=scope).getlist(AGENT_HEADER)]
        try:
            names = {agent_id(name) for name in named if name is not None}
        except Refused as error:
            await refuse(400, str(error))(scope, receive, send)
            return
        if len(names) > 1:
            await refuse(400, "agent: path and header name different ones")(scope, receive, send)
        else:
            await self._app({**scope, AGENT_KEY: next(iter(names), None)}, receive, send)


async def _ingest(plane: Plane) -> None:
    """Take in what waits in the spool, in the agents' own files and in the queue, every 30 seconds."""
    while True:
        await anyio.sleep(INGEST_EVERY)
        try:
            await anyio.to_thread.run_sync(plane.ingest)
        except MemoryPlaneError as error:
            logger.warning("nothing was taken in: %s", error)


async def _health(request: Request) -> JSONResponse:
    return JSONResponse({"status": "ok", "version": __version__})
