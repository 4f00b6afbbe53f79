"""The hub as a process: its port, its start and end, and what it does every half minute."""

from __future__ import annotations

import errno
import ipaddress
import shlex
import signal
import socket
import sys
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import uvicorn

from memory_plane import __version__
from memory_plane.access import ensure_token, token_path
from memory_plane.errors import ConfigurationError, MemoryPlaneError
from memory_plane.surfaces.api import create_app

if TYPE_CHECKING:
    from memory_plane.plane import Plane


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
