"""When the pages are made: at most 200 ms after a write, before exit, and before one is read."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager
from datetime import UTC, datetime, tzinfo
from pathlib import Path
from threading import Lock, Timer
from time import monotonic
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo

from memory_plane import pages
from memory_plane.copies import Copies
from memory_plane.errors import Refused
from memory_plane.operations import agent_id
from memory_plane.types import View
from memory_plane.views import write_pages, write_views

if TYPE_CHECKING:
    from memory_plane.plugins import PluginManager
    from memory_plane.recall.snapshot import MemorySnapshot
    from memory_plane.settings import Settings

logger = logging.getLogger(__name__)

DELAY = 0.2
"""Seconds between a write and its pages; all writes in between share them."""
INLINE_DELAY = 0.18
"""Seconds after which the next write renders the pages itself."""

PULSE, SHARED_MEMORY, REPLICA = "PULSE.md", "SHARED_MEMORY.md", "local-cache.json"


class Renderer:
    """Renders the standard pages and those of the plugins from one snapshot."""

    def __init__(
        self,
        snapshot: Callable[[], AbstractContextManager[MemorySnapshot]],
        plugins: Callable[[], PluginManager],
        settings: Settings,
    ) -> None:
        """Render nothing yet; `plugins` gives them when they are needed, which most single pages do not."""
        self._snapshot = snapshot
        self._plugins = plugins
        self._settings = settings
        self._zone: tzinfo | None = ZoneInfo(settings.timezone) if settings.timezone else None
        self._copies = Copies(settings.home)
        self._lock = Lock()
        self._rendering = Lock()
        self._timer: Timer | None = None
        self._dirty_since = 0.0
        self._closed = False

    def mark_dirty(self) -> None:
        """Have the pages rendered soon, by a thread of their own or, in a stream of writes, by the writer itself.

        Two threads that both compute would hold each other up at every statement.
        """
        with self._lock:
            if self._timer is None and not self._closed:
                self._dirty_since = monotonic()
                self._timer = Timer(DELAY, self._due)
                self._timer.daemon = True
                self._timer.start()
            due = monotonic() - self._dirty_since > INLINE_DELAY
        if due:
            self._due()

    def render(self) -> list[Path]:
        """Render now; return the files that changed. The lock makes the last page of two processes the newest one."""
        from filelock import FileLock  # brings asyncio, which no read needs

        if not self._settings.home.is_dir():  # deleted: what is left of it in memory must not come back as pages
            return []
        with FileLock(self._settings.home / ".pages.lock", timeout=self._settings.timeout, mode=0o600):
            with self._snapshot() as snapshot:
                ours, theirs = list(self._views(snapshot)), self._plugins().render(snapshot)
            written = [*write_views(self._settings.home, ours), *write_pages(self._settings.home, theirs)]
            self._copies.write()
        return written

    def warm_up(self) -> None:
        """Make every page once and write none."""
        with self._snapshot() as snapshot:
            list(self._views(snapshot))

    def page(self, name: str) -> str:
        """Return one of the standard pages, rendered now; raise `Refused` for an unknown name."""
        with self._snapshot() as snapshot:
            for view in self._views(snapshot):
                if view.path == Path(name):
                    return view.text
            agent = agent_id(Path(name).stem)
            if agent is not None and Path(name) == Path("brief", f"{agent}.md"):
                return self._brief(snapshot, agent, datetime.now(UTC)).text
        raise Refused(f"page: there is no {name!r}; there are {PULSE}, {SHARED_MEMORY} and brief/<agent>.md")

    def _brief(self, snapshot: MemorySnapshot, agent: str, now: datetime) -> View:
        thoughts, items = snapshot.brief(agent)
        text = pages.brief_page(snapshot, agent, thoughts=thoughts, items=items, now=now, zone=self._zone)
        return View(path=Path("brief", f"{agent}.md"), text=text)

    def close(self) -> None:
        """Render what is still due, and wait for what is under way."""
        with self._lock:
            self._closed = True
            timer, self._timer = self._timer, None
        if timer is not None:
            timer.cancel()
            self._render_safely()
        with self._rendering:
            pass

    def _due(self) -> None:
        with self._rendering:
            with self._lock:
                if self._timer is None:
                    return
                self._timer.cancel()
                self._timer = None
            self._render_safely()

    def _render_safely(self) -> None:
        """Pages can be made again, so what goes wrong here is for the log."""
        try:
            self.render()
        except Exception:
            logger.warning("the pages could not be written", exc_info=True)

    def _views(self, snapshot: MemorySnapshot) -> Iterable[View]:
        now, zone = datetime.now(UTC), self._zone
        yield View(path=Path(PULSE), text=pages.pulse_page(snapshot, now=now, zone=zone))
        yield View(path=Path(SHARED_MEMORY), text=pages.shared_memory_page(snapshot, now=now, zone=zone))
        yield from (self._brief(snapshot, agent, now) for agent in self._agents(snapshot))
        yield View(path=Path(REPLICA), text=pages.replica(snapshot, now=now))

    def _agents(self, snapshot: MemorySnapshot) -> Iterable[str]:
        """Return who gets a brief: those that are known, those that ever wrote, and those that an item waits for."""
        known = sorted({name.lower() for name in (*self._plugins().agents, *self._settings.agents)})
        addressees = (item.to for item in snapshot.items() if item.to and item.to == agent_id(item.to))
        return dict.fromkeys((*known, *(beat.agent for beat in snapshot.pulse().heartbeats), *addressees))
