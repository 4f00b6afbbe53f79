"""The hub's side of the bridge: a Unix socket in the home, on which each connection is one agent's MCP session.

`bridge.py` tells the form of the lines. The sessions live in a thread with an event loop of their own.
"""

from __future__ import annotations

import asyncio
import logging
import math
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self
from uuid import UUID

import anyio
from anyio.from_thread import start_blocking_portal
from mcp.shared.message import ServerMessageMetadata, SessionMessage
from mcp_types import (
    JSONRPCError,
    JSONRPCMessage,
    JSONRPCNotification,
    JSONRPCRequest,
    JSONRPCResponse,
    RequestId,
)

from memory_plane.client import Client, Inside
from memory_plane.errors import Refused
from memory_plane.surfaces.bridge import GREETING, MAX_LINE, SOCKET, at
from memory_plane.surfaces.lines import Unreadable, parse, to_line
from memory_plane.surfaces.mcp_server import agent_id, build
from memory_plane.surfaces.once import Ticket

if TYPE_CHECKING:
    from mcp.server import Server

    from memory_plane.plane import Plane

logger = logging.getLogger(__name__)

GRACE = 3.0
"""Seconds that calls under way may take when the hub stops; those that take longer are sent to the next hub."""
OPENING = 5.0
"""Seconds that a connection may take to say who it is."""
MOST_SESSIONS = 256
"""How many agents are served at once; others serve themselves."""
MOST_CALLS = 64
"""How many calls of one session may be under way before no more are read."""

Adopt = Callable[[socket.socket], None]


@contextmanager
def socket_server(plane: Plane) -> Iterator[None]:
    """Serve bridges on the socket of the hub's home meanwhile; only the one hub of the home may do so.

    Where there can be no Unix socket each agent serves itself, and this does nothing.
    """
    home = str(plane.home)
    try:
        listener = _listen(home)
    except OSError as error:
        logger.warning("%s/%s cannot be made, so each agent serves itself: %s", home, SOCKET, error)
        yield
        return
    try:
        with sessions(Inside(plane), listener):
            yield
    finally:
        with suppress(OSError):
            at(home, lambda path: Path(path).unlink())


@contextmanager
def sessions(plane: Plane | Client, listener: socket.socket | None = None) -> Iterator[Adopt]:
    """Serve what connects to the listener, and sockets that are handed to the function this gives."""
    with start_blocking_portal() as portal:
        hall = _Hall(plane)
        try:
            if listener is not None:
                portal.call(hall.listen, listener)
            yield partial(portal.call, hall.adopt)
        finally:
            portal.call(hall.close)


def _listen(home: str) -> socket.socket:
    """Open the home's socket, in the place of one that a killed hub left."""
    if not hasattr(socket, "AF_UNIX"):
        raise OSError("this system has no Unix sockets")
    listener = socket.socket(socket.AF_UNIX)
    try:
        at(home, partial(_bind, listener))
    except OSError:
        listener.close()
        raise
    return listener


def _bind(listener: socket.socket, path: str) -> None:
    """Appear under the name at once, closed to others: what stands there is replaced and never followed."""
    draft = Path(f"{path}.new")
    draft.unlink(missing_ok=True)
    listener.bind(str(draft))
    try:
        draft.chmod(0o600)
        listener.listen(128)
        draft.replace(path)
    finally:
        draft.unlink(missing_ok=True)


@dataclass(frozen=True, slots=True)
class _Opening:
    """What a bridge says first."""

    session: UUID
    tools: bool
    agent: str

    @classmethod
    def parse(cls, line: bytes) -> Self:
        """Read the first line of a connection, or raise `Refused`."""
        match line.rstrip(b"\n").split(b" ", 4):
            case [b"memory-plane", b"1", session, (b"0" | b"1") as tools, agent]:
                with suppress(ValueError):
                    return cls(UUID(session.decode()), tools == b"1", agent_id(agent.decode()))
        raise Refused("this hub speaks version 1 of the bridge")


