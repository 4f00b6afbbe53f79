"""The straight line of one write, and the queue of what is done after it."""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import reduce
from itertools import islice, takewhile
from time import monotonic
from typing import TYPE_CHECKING

from sqlalchemy import Connection

from memory_plane.answers import unite
from memory_plane.database import Database
from memory_plane.embedding import Embedder
from memory_plane.errors import ModelUnavailable, PluginError, StoreError
from memory_plane.inquiry import Inquiry, inquire, nodes_of, settled
from memory_plane.operations import make_operation, memory_of
from memory_plane.recall import attention
from memory_plane.recall.candidates import Candidates, candidates, outdated
from memory_plane.recall.known import known_names
from memory_plane.rescoring import Rescorer
from memory_plane.store import corrections, cursors, derivations, enrichment, feed, log, operations
from memory_plane.store.codec import Derivation
from memory_plane.store.feed import NOTHING, Delivery
from memory_plane.types import Classification, Extraction, Memory, Operation, Receipt

if TYPE_CHECKING:
    from memory_plane.plugins import PluginManager
    from memory_plane.settings import Settings

logger = logging.getLogger(__name__)

MAX_TRIES = 8
"""After so many tries that a crash cut short the inline plugins are no longer asked about a memory."""
PATIENCE = 14
"""After so many failed tries, six days by then, a deferred plugin's answer is no longer waited for."""
ATTEMPTS = 4
"""How often a memory is asked about anew because others founded nodes of its names meanwhile."""
LEFT = 20
"""How many memories that a crash left without enrichment are taken up by the first write of the next process."""
FIRST_RETRY = timedelta(seconds=30)
SHIFT = 30.0
"""After so many seconds of asking deferred plugins no further question is begun: what they said is to be shown."""


class _TakenBack(Exception):
    """Ends a transaction that was only tried."""


