"""The reads of the graph: each answers with what the method of `Plane` of the same name returns."""

from __future__ import annotations

from typing import Annotated, Literal

from fastapi import APIRouter, Query
from fastapi.responses import StreamingResponse

from memory_plane.plane import Plane
from memory_plane.surfaces.rest.reads import Agent, Limit, Time
from memory_plane.surfaces.rest.wire import ERRORS, bearer, known_parameters
from memory_plane.types import Community, Contradiction, Found, Graph, Node, Trail

About = Annotated[str | None, Query(description="a name, slug or id", examples=["node:person:rob"])]
End = Annotated[str, Query(description="a name, slug or id", examples=["Rob"])]
Hops = Annotated[int, Query(description="how far around", json_schema_extra={"minimum": 1, "maximum": 10})]
Sure = Annotated[
    float | None, Query(description="how sure an edge must be", json_schema_extra={"minimum": 0, "maximum": 1})
]
_ID = "6c1d9d4e-6c1f-5f6e-9f0e-2f5b8a3c7d10"
MEDIA = {"json": "application/json", "csv": "text/csv", "graphml": "application/xml"}


def graphs(plane: Plane) -> APIRouter:
    """Return the endpoints that read the graph."""
    router = APIRouter(prefix="/api", tags=["graph"], responses=ERRORS, dependencies=[known_parameters, bearer])
    _parts(router, plane)
    _ways(router, plane)
    _drawn(router, plane)
    return router


def _parts(router: APIRouter, plane: Plane) -> None:
    @router.get("/graph")
    def graph(
        agent: Agent = None,
        min_attention: Annotated[float, Query(json_schema_extra={"minimum": 0, "maximum": 1})] = 0.0,
        about: About = None,
        hops: Hops = 1,
        min_confidence: Sure = None,
        as_of: Time = None,
        known_at: Time = None,
        limit: Limit = 40,
    ) -> Graph:
        """Edges around a node, of what an agent should care about, or the newest ones."""
        return plane.graph(
            agent=agent,
            min_attention=min_attention,
            about=about,
            hops=hops,
            min_confidence=min_confidence,
            as_of=as_of,
            known_at=known_at,
            limit=limit,
        )

    @router.get("/communities")
    def communities(min_confidence: Sure = None, as_of: Time = None, limit: Limit = 20) -> list[Community]:
        """Nodes that are linked more with each other than with the rest, the largest groups first; it takes seconds."""
        return plane.communities(min_confidence=min_confidence, as_of=as_of, limit=limit)

    @router.get("/contradictions")
    def contradictions(limit: Limit = 20) -> list[Contradiction]:
        """Links that cannot both hold though nobody said that one is over, the newest first."""
        return plane.contradictions(limit=limit)

    @router.get("/found")
    def found(
        ids: Annotated[str, Query(description="ids of memories, by commas", examples=[f"{_ID},{_ID}"])],
        limit: Limit = 40,
    ) -> Found:
        """What is in these memories: nodes, edges and open items."""
        return plane.found(ids.split(","), limit=limit)


def _ways(router: APIRouter, plane: Plane) -> None:
    @router.get("/path")
    def path(
        source: End,
        target: End,
        max_hops: Annotated[int | None, Query(json_schema_extra={"minimum": 1, "maximum": 10})] = None,
        min_confidence: Sure = None,
        as_of: Time = None,
        known_at: Time = None,
    ) -> Trail:
        """How two nodes hang together: the likeliest short way, edges taken whichever way they point."""
        return plane.path(
            source, target, max_hops=max_hops, min_confidence=min_confidence, as_of=as_of, known_at=known_at
        )

    @router.get("/search")
    def search(
        text: Annotated[str, Query(description="a name, or words of it", examples=["nexus"])],
        kind: Annotated[str | None, Query(description="a type of node", examples=["Person"])] = None,
        meaning: Annotated[bool, Query(description="also by what is said of them")] = False,
        limit: Limit = 20,
    ) -> list[Node]:
        """Nodes by their names, best first."""
        return plane.search(text, kind=kind, meaning=meaning, limit=limit)


def _drawn(router: APIRouter, plane: Plane) -> None:
    @router.get("/visualize", response_class=StreamingResponse, responses=_TEXT)
    def visualize(
        format: Annotated[Literal["mermaid", "dot", "graphml", "json", "csv"], Query()] = "mermaid",
        about: About = None,
        hops: Hops = 1,
        min_confidence: Sure = None,
        as_of: Time = None,
        known_at: Time = None,
        limit: Limit = 80,
    ) -> StreamingResponse:
        """The graph as text, streamed: all of it, or at most `limit` edges around a node."""
        lines = plane.visualize(
            format,
            about=about,
            hops=hops,
            min_confidence=min_confidence,
            as_of=as_of,
            known_at=known_at,
            limit=limit,
        )
        return StreamingResponse((f"{line}\n" for line in lines), media_type=MEDIA.get(format, "text/plain"))


_TEXT: dict[int | str, dict[str, object]] = {
    200: {"content": {kind: {"schema": {"type": "string"}} for kind in ("text/plain", *MEDIA.values())}}
}
