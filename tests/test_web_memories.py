"""The page of one memory, and changes of it: what would change is shown before a second press writes it."""

from __future__ import annotations

import re
from collections.abc import Callable
from html import unescape

import pytest
from starlette.testclient import TestClient

from memory_plane import Plane

SignIn = Callable[[Plane], TestClient]
NOBODY = "6c1d9d4e-6c1f-5f6e-9f0e-2f5b8a3c7d10"


@pytest.fixture
def memory(make_plane: Callable[..., Plane]) -> Plane:
    """A memory that finds names and edges."""
    return make_plane("local")


@pytest.fixture
def browser(memory: Plane, signed_in: SignIn) -> TestClient:
    return signed_in(memory)


def press(browser: TestClient, page: str, name: str) -> str:
    """Press the last button of a page that says so, with the hidden fields of its form; return the page that comes."""
    forms = re.findall(r'<form[^>]*method="post"[^>]*action="([^"]*)"[^>]*>(.*?)</form>', page, re.S)
    action, inside = next(form for form in reversed(forms) if f">{name}</button>" in form[1])
    fields = dict(re.findall(r'type="hidden" name="([^"]*)" value="([^"]*)"', inside))
    button = re.search(rf'name="(\w+)" value="(\w+)"[^>]*>{name}</button>', inside)
    fields |= {button[1]: button[2]} if button else {}
    return browser.post(action, data={key: unescape(value) for key, value in fields.items()}).text


def test_memory_is_shown_whole(memory: Plane, browser: TestClient) -> None:
    told = memory.post("Rob Smith works at Acme.", agent="grok", project="atlas", source="chat", thread="t1").id
    memory.pin(told, agent="muse")
    page = browser.get(f"/memories/{told}").text
    for said in ("Rob Smith works at Acme.", "grok", "atlas", "chat", "t1", "visible", "pinned", "WORKS_AT", told):
        assert said in page
    assert {f"/nodes/{node.id}" for name in ("Rob Smith", "Acme") for node in memory.nodes(name)} <= set(
        re.findall(r'href="(/nodes/[^"]+)"', page)
    )


def test_beginning_of_an_id_that_one_alone_has_is_enough(memory: Plane, browser: TestClient) -> None:
    told = memory.post("Tea", agent="grok", id="1aa6dc61-6c1f-5f6e-9f0e-2f5b8a3c7d10").id
    assert told in browser.get("/memories/1aa6dc61").text
    assert browser.get("/memories/1aa6d").status_code == 404
    memory.post("Milk", agent="grok", id="1aa6dc61-7c1f-5f6e-9f0e-2f5b8a3c7d10")
    assert browser.get("/memories/1aa6dc61").status_code == 404
    assert browser.get("/memories/1aa6dc61-6").status_code == 200


def test_unknown_id_is_told(browser: TestClient) -> None:
    for id in (NOBODY, "nonsense"):
        answer = browser.get(f"/memories/{id}")
        assert answer.status_code == 404
        assert id in answer.text


def test_words_of_others_stay_text_on_every_page_of_a_memory(memory: Plane, browser: TestClient) -> None:
    text = "Rob Smith <script>alert(1)</script> {{7*7}}"
    told = memory.post(text, agent="muse", origin="external", source="<b>x</b>").id
    for path in (f"/memories/{told}", f"/change?do=retract&target={told}", f"/change?do=forget&target={told}"):
        page = browser.get(path).text
        assert "&lt;script&gt;alert(1)&lt;/script&gt; {{7*7}}" in page
        assert "<script>alert" not in page
        assert "<b>x" not in page
        assert "words of others" in page


def test_pin_goes_on_and_off(memory: Plane, browser: TestClient) -> None:
    told = memory.post("hello", agent="grok").id
    for name, pinned in (("Pin", True), ("Unpin", False)):
        press(browser, browser.get(f"/memories/{told}").text, name)
        record = memory.get(told)
        assert record is not None
        assert record["state"]["pinned"] is pinned


def test_retract_shows_first_what_goes_and_keeps_the_reason(memory: Plane, browser: TestClient) -> None:
    told = memory.post("Rob Smith works at Acme.", agent="grok").id
    asked = browser.get("/change", params={"do": "retract", "target": told, "reason": "no longer", "back": "/"}).text
    assert "Rob Smith WORKS_AT Acme" in asked
    assert memory.recall("Acme").hits
    press(browser, asked, "Do it")
    assert not memory.recall("Acme").hits
    page = browser.get(f"/memories/{told}").text
    assert "retracted" in page
    assert "no longer" in page
    assert "user" in page


