"""Our own export, taken in again: lines of JSON, first the operations, then what plugins derived from them."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple

from memory_plane.errors import MemoryPlaneError
from memory_plane.store.feed import FROM_A_FILE
from memory_plane.types import State

if TYPE_CHECKING:
    from memory_plane.plane import Plane

Record = Mapping[str, Any]
Progress = Callable[[int, int], None]

BATCH, BATCH_BYTES = 500, 4_000_000
"""How many operations, and how many bytes of them, are stored in one transaction; one alone may be larger."""
LONGEST_LINE = 64_000_000
"""The most bytes of a line: what has a longer one is no export."""
REASONS = 10
"""How many refusals are kept to be shown."""

_OPERATION = frozenset({"id", "op", "agent", "created_at", "body"})
_DERIVATION = frozenset({"memory", "plugin", "version", "rank", "answer"})


class Line(NamedTuple):
    """A line of an export: its number, the byte that it begins at, its length, and what it says."""

    number: int
    place: int
    length: int
    record: Record

    @property
    def is_derivation(self) -> bool:
        """Whether it is what a plugin derived; else it is an operation."""
        return "memory" in self.record


@dataclass(frozen=True, slots=True)
class Contents:
    """How many records an export holds, and the byte at which its derivations begin."""

    records: int
    derivations_at: int


@dataclass(slots=True)
class Imported:
    """What became of the operations, how many derivations came along, and why the first were refused."""

    states: Counter[State] = field(default_factory=Counter)
    derivations: int = 0
    reasons: list[str] = field(default_factory=list)


def check(stream: BinaryIO) -> Contents:
    """Read an export through; raise `MemoryPlaneError` with the number of the first line that is not of one."""
    records, derivations_at = 0, None
    for line in read(stream):
        records += 1
        if derivations_at is None and line.is_derivation:
            derivations_at = line.place
    return Contents(records, stream.tell() if derivations_at is None else derivations_at)


def take_in(
    plane: Plane, operations: BinaryIO, derivations: BinaryIO, contents: Contents, progress: Progress
) -> Imported:
    """Store what `check` has read, from two streams of the same file.

    Each memory is stored together with its derivations, so that no plugin is asked about it again. Raise `StoreError`
    when nothing more can be stored; what was stored before is a duplicate when it is imported again.
    """
    operations.seek(0)
    derivations.seek(contents.derivations_at)
    imported, done = Imported(), 0
    derived = _Derived(derivations)
    for batch in _batches(line for line in read(operations) if not line.is_derivation):
        answers = [answer for line in batch for answer in derived.of(line.record["id"])]
        receipts = plane.merge([line.record for line in batch], answers, peer=FROM_A_FILE)
        imported.derivations += len(answers)
        for line, receipt in zip(batch, receipts, strict=True):
            imported.states[receipt.state] += 1
            if receipt.state == "refused" and len(imported.reasons) < REASONS:
                imported.reasons.append(f"line {line.number}: {receipt.detail}")
        done += len(batch) + len(answers)
        progress(done, contents.records)
    for batch in _batches(derived.rest()):
        plane.merge((), [line.record for line in batch], peer=FROM_A_FILE)
        imported.derivations += len(batch)
        done += len(batch)
        progress(done, contents.records)
    return imported


class _Derived:
    """The derivations, in the order of the memories that they are about, as an export has them."""

    def __init__(self, stream: BinaryIO) -> None:
        self._lines = (line for line in read(stream) if line.is_derivation)
        self._next = next(self._lines, None)

    def of(self, memory: object) -> Iterator[Record]:
        """Yield those of a memory, when its turn has come."""
        while self._next is not None and self._next.record["memory"] == memory:
            yield self._next.record
            self._next = next(self._lines, None)

    def rest(self) -> Iterator[Line]:
        """Yield those that stood in another order, or whose memory is not in the file."""
        if self._next is not None:
            yield self._next
            yield from self._lines


def read(stream: BinaryIO) -> Iterator[Line]:
    """Yield the lines from where a stream stands; raise `MemoryPlaneError` at one that is not of an export."""
    number, place = 0, stream.tell()
    while text := stream.readline(LONGEST_LINE + 1):
        number += 1
        if not text.isspace():
            yield Line(number, place, len(text), _record(number, text))
        place += len(text)


def _record(number: int, text: bytes) -> Record:
    if text.startswith(b"\x1f\x8b"):
        raise MemoryPlaneError(f"line {number} is compressed; unpack it first, as with: gunzip")
    if len(text) > LONGEST_LINE:
        raise MemoryPlaneError(f"line {number} is longer than any of an export")
    try:
        record = json.loads(text.decode("utf-8-sig" if number == 1 else "utf-8"))
    except (ValueError, RecursionError):
        if text.endswith(b"\n"):
            raise MemoryPlaneError(f"line {number} is no JSON; is this a file of `memory-plane export`?") from None
        raise MemoryPlaneError(f"line {number} is cut off; export again, or remove this line") from None
    if not isinstance(record, dict) or not (record.keys() >= _OPERATION or record.keys() >= _DERIVATION):
        raise MemoryPlaneError(f"line {number} is neither an operation nor a derivation of `memory-plane export`")
    return record


def _batches(lines: Iterator[Line]) -> Iterator[list[Line]]:
    batch: list[Line] = []
    size = 0
    for line in lines:
        if batch and (len(batch) == BATCH or size + line.length > BATCH_BYTES):
            yield batch
            batch, size = [], 0
        batch.append(line)
        size += line.length
    if batch:
        yield batch
