"""Signing in with a real browser: the link works once, and what is not the page's own changes nothing."""

from __future__ import annotations

from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from shutil import copy
from threading import Thread

import pytest
from playwright.sync_api import Browser, BrowserContext, StorageState, expect

from memory_plane.client import Client
from memory_plane.testing.hub import HubProcess

from .stage import enter, said_by, serving


@pytest.fixture
def stranger(chromium: Browser, hub: HubProcess) -> Iterator[BrowserContext]:
    """A browser that nobody signed in."""
    with chromium.new_context(base_url=hub.url) as context:
        context.set_default_timeout(5000)
        yield context


def test_the_link_signs_in_once_with_a_cookie_that_no_script_reads(stranger: BrowserContext, hub: HubProcess) -> None:
    page = stranger.new_page()
    page.goto("/")
    expect(page.locator("pre")).to_have_text("memory-plane open")
    link = said_by(hub, "open", "--print")
    page.goto(link)
    expect(page.get_by_role("navigation")).to_be_visible()
    assert page.evaluate("document.cookie") == ""
    (cookie,) = (one for one in stranger.cookies() if not one["name"].endswith("_visit"))
    assert (cookie["httpOnly"], cookie["sameSite"]) == (True, "Strict")
    stranger.clear_cookies()
    page.goto(link)
    expect(page.get_by_text("This browser is not signed in")).to_be_visible()


def test_signing_out_ends_it(chromium: Browser, hub: HubProcess, signed_in_state: StorageState) -> None:
    with chromium.new_context(base_url=hub.url, storage_state=signed_in_state) as context:
        page = context.new_page()
        page.goto("/")
        page.get_by_role("button", name="Sign out").click()
        expect(page.get_by_text("This browser is not signed in")).to_be_visible()
        page.goto("/graph")
        expect(page.get_by_text("This browser is not signed in")).to_be_visible()


class Elsewhere(BaseHTTPRequestHandler):
    """A page of another program on this machine, which posts to the hub as soon as it is open."""

    target = ""

    def do_GET(self) -> None:
        """Answer with the page."""
        self.send_response(200)
        self.send_header("content-type", "text/html")
        self.end_headers()
        form = f'<form method="post" action="{self.target}"><input name="do" value="done"><button>Press</button></form>'
        self.wfile.write(form.encode())

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""


def test_a_page_of_another_port_changes_nothing(
    chromium: Browser, hub: HubProcess, signed_in_state: StorageState, client: Client
) -> None:
    # A cookie is sent to every port of a host, so the origin alone tells the two apart.
    item = client.post("Keep this open", agent="muse", kind="commitment").id
    Elsewhere.target = f"{hub.url}/items/{item}"
    with HTTPServer(("127.0.0.1", 0), Elsewhere) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        with chromium.new_context(storage_state=signed_in_state) as context:
            page = context.new_page()
            page.goto(f"http://127.0.0.1:{server.server_port}/")
            page.get_by_role("button", name="Press").click()
            expect(page.locator("body")).to_contain_text("only the hub's own page may send this")
        server.shutdown()
    assert item in {one.id for one in client.items()}


def test_a_new_token_ends_the_session(chromium: Browser, tmp_path: Path, empty_database: Path) -> None:
    copy(empty_database, tmp_path / "memory.db")
    with serving(tmp_path) as hub, chromium.new_context(base_url=hub.url) as context:
        page = context.new_page()
        enter(page, hub)
        said_by(hub, "token", "--renew")
        page.goto("/")
        expect(page.get_by_text("This browser is not signed in")).to_be_visible()
