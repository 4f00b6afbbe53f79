"""`Plane`: one memory, opened in this process; what every surface receives."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict
from datetime import UTC, datetime, timedelta
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self
from uuid import UUID
from zoneinfo import ZoneInfo

from memory_plane import arrivals, intake, judgements, models, schema, spool
from memory_plane.database import Database
from memory_plane.errors import Refused, StoreError
from memory_plane.failures import FailureLog
from memory_plane.graphs import HITS, MOST, READS, GraphReads
from memory_plane.judgements import Judgements
from memory_plane.operations import id_of, memory_of, readable, record_of
from memory_plane.purge import Purge
from memory_plane.recall import graph, open_items, state, stats
from memory_plane.recall.snapshot import MemorySnapshot
from memory_plane.reports import Changes, IngestReport, Loss, RebuildReport, Stats, Status
from memory_plane.settings import Settings
from memory_plane.store import cursors, derivations, enrichment, feed, forgetting, items, log, marks, rebuild, vectors
from memory_plane.store.feed import NOTHING, Delivery
from memory_plane.types import (
    EPOCH,
    KINDS,
    Answer,
    Event,
    Fact,
    Memory,
    OpenItem,
    Operation,
    Pulse,
    Recall,
    Receipt,
    Thought,
)
from memory_plane.writes import Moment, Progress, Writes, asked

if TYPE_CHECKING:
    from memory_plane.inquiry import Inquiry
    from memory_plane.pipeline import Pipeline
    from memory_plane.plugins import PluginManager
    from memory_plane.rendering import Renderer

logger = logging.getLogger(__name__)

LONGEST_ID = 44
"""How many characters an id has, with its dashes."""
Watcher = Callable[[Sequence[Operation], Sequence[Receipt]], None]
"""Is told of each batch that this process wrote, in the writer's thread and after the commit; it must not raise."""


