"""Giving memories their vectors: with the write that brings them, and later those that came without.

A deferred plugin is asked by the rounds alone, and for what is searched for; where it has a model, the vector that came
with the write gives way to its own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from sqlalchemy import Connection

from memory_plane.database import Database
from memory_plane.store import log, vectors
from memory_plane.types import Memory, Vectors

if TYPE_CHECKING:
    from memory_plane.plugins import PluginManager

BATCH = 200
"""So many memories get their vectors in one transaction."""


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

    def embed(self, seqs: Iterable[int], *, inline: bool = True) -> None:
        """Ask about these memories and keep the answers; with `inline`, as far as deferred plugins have no say."""
        with self._database.reading() as connection:
            found = {seq: stored[0].text for seq in seqs if (stored := log.memory(connection, seq)) is not None}
        meant = self._plugins.embed(list(found.values()), inline=inline) if found else None
        if meant is not None:
            keep = vectors.add if inline else vectors.put
            with self._database.writing(durable=False) as connection:
                for seq, row in zip(found, meant.rows, strict=True):
                    keep(connection, seq, meant.model, row)

    def catch_up(self, most: int = 5 * BATCH, progress: Callable[[int, int], None] | None = None) -> int:
        """Look at up to `most` memories that were not looked at yet, and embed those that lack the present model's
        vector; return how many were looked at.
        """
        probe = self._plugins.embed(["memory"])
        looked = 0
        while probe is not None and looked < most:
            with self._database.reading() as connection:
                found = vectors.following(connection, probe.model, BATCH)
                total = log.count(connection) if progress else 0
            if not found:
                break
            self.embed((seq for seq, is_there in found if not is_there), inline=False)
            with self._database.writing(durable=False) as connection:
                vectors.done(connection, probe.model, found[-1][0])
            looked += len(found)
            if progress is not None:
                progress(min(looked, total), total)
        return looked
