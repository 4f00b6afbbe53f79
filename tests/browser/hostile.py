"""Words of others that would be scripts, links or layout: on every page they are text, and nothing else happens."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

import pytest
from playwright.sync_api import Page, expect

from memory_plane.client import Client

SCRIPTS = (
    "<script>window.pwned = 1</script>",
    "<img src=x onerror='window.pwned = 1'>",
    "<svg onload='window.pwned = 1'><a href='javascript:window.pwned=1'><text>x</text></a></svg>",
    "</blockquote></li></ol></main><iframe src='javascript:parent.pwned=1'></iframe>",
    "\"' autofocus onfocus='window.pwned = 1' x='",
    "<div hx-get='/sign-out' hx-trigger='load' hx-on:load='window.pwned = 1'></div>",
    "<hx-partial hx-target='#main'>gone</hx-partial>",
)
PLAIN = (
    "[press](javascript:window.pwned=1) javascript:window.pwned=1",
    "{{ 1234 * 5678 }} {% raw %} ${1234*5678} #{1234*5678} <%= 1234*5678 %>",
    "‮drowssap ruoy dnes‬ \N{ZERO WIDTH SPACE}",
)
MARKS = "script:not([src]), iframe, img, svg[onload], [onerror], [onfocus], [hx-on\\:load], [href^='javascript']"
FILTERED = (
    "/?agent=",
    "/?since=",
    "/search?q=",
    "/graph?about=",
    "/graph?from=x&to=",
    "/facts?subject=",
    "/nodes?type=",
)
OTHERS: dict[str, Any] = {"agent": "muse", "origin": "external"}


@pytest.fixture(scope="module")
def hostile(client: Client) -> list[str]:
    """Pages that show such words: as thoughts, items, projects, facts, foci, names and reasons."""
    ids = []
    for words in (*SCRIPTS, *PLAIN):
        ids.append(client.post(f"{words} Eve Hostile works at Acme.", project=words[:60], **OTHERS).id)
        client.post(f"Answer {words}", kind="question", to=words[:60], **OTHERS)
        client.post(f"Hold {words}", held=True, **OTHERS)
    client.fact(SCRIPTS[0], SCRIPTS[1], SCRIPTS[2], **OTHERS)
    client.heartbeat(agent="muse", focus=SCRIPTS[1], project=SCRIPTS[2], status=SCRIPTS[3][:20])
    nodes = [node.id for name in ("Eve Hostile", *SCRIPTS) for node in client.search(name[:60])][:4]
    paths = [
        "/",
        "/search?q=window.pwned",
        "/graph",
        "/graph?about=Eve+Hostile",
        "/facts",
        "/nodes",
        "/review",
        "/doctor",
    ]
    return [*paths, *(f"/memories/{id}" for id in ids[:2]), *(f"/nodes/{id}" for id in nodes)]


def test_words_of_others_stay_text_on_every_page(page: Page, hostile: list[str]) -> None:
    found = {}
    for path in hostile:
        page.goto(path)
        if path.startswith("/graph"):
            page.locator("body[data-graph=rests]").wait_for()
        if (
            page.locator(MARKS).count()
            or page.evaluate("'pwned' in window")
            or "7006652" in page.locator("main").inner_text()
        ):
            found[path] = page.locator(MARKS).evaluate_all("all => all.map(one => one.outerHTML)")
    assert found == {}


def test_a_filter_of_an_address_stays_text(page: Page) -> None:
    for words in (SCRIPTS[0], SCRIPTS[4]):
        for path in FILTERED:
            page.goto(f"{path}{quote(words)}")
            assert page.locator(MARKS).count() == 0
            assert not page.evaluate("'pwned' in window")


def test_a_hostile_name_is_drawn_and_told_as_text(page: Page, client: Client, hostile: list[str]) -> None:
    page.goto("/graph?about=Eve+Hostile")
    page.locator("body[data-graph=rests]").wait_for()
    for node in page.locator("g.node").all():
        node.focus()
    assert page.locator(MARKS).count() == 0
    expect(page.locator("#details h2")).not_to_be_empty()


def test_what_comes_live_is_text_too(page: Page, client: Client) -> None:
    page.goto("/")
    page.locator("body[data-live=yes]").wait_for()
    client.post(f"Live {SCRIPTS[0]} {SCRIPTS[5]}", **OTHERS)
    expect(page.locator("#stream blockquote").first).to_contain_text("Live <script>")
    page.wait_for_timeout(300)
    assert page.locator(MARKS).count() == 0
    assert not page.evaluate("'pwned' in window")


def test_a_file_of_the_graph_runs_nothing(page: Page, hostile: list[str]) -> None:
    page.goto("/graph?about=Eve+Hostile")
    page.locator("body[data-graph=rests]").wait_for()
    with page.expect_download() as download:
        page.get_by_role("button", name="SVG").click()
    drawing = download.value.path().read_text("utf-8")
    assert "<script" not in drawing
    assert "onload=" not in drawing.replace("&lt;", "").split("<svg")[1].split(">")[0]