class Plane(Writes, GraphReads, Judgements):
    """Reads and writes one memory; close it, or use it as a context manager.

    Every write returns a `Receipt` and raises nothing: `refused` says why. Reads raise `StoreError` when the database
    cannot be read. Times are aware datetimes or ISO 8601 text with a zone, those
    of reads also days in the zone of the settings. Methods may be called from several threads.
    """

    def __init__(
        self,
        settings: Settings | None = None,
        *,
        home: Path | str | None = None,
        plugins: PluginManager | None = None,
    ) -> None:
        """Open the memory in `home`, making or upgrading it first; `plugins` replaces those that are installed."""
        self.settings = settings or Settings.load(home=home)
        self.home = self.settings.home
        self.database = Database.of(self.settings)
        with suppress(OSError):  # where it cannot be made, the database says so better
            self.home.mkdir(parents=True, exist_ok=True, mode=0o700)
        schema.ensure(self.database)
        if self.settings.relations:
            from memory_plane.vocabulary import hints

            hints.add(self.settings.relations, self.settings.place("relations"))
        self.watchers: list[Watcher] = []
        self._woken = EPOCH + timedelta(days=1)
        if plugins is not None:
            self.plugins = plugins

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Render the pages that are due, close the plugins and the database."""
        if "_renderer" in vars(self):
            self._renderer.close()
        if "plugins" in vars(self):
            self.plugins.close()
        self.database.close()

    @cached_property
    def plugins(self) -> PluginManager:
        """The plugins; they are loaded when they are first asked, since most reads need none."""
        from memory_plane.plugins import PluginManager

        return PluginManager.load(self.settings)

    @cached_property
    def _pipeline(self) -> Pipeline:
        from memory_plane.pipeline import Pipeline

        return Pipeline(self.database, self.plugins, self.settings)

    @cached_property
    def _renderer(self) -> Renderer:
        from memory_plane.rendering import Renderer

        return Renderer(self.snapshot, lambda: self.plugins, self.settings)

    @cached_property
    def _purge(self) -> Purge:
        return Purge(self.database, self.home, self.render, self.page)

    # --- writes --------------------------------------------------------------------------------------------------

    def _accept(self, operation: Operation) -> Receipt:
        return self._stored([operation], strict=True)[0]

    def apply(self, operation: Operation) -> Receipt:
        """Write a ready operation."""
        return self.apply_all([operation])[0]

    def apply_all(self, batch: Sequence[Operation]) -> list[Receipt]:
        """Write operations of another machine in one transaction; what they are about may come later."""
        records = [record_of(operation) for operation in batch]
        try:
            return self.merge(records)
        except StoreError as error:
            return self._refused(batch, error)

    def merge(
        self,
        operations: Sequence[Mapping[str, Any]],
        derivations: Sequence[Mapping[str, Any]] = (),
        *,
        peer: str | None = None,
        cursor: tuple[str, str] | None = None,
    ) -> list[Receipt]:
        """Write what another store told (`peer` is its id) or an outbox kept, in one transaction and in any order.

        The records are those of `changes()` and `export()`; a bad one is refused, the others go on. One receipt an
        operation. Raise `StoreError` when nothing could be written.
        """
        checked, delivery = arrivals.read(operations, derivations, peer)
        batch = [one for one in checked if isinstance(one, Operation)]
        stored = iter(self.store(batch, strict=False, cursor=cursor, delivery=delivery))
        return [next(stored) if isinstance(one, Operation) else one for one in checked]

    def changes(self, since: str | None = None, *, peer: str | None = None, limit: int = 500) -> Changes:
        """Return what the store `peer` does not know since a cursor, None for the beginning; see `merge()`.

        Raise `Refused` for a cursor that this memory never gave.
        """
        with self.database.reading() as connection:
            return feed.changes(connection, since, peer, limit)

    @cached_property
    def store_id(self) -> str:
        """The id of this memory among those that it exchanges changes with."""
        with self.database.reading() as connection:
            known = feed.identity(connection)
        if known is not None:
            return known
        with self.database.writing() as connection:
            return feed.identify(connection)

    def renew_identity(self) -> None:
        """Give this memory, a copy of another one, an id of its own, so that the two can exchange changes."""
        with self.database.writing() as connection:
            feed.identify(connection, anew=True)
        vars(self).pop("store_id", None)

    def cursor(self, name: str) -> str | None:
        """Return where `name` was read up to, None before the first time."""
        with self.database.reading() as connection:
            return cursors.get(connection, name)

    def keep_cursor(self, name: str, value: str) -> None:
        """Keep where `name` was read up to."""
        with self.database.writing() as connection:
            cursors.put(connection, name, value)

    def _stored(self, batch: Sequence[Operation], *, strict: bool) -> list[Receipt]:
        try:
            return self.store(batch, strict=strict)
        except StoreError as error:
            return self._refused(batch, error)

    def _refused(self, batch: Sequence[Operation], error: StoreError) -> list[Receipt]:
        logger.warning("nothing was written: %s", error)
        return [Receipt(id=operation.id, state="refused", detail=str(error)) for operation in batch]

    def store(
        self,
        batch: Sequence[Operation],
        *,
        strict: bool,
        cursor: tuple[str, str] | None = None,
        delivery: Delivery = NOTHING,
    ) -> list[Receipt]:
        """Write operations in one transaction and raise `StoreError` when nothing could be written.

        `strict` refuses an operation about something that is not here; `cursor` is (plugin, place), kept with them.
        """
        self._purge.mask(batch)
        receipts = self._pipeline.write(batch, strict=strict, cursor=cursor, delivery=delivery)
        if any(receipt.state == "stored" for receipt in receipts):
            self._renderer.mark_dirty()
        receipts = self._purge.after(batch, receipts)
        for watcher in self.watchers:
            watcher(batch, receipts)
        return receipts

    # --- what comes in by itself ---------------------------------------------------------------------------------

    def spool(self, event: Event) -> None:
        """Keep an agent's raw event on disk until `ingest` turns it into operations."""
        spool.put(self.home, event)

    def sources(self) -> tuple[str, ...]:
        """Return the plugins that may have something to give to `ingest`."""
        return intake.sources(self)

    def ingest(self, source: str | None = None) -> IngestReport:
        """Turn the spooled events into operations, poll every plugin, and work the queue of the deferred ones.

        With the `source` of `sources()`, take in what is of that plugin alone, and leave the queue.
        Raise `StoreError` when nothing can be stored; what was not stored is taken in by the next call.
        """
        known = self.plugins.failures
        events, stored = intake.take_events(self, source)
        names = self.sources() if source is None else (source,)
        stored += sum(intake.poll(self, name) for name in names)
        enriched = self.work_queue() if source is None else 0
        new = [failure for failure in self.plugins.failures if not any(failure is one for one in known)]
        return IngestReport(
            events=events, polled=len(names), stored=stored, enriched=enriched, failures=tuple(map(str, new))
        )

    def finish(self) -> None:
        """Look now through the memories that a crash left unread, so that what is written next comes after them."""
        self._pipeline.finish(datetime.now(UTC))
        self._renderer.mark_dirty()

    def work_queue(self) -> int:
        """Ask the deferred plugins about the memories that wait for them; return how many were enriched."""
        self._purge.retry(ask=True)
        enriched = self._pipeline.work(datetime.now(UTC))
        self._pipeline.embedder.catch_up()
        if enriched:
            self._renderer.mark_dirty()
        return enriched

    def inquiries(self, *, limit: int = 20) -> list[Inquiry]:
        """Return what deferred plugins are asked about the newest memories; those held back are not among them."""
        _check_limit(limit)
        return self._pipeline.inquiries(limit)

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
        from memory_plane.recall import search

        if kind is not None and kind not in (*KINDS, "fact"):
            raise Refused(f"kind: {kind!r} is unknown; give {', '.join(KINDS)} or fact")
        _check_limit(limit)
        query = readable(query)
        filters = search.Filters(
            agent=agent,
            kind=kind,
            project=project,
            person=person,
            since=asked("since", since, self.settings.timezone),
            until=asked("until", until, self.settings.timezone),
        )
        meant = self.settings.recall.meaning and query.strip()
        vector = self.plugins.embed([query], question=True) if meant else None
        expansion = self.plugins.expand(search.asked(query)) if self.settings.recall.beside else None
        with self.database.reading() as connection:
            return search.search(
                connection,
                query,
                filters,
                now=datetime.now(UTC),
                limit=limit,
                cursor=cursor,
                weights=self.settings.recall,
                vector=vector,
                expansion=expansion,
                explain=explain,
                tokens=tokens,
            )

    def ask(self, question: str, *, as_of: Moment | None = None) -> Answer:
        """Answer a question in plain words from graph, facts and items, as they are or were `as_of` a time.

        The answer says "I don't know" where the memory does not; it rests on the memories that its findings name.
        """
        from memory_plane.ask import ask

        name = self.settings.timezone
        at = asked("as_of", as_of, name)
        with self.database.reading() as connection:
            zone, least = ZoneInfo(name) if name else None, self.settings.min_confidence
            return ask(connection, readable(question), datetime.now(UTC), zone, at, least=least)

    def pulse(self) -> Pulse:
        """Return what every agent is doing, what is open, what was said last and what is new in the graph."""
        with self.snapshot() as snapshot:
            return snapshot.pulse()

    def items(self, *, agent: str | None = None, to: str | None = None, limit: int = 50) -> list[OpenItem]:
        """Return open items, due ones first: those that `agent` opened, those addressed `to` somebody, or all."""
        _check_limit(limit)
        with self.database.reading() as connection:
            names = None if to is None else graph.called(connection, to)
            return list(open_items.listed(connection, datetime.now(UTC), agent=agent, to=names, limit=limit))

    def thoughts(self, *, limit: int = 50) -> list[Thought]:
        """Return the newest thoughts."""
        _check_limit(limit)
        with self.database.reading() as connection:
            return list(state.thoughts(connection, limit))

    def heard(self, until: datetime, limit: int) -> Sequence[Thought]:
        """Return the thoughts that were the newest at a time: what an agent may have heard of then."""
        with self.database.reading() as connection:
            return state.thoughts(connection, limit, until)

    def held(self, *, limit: int = 50) -> list[Memory]:
        """Return the newest thoughts and facts that are held back; `release` lets one be seen."""
        _check_limit(limit)
        with self.database.reading() as connection:
            return list(state.held(connection, limit))

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
        """Return facts, newest first: the current ones, those that held `as_of` a time, or the whole `history`.

        `known_at` answers as if nothing had been written after that time.
        """
        _check_limit(limit)
        zone = self.settings.timezone
        times = {"as_of": asked("as_of", as_of, zone), "known": asked("known_at", known_at, zone)}
        with self.database.reading() as connection:
            return list(
                state.facts(connection, subject=subject, key=key, history=history, corrected=True, limit=limit, **times)
            )

    def _read_graph(self, name: str, arguments: Mapping[str, Any]) -> Any:
        if name == "visualize":
            lines = self._drawn(arguments)
            return chain([next(lines)], lines)  # what is wrong with the arguments is told at once
        if name == "search":
            hits = self.recall(arguments["text"], limit=arguments.get("limit", HITS)).hits
            arguments = {**arguments, "ids": [hit.id for hit in hits]}
        with self.database.reading() as connection:
            return READS[name](connection, self.settings, **arguments)

    def _drawn(self, arguments: Mapping[str, Any]) -> Iterator[str]:
        with self.database.reading() as connection:
            yield from READS["visualize"](connection, self.settings, **arguments)

    def _judge(self, name: str, arguments: Mapping[str, Any]) -> Any:
        return judgements.read(self.database, name, arguments)

    def get(self, id: str) -> dict[str, Any] | None:
        """Return the operation with this id as JSON holds it, with its `state` if it is a memory; None if unknown.

        The id of one of several items gives its memory, in the state of that item.
        """
        try:
            canonical = id_of(id)
        except ValueError:
            return None
        with self.database.reading() as connection:
            found = log.get(connection, canonical.partition(".")[0])
            if found is None:
                return None
            seq, operation = found
            record = record_of(operation)
            memory = memory_of(operation)
            if memory is not None:
                marked = asdict(marks.read(connection, canonical))
                shown = {"visible": derivations.visible(connection, seq, memory)}
                opened = items.opened(connection, seq, canonical)
                if opened["item"] is None and canonical != operation.id:
                    return None
                record["state"] = shown | marked | opened
            return record

    def loss(self, target: str) -> Loss:
        """Return what `forget` would take away; nothing where the id is unknown or of no thought, fact or heartbeat."""
        with self.database.reading() as connection, suppress(ValueError):
            return forgetting.loss(connection, str(UUID(target)))
        return Loss()

    def find(self, prefix: str) -> list[str]:
        """Return up to 10 ids of operations that begin with `prefix`; raise `Refused` for more than an id has."""
        if len(prefix) > LONGEST_ID:
            raise Refused(f"prefix: has {len(prefix)} characters; an id has at most {LONGEST_ID}")
        with self.database.reading() as connection:
            return log.find(connection, prefix)

    @contextmanager
    def snapshot(self) -> Iterator[MemorySnapshot]:
        """Read one moment of the memory, as the pages do."""
        stale_after = timedelta(minutes=self.settings.stale_after_minutes)
        with self.database.reading() as connection:
            yield MemorySnapshot(connection, datetime.now(UTC), stale_after, self.queued()[:2], self.settings.threshold)

    def queued(self) -> tuple[int, datetime | None, int]:
        """Return how many writes wait in the outbox of this home, since when, and how many cannot be delivered."""
        if not any((self.home / name).exists() for name in ("outbox.jsonl", "outbox.dead.jsonl")):
            return 0, None, 0
        from memory_plane.outbox import Outbox

        outbox = Outbox(self.home)
        return outbox.depth(), outbox.oldest(), len(outbox.dead())

    # --- pages ---------------------------------------------------------------------------------------------------

    def warm_up(self) -> None:
        """Load the plugins and prepare every statement, for a server whose first client should not wait for that."""
        with suppress(StoreError):
            self._pipeline.warm_up()
            self._renderer.warm_up()

    def mark_dirty(self) -> None:
        """Have the pages rendered within 200 ms."""
        self._renderer.mark_dirty()

    def render(self) -> list[Path]:
        """Render the pages now; return the files that changed."""
        return self._renderer.render()

    def wake(self, now: datetime | None = None) -> bool:
        """Have the pages rendered if time alone has changed them since the last call; say whether it has."""
        since, self._woken = self._woken, now or datetime.now(UTC)
        stale_after = timedelta(minutes=self.settings.stale_after_minutes)
        with self.database.reading() as connection:
            stirred = state.stirred(connection, since, self._woken, stale_after)
        if stirred:
            self._renderer.mark_dirty()
        return stirred

    def page(self, name: str) -> str:
        """Return a page such as `PULSE.md` or `brief/grok.md`, rendered fresh; raise `Refused` for an unknown one."""
        return self._renderer.page(name)

    # --- care ----------------------------------------------------------------------------------------------------

    def status(self) -> Status:
        """Return where the memory is and how it fares."""
        revision = schema.current(self.database) or ""
        queued, queued_since, dead = self.queued()
        with self.database.reading() as connection:
            return Status(
                home=self.home,
                database=self.database.address,
                revision=revision,
                operations=log.count(connection),
                thoughts=stats.rows(connection, models.thoughts),
                open_items=open_items.total(connection, datetime.now(UTC)),
                facts=stats.current_facts(connection),
                nodes=stats.rows(connection, models.graph_nodes),
                edges=stats.rows(connection, models.graph_edges),
                waiting=enrichment.depth(connection),
                spooled=len(spool.waiting(self.home)),
                failures=self.failures(),
                agents=state.writers(connection),
                purging=len(forgetting.waiting(connection)),
                queued=queued,
                queued_since=queued_since,
                dead=dead,
            )

    def failures(self) -> tuple[str, ...]:
        """Return the latest failure of each plugin, also those that other processes saw; a used-up cap is none."""
        if "plugins" in vars(self):
            found = [info.failure for info in self.plugins.infos() if info.failure is not None]
        else:
            found = list(FailureLog(self.home / "failures.jsonl").latest().values())
        return tuple(str(failure) for failure in found if failure.until is None)

    def stats(self) -> Stats:
        """Return what the memory is made of."""
        with self.database.reading() as connection:
            return Stats(
                operations_by_agent=stats.operations_by_agent(connection),
                thoughts_by_kind=stats.thoughts_by_kind(connection),
                nodes_by_type=stats.nodes_by_type(connection),
                edges_by_relation=stats.edges_by_relation(connection),
                nodes_by_origin=stats.nodes_by_origin(connection),
                most_linked=stats.most_linked(connection),
                answers_by_plugin=stats.answers_by_plugin(connection),
                bytes=self.database.size(),
            )

    def rebuild(self, *, rederive: bool = False, progress: Progress | None = None) -> RebuildReport:
        """Fold everything anew from log and derivations; with `rederive`, ask the plugins again first.

        The first promises the same state as before; the second promises nothing and reports what changed.
        """
        said = progress or (lambda done, total: None)
        with self.database.writing() as connection:
            count = rebuild.refold_operations(connection, said)
            vectors.clear(connection)
            if rederive:  # a crash before the end must leave a queue, not a hole
                enrichment.put_all(connection, log.memories(connection))
            kept = 0 if rederive else rebuild.refold_derivations(connection, said)
        changed = tuple(self._pipeline.rederive(said)) if rederive else ()
        self._pipeline.embedder.catch_up_wholly(said)
        self._renderer.mark_dirty()
        if rederive:
            with self.database.reading() as connection:
                kept = derivations.count(connection)
        return RebuildReport(operations=count, derivations=kept, changed=changed)

    def export(self, progress: Progress | None = None) -> Iterator[str]:
        """Yield the memory as lines of JSON, operations then derivations, in an order that depends on nothing else."""
        with self.database.reading() as connection:
            total = log.count(connection) + derivations.count(connection)
            for done, record in enumerate(rebuild.export(connection), 1):
                yield json.dumps(record, ensure_ascii=False, separators=(",", ":"), sort_keys=True)
                if progress is not None:
                    progress(done, total)


def _check_limit(limit: int) -> None:
    if not 1 <= limit <= MOST:
        raise Refused(f"limit: {limit} is too {'small' if limit < 1 else 'large'}; give 1 to {MOST:,}")
