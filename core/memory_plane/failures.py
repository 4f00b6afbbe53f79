"""What went wrong: with plugins, remembered in `failures.jsonl` beyond the process that saw it; where, for a log."""

from __future__ import annotations

import json
import os
import traceback
from collections.abc import Collection, Iterator
from contextlib import suppress
from dataclasses import asdict, dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

REMEMBERED = 100
"""At least so many failures are kept in a process, and at most twice as many: a hub runs for weeks."""
KEPT = timedelta(days=7)
"""A failure older than this is forgotten: the plugin was probably mended."""

_BYTES = 100_000
_MENDED = "mended"
_MOST_BEHIND = 10


def places(error: BaseException) -> str:
    """Return the kind and place of an error and of those behind it, without their words: they may quote a memory."""
    lines = ["Traceback, without what the errors say:\n"]
    waiting = [error]
    for _ in range(_MOST_BEHIND):
        if not waiting:
            break
        one = waiting.pop(0)
        lines += [f"{type(one).__qualname__} at\n", *traceback.format_tb(one.__traceback__)]
        behind = one.__cause__ or (None if one.__suppress_context__ else one.__context__)
        waiting += [behind] if behind is not None else []
        waiting += one.exceptions if isinstance(one, BaseExceptionGroup) else ()
    return "".join(lines)


@dataclass(frozen=True, slots=True)
class Failure:
    """One thing that went wrong: in a hook, or at the stage of its life that `where` names.

    With `until` nothing is broken: it is a state that ends by itself then.
    """

    plugin: str
    where: str
    error: str
    at: datetime
    until: datetime | None = None

    def __str__(self) -> str:
        if self.until is not None:
            return f"plugin {self.plugin!r}: {self.error}"
        if self.where == "choose":
            return f"plugin {self.plugin!r} is {self.error}"
        return f"plugin {self.plugin!r} failed in {self.where!r} and was skipped: {self.error}"


class FailureLog:
    """A line a failure. It never raises: a full disk must not make a broken plugin worse."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def add(self, failure: Failure) -> None:
        """Append a failure; the older half goes when the file has grown too long."""
        line = json.dumps(asdict(failure), default=datetime.isoformat) + "\n"
        with suppress(OSError):
            self._shorten()
            file = os.open(self.path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
            try:
                os.write(file, line.encode())
            finally:
                os.close(file)

    def mend(self, plugin: str, hooks: Collection[str]) -> None:
        """Note that a plugin does what it failed in before, as far as that was one of these hooks."""
        known = self.latest().get(plugin)
        if known is not None and known.where in hooks:
            self.add(Failure(plugin, _MENDED, "", datetime.now(UTC)))

    def latest(self) -> dict[str, Failure]:
        """Return the latest failure of each plugin that was not mended since."""
        since = datetime.now(UTC) - KEPT
        found = {failure.plugin: failure for failure in self._read() if failure.at > since}
        return {plugin: failure for plugin, failure in found.items() if failure.where != _MENDED and _lasts(failure)}

    def _read(self) -> Iterator[Failure]:
        try:
            lines = self.path.read_bytes().splitlines()
        except OSError:
            return
        for line in lines:
            with suppress(ValueError, TypeError, KeyError):  # a torn or foreign line is no failure of a plugin
                record = json.loads(line)
                times = {"at": record["at"], "until": record.get("until")}
                yield Failure(**record | {name: at and _moment(at) for name, at in times.items()})

    def _shorten(self) -> None:
        with suppress(FileNotFoundError):
            if self.path.stat().st_size > _BYTES:
                lines = self.path.read_bytes().splitlines(keepends=True)
                self.path.write_bytes(b"".join(lines[len(lines) // 2 :]))


class Failures:
    """What went wrong in this process, and what each plugin failed in last in any, as far as there is a log."""

    def __init__(self, journal: FailureLog | None = None) -> None:
        self._journal = journal
        self._all: list[Failure] = []
        self._latest: dict[str, Failure] = {}

    def __iter__(self) -> Iterator[Failure]:
        return iter(self._all)

    def add(self, failure: Failure) -> None:
        """Remember a failure, in the log once for as long as it stays the same."""
        before = self._latest.get(failure.plugin)
        if self._journal and (before is None or (before.where, before.error) != (failure.where, failure.error)):
            self._journal.add(failure)
        if len(self._all) == 2 * REMEMBERED:
            del self._all[:REMEMBERED]
        self._all.append(failure)
        self._latest[failure.plugin] = failure

    def forget(self, plugin: str, hooks: Collection[str]) -> None:
        """Tell nobody any more that a plugin failed in these hooks, whichever process saw it."""
        if plugin in self._latest and self._latest[plugin].where in hooks:
            del self._latest[plugin]
        if self._journal:
            self._journal.mend(plugin, hooks)

    def latest(self) -> dict[str, Failure]:
        """Return the latest failure of each plugin."""
        here = {plugin: failure for plugin, failure in self._latest.items() if _lasts(failure)}
        return (self._journal.latest() if self._journal else {}) | here


def _moment(text: str) -> datetime:
    return datetime.fromisoformat(text).astimezone(UTC)


def _lasts(failure: Failure) -> bool:
    return failure.until is None or failure.until > datetime.now(UTC)
