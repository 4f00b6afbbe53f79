"""Start a hub in the background, and stop the one that is up."""

from __future__ import annotations

import json
import os
import signal
import ssl
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING
from urllib.error import URLError
from urllib.request import HTTPSHandler, ProxyHandler, build_opener

from memory_plane import presence
from memory_plane.errors import ConfigurationError, MemoryPlaneError
from memory_plane.presence import Presence
from memory_plane.surfaces.cli.guard import USAGE
from memory_plane.surfaces.cli.log import HUB, last_line, open_file

if TYPE_CHECKING:
    from memory_plane.settings import Settings

START, STOP = 30.0, 20.0
"""Seconds that a hub may take to answer and to end."""


def command(*options: str) -> list[str]:
    """Return the command that runs the hub, whatever the working folder and PATH of who calls it."""
    return [sys.executable, "-P", "-m", "memory_plane", "up", *options]


def environment(settings: Settings) -> dict[str, str]:
    """Return the variables that let another process find the same home and configuration."""
    named = {"MEMORY_PLANE_HOME": str(settings.home)}
    return named | ({"MEMORY_PLANE_CONFIG": str(settings.file)} if os.environ.get("MEMORY_PLANE_CONFIG") else {})


def start(settings: Settings, *options: str) -> Presence:
    """Start a hub that outlives this process and return where it answers; raise what kept it from that."""
    with presence.claimed(settings.home):
        pass  # says who is there, before anything is started
    log = settings.home / HUB
    with os.fdopen(open_file(log), "wb") as output:
        process = subprocess.Popen(
            command(*options),
            env=os.environ | environment(settings),
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            start_new_session=True,
        )
    there: Presence | None = None
    deadline = monotonic() + START
    while monotonic() < deadline:
        with suppress(subprocess.TimeoutExpired):
            process.wait(0.05)
            said = last_line(log).removeprefix("memory-plane: ") or f"it ended with {process.returncode}"
            kind = ConfigurationError if process.returncode == USAGE else MemoryPlaneError
            raise kind(f"the hub did not start: {said}  (more is in {log})")
        there = presence.read(settings.home)
        if there is not None and there.pid == process.pid and answers(there.url):
            process.returncode = 0  # it goes on without us, so nobody need wait for it
            return there
    process.returncode = 0
    if there is not None and there.pid == process.pid:
        raise MemoryPlaneError(
            f"the hub is up ({there}), but not reached by that name; correct hub.names, or see {log}"
        )
    raise MemoryPlaneError(f"the hub does not answer after {START:g} s (pid {process.pid}); see {log}")


def stop(home: Path) -> Presence | None:
    """End the hub of this home, cleanly, and return which one it was; None where none is up."""
    if presence.free(home):
        return None
    there = presence.running(home)
    if there is None:
        raise MemoryPlaneError(f"the hub of {str(home)!r} is just starting or stopping; try again")
    try:
        os.kill(there.pid, signal.SIGTERM)
    except ProcessLookupError:
        return there
    except OSError as error:
        raise MemoryPlaneError(f"the hub ({there}) cannot be stopped: {error.strerror}") from None
    if not presence.free(home, wait=STOP):
        raise MemoryPlaneError(f"the hub ({there}) has not ended after {STOP:g} s; its log is {home / HUB}")
    return there


def answers(url: str) -> bool:
    """Tell whether something there says that it is well; no secret is sent, so its certificate does not matter."""
    context = ssl.create_default_context()
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    try:
        with build_opener(ProxyHandler({}), HTTPSHandler(context=context)).open(f"{url}/health", timeout=1) as answer:
            return bool(json.loads(answer.read(8192))["status"] == "ok")
    except (URLError, OSError, ValueError, LookupError, TypeError):
        return False
