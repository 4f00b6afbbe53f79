"""MCP over HTTP for many agents."""

from __future__ import annotations

import json
from functools import partial
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import anyio
import anyio.to_thread
from starlette.datastructures import Headers, MutableHeaders

from memory_plane.client import Inside
from memory_plane.errors import Refused
from memory_plane.surfaces import sdk
from memory_plane.surfaces.callers import AGENT_KEY, agent_id
from memory_plane.surfaces.gate import AGENT_HEADER, IDENTITY, not_yours, refuse
from memory_plane.surfaces.limits import MAX_BODY, Growth, TooFast
from memory_plane.surfaces.mcp_tools import CORE
from memory_plane.surfaces.rest.wire import TOO_DEEP, too_deep

if TYPE_CHECKING:
    from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

    from memory_plane.plane import Plane

_WRITING = frozenset(spec.name for spec in CORE if not spec.read_only)


class McpOverHttp:
    """The ASGI app of `/mcp`; `run()` it in the background while the hub lives."""

    path = "/mcp"

    def __init__(self, plane: Plane, growth: Growth) -> None:
        self._plane = plane
        self._growth = growth
        self._asked, self._ready = anyio.Event(), anyio.Event()
        self._sessions: StreamableHTTPSessionManager | None = None

    async def run(self) -> None:
        """Load the SDK when the first call comes and serve until cancelled."""
        await self._asked.wait()
        self._sessions = await anyio.to_thread.run_sync(_sessions, self._plane)
        async with self._sessions.run():
            self._ready.set()
            await anyio.sleep_forever()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Find out which agent is calling, from token, path or header, and answer for the SDK or let it answer."""
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
                answer = self._served
                scope = {**scope, AGENT_KEY: agent}
        except Refused as error:
            answer = refuse(400, str(error))
        except TooFast as error:
            answer = refuse(429, str(error), {"retry-after": str(error.seconds)})
        await answer(scope, _again(message, receive), send)

    async def _served(self, scope: Scope, receive: Receive, send: Send) -> None:
        self._asked.set()
        await self._ready.wait()
        assert self._sessions is not None
        await self._sessions.handle_request(scope, receive, send)


def _sessions(plane: Plane) -> StreamableHTTPSessionManager:
    sdk.load()
    from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

    from memory_plane.surfaces.mcp_server import build

    server = build(Inside(plane), None, threads=True)
    return StreamableHTTPSessionManager(server, stateless=True, json_response=True, max_request_body_size=MAX_BODY)


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
