"""The reads: each answers with what the method of `Plane` of the same name returns, field by field."""

from __future__ import annotations

from typing import Annotated, Any
from uuid import UUID

from fastapi import APIRouter, HTTPException, Path, Query, Response
from pydantic import BaseModel

from memory_plane import types
from memory_plane.errors import Refused
from memory_plane.graphs import MOST
from memory_plane.plane import LONGEST_ID, Plane
from memory_plane.reports import Loss, Preview, Stats, Status
from memory_plane.surfaces.rest.wire import (
    ERRORS,
    FORBIDDEN,
    Answer,
    bearer,
    json_object,
    known_parameters,
    master_only,
    told,
)
from memory_plane.types import Fact, Memory, Node, OpenItem, Pulse, Recall, Review, Thought

MOST_TOLD = 500
"""How many operations one answer tells another machine at most."""

Agent = Annotated[str | None, Query(description="an agent's name", examples=["muse"])]
# Bounds are only described where the plane checks them: a hub refuses in the same words as a database.
Limit = Annotated[
    int, Query(description="how many at most", examples=[5], json_schema_extra={"minimum": 1, "maximum": MOST})
]
Time = Annotated[
    str | None, Query(description="an ISO 8601 time with its zone, or a day", examples=["2026-10-31T12:00:00Z"])
]
Words = Annotated[str | None, Query()]

_ID = "6c1d9d4e-6c1f-5f6e-9f0e-2f5b8a3c7d10"
NOT_FOUND = told(e404="there is none")


class Changed(BaseModel):
    """What this store has to tell another one, and its own id, which the other one names as `peer` when it merges."""

    operations: list[dict[str, Any]]
    derivations: list[dict[str, Any]]
    cursor: str
    more: bool
    store: str


def reads(plane: Plane) -> APIRouter:
    """Return the endpoints that read."""
    router = APIRouter(prefix="/api", tags=["read"], responses=ERRORS, dependencies=[known_parameters, bearer])
    _live(router, plane)
    _lists(router, plane)
    _judged(router, plane)
    _single(router, plane)
    _care(router, plane)
    return router


def _live(router: APIRouter, plane: Plane) -> None:
    @router.get("/pulse")
    def pulse() -> Pulse:
        """What every agent is doing, what is open, what was said last and what is new in the graph."""
        return plane.pulse()

    @router.get("/ask")
    def ask(
        question: Annotated[str, Query(description="in plain words", examples=["Who works at Acme?"])],
        as_of: Time = None,
    ) -> types.Answer:
        """Answer a question; `known` is false where the memory does not say it, `findings` are what it rests on."""
        return plane.ask(question, as_of=as_of)

    @router.get("/recall")
    def recall(
        q: Annotated[str, Query(description="the words to look for", examples=["invoice rob"])],
        agent: Agent = None,
        kind: Annotated[str | None, Query(description="a kind of thought, or fact", examples=["decision"])] = None,
        project: Words = None,
        person: Words = None,
        since: Time = None,
        until: Time = None,
        limit: Limit = 8,
        cursor: Annotated[str | None, Query(description="the cursor of the answer before")] = None,
        explain: Annotated[bool, Query(description="say what made each score")] = False,
        tokens: Annotated[int | None, Query(ge=1, description="show what was said around hits, for that many")] = None,
    ) -> Recall:
        """Search all memories; `cursor` in the answer continues after its last hit."""
        return plane.recall(
            q,
            agent=agent,
            kind=kind,
            project=project,
            person=person,
            since=since,
            until=until,
            limit=limit,
            cursor=cursor,
            explain=explain,
            tokens=tokens,
        )


def _lists(router: APIRouter, plane: Plane) -> None:
    @router.get("/items")
    def items(
        agent: Agent = None,
        to: Annotated[str | None, Query(description="the agent or person they are for")] = None,
        limit: Limit = 50,
    ) -> list[OpenItem]:
        """Open items, due ones first."""
        return plane.items(agent=agent, to=to, limit=limit)

    @router.get("/thoughts")
    def thoughts(limit: Limit = 50) -> list[Thought]:
        """The newest thoughts."""
        return plane.thoughts(limit=limit)

    @router.get("/held")
    def held(limit: Limit = 50) -> list[Memory]:
        """The newest thoughts and facts that are held back; `release` lets one be seen."""
        return plane.held(limit=limit)

    @router.get("/facts")
    def facts(
        subject: Words = None,
        key: Words = None,
        as_of: Time = None,
        known_at: Time = None,
        history: Annotated[bool, Query(description="older values too")] = False,
        limit: Limit = 200,
    ) -> list[Fact]:
        """Facts, newest first: the current ones, those that held `as_of` a time, or the whole `history`."""
        return plane.facts(subject=subject, key=key, as_of=as_of, known_at=known_at, history=history, limit=limit)


