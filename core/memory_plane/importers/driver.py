"""Takes a source in: entry by entry, in batches, from where it was left, with a word on what became of each."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, tzinfo
from itertools import islice
from typing import TYPE_CHECKING, Literal
from uuid import uuid5

from memory_plane import __version__
from memory_plane.errors import MemoryPlaneError
from memory_plane.graphs import MOST
from memory_plane.importers.files import Files, readable
from memory_plane.importers.item import Entry, Kind, Retold, Skipped
from memory_plane.operations import record_of
from memory_plane.types import NAMESPACE, Operation, Receipt

if TYPE_CHECKING:
    from memory_plane.plane import Plane

Progress = Callable[[int, int], None]
State = Literal["imported", "already there", "skipped", "refused", "new"]

BATCH = 100
"""How many operations are stored in one transaction, more only where one entry has more."""
STALE = timedelta(days=30)
"""What is older, and was due no later, is no open item any more."""
_NOT_ONE = (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError)


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of an entry: `stored` counts its operations that were not there, or would not be; `reason` is why."""

    item: str
    state: State
    stored: int = 0
    reason: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """A source that was recognised, and what of it is wanted: of a project, and not older than `since`."""

    kind: Kind
    files: Files
    zone: tzinfo | None = None
    project: str | None = None
    since: datetime | None = None

    @property
    def name(self) -> str:
        """What the place is kept under up to which it was read."""
        return f"import {self.kind.name} {self.files.path.resolve()}"

    def entries(self) -> Iterator[Entry]:
        """Yield the entries; raise `MemoryPlaneError` where a file is damaged."""
        with readable():
            yield from self.kind.entries(self.files, self.zone)

    def operations(self, entry: Entry) -> tuple[Operation, ...]:
        """Return what an entry becomes, or raise `Skipped`; `MemoryPlaneError` where it is not what it should be."""
        try:
            with readable():
                made = entry.operations()
        except _NOT_ONE:
            raise MemoryPlaneError(f"it does not look as {self.kind.name} has it") from None
        if self.project is not None and all(one.body.get("project") != self.project for one in made):
            raise Skipped(f"it is not of project {self.project!r}")
        if self.since is not None and all(one.created_at < self.since for one in made):
            raise Skipped("it is older")
        return tuple({one.id: one for one in reversed(made)}.values())[::-1]  # what is said twice counts once


def count(source: Source) -> int:
    """Read a source through and count its entries; raise `MemoryPlaneError` where it is not whole."""
    return sum(1 for _ in source.entries())


def preview(source: Source, plane: Plane | None = None) -> Iterator[Outcome]:
    """Yield what would be stored in a plane, None for one that holds nothing yet, and store nothing."""
    shown: set[str] = set()
    for entry in source.entries():
        made = _made(source, entry)
        if isinstance(made, Outcome):
            yield made
            continue
        new = [one for one in made if one.id not in shown and not (plane and _is_there(plane, one))]
        shown.update(one.id for one in new)
        text = new[0].body.get("text", "") if new else ""
        yield Outcome(entry.label, "new" if new else "already there", len(new), text)


def _is_there(plane: Plane, operation: Operation) -> bool:
    return _holds(plane, operation) or plane.get(operation.id) is not None


def take_in(plane: Plane, source: Source, total: int, progress: Progress) -> Iterator[Outcome]:
    """Store what `count` has counted, and yield what became of each entry.

    Raise `StoreError` when nothing more can be stored; taken in again, it goes on from there.
    """
    fingerprint = _fingerprint(source)
    begun = _place(plane.cursor(source.name), fingerprint)
    done, left = begun or (0, 0)
    if begun and done < total:  # what a crash left unread is read before what comes after it
        plane.finish()
    plane.keep_cursor(source.name, f"{fingerprint} {done} {left:x}")
    entries = source.entries()
    for number, entry in enumerate(islice(entries, done)):
        if left >> number & 1:
            yield from _store(plane, source, [(entry.label, _made(source, entry))])
        else:
            yield Outcome(entry.label, "already there")
    for batch in _batches(source, entries):
        for number, outcome in enumerate(_store(plane, source, batch), done):
            left |= (outcome.state in ("skipped", "refused")) << number
            yield outcome
        done += len(batch)
        plane.keep_cursor(source.name, f"{fingerprint} {done} {left:x}")
        progress(done, total)


