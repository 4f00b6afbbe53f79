"""What one client may take of the hub: requests at a time, bytes of a body, seconds to send it, bytes an hour."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from threading import Lock
from time import monotonic
from typing import TYPE_CHECKING

import anyio
from starlette.datastructures import Headers
from starlette.requests import ClientDisconnect

from memory_plane.errors import MemoryPlaneError
from memory_plane.failures import places
from memory_plane.surfaces.gate import refuse

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

    from memory_plane.types import Receipt

logger = logging.getLogger(__name__)

MAX_BODY = 1_500_000
MAX_SYNC_BODY = 5_000_000
MAX_EVENT = 250_000
"""The longest body of a webhook: what an app tells of one event."""
BODY_SECONDS = 30.0
AT_ONCE = 64
"""Requests that are worked on at a time; a body each, so they bound the memory that bodies take."""
AGENTS = 1_000
"""How many agents' growth is remembered."""


class Limits:
    """Read a body whole before anything works on it, within its limits; answer unexpected errors without a trace."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        self._running = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer for the app, or let it answer."""
        if scope["type"] != "http" or scope["path"] in ("/health", "/api/events", "/live"):
            await self._app(scope, receive, send)  # they read no body, and streams are counted where they open
        elif self._running >= AT_ONCE:
            await refuse(503, "too many requests at a time; try again", {"retry-after": "1"})(scope, receive, send)
        else:
            self._running += 1
            try:
                await self._bounded(scope, receive, send)
            finally:
                self._running -= 1

    async def _bounded(self, scope: Scope, receive: Receive, send: Send) -> None:
        started = False

        async def watched(message: Message) -> None:
            nonlocal started
            started = True
            await send(message)

        try:
            if scope["method"] not in ("GET", "HEAD"):
                body = await _body(receive, Headers(scope=scope), _limit(scope["path"]))
                receive = _replay(body, receive)
            await self._app(scope, receive, watched)
        except _TooLarge as error:
            await refuse(413, f"a body may have {error} bytes at most; send less at a time")(scope, receive, send)
        except TimeoutError:
            await refuse(408, f"the body did not come within {BODY_SECONDS:g} s")(scope, receive, send)
        except ClientDisconnect:
            logger.debug("a client went away while it sent its body")
        except Exception as error:  # noqa: BLE001 - the message of an error may quote what the client sent
            logger.error("unexpected %s in the hub\n%s", type(error).__name__, places(error))  # noqa: TRY400
            if not started:
                await refuse(500, f"unexpected {type(error).__name__}; the log has its place")(scope, receive, send)


class _TooLarge(Exception):
    """Says how many bytes would have been taken."""


def _limit(path: str) -> int:
    if path.startswith("/ingest/"):
        return MAX_EVENT
    return MAX_SYNC_BODY if path == "/api/sync" else MAX_BODY


async def _body(receive: Receive, headers: Headers, limit: int) -> bytes:
    declared = headers.get("content-length", "0")
    if declared.isdecimal() and int(declared[:20]) > limit:
        raise _TooLarge(f"{limit:,}")
    parts: list[bytes] = []
    size = 0
    with anyio.fail_after(BODY_SECONDS):
        while True:
            message = await receive()
            if message["type"] != "http.request":
                raise ClientDisconnect
            parts.append(message.get("body", b""))
            size += len(parts[-1])
            if size > limit:
                raise _TooLarge(f"{limit:,}")
            if not message.get("more_body", False):
                return b"".join(parts)


def _replay(body: bytes, receive: Receive) -> Receive:
    waiting: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def replayed() -> Message:
        return waiting.pop() if waiting else await receive()

    return replayed


class TooFast(MemoryPlaneError):
    """An agent has written more than it may in an hour; `seconds` tells when it may go on."""

    def __init__(self, agent: str, megabytes: float, seconds: float) -> None:
        self.seconds = max(1, round(seconds + 0.5))
        super().__init__(
            f"agent {agent!r} has written more than {megabytes:g} MB in an hour; try again in {self.seconds} s, "
            "or raise hub.growth_mb_per_hour"
        )


class Growth:
    """How much each agent may still write: a bucket of an hour's bytes that fills up steadily.

    A write may overdraw its bucket, so that one larger than what is left is not put off for ever.
    """

    def __init__(self, megabytes: float, clock: Callable[[], float] = monotonic) -> None:
        self._megabytes = megabytes
        self._capacity = megabytes * 1e6
        self._clock = clock
        self._lock = Lock()
        self._left: dict[str, tuple[float, float]] = {}

    def keep(self, costs: Sequence[tuple[str, int]], write: Callable[[], list[Receipt]]) -> list[Receipt]:
        """Write operations, each of an (agent, bytes); what is not stored costs nothing.

        Raise `TooFast` before anything is written where the bucket of one agent is empty.
        """
        self.spend(costs)
        spare = list(costs)
        try:
            receipts = write()
            spare = [cost for cost, receipt in zip(costs, receipts, strict=True) if receipt.state != "stored"]
            return receipts
        finally:
            self._take(spare, -1)

    def spend(self, costs: Sequence[tuple[str, int]]) -> None:
        """Take bytes off the buckets, or off none and raise `TooFast` where one is empty."""
        with self._lock:
            now = self._clock()
            for agent, _ in costs:
                if (level := self._level(agent, now)) <= 0:
                    raise TooFast(agent, self._megabytes, -level * 3600 / self._capacity)
        self._take(costs, 1)

    def _take(self, costs: Sequence[tuple[str, int]], sign: int) -> None:
        with self._lock:
            now = self._clock()
            for agent, cost in costs:
                self._left[agent] = (min(self._capacity, self._level(agent, now) - sign * cost), now)
            while len(self._left) > AGENTS:
                del self._left[max(self._left, key=lambda agent: self._level(agent, now))]

    def _level(self, agent: str, now: float) -> float:
        level, at = self._left.get(agent, (self._capacity, now))
        return min(self._capacity, level + (now - at) * self._capacity / 3600)