class Pipeline:
    """Writes operations and enriches the memories in them; nothing after the first commit can undo a write."""

    def __init__(self, database: Database, plugins: PluginManager, settings: Settings) -> None:
        self._database = database
        self._recovered = False
        self._resting: dict[str, datetime] = {}
        self._plugins = plugins
        self.embedder = Embedder(database, plugins)
        declared = {name: info.interests for name, info in plugins.agents.items()}
        said = {
            name.lower(): tuple(one.interests) for name, one in settings.agents.items() if one.interests is not None
        }
        self._interests = declared | said
        self._rescorer = Rescorer(database, plugins, self._interests)

    def write(
        self,
        batch: Sequence[Operation],
        *,
        strict: bool = True,
        cursor: tuple[str, str] | None = None,
        delivery: Delivery = NOTHING,
    ) -> list[Receipt]:
        """Append operations in one transaction and enrich the memories that are new; one receipt each, in order.

        `cursor` is (plugin, place) and commits with them. `strict` refuses an operation about something that is not
        here; replay and sync wait for it to come. What a `delivery` has the answers for is not asked about again.
        Raise `StoreError` when nothing could be stored.
        """
        now = datetime.now(UTC)
        receipts: list[Receipt] = []
        fresh: list[tuple[int, Memory, datetime]] = []
        new: set[str] = set()
        told: list[int] = []
        with self._database.writing() as connection:
            for operation in batch:
                refusal = corrections.refusal(connection, operation) if strict else None
                if refusal is not None:
                    receipts.append(Receipt(id=operation.id, state="refused", detail=refusal))
                    continue
                appended = operations.append(connection, operation, now, delivery)
                receipts.append(_receipt(operation, appended))
                memory = memory_of(operation) if appended.new else None
                if memory is not None and operation.id not in delivery.answers:
                    enrichment.put(connection, appended.seq, (enrichment.INLINE,))
                    fresh.append((appended.seq, memory, appended.at))
                elif memory is not None:
                    told.append(appended.seq)
                new |= {operation.id} if appended.new else set()
                if appended.new and operation.op == "release":
                    self._ask_now(connection, operation)
            self._take_in(connection, delivery, new)
            if cursor is not None:
                cursors.put(connection, *cursor)
        if fresh and not self._recovered:
            self._recovered = True
            self._finish_before(fresh[0][0], now)
        for seq, memory, at in fresh:
            self._enrich_safely(seq, memory, at, late=delivery.peer is not None)
        with suppress(StoreError):  # the rounds of the hub make up for it
            self.embedder.embed(told)
            self._rescorer.catch_up({one.agent for one in batch if one.op == "heartbeat" and one.id in new}, now)
        return receipts

    def _ask_now(self, connection: Connection, release: Operation) -> None:
        """Queue for the deferred plugins what they were not asked about while it was held back."""
        target = log.target_of(release)
        found = log.get(connection, target) if target is not None else None
        if found is not None and memory_of(found[1]) is not None:
            late = (enrichment.MEANING,) if self._plugins.embeds_later else ()
            enrichment.put(connection, found[0], (*self._plugins.deferred, *late))

    def _take_in(self, connection: Connection, delivery: Delivery, new: Collection[str]) -> None:
        """Keep the answers that came along, and have those plugins asked that another machine does not have."""
        for id in delivery.answers:
            found = log.get(connection, id)
            memory = None if found is None else memory_of(found[1])
            if found is None or memory is None:
                continue
            seq, at = found[0], log.effective(connection, found[0])
            answered = feed.take_in(connection, seq, memory, at, delivery, new=id in new)
            for plugin in answered:
                enrichment.done(connection, plugin, seq)
            if id in new:
                missing = self._plugins.deferred if answered else (enrichment.INLINE,)
                enrichment.put(connection, seq, [name for name in missing if name not in answered])

    def enrich(self, seq: int, memory: Memory, at: datetime, *, late: bool = False) -> None:
        """Ask the plugins about a stored memory and record their answers; repeating it changes nothing.

        Answers that come `late` may find the memory passed on to other machines already.
        """
        for attempt in range(ATTEMPTS):
            answers, asked = self.ask(memory)
            meant = self.embedder.ask(memory)
            with self._database.writing(durable=False) as connection:
                if attempt + 1 < ATTEMPTS and outdated(connection, asked):
                    continue  # another writer met the same new names meanwhile: they are its nodes now
                derivations.record(connection, seq, memory, at, answers, late=late)
                self.embedder.keep(connection, seq, meant)
                enrichment.put(connection, seq, self._plugins.deferred)
                enrichment.done(connection, enrichment.INLINE, seq)
                return

    def ask(self, memory: Memory) -> tuple[list[Derivation], Candidates]:
        """Return what the inline plugins say of a memory, one derivation a plugin, and the nodes they were shown."""
        with self._database.reading() as connection:
            names = known_names(connection, memory.text)
        extractions = self._plugins.extractions(memory, names)
        found = reduce(unite, (extraction for _, extraction in extractions), Extraction())
        with self._database.reading() as connection:
            known = candidates(connection, memory, found.mentions, found.claims)
            classified = self._plugins.classify(memory, found, known.found)
            nodes = nodes_of(classified[1] if classified else Classification(), known.known, memory.origin)
            agents = attention.contexts(connection, memory, nodes, known.known, self._interests)
        routed = self._plugins.route(memory, nodes, agents) if agents else None
        said = dict(extractions), dict([classified] if classified else []), dict([routed] if routed else [])
        answers = [
            Derivation(
                plugin=name,
                version=self._plugins.version(name),
                extraction=said[0].get(name),
                classification=said[1].get(name),
                routing=said[2].get(name),
            )
            for name in dict.fromkeys(name for part in said for name in part)
        ]
        return answers, known

    def rederive(self, progress: Callable[[int, int], None]) -> Iterator[str]:
        """Ask the inline plugins about every memory again, oldest first; yield the ids where the answer changed.

        The graph must be empty of derivations: each memory meets the graph as the ones before it left it. Deferred
        plugins get in their queue what they have not answered yet.
        """
        with self._database.reading() as connection:
            rows = log.memories(connection)
        for done, seq in enumerate(rows, 1):
            with self._database.reading() as connection:
                found = log.memory(connection, seq)
            if found is None:  # it was forgotten since the list was made
                continue
            memory, _ = found
            answers, _ = self.ask(memory)
            with self._database.writing(durable=False) as connection:
                if log.memory(connection, seq) is None:
                    continue
                before = list(derivations.answers(connection, seq))
                derivations.discard(connection, seq)
                for answer in answers:
                    derivations.keep(connection, seq, memory, answer, late=True)
                if derivations.visible(connection, seq, memory):
                    derivations.apply_all(connection, seq)
                enrichment.done(connection, enrichment.INLINE, seq)
                said = {plugin for plugin, _, rank, _ in before if rank}
                enrichment.put(connection, seq, [name for name in self._plugins.deferred if name not in said])
                changed = before != list(derivations.answers(connection, seq))
            progress(done, len(rows))
            if changed:
                yield memory.id

    def warm_up(self) -> None:
        """Do once what a write does, and take it back: so the first real one need not prepare every statement."""
        body = {"text": "Ada Lovelace leads the Engine team at Analytical Ltd."}
        operation = make_operation("thought", body, agent="memory-plane")
        memory = memory_of(operation)
        assert memory is not None
        answers, _ = self.ask(memory)
        with suppress(_TakenBack), self._database.writing(durable=False) as connection:
            seq = operations.append(connection, operation, operation.created_at).seq
            enrichment.put(connection, seq, (enrichment.INLINE,))
            derivations.record(connection, seq, memory, operation.created_at, answers)
            enrichment.done(connection, enrichment.INLINE, seq)
            raise _TakenBack

    def finish(self, now: datetime) -> None:
        """Enrich all that a crash cut short, oldest first, without waiting for when it is due."""
        with self._database.reading() as connection:
            left = enrichment.cut_short(connection)
        for seq, tries in left:
            self._enrich_again(seq, tries, now)

    def work(self, now: datetime, limit: int = 100) -> int:
        """Ask the deferred plugins about what waits for them, and finish what a crash cut short; count the answers.

        The rest of what a slow one would take too long for is left for the next call.
        """
        self._rescorer.catch_up(None, now)
        end = monotonic() + SHIFT
        self._resting = {plugin: until for plugin, until in self._resting.items() if until > now}
        with self._database.reading() as connection:
            entries = enrichment.due(connection, now, limit, but=self._resting)
        shift = takewhile(lambda _: monotonic() < end, entries)
        return sum(self._defer(*entry, now) for entry in shift if entry[0] not in self._resting)

    def inquiries(self, limit: int) -> list[Inquiry]:
        """Return what a deferred plugin would be asked about the newest memories, the newest first."""
        with self._database.reading() as connection:
            asked = (inquire(connection, seq, self._interests) for seq in reversed(log.memories(connection)))
            return list(islice((one for one in asked if one is not None), limit))

    def _enrich_safely(self, seq: int, memory: Memory, at: datetime, *, late: bool, noted: bool = False) -> None:
        """The memory is stored: what goes wrong here is for the log, and the queue will have it done again.

        `noted`: the queue knows of this try already.
        """
        try:
            self.enrich(seq, memory, at, late=late)
        except Exception:
            if self._plugins.strict:
                raise
            logger.warning("memory %s is stored, but could not be enriched", memory.id, exc_info=True)
            if noted:
                return
            with suppress(StoreError), self._database.writing(durable=False) as connection:
                again = datetime.now(UTC) + FIRST_RETRY
                enrichment.postpone(connection, enrichment.INLINE, seq, again, "could not be enriched")

    def _finish_before(self, seq: int, now: datetime) -> None:
        """Enrich what a process that died left undone, a little at each start; `work` does the rest."""
        with self._database.reading() as connection:
            left = enrichment.due(connection, now, LEFT, but=self._plugins.deferred)
        for plugin, row, tries in left:
            if plugin == enrichment.INLINE and row < seq:
                self._enrich_again(row, tries, now)

    def _defer(self, plugin: str, seq: int, tries: int, now: datetime) -> bool:
        if plugin == enrichment.INLINE:
            return self._enrich_again(seq, tries, now)
        if not self._begun(plugin, seq, tries, now):
            return False
        if plugin == enrichment.MEANING:
            return self._embed_late(seq)
        with self._database.reading() as connection:
            inquiry = inquire(connection, seq, self._interests)
        answer = None if inquiry is None else self._ask_deferred(plugin, inquiry)
        if isinstance(answer, PluginError):
            self._put_off(plugin, seq, tries, answer)
            return False
        with self._database.writing(durable=False) as connection:
            enrichment.done(connection, plugin, seq)
            if inquiry is not None and answer is not None:
                derivations.record(connection, seq, inquiry.memory, inquiry.at, [answer], late=True)
        return answer is not None

    def _embed_late(self, seq: int) -> bool:
        """Embed what the rounds passed over while it was held back; it stays in the queue while a model fails."""
        if self.embedder.embed([seq], inline=False):
            with self._database.writing(durable=False) as connection:
                enrichment.done(connection, enrichment.MEANING, seq)
        return False

    def _begun(self, plugin: str, seq: int, tries: int, now: datetime) -> bool:
        """Note the try before it is made, so that one which ends the process counts too, and no other process makes it.

        False where another one has begun meanwhile, or where enough were made.
        """
        with self._database.writing(durable=False) as connection:
            if tries >= PATIENCE:
                enrichment.done(connection, plugin, seq)
                return False
            return enrichment.begin(connection, plugin, seq, tries, now + FIRST_RETRY * 2**tries)

    def _put_off(self, plugin: str, seq: int, tries: int, error: PluginError) -> None:
        """Leave a question for later; it counts as tried unless nothing that it asks can be why it failed."""
        cause = error.__cause__
        if isinstance(cause, ModelUnavailable):
            self._resting[plugin] = cause.until
        with self._database.writing(durable=False) as connection:
            if isinstance(cause, ModelUnavailable) and not cause.blames:
                enrichment.take_back(connection, plugin, seq)
            elif tries + 1 < PATIENCE:
                enrichment.explain(connection, plugin, seq, str(error))
            else:
                enrichment.done(connection, plugin, seq)

    def _enrich_again(self, seq: int, tries: int, now: datetime) -> bool:
        """Note the try before it is made: a memory that ends each process which looks at it must not do so for ever."""
        with self._database.writing(durable=False) as connection:
            stored = log.memory(connection, seq)
            if stored is None or tries + 1 >= MAX_TRIES:
                enrichment.done(connection, enrichment.INLINE, seq)
                stored = None
            else:
                again = now + FIRST_RETRY * 2**tries
                enrichment.postpone(connection, enrichment.INLINE, seq, again, "has not come to an end")
        if stored is not None:
            self._enrich_safely(seq, *stored, late=True, noted=True)
        return stored is not None

    def _ask_deferred(self, plugin: str, asked: Inquiry) -> Derivation | PluginError | None:
        try:
            said = self._plugins.run_deferred(
                plugin, asked.memory, asked.found, asked.candidates, asked.nodes, asked.agents
            )
        except PluginError as error:
            return error
        if said.extraction is None and said.classification is None and said.routing is None:
            return None
        classification = said.classification
        if classification is None and said.extraction is not None:
            classification = self._classify(asked, said.extraction)
        return Derivation(
            plugin=plugin,
            version=self._plugins.version(plugin),
            rank=1,
            extraction=said.extraction,
            classification=classification,
            routing=said.routing,
        )

    def _classify(self, asked: Inquiry, extraction: Extraction) -> Classification | None:
        """Have the inline plugins settle what a deferred one that only extracts has found, and nothing beside that."""
        found = unite(asked.found, extraction)
        found = replace(found, claims=tuple(claim for claim in found.claims if claim not in asked.found.claims))
        with self._database.reading() as connection:
            known = candidates(connection, asked.memory, found.mentions, but=asked.seq)
        answer = self._plugins.classify(asked.memory, found, known.found)
        return answer and settled(asked, answer[1])


def _receipt(operation: Operation, appended: operations.Appended) -> Receipt:
    if appended.clash:
        detail = "id: is already the id of another operation; give a new one or none"
        return Receipt(id=operation.id, state="refused", detail=detail)
    if appended.forgotten:
        return Receipt(id=operation.id, state="duplicate", detail="it was forgotten: its text is not stored again")
    if not appended.new:
        return Receipt(id=operation.id, state="duplicate")
    detail = "created_at is ahead of this machine's clock; it counts from now until then" if appended.ahead else ""
    return Receipt(id=operation.id, state="stored", detail=detail)
