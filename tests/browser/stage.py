"""What the tests of the pages and the pictures of them stand on: a browser, and the hub of a morning's memory."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

from playwright.sync_api import Browser, Page, sync_playwright

from memory_plane import Plane
from memory_plane.settings import Settings
from memory_plane.testing.hub import HubProcess

from .story import tell

NAMES = ("chromium", "chromium-browser", "google-chrome")
FLAGS = (
    "--disable-gpu",
    "--disable-lcd-text",
    "--disable-background-networking",
    "--disable-component-update",
    "--no-first-run",
)


@contextmanager
def browser() -> Iterator[Browser]:
    """Run a browser of the system, without a window."""
    path = next(filter(None, map(shutil.which, NAMES)))
    # Its sandbox does not work for root, who runs the tests in a container.
    flags = [*FLAGS, *(("--no-sandbox",) if sys.platform != "win32" and os.geteuid() == 0 else ())]
    with sync_playwright() as playwright:
        yield playwright.chromium.launch(executable_path=path, args=flags)  # it ends with the driver


@contextmanager
def morning(home: Path) -> Iterator[HubProcess]:
    """Run the hub of a memory that five agents write."""
    with Plane(Settings.load(home=home, synchronous="normal")) as plane:
        tell(plane, datetime.now(UTC))
    with serving(home) as hub:
        yield hub


@contextmanager
def serving(home: Path) -> Iterator[HubProcess]:
    """Run the hub of a home."""
    hub = HubProcess(home)
    try:
        yield hub
    finally:
        hub.stop()


def said_by(hub: HubProcess, *words: str) -> str:
    """Run a command in a process of its own, as a person would; return what it says."""
    whole = [sys.executable, "-m", "memory_plane", "--home", str(hub.home), *words]
    return subprocess.run(whole, capture_output=True, text=True, check=True, timeout=60).stdout.strip()


def enter(page: Page, hub: HubProcess) -> None:
    """Sign the browser of a page in."""
    page.goto(said_by(hub, "open", "--print"))
    page.wait_for_url(f"{hub.url}/")
