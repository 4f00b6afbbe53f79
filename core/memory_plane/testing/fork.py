"""The command `memory-plane` as a process that is forked from one which has loaded what a hub needs.

That takes a fifth of the time of a start. What it does is the same but for its imports, which other tests try.
"""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Sequence
from functools import cache
from multiprocessing import get_context
from multiprocessing.connection import Connection
from multiprocessing.context import ForkServerContext
from subprocess import TimeoutExpired

_HUB = ("client", "pipeline", "plane", "plugins", "rendering", "surfaces.cli.service", "surfaces.hub")
_AGENTS = ("surfaces.conversation",)


@cache
def _nursery() -> ForkServerContext:
    context = get_context("forkserver")
    context.set_forkserver_preload([f"memory_plane.{name}" for name in _HUB + _AGENTS])
    return context


class Fork:
    """A running command, with those methods and fields of `Popen` that tests need."""

    def __init__(self, arguments: Sequence[str], errors: str) -> None:
        """Start it in the environment of now; what it says on stderr goes to the file `errors`."""
        source, sink = _nursery().Pipe(duplex=False)
        self._process = _nursery().Process(target=_run, args=(arguments, dict(os.environ), sink, errors), daemon=True)
        self._process.start()
        sink.close()
        self.pid = self._process.pid or 0
        self.stdout = os.fdopen(os.dup(source.fileno()), encoding="utf-8")
        source.close()

    @property
    def returncode(self) -> int | None:
        """The exit code, minus the signal where one ended it, None while it runs."""
        return self._process.exitcode

    def poll(self) -> int | None:
        """Return the exit code, None while it runs."""
        return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        """Wait for its end and return the exit code."""
        self._process.join(timeout)
        if self.returncode is None:
            raise TimeoutExpired("memory-plane", timeout or 0)
        return self.returncode

    def send_signal(self, number: signal.Signals) -> None:
        """Send a signal, unless it has ended."""
        if self.poll() is None:
            os.kill(self.pid, number)

    def kill(self) -> None:
        """Kill it."""
        self.send_signal(signal.SIGKILL)

    def communicate(self, timeout: float | None = None) -> tuple[str, None]:
        """Wait for its end and return what it has said since."""
        self.wait(timeout)
        if self.stdout.closed:
            return "", None
        with self.stdout:
            return self.stdout.read(), None


def _run(arguments: Sequence[str], environment: dict[str, str], sink: Connection, errors: str) -> None:
    os.environ.clear()
    os.environ.update(environment)
    time.tzset()
    os.dup2(sink.fileno(), 1)
    os.dup2(os.open(errors, os.O_WRONLY | os.O_APPEND), 2)
    sys.stdout, sys.stderr = os.fdopen(1, "w", encoding="utf-8"), os.fdopen(2, "w", encoding="utf-8")
    sys.argv = ["memory-plane", *arguments]
    from memory_plane.entry import main

    main()
