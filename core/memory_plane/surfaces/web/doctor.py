"""How the memory fares: who was heard, what failed, what waits, how large it is, what leaves the machine; and cures."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from threading import Lock, Thread
from typing import Any

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from memory_plane import seen, spool
from memory_plane.failures import Failure
from memory_plane.plane import Plane
from memory_plane.plugin import PluginInfo
from memory_plane.recall import state
from memory_plane.seen import Seen
from memory_plane.setup import doctor as setup
from memory_plane.setup.finding import Finding
from memory_plane.spending import Spent, spent
from memory_plane.store import enrichment, forgetting
from memory_plane.surfaces.web.acting import shows
from memory_plane.surfaces.web.frame import Frame

ENTRIES = 40
"""How many agents, and how many findings, the page shows."""
PATIENCE = 1.0
"""Seconds that the page waits for a look that is under way; then it shows the one before."""
OLD = timedelta(hours=1)
"""From when on the last look is too old to be shown without another."""
_ORDER = {"wrong": 0, "note": 1, "ok": 2}


def doctor(plane: Plane, frame: Frame, looks: Looks) -> list[Route]:
    """Return the page, and where it is told to look again."""

    def page(request: Request) -> Response:
        return frame.page(request, "doctor.html", **_shown(plane), **_found(looks))

    def again(request: Request) -> Response:
        looks.start()
        return RedirectResponse("/doctor", 303)

    return [shows(frame, "/doctor", page), Route("/doctor", again, methods=["POST"])]


class Looks:
    """Looks in a thread of its own, one at a time, and keeps what was found last: it may take longer than a page."""

    def __init__(self, look: Callable[[], list[Finding]]) -> None:
        self._look = look
        self._lock = Lock()
        self._thread: Thread | None = None
        self._last: tuple[datetime, list[Finding]] | None = None

    @classmethod
    def at(cls, plane: Plane) -> Looks:
        """Return looks at all that a hub may look at beside its work."""
        return cls(lambda: list(setup.examine(plane.settings, plane.plugins, start=False, through=False)))

    def start(self) -> None:
        """Look, unless that is under way."""
        with self._lock:
            if not self.under_way:
                self._thread = Thread(target=self._run, name="doctor", daemon=True)
                self._thread.start()

    @property
    def under_way(self) -> bool:
        """Whether somebody looks now."""
        return self._thread is not None and self._thread.is_alive()

    def last(self, wait: float) -> tuple[datetime, list[Finding]] | None:
        """Return when the last look ended and what it found, None before the first; one under way is waited for."""
        if self._last is None or datetime.now(UTC) - self._last[0] > OLD:
            self.start()
        if self._thread is not None:
            self._thread.join(wait)
        return self._last

    def _run(self) -> None:
        found = self._look()
        self._last = datetime.now(UTC), found


@dataclass(frozen=True, slots=True, kw_only=True)
class Heard:
    """What is known of one agent: when it last wrote, when it was heard, and what last failed in its plugin."""

    agent: str
    wrote: datetime | None
    seen: Seen
    failure: Failure | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Sender:
    """A running plugin that sends something off this machine, and what it spent on a model today."""

    plugin: PluginInfo
    spent: Spent | None


def _shown(plane: Plane) -> dict[str, Any]:
    queued, since, dead = plane.queued()
    with plane.database.reading() as connection:
        wrote = dict(state.writers(connection))
        waiting, purging = enrichment.depth(connection), len(forgetting.waiting(connection))
    plugins, now = plane.plugins.infos(), datetime.now(UTC)
    heard = sorted(_heard(plane.home, plugins, wrote), key=_last_heard, reverse=True)
    return {
        "heard": [one for one in heard if _last_heard(one).year > 1 or one.failure][:ENTRIES],
        "silent": [one.agent for one in heard if _last_heard(one).year == 1 and not one.failure][:ENTRIES],
        "plugins": plugins,
        "senders": [
            Sender(plugin=one, spent=spent(plane.home / "plugins" / one.name, now))
            for one in plugins
            if one.sends and one.state == "active"
        ],
        "waits": {"queued": queued, "since": since, "dead": dead, "enrichment": waiting, "purging": purging},
        "spooled": len(spool.waiting(plane.home)),
        "disk": list(_disk(plane)),
    }


def _found(looks: Looks) -> dict[str, Any]:
    last = looks.last(PATIENCE)
    findings = sorted(last[1], key=lambda one: _ORDER[one.state]) if last else []
    return {
        "looked_at": last[0] if last else None,
        "looking": looks.under_way,
        "complaints": [one for one in findings if one.state != "ok"][:ENTRIES],
        "fine": [one for one in findings if one.state == "ok"][:ENTRIES],
    }


def _heard(home: Path, plugins: list[PluginInfo], wrote: dict[str, datetime]) -> Iterator[Heard]:
    owners = {agent: one for one in plugins if one.state != "disabled" for agent in one.agents}
    for agent in dict.fromkeys([*wrote, *owners]):
        failure = owners[agent].failure if agent in owners else None
        yield Heard(agent=agent, wrote=wrote.get(agent), seen=seen.last(home, agent), failure=failure)


def _last_heard(one: Heard) -> datetime:
    return max(filter(None, (one.wrote, one.seen.hook, one.seen.mcp)), default=datetime.min.replace(tzinfo=UTC))


def _disk(plane: Plane) -> Iterator[tuple[str, str]]:
    """Yield what takes room, with its size in words."""
    path = plane.database.path
    if path is not None:
        yield "database", _size(path)
        yield "write-ahead log", _size(path.with_name(f"{path.name}-wal"))
    yield "logs", _size(*plane.home.glob("*.log*"), *plane.home.glob("logs/*.log*"))
    yield "outbox", _size(*plane.home.glob("outbox*.jsonl"))
    with suppress(OSError):
        yield "free on this disk", _words(shutil.disk_usage(plane.home).free)


def _size(*files: Path) -> str:
    return _words(sum(path.stat().st_size for path in files if path.is_file()))


def _words(size: float) -> str:
    for unit in ("bytes", "KB", "MB"):
        if size < 1000:
            return f"{size:.0f} {unit}"
        size /= 1000
    return f"{size:.1f} GB"
