"""One box for questions and words: the answer, the nodes that are called so, and the memories that fit best."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from memory_plane.plane import Plane
from memory_plane.recall.lexical import WORD, telling
from memory_plane.surfaces.web.acting import shows
from memory_plane.surfaces.web.frame import Frame, filters_in
from memory_plane.surfaces.web.pulse import day
from memory_plane.types import KINDS, Answer, Recall

HITS, NODES = 20, 8
"""How many memories and nodes the page shows at a time."""
LONGEST = 500
"""How many characters of a query are looked for."""
FILTERS = ("agent", "kind", "project", "person", "since", "until")
REASONS = {
    "words": "the words of the query that it has, rare ones most",
    "meaning": "how near its meaning is",
    "beside": "the words of the query in it and in what was said just before and after",
    "speaker": "its writer is named",
    "linked": "it names something rare that the query names, or one of the best hits",
    "age": "what its age takes from it",
    "thread": "what stands beside it in its conversation fits well",
}
"""What each reason is that a memory ranks where it does."""
_ASKING = re.compile(
    r"(who|whom|whose|what|which|when|where|why|how|is|are|was|were|do|does|did|has|have|had|can|will)\b", re.IGNORECASE
)

Piece = tuple[str, bool]
"""A piece of a text, and whether it is a word that was looked for."""


def search(plane: Plane, frame: Frame) -> list[Route]:
    """Return the page."""

    def page(request: Request) -> Response:
        return frame.page(request, "search.html", **_shown(plane, frame, request.query_params))

    return [shows(frame, "/search", page)]


def _shown(plane: Plane, frame: Frame, given: Mapping[str, str]) -> dict[str, Any]:
    query = given.get("q", "").strip()[:LONGEST]
    filters = filters_in(given, FILTERS)
    first = bool(query) and not given.get("cursor")
    found = _found(plane, frame, query, filters, given.get("cursor")) if query else Recall(hits=())
    return {
        "q": query,
        "filters": filters,
        "answer": _answer(plane, query) if first else None,
        "nodes": plane.search(" ".join(WORD.findall(query)), limit=NODES) if first else [],
        "found": found,
        "most": max((value for hit in found.hits for value in (hit.why or {}).values()), default=1.0),
        "reasons": REASONS,
        "pieces": lambda text: list(pieces(text, query)),
        "kinds": (*KINDS, "fact"),
    }


def _found(plane: Plane, frame: Frame, query: str, filters: Mapping[str, str], cursor: str | None) -> Recall:
    days = {name: day(name, filters[name], frame.zone) for name in ("since", "until") if filters[name]}
    return plane.recall(
        query,
        agent=filters["agent"] or None,
        kind=filters["kind"] or None,
        project=filters["project"] or None,
        person=filters["person"] or None,
        limit=HITS,
        cursor=cursor or None,
        since=days.get("since"),
        until=days.get("until"),
        explain=True,
    )


def _answer(plane: Plane, query: str) -> Answer | None:
    """Return what is known of a question; None for words that ask nothing."""
    answer = plane.ask(query)
    return answer if answer.known or asks(query) else None


def asks(query: str) -> bool:
    """Tell whether a query is a question by its looks."""
    return query.endswith(("?", "？")) or (" " in query and _ASKING.match(query) is not None)


def pieces(text: str, query: str) -> Iterator[Piece]:
    """Yield a text in pieces, the words of a query apart from the rest, so that a page can mark them."""
    words = sorted(telling(WORD.findall(query)), key=len, reverse=True)
    if not words:
        yield text, False
        return
    # A short word of Latin letters stands in many others: it is looked for at the beginning of words alone.
    pattern = "|".join(rf"\b{word}" if word.isascii() else word for word in map(re.escape, words))
    for number, piece in enumerate(re.split(f"({pattern})", text, flags=re.IGNORECASE)):
        if piece:
            yield piece, number % 2 == 1
