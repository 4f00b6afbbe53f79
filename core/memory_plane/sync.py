"""Two memories exchange what each has and the other does not: pull, then push, until both have nothing to tell."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

from memory_plane.errors import ConfigurationError, MemoryPlaneError, Refused
from memory_plane.operations import record_of
from memory_plane.types import Changes, Receipt, SyncReport

if TYPE_CHECKING:
    from memory_plane.plane import Plane
    from memory_plane.remote import Hub
    from memory_plane.settings import Settings

BATCH_ANSWER = 60.0
"""Seconds that the other side may take to store a batch."""
logger = logging.getLogger(__name__)

ROUNDS = 100_000
"""The most batches of one exchange; the next one goes on."""


class Peer(Protocol):
    """Another memory: a `Plane`, or a `Hub` that is reached over HTTP."""

    @property
    def store_id(self) -> str:
        """The id of that memory."""
        ...

    def changes(self, since: str | None = None, *, peer: str | None = None, limit: int = 500) -> Changes:
        """Return what it has to tell since a cursor."""
        ...

    def merge(
        self,
        operations: Sequence[Mapping[str, Any]],
        derivations: Sequence[Mapping[str, Any]] = (),
        *,
        peer: str | None = None,
    ) -> list[Receipt]:
        """Write what it is told."""
        ...


def peer(settings: Settings, url: str | None = None) -> Hub | None:
    """Return the hub to exchange changes with, by default that of `sync.url`; None where none is named.

    Raise `ConfigurationError` where its token is missing.
    """
    url = url or settings.sync.url
    if url is None:
        return None
    if settings.sync.token is None:
        raise ConfigurationError(f"'sync.token' is missing, it opens {url!r}; set MEMORY_PLANE_SYNC__TOKEN")
    from memory_plane.remote import Hub

    wait = settings.client
    return Hub(
        url,
        settings.sync.token.get_secret_value(),
        connect=wait.connect_remote,
        answer=max(wait.answer, BATCH_ANSWER),
        certificate=settings.hub.certificate,
    )


def meet(plane: Plane) -> SyncReport:
    """Exchange changes with the hub of `sync.url`, and log what was refused."""
    there = peer(plane.settings)
    if there is None:
        return SyncReport()
    with there:
        report = exchange(plane, there)
    for line in report.refused:
        logger.warning("refused while syncing: %s", line)
    return report


def deliver(plane: Plane) -> int:
    """Store what waits in the outbox of this home; return how much still waits."""
    from memory_plane.outbox import Outbox

    return Outbox(plane.home).flush(lambda batch: plane.merge([record_of(one) for one in batch])).waiting


def exchange(plane: Plane, peer: Peer) -> SyncReport:
    """Pull what `peer` has and push what it lacks; a break-off costs nothing, since each batch keeps its place.

    Raise what the peer raises for an outage, and `MemoryPlaneError` where both are one and the same memory.
    """
    if peer.store_id == plane.store_id:
        raise MemoryPlaneError(
            f"{plane.home}: this memory and the one to sync with have the same identity, as a copy has;"
            " give this one its own: memory-plane sync --new-identity"
        )
    pulled, refused_here = _pull(plane, peer)
    pushed, refused_there = _push(plane, peer)
    return SyncReport(pulled=pulled, pushed=pushed, refused=(*refused_here, *refused_there))


def _pull(plane: Plane, peer: Peer) -> tuple[int, list[str]]:
    place = f"pull {peer.store_id}"
    since, count, refused = plane.cursor(place), 0, list[str]()
    for _ in range(ROUNDS):
        try:
            found = peer.changes(since, peer=plane.store_id)
        except Refused:
            if since is None:
                raise
            since = None  # it was restored from a backup: what it still has is told again, and is a duplicate here
            continue
        receipts = plane.merge(found.operations, found.derivations, peer=peer.store_id, cursor=(place, found.cursor))
        count += _count(receipts, refused)
        since = found.cursor
        if not found.more:
            break
    return count, refused


def _push(plane: Plane, peer: Peer) -> tuple[int, list[str]]:
    place = f"push {peer.store_id}"
    since, count, refused = plane.cursor(place), 0, list[str]()
    for _ in range(ROUNDS):
        try:
            found = plane.changes(since, peer=peer.store_id)
        except Refused:
            since = None  # this one was restored
            continue
        if found.operations or found.derivations:
            receipts = peer.merge(found.operations, found.derivations, peer=plane.store_id)
            count += _count(receipts, refused)
        if found.cursor != since:
            plane.keep_cursor(place, found.cursor)
        since = found.cursor
        if not found.more:
            break
    return count, refused


def _count(receipts: Sequence[Receipt], refused: list[str]) -> int:
    """Note the refusals and return how many operations were new."""
    refused += [f"{one.id}: {one.detail}" for one in receipts if one.state == "refused"]
    return sum(one.state == "stored" for one in receipts)
