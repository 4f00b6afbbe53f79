"""People, projects and things: which there are, and all that is known of one."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from itertools import islice
from typing import TYPE_CHECKING, Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from memory_plane.plane import Plane
from memory_plane.recall import directory, graph, ledger, open_items, stream
from memory_plane.store.names import folded
from memory_plane.surfaces.web.acting import id_in, missing, place_in, placed, shows
from memory_plane.surfaces.web.frame import Frame
from memory_plane.types import Edge, Fact, Node
from memory_plane.vocabulary.catalogue import types

if TYPE_CHECKING:
    from sqlalchemy import Connection

ENTRIES, MENTIONS = 40, 20
"""How many nodes, edges, items and facts, and how many memories the pages show at a time."""
NAMES = 8
"""By how many of its names facts and items of a node are looked for."""


def nodes(plane: Plane, frame: Frame) -> list[Route]:
    """Return the list of nodes, and the page of each."""

    def listed(request: Request) -> Response:
        # A browser takes a name such as `..` out of a path, but leaves it in a query.
        if "name" in request.query_params:
            return called(request, request.query_params["name"])
        return frame.page(request, "nodes.html", **_listed(plane, request.query_params))

    def page(request: Request) -> Response:
        return called(request, request.path_params["name"])

    def called(request: Request, name: str) -> Response:
        found = plane.nodes(name)
        if not found:
            return missing(frame, request, f"Nothing in the graph is called {name}")
        if len(found) > 1:
            return frame.page(request, "nodes.html", **_those(found[:ENTRIES]))
        return frame.page(request, "node.html", **_shown(plane, found[0], request.query_params))

    return [shows(frame, "/nodes", listed), shows(frame, "/nodes/{name:path}", page)]


def _listed(plane: Plane, given: Mapping[str, str]) -> dict[str, Any]:
    kind, order = given.get("type", ""), given.get("order") or "linked"
    with plane.database.reading() as connection:
        if order == "newest":
            found = directory.newest(connection, kind or None, id_in(given, "before"), ENTRIES)
        else:
            found = directory.most_linked(connection, kind or None, ENTRIES)
    return _those(found.nodes) | {"kind": kind, "order": order, "links": found.links, "older": found.older}


def _those(found: Sequence[Node]) -> dict[str, Any]:
    return {"nodes": found, "kind": "", "order": "", "links": (), "older": None, "types": types()}


def _shown(plane: Plane, node: Node, given: Mapping[str, str]) -> dict[str, Any]:
    now = datetime.now(UTC)
    names = list(islice(dict.fromkeys(map(folded, (node.name, *node.aliases))), NAMES))
    with plane.database.reading() as connection:
        keys = graph.find(connection, node.id)
        edges = directory.edges_of(connection, keys[0], now, ENTRIES + 1)
        said = stream.page(connection, stream.Wanted(about=node.id, before=place_in(given)), MENTIONS)
        return {
            "node": node,
            "total": graph.mentions(connection, keys[0]),
            "relations": _by_relation(edges[:ENTRIES], node),
            "more_edges": len(edges) > ENTRIES,
            "ended": directory.ended_of(connection, keys[0], now, MENTIONS),
            "items": open_items.concerning(connection, now, names, ENTRIES),
            "facts": _facts(connection, names),
            "said": said.thoughts,
            "older": placed(said.older),
            "splitting": given.get("split") == "yes",
        }


def _by_relation(edges: Sequence[Edge], node: Node) -> dict[tuple[str, bool], list[Edge]]:
    """Return edges by their relation and whether they lead away from the node."""
    found: dict[tuple[str, bool], list[Edge]] = defaultdict(list)
    for edge in edges:
        found[edge.relation, edge.source.id == node.id].append(edge)
    return dict(found)


def _facts(connection: Connection, names: Sequence[str]) -> list[Fact]:
    found = (fact for name in names for fact in ledger.of_subject(connection, name, ENTRIES).facts)
    return list(islice(found, ENTRIES))
