"""What a command works with, opened when it is first asked for: `ctx.obj.plane`."""

from __future__ import annotations

from contextlib import suppress
from functools import cached_property
from typing import TYPE_CHECKING

from memory_plane.errors import MemoryPlaneError

if TYPE_CHECKING:
    from datetime import datetime, tzinfo
    from pathlib import Path

    from memory_plane.client import Client
    from memory_plane.intake import Taker
    from memory_plane.plane import Plane
    from memory_plane.plugins import PluginManager
    from memory_plane.reports import IngestReport
    from memory_plane.settings import Settings
    from memory_plane.surfaces.cli.log import Log


AT_ONCE = 100
"""How many events of hooks a command takes in before its own work."""


class Session:
    """The settings, plugins and plane of one command line; what no command touches is never loaded."""

    def __init__(self, home: str | None = None, verbose: bool = False) -> None:
        self.home = home
        self.verbose = verbose
        self.log_file = "memory-plane.log"
        self.takes_in = True
        self._log: Log | None = None

    @cached_property
    def settings(self) -> Settings:
        """Load the settings, and from here on send log lines to the home."""
        from memory_plane.settings import Settings

        settings = Settings.load(home=self.home) if self.home else Settings.load()
        self._open_log(str(settings.home))
        return settings

    @cached_property
    def plugins(self) -> PluginManager:
        """Load the plugins without touching the store."""
        if "plane" in self.__dict__:
            return self.plane.plugins
        from memory_plane.plugins import PluginManager

        return PluginManager.load(self.settings)

    @cached_property
    def client(self) -> Client:
        """Make ready to write and read, whatever is up; what hooks left is taken in first, if `takes_in`."""
        from memory_plane.client import Client

        client = Client(self.settings, plugins=self.__dict__.get("plugins"))
        if self.takes_in and _has_events(self.settings.home):
            self._take_in_events(client)
        return client

    @cached_property
    def plane(self) -> Plane:
        """Open the database of this machine, for what only it can do; the client closes it."""
        self.check_here()
        return self.client.plane

    def check_here(self) -> None:
        """Raise `ConfigurationError` where the memory is at a hub elsewhere: nothing is made here in its stead."""
        there = self.settings.elsewhere
        if there is not None:
            from memory_plane.errors import ConfigurationError

            place = self.settings.place("hub", "url")
            raise ConfigurationError(
                f"the memory is not here but at {there!r}; run this where that hub runs  ({place})"
            )

    def take_in(self) -> IngestReport:
        """Take in what agents left; where the memory is elsewhere, queue it for the hub there."""
        self.takes_in = False
        if self.settings.elsewhere is None:
            return self.plane.ingest()
        from memory_plane.intake import send_events

        return send_events(self.client, self.plugins)

    def taker(self, client: Client | None = None) -> Taker | None:
        """Return what takes in the events of hooks; None while a hub of this home does."""
        from memory_plane import presence
        from memory_plane.intake import Queue

        client = client or self.client
        if self.settings.elsewhere is not None:
            return Queue(client, self.plugins)
        return client.plane if presence.running(self.settings.home) is None else None

    def _take_in_events(self, client: Client) -> None:
        """Take in the oldest events; a command does its work whatever becomes of them."""
        import logging

        from memory_plane import intake, spool

        try:
            if taker := self.taker(client):
                fresh = [path for path in spool.waiting(self.settings.home) if path.suffixes == [".json"]]
                intake.take_events(taker, paths=fresh[:AT_ONCE])
        except (MemoryPlaneError, OSError) as error:
            logging.getLogger(__name__).warning("what hooks left was not taken in: %s", error)

    @property
    def zone(self) -> tzinfo | None:
        """Return the time zone of the settings; None is the machine's."""
        if self.settings.timezone is None:
            return None
        from zoneinfo import ZoneInfo

        return ZoneInfo(self.settings.timezone)

    def local(self, moment: datetime) -> str:
        """Write a moment as a person reads it, in the person's time zone."""
        return moment.astimezone(self.zone).strftime("%Y-%m-%d %H:%M")

    def close(self) -> None:
        """Close what was opened, and name the plugins that failed meanwhile."""
        self._tell_failures()
        self._tell_trouble()
        self.__dict__.pop("plane", None)
        for name in ("client", "plugins"):
            if name in self.__dict__:
                self.__dict__.pop(name).close()

    def _tell_failures(self) -> None:
        """Say on stderr which plugins the command had to do without: its result may lack what they find."""
        if "plugins" in self.__dict__:
            return  # loaded for `plugins` or for a plugin's own command, which say it themselves
        from memory_plane.surfaces.cli.guard import tell

        for failure in self.client.failures if "client" in self.__dict__ else ():
            tell(str(failure))

    def _tell_trouble(self) -> None:
        """Say on stderr that the memory could not be reached: what was read is a copy, what was written waits."""
        from memory_plane.surfaces.cli.guard import tell

        if "client" in self.__dict__ and self.client.trouble is not None:
            tell(f"offline: {self.client.trouble}")

    def record(self, error: Exception) -> str:
        """Log an unexpected error with its trace and say where it went."""
        with suppress(Exception):
            from memory_plane.surfaces.cli.log import default_home

            log = self._open_log(self.home or default_home())
            return f"  (the trace is in {log.record(error)})"
        return ""

    def close_log(self) -> None:
        """Stop writing the log."""
        if self._log is not None:
            self._log.close()
            self._log = None

    def _open_log(self, home: str) -> Log:
        if self._log is None:
            from memory_plane.surfaces.cli.log import Log

            self._log = Log(home, self.verbose, self.log_file)
        return self._log


def _has_events(home: Path) -> bool:
    """Look without loading what reads them."""
    with suppress(OSError):
        return any((home / "spool").glob("*.json"))
    return False