def _place(cursor: str | None, fingerprint: str) -> tuple[int, int] | None:
    """Return how many entries were read, and as bits which of them were not taken in; None of another source."""
    kept, done, left = [*(cursor or "").split(" "), "", ""][:3]
    return (int(done), int(left or "0", 16)) if kept == fingerprint and done.isdecimal() else None


# --- a batch -----------------------------------------------------------------------------------------------------

_Made = tuple[str, tuple[Operation, ...] | Outcome]


def _batches(source: Source, entries: Iterator[Entry]) -> Iterator[list[_Made]]:
    batch: list[_Made] = []
    size = 0
    for entry in entries:
        made = _made(source, entry)
        more = 1 if isinstance(made, Outcome) else len(made)
        if batch and size + more > BATCH:
            yield batch
            batch, size = [], 0
        batch.append((entry.label, made))
        size += more
    if batch:
        yield batch


def _made(source: Source, entry: Entry) -> tuple[Operation, ...] | Outcome:
    try:
        return source.operations(entry)
    except Skipped as reason:
        return Outcome(entry.label, "skipped", reason=str(reason))
    except MemoryPlaneError as reason:
        return Outcome(entry.label, "refused", reason=str(reason))


def _store(plane: Plane, source: Source, batch: Sequence[_Made]) -> Iterator[Outcome]:
    wanted = [one for _, made in batch if not isinstance(made, Outcome) for one in made if not _holds(plane, one)]
    receipts = plane.merge([record_of(one) for one in wanted])
    _close(plane, wanted, over=source.kind.over)
    by_id = dict(zip((one.id for one in wanted), receipts, strict=True))
    for label, made in batch:
        yield made if isinstance(made, Outcome) else _outcome(plane, label, [by_id.get(one.id) for one in made])


def _holds(plane: Plane, operation: Operation) -> bool:
    """Whether a hook has told it, or a fact says what is known: a source that changed elsewhere would say it again."""
    if isinstance(operation, Retold):
        return plane.get(operation.told) is not None
    if operation.op != "fact" or "valid_until" in operation.body:
        return False
    known = plane.facts(subject=operation.body["subject"], key=operation.body["key"], limit=1)
    return bool(known) and known[0].value == operation.body["value"] and known[0].id != operation.id


def _outcome(plane: Plane, label: str, receipts: Sequence[Receipt | None]) -> Outcome:
    """Tell what became of an entry by the receipts of its operations, None for what was known already."""
    told = [receipt for receipt in receipts if receipt is not None]
    stored = sum(1 for receipt in told if receipt.state == "stored")
    # An id that holds something else is the same thing as it was told earlier: a title that changed since.
    refused = [one.detail for one in told if one.state == "refused" and plane.get(one.id) is None]
    forgotten = [one.detail for one in told if one.state == "duplicate" and one.detail]
    if refused:
        return Outcome(label, "refused", stored, refused[0])
    if stored:
        return Outcome(label, "imported", stored)
    return Outcome(label, "already there", reason=forgotten[0] if forgotten else "")


def _close(plane: Plane, batch: Sequence[Operation], *, over: bool) -> None:
    """Close what was opened by something that is over, or is too old to be waited for."""
    known = {operation.id: operation for operation in batch}
    oldest = datetime.now(UTC) - STALE
    stale = [
        known[item.id]
        for item in plane.items(limit=MOST)
        if item.id in known and (over or max(item.created_at, item.due_at or item.created_at) < oldest)
    ]
    if stale:
        plane.merge([record_of(_closing(operation)) for operation in stale])


def _closing(operation: Operation) -> Operation:
    return Operation(
        id=str(uuid5(NAMESPACE, f"import closes {operation.id}")),
        op="resolve",
        agent=operation.agent,
        created_at=operation.created_at + timedelta(microseconds=1),
        body={"item": operation.id, "status": "dropped", "note": "it was over when it was imported"},
    )


# --- the source --------------------------------------------------------------------------------------------------


def _fingerprint(source: Source) -> str:
    """Return what changes with all that decides which entries there are, and what becomes of them."""
    said = (source.files.fingerprint(), __version__, str(source.zone), source.project, source.since)
    return str(uuid5(NAMESPACE, repr(said)))
