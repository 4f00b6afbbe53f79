"""Memories that share a rarely named node with the best hits, or with the question, are found and lent score."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest

from memory_plane import Plane, Plugin, hookimpl
from memory_plane.recall import links
from memory_plane.types import Candidate, Classification, Extraction, Memory, Mention, Resolution, new_node_id


class NamesPlugin(Plugin):
    """Takes Priya and P. for one person, whoever names her."""

    @hookimpl
    def extract(self, memory: Memory) -> Extraction:
        places = ((name, memory.text.find(name)) for name in ("Priya", "P."))
        return Extraction(
            mentions=tuple(
                Mention(text=name, type="Person", start=at, end=at + len(name), confidence=1.0)
                for name, at in places
                if at >= 0
            )
        )

    @hookimpl
    def classify(self, memory: Memory, found: Extraction, candidates: Sequence[Candidate]) -> Classification:
        nodes = [one.node.id for one in candidates] or [new_node_id(memory.id, one) for one in found.mentions[:1]]
        return Classification(
            resolutions=tuple(Resolution(mention=one, node=nodes[0], probability=1.0) for one in found.mentions)
        )


@pytest.fixture
def plane(make_plane: Callable[..., Plane]) -> Plane:
    return make_plane(NamesPlugin())


def found(plane: Plane, query: str) -> list[str]:
    return [hit.snippet for hit in plane.recall(query).hits]


def test_what_is_said_of_a_node_that_the_best_hit_names_is_found(plane: Plane) -> None:
    plane.post("kites need wind", agent="muse", project="sky")
    plane.post("Priya moved to Lisbon", agent="muse", project="people")
    plane.post("the manager of Ann is Priya", agent="muse", project="work")
    assert found(plane, "who is the manager of Ann") == ["the manager of Ann is Priya", "Priya moved to Lisbon"]
    hits = plane.recall("who is the manager of Ann", explain=True).hits
    assert [hit.why is not None and hit.why.get("linked", 0) > 0 for hit in hits] == [False, True]


def test_hit_far_from_the_best_needs_a_word_or_a_link_to_one_that_is_not(make_plane: Callable[..., Plane]) -> None:
    plane = make_plane("local")
    for number, text in enumerate(
        (
            "My dog Rex was ill yesterday.",
            "The budget of Orbit is 2,500,000 dollars.",
            "Rob works at Acme as an engineer.",
            "We decided to use PostgreSQL.",
        )
    ):
        plane.post(text, agent="user", origin="user", project=f"p{number}")
    assert found(plane, "dog") == ["My dog Rex was ill yesterday."]
    assert found(plane, "budget") == ["The budget of Orbit is 2,500,000 dollars."]
    assert found(plane, "database") == ["We decided to use PostgreSQL."]


def test_node_that_the_question_names_is_found_where_nothing_else_is(plane: Plane) -> None:
    plane.post("Priya moved to Lisbon", agent="muse")
    plane.alias(plane.nodes("Priya")[0].id, "Zed", agent="user")
    assert found(plane, "Zed") == ["Priya moved to Lisbon"]


def test_node_that_many_memories_name_links_nothing(plane: Plane) -> None:
    for number in range(links.RARE):
        plane.post(f"Priya said {number}", agent="muse", project=f"p{number}")
    plane.post("the manager of Ann is Priya", agent="muse", project="work")
    assert found(plane, "who is the manager of Ann") == ["the manager of Ann is Priya"]


def test_question_by_one_name_finds_what_is_said_by_another(plane: Plane) -> None:
    plane.post("Priya, called P. here", agent="muse", project="a")
    plane.post("lunch with P. tomorrow", agent="muse", project="b")
    assert set(found(plane, "Priya")) == {"Priya, called P. here", "lunch with P. tomorrow"}


def test_weight_of_nothing_follows_no_link(make_plane: Callable[..., Plane]) -> None:
    plane = make_plane(NamesPlugin(), recall={"linked": 0})
    plane.post("Priya moved to Lisbon", agent="muse", project="people")
    plane.post("the manager of Ann is Priya", agent="muse", project="work")
    assert found(plane, "who is the manager of Ann") == ["the manager of Ann is Priya"]
