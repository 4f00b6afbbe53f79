"""The pages of people and things: which there are, all that is known of one, and what a person puts right there."""

from __future__ import annotations

import re
from collections.abc import Callable
from html import unescape
from uuid import UUID

import pytest
from sqlalchemy import insert
from starlette.testclient import TestClient

from memory_plane import Plane, models
from memory_plane.types import EPOCH, Node

SignIn = Callable[[Plane], TestClient]


@pytest.fixture
def memory(make_plane: Callable[..., Plane]) -> Plane:
    """A memory that finds names and edges."""
    return make_plane("local")


@pytest.fixture
def browser(memory: Plane, signed_in: SignIn) -> TestClient:
    return signed_in(memory)


def node(plane: Plane, name: str) -> Node:
    (found,) = plane.nodes(name)
    return found


def told(plane: Plane, *texts: str) -> list[str]:
    return [
        plane.post(text, agent="grok", created_at=f"2026-01-0{at}T09:00:00Z").id for at, text in enumerate(texts, 1)
    ]


def test_node_is_shown_with_edges_items_facts_and_mentions(memory: Plane, browser: TestClient) -> None:
    (said,) = told(memory, "Rob Smith leads Atlas and works at Acme.")
    memory.post("Send the plan", agent="muse", kind="commitment", owner="Rob Smith", to="Ann Lee")
    memory.post("Which one?", agent="muse", kind="question", to="rob smith")
    memory.fact("Rob Smith", "city", "Lyon", agent="muse")
    rob = node(memory, "Rob Smith")
    page = browser.get(f"/nodes/{rob.id}").text
    for word in ("Person", "Send the plan", "Which one?", "Lyon", "works at", "leads", "local", "known since"):
        assert word in page
    assert f'href="/memories/{said}"' in page
    assert f'href="/nodes/{node(memory, "Acme").id}"' in page
    assert f'id="said-{said}"' in page
    assert f"/graph?about={rob.id}" in page


def test_edges_that_ended_stand_apart(memory: Plane, browser: TestClient) -> None:
    told(memory, "Bob Ray uses Rust.", "Bob Ray works at Globex.", "Bob Ray no longer uses Rust.")
    page = browser.get(f"/nodes/{node(memory, 'Bob Ray').id}").text
    now, _, ended = page.partition('id="ended"')
    assert "Globex" in now
    assert ">Rust<" not in now
    assert ">Rust<" in ended.partition("</details>")[0]
    assert "until" in ended


def test_node_is_found_by_slug_and_by_name(memory: Plane, browser: TestClient) -> None:
    told(memory, "Rob Smith works at Acme.")
    for name in ("node:person:rob-smith", "Rob Smith", "rob smith"):
        assert "<h1>Rob Smith</h1>" in browser.get(f"/nodes/{name}").text
    assert browser.get("/nodes/Nobody").status_code == 404


def test_several_nodes_of_one_name_are_offered(memory: Plane, browser: TestClient) -> None:
    _, second = told(memory, "Rob Smith works at Acme.", "Rob Smith works at Globex.")
    rob = node(memory, "Rob Smith")
    memory.split(rob.id, [second], agent="user")
    page = browser.get("/nodes/Rob Smith").text
    assert "Which one?" in page
    assert page.count("Rob Smith") == 2


def test_newest_mentions_go_on_by_pages(memory: Plane, browser: TestClient) -> None:
    for number in range(25):
        memory.post(f"Rob Smith works at Acme, day {number}.", agent="grok")
    path, seen = f"/nodes/{node(memory, 'Rob Smith').id}", list[str]()
    while path:
        page = browser.get(path).text
        seen += re.findall(r'id="said-([0-9a-f-]{36})"', page)
        older = re.search(r'href="([^"]+)" rel="next"', page)
        path = unescape(older[1]).partition("#")[0] if older else ""
    assert len(seen) == len(set(seen)) == 25


def test_name_is_given_and_denied(memory: Plane, browser: TestClient) -> None:
    told(memory, "Rob Smith works at Acme.")
    rob = node(memory, "Rob Smith")
    fields = {"node": rob.id, "name": "Bobby", "back": f"/nodes/{rob.id}"}
    assert "Give it this name?" in browser.get("/change", params={"do": "alias", **fields}).text
    assert "bobby" in browser.post("/change", data={"do": "alias", **fields}).text
    assert node(memory, "Bobby").id == rob.id
    browser.post("/change", data={"do": "unalias", **fields, "name": "bobby"})
    assert memory.nodes("Bobby") == []


def test_merge_shows_what_would_change_and_keeps_this_node(memory: Plane, browser: TestClient) -> None:
    told(memory, "Rob Smith works at Acme.", "Bert Jones leads Atlas.")
    rob, bert = node(memory, "Rob Smith"), node(memory, "Bert Jones")
    asked = browser.get("/change", params={"do": "merge", "into": rob.id, "with": "Bert Jones", "back": "/"}).text
    assert f'name="node" value="{bert.id}"' in asked
    assert "Bert Jones LEADS Atlas" in asked
    assert memory.nodes("Bert Jones")[0].id == bert.id
    browser.post("/change", data={"do": "merge", "into": rob.id, "node": bert.id, "back": "/"})
    assert node(memory, "Bert Jones").id == rob.id


