"""The page of facts: what holds now by subject, every value that was, and a correction in place."""

from __future__ import annotations

import re
from collections.abc import Callable
from html import unescape

import pytest
from starlette.testclient import TestClient

from memory_plane import Plane

SignIn = Callable[[Plane], TestClient]


@pytest.fixture
def browser(plane: Plane, signed_in: SignIn) -> TestClient:
    return signed_in(plane)


def shown(page: str) -> list[str]:
    return re.findall(r'<li id="fact-([0-9a-f-]{36})"', page)


def following(page: str) -> str | None:
    found = re.search(r'href="([^"]+)" rel="next"', page)
    return None if found is None else unescape(found[1])


def test_facts_stand_by_subject_with_what_tells_their_worth(plane: Plane, browser: TestClient) -> None:
    plane.fact("Bea", "city", "Rome", agent="grok", confidence=0.8, source="mail")
    plane.fact("Ann", "city", "Lyon", agent="muse")
    plane.fact("ann", "phone", "+1 555", agent="muse", origin="external")
    page = browser.get("/facts").text
    assert re.findall(r"<h2[^>]*>(\w+)</h2>", page) == ["Ann", "Bea"]
    for said in ("Rome", "80% sure", "mail", "grok", "words of others"):
        assert said in page


def test_only_the_value_of_now_is_shown(plane: Plane, browser: TestClient) -> None:
    plane.fact("Ann", "city", "Lyon", agent="muse", created_at="2026-01-01T00:00:00Z")
    plane.fact("Ann", "city", "Oslo", agent="muse")
    plane.fact("Ann", "badge", "gone", agent="muse", valid_until="2026-01-01T00:00:00Z")
    page = browser.get("/facts").text
    assert "Oslo" in page
    assert "Lyon" not in page
    assert "badge" not in page


def test_subjects_are_found_by_their_beginning(plane: Plane, browser: TestClient) -> None:
    for name in ("Anna", "Annette", "Bob", "100%"):
        plane.fact(name, "city", "Lyon", agent="muse")
    assert len(shown(browser.get("/facts?subject=ANN").text)) == 2
    assert len(shown(browser.get("/facts", params={"subject": "100%"}).text)) == 1
    assert "No subject" in browser.get("/facts?subject=zzz").text


def test_pages_show_each_fact_once(plane: Plane, browser: TestClient) -> None:
    facts = {plane.fact(f"s{number % 7}", f"k{number}", "v", agent="muse").id for number in range(95)}
    seen, path = list[str](), "/facts"
    while path:
        page = browser.get(path).text
        assert 0 < len(shown(page)) <= 40
        seen += shown(page)
        path = following(page) or ""
    assert len(seen) == 95
    assert set(seen) == facts


def test_history_has_every_value_with_dates_and_sources(plane: Plane, browser: TestClient) -> None:
    first = plane.fact("Ann", "city", "Lyon", agent="muse", source="mail", created_at="2026-01-01T00:00:00Z").id
    wrong = plane.fact("Ann", "city", "Mars", agent="grok", created_at="2026-02-01T00:00:00Z").id
    now = plane.fact("Ann", "city", "Oslo", agent="muse", created_at="2026-03-01T00:00:00Z").id
    plane.retract(wrong, agent="user")
    page = browser.get("/facts?subject=ann&key=City").text
    assert shown(page) == [now, wrong, first]
    assert "2026-03-01" in page
    assert "mail" in page
    entries = page.split("<li id=")
    assert "taken back" in entries[2]
    assert 'class="tag">now<' in entries[1]
    assert "Correct or retract" not in entries[2]


def test_long_history_goes_on_by_pages(plane: Plane, browser: TestClient) -> None:
    for number in range(50):
        plane.fact("Ann", "mood", f"m{number}", agent="muse", created_at=f"2026-01-01T00:{number:02}:00Z")
    first = browser.get("/facts?subject=Ann&key=mood").text
    rest = browser.get(following(first) or "").text
    assert (len(shown(first)), len(shown(rest))) == (40, 10)
    assert not set(shown(first)) & set(shown(rest))
    assert following(rest) is None


def test_wrong_value_is_corrected_in_place(plane: Plane, browser: TestClient) -> None:
    wrong = plane.fact("Ann", "city", "Lyon", agent="muse").id
    page = browser.post("/change", data={"do": "supersede", "target": wrong, "text": "Oslo", "back": "/facts"}).text
    assert "Oslo" in page
    assert "Lyon" not in page
    assert [(fact.value, fact.origin) for fact in plane.facts()] == [("Oslo", "user")]
    assert [fact.value for fact in plane.facts(history=True)] == ["Oslo", "Lyon"]


def test_changed_value_keeps_the_old_one_in_its_history(plane: Plane, browser: TestClient) -> None:
    plane.fact("Ann", "city", "Lyon", agent="muse")
    told = {"do": "fact", "subject": "Ann", "key": "city", "value": "Oslo", "back": "/facts"}
    assert "Oslo" in browser.post("/change", data=told).text
    assert [fact.value for fact in plane.facts(history=True)] == ["Oslo", "Lyon"]


def test_fact_is_retracted_in_place(plane: Plane, browser: TestClient) -> None:
    wrong = plane.fact("Ann", "city", "Lyon", agent="muse").id
    page = browser.post("/change", data={"do": "retract", "target": wrong, "reason": "a joke", "back": "/facts"}).text
    assert "Lyon" not in page
    assert plane.facts() == []


def test_empty_value_is_refused(plane: Plane, browser: TestClient) -> None:
    fact = plane.fact("Ann", "city", "Lyon", agent="muse").id
    answer = browser.post("/change", data={"do": "supersede", "target": fact, "text": " ", "back": "/facts"})
    assert answer.status_code == 422
    assert plane.facts()[0].value == "Lyon"


def test_values_subjects_and_keys_stay_text(plane: Plane, browser: TestClient) -> None:
    bad = '"><script>alert(1)</script>'
    plane.fact(bad, bad, bad, agent="muse", origin="external", source=bad)
    for params in ({}, {"subject": bad}, {"subject": bad, "key": bad}):
        page = browser.get("/facts", params=params).text
        assert "<script>alert" not in page
        assert "&lt;script&gt;alert" in page


@pytest.mark.parametrize("before", ["x", "6c1d9d4e-6c1f-5f6e-9f0e-2f5b8a3c7d10"])
def test_place_that_is_none_is_told(browser: TestClient, before: str) -> None:
    answer = browser.get("/facts", params={"subject": "Ann", "key": "city", "before": before})
    assert answer.status_code == 400
    assert "before" in answer.text
