"""The outbox: operations wait on disk, in the order in which they were made, until a hub or a database takes them.

Files in the home, all of them for the owner alone:

- `outbox.jsonl`: one operation a line, as `Plane.export` writes it. A line leaves it when it was answered.
- `outbox.dead.jsonl`: what cannot be delivered, with reason and time. Nothing leaves it by itself.
- `outbox.tries.json`: which line the last flush stopped at, while that is so.

A change of the files takes `outbox.lock` for a moment; sending holds `outbox.flush.lock` alone, so a slow hub keeps no
writer waiting. A crash between an answer and the removal sends a line twice, which its id makes harmless.

One line can make a hub fail for ever, and must not hold up the rest. After a flush that stopped, the next one asks the
hub first with nothing, then with one line, then with twice as many each time: so it comes to stop at the line to blame
alone. Where that goes on, another line goes first: if the hub takes it and then fails, the line has failed a try; after
`MAX_TRIES`, `patience` seconds or more apart, it is a dead letter. While the hub takes no other line either, nothing is
to blame and nothing overtakes.
"""

from __future__ import annotations

import json
import logging
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from errno import EACCES, EDQUOT, EFBIG, ENOSPC, EPERM, EROFS
from pathlib import Path

from memory_plane import letters
from memory_plane.errors import HubBusy, HubUnreachable, Refused, StoreError
from memory_plane.journal import Journal, sync_folder
from memory_plane.letters import DeadLetter
from memory_plane.types import Operation, Receipt

logger = logging.getLogger(__name__)

Send = Callable[[Sequence[Operation]], Sequence[Receipt]]
Entry = tuple[bytes, Operation]

MAX_BATCH = 1_000
MAX_BATCH_BYTES = 4_900_000
"""Of the lines of one batch, which leaves room for what a request of 5 MB has around them."""
MAX_TRIES = 5

_POLL_SECONDS = 0.005
_FULL = frozenset({ENOSPC, EDQUOT, EFBIG})
_CLOSED = frozenset({EROFS, EACCES, EPERM})


@dataclass(frozen=True, slots=True, kw_only=True)
class Flushed:
    """What a flush did; `busy`: another one was at it. `reason` says why it stopped early."""

    sent: int = 0
    refused: int = 0
    waiting: int = 0
    busy: bool = False
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Stop:
    """The line that the last flush stopped at, how often one did, and how often the line was to blame."""

    id: str
    times: int = 0
    tries: int = 0
    tried_at: float = 0.0


