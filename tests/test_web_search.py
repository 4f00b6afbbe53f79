"""The search page: a question is answered first, then come the nodes that are called so and the hits, with why."""

from __future__ import annotations

import re
from collections.abc import Callable
from html import unescape

import pytest
from starlette.testclient import TestClient

from memory_plane import Plane
from memory_plane.surfaces.web.search import asks, pieces

SignIn = Callable[[Plane], TestClient]


@pytest.fixture
def memory(make_plane: Callable[..., Plane]) -> Plane:
    """A memory that finds names and edges."""
    return make_plane("local")


@pytest.fixture
def browser(memory: Plane, signed_in: SignIn) -> TestClient:
    return signed_in(memory)


def hits(page: str) -> list[str]:
    return re.findall(r'id="hit-([0-9a-f-]{36})"', page)


def test_question_is_answered_first_with_its_evidence(memory: Plane, browser: TestClient) -> None:
    told = memory.post("Rob Smith works at Acme.", agent="grok").id
    page = browser.get("/search", params={"q": "Where does Rob Smith work?"}).text
    answer = page.index('id="answer">Acme')
    assert answer < page.index(f'href="/memories/{told}"') < page.index('id="hits"')


def test_what_nobody_said_is_told_as_unknown(memory: Plane, browser: TestClient) -> None:
    memory.post("Rob Smith works at Acme.", agent="grok")
    assert "I don't know" in unescape(browser.get("/search", params={"q": "Where does Ann Lee work?"}).text)


def test_words_that_ask_nothing_have_no_answer(memory: Plane, browser: TestClient) -> None:
    memory.post("Rob Smith works at Acme.", agent="grok")
    page = browser.get("/search", params={"q": "acme"}).text
    assert 'id="answer"' not in page
    assert "<mark>Acme</mark>" in page


@pytest.mark.parametrize(
    ("query", "is_question"),
    [("Where is Ann?", True), ("who leads Atlas", True), ("atlas", False), ("is", False), ("island hopping", False)],
)
def test_questions_are_known_by_their_looks(query: str, is_question: bool) -> None:
    assert asks(query) is is_question


def test_hit_says_who_wrote_it_when_and_why_it_ranks(memory: Plane, browser: TestClient) -> None:
    memory.post("The zebra crossing is painted", agent="grok", project="roads", created_at="2026-11-03T10:00:00Z")
    page = browser.get("/search", params={"q": "zebra"}).text
    assert all(said in page for said in ("grok", "agent, roads", '<time datetime="2026-11-03', "<meter", "words"))


def test_nodes_that_are_called_so_stand_above_the_hits(memory: Plane, browser: TestClient) -> None:
    memory.post("Rob Smith works at Acme.", agent="grok")
    page = browser.get("/search", params={"q": "Where does Rob Smith work?"}).text
    (rob,) = memory.nodes("Rob Smith")
    assert page.index(f'href="/nodes/{rob.id}"') < page.index('id="hits"')


def test_words_of_others_are_marked_and_stay_text(memory: Plane, browser: TestClient) -> None:
    memory.post("<script>alert(1)</script> zebra <img src=x onerror=alert(2)>", agent="muse", origin="external")
    page = browser.get("/search", params={"q": "zebra script"}).text
    assert "words of others" in page
    assert "&lt;<mark>script</mark>&gt;alert(1)" in page
    assert "<script>alert" not in page
    assert "<img src=x" not in page


def test_query_is_shown_as_text(browser: TestClient) -> None:
    page = browser.get("/search", params={"q": '"><script>alert(1)</script> {{7*7}}'}).text
    assert "<script>alert" not in page
    assert "{{7*7}}" in page


def test_filters_narrow_the_hits(memory: Plane, browser: TestClient) -> None:
    for number, agent in enumerate(("grok", "muse")):
        memory.post(f"zebra {number}", agent=agent, kind="decision" if number else "thought", project=f"p{number}")
    assert len(hits(browser.get("/search?q=zebra").text)) == 2
    for given in ({"agent": "muse"}, {"kind": "decision"}, {"project": "p1"}):
        assert len(hits(browser.get("/search", params={"q": "zebra", **given}).text)) == 1
    assert hits(browser.get("/search?q=zebra&until=2020-01-01").text) == []


@pytest.mark.parametrize("given", [{"since": "soon"}, {"until": "9999-12-31"}, {"kind": "joke"}, {"cursor": "x"}])
def test_filter_that_makes_no_sense_is_told(browser: TestClient, given: dict[str, str]) -> None:
    answer = browser.get("/search", params={"q": "zebra", **given})
    assert answer.status_code == 400
    assert next(iter(given)) in answer.text


def test_hits_go_on_by_pages(memory: Plane, browser: TestClient) -> None:
    for number in range(30):
        memory.post(f"zebra number {number}", agent="grok")
    first = browser.get("/search?q=zebra").text
    more = re.search(r'href="(/search[^"]+)" rel="next"', first)
    assert more is not None
    rest = browser.get(unescape(more[1])).text
    assert len(hits(first)) == 20
    assert len(set(hits(first) + hits(rest))) == 30


@pytest.mark.parametrize(
    ("text", "query", "marked"),
    [
        ("Atlas and atlases", "atlas", ["Atlas", "atlas"]),
        ("The cat concatenates", "cat", ["cat"]),
        ("我们用数据库", "数据", ["数据"]),
        ("nothing", "(", []),
        ("x.y*z", "x.y*z", ["x", "y", "z"]),
    ],
)
def test_words_of_the_query_are_marked_where_words_begin(text: str, query: str, marked: list[str]) -> None:
    found = list(pieces(text, query))
    assert "".join(piece for piece, _ in found) == text
    assert [piece for piece, sought in found if sought] == marked
