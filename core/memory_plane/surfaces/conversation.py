"""One agent's MCP session with the hub, in the lines that `bridge.py` tells the form of."""

from __future__ import annotations

import asyncio
import math
from contextlib import suppress
from functools import partial
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self
from uuid import UUID

import anyio
from mcp.shared.message import ServerMessageMetadata, SessionMessage
from mcp_types import (
    JSONRPCError,
    JSONRPCMessage,
    JSONRPCNotification,
    JSONRPCRequest,
    JSONRPCResponse,
    RequestId,
)

from memory_plane.surfaces.lines import Unreadable, parse, to_line
from memory_plane.surfaces.once import Ticket

if TYPE_CHECKING:
    from mcp.server import Server

MOST_CALLS = 64
"""How many calls of one session may be under way before no more are read."""


class Conversation:
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
            self._feed.close()

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
