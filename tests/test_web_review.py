"""The page of what a person judges: pairs that may be one, what was judged, and what is held back."""

from __future__ import annotations

import re
from collections.abc import Callable
from html import unescape

import pytest
from starlette.testclient import TestClient

from memory_plane import Plane
from memory_plane.types import Node

SignIn = Callable[[Plane], TestClient]
PAIR = ("Rob Smith works at Acme.", "Alice Moreau works at Globex.")


@pytest.fixture
def memory(make_plane: Callable[..., Plane]) -> Plane:
    """A memory in which Alice may be Alice Moreau, and Rob may be Rob Smith."""
    plane = make_plane("local")
    for text in PAIR:
        plane.post(text, agent="grok")
    plane.fact("Alice Moreau", "email", "alice@acme.example", agent="muse")
    return plane


@pytest.fixture
def browser(memory: Plane, signed_in: SignIn) -> TestClient:
    return signed_in(memory)


def node(plane: Plane, name: str) -> Node:
    (found,) = plane.nodes(name)
    return found


def two(plane: Plane) -> tuple[Node, Node]:
    return node(plane, "Rob Smith"), node(plane, "Alice Moreau")


def counts(page: str) -> list[str]:
    return re.findall(r'<span class="count">([^<]*)</span>', page)


def fields_of(page: str, button: str) -> dict[str, str]:
    """Return the hidden fields of the first form with a button, and what the button says."""
    forms = re.findall(r"<form[^>]*>.*?</form>", page, re.S)
    form = next(form for form in forms if f">{button}</button>" in form)
    said = re.search(rf'name="(\w+)" value="(\w+)"[^>]*>{button}</button>', form)
    fields = dict(re.findall(r'type="hidden" name="([^"]*)" value="([^"]*)"', form))
    return fields | ({said[1]: said[2]} if said else {})


def test_pair_stands_side_by_side_with_its_evidence(memory: Plane, browser: TestClient) -> None:
    (pair,) = memory.reviews()
    page = browser.get("/review").text
    assert counts(page) == ["1", "0", "0", "0"]
    for one in (pair.one, pair.other):
        assert f'href="/nodes/{one.id}"' in page
    assert "Alice Moreau email: alice@acme.example" in page
    assert "Alice Moreau WORKS_AT Globex" in page


def test_links_that_cannot_both_hold_are_shown_and_one_is_retracted(memory: Plane, browser: TestClient) -> None:
    told = memory.post("Alice Moreau works at Evil Corp.", agent="grok", origin="external").id
    page = browser.get("/review").text
    (one,) = memory.contradictions()
    against = page.partition('id="against"')[2].partition("</ol>")[0]
    assert against.index("Globex") < against.index("Evil Corp")
    assert one.against.evidence == (told,)
    fields = fields_of(against.partition("against it")[2], "Retract")
    assert fields["target"] == told
    browser.post("/change", data=fields)
    assert memory.contradictions() == []


def test_pair_is_joined_and_taken_apart_again(memory: Plane, browser: TestClient) -> None:
    (pair,) = memory.reviews()
    page = browser.post("/change", data=fields_of(browser.get("/review").text, "Join")).text
    assert counts(page) == ["0", "0", "0", "1"]
    judged = page.partition('id="verdicts"')[2]
    assert re.findall(r'<a href="/nodes/[^"]+">([^<]+)</a>', judged) == ["Alice Moreau", "alice"]
    assert memory.nodes(pair.one.id) == memory.nodes(pair.other.id)
    page = browser.post("/change", data=fields_of(page, "Undo")).text
    assert counts(page) == ["1", "0", "0", "0"]
    assert memory.nodes(pair.one.id) != memory.nodes(pair.other.id)


def test_pair_is_kept_apart_and_asked_about_again_when_that_is_undone(memory: Plane, browser: TestClient) -> None:
    page = browser.post("/change", data=fields_of(browser.get("/review").text, "Keep apart")).text
    assert counts(page) == ["0", "0", "0", "1"]
    assert "is not" in page
    assert counts(browser.post("/change", data=fields_of(page, "Undo")).text) == ["1", "0", "0", "0"]


def test_what_is_put_off_goes_to_the_end_until_the_browser_is_closed(memory: Plane, browser: TestClient) -> None:
    memory.fact("Rob Smith", "email", "rob@acme.example", agent="muse")
    page = browser.get("/review").text
    assert counts(page)[0] == "2"
    first = fields_of(page, "Later")
    answer = browser.post("/review", data=first, follow_redirects=False)
    kept = answer.headers["set-cookie"]
    assert "HttpOnly" in kept
    assert "SameSite=strict" in kept
    assert "Max-Age" not in kept
    page = browser.get("/review").text
    assert counts(page)[0] == "2"
    assert fields_of(page, "Later") != first
    assert page.count('<span class="tag">later</span>') == 1


