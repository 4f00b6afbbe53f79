"""A lazy reader over one moment of the memory: what pages and the `render` hook are made from."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta
from functools import cached_property

from sqlalchemy import Connection

from memory_plane.recall import graph, open_items, state
from memory_plane.types import Fact, Graph, Node, OpenItem, Pulse, Thought

ITEMS, THOUGHTS, EDGES, FACTS, PERSON_EDGES = 40, 40, 20, 400, 16
PEOPLE, ABOUT = 16, 12
"""How much of each the pages are given at most; they show what fits."""


class MemorySnapshot:
    """Implements `types.Snapshot` on one transaction; use it only while that lasts."""

    def __init__(
        self,
        connection: Connection,
        now: datetime,
        stale_after: timedelta,
        queued: tuple[int, datetime | None] = (0, None),
        threshold: Callable[[str], float] = lambda _: 0.5,
    ) -> None:
        """Begin to read; `queued` is how much waits in the outbox of this machine, and since when.

        `threshold` is from which score on a memory concerns an agent.
        """
        self._connection = connection
        self._now = now
        self._stale_after = stale_after
        self._queued = queued
        self._threshold = threshold

    def pulse(self) -> Pulse:
        """Return the live state of the fleet."""
        return self._pulse

    def facts(self) -> tuple[Fact, ...]:
        """Return the newest current facts."""
        return self._facts

    def items(self) -> tuple[OpenItem, ...]:
        """Return the open items, due ones first."""
        return self._items

    @cached_property
    def _pulse(self) -> Pulse:
        return Pulse(
            at=self._now,
            heartbeats=state.heartbeats(self._connection, self._now, self._stale_after),
            items=self._items,
            thoughts=state.thoughts(self._connection, THOUGHTS),
            edges=graph.newest(self._connection, self._now, EDGES),
            items_total=open_items.total(self._connection, self._now),
            queued=self._queued[0],
            queued_since=self._queued[1],
            attention=state.concerned(self._connection, self._threshold, THOUGHTS),
        )

    @cached_property
    def _facts(self) -> tuple[Fact, ...]:
        return state.facts(self._connection, limit=FACTS)

    @cached_property
    def _items(self) -> tuple[OpenItem, ...]:
        return open_items.listed(self._connection, self._now, limit=ITEMS)

    def person(self, id: str) -> Graph | None:
        """Return what is known around a node; None for an id that is not here."""
        found = graph.find(self._connection, id)
        return graph.around(self._connection, found, self._now, PERSON_EDGES) if found else None

    def people(self, agent: str) -> tuple[Node, ...]:
        """Return the persons that the newest memories of an agent name, the last named first."""
        found = graph.named_lately(self._connection, agent, "Person", PEOPLE)
        nodes = graph.nodes(self._connection, found)
        return tuple(nodes[key] for key in found)

    def about(self, id: str) -> tuple[Thought, ...]:
        """Return the newest thoughts that name a node."""
        found = graph.find(self._connection, id)
        return state.naming(self._connection, found[0], ABOUT) if found else ()

    def brief(self, agent: str) -> tuple[tuple[Thought, ...], tuple[OpenItem, ...]]:
        """Return what an agent should see: thoughts of others worth its attention, and what waits for it."""
        thoughts = state.attended(
            self._connection, agent, minimum=self._threshold(agent), limit=THOUGHTS, now=self._now
        )
        return thoughts, open_items.before(self._connection, self._now, agent, ITEMS)
