"""The hub's side of the bridge: a Unix socket in the home, on which each connection is one agent's MCP session.

`bridge.py` tells the form of the lines. The sessions live in a thread with an event loop of their own.
"""

from __future__ import annotations

import asyncio
import logging
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Self
from uuid import UUID

import anyio.to_thread
from anyio.from_thread import start_blocking_portal

from memory_plane.client import Client, Inside
from memory_plane.errors import Refused
from memory_plane.surfaces import sdk
from memory_plane.surfaces.bridge import GREETING, MAX_LINE, SOCKET, at
from memory_plane.surfaces.callers import agent_id

if TYPE_CHECKING:
    from memory_plane.plane import Plane
    from memory_plane.surfaces.conversation import Conversation

logger = logging.getLogger(__name__)

GRACE = 3.0
"""Seconds that calls under way may take when the hub stops; those that take longer are sent to the next hub."""
OPENING = 5.0
"""Seconds that a connection may take to say who it is."""
MOST_SESSIONS = 256
"""How many agents are served at once; others serve themselves."""

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
    tools: int
    agent: str

    @classmethod
    def parse(cls, line: bytes) -> Self:
        """Read the first line of a connection, or raise `Refused`."""
        match line.rstrip(b"\n").split(b" ", 4):
            case [b"memory-plane", b"1", session, (b"0" | b"1" | b"2" | b"3") as tools, agent]:
                with suppress(ValueError):
                    return cls(UUID(session.decode()), int(tools), agent_id(agent.decode()))
        raise Refused("this hub speaks version 1 of the bridge")


class _Hall:
    """The sessions of one plane."""

    def __init__(self, plane: Plane | Client) -> None:
        self._plane = plane
        self._server: asyncio.Server | None = None
        self._sessions: dict[asyncio.Task[None], Conversation | None] = {}

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
                await anyio.to_thread.run_sync(sdk.load)
                from memory_plane.surfaces.conversation import Conversation
                from memory_plane.surfaces.mcp_server import build

                server = build(self._plane, opening.agent, tools=opening.tools, threads=True)
                conversation = self._sessions[task] = Conversation(reader, writer, opening.session)
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
