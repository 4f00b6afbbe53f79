"""`Client`: a memory that takes every write, whatever is up: by the hub, else in its database, else on an outbox.

One state machine over two targets, drawn in docs/offline.md: a target that failed is left alone for a while, and what
waits in the outbox goes first once one answers.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import cached_property
from pathlib import Path
from threading import Lock, Timer
from time import monotonic
from typing import TYPE_CHECKING, Any, Self, TypeVar
from urllib.parse import urlsplit
from zoneinfo import ZoneInfo

from memory_plane import presence
from memory_plane.access import agent_of, is_loopback, read_token
from memory_plane.errors import (
    ConfigurationError,
    HubUnreachable,
    MemoryPlaneError,
    Refused,
    SchemaError,
    StoreBusy,
    StoreError,
)
from memory_plane.graphs import GraphReads
from memory_plane.judgements import Judgements
from memory_plane.operations import FORGET, agent_id, id_of, readable, record_of
from memory_plane.replica import FILE, PAGES, Replica
from memory_plane.reports import Loss, Stats, Status
from memory_plane.settings import Settings
from memory_plane.types import Answer, Fact, Memory, OpenItem, Operation, Pulse, Recall, Receipt, Thought, View
from memory_plane.views import write_views
from memory_plane.writes import Moment, Writes, asked

if TYPE_CHECKING:
    from memory_plane.failures import Failure
    from memory_plane.outbox import Outbox
    from memory_plane.plane import Plane
    from memory_plane.plugins import PluginManager
    from memory_plane.remote import Hub

logger = logging.getLogger(__name__)

T = TypeVar("T")

_OUTAGES = (HubUnreachable, StoreError, SchemaError)

FLUSH_EVERY = 30.0
"""Seconds between two tries to send what waits, in a process that lives on, and between two copies of the replica."""


class Client(Writes, GraphReads, Judgements):
    """Reads and writes a memory with the methods of `Plane`; close it, or use it as a context manager.

    A write never raises and is never lost: its receipt says `stored`, `duplicate`, `queued (n waiting)` or `refused`.
    A read that neither hub nor database can answer comes from the last copy, with what is queued on top; what that
    copy does not hold raises `HubUnreachable` or `StoreError`. `trouble` says why the last call had to do without.
    """

    def __init__(
        self,
        settings: Settings | None = None,
        *,
        home: Path | str | None = None,
        plugins: PluginManager | None = None,
    ) -> None:
        """Make ready; nothing is opened before the first call. `plugins` replaces those that are installed."""
        self.settings = settings or Settings.load(home=home)
        self.home = self.settings.home
        self.trouble: str | None = None
        self._plugins = plugins
        self._left: list[object] = []
        self._begin()

    def _begin(self) -> None:
        self._process = os.getpid()
        self._lock = Lock()
        self._hub: Hub | None = None
        self._plane: Plane | None = None
        self._down: dict[str, tuple[float, MemoryPlaneError]] = {}
        self._timer: Timer | None = None
        self._copied = float("-inf")

    def _be_alone(self) -> None:
        """Begin anew in a process that was forked off: on one connection, each would read the other's answers.

        What was inherited is kept, since closing it would end it for the other process too.
        """
        if self._process != os.getpid():
            self._left += (self._hub, self._plane)
            self._begin()

    @cached_property
    def outbox(self) -> Outbox:
        """What waits on this machine."""
        from memory_plane.outbox import Outbox

        return Outbox(self.home, timeout=self.settings.timeout)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Try once more to send what waits, then close what was opened."""
        self._be_alone()
        with self._lock:
            timer, self._timer = self._timer, None
        if timer is not None:
            timer.cancel()
            self.flush()
        if self._hub is not None:
            self._hub.close()
        if self._plane is not None:
            self._plane.close()

    # --- writes --------------------------------------------------------------------------------------------------

    def _accept(self, operation: Operation) -> Receipt:
        if operation.op == FORGET:
            self._copied = float("-inf")  # the copy for offline reads is made anew with this call
        if self.flush():  # what is older goes first
            return self._queue(operation)
        try:
            return self._try(lambda hub: hub.store(operation), lambda plane: plane.store([operation], strict=True)[0])
        except _OUTAGES as error:
            self.trouble = str(error)
            return self._queue(operation)

    def _queue(self, operation: Operation) -> Receipt:
        """Keep an operation on disk until it can be sent."""
        try:
            waiting = self.outbox.append(operation)
        except StoreError as error:
            trouble, self.trouble = self.trouble, None
            return Receipt(id=operation.id, state="refused", detail=f"{error}; {trouble}")
        if operation.op == FORGET:  # what it is about need not wait on this disk
            with suppress(StoreError):  # it goes when the word to forget arrives
                self.outbox.purge(operation.body["target"])
            waiting = self.outbox.depth()
        self._flush_later()
        return Receipt(id=operation.id, state="queued", detail=f"{waiting} waiting")

    def flush(self) -> int:
        """Send what waits, oldest first; return how much still waits. It is called before every other call."""
        self._be_alone()
        if not (self.home / "outbox.jsonl").exists() or not self.outbox.depth():
            return 0
        flushed = self.outbox.flush(self._send, self._speaks_for())
        if flushed.waiting:
            self.trouble = flushed.reason or "another process is sending what waits"
        return flushed.waiting

    def _speaks_for(self) -> str | None:
        """Return the one agent that our token lets write, None where it is that of the hub or there is none."""
        with suppress(HubUnreachable):
            return agent_of(self._token() or "")
        return None

    def _send(self, batch: Sequence[Operation]) -> Sequence[Receipt]:
        records = [record_of(operation) for operation in batch]
        try:
            return self._try(lambda hub: hub.merge(records), lambda plane: plane.merge(records))
        except SchemaError as error:
            raise StoreError(str(error)) from error

    def _flush_later(self) -> None:
        with self._lock:
            if self._timer is None:
                self._timer = Timer(FLUSH_EVERY, self._flush_now)
                self._timer.daemon = True
                self._timer.start()

    def _flush_now(self) -> None:
        with self._lock:
            self._timer = None
        if self.flush():
            self._flush_later()

    # --- reads ---------------------------------------------------------------------------------------------------

    def recall(
        self,
        query: str,
        *,
        agent: str | None = None,
        kind: str | None = None,
        project: str | None = None,
        person: str | None = None,
        since: Moment | None = None,
        until: Moment | None = None,
        limit: int = 8,
        cursor: str | None = None,
        explain: bool = False,
        tokens: int | None = None,
    ) -> Recall:
        """Search all memories; raise `Refused` for a filter or cursor that makes no sense, never for a query.

        `explain` tells what made each score; with `tokens`, hits bring what was said around them, for that many.
        """
        filters = {"agent": agent, "kind": kind, "project": project, "person": person, "since": since, "until": until}
        shown = {"limit": limit, "cursor": cursor, "explain": explain, "tokens": tokens}
        found: Recall = self._ask("recall", query=readable(query), **filters, **shown)
        return found

    def ask(self, question: str, *, as_of: Moment | None = None) -> Answer:
        """Answer a question in plain words; see `Plane.ask`. The copy for offline reads holds no graph to ask."""
        found: Answer = self._ask("ask", question=readable(question), as_of=as_of)
        return found

    def pulse(self) -> Pulse:
        """Return what every agent is doing, what is open, what was said last and what is new in the graph."""
        found: Pulse = self._ask("pulse")
        queued, since, _ = self.queued()
        return replace(found, queued=queued, queued_since=since)

    def items(self, *, agent: str | None = None, to: str | None = None, limit: int = 50) -> list[OpenItem]:
        """Return open items, due ones first: those that `agent` opened, those addressed `to` somebody, or all."""
        found: list[OpenItem] = self._ask("items", agent=agent, to=to, limit=limit)
        return found

    def thoughts(self, *, limit: int = 50) -> list[Thought]:
        """Return the newest thoughts."""
        found: list[Thought] = self._ask("thoughts", limit=limit)
        return found

    def held(self, *, limit: int = 50) -> list[Memory]:
        """Return the newest thoughts and facts that are held back. The copy for offline reads has none."""
        found: list[Memory] = self._ask("held", limit=limit)
        return found

    def known_thoughts(self, *, limit: int = 50) -> list[Thought]:
        """Return the newest thoughts of the copy for offline reads and of the outbox; ask nobody."""
        return self._replica().thoughts(limit=limit)

    def known_items(self, *, agent: str, limit: int = 50) -> list[OpenItem]:
        """Return the open items of an agent that the copy for offline reads has; ask nobody."""
        return self._replica().items(agent=agent, limit=limit)

    def facts(
        self,
        *,
        subject: str | None = None,
        key: str | None = None,
        as_of: Moment | None = None,
        known_at: Moment | None = None,
        history: bool = False,
        limit: int = 200,
    ) -> list[Fact]:
        """Return facts, newest first: the current ones, those that held `as_of` a time, or the whole `history`."""
        times = {"as_of": as_of, "known_at": known_at}
        asked = {"subject": subject, "key": key, **times, "history": history, "limit": limit}
        found: list[Fact] = self._ask("facts", **asked)
        return found

    def _judge(self, name: str, arguments: Mapping[str, Any]) -> Any:
        return self._ask(name, **arguments)

    def _read_graph(self, name: str, arguments: Mapping[str, Any]) -> Any:
        return self._ask(name, **arguments)

    def get(self, id: str) -> dict[str, Any] | None:
        """Return the operation with this id as JSON holds it, also a queued one; None if unknown."""
        with suppress(ValueError):
            id = id_of(id)
        self.flush()
        for operation in self.outbox.pending() if self.outbox.depth() else ():
            if operation.id == id:
                return record_of(operation)
        found: dict[str, Any] | None = self._ask("get", id=id)
        return found

    def find(self, prefix: str) -> list[str]:
        """Return up to 10 ids of operations that begin with `prefix`."""
        found: list[str] = self._ask("find", prefix=prefix)
        return found

    def loss(self, target: str) -> Loss:
        """Return what `forget` would take away; see `Plane.loss`."""
        found: Loss = self._ask("loss", target=target)
        return found

    def page(self, name: str) -> str:
        """Return a page such as `PULSE.md`; where none can be rendered now, that of the copy, or the one on disk."""
        try:
            found: str = self._ask("page", name=name)
        except (HubUnreachable, StoreBusy):
            if name == "PULSE.md" and self._replica().known:
                return self._pulse_page()
            with suppress(OSError):
                if _is_page(name):
                    return (self.home / name).read_text("utf-8")
            raise
        return found

    def _pulse_page(self) -> str:
        from memory_plane.pages import pulse_text

        zone = ZoneInfo(self.settings.timezone) if self.settings.timezone else None
        return pulse_text(self.pulse(), now=datetime.now(UTC), zone=zone)

    def status(self) -> Status:
        """Return where the memory is and how it fares, with the outbox of this machine."""
        found: Status = self._ask("status")
        queued, since, dead = self.queued()
        return replace(found, queued=queued, queued_since=since, dead=dead)

    def queued(self) -> tuple[int, datetime | None, int]:
        """Return how many writes wait on this machine, since when, and how many cannot be delivered."""
        return self.outbox.depth(), self.outbox.oldest(), len(self.outbox.dead())

    def stats(self) -> Stats:
        """Return what the memory is made of."""
        found: Stats = self._ask("stats")
        return found

    def warm_up(self) -> None:
        """Open what the next call will need, for a server whose first client should not wait for that."""
        with suppress(*_OUTAGES):
            self._try(lambda hub: None, lambda plane: plane.warm_up())

    @property
    def plane(self) -> Plane:
        """The database of this machine, for what only it can do; raise what keeps it from being opened."""
        self._be_alone()
        if self._plane is None:
            from memory_plane.plane import Plane

            with self._lock:
                if self._plane is None:
                    self._plane = Plane(self.settings, plugins=self._plugins)
        return self._plane

    @property
    def failures(self) -> Sequence[Failure]:
        """The plugins that this process had to do without."""
        plane = self._plane
        return vars(plane)["plugins"].failures if plane is not None and "plugins" in vars(plane) else ()

    def _ask(self, name: str, /, **arguments: Any) -> Any:
        self.flush()
        try:
            return self._try(lambda hub: hub.ask(name, arguments), lambda plane: getattr(plane, name)(**arguments))
        except _OUTAGES as error:
            self.trouble = None  # the error itself tells it
            read, replica = getattr(Replica, name, None), self._replica()
            if read is None or not replica.known or not isinstance(error, HubUnreachable | StoreBusy):
                raise
            self.trouble = str(error)
            for time in {"since", "until", "as_of", "known_at"} & arguments.keys():
                arguments[time] = asked(time, arguments[time], self.settings.timezone)
            return read(replica, **arguments)

    def _replica(self) -> Replica:
        stale_after = timedelta(minutes=self.settings.stale_after_minutes)
        return Replica(self.home, self.outbox.pending(), datetime.now(UTC), stale_after)

    # --- the two targets -----------------------------------------------------------------------------------------

    def _try(self, by_hub: Callable[[Hub], T], by_plane: Callable[[Plane], T]) -> T:
        """Have the hub do it, else the database; raise what kept the last of them where neither can.

        One that failed is not tried again for a while, so that it costs nothing.
        """
        trouble: MemoryPlaneError = HubUnreachable("there is neither a hub nor a database")
        targets: tuple[tuple[str, Callable[[], Any], Callable[[Any], T]], ...] = (
            ("hub", self._open_hub, by_hub),
            ("database", self._open_plane, by_plane),
        )
        for name, open_, call in targets:
            until, error = self._down.get(name, (0.0, trouble))
            if monotonic() < until:
                trouble = error
                continue
            try:
                target = open_()
                if target is None:
                    continue
                answer = call(target)
                if name == "hub":
                    self._copy(target)
            except _OUTAGES as error:
                trouble = error
                self._down[name] = (monotonic() + self._break(error), error)
                logger.warning("%s", error)
            else:
                self._down.pop(name, None)
                self.trouble = None
                return answer
        raise trouble

    def _copy(self, hub: Hub) -> None:
        """Keep a copy for offline reads, where no database here renders one."""
        if monotonic() - self._copied < FLUSH_EVERY or self.settings.elsewhere is None:
            return
        self._copied = monotonic()
        with suppress(HubUnreachable, Refused, OSError):  # a home that cannot be written keeps no copy
            text = hub.ask("page", {"name": FILE})
            self.home.mkdir(parents=True, exist_ok=True, mode=0o700)
            write_views(self.home, [View(path=Path(FILE), text=text)])

    def _break(self, error: MemoryPlaneError) -> float:
        """Return for how many seconds a target that failed is left alone, a database only if it made us wait."""
        if isinstance(error, HubUnreachable):
            return self.settings.client.retry_after
        return self.settings.timeout if isinstance(error, StoreBusy) else 0.0

    def _open_hub(self) -> Hub | None:
        """Return the hub that the settings name, or the one that is up in this home; None where there is neither."""
        settings = self.settings.hub
        url = settings.url
        if url is None:
            there = presence.read(self.home)
            if there is None:
                return None
            url = there.url
        token = self._token()
        if token is None:
            raise HubUnreachable(f"hub {url!r} needs a token; set MEMORY_PLANE_HUB__TOKEN")
        with self._lock:
            if self._hub is None or not self._hub.is_at(url, token):
                from memory_plane.remote import Hub

                if self._hub is not None:
                    self._hub.close()
                wait = self.settings.client
                connect = wait.connect_local if is_loopback(_host(url)) else wait.connect_remote
                self._hub = Hub(url, token, connect=connect, answer=wait.answer, certificate=settings.certificate)
            return self._hub

    def sign_in(self) -> str:
        """Return an address that signs one browser in at the hub, once and soon; raise `HubUnreachable`."""
        hub = self._open_hub()
        if hub is None:
            raise HubUnreachable("no hub is up; start it with: memory-plane up --detach")
        return hub.sign_in()

    def _token(self) -> str | None:
        given = self.settings.hub.token
        try:
            return given.get_secret_value() if given else read_token(self.home)
        except ConfigurationError as error:  # which must cost nobody a write
            raise HubUnreachable(str(error)) from error

    def _open_plane(self) -> Plane | None:
        """Return the database; None where the memory is elsewhere and this machine keeps none."""
        return self.plane if self.settings.elsewhere is None else None


class Inside(Client):
    """What the hub's own sessions write to: its database, and the outbox while that takes nothing."""

    def __init__(self, plane: Plane) -> None:
        super().__init__(plane.settings)
        self._plane = plane

    def _open_hub(self) -> None:
        """Look for no hub: this is it."""

    def _flush_later(self) -> None:
        """Leave that to the hub's rounds."""

    def _speaks_for(self) -> None:
        """Send what anybody wrote: a database asks for no token."""


def _is_page(name: str) -> bool:
    """Whether this names one of the standard pages, and no other file of the home."""
    path = Path(name)
    return name in PAGES or (path.parent == Path("brief") and path.suffix == ".md" and agent_id(path.stem) is not None)


def _host(url: str) -> str:
    with suppress(ValueError):
        return urlsplit(url).hostname or ""
    return ""
