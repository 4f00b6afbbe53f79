"""MCP over stdin and stdout: nothing but protocol on the wire, and every answer written before the end.

The SDK's own stdio transport waits for stdin in a thread that no signal ends, and drops what it is still
answering when stdin closes; here both sides are threads that die with the process.
"""

from __future__ import annotations

import asyncio
import logging
import math
import os
import signal
import sys
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from queue import SimpleQueue
from threading import Thread
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

import anyio
from mcp.shared.message import SessionMessage
from mcp_types import (
    JSONRPCError,
    JSONRPCMessage,
    JSONRPCNotification,
    JSONRPCRequest,
    JSONRPCResponse,
    RequestId,
)

from memory_plane.surfaces.lines import Unreadable, parse, to_line

if TYPE_CHECKING:
    from mcp.server import Server

logger = logging.getLogger(__name__)

GRACE = 10.0
"""Seconds that requests under way may take once the client has gone."""
FLUSH = 5.0
"""Seconds that a client may take to read its last answers."""
PARENT_CHECK = 2.0
"""Seconds between two looks at whether the parent is alive; its end of the pipe may live on in another process."""


@dataclass(frozen=True, slots=True)
class Wire:
    """The two descriptors that carry the protocol."""

    source: int
    sink: int


def claim() -> Wire:
    """Keep stdin and stdout for the protocol: what anything else prints goes to stderr from now on."""
    sys.stdout.flush()
    wire = Wire(os.dup(0), os.dup(1))
    null = os.open(os.devnull, os.O_RDWR)
    os.dup2(null, 0)
    try:
        os.dup2(2, 1)
    except OSError:
        os.dup2(null, 1)
    os.close(null)
    return wire


async def serve(server: Server[Any], wire: Wire) -> None:
    """Serve one client until it closes stdin, dies, or a signal asks to stop."""
    transport = Transport(wire)
    transport.start()
    try:
        await server.run(transport.requests, transport, server.create_initialization_options())
    finally:
        await asyncio.to_thread(transport.flush)


class Transport:
    """One connection: `requests` is the stream the server reads, the object itself the one it writes."""

    def __init__(self, wire: Wire) -> None:
        self._wire = wire
        self._loop = asyncio.get_running_loop()
        self._feed, self.requests = anyio.create_memory_object_stream[SessionMessage | Exception](math.inf)
        self._out: SimpleQueue[bytes | None] = SimpleQueue()
        self._writer = Thread(target=self._write, name="stdio writer", daemon=True)
        self._unanswered: set[RequestId] = set()
        self._ending = False

    def start(self) -> None:
        """Begin to read, to write, and to watch for signals and the parent's death."""
        self._writer.start()
        Thread(target=self._read, name="stdio reader", daemon=True).start()
        for number in (signal.SIGTERM, signal.SIGINT):
            with suppress(NotImplementedError, RuntimeError, ValueError):
                self._loop.add_signal_handler(number, self.end)
        self._watch(os.getppid())

    def end(self) -> None:
        """Take no more requests; close once those under way are answered, or after the grace."""
        if self._ending:
            return
        self._ending = True
        self._loop.call_later(GRACE, self._feed.close)
        self._close_if_answered()

    def flush(self) -> None:
        """Wait until the answers are on the wire, for a client that still reads."""
        self._out.put(None)
        self._writer.join(FLUSH)

    async def send(self, item: SessionMessage, /) -> None:
        """Queue one message for the wire."""
        self._out.put(to_line(item.message))
        if isinstance(item.message, JSONRPCResponse | JSONRPCError):
            self._forget(item.message.id)
            self._close_if_answered()

    async def aclose(self) -> None:
        """Part of the stream protocol; `flush` does the work."""

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, exc_type: type[BaseException] | None, exc_val: BaseException | None, exc_tb: TracebackType | None
    ) -> None:
        await self.aclose()

    def _accept(self, message: JSONRPCMessage) -> None:
        if self._ending:
            return
        if isinstance(message, JSONRPCRequest):
            self._unanswered.add(message.id)
        elif isinstance(message, JSONRPCNotification) and message.method == "notifications/cancelled":
            self._forget((message.params or {}).get("requestId"))
        self._feed.send_nowait(SessionMessage(message))

    def _forget(self, request: object) -> None:
        if isinstance(request, int | str):
            self._unanswered.discard(request)

    def _close_if_answered(self) -> None:
        if self._ending and not self._unanswered:
            self._feed.close()

    def _watch(self, parent: int) -> None:
        if os.getppid() != parent:
            logger.info("the client's process has gone")
            self.end()
        else:
            self._loop.call_later(PARENT_CHECK, self._watch, parent)

    def _read(self) -> None:
        with suppress(RuntimeError):  # the loop has closed: nobody listens any more
            for line in _lines(self._wire.source):
                try:
                    message = parse(line)
                except Unreadable as error:
                    self._out.put(to_line(error.complaint))
                else:
                    self._loop.call_soon_threadsafe(self._accept, message)
            self._loop.call_soon_threadsafe(self.end)

    def _write(self) -> None:
        while (line := self._out.get()) is not None:
            try:
                while line:
                    line = line[os.write(self._wire.sink, line) :]
            except OSError:
                with suppress(RuntimeError):
                    self._loop.call_soon_threadsafe(self._feed.close)
                return


def _lines(descriptor: int) -> Iterator[bytes]:
    rest, searched = bytearray(), 0
    while chunk := _chunk(descriptor):
        rest += chunk
        while (end := rest.find(b"\n", searched)) >= 0:
            if line := bytes(rest[:end]).strip():
                yield line
            del rest[: end + 1]
            searched = 0
        searched = len(rest)
    if line := bytes(rest).strip():
        yield line


def _chunk(descriptor: int) -> bytes:
    try:
        return os.read(descriptor, 65_536)
    except OSError:
        return b""
