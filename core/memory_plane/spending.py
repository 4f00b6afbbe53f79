"""What a plugin spends on a model in a day, counted in tokens and never beyond a cap, restarts or not."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING

from memory_plane.errors import CapReached, ModelUnavailable

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

FILE = "spending.json"
_WAIT = 5.0
_UNCOUNTED = timedelta(seconds=30)
_LARGEST = 4096


@dataclass(frozen=True, slots=True)
class Spent:
    """How many tokens went today, and how many may; `cap` is None where the file is of an older version."""

    tokens: int
    cap: int | None


def spent(folder: Path, now: datetime) -> Spent | None:
    """Return what the plugin of a folder spent on the day of a time; None where it never spent anything."""
    with suppress(OSError, ValueError, TypeError, KeyError, OverflowError):
        said = json.loads((folder / FILE).read_text("utf-8")[:_LARGEST])
        return Spent(int(said["tokens"]) if said["day"] == now.date().isoformat() else 0, said.get("cap"))
    return None


def _now() -> datetime:
    return datetime.now(UTC)


class Spending:
    """Counts in a file of `folder`, which several processes may share; with no folder, in this object alone.

    The day is that of UTC. `cap` is in tokens; 0 forbids everything.
    """

    def __init__(self, folder: Path | None, cap: int, *, clock: Callable[[], datetime] = _now) -> None:
        self.cap = cap
        self._folder = folder
        self._clock = clock
        self._lock = Lock()
        self._here = ("", 0)

    def today(self) -> int:
        """Return how many tokens were spent or set aside since midnight."""
        known, count = self._read()
        return count if known == self._today else 0

    def reserve(self, tokens: int) -> None:
        """Set tokens aside before a request, so that a crash costs no more; raise `CapReached` beyond the cap.

        Raise `ModelUnavailable` where the count cannot be kept: what is not counted is not spent.
        """
        try:
            counted = self._change(tokens, limit=self.cap)
        except OSError as error:
            said = f"is not asked, since its tokens cannot be counted ({type(error).__name__} in {self._folder})"
            raise ModelUnavailable(said, until=self._clock() + _UNCOUNTED) from None
        if counted < 0:
            tomorrow = (self._clock().astimezone(UTC) + timedelta(days=1)).replace(
                hour=0, minute=0, second=0, microsecond=0
            )
            said = f"cap of {self.cap:,} tokens a day (daily_tokens) used up, local answers until "
            said += f"{tomorrow:%Y-%m-%d %H:%M} UTC"
            raise CapReached(said, until=tomorrow)

    def settle(self, reserved: int, spent: int) -> None:
        """Replace what was set aside by what it came to; where that cannot be kept, what was set aside is counted."""
        with suppress(OSError):
            self._change(spent - reserved)

    @property
    def _today(self) -> str:
        return self._clock().astimezone(UTC).date().isoformat()

    def _change(self, tokens: int, *, limit: int | None = None) -> int:
        """Add to today's count and return it; -1, and nothing added, where it would pass the limit."""
        with self._lock, self._held():
            day = self._today
            known, count = self._read()
            before = count if known == day else 0
            after = max(0, before + tokens)
            if limit is not None and after > limit:
                return -1
            if tokens:
                self._write(day, after)
            return after

    def _held(self) -> AbstractContextManager[object]:
        if self._folder is None:
            return Lock()
        from filelock import FileLock

        for folder in (self._folder.parent, self._folder):
            folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        return FileLock(self._folder / f".{FILE}.lock", timeout=_WAIT, mode=0o600)

    def _read(self) -> tuple[str, int]:
        if self._folder is None:
            return self._here
        file = self._folder / FILE
        try:
            said = json.loads(file.read_text("utf-8")[:_LARGEST])
            return str(said["day"]), max(0, int(said["tokens"]))
        except FileNotFoundError:
            return "", 0
        except (OSError, ValueError, TypeError, KeyError, OverflowError):  # cut short or not ours
            return self._torn(file), self.cap  # what is unknown counts as spent, on the day that it is of

    def _torn(self, file: Path) -> str:
        with suppress(OSError):
            return datetime.fromtimestamp(file.stat().st_mtime, UTC).date().isoformat()
        return self._today

    def _write(self, day: str, tokens: int) -> None:
        self._here = (day, tokens)
        if self._folder is None:
            return
        draft = self._folder / f".{FILE}.draft"
        descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            json.dump({"day": day, "tokens": tokens, "cap": self.cap}, file)
        draft.replace(self._folder / FILE)
