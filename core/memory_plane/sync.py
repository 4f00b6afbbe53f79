"""Two memories exchange what each has and the other does not: push, then pull, until both have nothing to tell.

The pull comes last, so that its place lies behind what was pushed: a peer whose end lies before that place was restored
from a backup, and is told everything again.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

from memory_plane.errors import ConfigurationError, MemoryPlaneError, Refused
from memory_plane.operations import record_of
from memory_plane.reports import Changes, SyncReport
from memory_plane.types import Receipt

if TYPE_CHECKING:
    from memory_plane.plane import Plane
    from memory_plane.remote import Hub
    from memory_plane.settings import Settings

logger = logging.getLogger(__name__)

BATCH_ANSWER = 60.0
"""Seconds that the other side may take to store a batch."""
BEGINNING = "0.0"
"""The cursor behind which everything lies."""
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
        certificate=settings.sync.certificate,
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
    """Push what `peer` lacks and pull what it has; a break-off costs nothing, since each batch keeps its place.

    Raise what the peer raises for an outage, and `MemoryPlaneError` where both are one and the same memory.
    """
    if peer.store_id == plane.store_id:
        raise MemoryPlaneError(
            f"{plane.home}: this memory and the one to sync with have the same identity, as a copy has;"
            " give this one its own: memory-plane sync --new-identity"
        )
    refused: list[str] = []
    pushed = _push(plane, peer, refused)
    pulled, restored = _pull(plane, peer, refused)
    if restored:
        plane.keep_cursor(f"push {peer.store_id}", BEGINNING)
        pushed += _push(plane, peer, refused, also_its_own=True)
        pulled += _pull(plane, peer, refused)[0]
    return SyncReport(pulled=pulled, pushed=pushed, refused=tuple(refused))


def _pull(plane: Plane, peer: Peer, refused: list[str]) -> tuple[int, bool]:
    """Return how many operations were new here, and whether the peer has lost what it once told."""
    place = f"pull {peer.store_id}"
    since, count, restored = plane.cursor(place), 0, False
    for _ in range(ROUNDS):
        try:
            found = peer.changes(since, peer=plane.store_id)
        except Refused:
            if since is None:
                raise
            since, restored = None, True
            continue
        receipts = plane.merge(found.operations, found.derivations, peer=peer.store_id, cursor=(place, found.cursor))
        count += _count(receipts, refused)
        since = found.cursor
        if not found.more:
            break
    return count, restored


def _push(plane: Plane, peer: Peer, refused: list[str], *, also_its_own: bool = False) -> int:
    """Return how many operations were new there; `also_its_own` tells the peer what it told us once."""
    place, known = f"push {peer.store_id}", None if also_its_own else peer.store_id
    since, count = plane.cursor(place), 0
    for _ in range(ROUNDS):
        try:
            found = plane.changes(since, peer=known)
        except Refused:
            since = None  # what is here was replaced by something older
            continue
        if found.operations or found.derivations:
            receipts = peer.merge(found.operations, found.derivations, peer=plane.store_id)
            count += _count(receipts, refused)
        if found.cursor != since:
            plane.keep_cursor(place, found.cursor)
        since = found.cursor
        if not found.more:
            break
    return count


def _count(receipts: Sequence[Receipt], refused: list[str]) -> int:
    """Note the refusals and return how many operations were new."""
    refused += [f"{one.id}: {one.detail}" for one in receipts if one.state == "refused"]
    return sum(one.state == "stored" for one in receipts)
