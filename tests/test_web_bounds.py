"""No page shows more than so much, however large the memory is."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any
from uuid import UUID, uuid5

import pytest
from sqlalchemy import insert
from starlette.testclient import TestClient

from memory_plane import Plane, models
from memory_plane.operations import make_operation
from memory_plane.types import EPOCH, NAMESPACE, Operation

MOST = 40
BEGIN = datetime(2026, 1, 5, 9, tzinfo=UTC)


def memory(number: int) -> Operation:
    """Make a thought that names node 1, an open item of its, a fact about it, or one that is held back."""
    at = BEGIN.replace(minute=number // 60 % 60, second=number % 60)
    id = str(uuid5(NAMESPACE, str(number)))
    if number % 5 == 1:
        said = {"subject": "Node 1" if number % 2 else f"s{number}", "key": f"k{number}", "value": "zebra " * 90}
        return make_operation("fact", said, agent="grok", created_at=at, id=id)
    body: dict[str, Any] = {"text": f"zebra {number} of Node 1"} | ({"held": True} if number % 5 == 2 else {})
    body |= {"kind": "commitment", "owner": "Node 1"} if number % 5 == 3 else {}
    return make_operation("thought", body, agent="grok", created_at=at, id=id)


@pytest.fixture
def full(plane: Plane, signed_in: Callable[[Plane], TestClient], sized: Callable[[int, int], int]) -> TestClient:
    """A browser at a memory in which everything is about one node: as many nodes and edges as memories."""
    many = sized(1_000, 5_000)
    plane.apply_all([memory(number) for number in range(many)])
    keys = range(1, many + 1)
    node = {"type": "Person", "origin": "agent", "founded_at": EPOCH}
    edge = {"probability": 0.9, "method": "local", "origin": "agent", "known_since": EPOCH, "source": 1}
    with plane.database.writing() as connection:
        for table, rows in (
            (
                models.graph_nodes,
                [
                    {"key": key, "id": str(UUID(int=key)), "name": f"Node {key}", "slug": f"n{key}", **node}
                    for key in keys
                ],
            ),
            (models.aliases, [{"name": f"node {min(key, 60)}", "node": key, "part": False, "uses": 1} for key in keys]),
            (models.mentions, [{"seq": key, "start": 0, "end": 1, "node": 1} for key in keys]),
            (models.graph_edges, [{"relation": "KNOWS", "target": key, **edge} for key in keys if key > 1]),
            (
                models.doubts,
                [
                    {"seq": key, "one": str(UUID(int=key)), "other": str(UUID(int=key + 1)), "probability": 0.5}
                    for key in range(2, 900)
                ],
            ),
        ):
            connection.execute(insert(table), rows)
    for number in range(45):
        plane.alias(str(UUID(int=1)), f"N{number}", agent="user")
    one = str(uuid5(NAMESPACE, "0"))
    for number in range(45):
        plane.pin(one, pinned=number % 2 == 0, agent="muse")
    return signed_in(plane)


def lists(page: str) -> list[int]:
    """Return how many entries each list of a page has."""
    return [inside.count("<li") for inside in re.findall(r"<[ou]l[^>]*>(.*?)</[ou]l>", page, re.S)]


def test_pages_of_a_large_memory_are_bounded(full: TestClient) -> None:
    one, fact = (str(uuid5(NAMESPACE, str(number))) for number in (0, 1))
    paths = {
        "/search?q=zebra": 20,
        "/search?q=Node 1": 20,
        f"/memories/{one}": MOST,
        f"/memories/{fact}": 0,
        "/facts": MOST,
        "/facts?subject=node": MOST,
        "/nodes": MOST,
        "/nodes?order=newest": MOST,
        f"/nodes/{UUID(int=1)}": MOST,
        "/nodes/node 60": MOST,
        "/review": MOST,
        "/doctor": 0,
    }
    for path, most in paths.items():
        answer = full.get(path)
        assert answer.status_code == 200, path
        assert max(lists(answer.text), default=0) >= most // 2, path
        assert max(lists(answer.text), default=0) <= MOST + 1, path
        assert len(answer.text) < 200_000, path


def test_long_words_are_shown_whole_on_a_page_of_their_own_alone(
    plane: Plane, signed_in: Callable[[Plane], TestClient]
) -> None:
    browser, long = signed_in(plane), "zebra" * 4_000
    said = plane.post(long, agent="muse").id
    promised = plane.post(f"{long} soon", agent="muse", kind="commitment", origin="external").id
    held = plane.post(f"{long} held", agent="muse", origin="external", held=True).id
    fact = plane.fact("Zebra", "stripes", long, agent="muse").id
    for path, ids in {
        "/": (said, promised),
        "/facts": (fact,),
        "/facts?subject=Zebra&key=stripes": (fact,),
        "/review": (held,),
        f"/change?do=retract&target={said}": (said,),
    }.items():
        page = browser.get(path).text
        for id in ids:
            assert f'<a href="/memories/{id}">All 20,0' in page, path
        assert long not in page, path
    for id in (said, promised, held, fact):
        assert long in browser.get(f"/memories/{id}").text
