"""A real hub with a morning's memory, and a real browser that is signed in to it and may complain of nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from shutil import copy
from typing import TYPE_CHECKING, Any

import pytest
from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Page, StorageState, expect

from memory_plane.settings import Settings
from memory_plane.testing import _clean_environment
from memory_plane.testing.hub import HubProcess

from . import stage

if TYPE_CHECKING:
    from memory_plane.client import Client

PATIENCE = 10_000
"""Milliseconds that a page may take for one step, on a machine that has other work."""
expect.set_options(timeout=PATIENCE)


@pytest.fixture(scope="session")
def chromium() -> Iterator[Browser]:
    """A browser of the system, without a window."""
    with stage.browser() as chromium:
        yield chromium


@pytest.fixture(scope="session")
def hub(tmp_path_factory: pytest.TempPathFactory, empty_database: Path) -> Iterator[HubProcess]:
    """The hub of a memory that five agents write."""
    person = tmp_path_factory.mktemp("Zoë Жук")
    with pytest.MonkeyPatch.context() as monkeypatch:
        _clean_environment(monkeypatch, person)
        monkeypatch.setenv("MEMORY_PLANE_PLUGINS__ENABLED", '["local"]')
        home = person / ".memory-plane"
        home.mkdir(mode=0o700)
        copy(empty_database, home / "memory.db")
        with stage.morning(home) as process:
            yield process


@pytest.fixture(scope="session")
def client(hub: HubProcess) -> Iterator[Client]:
    """What an agent has: it writes to the hub, from another process."""
    from memory_plane.client import Client

    with Client(Settings.load(home=hub.home)) as client:
        yield client


@pytest.fixture(scope="session")
def signed_in_state(chromium: Browser, hub: HubProcess) -> StorageState:
    """The cookies of a browser that opened the link."""
    with chromium.new_context() as context:
        stage.enter(context.new_page(), hub)
        return context.storage_state()


@pytest.fixture
def context(
    chromium: Browser, hub: HubProcess, signed_in_state: StorageState
) -> Iterator[Callable[..., BrowserContext]]:
    """Give `context(**options)`: a signed in browser of its own; in the end none has complained."""
    opened: list[BrowserContext] = []
    complaints: list[str] = []

    def listen(page: Page) -> None:
        page.on("console", lambda said: complaints.append(told(said)) if said.type == "error" else None)
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("dialog", lambda dialog: complaints.append(f"a dialog says {dialog.message}"))

    def open_(**options: Any) -> BrowserContext:
        given = {"base_url": hub.url, "storage_state": signed_in_state, "viewport": {"width": 1280, "height": 800}}
        opened.append(chromium.new_context(**{**given, **options}))
        opened[-1].set_default_timeout(PATIENCE)
        opened[-1].on("page", listen)
        return opened[-1]

    yield open_
    for context in opened:
        context.close()
    assert complaints == []


def told(said: ConsoleMessage) -> str:
    """Return a complaint and where it comes from."""
    return f"{said.text} ({said.location['url']})"


@pytest.fixture
def page(context: Callable[..., BrowserContext]) -> Page:
    """A page of a signed in browser on a desk."""
    return context().new_page()
