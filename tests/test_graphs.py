"""The reads of the graph: the same answers in process, over a hub and on the command line, and errors that help."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import networkx
import pytest
from click.testing import CliRunner, Result
from sqlalchemy import insert
from starlette.testclient import TestClient

from memory_plane import Plane, models
from memory_plane.drawings import FORMATS
from memory_plane.errors import Refused
from memory_plane.plane import Plane as Memory
from memory_plane.recall.communities import partition
from memory_plane.surfaces.api import create_app
from memory_plane.surfaces.cli import main
from memory_plane.surfaces.cli.graphs import FORMATS as OFFERED
from memory_plane.types import EPOCH, Community, Graph, Node, Trail

MakePlane = Callable[..., Plane]
Ask = Callable[..., Any]

TOKEN = "t" * 43
STORY = (
    ("I just met Viktor, the CTO of Nexus Labs. They're building SkyNet-X using Rust.", "2026-03-01T09:00:00Z"),
    ("Alice is the CTO of TechCorp. She leads the Platform team and uses Kubernetes, Go, and PostgreSQL.",
     "2026-03-02T09:00:00Z"),
    ("Bob is a member of the Platform team.", "2026-03-03T09:00:00Z"),
)  # fmt: skip


@pytest.fixture
def told(make_plane: MakePlane) -> Plane:
    """A memory in which the story of the README was told, and one of somebody else."""
    plane = make_plane("local")
    for text, at in STORY:
        assert plane.post(text, agent="notes", created_at=at).state == "stored"
    plane.post("Mallory works at Evil Corp.", agent="muse", origin="external", created_at=STORY[2][1])
    return plane


@pytest.fixture
def over_http(told: Plane) -> Ask:
    """Ask a hub for a path with parameters; return the JSON, or the text, that it answers."""
    hub = TestClient(create_app(told, token=TOKEN, port=8788), base_url="http://127.0.0.1:8788")

    def ask(path: str, **given: Any) -> Any:
        answer = hub.get(f"/api/{path}", params=given, headers={"authorization": f"Bearer {TOKEN}"})
        assert answer.status_code == 200, answer.text
        return answer.text if path == "visualize" else answer.json()

    return ask


@pytest.fixture
def run(told: Plane) -> Callable[..., Result]:
    return lambda *words: CliRunner().invoke(main, ["--home", str(told.home), *words])


def names(nodes: Any) -> list[str]:
    return [node["name"] if isinstance(node, dict) else node.name for node in nodes]


def test_hidden_connection_is_found_as_the_readme_of_graphs_says(told: Plane, over_http: Ask) -> None:
    found = told.path("Viktor", "Rust")
    assert names(found.nodes) == ["Viktor", "Nexus Labs", "SkyNet-X", "Rust"]
    assert [edge.relation for edge in found.edges] == ["CTO_OF", "BUILDS", "USES"]
    assert names(told.path("bob", "PostgreSQL").nodes) == ["Bob", "Platform team", "Alice", "PostgreSQL"]
    assert names(over_http("path", source="Viktor", target="Rust")["nodes"]) == names(found.nodes)
    assert told.path("Viktor", "Bob") == Trail()


def test_path_on_the_command_line_is_one_line(run: Callable[..., Result]) -> None:
    assert run("path", "bob", "postgresql").stdout == (
        "Bob →[MEMBER_OF]→ Platform team →[LED_BY]→ Alice →[USES]→ PostgreSQL\n"
    )
    assert run("graph", "path", "viktor", "bob").stderr == "no way from 'viktor' to 'bob' was found\n"
    assert run("path", "viktor", "viktor").stderr == "'viktor' and 'viktor' are one\n"
    assert json.loads(run("path", "viktor", "rust", "--json").stdout)["complete"] is True
    unknown = run("path", "viktor", "nobody")
    assert (unknown.exit_code, unknown.stderr) == (
        1, "memory-plane: target: nothing in the graph is called 'nobody'; look with search\n"
    )  # fmt: skip


def test_graph_about_a_name_that_nothing_has_fails_as_a_path_to_it_does(run: Callable[..., Result]) -> None:
    for command in (("graph",), ("graph", "--json"), ("visualize",)):
        unknown = run(*command, "--about", "nobody")
        assert (unknown.exit_code, unknown.stderr) == (
            1, "memory-plane: about: nothing in the graph is called 'nobody'; look with search\n"
        )  # fmt: skip
    assert run("graph", "--about", "viktor", "--as-of", "1990-01-01").exit_code == 0


def test_path_is_no_longer_than_the_settings_say(make_plane: MakePlane, told: Plane) -> None:
    assert told.path("viktor", "rust", max_hops=2) == Trail()
    assert make_plane(max_hops=2).path("viktor", "rust") == Trail()
    assert make_plane(min_confidence=0.99).path("viktor", "rust") == Trail()
    assert names(make_plane(max_hops=2).path("viktor", "rust", max_hops=3).nodes)[-1] == "Rust"


def test_time_bounds_path_and_graph(told: Plane, over_http: Ask) -> None:
    assert told.path("bob", "alice", as_of="2026-03-02T12:00:00Z") == Trail()
    assert len(told.path("bob", "alice", as_of="2026-03-03T12:00:00Z").edges) == 2
    assert told.path("bob", "alice", as_of="2026-03-03T12:00:00Z", known_at="2026-03-03T08:00:00Z") == Trail()
    assert told.graph(about="bob", as_of="2026-03-02T12:00:00Z").edges == ()
    assert over_http("graph", about="bob", as_of="2026-03-02T12:00:00Z")["edges"] == []
    assert len(over_http("graph", about="bob", known_at="2026-03-03T12:00:00Z")["edges"]) == 1


def test_neighbourhood_widens_and_is_bounded(told: Plane) -> None:
    sizes = [len(told.graph(about="bob", hops=hops).edges) for hops in (1, 2, 3)]
    assert sizes == [1, 2, 6]
    assert len(told.graph(about="bob", hops=3, limit=3).edges) == 3
    assert told.graph(about="bob", hops=3, min_confidence=1).edges == ()


@pytest.mark.parametrize(
    ("text", "given", "wanted"),
    [
        ("nexus labs", {}, ["Nexus Labs"]),
        ("NEXUS", {}, ["Nexus Labs"]),
        ("labs", {}, ["Nexus Labs"]),
        ("post", {}, ["PostgreSQL"]),
        ("nobody", {}, []),
        ("", {}, []),
        ("platform", {"kind": "team"}, ["Platform team"]),
        ("platform", {"kind": "person"}, []),
        ('"(* OR', {}, []),
    ],
)
def test_search_finds_nodes_by_their_names(
    told: Plane, over_http: Ask, text: str, given: dict[str, Any], wanted: list[str]
) -> None:
    assert names(told.search(text, **given)) == wanted
    assert names(over_http("search", text=text, **given)) == wanted


def test_search_by_meaning_finds_what_is_named_with_the_words(told: Plane, run: Callable[..., Result]) -> None:
    assert "Viktor" in names(told.search("who was just met", meaning=True))
    assert told.search("who was just met") == []
    assert "Viktor" in run("search", "who was just met", "--meaning").stdout
    assert run("search", "xyzzy").stderr == "nothing is called so\n"


def test_search_by_meaning_finds_what_is_of_a_type(told: Plane) -> None:
    assert {"Rust", "Go"} <= set(names(told.search("programming language", meaning=True)))
    assert set(names(told.search("Languages", meaning=True, limit=2))) == {"Rust", "Go"}
    assert told.search("programming language") == []


def test_communities_are_who_hangs_together(told: Plane, over_http: Ask, run: Callable[..., Result]) -> None:
    found = told.communities()
    assert [{"Alice", "TechCorp", "Go"} <= set(names(one.nodes)) for one in found] == [True, False]
    assert {"Viktor", "Rust"} <= set(names(found[1].nodes))
    assert [one["size"] for one in over_http("communities")] == [one.size for one in found]
    assert run("graph", "communities", "--limit", "1").stdout.count("\n") == 2
    assert told.communities(as_of="2026-01-01T00:00:00Z") == []


@pytest.mark.parametrize("format", FORMATS)
def test_drawing_is_the_same_everywhere(told: Plane, over_http: Ask, run: Callable[..., Result], format: str) -> None:
    text = "".join(f"{line}\n" for line in told.visualize(format))
    assert "Mallory" in text
    assert over_http("visualize", format=format) == text
    assert run("visualize", "--format", format).stdout == text
    assert run("graph", "export", format).stdout == text
    some = "\n".join(told.visualize(format, about="Viktor", hops=2))
    assert "SkyNet-X" in some
    assert "Mallory" not in some


def test_drawing_is_complete_however_large(make_plane: MakePlane) -> None:
    plane = make_plane()
    size = 1_203
    with plane.database.writing() as connection:
        connection.execute(insert(models.graph_nodes), [
            {"key": key, "id": f"00000000-0000-4000-8000-{(key * 7919) % 10007:012}", "type": "Tool", "name": f"t{key}",
             "slug": f"tool:t{key}", "origin": "agent", "founded_at": EPOCH} for key in range(1, size + 1)
        ])  # fmt: skip
        connection.execute(insert(models.graph_edges), [
            {"source": 1 + key % 3, "relation": "USES", "target": 4 + key % (size - 3), "probability": 0.5,
             "method": "local", "origin": "agent", "known_since": EPOCH, "opened_at": EPOCH} for key in range(size - 3)
        ])  # fmt: skip
    graph = networkx.node_link_graph(json.loads("\n".join(plane.visualize("json"))), edges="edges")
    assert (graph.number_of_nodes(), graph.number_of_edges()) == (size, size - 3)
    lines = list(plane.visualize("csv"))
    assert len(lines) == 1 + size + size - 3
    assert lines == list(plane.visualize("csv"))


def test_drawing_goes_into_a_file_that_is_whole(told: Plane, run: Callable[..., Result], tmp_path: Path) -> None:
    path = tmp_path / "the graph.graphml"
    assert run("graph", "export", "graphml", "--output", str(path)).output == ""
    assert networkx.read_graphml(path).number_of_nodes() == sum(told.stats().nodes_by_type.values())
    assert run("visualize", "--output", str(tmp_path / "none" / "x")).exit_code == 1


@pytest.mark.parametrize(
    ("call", "reason"),
    [
        (lambda plane: plane.path("nobody", "Rust"), "source: nothing in the graph is called 'nobody'"),
        (lambda plane: plane.path("Rust", "Rust", max_hops=11), "max_hops: 11 is too large; give 1 to 10"),
        (lambda plane: plane.path("Rust", "Rust", min_confidence=2), "min_confidence: 2 is not within 0 to 1"),
        (lambda plane: plane.path("Rust", "Rust", as_of="now"), "as_of: 'now' is no ISO 8601 time"),
        (lambda plane: plane.graph(hops=0), "hops: 0 is too small; give 1 to 10"),
        (lambda plane: plane.graph(known_at="2026-01-01T09:00"), "known_at: has no time zone"),
        (lambda plane: plane.visualize("svg"), "format: 'svg' is unknown; give mermaid, dot, graphml, json, csv"),
        (lambda plane: plane.visualize(about="nobody"), "about: nothing in the graph is called 'nobody'"),
        (lambda plane: plane.search("x", limit=0), "limit: 0 is too small"),
        (lambda plane: plane.communities(limit=0), "limit: 0 is too small"),
    ],
)
def test_what_makes_no_sense_is_refused(told: Plane, call: Callable[[Plane], object], reason: str) -> None:
    with pytest.raises(Refused, match=reason):
        call(told)


def test_stats_say_who_is_linked_most_and_whose_words_the_names_are(told: Plane, run: Callable[..., Result]) -> None:
    found = told.stats()
    assert next(iter(found.most_linked.items())) == ("node:person:alice", 5)
    assert found.nodes_by_origin["external"] == 2
    assert "most linked  node:person:alice" in run("graph", "stats").stdout
    assert json.loads(run("graph", "stats", "--json").stdout)["links"] == dict(found.edges_by_relation)


def test_formats_spelt_out_for_the_sake_of_speed_are_those_there_are() -> None:
    assert tuple(FORMATS) == OFFERED


def test_two_cliques_with_one_bridge_are_two_communities() -> None:
    links: dict[int, dict[int, float]] = {node: {} for node in range(12)}
    for one in range(12):
        for other in range(one):
            if one // 6 == other // 6 or (one, other) == (6, 5):
                links[one][other] = links[other][one] = 1.0
    assert sorted(map(sorted, partition(links))) == [list(range(6)), list(range(6, 12))]
    assert partition({}) == []


def test_communities_of_the_karate_club_are_as_good_as_those_of_networkx() -> None:
    club = networkx.karate_club_graph()
    links = {node: {other: 1.0 for other in club[node]} for node in club}
    ours = networkx.community.modularity(club, map(set, partition(links)), weight=None)
    theirs = networkx.community.modularity(
        club, networkx.community.louvain_communities(club, weight=None, seed=1), weight=None
    )
    assert ours > theirs - 0.03


def test_answers_are_of_the_types_that_are_told(told: Plane) -> None:
    assert isinstance(told, Memory)
    assert isinstance(told.graph(), Graph)
    assert all(isinstance(one, Community) for one in told.communities())
    assert all(isinstance(one, Node) for one in told.search("alice"))
