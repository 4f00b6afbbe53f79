"""What comes in by itself: events that hooks left in the spool, and what plugins find in their agents' own files."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from memory_plane import spool
from memory_plane.errors import Refused
from memory_plane.failures import Failure
from memory_plane.operations import make_operation
from memory_plane.types import Event, Ingested, Poll

if TYPE_CHECKING:
    from memory_plane.plane import Plane

logger = logging.getLogger(__name__)


def sources(plane: Plane) -> tuple[str, ...]:
    """Return the plugins that are running and may have something to give."""
    running = (info for info in plane.plugins.infos() if info.state == "active")
    return tuple(info.name for info in running if info.agents or "ingest" in info.hooks)


def take_events(plane: Plane, plugin: str | None) -> tuple[int, int]:
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


def _take_event(plane: Plane, event: Event, owner: str) -> int | None:
    """Return how many operations an event became, None if its plugin failed on it."""
    before = _latest_failure(plane, owner)
    answers = plane.plugins.ingest(event)
    if _latest_failure(plane, owner) is not before:
        return None
    return sum(_take_in(plane, answer) for _, answer in answers)


def _latest_failure(plane: Plane, plugin: str) -> Failure | None:
    return next((failure for failure in reversed(plane.plugins.failures) if failure.plugin == plugin), None)


def _take_in(plane: Plane, answer: Ingested, plugin: str | None = None) -> int:
    """Check and redact what a plugin gave, and store it together with its cursor."""
    batch = []
    for one in answer.operations:
        try:
            batch.append(
                make_operation(one.op, one.body, agent=one.agent, created_at=one.created_at, id=one.id or None)
            )
        except Refused as error:
            logger.warning("an operation of agent %r was refused: %s", one.agent, error)
    cursor = (plugin, answer.cursor) if plugin is not None and answer.cursor is not None else None
    receipts = plane.store(batch, strict=False, cursor=cursor) if batch or cursor else []
    return sum(receipt.state == "stored" for receipt in receipts)
