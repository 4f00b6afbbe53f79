"""The hub as a process: alone in its home, its port, its start and its end."""

from __future__ import annotations

import errno
import ipaddress
import logging
import os
import shlex
import signal
import socket
import ssl
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from threading import Thread, Timer
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import uvicorn
from uvicorn.protocols.http.auto import AutoHTTPProtocol

from memory_plane import __version__, garbage, presence
from memory_plane.access import TokenFile, ensure_token, is_loopback, token_path
from memory_plane.errors import ConfigurationError, MemoryPlaneError
from memory_plane.integration import Machine
from memory_plane.operations import iso
from memory_plane.presence import Presence
from memory_plane.surfaces import sdk
from memory_plane.surfaces.api import create_app
from memory_plane.surfaces.rounds import rounds
from memory_plane.surfaces.socket_server import socket_server
from memory_plane.surfaces.strangers import who_listens

if TYPE_CHECKING:
    from memory_plane.plane import Plane
    from memory_plane.settings import HubSettings, Settings

logger = logging.getLogger(__name__)

LAST_ANSWERS = 8
"""Seconds that requests under way have to end when the hub does."""
PATIENCE = 5
"""Seconds after these until the hub ends although a call, such as a plugin's tool, does not."""
HEADERS = 10.0
"""Seconds that a connection may take to ask for something, or for more."""
IDLE = 10.0
"""Seconds after its start at which the hub loads what agents need, so that the first of them need not wait for it."""
MOST_CONNECTIONS = 512
"""How many are open at a time: each is a file, and a process may have about a thousand."""

Certificate = tuple[Path, Path]


def serve(plane: Plane, host: str, port: int) -> None:
    """Run the hub in the foreground until a signal ends it; the caller has claimed the home and closes the plane.

    Raise `MemoryPlaneError` where the port cannot be had or the settings do not allow it.
    """
    certificate = certificate_of(plane.settings.hub)
    check_reach(host, plane.settings.hub, certificate)
    with listen(host, port) as listener:
        _serve(plane, host, listener, certificate)
    logger.info("the hub has ended")


def _warm_up(plane: Plane) -> None:
    """Be ready for the first client, and bring the pages of another version or other settings up to date."""
    plane.warm_up()
    plane.mark_dirty()


def _serve(plane: Plane, host: str, listener: socket.socket, certificate: Certificate | None) -> None:
    hub, port = plane.settings.hub, listener.getsockname()[1]
    url = address(host, port, hub.names, secure=certificate is not None)
    names = [*hub.names, *([] if _is_everywhere(host) else [host])]
    ensure_token(plane.home)  # what is wrong with it is told now and not at the first request
    app = create_app(plane, token=TokenFile(plane.home), port=port, names=names)

    warming = Thread(target=_warm_up, args=(plane,), name="warm-up", daemon=True)
    later = Timer(IDLE, sdk.load)
    later.daemon = True

    def announce() -> None:
        garbage.settle()
        warming.start()
        later.start()
        presence.write(plane.home, Presence(url, os.getpid(), __version__, iso(datetime.now(UTC))))
        logger.info("the hub is up at %s", url)
        with suppress(OSError):  # a terminal that is gone
            sys.stdout.write(welcome(plane.home, url))
            sys.stdout.flush()

    server = _Server(_configuration(app, certificate), announce, app.state.end_streams)
    with _until_signal(server), rounds(plane), socket_server(plane):
        try:
            server.run(sockets=[listener])
        except SystemExit:  # uvicorn's word for a failed start
            raise MemoryPlaneError("the hub could not start; the log says why") from None
        finally:
            later.cancel()
            presence.remove(plane.home)
            if warming.is_alive():
                warming.join()


