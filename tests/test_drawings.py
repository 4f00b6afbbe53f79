"""The graph as text is complete and well quoted: what the parsers of others read back is what went in."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any
from uuid import UUID
from xml.etree import ElementTree

import networkx
import pydot
import pytest

from memory_plane.drawings import FORMATS
from memory_plane.types import Edge, Node

AT = datetime(2026, 3, 14, 9, 26, 53, 589793, tzinfo=UTC)
NAMES = (
    "Ann",
    'O"Neill & Söhne <b>',
    "back\\slash\\",
    "\\\\",
    "王伟",
    "Жук Zoë",
    "ab[c](d){e}|f|",
    '"];evil;n0["',
    "-->end; subgraph x",
    "a;b,c\td",
    "]]>",
    "&amp; &#34; #quot; #35;",
    "%% comment",
    "`code` **bold**",
    "emoji 🦀 zero\u200dwidth",
    "ไทย हिन्दी",
    "digraph",
    "<!-- -->",
    "'single' `tick`",
    "a -> b [label=x]",
)
EXTERNAL = {"王伟", "]]>"}
NODES = [
    Node(id=str(UUID(int=number)), type="Person", name=name, slug=f"node:person:{number}",
         origin="external" if name in EXTERNAL else "user")
    for number, name in enumerate(NAMES, 1)
]  # fmt: skip
EDGES = [
    Edge(source=one, relation="KNOWS" if number % 2 else 'SAYS "HI" | -->', target=other,
         probability=0.25 + number / 64, method="local", evidence=(str(UUID(int=7)), str(UUID(int=8))), known_since=AT,
         valid_until=AT if number == 3 else None, origin="external" if number == 4 else "agent")
    for number, (one, other) in enumerate(zip(NODES, [*NODES[1:], NODES[0]], strict=True))
]  # fmt: skip


def drawn(format: str, nodes: Sequence[Node] = NODES, edges: Sequence[Edge] = EDGES) -> str:
    lines = list(FORMATS[format](nodes, edges))
    assert not any("\n" in line for line in lines)
    return "".join(f"{line}\n" for line in lines)


def ends(edge: Edge) -> tuple[str, str, str]:
    return edge.source.id, edge.relation, edge.target.id


def test_networkx_reads_graphml_as_it_was() -> None:
    graph = networkx.parse_graphml(drawn("graphml"), force_multigraph=True)
    assert {id: data["name"] for id, data in graph.nodes(data=True)} == {node.id: node.name for node in NODES}
    assert {id for id, data in graph.nodes(data=True) if data["origin"] == "external"} == {
        node.id for node in NODES if node.name in EXTERNAL
    }
    found = {(one, data["relation"], other): data for one, other, data in graph.edges(data=True)}
    assert found.keys() == set(map(ends, EDGES))
    data = found[ends(EDGES[3])]
    assert data["probability"] == pytest.approx(EDGES[3].probability, rel=1e-3)
    assert (data["known_since"], data["valid_until"]) == ("2026-03-14T09:26:53.589793Z",) * 2
    assert data["evidence"].split() == list(EDGES[3].evidence)
    assert found[ends(EDGES[4])]["origin"] == "external"


def test_graphml_is_declared_as_its_schema_wants() -> None:
    space = {"g": "http://graphml.graphdrawing.org/xmlns"}
    root = ElementTree.fromstring(drawn("graphml"))
    declared = {key.attrib["id"] for key in root.findall("g:key", space)}
    used = {data.attrib["key"] for data in root.iterfind(".//g:data", space)}
    assert used <= declared


def test_networkx_reads_json_as_it_was() -> None:
    graph: Any = networkx.node_link_graph(json.loads(drawn("json")), edges="edges")
    assert {id: data["name"] for id, data in graph.nodes(data=True)} == {node.id: node.name for node in NODES}
    assert {(one, key, other) for one, other, key in graph.edges(keys=True)} == set(map(ends, EDGES))
    data = graph.edges[EDGES[3].source.id, EDGES[3].target.id, "KNOWS"]
    assert (data["valid_from"], data["valid_until"]) == (None, "2026-03-14T09:26:53.589793Z")
    assert data["evidence"] == list(EDGES[3].evidence)


@pytest.mark.filterwarnings("ignore::pyparsing.warnings.PyparsingDeprecationWarning")
def test_pydot_reads_dot_as_it_was() -> None:
    graphs = pydot.graph_from_dot_data(drawn("dot"))
    assert graphs is not None
    (graph,) = graphs
    nodes = {plain(node.get_name()): node.get_attributes() for node in graph.get_nodes() if node.get_name() != "node"}
    assert {id: plain(data["label"]) for id, data in nodes.items()} == {node.id: line(node.name) for node in NODES}
    assert {id for id, data in nodes.items() if plain(data.get("style", "")) == "dashed"} == {
        node.id for node in NODES if node.name in EXTERNAL
    }
    found = {
        (plain(edge.get_source()), plain(edge.get("relation")), plain(edge.get_destination()))
        for edge in graph.get_edges()
    }
    assert found == set(map(ends, EDGES))


def plain(quoted: Any) -> str:
    """Read a quoted string as the language of Graphviz says, with the escapes that its labels have."""
    text = str(quoted)
    if not text.startswith('"'):
        return text
    return text[1:-1].replace('\\"', '"').replace("\\\\", "\\")


def line(text: str) -> str:
    return " ".join(text.split())


def test_csv_reads_back_as_it_was() -> None:
    rows = list(csv.DictReader(io.StringIO(drawn("csv"), newline="")))
    nodes = {row["id"]: row["name"] for row in rows if row["row"] == "node"}
    assert nodes == {node.id: f"'{node.name}" if node.name.startswith("-") else node.name for node in NODES}
    edges = [row for row in rows if row["row"] == "edge"]
    assert {(row["source"], row["relation"], row["target"]) for row in edges} == set(map(ends, EDGES))
    assert [row["origin"] for row in edges] == [edge.origin for edge in EDGES]


@pytest.mark.parametrize("name", ["=1+1", "+1", "-1", "@cmd", "\t=1"])
def test_spreadsheets_take_no_name_for_a_formula(name: str) -> None:
    node = Node(id=str(UUID(int=1)), type="Person", name=name)
    (row,) = csv.DictReader(io.StringIO(drawn("csv", [node], []), newline=""))
    assert row["name"] == f"'{name}"


def test_mermaid_spells_out_all_that_could_mean_something() -> None:
    text = drawn("mermaid")
    assert text.startswith("flowchart LR\n")
    for mark in ("<b>", "evil;n", "**", "`", "\\", "%%", "-->end", "[c]"):
        assert mark not in text.replace("#34;", "")
    assert 'n00000000000000000000000000000002["O#34;Neill #38; Söhne #60;b#62; (Person)"]' in text
    assert text.count(":::external") == len(EXTERNAL)
    assert text.count("-.->") == 1


@pytest.mark.parametrize("format", FORMATS)
def test_empty_graph_is_one_too(format: str) -> None:
    text = drawn(format, [], [])
    assert text
    if format == "json":
        assert json.loads(text)["nodes"] == []
    if format == "graphml":
        assert len(networkx.parse_graphml(text)) == 0


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize(
    "name", ["nul\x00", "bell\x07", "esc\x1b[2J", "half \ud83d", "next\x85line", "\ufffe", "two\r\nlines"]
)
def test_what_no_file_should_hold_is_replaced(format: str, name: str) -> None:
    node = Node(id=str(UUID(int=1)), type="Person", name=name)
    text = drawn(format, [node], [])
    text.encode()
    assert not any(char in text for char in "\x00\x07\x1b\x85\ufffe")
    if format == "graphml":
        ElementTree.fromstring(text)
