"""Taking forgotten text off the disk: out of the database and its log, the pages, the outbox, the spool and the logs.

What was forgotten is noted in the database in the same commit, until nothing of it is left: so whatever ends a process
or keeps the log busy, a later write or the next start goes on.
"""

from __future__ import annotations

import json
import logging
import os
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from threading import Lock
from time import monotonic

from memory_plane.database import Database
from memory_plane.errors import MemoryPlaneError, Refused, StoreError
from memory_plane.operations import FORGET
from memory_plane.store import forgetting, index
from memory_plane.types import Operation, Receipt, View
from memory_plane.views import LEFT_BEHIND, SUFFIXES, write_views

logger = logging.getLogger(__name__)

WAIT = 1.0
"""Seconds that one who forgets waits for readers of the old text."""
RETRY = 10.0
"""Seconds between two tries of a process that writes meanwhile."""
LONG = 16
"""Texts of fewer characters are only masked where they are a whole string, since they may be part of anything."""

_BIGGEST = 64 * 1024 * 1024
_READER = "pending: a reader still holds the old text; it goes when that one is done"
_DEPTH = 4


class Purge:
    """What is due to be purged in one home; several threads may call it."""

    def __init__(
        self, database: Database, home: Path, render: Callable[[], object], page: Callable[[str], str]
    ) -> None:
        """`render` writes every page that is due to be there, `page` returns one by its name."""
        self._database = database
        self._home = home
        self._render = render
        self._page = page
        self._lock = Lock()
        self._due: bool | None = None
        self._next = 0.0

    def mask(self, batch: Iterable[Operation]) -> None:
        """Before a batch is stored: mask what it forgets in the files that know no ids, while its text is known."""
        targets = [str(operation.body["target"]) for operation in batch if operation.op == FORGET]
        if not targets:
            return
        with self._database.reading() as connection:
            words = [text for id in targets for text in _texts(forgetting.loss(connection, id).operations)]
        if words:
            for path in _files(self._home):
                _mask(path, words)

    def after(self, batch: Sequence[Operation], receipts: list[Receipt]) -> list[Receipt]:
        """After a batch was stored: purge what it forgot, and say in those receipts how far that went."""
        stored = {receipt.id for receipt in receipts if receipt.state == "stored"}
        forgot = {one.id: str(one.body["target"]) for one in batch if one.op == FORGET and one.id in stored}
        if not forgot:
            self.retry()
            return receipts
        said = self._finish(forgot.values())
        return [replace(one, detail=said) if one.id in forgot else one for one in receipts]

    def _finish(self, targets: Collection[str]) -> str:
        """Purge what is due; return what there is to say about it."""
        with self._lock:
            try:
                self._due = True
                self._empty_outbox(targets)
                done = self._run(WAIT)
            except MemoryPlaneError as error:
                logger.warning("what was forgotten could not be purged yet: %s", error)
                return f"pending: {error}"
        found = (*self._home.glob("*.bak"), *self._home.glob("backups/*.db"))
        copies = sorted(path.relative_to(self._home).as_posix() for path in found)
        kept = f"; {', '.join(copies)} in the home may hold it" if copies else ""
        return f"purged here, not in backups that were made before{kept}" if done else _READER

    def retry(self, *, ask: bool = False) -> None:
        """Go on with what is due and wait for nobody; `ask` the database even if this process knows of nothing due."""
        if self._due is False and not ask:
            return
        if monotonic() < self._next or not self._lock.acquire(blocking=False):
            return
        try:
            with self._database.reading() as connection:
                self._due = bool(forgetting.waiting(connection))
            if self._due:
                self._run(0.0)
        except MemoryPlaneError as error:
            logger.warning("what was forgotten could not be purged yet: %s", error)
        finally:
            self._lock.release()

    def _run(self, wait: float) -> bool:
        self._next = monotonic() + RETRY
        with self._database.reading() as connection:
            targets = forgetting.waiting(connection)
        if not targets:
            self._due = False
            return True
        self._empty_outbox(targets)
        self._clean_pages()
        if not self._database.log_is_free(wait):  # rewriting would only make the log longer
            return False
        with self._database.writing() as connection:
            index.compact(connection)
        if not self._database.rewrite(wait):
            return False
        with self._database.writing() as connection:
            forgetting.purged(connection, targets)
            self._due = bool(forgetting.waiting(connection))
        return True

    def _empty_outbox(self, targets: Iterable[str]) -> None:
        from memory_plane.outbox import Outbox

        outbox = Outbox(self._home)
        for target in targets:
            outbox.purge(target)

    def _clean_pages(self) -> None:
        """Render every page, also those of agents that nobody speaks of any more, and remove half-written ones."""
        from filelock import FileLock

        try:
            self._render()
            with FileLock(self._home / ".pages.lock", timeout=self._database.timeout, mode=0o600):
                for path in (*self._home.glob(f".*{LEFT_BEHIND}"), *self._home.glob(f"*/.*{LEFT_BEHIND}")):
                    path.unlink(missing_ok=True)
                write_views(self._home, self._briefs())
        except OSError as error:
            raise StoreError(f"the pages cannot be written: {error}") from error

    def _briefs(self) -> Iterator[View]:
        for path in (self._home / "brief").glob("*.md"):
            with suppress(Refused):  # a page of somebody else's
                name = Path("brief", path.name)
                yield View(path=name, text=self._page(str(name)))


def _texts(operations: Sequence[Operation]) -> Iterator[str]:
    for operation in operations:
        for name in ("text", "value", "focus", "note", "reason"):
            words = operation.body.get(name)
            if isinstance(words, str):
                yield words


def _files(home: Path) -> Iterator[Path]:
    """Yield the files that may repeat a text without knowing whose it is: pages, spooled events, logs of processes."""
    yield from home.glob("spool/*")
    yield from home.glob("*.log*")
    yield from home.glob("logs/*.log*")
    yield from home.glob("failures.jsonl")
    for depth in range(_DEPTH):
        yield from (path for path in home.glob("*/" * depth + "*") if path.suffix in SUFFIXES)


def _mask(path: Path, words: Iterable[str]) -> None:
    """Write stars over each text in a file, byte for byte, so that others may go on reading and appending."""
    with suppress(OSError), os.fdopen(os.open(path, os.O_RDWR | getattr(os, "O_NOFOLLOW", 0)), "r+b") as file:
        if os.fstat(file.fileno()).st_size > _BIGGEST:
            return
        content = file.read()
        for form, edge in {form for text in words for form in _forms(text)}:
            place = content.find(form)
            while place >= 0:
                file.seek(place + edge)
                file.write(b"*" * (len(form) - 2 * edge))
                place = content.find(form, place + len(form))


def _forms(text: str) -> Iterator[tuple[bytes, int]]:
    """Yield a text as it stands in files, plain or in JSON or in JSON within JSON, and how long its quotes are."""
    long = len(text) >= LONG
    for ascii_only in (False, True):
        once = json.dumps(text, ensure_ascii=ascii_only)[1:-1]
        twice = json.dumps(once, ensure_ascii=ascii_only)[1:-1]
        for inner, quote in ((once, '"'), (twice, '\\"')):
            edge = "" if long else quote
            yield f"{edge}{inner}{edge}".encode(), len(edge)
    if long:
        yield text.encode(), 0