class _Server(uvicorn.Server):
    """Tells when it answers, and ends what would never end by itself before it waits for the rest."""

    def __init__(self, config: uvicorn.Config, announce: Callable[[], None], end_streams: Callable[[], object]) -> None:
        super().__init__(config)
        self._announce = announce
        self._end_streams = end_streams
        # Never cancelled: a call that hangs holds up the process, too, when the server has given it up.
        self._watch = Timer(LAST_ANSWERS + PATIENCE, _leave)
        self._watch.daemon = True

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start to answer, then say so."""
        await super().startup(sockets)
        if self.started:
            self._announce()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """End the streams of events, answer what is under way, and stop."""
        self._watch.start()
        self._end_streams()
        await super().shutdown(sockets)


class _Impatient(AutoHTTPProtocol):  # type: ignore[valid-type, misc]
    """Closes connections that ask for nothing: many of them would keep the hub from everybody, without a token."""

    def connection_made(self, transport: Any) -> None:
        """Begin to wait for a request, unless there are too many already."""
        super().connection_made(transport)
        self._patience = self.loop.call_later(HEADERS, self._look, None)
        if len(self.connections) > MOST_CONNECTIONS:
            transport.close()

    def connection_lost(self, exc: Exception | None) -> None:
        """Wait no longer."""
        self._patience.cancel()
        super().connection_lost(exc)

    def _look(self, before: Any) -> None:
        if self.cycle is before and (before is None or before.response_complete):
            self.transport.close()
        else:
            self._patience = self.loop.call_later(HEADERS, self._look, self.cycle)


def _leave() -> None:
    """End the process while a thread of it hangs, which no other way does; what was acknowledged is on disk."""
    logger.error("a call has not ended in time; the hub ends without it")
    logging.shutdown()
    os._exit(0)


def _configuration(app: Any, certificate: Certificate | None) -> uvicorn.Config:
    files = {} if certificate is None else {"ssl_certfile": certificate[0], "ssl_keyfile": certificate[1]}
    return uvicorn.Config(
        app,
        http=_Impatient,
        log_config=None,
        access_log=False,
        server_header=False,
        lifespan="on",
        ws="none",
        timeout_graceful_shutdown=LAST_ANSWERS,
        **files,  # type: ignore[arg-type]
    )


# --- where it listens --------------------------------------------------------------------------------------------


def listen(host: str, port: int) -> socket.socket:
    """Open the port, or say in one line why not and who has it."""
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
                f"port {port} on {host} is in use by {who_listens(host, port)}; stop it or set hub.port to another one"
            ) from None
        raise MemoryPlaneError(f"cannot listen on {host} port {port}: {error}") from None
    return listener


def check_reach(host: str, hub: HubSettings, certificate: Certificate | None) -> None:
    """Raise `ConfigurationError` for an address beyond this machine that neither TLS nor the person's word covers."""
    if not host.strip():
        raise ConfigurationError("hub.host: is empty; give an address such as 127.0.0.1")
    if is_loopback(host):
        return
    if certificate is None and not hub.allow_plain:
        raise ConfigurationError(
            f"hub.host: {host!r} is beyond this machine, where others can read along; set hub.certificate and hub.key"
            " for TLS, or hub.allow_plain = true where the network itself is private"
        )
    if _is_everywhere(host) and not hub.names:
        raise ConfigurationError(
            f"hub.host: {host!r} is every address of this machine; set hub.names to those that others call it by"
        )


def check_memory(settings: Settings, port: int) -> None:
    """Raise `ConfigurationError` where the memory is at another hub: one here would split it in two."""
    url = settings.elsewhere
    if url is None:
        return
    there = urlsplit(url)
    if there.port != port or not is_loopback(there.hostname or ""):
        raise ConfigurationError(
            f"the memory is at {url!r}; unset hub.url to keep one here, and set sync.url to exchange it with that hub"
            f"  ({settings.place('hub', 'url')})"
        )


def certificate_of(hub: HubSettings) -> Certificate | None:
    """Return certificate and key for TLS, None where none is set; raise `ConfigurationError` where they do not fit."""
    if hub.certificate is None and hub.key is None:
        return None
    if hub.certificate is None or hub.key is None:
        raise ConfigurationError(f"hub.{'key' if hub.key is None else 'certificate'}: is missing; TLS needs both files")
    try:
        # A password that is not asked for: a hub starts by itself.
        ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_cert_chain(hub.certificate, hub.key, password="")
    except OSError as error:  # ssl.SSLError is one
        wrong = next((f"{file} cannot be read" for file in (hub.certificate, hub.key) if not _readable(file)), None)
        reason = wrong or f"are no PEM certificate and its key without a password ({error.args[-1]})"
        raise ConfigurationError(f"hub.certificate, hub.key: {reason}") from None
    return hub.certificate, hub.key


def address(host: str, port: int, names: list[str], *, secure: bool) -> str:
    """Return the URL that a client on this machine calls the hub by."""
    if secure and names:
        host = names[0].partition(":")[0] if names[0].count(":") == 1 else names[0]
    elif _is_everywhere(host):
        host = "::1" if ":" in host else "127.0.0.1"
    bracketed = f"[{host}]" if ":" in host and not host.startswith("[") else host
    return f"{'https' if secure else 'http'}://{bracketed}:{port}"


def _is_everywhere(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_unspecified
    except ValueError:
        return False


def _readable(file: Path) -> bool:
    return file.is_file() and os.access(file, os.R_OK)


def welcome(home: Path, url: str) -> str:
    """Say how to connect an agent; the token itself is never shown."""
    command = shlex.join(Machine.here(home).command)
    return f"""\
Memory Plane {__version__} is up at {url}   home: {home}

Connect your agents: {command} setup
Or one by hand (NAME is the name it writes under, such as claude-code, grok or cursor):
  any, by stdio   {command} mcp --agent NAME
  any, by HTTP    {url}/mcp/NAME   with the header  Authorization: Bearer <token>
                  the token is in {token_path(home)}

See what they do: {command} open

Stop with Ctrl-C, or from elsewhere with: memory-plane down
"""


@contextmanager
def _until_signal(server: uvicorn.Server) -> Iterator[None]:
    """Let a signal end the server with exit code 0: uvicorn raises it once more after its clean end.

    A terminal that is closed is no reason to end: the agents are still there.
    """

    def stop(number: int, frame: Any) -> None:
        server.should_exit = True

    handlers: dict[signal.Signals, Any] = {signal.SIGINT: stop, signal.SIGTERM: stop}
    if sys.platform != "win32":
        handlers[signal.SIGHUP] = signal.SIG_IGN
    before = {}
    with suppress(ValueError):  # not in the main thread
        before = {number: signal.signal(number, handler) for number, handler in handlers.items()}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