def _judged(router: APIRouter, plane: Plane) -> None:
    @router.get("/nodes")
    def nodes(
        name: Annotated[str, Query(description="a name, slug or id", examples=["node:person:rob"])],
    ) -> list[Node]:
        """The nodes that a name, a slug or an id means."""
        return plane.nodes(name)

    @router.get("/reviews")
    def reviews(limit: Limit = 20) -> list[Review]:
        """Pairs of nodes that may be one, the likeliest first; `merge` or `distinct` answers one."""
        return plane.reviews(limit=limit)

    @router.get("/preview", responses=told(e400="the body is no JSON object"))
    def preview(
        op: Annotated[str, Query(description="an operation, by its name", examples=["merge"])],
        body: Annotated[str, Query(description="its body, as JSON", examples=[f'{{"target": "{_ID}"}}'])],
    ) -> Preview:
        """What writing an operation would take away and bring, or why it would be refused; nothing is changed."""
        return plane.preview(op, json_object(body.encode()))


def _single(router: APIRouter, plane: Plane) -> None:
    @router.get("/memories/{id}", responses=NOT_FOUND)
    def memory(id: Annotated[str, Path(examples=[_ID])]) -> dict[str, Any]:
        """One operation by its id, with its `state` if it is a memory."""
        found = plane.get(id)
        if found is None:
            raise HTTPException(404, "there is no operation with this id")
        return found

    @router.get("/ids")
    def ids(
        prefix: Annotated[
            str,
            Query(description="hexadecimal digits", examples=["6c1d9d"], json_schema_extra={"maxLength": LONGEST_ID}),
        ],
    ) -> list[str]:
        """Up to 10 ids of operations that begin with `prefix`."""
        return plane.find(prefix)

    @router.get("/loss")
    def loss(
        target: Annotated[str, Query(description="the id of a thought, fact or heartbeat", examples=[_ID])],
    ) -> Loss:
        """What `forget` would take away: nothing where the id is unknown, or was forgotten already."""
        return plane.loss(target)

    @router.get("/pages/{name:path}", responses=NOT_FOUND | _PAGE, response_class=Response)
    def page(name: Annotated[str, Path(examples=["PULSE.md"])]) -> Response:
        """A page as text, rendered now: `PULSE.md`, `SHARED_MEMORY.md`, `brief/<agent>.md` or `local-cache.json`."""
        try:
            text = plane.page(name)
        except Refused as error:
            raise HTTPException(404, str(error)) from None
        kind = "application/json" if name.endswith(".json") else "text/markdown"
        return Response(text, media_type=kind)


_PAGE: dict[int | str, dict[str, Any]] = {
    200: {"content": {"text/markdown": {"schema": {"type": "string"}}, "application/json": {}}}
}


def _care(router: APIRouter, plane: Plane) -> None:
    @router.get("/status")
    def status() -> Status:
        """Where the memory is and how it fares."""
        return plane.status()

    @router.get("/stats")
    def stats() -> Stats:
        """What the memory is made of."""
        return plane.stats()

    @router.get("/changes", response_model=Changed, responses=FORBIDDEN, dependencies=[master_only])
    def changes(
        since: Annotated[str | None, Query(description="the cursor of the answer before", examples=["0.0"])] = None,
        peer: Annotated[str | None, Query(description="the id of the store that asks", examples=[_ID])] = None,
        limit: Annotated[int, Query(ge=1, le=MOST_TOLD, description="how many at most")] = MOST_TOLD,
    ) -> Answer:
        """What the store `peer` does not know since a cursor, without what came from it; for other machines."""
        found = plane.changes(since, peer=_store(peer), limit=limit)
        return Answer(
            {
                "operations": found.operations,
                "derivations": found.derivations,
                "cursor": found.cursor,
                "more": found.more,
                "store": plane.store_id,
            }
        )


def _store(peer: str | None) -> str | None:
    try:
        return None if peer is None else str(UUID(peer))
    except ValueError:
        raise Refused("peer: is no id of a store (a UUID)") from None
