"""Server-sent events: one for each operation that is stored, by this process or by any other.

The position in the stream is the id of an operation, so that it means the same after a restart, and nothing in a memory
that was restored from a backup: then the reader is told to read anew.
"""

from __future__ import annotations

import json
import logging
from asyncio import AbstractEventLoop, get_running_loop
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import aclosing, suppress
from dataclasses import asdict
from typing import Annotated, Any
from uuid import UUID

import anyio
import anyio.to_thread
from fastapi import APIRouter, Header, HTTPException, Query, Request
from starlette.responses import StreamingResponse

from memory_plane.errors import StoreError
from memory_plane.operations import iso
from memory_plane.plane import Plane
from memory_plane.recall import news
from memory_plane.recall.news import Headline
from memory_plane.surfaces.gate import STILL_OPEN
from memory_plane.surfaces.rest.wire import ERRORS, bearer, known_parameters

logger = logging.getLogger(__name__)

STREAMS = 32
EVERY = 0.5
"""Seconds between two looks for what other processes wrote; what this one writes is told at once."""
KEEP_ALIVE = 15.0
"""Seconds of silence after which a comment is sent, and the token looked at again."""
STILL_HERE = ": still here\n\n"
CHANGED = "data: {}\n\n"
PAUSE = 0.25
"""Seconds between two calls to look anew: a batch of a thousand writes is one."""
BATCH = 200
START = "start"
"""The position before the first operation."""


class Feed:
    """Tells streams what was stored; `run()` it in the background while the app lives."""

    def __init__(self, plane: Plane) -> None:
        self._plane = plane
        self._loop: AbstractEventLoop | None = None
        self._changed = anyio.Event()
        self._streams = 0
        self._ended = False

    async def run(self) -> None:
        """Wake the streams when the memory has grown, until cancelled."""
        self._loop = get_running_loop()
        self._plane.watchers.append(self._watch)
        last = None
        try:
            while True:
                with anyio.move_on_after(EVERY):
                    await self._changed.wait()
                    continue  # whoever waits was woken with us
                if self._streams:
                    with suppress(StoreError):
                        now = await anyio.to_thread.run_sync(self._newest)
                        if now != last:
                            self._wake()
                        last = now
        finally:
            self._plane.watchers.remove(self._watch)

    def count(self) -> int:
        """Return how many streams are open."""
        return self._streams

    def end(self) -> None:
        """End every stream; safe from any thread and from a signal handler."""
        self._ended = True
        self._wake_from_anywhere()

    async def open(self, since: str | None, still_open: Callable[[], bool]) -> AsyncIterator[str]:
        """Return the stream from a position on, from now on where it is None.

        Raise 503 where too many are open, `StoreError` where the memory cannot be read.
        """
        self._check_room()
        row, first = await anyio.to_thread.run_sync(self._start, since)
        return self._counted(self._stream(row, first, still_open))

    def calls(self, still_open: Callable[[], bool]) -> AsyncIterator[str]:
        """Return a stream that only says, at most every `PAUSE` seconds, that the memory has changed.

        Raise 503 where too many are open.
        """
        self._check_room()
        return self._counted(self._calls(still_open))

    def _check_room(self) -> None:
        if self._streams >= STREAMS or self._ended:
            raise HTTPException(503, f"{STREAMS} streams are open already; close one", {"retry-after": "5"})

    async def _counted(self, stream: AsyncGenerator[str]) -> AsyncIterator[str]:
        # Counted here, where it is certain to be counted off again; who opened meanwhile may have been one too many.
        if self._streams >= STREAMS:
            return
        self._streams += 1
        try:
            async with aclosing(stream):
                async for event in stream:
                    yield event
        finally:
            self._streams -= 1

    async def _stream(self, row: int, first: str, still_open: Callable[[], bool]) -> AsyncGenerator[str]:
        yield first
        while not self._ended and still_open():
            changed = self._changed  # taken before the look, so that nothing is missed after it
            batch = await anyio.to_thread.run_sync(self._after, row)
            for _, headline in batch:
                yield _event("operation", headline.id, _told(headline))
            row = batch[-1][0] if batch else row
            if len(batch) < BATCH and await self._is_quiet(changed):
                yield STILL_HERE

    async def _calls(self, still_open: Callable[[], bool]) -> AsyncGenerator[str]:
        changed = self._changed
        yield CHANGED
        while not self._ended and still_open():
            if await self._is_quiet(changed):
                yield STILL_HERE
            elif not self._ended:
                changed = self._changed  # set by what comes from here on, also while we pause
                yield CHANGED
                await anyio.sleep(PAUSE)

    async def _is_quiet(self, changed: anyio.Event) -> bool:
        """Wait for a change; tell whether there was none for so long that the reader should hear from us."""
        if self._ended:
            return False
        with anyio.move_on_after(KEEP_ALIVE) as waited:
            await changed.wait()
        return waited.cancelled_caught

    def _start(self, since: str | None) -> tuple[int, str]:
        """Return the row to go on after, and what the stream begins with."""
        with self._plane.database.reading() as connection:
            last, newest = news.newest(connection)
            row = last if since is None else 0 if since == START else _row(connection, since)
        store = {"store": self._plane.store_id}
        if row is None:
            reason = "this position is not known here; read what you show anew"
            return last, _event("reset", newest or START, store | {"reason": reason})
        return row, _event("ready", since or newest or START, store)

    def _after(self, row: int) -> list[tuple[int, Headline]]:
        try:
            with self._plane.database.reading() as connection:
                return news.after(connection, row, BATCH)
        except StoreError as error:
            logger.warning("a stream of events waits: %s", error)
            return []

    def _newest(self) -> int:
        with self._plane.database.reading() as connection:
            return news.newest(connection)[0]

    def _watch(self, *_: Any) -> None:
        self._wake_from_anywhere()

    def _wake_from_anywhere(self) -> None:
        if self._loop is not None:
            with suppress(RuntimeError):  # the loop has ended, and its streams with it
                self._loop.call_soon_threadsafe(self._wake)

    def _wake(self) -> None:
        changed, self._changed = self._changed, anyio.Event()
        changed.set()


def events(feed: Feed) -> APIRouter:
    """Return the endpoint that streams."""
    router = APIRouter(prefix="/api", tags=["read"], responses=ERRORS, dependencies=[known_parameters, bearer])

    @router.get("/events", response_class=StreamingResponse, responses={200: {"content": {"text/event-stream": {}}}})
    async def stream(
        request: Request,
        since: Annotated[str | None, Query(description="the id of an operation, or start", examples=["start"])] = None,
        last_event_id: Annotated[str | None, Header(description="the same; it counts before `since`")] = None,
    ) -> StreamingResponse:
        """Server-sent events: one for each operation that is stored, without its text."""
        stream = await feed.open(last_event_id or since, request.scope[STILL_OPEN])
        return StreamingResponse(stream, media_type="text/event-stream")

    return router


def _row(connection: Any, position: str) -> int | None:
    try:
        return news.row_of(connection, str(UUID(position)))
    except ValueError:
        return None


def _told(headline: Headline) -> dict[str, Any]:
    return asdict(headline) | {"created_at": iso(headline.created_at)}


def _event(name: str, position: str, data: dict[str, Any]) -> str:
    return f"id: {position}\nevent: {name}\ndata: {json.dumps(data, separators=(',', ':'))}\n\n"