class Outbox:
    """The queue of one home. Any number of processes and threads may use it at once.

    Methods that write raise `StoreError` when the disk does not let them; those that read never raise.
    """

    def __init__(self, home: Path, timeout: float = 5.0, *, patience: float = 60.0) -> None:
        """Wait up to `timeout` seconds for other processes; see above for `patience`."""
        self.home = home
        self.timeout = timeout
        self.patience = patience
        self._queue = Journal(home / "outbox.jsonl")
        self._dead = Journal(home / "outbox.dead.jsonl")
        self._stop = home / "outbox.tries.json"
        self._known: dict[bytes, Operation | None] = {}

    # --- what waits ----------------------------------------------------------------------------------------------

    def append(self, *operations: Operation) -> int:
        """Queue operations behind those that wait and return how many wait now; they are on disk, all or none.

        Raise `Refused` for one that JSON cannot hold.
        """
        lines = [letters.write(operation) for operation in operations]
        if not lines:
            return self.depth()
        with self._locked():
            return self._queue.append(lines)

    def depth(self) -> int:
        """Return how many lines wait; it costs the same however many they are."""
        with suppress(OSError):
            return self._queue.depth()
        return 0

    def oldest(self) -> datetime | None:
        """Return when the first operation that waits was made."""
        return next((operation.created_at for operation in self._operations()), None)

    def pending(self) -> list[Operation]:
        """Return the operations that wait, in their order; what cannot be read is left out."""
        return list(self._operations())

    def _operations(self) -> Iterator[Operation]:
        """Read what waits; a line that was read before is not read again, since the queue may be long."""
        before, known = self._known, dict[bytes, Operation | None]()
        with suppress(OSError):
            for line in self._queue.lines():
                operation = known[line] = before[line] if line in before else _operation(line)
                if operation is not None:
                    yield operation
        self._known = known

    # --- what cannot be delivered --------------------------------------------------------------------------------

    def dead(self) -> list[DeadLetter]:
        """Return the dead letters, the latest last."""
        found: dict[str, DeadLetter] = {}
        with suppress(OSError):
            for line in self._dead.lines():
                letter = letters.read_dead(line)
                found.pop(letter.id, None)
                found[letter.id] = letter
        return list(found.values())

    def retry(self, ids: Collection[str] | None = None) -> list[str]:
        """Put dead letters, or all of them, back at the end of the queue; return the ids of those that can be read."""
        with self._locked():
            back = {
                letter.id: letters.write(letter.operation)
                for letter in self.dead()
                if letter.operation is not None and (ids is None or letter.id in ids)
            }
            if back:
                # First in, then out: a crash between them leaves one line too many, which is harmless.
                self._queue.append(list(back.values()))
                self._dead.rewrite(lambda line: letters.read_dead(line).id not in back)
        return list(back)

    def drop(self, ids: Collection[str]) -> list[str]:
        """Delete operations and dead letters for ever; return the ids of those that were there.

        One that is being sent at this moment may still arrive.
        """
        gone: dict[str, None] = {}

        def keep(id: str) -> bool:
            if id in ids:
                gone[id] = None
            return id not in ids

        with self._locked():
            self._queue.rewrite(lambda line: keep(letters.id_of(line)))
            self._dead.rewrite(lambda line: keep(letters.read_dead(line).id))
        return list(gone)

    def purge(self, target: str) -> int:
        """Delete an operation, all that was said about it, and what cannot be read; return how many lines went.

        A torn line may hold the very text and nothing that tells so. The word to forget stays, to be delivered.
        """
        if not any(self.home.glob("outbox.*")):
            return 0
        with self._locked():
            for left in self.home.glob("outbox.*part"):
                left.unlink(missing_ok=True)
            journals = (self._queue, self._dead)
            return sum(journal.rewrite(lambda line: not letters.is_about(line, target)) for journal in journals)

    # --- sending -------------------------------------------------------------------------------------------------

    def flush(self, send: Send, agent: str | None = None) -> Flushed:
        """Send what waits, in order and in batches; return at once if another flush is at it.

        With an `agent`, only what that one wrote is sent and counted: its token speaks for nobody else.
        `send` takes up to `MAX_BATCH` operations, also none, which asks whether the hub is there. It returns a receipt
        for each, in their order, or raises `StoreError` or `HubUnreachable` for an outage, which ends the flush.
        """
        waiting = self.depth_of(agent)
        if not waiting:
            return Flushed()
        delivery = _Delivery(self, send, agent)
        reason = ""
        try:
            with self._sole() as sole:
                if not sole:
                    return Flushed(waiting=waiting, busy=True)
                delivery.run(waiting)
        except (StoreError, HubUnreachable) as error:
            reason = str(error)
        if not self.depth():
            self._known = {}
        return Flushed(sent=delivery.sent, refused=delivery.refused, waiting=self.depth_of(agent), reason=reason)

    def depth_of(self, agent: str | None) -> int:
        """Return how many lines wait that `agent` may send, or all of them; the former are counted one by one."""
        if agent is None:
            return self.depth()
        with suppress(OSError):
            return sum(map(_sent_by(agent), self._queue.lines()))
        return 0

    def batch(self, limit: int, agent: str | None = None) -> list[Entry]:
        """Return the first lines and their operations; those before them that cannot be read become dead letters."""
        wanted = None if agent is None else _sent_by(agent)
        with self._locked():
            while lines := self._queue.head(limit, MAX_BATCH_BYTES, wanted):
                found: list[Entry] = []
                unreadable: dict[bytes, bytes] = {}
                for line in lines:
                    try:
                        found.append((line, letters.read(line)))
                    except Refused as error:
                        unreadable[line] = letters.write_unreadable(f"cannot be read: {error}", line)
                self._bury(unreadable, gone=frozenset(unreadable))
                if found:
                    return found
        return []

    def settle(self, answers: Sequence[tuple[Entry, str | None]]) -> None:
        """Take lines out of the queue; those that come with a reason are dead letters from now on."""
        refused = {
            line: letters.write_dead(reason, operation) for (line, operation), reason in answers if reason is not None
        }
        with self._locked():
            self._bury(refused, gone=frozenset(line for (line, _), _ in answers))

    def _bury(self, dead: dict[bytes, bytes], gone: frozenset[bytes]) -> None:
        """Write dead letters, then take lines away: a crash between them buries one twice, which `dead` sees as one."""
        if written := [letter for line, letter in dead.items() if line.strip()]:
            self._dead.append(written)
        if gone:
            self._queue.rewrite(lambda line: line not in gone)

    # --- where the last flush stopped ----------------------------------------------------------------------------

    def stop(self) -> Stop | None:
        """Return where the last flush stopped, None if it did not."""
        try:
            found = json.loads(self._stop.read_bytes())
            return Stop(str(found["id"]), int(found["times"]), int(found["tries"]), float(found["tried_at"]))
        except (OSError, ValueError, KeyError, TypeError, RecursionError):
            return None

    def note(self, stop: Stop | None) -> None:
        """Note where a flush stopped; if a crash loses that, some tries more are made."""
        with suppress(OSError):
            if stop is None:
                self._stop.unlink(missing_ok=True)
                return
            self._stop.touch(mode=0o600)
            self._stop.write_text(json.dumps(asdict(stop)), "utf-8")

    # --- locks ---------------------------------------------------------------------------------------------------

    @contextmanager
    def _locked(self) -> Iterator[None]:
        """Keep others from changing the files meanwhile, and tell each failure of the disk in one line."""
        from filelock import FileLock, Timeout  # brings asyncio, which nobody needs while the hub is up

        path = str(self._queue.path)
        try:
            if not self.home.is_dir():
                self.home.mkdir(parents=True, exist_ok=True, mode=0o700)
                sync_folder(self.home.parent)
            with FileLock(self.home / "outbox.lock", timeout=self.timeout, poll_interval=_POLL_SECONDS, mode=0o600):
                yield
        except Timeout:
            raise StoreError(
                f"outbox {path!r}: another process has held it locked for more than {self.timeout:g} s; "
                "try again when it is done"
            ) from None
        except OSError as error:
            raise StoreError(f"outbox {path!r}: {_reason(error)}") from error

    @contextmanager
    def _sole(self) -> Iterator[bool]:
        """Whether nobody else is flushing; others are held off meanwhile."""
        from filelock import FileLock, Timeout

        try:
            held = FileLock(self.home / "outbox.flush.lock", mode=0o600).acquire(timeout=0)
        except Timeout:
            yield False
            return
        except OSError as error:
            raise StoreError(f"outbox {str(self._queue.path)!r}: {_reason(error)}") from error
        with held:
            yield True