def test_superseded_memory_names_what_came_in_its_place(memory: Plane, browser: TestClient) -> None:
    told = memory.post("Rob is at Acme", agent="grok").id
    fields = {"do": "supersede", "target": told, "text": "Rob is at Globex", "back": f"/memories/{told}"}
    page = press(browser, browser.get("/change", params=fields).text, "Do it")
    (new,) = memory.recall("Globex").hits
    assert new.source.startswith("user")
    assert f'superseded by <a href="/memories/{new.id}">' in page


def test_no_words_in_the_place_of_others_are_refused(memory: Plane, browser: TestClient) -> None:
    told = memory.post("Rob is at Acme", agent="grok").id
    asked = browser.get("/change", params={"do": "supersede", "target": told}).text
    assert "must not be empty" in press(browser, asked, "Do it")
    assert memory.recall("Acme").hits


def test_forget_asks_twice_and_shows_what_goes(memory: Plane, browser: TestClient) -> None:
    told = memory.post("Rob Smith has a secret garden", agent="grok").id
    memory.pin(told, agent="grok")
    asked = browser.get(f"/change?do=forget&target={told}&back=/memories/{told}").text
    assert "thought of grok" in asked
    assert "pin of grok" in asked
    assert memory.recall("garden").hits
    page = press(browser, asked, "Forget for good")
    assert "It was forgotten" in page
    assert "garden" not in page
    assert not memory.recall("garden").hits


def test_held_memory_is_released_after_a_look(memory: Plane, browser: TestClient) -> None:
    told = memory.post("Dana likes jazz", agent="muse", origin="external", held=True).id
    page = browser.get(f"/memories/{told}").text
    assert "held back" in page
    assert "Release…" in page
    asked = browser.get(f"/change?do=release&target={told}&back=/").text
    assert "Dana likes jazz" in asked
    press(browser, asked, "Do it")
    assert memory.recall("jazz").hits


def test_open_item_is_closed_from_its_page(memory: Plane, browser: TestClient) -> None:
    asked = memory.post("Which region?", agent="grok", kind="question").id
    press(browser, browser.get(f"/memories/{asked}").text, "Close")
    assert memory.items() == []
    assert "answered" in browser.get(f"/memories/{asked}").text


def test_each_open_item_is_closed_from_the_page_of_its_memory(memory: Plane, browser: TestClient) -> None:
    asked = memory.post("TODO:\n- Call Ann\n- Call Bob", agent="grok").id
    press(browser, browser.get(f"/memories/{asked}").text, "Close")
    assert [one.text for one in memory.items()] == ["Call Ann"]
    page = browser.get(f"/memories/{asked}").text
    assert page.count(">Close</button>") == 1
    assert "done" in page
    press(browser, page, "Close")
    assert memory.items() == []


@pytest.mark.parametrize(
    ("fields", "status", "why"),
    [
        ({"do": "dance"}, 400, "do: &#39;dance&#39; is unknown"),
        ({"do": "retract", "target": "x"}, 400, "is no id"),
        ({"do": "forget", "target": NOBODY}, 400, "can be forgotten"),
        ({"do": "retract", "target": NOBODY}, 200, "nothing here has the id"),
        ({"do": "merge", "into": NOBODY, "with": "Nobody"}, 400, "is called"),
    ],
)
def test_change_that_makes_no_sense_is_told(browser: TestClient, fields: dict[str, str], status: int, why: str) -> None:
    answer = browser.get("/change", params=fields)
    assert answer.status_code == status
    assert why in answer.text
    assert ">Do it<" not in answer.text


@pytest.mark.parametrize(
    "fields", [{"do": "dance"}, {"do": "pin", "target": NOBODY}, {"do": "supersede", "target": "x", "text": "y"}, {}]
)
def test_refused_write_says_why(browser: TestClient, fields: dict[str, str]) -> None:
    answer = browser.post("/change", data=fields | {"back": "/facts"})
    assert answer.status_code == 422
    assert 'href="/facts"' in answer.text


@pytest.mark.parametrize(
    "back", ["//evil.example/", "https://evil.example/", "/\\evil.example", "/\t/evil.example", "evil"]
)
def test_way_back_leads_nowhere_else(memory: Plane, browser: TestClient, back: str) -> None:
    told = memory.post("hello", agent="grok").id
    asked = browser.get("/change", params={"do": "retract", "target": told, "back": back})
    assert "evil" not in asked.text
    answer = browser.post("/change", data={"do": "pin", "target": told, "back": back}, follow_redirects=False)
    assert answer.headers["location"] == "/"


def test_other_operations_are_shown_too(memory: Plane, browser: TestClient) -> None:
    beat = memory.heartbeat(agent="grok", focus="tests").id
    assert "tests" in browser.get(f"/memories/{beat}").text
