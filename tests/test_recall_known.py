"""Names of the graph that stand in a text, for extractors to read with."""

from __future__ import annotations

from pathlib import Path

from memory_plane.plane import Plane
from memory_plane.recall.known import WORDS, known_names


def known(home: Path, text: str) -> list[tuple[str, str]]:
    with Plane(home=home) as plane:
        plane.post("Kiran Patel works on Glimmerfen with Rust.", agent="muse")
        with plane.database.reading() as connection:
            return [(mention.text, mention.type) for mention in known_names(connection, text).mentions]


def test_names_are_found_in_any_case_with_their_type(tmp_path: Path) -> None:
    found = known(tmp_path, "ask kiran  patel whether GLIMMERFEN runs")
    assert found == [("kiran  patel", "Person"), ("GLIMMERFEN", "Project")]


def test_parts_of_words_and_names_over_marks_are_not_found(tmp_path: Path) -> None:
    assert known(tmp_path, "glimmerfens; kiran, patel") == []


def test_only_the_first_words_are_looked_up(tmp_path: Path) -> None:
    assert known(tmp_path, "word " * WORDS + "glimmerfen") == []
    assert known(tmp_path / "other", "") == []


def test_lower_case_name_said_before_is_read(tmp_path: Path) -> None:
    with Plane(home=tmp_path) as plane:
        plane.post("Kiran Patel works on Glimmerfen.", agent="muse")
        plane.post("glimmerfen depends on quartzite-api", agent="grok")
        graph = plane.graph(about="Glimmerfen")
    found = {(edge.source.name, edge.relation, edge.target.name) for edge in graph.edges}
    assert ("Glimmerfen", "DEPENDS_ON", "quartzite-api") in found
