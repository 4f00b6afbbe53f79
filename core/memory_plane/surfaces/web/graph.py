"""The graph as a person looks at it: a part first, more on demand, ways between nodes, and what is seen as a file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, tzinfo
from typing import TYPE_CHECKING, Any
from uuid import UUID

from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from memory_plane.ask.wording import chain
from memory_plane.drawings import FORMATS
from memory_plane.errors import Refused
from memory_plane.operations import iso
from memory_plane.plane import Plane
from memory_plane.recall import graph as nodes_of
from memory_plane.recall import neighbourhood
from memory_plane.recall.holding import Then
from memory_plane.recall.neighbourhood import Neighbourhood, Part, Wanted
from memory_plane.surfaces.web.frame import LONGEST, Frame, filters_in, form
from memory_plane.surfaces.web.pulse import day
from memory_plane.types import Edge, Node, Trail
from memory_plane.vocabulary import catalogue

if TYPE_CHECKING:
    from sqlalchemy import Connection

FIRST, STEP, MOST = 80, 30, 300
"""How many nodes are shown first, how many more at a time, and how many at most."""
FILTERS = ("about", "type", "relation", "agent", "least", "as_of", "from", "to")
FILES = {"mermaid": ("graph.mmd", "text/plain"), "json": ("graph.json", "application/json")}
"""What the server writes of what is seen."""
TYPES = ("Commitment", *catalogue.types())


def graph(plane: Plane, frame: Frame) -> list[Route]:
    """Return the page, what it draws as data, and what is seen as a file."""

    def page(request: Request) -> Response:
        given, wrong = _given(request), ""
        try:
            seen = _looked(plane, given, frame.zone)
        except Refused as error:
            wrong, seen = str(error), Seen(part=Part(nodes=(), edges=()))
        choices: dict[str, Any] = {"types": TYPES, "relations": sorted(catalogue.relations())}
        return frame.page(request, "graph.html", seen=seen, filters=given, wrong=wrong, **choices)

    async def data(request: Request) -> Response:
        given = _given(request) if request.method == "GET" else await form(request)
        try:
            seen = await run_in_threadpool(_looked, plane, given, frame.zone)
        except Refused as error:
            return JSONResponse({"error": str(error)}, 422)
        return JSONResponse(seen.data())

    async def file(request: Request) -> Response:
        given = await form(request)
        name, media_type = FILES.get(given.get("format", ""), (None, None))
        if name is None:
            raise HTTPException(404, "there is no such file")
        try:
            seen = await run_in_threadpool(_looked, plane, given, frame.zone)
        except Refused as error:
            return frame.page(request, "refused.html", status=422, reason=str(error), back="/graph")
        text = "\n".join(FORMATS[given["format"]](seen.part.nodes, seen.part.edges)) + "\n"
        return Response(text, media_type=media_type, headers={"content-disposition": f'attachment; filename="{name}"'})

    return [
        Route("/graph", page),
        Route("/graph/data", data, methods=["GET", "POST"]),
        Route("/graph/file", file, methods=["POST"]),
    ]


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """What is seen: a part of the graph, and the way in it that was asked for."""

    part: Part
    trail: Trail | None = None

    @property
    def sentence(self) -> str:
        """Say how the two ends of the way hang together."""
        if self.trail is None:
            return ""
        if not self.trail.edges:
            more = "" if self.trail.complete else ", as far as was looked"
            return f"Nothing links the two{more}." if not self.trail.nodes else "Both are the same."
        return chain(self.trail.edges, self.trail.nodes[0].id)

    def edges_of(self, node: Node) -> list[Edge]:
        """Return the edges that begin at a node."""
        return [edge for edge in self.part.edges if edge.source.id == node.id]

    def data(self) -> dict[str, Any]:
        """Return it as JSON takes it."""
        hidden, uncounted = self.part.hidden, self.part.uncounted
        return {
            "nodes": [
                {**_of_node(node), "hidden": hidden.get(node.id, 0), "uncounted": node.id in uncounted}
                for node in self.part.nodes
            ],
            "edges": [_of_edge(edge) for edge in self.part.edges],
            "trail": self._trail(),
        }

    def _trail(self) -> dict[str, Any] | None:
        if self.trail is None:
            return None
        ids = [node.id for node in self.trail.nodes]
        edges = [_of_edge(edge) for edge in self.trail.edges]
        return {"text": self.sentence, "nodes": ids, "edges": edges, "probability": self.trail.probability}


def _given(request: Request) -> dict[str, str]:
    """Return the filters of an address; the types that are wanted as one text."""
    given = filters_in(request.query_params, FILTERS)
    return given | {"type": ",".join(request.query_params.getlist("type"))[:LONGEST]}


def _looked(plane: Plane, given: Mapping[str, str], zone: tzinfo | None) -> Seen:
    """Return what is to be seen: of nodes that are shown already those and more, or what there is to begin with."""
    wanted = _wanted(given, zone)
    trail = _trail(plane, given, wanted)
    with plane.database.reading() as connection:
        read = Neighbourhood(connection, wanted)
        along = _along(trail)
        # What is shown stays in its place, or who is at a node by keyboard would lose it.
        shown = neighbourhood.rows(connection, [*_ids(given.get("nodes", ""))[: MOST - len(along)], *along])
        if "nodes" not in given:
            shown = _begun(connection, read, shown, given.get("about", ""))
        for node in neighbourhood.rows(connection, _ids(given.get("open", ""))):
            shown = read.opened(shown, node, min(STEP, MOST - len(shown)))
        return Seen(part=read.part(shown), trail=trail)


def _begun(connection: Connection, read: Neighbourhood, trail: Sequence[int], about: str) -> list[int]:
    """Return the nodes to begin with: on and around a way, around a node, or of what is newest."""
    seeds = list(trail) or (nodes_of.find(connection, about) if about else read.newest())
    if about and not seeds:
        raise Refused(f"about: nothing in the graph is called {about!r}")
    return [*trail, *(node for node in read.around(seeds, FIRST) if node not in trail)][:FIRST]


def _trail(plane: Plane, given: Mapping[str, str], wanted: Wanted) -> Trail | None:
    ends = given.get("from", ""), given.get("to", "")
    if not all(ends):
        return None
    return plane.path(*ends, min_confidence=wanted.least, as_of=wanted.then.at)


def _along(trail: Trail | None) -> list[str]:
    return [node.id for node in trail.nodes] if trail is not None else []


def _wanted(given: Mapping[str, str], zone: tzinfo | None) -> Wanted:
    now, as_of = datetime.now(UTC), given.get("as_of", "")
    at = min(day("until", as_of, zone), now) if as_of else now
    return Wanted(
        then=Then.of(at),
        least=_probability(given.get("least", "")),
        relation=given.get("relation") or None,
        agent=given.get("agent") or None,
        types=tuple(filter(None, given.get("type", "").split(","))),
    )


def _probability(text: str) -> float:
    try:
        least = float(text or 0)
    except ValueError:
        least = -1.0
    if not 0 <= least <= 1:
        raise Refused(f"least: {text!r} is no probability; give 0 to 1")
    return least


def _ids(text: str) -> list[str]:
    """Return the ids of a list; what is none means no node."""
    found = []
    for word in text.split():
        try:
            found.append(str(UUID(word)))
        except ValueError:
            continue
    return found


def _of_node(node: Node) -> dict[str, Any]:
    names = ("id", "name", "type", "slug", "origin", "aliases")
    return {name: getattr(node, name) for name in names}


def _of_edge(edge: Edge) -> dict[str, Any]:
    ends = {"source": edge.source.id, "target": edge.target.id}
    plain = {name: getattr(edge, name) for name in ("relation", "method", "origin", "probability", "evidence")}
    times = {name: iso(at) if (at := getattr(edge, name)) else None for name in ("valid_from", "valid_until")}
    return {"id": f"{edge.source.id} {edge.relation} {edge.target.id}", **ends, **plain, **times}