class _Delivery:
    """One flush: what it sent so far, and how it finds the line to blame."""

    def __init__(self, outbox: Outbox, send: Send, agent: str | None = None) -> None:
        self.sent = self.refused = 0
        self._outbox = outbox
        self._send = send
        self._agent = agent

    def run(self, waiting: int) -> None:
        """Send as many lines as waited when it began; raise what ends it early."""
        last = self._outbox.stop()
        size = MAX_BATCH
        if last is not None:
            self._send(())
            size = 1
        compared = last is not None and self._is_time_to_compare(last) and self._deliver_another(last)
        while waiting > 0 and (batch := self._outbox.batch(min(size, waiting), self._agent)):
            try:
                self._deliver(batch)
            except (StoreError, HubUnreachable) as error:
                self._stopped(batch[0], last, compared, error)
                raise
            waiting -= len(batch)
            size = min(size * 2, MAX_BATCH)
        if last is not None:
            self._outbox.note(None)

    def _deliver(self, batch: Sequence[Entry]) -> None:
        receipts = self._send([operation for _, operation in batch])
        answers = [(receipt.id, receipt.state in ("stored", "duplicate", "refused")) for receipt in receipts]
        if answers != [(operation.id, True) for _, operation in batch]:
            raise StoreError("the hub gave an answer that does not fit what it was sent")
        reasons = [
            (receipt.detail or "no reason given") if receipt.state == "refused" else None for receipt in receipts
        ]
        refused = len(reasons) - reasons.count(None)
        self.sent += len(batch) - refused
        self.refused += refused
        self._outbox.settle(list(zip(batch, reasons, strict=True)))

    def _is_time_to_compare(self, last: Stop) -> bool:
        """Whether it may be this line alone; more seldom after a while, since it may as well be all of them."""
        since = time.time() - last.tried_at
        suspected = last.tries > 0 or last.times in (4, 8) or (last.times > 0 and last.times % 16 == 0)
        return suspected and not 0 <= since < self._outbox.patience

    def _deliver_another(self, last: Stop) -> bool:
        """Send a line that waits behind the first one, each time another; return whether there is any."""
        waiting = self._outbox.batch(MAX_BATCH, self._agent)
        others = waiting[1:]
        if not others or waiting[0][1].id != last.id:
            return False
        try:
            self._deliver([others[last.times % len(others)]])
        except (StoreError, HubUnreachable):
            self._outbox.note(replace(last, times=last.times + 1))
            raise
        return True

    def _stopped(self, entry: Entry, last: Stop | None, compared: bool, error: Exception) -> None:
        """Note where it stopped; a line that has failed often enough, while others did not, is a dead letter."""
        id = entry[1].id
        stop = Stop(id, times=1)
        if last is not None and last.id == id:
            stop = replace(last, times=last.times + 1)
            if compared and not isinstance(error, HubBusy):  # which passes, and is no fault of the line
                stop = replace(stop, tries=last.tries + 1, tried_at=time.time())
        if stop.tries < MAX_TRIES:
            self._outbox.note(stop)
            return
        logger.warning("operation %s is a dead letter of the outbox now: it failed %d times", id, stop.tries)
        self._outbox.settle([(entry, f"failed {stop.tries} times while others did not: {error}")])
        self._outbox.note(None)
        self.refused += 1


def _operation(line: bytes) -> Operation | None:
    try:
        return letters.read(line)
    except Refused:
        return None


def _sent_by(agent: str) -> Callable[[bytes], bool]:
    """Tell lines that `agent` may send, among them what nobody can read, from those of others."""
    return lambda line: letters.agent_of(line) in (agent, None)


def _reason(error: OSError) -> str:
    if error.errno in _FULL:
        return "the disk is full; free some space and try again"
    if error.errno in _CLOSED:
        return "it is read-only; check the permissions of the file and its folder"
    return f"{error.strerror or error}; check the disk and the folder"