def test_name_that_several_have_is_asked_about(memory: Plane, browser: TestClient) -> None:
    _, second, _ = told(memory, "Rob Smith works at Acme.", "Rob Smith works at Globex.", "Ann Lee leads Atlas.")
    memory.split(node(memory, "Rob Smith").id, [second], agent="user")
    ann = node(memory, "Ann Lee")
    asked = browser.get("/change", params={"do": "distinct", "into": ann.id, "with": "Rob Smith"}).text
    links = [unescape(link) for link in re.findall(r'href="(/change[^"]+)"', asked)]
    assert len(links) == 2
    assert ">Do it<" not in asked
    assert ">Do it<" in browser.get(links[0]).text


def test_split_takes_the_marked_memories(memory: Plane, browser: TestClient) -> None:
    _, second = told(memory, "Rob Smith works at Acme.", "Rob Smith works at Globex.")
    rob = node(memory, "Rob Smith")
    page = browser.get(f"/nodes/{rob.id}?split=yes").text
    assert f'type="checkbox" name="memory-{second}"' in page
    fields = {"do": "split", "node": rob.id, f"memory-{second}": "yes", "back": f"/nodes/{rob.id}"}
    asked = browser.get("/change", params=fields).text
    assert "Rob Smith works at Globex." in asked
    assert f'name="memory-{second}"' in asked
    assert "Globex" not in browser.post("/change", data=fields).text
    assert len(memory.nodes("Rob Smith")) == 2


def test_split_of_nothing_is_refused(memory: Plane, browser: TestClient) -> None:
    told(memory, "Rob Smith works at Acme.")
    answer = browser.get("/change", params={"do": "split", "node": node(memory, "Rob Smith").id})
    assert answer.status_code == 400
    assert "memories" in answer.text


def test_list_has_the_most_linked_first_and_one_type_alone(memory: Plane, browser: TestClient) -> None:
    told(memory, "Rob Smith works at Acme.", "Ann Lee works at Acme.", "Eve Ray works at Acme.")
    listed = re.findall(r'<a href="/nodes/[^"]+">([^<]+)</a>', browser.get("/nodes").text)
    assert listed[0] == "Acme"
    assert set(listed) == {"Acme", "Rob Smith", "Ann Lee", "Eve Ray"}
    people = browser.get("/nodes?type=Person").text
    assert "Rob Smith" in people
    assert ">Acme<" not in people


@pytest.mark.parametrize("kind", ["", "Person"])
def test_newest_nodes_go_on_by_pages(plane: Plane, signed_in: SignIn, kind: str) -> None:
    about = {"type": "Person", "origin": "agent", "founded_at": EPOCH}
    with plane.database.writing() as connection:
        rows = [
            {"key": key, "id": str(UUID(int=key)), "name": f"N{key}", "slug": f"n{key}", **about}
            for key in range(1, 96)
        ]
        connection.execute(insert(models.graph_nodes), rows)
    browser, path, seen = signed_in(plane), f"/nodes?order=newest&type={kind}", list[str]()
    while path:
        page = browser.get(path).text
        seen += re.findall(r">(N\d+)</a>", page)
        older = re.search(r'href="([^"]+)" rel="next"', page)
        path = unescape(older[1]) if older else ""
    assert seen == [f"N{key}" for key in range(95, 0, -1)]


def test_names_and_words_of_others_stay_text(memory: Plane, browser: TestClient) -> None:
    told(memory, "Rob Smith works at Acme.")
    rob = node(memory, "Rob Smith")
    memory.alias(rob.id, "<script>alert(1)</script>", agent="user")
    memory.fact("Rob Smith", "note", "<script>alert(1)</script>", agent="muse", origin="external")
    memory.post("Rob Smith likes <script>alert(1)</script>", agent="muse", origin="external")
    for path in (f"/nodes/{rob.id}", "/nodes", "/nodes?order=newest"):
        page = browser.get(path).text
        assert "<script>alert" not in page
        assert "&lt;script&gt;alert" in page


def test_place_that_is_none_is_told(browser: TestClient) -> None:
    for before in ("x", str(UUID(int=7))):
        assert browser.get(f"/nodes?order=newest&before={before}").status_code == 400


def test_a_name_that_a_path_cannot_hold_is_found_by_its_fact(memory: Plane, browser: TestClient) -> None:
    told(memory, "Rob Smith works at Acme.")
    rob = node(memory, "Rob Smith")
    memory.alias(rob.id, "..", agent="user")
    memory.fact("..", "city", "Lyon", agent="muse")
    link = re.search(r'<h2[^>]*><a href="([^"]*)">\.\.</a>', browser.get("/facts").text)
    assert link is not None
    assert "<h1>Rob Smith</h1>" in browser.get(unescape(link[1])).text
