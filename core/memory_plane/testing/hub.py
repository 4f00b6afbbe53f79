"""A real hub in a process of its own, for tests of what happens while it goes and comes."""

from __future__ import annotations

import random
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from shutil import copy
from tempfile import NamedTemporaryFile
from typing import TYPE_CHECKING

from memory_plane.access import ensure_token

if TYPE_CHECKING:
    from memory_plane.testing.fork import Fork

SECONDS = 60


class HubProcess:
    """A hub that can be stopped, killed and started again at the same address."""

    def __init__(self, home: Path, *options: str, database: Path | None = None, forked: bool = False) -> None:
        """Start a hub in `home`, which is made, with the `options` of `up` and on a free port.

        A home without a memory gets a copy of `database`, which takes no time; to make the tables does. One that is
        `forked` has its modules already, which takes a fifth of the time.
        """
        home.mkdir(mode=0o700, parents=True, exist_ok=True)
        if database is not None and not (home / "memory.db").exists():
            copy(database, home / "memory.db")
        self.home = home
        self.token = ensure_token(home)
        self.port = free_port()
        self._options = options
        self._forked = forked and sys.platform != "win32"
        self.start()

    def start(self) -> None:
        """Start it, and return once it answers."""
        arguments = ["--home", str(self.home), "up", *self._options, "--port", str(self.port)]
        # Not a pipe, which would block a hub that complains much; `stop` closes it.
        self._errors = NamedTemporaryFile("w+", encoding="utf-8")  # noqa: SIM115
        self.process: subprocess.Popen[str] | Fork
        self.process = self._fork(arguments) if self._forked else self._spawn(arguments)
        assert self.process.stdout is not None
        found = re.search(r"https?://\S+", self.process.stdout.readline())
        if found is None:
            _, _, errors = self.stop()
            raise AssertionError(f"the hub did not start: {errors or self.home / 'logs'}")
        self.url = found[0]

    def _spawn(self, arguments: Sequence[str]) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [sys.executable, "-m", "memory_plane", *arguments],
            stdout=subprocess.PIPE,
            stderr=self._errors,
            text=True,
            encoding="utf-8",
        )

    def _fork(self, arguments: Sequence[str]) -> Fork:
        from memory_plane.testing.fork import Fork

        return Fork(arguments, errors=self._errors.name)

    def stop(self, number: signal.Signals = signal.SIGTERM) -> tuple[int, str, str]:
        """Send it a signal unless it is gone already, wait for its end, and return exit code, output and errors."""
        if self.process.poll() is None:
            self.process.send_signal(number)
        output, _ = self.process.communicate(timeout=SECONDS)
        return self.process.wait(), output, self._complaints()

    def _complaints(self) -> str:
        if self._errors.closed:
            return ""
        with self._errors:
            self._errors.seek(0)
            return self._errors.read()

    def kill(self) -> None:
        """Kill it, as a power cut would."""
        self.stop(signal.SIGKILL)


def free_port() -> int:
    """Return a free port below those that systems give out, which nobody else is given while the hub is down."""
    for _ in range(1000):
        port = random.randrange(20_000, 32_000)
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) != 0:
                return port
    raise AssertionError("no port is free")
