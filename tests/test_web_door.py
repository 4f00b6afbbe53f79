"""The door of the pages: a link that works once and soon, a cookie for this site alone, and forms of our own."""

from __future__ import annotations

import re
from collections.abc import Callable
from time import monotonic

import pytest
from starlette.testclient import TestClient

from memory_plane import Plane
from memory_plane.access import agent_token, session
from memory_plane.surfaces.api import create_app
from memory_plane.surfaces.web import door
from memory_plane.surfaces.web.frame import PAGES

SignIn = Callable[[Plane], TestClient]

URL = "http://127.0.0.1:8788"
TOKEN = "t" * 43
BEARER = {"authorization": f"Bearer {TOKEN}"}


@pytest.fixture
def hub(gate: TestClient) -> TestClient:
    """The hub, one for all that change nothing, and somebody who is not signed in."""
    gate.cookies.clear()
    return gate


def link(hub: TestClient, token: str = TOKEN) -> str:
    path: str = hub.post("/api/sign-in", json={}, headers={"authorization": f"Bearer {token}"}).json()["path"]
    return path


def test_a_link_signs_a_browser_in_once(hub: TestClient) -> None:
    path = link(hub)
    assert hub.get("/").status_code == 401
    assert "This browser is signed in" in hub.get(path).text
    assert hub.get("/").status_code == 200
    hub.cookies.clear()
    assert hub.get(path).status_code == 401
    assert hub.get("/").status_code == 401


def test_a_browser_that_is_signed_in_may_open_its_link_again(hub: TestClient) -> None:
    path = link(hub)
    hub.get(path)
    again = hub.get(path)
    assert (again.status_code, "set-cookie" in again.headers) == (200, False)
    assert "This browser is signed in" in again.text


def test_a_look_whether_a_link_is_there_does_not_use_it_up(hub: TestClient) -> None:
    path = link(hub)
    looked = hub.head(path)
    assert (looked.status_code, "set-cookie" in looked.headers) == (401, False)
    assert hub.get(path).status_code == 200