def test_held_words_are_released(memory: Plane, browser: TestClient) -> None:
    memory.post("Dana likes jazz", agent="muse", origin="external", held=True)
    page = browser.get("/review").text
    assert counts(page) == ["1", "0", "1", "0"]
    assert "words of others" in page
    assert counts(browser.post("/change", data=fields_of(page, "Release")).text)[1] == "0"
    assert memory.recall("jazz").hits


def test_held_words_are_retracted_or_forgotten(memory: Plane, browser: TestClient) -> None:
    kept, gone = (memory.post(f"Dana likes {what}", agent="muse", held=True).id for what in ("jazz", "blues"))
    page = browser.get("/review").text
    assert fields_of(page, "Forget…")["target"] == gone
    browser.post("/change", data={"do": "forget", "target": gone})
    assert counts(browser.post("/change", data=fields_of(browser.get("/review").text, "Retract")).text)[1] == "0"
    assert [memory.get(id)["op"] for id in (kept, gone)] == ["thought", "forgotten"]  # type: ignore[index]


def test_every_kind_of_verdict_is_listed_and_undone(memory: Plane, browser: TestClient) -> None:
    rob, alice = two(memory)
    told = memory.post("Rob Smith works at Hooli.", agent="grok").id
    ids = [
        memory.alias(rob.id, "Bobby", agent="user").id,
        memory.distinct([rob.id, alice.id], agent="muse").id,
        memory.split(rob.id, [told], agent="user").id,
        memory.merge_nodes(node(memory, "Hooli").id, node(memory, "Acme").id, agent="user").id,
    ]
    page = browser.get("/review").text
    assert counts(page)[3] == "4"
    for said in ("Bobby", "is also called", "is not", "without", "into", "where 1 thought name"):
        assert said in page
    listed = re.findall(r'href="/memories/([^"]+)"', page.partition('id="verdicts"')[2])
    assert listed == ids[::-1]
    for id in listed:
        browser.post("/change", data={"do": "retract", "target": id})
    assert counts(browser.get("/review").text)[2] == "0"
    assert memory.nodes("Bobby") == []


def test_undo_shows_what_would_change(memory: Plane, browser: TestClient) -> None:
    said = memory.alias(node(memory, "Rob Smith").id, "Bobby", agent="user").id
    page = browser.get("/change", params={"do": "retract", "target": said, "back": "/review"}).text
    assert "also bobby" in page.partition('id="gone"')[2].partition("</ul>")[0]


def test_old_verdicts_go_on_by_pages(memory: Plane, browser: TestClient) -> None:
    rob = node(memory, "Rob Smith")
    for number in range(25):
        memory.alias(rob.id, f"R{number}", agent="user")
    first = browser.get("/review").text
    older = re.search(r'href="(/review[^"]+)" rel="next"', first)
    assert older is not None
    rest = browser.get(unescape(older[1]).partition("#")[0]).text
    names = re.findall(r"is also called (R\d+)", first + rest)
    assert names == [f"R{number}" for number in range(24, -1, -1)]


@pytest.mark.parametrize("before", ["x", "6c1d9d4e-6c1f-5f6e-9f0e-2f5b8a3c7d10"])
def test_place_that_is_none_is_told(browser: TestClient, before: str) -> None:
    answer = browser.get("/review", params={"before": before})
    assert answer.status_code == 400


def test_refused_verdict_says_why(memory: Plane, browser: TestClient) -> None:
    rob, acme, globex = (node(memory, name).id for name in ("Rob Smith", "Acme", "Globex"))
    memory.merge_nodes(acme, rob, agent="user")
    memory.distinct([globex, rob], agent="user")
    answer = browser.post("/change", data={"do": "merge", "node": globex, "into": acme, "back": "/review"})
    assert answer.status_code == 422
    assert "were said not to be one" in answer.text


def test_words_of_others_stay_text(memory: Plane, browser: TestClient) -> None:
    bad = "<script>alert(1)</script> {{7*7}}"
    memory.post(f"Dana {bad}", agent="muse", origin="external", held=True)
    memory.alias(node(memory, "Rob Smith").id, bad, agent="user")
    page = browser.get("/review").text
    assert "<script>alert" not in page
    assert page.count("&lt;script&gt;alert(1)&lt;/script&gt; {{7*7}}") == 2
