"""What happens by itself: the events of hooks are taken in as they come, and every half minute a hub makes its round.

It takes in what waits, asks the deferred plugins, and meets other memories.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from threading import Event, Thread
from time import monotonic
from typing import TYPE_CHECKING, Self

from memory_plane import intake, spool, sync
from memory_plane.errors import MemoryPlaneError

if TYPE_CHECKING:
    from memory_plane.intake import Taker
    from memory_plane.plane import Plane
    from memory_plane.surfaces.cli.session import Session

logger = logging.getLogger(__name__)

EVERY = 30.0
"""Seconds between the beginnings of two rounds."""
PATIENCE = 20.0
"""Seconds that the next job waits for the one before it; one that takes longer goes on beside the others."""
LOOK, HASTE = 0.25, 2.0
"""Seconds between two looks for events of hooks, and that the next plugin's then wait for those before: what one agent
does is to be there on the next turn of another."""
LAST_WORDS = 2.0
"""Seconds that a job under way has when the hub ends."""

Job = tuple[str, Callable[[], object]]


class Rounds:
    """Runs named jobs one after another, each in a thread of its own: one that hangs holds the others up once."""

    def __init__(self, jobs: Callable[[], Iterable[Job]], *, every: float = EVERY, patience: float = PATIENCE) -> None:
        self._jobs = jobs
        self._every = every
        self._patience = patience
        self._ended = Event()
        self._thread = Thread(target=self._run, name="rounds", daemon=True)
        self._running: dict[str, Thread] = {}
        self._told: set[str] = set()

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        deadline = monotonic() + LAST_WORDS
        for thread in (self._thread, *self._running.values()):
            thread.join(max(0.0, deadline - monotonic()))

    def _run(self) -> None:
        while not self._ended.is_set():
            began = monotonic()
            self._round()
            self._ended.wait(max(min(1.0, self._every), self._every - (monotonic() - began)))

    def _round(self) -> None:
        try:
            for name, job in self._jobs():
                if self._ended.is_set():
                    return
                self._start(name, job)
        except MemoryPlaneError as error:
            logger.warning("a round broke off: %s", error)
        except Exception:
            logger.exception("a round broke off")

    def _start(self, name: str, job: Callable[[], object]) -> None:
        last = self._running.get(name)
        if last is not None and last.is_alive():
            if name not in self._told:
                logger.warning("%s has not ended since the last round; it is left alone until it does", name)
                self._told.add(name)
            return
        self._told.discard(name)
        self._running[name] = thread = Thread(target=_guarded, args=(name, job), name=name, daemon=True)
        thread.start()
        thread.join(self._patience)


@contextmanager
def rounds(plane: Plane) -> Iterator[None]:
    """Do meanwhile what a hub does by itself."""
    with Rounds(partial(jobs, plane)), arrivals(plane.home, lambda: plane):
        yield


def arrivals_of(session: Session) -> Rounds:
    """Take in meanwhile what hooks leave, in a process that serves an agent, unless a hub of its home does."""
    session.takes_in = False  # nobody waits for it
    elsewhere = session.settings.elsewhere is not None
    return arrivals(session.settings.home, session.taker, session.client.flush if elsewhere else None)


def arrivals(home: Path, taker: Callable[[], Taker | None], then: Callable[[], object] | None = None) -> Rounds:
    """Take in the events of hooks as they come.

    `taker` gives who takes them, None while somebody else does; `then` is done after each batch.
    """
    watch, recent = spool.Watch(home), intake.Recent()

    def new() -> Iterator[Job]:
        paths = watch.new()
        who = taker() if paths else None
        if who is None:
            return
        for plugin, files in intake.in_order(who, paths):
            yield f"the events of plugin {plugin!r}", partial(intake.take_events, who, plugin, files, recent)
        if then is not None:
            yield "what came of the events", then

    return Rounds(new, every=LOOK, patience=HASTE)


def jobs(plane: Plane) -> Iterable[Job]:
    """Name the jobs of one round: the outbox, events, each plugin's poll by itself, the queue, the other memories."""
    yield "the outbox", partial(sync.deliver, plane)
    yield "the events that wait", partial(intake.take_events, plane)  # a poll may find who repeats what they say
    for source in plane.sources():
        yield f"the intake of plugin {source!r}", partial(intake.poll, plane, source)
    yield "the queue of deferred plugins", plane.work_queue
    yield "the pages that time has changed", plane.wake
    if plane.settings.sync.url is not None:
        yield f"the exchange with {plane.settings.sync.url}", partial(sync.meet, plane)


def _guarded(name: str, job: Callable[[], object]) -> None:
    try:
        job()
    except MemoryPlaneError as error:
        logger.warning("%s broke off: %s", name, error)
    except Exception:
        logger.exception("%s failed", name)
