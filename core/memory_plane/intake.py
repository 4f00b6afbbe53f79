"""What comes in by itself: events that hooks left in the spool, and what plugins find in their agents' own files."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from memory_plane import spool
from memory_plane.errors import Refused
from memory_plane.failures import Failure
from memory_plane.operations import make_operation
from memory_plane.replica import Replica
from memory_plane.reports import IngestReport
from memory_plane.types import Event, Ingested, OpenItem, Operation, Poll, Pulse, Receipt, Thought

if TYPE_CHECKING:
    from memory_plane.client import Client
    from memory_plane.plane import Plane
    from memory_plane.plugins import PluginManager
    from memory_plane.settings import Settings

logger = logging.getLogger(__name__)

TOGETHER = timedelta(seconds=5)
"""Within which the several registrations of a hook run; the next turn of an agent may say the same, to the byte."""
OTHERS = 5.0
"""Seconds to wait for another process that takes in events of the same plugin; what it leaves is for the next time."""

_HEARD = 200
"""How many of the thoughts that were the newest then, and are now, an agent may have heard of and repeat."""
_OPEN = 1_000
"""Among how many open items of an agent its questions are looked for."""


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

    def heard(self, until: datetime, limit: int) -> Sequence[Thought]:
        """Return the thoughts that were the newest at a time, as far as they are known here."""
        ...

    def items(self, *, agent: str, limit: int) -> Sequence[OpenItem]:
        """Return the open items of an agent, as far as they are known here."""
        ...

    def pulse(self) -> Pulse:
        """Return what every agent is doing, as far as it is known here."""
        ...


class Queue:
    """An outbox that takes what comes in; each operation is sent to where the memory is."""

    def __init__(self, client: Client, plugins: PluginManager) -> None:
        self.settings, self.home, self.plugins = client.settings, client.home, plugins
        self._outbox = client.outbox
        self.items = client.known_items
        self._thoughts = client.known_thoughts

    def heard(self, until: datetime, limit: int) -> list[Thought]:
        return self._thoughts(limit=limit)

    def pulse(self) -> Pulse:
        stale_after = timedelta(minutes=self.settings.stale_after_minutes)
        return Replica(self.home, self._outbox.pending(), datetime.now(UTC), stale_after).pulse()

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
    events, queued = take_events(Queue(client, plugins))
    new = [failure for failure in plugins.failures if not any(failure is one for one in known)]
    return IngestReport(events=events, polled=0, stored=queued, enriched=0, failures=tuple(map(str, new)))


def sources(plane: Plane) -> tuple[str, ...]:
    """Return the plugins that are running and may have something to give."""
    running = (info for info in plane.plugins.infos() if info.state == "active")
    return tuple(info.name for info in running if info.agents or "ingest" in info.hooks)


def take_events(
    taker: Taker, plugin: str | None = None, paths: Sequence[Path] | None = None, recent: Recent | None = None
) -> tuple[int, int]:
    """Turn the spooled events of one plugin's agents, or of all, into operations; return how many of both.

    `paths` are the files to look at, by default all that wait; what `recent` knows is dropped as said already.
    """
    events = stored = 0
    for owner, files in in_order(taker, paths):
        if plugin not in (None, owner):
            continue
        for count in _take_files(taker, owner, files, recent or Recent()):
            events += 1
            stored += count
    return events, stored


def in_order(taker: Taker, paths: Sequence[Path] | None = None) -> Iterator[tuple[str, list[Path]]]:
    """Yield which plugin the next events are for, by default of all that wait, and those; "" where none is here.

    They come in the order in which they were said: only so is it seen who repeats whom.
    """
    if paths is None:
        spool.sweep(taker.home)
        paths = spool.waiting(taker.home)
    owners = {agent: info.name for info in taker.plugins.infos() if info.state == "active" for agent in info.agents}
    for owner, files in groupby(paths, key=lambda path: owners.get(spool.agent_of(path), "")):
        yield owner, list(files)


def _take_files(taker: Taker, owner: str, files: Sequence[Path], recent: Recent) -> Iterator[int]:
    """Yield how many operations each event became that was taken in."""
    with _alone(taker.home, owner) as alone:
        for path, event in spool.load(files) if alone else ():
            if event is None:
                spool.set_aside(path)
            elif recent.has(event):
                spool.done(path)
                yield 0
            elif owner:
                taken = _take_event(taker, event, owner)
                if taken is None:
                    spool.failed(path)
                else:
                    spool.done(path)
                    recent.add(event)
                    yield taken


@contextmanager
def _alone(home: Path, plugin: str) -> Iterator[bool]:
    """Tell whether no other thread or process takes in the events of a plugin meanwhile."""
    from filelock import FileLock, Timeout

    lock = FileLock(home / f".intake-{plugin or 'none'}.lock", mode=0o600)
    try:
        lock.acquire(timeout=OTHERS)
    except Timeout:
        yield False
        return
    except OSError as error:  # a home that cannot be written has no other who could remove an event
        logger.warning("the intake of plugin %r cannot be locked: %s", plugin, error)
    try:
        yield True
    finally:
        lock.release()


class Recent:
    """The latest events: an agent that has three registrations says each turn three times at once, to the byte."""

    def __init__(self) -> None:
        self._heard: dict[int, datetime] = {}

    def has(self, event: Event) -> bool:
        """Tell whether the same was said just before."""
        before = self._heard.get(_hash(event))
        return before is not None and event.at is not None and event.at - before < TOGETHER

    def add(self, event: Event) -> None:
        """Note what was said, and forget what was not said just before."""
        if (at := event.at) is not None:
            self._heard = {key: when for key, when in self._heard.items() if at - when < TOGETHER} | {_hash(event): at}


def _hash(event: Event) -> int:
    return hash((event.agent, event.name, json.dumps(event.payload, sort_keys=True)))


def poll(plane: Plane, plugin: str) -> int:
    """Have a plugin look at its source again; return how many operations were new."""
    answers = plane.plugins.ingest(Poll(cursor=plane.cursor(plugin)), plugin=plugin)
    return sum(_take_in(plane, answer, plugin) for _, answer in answers)


def _take_event(plane: Taker, event: Event, owner: str) -> int | None:
    """Return how many operations an event became, None if its plugin failed on it."""
    before = _latest_failure(plane, owner)
    asked = (one for one in plane.items(agent=event.agent, limit=_OPEN) if one.kind == "question")
    answers = plane.plugins.ingest(replace(event, asked=tuple(asked)))
    if _latest_failure(plane, owner) is not before:
        return None
    return sum(_take_in(plane, answer) for _, answer in answers)


def _latest_failure(plane: Taker, plugin: str) -> Failure | None:
    return next((failure for failure in reversed(plane.plugins.failures) if failure.plugin == plugin), None)


def _take_in(plane: Taker, answer: Ingested, plugin: str | None = None) -> int:
    """Check and redact what a plugin gave, and store what of it is news together with its cursor."""
    batch = list(_checked(answer.operations, hold_external=plane.settings.hold_external))
    batch = _without_what_a_repeated_prompt_closes(plane, batch)
    from memory_plane.echoes import news

    if said := [one.created_at for one in batch if one.op == "thought"]:
        heard = [*plane.heard(max(said), _HEARD), *plane.heard(datetime.now(UTC), _HEARD)]
        batch = news(batch, heard)
    cursor = (plugin, answer.cursor) if plugin is not None and answer.cursor is not None else None
    receipts = plane.store(batch, strict=False, cursor=cursor) if batch or cursor else []
    return sum(receipt.state in ("stored", "queued") for receipt in receipts)


def _without_what_a_repeated_prompt_closes(plane: Taker, batch: list[Operation]) -> list[Operation]:
    """Leave a question open where the prompt that it came of is sent again: that is no answer to it.

    That it is the same one shows in the focus, which is older than the question.
    """
    beat = next((one for one in batch if one.op == "heartbeat"), None)
    if beat is None or all(one.op != "resolve" for one in batch):
        return batch
    known = (one for one in plane.pulse().heartbeats if (one.agent, one.focus) == (beat.agent, beat.body["focus"]))
    if (before := next(known, None)) is None:
        return batch
    later = {one.id for one in plane.items(agent=beat.agent, limit=_OPEN) if one.created_at > before.at}
    return [one for one in batch if one.op != "resolve" or one.body["item"] not in later]


def _checked(given: Sequence[Operation], *, hold_external: bool) -> Iterator[Operation]:
    for one in given:
        at, id = one.created_at, one.id or None
        try:
            yield make_operation(one.op, one.body, agent=one.agent, created_at=at, id=id, hold_external=hold_external)
        except Refused as error:
            logger.warning("an operation of agent %r was refused: %s", one.agent, error)
