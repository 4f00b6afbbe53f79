"""Relations by configuration are read, asked for and told to models like those of the table."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from memory_plane import Plane
from memory_plane.errors import ConfigurationError
from memory_plane.vocabulary import hints, tables
from memory_plane.vocabulary.catalogue import between

MAINTAINS = "MAINTAINS: Person > Tool, Project: maintain; look after"


@pytest.fixture(autouse=True)
def _own_vocabulary() -> Iterator[None]:
    """Take back what a test adds: a process has one vocabulary."""
    yield
    tables.ADDED.clear()
    hints.forget()


def test_relation_of_the_settings_is_found_and_asked_for(make_plane: Callable[..., Plane]) -> None:
    plane = make_plane("local", relations=[MAINTAINS])
    plane.post("Dora maintains Grafana. Carl looks after Nginx.", agent="notes")
    told = {(edge.source.name, edge.relation, edge.target.name) for edge in plane.graph().edges}
    assert told == {("Dora", "MAINTAINS", "Grafana"), ("Carl", "MAINTAINS", "Nginx")}
    assert plane.ask("Who maintains Grafana?").text == "Dora"
    assert plane.ask("What does Carl look after?").text == "Nginx"
    assert "MAINTAINS" in between("Person", "Tool")


def test_relation_may_be_of_what_is_told_in_ordinary_words(make_plane: Callable[..., Plane]) -> None:
    plane = make_plane("local", relations=["REPAIRS: Person > Tool, Thing: repair; patch up"])
    plane.post("Dora repairs the old pump. Carl patches up Nginx.", agent="notes")
    told = {(edge.source.name, edge.relation, edge.target.name, edge.target.type) for edge in plane.graph().edges}
    assert told == {("Dora", "REPAIRS", "old pump", "Concept"), ("Carl", "REPAIRS", "Nginx", "Tool")}


def test_relation_counts_once_however_often_it_is_added() -> None:
    hints.add([MAINTAINS, MAINTAINS])
    hints.add([f" {MAINTAINS} "])
    assert [row[0] for row in tables.rows("relations.tsv")].count("MAINTAINS") == 1


def test_table_is_as_it_was_without_them() -> None:
    assert "MAINTAINS" not in {row[0] for row in tables.rows("relations.tsv")}


@pytest.mark.parametrize(
    ("hint", "reason"),
    [
        ("MAINTAINS", "relation 'MAINTAINS' cannot be read; write it as 'NAME: Person > Tool: verb; verb on'"),
        ("maintains: Person > Tool: maintain", "cannot be read"),
        ("MAINTAINS: Person > Tool:", "cannot be read"),
        ("RELATED_TO: Person > Tool: relate to", "relation 'RELATED_TO' says nothing"),
        ("MAINTAINS: Person > Gadget: maintain", "relation 'MAINTAINS': type 'Gadget' is unknown; there are Person"),
    ],
)
def test_hint_that_makes_no_sense_is_named_with_its_place(
    make_plane: Callable[..., Plane], hint: str, reason: str
) -> None:
    with pytest.raises(ConfigurationError) as error:
        make_plane(relations=[hint])
    assert reason in str(error.value)
    assert str(error.value).endswith("(relations as keyword)")
