"""Giving memories their vectors: with the write that brings them, and later those that came without.

A deferred plugin is asked by the rounds alone, and for what is searched for; where it has a model, the vector that came
with the write gives way to its own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from time import monotonic
from typing import TYPE_CHECKING

from sqlalchemy import Connection

from memory_plane.database import Database
from memory_plane.store import log, vectors
from memory_plane.store.derivations import visible
from memory_plane.types import Memory, Vectors

if TYPE_CHECKING:
    from memory_plane.plugins import PluginManager

BATCH = 100
"""So many memories get their vectors in one transaction."""
ROUND = 1_000
SECONDS = 5.0
"""So many memories are looked at in one round, and no longer than this: a slow model must not hold up what follows."""


class Embedder:
    """Asks the plugins what memories mean and keeps it; nothing is asked while the database is locked."""

    def __init__(self, database: Database, plugins: PluginManager) -> None:
        self._database = database
        self._plugins = plugins

    def ask(self, memory: Memory) -> Vectors | None:
        """Return what a memory means; None where no plugin that is asked at once has a model."""
        return self._plugins.embed([memory.text], inline=True)

    def keep(self, connection: Connection, seq: int, meant: Vectors | None) -> None:
        """Keep what a memory means, unless the rounds were faster."""
        if meant is not None:
            vectors.add(connection, seq, meant.model, meant.rows[0])

    def embed(self, seqs: Iterable[int], *, inline: bool = True) -> bool:
        """Ask about these memories and keep the answers; with `inline`, as far as deferred plugins have no say.

        A deferred plugin may send what it is asked, so it is not asked about what was retracted or is held back. Return
        whether there were answers, where there was something to ask.
        """
        with self._database.reading() as connection:
            stored = {seq: known[0] for seq in seqs if (known := log.memory(connection, seq)) is not None}
            found = {seq: one.text for seq, one in stored.items() if inline or visible(connection, seq, one)}
        meant = self._plugins.embed(list(found.values()), inline=inline) if found else None
        if meant is not None:
            keep = vectors.add if inline else vectors.put
            with self._database.writing(durable=False) as connection:
                for seq, row in zip(found, meant.rows, strict=True):
                    keep(connection, seq, meant.model, row)
        return meant is not None or not found

    def catch_up(self) -> None:
        """Look at the next memories that were not looked at yet, as far as one round goes, and embed them."""
        end = monotonic() + SECONDS
        for looked in self._following():
            if looked >= ROUND or monotonic() >= end:
                break

    def catch_up_wholly(self, progress: Callable[[int, int], None]) -> None:
        """Look at all memories that were not looked at yet, and embed them; `progress` is told how many of how many."""
        with self._database.reading() as connection:
            total = log.count(connection)
        for looked in self._following():
            progress(min(looked, total), total)

    def _following(self) -> Iterator[int]:
        """Embed a batch of those that lack the present model's vector; yield how many were looked at so far.

        What a failing model leaves is looked at again next time.
        """
        probe = self._plugins.embed(["memory"])
        looked = 0
        while probe is not None:
            with self._database.reading() as connection:
                found = vectors.following(connection, probe.model, BATCH)
            if not found or not self.embed((seq for seq, is_there in found if not is_there), inline=False):
                return
            with self._database.writing(durable=False) as connection:
                vectors.done(connection, probe.model, found[-1][0])
            looked += len(found)
            yield looked
