"""The hub's HTTP side: MCP for many agents on loopback, behind a token and checks on where a request comes from."""

from __future__ import annotations

import errno
import ipaddress
import logging
import re
import secrets
import shlex
import signal
import socket
import sys
from collections.abc import AsyncIterator
from contextlib import ExitStack, asynccontextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import anyio
import anyio.to_thread
import uvicorn
from mcp.server.streamable_http_manager import StreamableHTTPASGIApp, StreamableHTTPSessionManager
from mcp.server.transport_security import RequestBodyLimitMiddleware
from starlette.applications import Starlette
from starlette.datastructures import Headers
from starlette.responses import JSONResponse
from starlette.routing import Route

from memory_plane import __version__
from memory_plane.access import ensure_token, token_path
from memory_plane.errors import ConfigurationError, MemoryPlaneError, Refused
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
HOSTS = ("127.0.0.1", "localhost", "[::1]")

_ORIGIN = re.compile(r"https?://(127\.0\.0\.1|localhost|\[::1\])(:\d{1,5})?")


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
    return Guard(app, token=token, port=port)


class Guard:
    """Turn away what no agent of this user would send, before anything reads the body."""

    def __init__(self, app: ASGIApp, *, token: str, port: int) -> None:
        self._app = app
        self._credentials = f"Bearer {token}".encode()
        self._hosts = {f"{host}:{port}" for host in HOSTS} | (set(HOSTS) if port == 80 else set())

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer for the app, or let it answer."""
        if scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": 1008})
        elif scope["type"] == "http" and (refusal := self._refusal(scope)) is not None:
            await refusal(scope, receive, send)
        else:
            await self._app(scope, receive, send)

    def _refusal(self, scope: Scope) -> JSONResponse | None:
        headers = Headers(scope=scope)
        if len(headers.getlist("host")) != 1 or headers["host"].lower() not in self._hosts:
            return _refuse(421, "this host name does not belong to Memory Plane")
        if any(not _ORIGIN.fullmatch(origin.lower()) for origin in headers.getlist("origin")):
            return _refuse(403, "requests from web pages elsewhere are not served")
        if scope["path"] == "/health":
            return None
        given = headers.getlist("authorization")
        if len(given) != 1 or not secrets.compare_digest(_credentials(given[0]), self._credentials):
            return _refuse(401, "send the token as Authorization: Bearer …", {"www-authenticate": "Bearer"})
        if scope["method"] not in ("GET", "HEAD") and not _is_json(headers):
            return _refuse(415, "send application/json")
        return None


class _Named:
    """Find out which agent is calling, from the path or the header, and leave it in the scope."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        named = [scope["path_params"].get("agent"), *Headers(scope=scope).getlist(AGENT_HEADER)]
        try:
            names = {agent_id(name) for name in named if name is not None}
        except Refused as error:
            await _refuse(400, str(error))(scope, receive, send)
            return
        if len(names) > 1:
            await _refuse(400, "agent: path and header name different ones")(scope, receive, send)
        else:
            await self._app({**scope, AGENT_KEY: next(iter(names), None)}, receive, send)


def serve(plane: Plane, host: str, port: int) -> None:
    """Run the hub in the foreground until a signal ends it; the caller closes the plane."""
    listener = listen(host, port)
    port = listener.getsockname()[1]
    app = create_app(plane, token=ensure_token(plane.home), port=port)
    server = uvicorn.Server(
        uvicorn.Config(
            app,
            log_level="warning",
            access_log=False,
            server_header=False,
            lifespan="on",
            ws="none",
            timeout_graceful_shutdown=3,
        )
    )
    with listener, _until_signal(server):
        sys.stdout.write(welcome(plane.home, _url(host, port)))
        sys.stdout.flush()
        server.run(sockets=[listener])


def listen(host: str, port: int) -> socket.socket:
    """Open the port on loopback, or say in one line why not."""
    if not _is_loopback(host):
        raise ConfigurationError(f"hub.host: {host!r} is not a loopback address; give 127.0.0.1, ::1 or localhost")
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    try:
        # Without it a restart waits a minute for the old connections; on Windows it would let two hubs share the port.
        if sys.platform != "win32":
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((host, port))
        listener.listen(128)
    except (OSError, OverflowError) as error:
        listener.close()
        if getattr(error, "errno", None) == errno.EADDRINUSE:
            raise MemoryPlaneError(
                f"port {port} on {host} is in use, perhaps by another hub; stop it or set hub.port to another one"
            ) from None
        raise MemoryPlaneError(f"cannot listen on {host} port {port}: {error}") from None
    return listener


def welcome(home: Path, url: str) -> str:
    """Say how to connect an agent; the token itself is never shown."""
    script = Path(sys.executable).with_name("memory-plane")
    command = shlex.join([str(script)] if script.exists() else [sys.executable, "-m", "memory_plane"])
    return f"""\
Memory Plane {__version__} is up at {url}   home: {home}

Connect an agent (NAME is the name it writes under, such as claude-code, grok or cursor):
  Claude Code     claude mcp add --scope user memory-plane -- {command} mcp --agent claude-code
  any, by stdio   {command} mcp --agent NAME
  any, by HTTP    {url}/mcp/NAME   with the header  Authorization: Bearer <token>
                  the token is in {token_path(home)}

Stop with Ctrl-C.
"""


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


def _refuse(status: int, reason: str, headers: dict[str, str] | None = None) -> JSONResponse:
    return JSONResponse({"error": reason}, status_code=status, headers=headers)


def _credentials(header: str) -> bytes:
    scheme, _, token = header.partition(" ")
    return f"{'Bearer' if scheme.lower() == 'bearer' else scheme} {token.strip()}".encode("utf-8", "surrogateescape")


def _is_json(headers: Headers) -> bool:
    return headers.get("content-type", "").partition(";")[0].strip().lower() == "application/json"


def _is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _url(host: str, port: int) -> str:
    return f"http://{f'[{host}]' if ':' in host else host}:{port}"


def _until_signal(server: uvicorn.Server) -> ExitStack:
    """Let a signal end the server with exit code 0: uvicorn raises it once more after its clean end."""

    def stop(number: int, frame: Any) -> None:
        server.should_exit = True

    stack = ExitStack()
    for number in (signal.SIGINT, signal.SIGTERM):
        with suppress(ValueError):  # not in the main thread
            stack.callback(signal.signal, number, signal.signal(number, stop))
    return stack
