"""A real hub in a process of its own, for tests of what happens while it goes and comes."""

from __future__ import annotations

import random
import re
import signal
import socket
import subprocess
import sys
from pathlib import Path

from memory_plane.access import ensure_token

SECONDS = 60


class HubProcess:
    """A hub that can be stopped, killed and started again at the same address."""

    def __init__(self, home: Path) -> None:
        """Start a hub in `home`, which is made, on a free port."""
        home.mkdir(mode=0o700, parents=True, exist_ok=True)
        self.home = home
        self.token = ensure_token(home)
        self.port = free_port()
        self.start()

    def start(self) -> None:
        """Start it, and return once it answers."""
        command = [sys.executable, "-m", "memory_plane", "--home", str(self.home), "up", "--port", str(self.port)]
        self.process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, encoding="utf-8"
        )
        assert self.process.stdout is not None
        found = re.search(r"http://[\d.]+:(\d+)", self.process.stdout.readline())
        if found is None:
            self.stop()
            raise AssertionError(f"the hub did not start; see {self.home / 'logs'}")
        self.url, self.port = found[0], int(found[1])

    def stop(self, number: signal.Signals = signal.SIGTERM) -> None:
        """Send it a signal and wait until it has gone; nothing happens where it is gone already."""
        if self.process.poll() is None:
            self.process.send_signal(number)
        self.process.wait(SECONDS)
        assert self.process.stdout is not None
        self.process.stdout.close()

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
