"""What goes wrong is told to a person in words on a page, and to a program as JSON."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from starlette.testclient import TestClient

from memory_plane import Plane
from memory_plane.errors import StoreError

SignIn = Callable[[Plane], TestClient]

URL = "http://127.0.0.1:8788"
BROWSER = {"accept": "text/html,application/xhtml+xml,*/*;q=0.8"}
HTML, JSON = "text/html; charset=utf-8", "application/json"


@pytest.fixture
def hub(plane: Plane, signed_in: SignIn) -> TestClient:
    """A browser that is signed in, and takes an error of the hub for an answer."""
    return signed_in(plane)


@pytest.mark.parametrize(
    ("method", "path", "more", "status", "says"),
    [
        ("GET", "/facts/xyz", {}, 404, "There is no such page"),
        ("GET", "/assets/xyz", {}, 404, "there is no such file"),
        ("GET", "/items/xyz", {}, 405, "Method Not Allowed"),
        ("GET", "/xyz", {}, 401, "This is not open to a browser"),
        ("POST", "/change", {"origin": "http://127.0.0.1:9999"}, 403, "only the hub&#39;s own page may send this"),
        ("POST", "/change", {"content-type": "text/plain"}, 415, "send application/x-www-form-urlencoded"),
    ],
)
def test_a_browser_is_told_in_words(
    hub: TestClient, method: str, path: str, more: dict[str, str], status: int, says: str
) -> None:
    form = {"content-type": "application/x-www-form-urlencoded"} if method == "POST" else {}
    page = hub.request(method, path, headers={**BROWSER, **form, **more})
    program = hub.request(method, path, headers={"accept": "*/*", **form, **more})
    assert (page.status_code, page.headers["content-type"]) == (status, HTML)
    assert says in page.text
    assert "default-src 'none'; script-src 'self'" in page.headers["content-security-policy"]
    assert page.headers["cache-control"] == "no-store"
    assert (program.status_code, program.headers["content-type"]) == (status, JSON)


@pytest.mark.parametrize("path", ["/", "/search?q=x", "/facts", "/nodes/x", "/review", "/graph"])
def test_a_memory_that_cannot_be_read_is_told_on_a_page_that_tries_again(
    plane: Plane, hub: TestClient, path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*args: Any, **more: Any) -> Any:
        raise StoreError("the file is <damaged>")

    monkeypatch.setattr(plane.database, "reading", broken)
    page = hub.get(path, headers=BROWSER)
    assert (page.status_code, page.headers["retry-after"]) == (503, "5")
    assert "the file is &lt;damaged&gt;" in page.text
    assert f'hx-get="{path}" hx-trigger="every 5s"' in page.text


def test_what_an_address_asks_for_in_vain_leads_back_to_where_one_came_from(hub: TestClient) -> None:
    asked = "/search?q=x&since=never"
    for before, back in (
        (f"{URL}/search?q=x", "/search?q=x"),
        (f"{URL}{asked}", "/"),
        (f"{URL}/sign-in?code=x", "/"),
        ("http://127.0.0.1:9999/x", "/"),
        (f"{URL}//evil", "/"),
        ("http://[", "/"),
    ):
        page = hub.get(asked, headers={"referer": before})
        assert page.status_code == 400
        assert f'<a href="{back}">Go back</a>' in page.text


@pytest.mark.parametrize("name", ["%00", "%2e%2e/frame.py", "vendor", "a" * 3000, "%ED%A0%80", "//etc/passwd"])
def test_no_name_of_an_asset_is_taken_for_a_path(hub: TestClient, name: str) -> None:
    assert hub.get(f"/assets/{name}").status_code == 404