def test_a_link_waits_two_minutes(hub: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    path = link(hub)
    later = monotonic() + door.LINK_SECONDS + 1
    monkeypatch.setattr(door, "monotonic", lambda: later)
    assert hub.get(path).status_code == 401


@pytest.mark.parametrize("code", ["", "x", "é", "a" * 5000])
def test_a_guessed_link_is_refused(hub: TestClient, code: str) -> None:
    answer = hub.get("/sign-in", params={"code": code})
    assert answer.status_code == 401
    assert "set-cookie" not in answer.headers


def test_only_who_has_the_token_of_the_hub_makes_a_link(hub: TestClient) -> None:
    assert hub.post("/api/sign-in", json={}).status_code == 401
    agents = {"authorization": f"Bearer {agent_token(TOKEN, 'muse')}"}
    assert hub.post("/api/sign-in", json={}, headers=agents).status_code == 403


def test_a_signed_in_browser_makes_no_link(plane: Plane, signed_in: SignIn) -> None:
    assert signed_in(plane).post("/api/sign-in", json={}).status_code == 401


def test_the_cookie_is_for_this_site_and_for_no_script(hub: TestClient) -> None:
    given = hub.get(link(hub)).headers["set-cookie"]
    assert {"HttpOnly", "SameSite=strict", "Path=/"} <= set(re.split(r";\s*", given))
    assert TOKEN not in given


@pytest.mark.parametrize("path", [path for path, _ in PAGES] + ["/live", "/graph/data", "/items/x"])
def test_no_page_is_shown_without_the_cookie(hub: TestClient, path: str) -> None:
    answer = hub.get(path)
    assert answer.status_code == 401
    assert "memory-plane open" in answer.text or "Bearer" in answer.text


@pytest.mark.parametrize(
    "shown",
    [
        "",
        "x",
        "9999999999.x",
        session("s" * 43, 9999999999),
        session(TOKEN, 1),
        f"{session(TOKEN, 9999999999)}x",
        "é.é",
    ],
)
def test_a_cookie_that_this_hub_did_not_give_opens_nothing(hub: TestClient, shown: str) -> None:
    cookie = [(b"cookie", f"memory_plane_8788={shown}".encode())]
    assert hub.get("/", headers=cookie).status_code == 401


def test_the_cookie_opens_pages_and_nothing_of_the_agents(plane: Plane, signed_in: SignIn) -> None:
    browser = signed_in(plane)
    assert browser.get("/api/pulse").status_code == 401
    assert browser.post("/api/thought", json={"agent": "muse", "text": "hello"}).status_code == 401
    assert plane.thoughts() == []


@pytest.mark.parametrize(
    "headers",
    [
        {"origin": "http://127.0.0.1:9999"},
        {"origin": "http://localhost:8788"},
        {"origin": "https://127.0.0.1:8788"},
        {"origin": "null"},
        {"origin": "https://example.com"},
        {"origin": URL, "sec-fetch-site": "cross-site"},
        {"origin": URL, "sec-fetch-site": "same-site"},
        {"origin": ""},
    ],
    ids=str,
)
def test_a_form_of_another_page_changes_nothing(plane: Plane, signed_in: SignIn, headers: dict[str, str]) -> None:
    item = plane.post("Send the offer", agent="muse", kind="commitment").id
    browser = signed_in(plane)
    assert browser.post(f"/items/{item}", data={"do": "done"}, headers=headers).status_code == 403
    assert [one.id for one in plane.items()] == [item]


def test_a_form_that_says_nothing_of_where_it_comes_from_changes_nothing(plane: Plane, signed_in: SignIn) -> None:
    item = plane.post("Send the offer", agent="muse", kind="commitment").id
    browser = signed_in(plane)
    del browser.headers["origin"]
    assert browser.post(f"/items/{item}", data={"do": "done"}).status_code == 403
    assert len(plane.items()) == 1


def test_what_is_no_form_is_refused(plane: Plane, signed_in: SignIn) -> None:
    item = plane.post("Send the offer", agent="muse", kind="commitment").id
    assert signed_in(plane).post(f"/items/{item}", json={"do": "done"}).status_code == 415


@pytest.mark.parametrize("port", [8788, 8799])
def test_each_hub_of_a_machine_has_a_cookie_of_its_own(plane: Plane, port: int) -> None:
    hub = TestClient(create_app(plane, token=TOKEN, port=port), base_url=f"http://127.0.0.1:{port}")
    hub.get(link(hub))
    assert list(hub.cookies) == [f"memory_plane_{port}"]


def test_signing_out_takes_the_cookie(plane: Plane, signed_in: SignIn) -> None:
    browser = signed_in(plane)
    answer = browser.post("/sign-out", data={"": ""})
    assert "memory-plane open" in answer.text
    assert browser.get("/").status_code == 401


def test_a_page_elsewhere_signs_nobody_out(plane: Plane, signed_in: SignIn) -> None:
    browser = signed_in(plane)
    assert browser.post("/sign-out", data={"": ""}, headers={"origin": "https://example.com"}).status_code == 403
    assert browser.get("/").status_code == 200


def test_a_new_token_of_the_hub_ends_every_session(plane: Plane) -> None:
    token = TOKEN
    app = create_app(plane, token=lambda: token, port=8788)
    with TestClient(app, base_url=URL) as browser:
        browser.get(link(browser))
        assert browser.get("/").status_code == 200
        token = "n" * 43
        assert browser.get("/").status_code == 401


def test_pages_run_no_script_of_others_and_stand_in_no_frame(plane: Plane, signed_in: SignIn) -> None:
    policy = signed_in(plane).get("/").headers["content-security-policy"]
    rules = dict(rule.strip().split(" ", 1) for rule in policy.split(";"))
    assert rules["default-src"] == rules["frame-ancestors"] == rules["base-uri"] == "'none'"
    assert rules["script-src"] == rules["style-src"] == rules["form-action"] == "'self'"


def test_a_page_of_another_port_neither_watches_nor_takes_in_these(plane: Plane, signed_in: SignIn) -> None:
    browser = signed_in(plane)
    assert browser.get("/").headers["cross-origin-opener-policy"] == "same-origin"
    for path in ("/", "/graph/data", "/assets/style.css", "/facts/xyz"):
        assert browser.get(path).headers["cross-origin-resource-policy"] == "same-origin"


@pytest.mark.parametrize(
    "name", ["../frame.py", "..%2fframe.py", "vendor/../../door.py", "vendor", "", "/etc/passwd", "vendor/vendor.json"]
)
def test_assets_are_scripts_and_styles_alone(hub: TestClient, name: str) -> None:
    assert hub.get(f"/assets/{name}").status_code in (401, 404)
    assert hub.get("/assets/vendor/htmx.min.js").status_code == 200


def test_links_that_nobody_opens_do_not_pile_up(hub: TestClient) -> None:
    first = link(hub)
    for _ in range(door.MOST_LINKS):
        last = link(hub)
    assert hub.get(first).status_code == 401
    assert hub.get(last).status_code == 200
