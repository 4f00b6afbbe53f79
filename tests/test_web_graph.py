"""The graph page: a bounded part first, more on demand, ways, filters, and what is seen as a file."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any
from uuid import UUID

import pytest
from sqlalchemy import insert
from starlette.testclient import TestClient

from memory_plane import Plane, models
from memory_plane.types import EPOCH

if TYPE_CHECKING:
    from memory_plane.testing import MakePlane

SignIn = Callable[[Plane], TestClient]
Ask = Callable[..., dict[str, Any]]


def id_of(number: int) -> str:
    return str(UUID(int=number))


@pytest.fixture
def browser(plane: Plane, signed_in: SignIn) -> TestClient:
    """A browser that is signed in to the hub of a memory with a wheel: node 1 and 200 others around it."""
    draw(plane, [(1, "KNOWS", spoke) for spoke in range(2, 202)])
    return signed_in(plane)


@pytest.fixture
def ask(browser: TestClient) -> Ask:
    """Give `ask(**form)`: what the page would draw."""

    def post(**form: str) -> dict[str, Any]:
        answer: dict[str, Any] = browser.post("/graph/data", data=form).json()
        return answer

    return post


def draw(plane: Plane, edges: list[tuple[int, str, int]], *, type: str = "Person", probability: float = 0.9) -> None:
    """Put edges and the nodes at their ends into the tables."""
    ends = sorted({end for one, _, other in edges for end in (one, other)})
    with plane.database.writing() as connection:
        known = set(connection.execute(models.graph_nodes.select()).scalars())
        new = [node for node in ends if node not in known]
        about = {"type": type, "origin": "agent", "founded_at": EPOCH}
        rows = [{"key": key, "id": id_of(key), "name": f"Node {key}", "slug": f"n{key}", **about} for key in new]
        names = [{"name": f"node {key}", "node": key, "part": False, "uses": 1} for key in new]
        if new:
            connection.execute(insert(models.graph_nodes), rows)
            connection.execute(insert(models.aliases), names)
        told = {"probability": probability, "method": "local", "origin": "agent", "known_since": EPOCH}
        connection.execute(
            insert(models.graph_edges),
            [{"source": one, "relation": name, "target": other, **told} for one, name, other in edges],
        )


def ids(answer: dict[str, Any]) -> list[str]:
    return [node["id"] for node in answer["nodes"]]


def test_a_hub_is_folded_and_opens_in_steps(browser: TestClient, ask: Ask) -> None:
    first = browser.get("/graph/data", params={"about": "Node 1"}).json()
    assert 40 <= len(first["nodes"]) <= 80
    (hub,) = (node for node in first["nodes"] if node["id"] == id_of(1))
    assert hub["hidden"] == 200 - (len(first["nodes"]) - 1)
    more = ask(nodes=" ".join(ids(first)), open=id_of(1))
    assert len(more["nodes"]) == len(first["nodes"]) + 30
    assert len(more["edges"]) == len(more["nodes"]) - 1
    assert ids(more)[: len(ids(first))] == ids(first)


def test_no_more_is_shown_than_fits(ask: Ask) -> None:
    everything = " ".join(id_of(number) for number in range(1, 1000))
    assert len(ask(nodes=everything, open=id_of(1))["nodes"]) <= 300


def test_a_hub_with_more_edges_than_are_read_says_so(plane: Plane, browser: TestClient) -> None:
    draw(plane, [(1, "KNOWS", spoke) for spoke in range(202, 1202)])
    answer = browser.get("/graph/data", params={"about": "Node 1"}).json()
    hub = answer["nodes"][0]
    assert hub["uncounted"]
    assert hub["hidden"] < 1000


def test_of_a_hub_those_of_one_relation_are_found(plane: Plane, browser: TestClient) -> None:
    draw(plane, [(1, "KNOWS", spoke) for spoke in range(202, 3202)] + [(1, "USES", 7), (8, "USES", 1)])
    answer = browser.get("/graph/data", params={"about": "Node 1", "relation": "USES"}).json()
    assert set(ids(answer)) == {id_of(number) for number in (1, 7, 8)}


def test_without_a_name_it_begins_with_what_is_newest(browser: TestClient) -> None:
    answer = browser.get("/graph/data").json()
    assert ids(answer)[0] == id_of(1)
    assert len(answer["nodes"]) <= 80


@pytest.mark.parametrize(
    ("filters", "shown"),
    [
        ({}, {1, 2, 300, 301}),
        ({"type": "Tool"}, {2, 300, 301}),
        ({"type": "Tool,Person"}, {1, 2, 300, 301}),
        ({"relation": "USES"}, {2, 300, 301}),
        ({"least": "0.8"}, {1, 2}),
        ({"agent": "grok"}, {2}),
        ({"as_of": "1969-12-01"}, {2}),
    ],
    ids=str,
)
def test_filters_leave_out_what_does_not_fit(
    plane: Plane, browser: TestClient, filters: dict[str, str], shown: set[int]
) -> None:
    draw(plane, [(2, "USES", 300), (300, "USES", 301)], type="Tool", probability=0.5)
    answer = browser.get("/graph/data", params={"about": "Node 2", **filters}).json()
    assert {id_of(number) for number in shown} == set(ids(answer)) & {id_of(number) for number in (1, 2, 300, 301)}


def test_who_told_an_edge_is_known_by_its_evidence(make_plane: MakePlane, signed_in: SignIn) -> None:
    plane = make_plane("local")
    plane.post("Ann Lee works at Acme.", agent="muse")
    plane.post("Bob Ray works at Acme.", agent="grok")
    found = signed_in(plane).get("/graph/data", params={"about": "Acme", "agent": "grok"}).json()
    assert {node["name"] for node in found["nodes"]} == {"Acme", "Bob Ray"}
    assert found["edges"][0]["evidence"]


def test_a_day_shows_what_was_known_then(make_plane: MakePlane, signed_in: SignIn) -> None:
    plane = make_plane("local")
    for day, text in (
        (1, "Ann Lee works at Acme."),
        (10, "Bob Ray works at Acme."),
        (20, "Ann Lee left Acme."),
        (25, "Bob Ray works at Acme."),
    ):
        plane.post(text, agent="muse", created_at=datetime(2026, 1, day, 12, tzinfo=UTC))
    browser = signed_in(plane)

    def people(as_of: str) -> set[str]:
        found = browser.get("/graph/data", params={"about": "Acme", "as_of": as_of, "relation": "WORKS_AT"}).json()
        return {node["name"] for node in found["nodes"]} - {"Acme"}

    assert people("2026-01-05") == {"Ann Lee"}
    assert people("2026-01-15") == {"Ann Lee", "Bob Ray"}
    assert people("2026-01-22") == {"Bob Ray"}
    assert people("") == {"Bob Ray"}


def test_a_way_between_two_is_shown_with_its_sentence(plane: Plane, browser: TestClient, ask: Ask) -> None:
    draw(plane, [(2, "MANAGES", 300)])
    picked = ask(nodes=id_of(2), **{"from": id_of(300), "to": id_of(5)})
    assert picked["trail"]["text"].startswith("Node 300 →[MANAGED_BY]→ Node 2")
    assert set(picked["trail"]["nodes"]) == {id_of(number) for number in (300, 2, 1, 5)} <= set(ids(picked))
    page = browser.get("/graph", params={"from": "Node 300", "to": "Node 5"}).text
    assert "Node 300 →[MANAGED_BY]→ Node 2" in page


@pytest.mark.parametrize("filters", [{"least": "2"}, {"least": "x"}, {"as_of": "soon"}, {"about": "Nobody"}], ids=str)
def test_a_filter_that_makes_no_sense_is_said_so(browser: TestClient, filters: dict[str, str]) -> None:
    assert 'role="alert"' in browser.get("/graph", params=filters).text
    assert browser.get("/graph/data", params=filters).status_code == 422


def test_what_is_no_id_means_no_node(ask: Ask) -> None:
    assert ids(ask(nodes=f"{id_of(1)} x' OR 1 {id_of(999)}", open="nothing")) == [id_of(1)]


def test_the_list_has_what_the_drawing_has(browser: TestClient) -> None:
    answer = browser.get("/graph/data", params={"about": "Node 7"}).json()
    page = browser.get("/graph", params={"about": "Node 7"}).text
    listed = page[page.index('id="list"') :]
    assert set(re.findall(r"/nodes/([0-9a-f-]{36})", listed)) == set(ids(answer))
    assert listed.count("KNOWS") == len(answer["edges"])


@pytest.mark.parametrize("format", ["mermaid", "json"])
def test_what_is_seen_is_saved_and_nothing_else(browser: TestClient, format: str) -> None:
    seen = {"nodes": f"{id_of(1)} {id_of(2)}", "format": format}
    answer = browser.post("/graph/file", data=seen)
    assert "attachment" in answer.headers["content-disposition"]
    if format == "json":
        saved = json.loads(answer.text)
        assert [len(saved["nodes"]), len(saved["edges"])] == [2, 1]
    else:
        assert answer.text.count("[") == 2
        assert answer.text.count("-->") == 1


def test_a_name_of_others_stays_text(plane: Plane, browser: TestClient) -> None:
    draw(plane, [(400, "KNOWS", 401)])
    with plane.database.writing() as connection:
        hostile = {"name": "<img src=x onerror=alert(1)>", "origin": "external"}
        connection.execute(models.graph_nodes.update().where(models.graph_nodes.c.key == 400).values(hostile))
    page = browser.get("/graph", params={"about": "Node 401"}).text
    assert "<img" not in page
    assert "&lt;img src=x" in page
    assert "words of others" in page


def test_of_a_huge_graph_as_little_is_read_as_of_a_small_one(plane: Plane, browser: TestClient) -> None:
    statements: list[str] = []

    def read() -> int:
        statements.clear()
        assert len(browser.get("/graph/data", params={"about": "Node 1"}).json()["nodes"]) <= 80
        return len(statements)

    from sqlalchemy import event

    event.listen(plane.database.engine, "before_cursor_execute", lambda *given: statements.append(given[2]))
    small = read()
    draw(plane, [(number, "KNOWS", number + 1) for number in range(2000, 6000)])
    assert read() == small
