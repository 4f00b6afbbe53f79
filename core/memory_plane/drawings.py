"""The graph as text that other programs read: Mermaid, DOT, GraphML, JSON and CSV, line by line.

A name is other people's text: each format has its own way of quoting, and none lets a name end its quotes. What only
other people said is marked in each.
"""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any
from xml.sax.saxutils import escape, quoteattr

from memory_plane.operations import iso
from memory_plane.types import Edge, Node

Drawing = Callable[[Iterable[Node], Iterable[Edge]], Iterator[str]]

_NODE = ("name", "type", "slug", "origin")
_EDGE = ("relation", "probability", "method", "origin", "known_since", "valid_from", "valid_until", "evidence")
_UNWRITTEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")
"""What XML does not take, and what no other format is the better for."""
# Mermaid reads Markdown in its labels: emphasis, and a list where one begins like an item.
_MEANING = re.compile(r"[^\w \-.,:()']|(?<![^\W_])_|_(?![^\W_])|^-|^\d(?=\d*[.)]\s)")
_FORMULA = ("=", "+", "-", "@", "\t")


def mermaid(nodes: Iterable[Node], edges: Iterable[Edge]) -> Iterator[str]:
    """Yield a Mermaid flowchart; what other people said is drawn dashed."""
    yield "flowchart LR"
    yield "  classDef external stroke-dasharray: 5 5"
    for node in nodes:
        mark = ":::external" if node.origin == "external" else ""
        yield f'  {_short(node)}["{_mermaid(f"{node.name} ({node.type})")}"]{mark}'
    for edge in edges:
        arrow = "-.->" if edge.origin == "external" else "-->"
        label = _mermaid(f"{edge.relation} {edge.probability:.2f}")
        yield f'  {_short(edge.source)} {arrow}|"{label}"| {_short(edge.target)}'


def dot(nodes: Iterable[Node], edges: Iterable[Edge]) -> Iterator[str]:
    """Yield a graph in the language of Graphviz."""
    yield "digraph memory {"
    yield "  rankdir=LR;"
    yield "  node [shape=box];"
    for node in nodes:
        yield f"  {_dot(node.id)} [{_attributes(_of_node(node), node.origin)}];"
    for edge in edges:
        ends = f"{_dot(edge.source.id)} -> {_dot(edge.target.id)}"
        yield f"  {ends} [{_attributes(_of_edge(edge), edge.origin)}];"
    yield "}"


def graphml(nodes: Iterable[Node], edges: Iterable[Edge]) -> Iterator[str]:
    """Yield GraphML."""
    yield '<?xml version="1.0" encoding="UTF-8"?>'
    yield '<graphml xmlns="http://graphml.graphdrawing.org/xmlns">'
    for kind, names in (("node", _NODE), ("edge", _EDGE)):
        for name in names:
            type_ = "double" if name == "probability" else "string"
            yield f'  <key id="{kind}-{name}" for="{kind}" attr.name="{name}" attr.type="{type_}"/>'
    yield '  <graph id="memory" edgedefault="directed">'
    for node in nodes:
        yield f"    <node id={quoteattr(node.id)}>{_data('node', _of_node(node))}</node>"
    for edge in edges:
        ends = f"source={quoteattr(edge.source.id)} target={quoteattr(edge.target.id)}"
        yield f"    <edge {ends}>{_data('edge', _of_edge(edge))}</edge>"
    yield "  </graph>"
    yield "</graphml>"


def as_json(nodes: Iterable[Node], edges: Iterable[Edge]) -> Iterator[str]:
    """Yield one JSON object of nodes and edges, as node-link readers take it."""
    yield '{"directed": true, "multigraph": true, "graph": {}, "nodes": ['
    yield from _listed({"id": node.id, **_of_node(node), "aliases": list(node.aliases)} for node in nodes)
    yield '], "edges": ['
    yield from _listed(
        {"source": edge.source.id, "target": edge.target.id, "key": edge.relation}
        | {name: value or None for name, value in _of_edge(edge).items()}
        | {"probability": edge.probability, "evidence": list(edge.evidence)}
        for edge in edges
    )
    yield "]}"


def as_csv(nodes: Iterable[Node], edges: Iterable[Edge]) -> Iterator[str]:
    """Yield one table of nodes and edges; spreadsheets are kept from taking a name for a formula by an apostrophe."""
    columns = list(dict.fromkeys(("row", "id", "source", "target", *_NODE, *_EDGE)))
    yield _row(columns)
    for node in nodes:
        values = {"row": "node", "id": node.id, **_of_node(node)}
        yield _row([values.get(name, "") for name in columns])
    for edge in edges:
        values = {"row": "edge", "source": edge.source.id, "target": edge.target.id, **_of_edge(edge)}
        yield _row([values.get(name, "") for name in columns])


FORMATS: Mapping[str, Drawing] = {
    "mermaid": mermaid, "dot": dot, "graphml": graphml, "json": as_json, "csv": as_csv
}  # fmt: skip


def _of_node(node: Node) -> dict[str, str]:
    return {name: _clean(getattr(node, name)) for name in _NODE}


def _of_edge(edge: Edge) -> dict[str, str]:
    values: dict[str, Any] = {name: getattr(edge, name) for name in _EDGE}
    values |= {name: iso(at) if (at := values[name]) else "" for name in ("known_since", "valid_from", "valid_until")}
    values |= {"probability": f"{edge.probability:.4g}", "evidence": " ".join(edge.evidence)}
    return {name: _clean(value) for name, value in values.items()}


def _clean(text: str) -> str:
    """Return text on one line without what should stand in no file."""
    return _UNWRITTEN.sub("\ufffd", text.replace("\r", " ").replace("\n", " "))


def _short(node: Node) -> str:
    return f"n{node.id.replace('-', '')}"


def _mermaid(text: str) -> str:
    """Write every character that could mean something by its number; Mermaid knows `#34;` where HTML has `&#34;`."""
    line = " ".join(_clean(text).split())
    return _MEANING.sub(lambda found: f"#{ord(found[0])};", line)


def _dot(text: str) -> str:
    line = " ".join(_clean(text).split())
    quoted = line.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{quoted}"'


def _attributes(values: Mapping[str, str], origin: str) -> str:
    """Write attributes; the first, a name or relation, is the label."""
    drawn = {"label": next(iter(values.values()))} | ({"style": "dashed"} if origin == "external" else {})
    given = {name: value for name, value in {**values, **drawn}.items() if value and name != "name"}
    return ", ".join(f"{name}={_dot(value)}" for name, value in given.items())


def _data(kind: str, values: Mapping[str, str]) -> str:
    return "".join(f'<data key="{kind}-{name}">{escape(value)}</data>' for name, value in values.items() if value)


def _listed(entries: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    """Yield entries of a list, each but the last with its comma."""
    before: str | None = None
    for entry in entries:
        if before is not None:
            yield f"{before},"
        before = json.dumps(entry, ensure_ascii=False)
    if before is not None:
        yield before


def _row(values: Sequence[str]) -> str:
    row = io.StringIO()
    csv.writer(row).writerow([f"'{cell}" if cell.startswith(_FORMULA) else cell for cell in values])
    return row.getvalue().rstrip("\r\n")
