"""What comes in by itself: events that hooks left in the spool, and what plugins find in their agents' own files."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from memory_plane import spool
from memory_plane.echoes import news
from memory_plane.errors import Refused
from memory_plane.failures import Failure
from memory_plane.operations import make_operation
from memory_plane.types import Event, Ingested, IngestReport, Operation, Poll, Receipt, Thought

if TYPE_CHECKING:
    from memory_plane.client import Client
    from memory_plane.plane import Plane
    from memory_plane.plugins import PluginManager
    from memory_plane.settings import Settings

logger = logging.getLogger(__name__)

_HEARD = 200
"""How many of the newest thoughts an agent may have heard of and repeat."""


class Taker(Protocol):
    """What takes operations: a memory, or the queue of one that is elsewhere."""

    @property
    def settings(self) -> Settings:
        """What is configured here."""
        ...

    @property
    def home(self) -> Path:
        """Where the spool is."""
        ...

    @property
    def plugins(self) -> PluginManager:
        """Those who know what an event means."""
        ...

    def store(
        self, batch: Sequence[Operation], *, strict: bool, cursor: tuple[str, str] | None = None
    ) -> list[Receipt]:
        """Take all of a batch, or raise `StoreError`."""
        ...

    def thoughts(self, *, limit: int) -> Sequence[Thought]:
        """Return the newest thoughts, as far as they are known here."""
        ...


class _Queue:
    """An outbox that takes what comes in; each operation is sent to where the memory is."""

    def __init__(self, client: Client, plugins: PluginManager) -> None:
        self.settings, self.home, self.plugins = client.settings, client.home, plugins
        self._outbox = client.outbox
        self.thoughts = client.known_thoughts

    def store(
        self, batch: Sequence[Operation], *, strict: bool, cursor: tuple[str, str] | None = None
    ) -> list[Receipt]:
        self._outbox.append(*batch)
        return [Receipt(id=operation.id, state="queued") for operation in batch]


def send_events(client: Client, plugins: PluginManager) -> IngestReport:
    """Turn the spooled events into operations and queue them; raise `StoreError` where they cannot be.

    No plugin is polled: where it was read up to is known to a database alone.
    """
    known = plugins.failures
    events, queued = take_events(_Queue(client, plugins), None)
    new = [failure for failure in plugins.failures if not any(failure is one for one in known)]
    return IngestReport(events=events, polled=0, stored=queued, enriched=0, failures=tuple(map(str, new)))


def sources(plane: Plane) -> tuple[str, ...]:
    """Return the plugins that are running and may have something to give."""
    running = (info for info in plane.plugins.infos() if info.state == "active")
    return tuple(info.name for info in running if info.agents or "ingest" in info.hooks)


def take_events(plane: Taker, plugin: str | None) -> tuple[int, int]:
    """Turn the spooled events of one plugin's agents, or of all, into operations; return how many of both."""
    events = stored = 0
    owners = {agent: info.name for info in plane.plugins.infos() if info.state == "active" for agent in info.agents}
    for path, event in spool.read(plane.home):
        if event is None:
            spool.set_aside(path)
            continue
        owner = owners.get(event.agent)
        if owner is None or plugin not in (None, owner):  # it waits for its plugin
            continue
        taken = _take_event(plane, event, owner)
        spool.failed(path) if taken is None else spool.done(path)
        events += taken is not None
        stored += taken or 0
    return events, stored


def poll(plane: Plane, plugin: str) -> int:
    """Have a plugin look at its source again; return how many operations were new."""
    answers = plane.plugins.ingest(Poll(cursor=plane.cursor(plugin)), plugin=plugin)
    return sum(_take_in(plane, answer, plugin) for _, answer in answers)


def _take_event(plane: Taker, event: Event, owner: str) -> int | None:
    """Return how many operations an event became, None if its plugin failed on it."""
    before = _latest_failure(plane, owner)
    answers = plane.plugins.ingest(event)
    if _latest_failure(plane, owner) is not before:
        return None
    return sum(_take_in(plane, answer) for _, answer in answers)


def _latest_failure(plane: Taker, plugin: str) -> Failure | None:
    return next((failure for failure in reversed(plane.plugins.failures) if failure.plugin == plugin), None)


def _take_in(plane: Taker, answer: Ingested, plugin: str | None = None) -> int:
    """Check and redact what a plugin gave, and store what of it is news together with its cursor."""
    batch = list(_checked(answer.operations, hold_external=plane.settings.hold_external))
    if any(one.op == "thought" for one in batch):
        batch = news(batch, plane.thoughts(limit=_HEARD))
    cursor = (plugin, answer.cursor) if plugin is not None and answer.cursor is not None else None
    receipts = plane.store(batch, strict=False, cursor=cursor) if batch or cursor else []
    return sum(receipt.state in ("stored", "queued") for receipt in receipts)


def _checked(given: Sequence[Operation], *, hold_external: bool) -> Iterator[Operation]:
    for one in given:
        at, id = one.created_at, one.id or None
        try:
            yield make_operation(one.op, one.body, agent=one.agent, created_at=at, id=id, hold_external=hold_external)
        except Refused as error:
            logger.warning("an operation of agent %r was refused: %s", one.agent, error)