class _Hall:
    """The sessions of one plane."""

    def __init__(self, plane: Plane | Client) -> None:
        self._plane = plane
        self._server: asyncio.Server | None = None
        self._sessions: dict[asyncio.Task[None], _Conversation | None] = {}

    async def listen(self, listener: socket.socket) -> None:
        """Serve whoever connects."""
        self._server = await asyncio.start_unix_server(self._begin, sock=listener, limit=MAX_LINE)

    async def adopt(self, connection: socket.socket) -> None:
        """Serve the other end of a connected socket."""
        self._begin(*await asyncio.open_unix_connection(sock=connection, limit=MAX_LINE))

    async def close(self) -> None:
        """Take nothing more, answer what is under way, and cut off what takes too long."""
        if self._server is not None:
            self._server.close()
        for task, conversation in self._sessions.items():
            task.cancel() if conversation is None else conversation.end()
        if self._sessions:
            await asyncio.wait(self._sessions, timeout=GRACE)
        for task, conversation in self._sessions.items():
            if conversation is not None:
                conversation.mute()
            task.cancel()
        if self._sessions:
            await asyncio.wait(self._sessions, timeout=GRACE)

    def _begin(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.create_task(self._serve(reader, writer))
        self._sessions[task] = None
        task.add_done_callback(self._sessions.pop)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        try:
            opening = await self._greet(reader, writer)
            if opening is not None:
                server = build(self._plane, opening.agent, tools=opening.tools, threads=True)
                conversation = self._sessions[task] = _Conversation(reader, writer, opening.session)
                await conversation.run(server)
        except Exception:
            logger.exception("a session of the bridge broke")
        finally:
            writer.close()

    async def _greet(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> _Opening | None:
        try:
            opening = _Opening.parse(await asyncio.wait_for(reader.readline(), OPENING))
        except (OSError, ValueError, Refused) as error:
            logger.info("a connection did not open as a bridge does: %s", error)
            return None
        if len(self._sessions) > MOST_SESSIONS:
            logger.warning("%d agents are connected; agent %r has to serve itself", MOST_SESSIONS, opening.agent)
            return None
        writer.write(GREETING)
        return opening


class _Conversation:
    """One session: `requests` is the stream the SDK reads, the object itself the one it writes."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, session: UUID) -> None:
        self._reader = reader
        self._writer = writer
        self._session = session
        self._feed, self.requests = anyio.create_memory_object_stream[SessionMessage | Exception](math.inf)
        self._unanswered: dict[RequestId, list[int]] = {}
        self._calls = 0
        self._room = asyncio.Event()
        self._handshake: int | None = None
        self._reading: asyncio.Task[None] | None = None
        self._ending = self._muted = False

    async def run(self, server: Server[Any]) -> None:
        """Serve until the bridge leaves or `end` was called and nothing is under way."""
        self._reading = asyncio.create_task(self._read())
        try:
            await server.run(self.requests, self, server.create_initialization_options())
        finally:
            self._reading.cancel()

    def end(self) -> None:
        """Read no more, and end when what is under way is answered."""
        self._ending = True
        if self._reading is not None:
            self._reading.cancel()
        self._end_if_idle()

    def mute(self) -> None:
        """Send nothing more: a call without an answer is sent again, one that was told an error is not."""
        self._muted = True

    async def send(self, item: SessionMessage, /) -> None:
        """Write one message; wait while the bridge has no room."""
        if isinstance(item.message, JSONRPCResponse | JSONRPCError):
            await self._answer(item.message)
        else:
            await self._write(b"0", item.message)

    async def aclose(self) -> None:
        """Part of the stream protocol; the connection is closed by who made it."""

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, exc_type: type[BaseException] | None, exc_val: BaseException | None, exc_tb: TracebackType | None
    ) -> None:
        await self.aclose()

    async def _read(self) -> None:
        with suppress(OSError, ValueError):  # a connection that breaks, or a line that no bridge sends
            while (line := await self._reader.readline()).endswith(b"\n"):
                await self._take(line)
                while self._calls >= MOST_CALLS:
                    self._room.clear()
                    await self._room.wait()
        self._feed.close()

    async def _take(self, numbered: bytes) -> None:
        head, _, line = numbered.rstrip(b"\n").partition(b" ")
        number = int(head.rstrip(b"+"))
        try:
            message = parse(line)
        except Unreadable as unreadable:
            await self._write(b"%d" % number, unreadable.complaint)
            return
        if isinstance(message, JSONRPCRequest):
            self._expect(message, Ticket(self._session, number, again=head.endswith(b"+")))
            return
        opens = isinstance(message, JSONRPCNotification) and message.method == "notifications/initialized"
        self._feed.send_nowait(SessionMessage(message))
        await self._write(b"%d*" % number if opens and self._handshake is not None else b"%d" % number)

    def _expect(self, request: JSONRPCRequest, ticket: Ticket) -> None:
        """Pass a request on to the SDK, to be answered under the number of its line."""
        if request.method == "initialize" and self._handshake is None:
            self._handshake = ticket.number
        self._calls += 1
        self._unanswered.setdefault(request.id, []).append(ticket.number)
        settle = partial(self._settle_unanswered, request.id, ticket.number)
        metadata = ServerMessageMetadata(request_context=ticket, on_request_unanswered=settle)
        self._feed.send_nowait(SessionMessage(request, metadata))

    async def _answer(self, message: JSONRPCResponse | JSONRPCError) -> None:
        numbers = self._unanswered.get(message.id) if message.id is not None else None
        if not numbers:
            await self._write(b"0", message)
            return
        number = self._settled(message.id, numbers[0])
        keep = number == self._handshake and isinstance(message, JSONRPCResponse)
        await self._write(b"%d*" % number if keep else b"%d" % number, message)
        self._leave_room()

    async def _settle_unanswered(self, id: RequestId, number: int) -> None:
        """Let the bridge forget a request that was cancelled."""
        self._settled(id, number)
        await self._write(b"%d" % number)
        self._leave_room()

    def _settled(self, id: RequestId | None, number: int) -> int:
        assert id is not None
        self._unanswered[id].remove(number)
        if not self._unanswered[id]:
            del self._unanswered[id]
        return number

    def _leave_room(self) -> None:
        self._calls -= 1
        self._room.set()
        self._end_if_idle()

    def _end_if_idle(self) -> None:
        if self._ending and not self._calls:
            self._feed.close()

    async def _write(self, head: bytes, message: JSONRPCMessage | None = None) -> None:
        if self._muted:
            return
        self._writer.write(head + (b"\n" if message is None else b" " + to_line(message)))
        with suppress(OSError):  # the bridge has gone, as the reader will find
            await self._writer.drain()
