"""What a person is asked to judge: pairs that may be one, links that cannot both hold, words of others held back."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from memory_plane.plane import Plane
from memory_plane.recall import records
from memory_plane.surfaces.web.acting import Given, id_in, shows
from memory_plane.surfaces.web.frame import Frame, cookie, form
from memory_plane.types import Node, Review

PAIRS, AGAINST, VERDICTS, HELD = 20, 20, 20, 40
"""How many pairs, contradictions, verdicts and held memories the page shows at a time."""
LATER = "later"
"""The cookie that holds what was put off, until the browser is closed."""
MOST_LATER = 60


def review(plane: Plane, frame: Frame) -> list[Route]:
    """Return the page, and where a pair is put off."""

    def page(request: Request) -> Response:
        return frame.page(request, "review.html", **_shown(plane, request.query_params, _later(request)))

    async def put_off(request: Request) -> Response:
        given = await form(request)
        later = dict.fromkeys([*_later(request), _mark(given.get("one", ""), given.get("other", ""))])
        response = RedirectResponse("/review", 303)
        kept = ".".join(list(later)[-MOST_LATER:])
        response.set_cookie(cookie(request, LATER), kept, httponly=True, samesite="strict")
        return response

    return [shows(frame, "/review", page), Route("/review", put_off, methods=["POST"])]


def _shown(plane: Plane, given: Given, later: Sequence[str]) -> dict[str, Any]:
    pairs = plane.reviews(limit=PAIRS + len(later) + 1)
    against = plane.contradictions(limit=AGAINST + 1)
    held = plane.held(limit=HELD + 1)
    # Those that were put off come last, each kept in its place among the others.
    pairs.sort(key=lambda one: _mark(one.one.id, one.other.id) in later)
    with plane.database.reading() as connection:
        ids = [id for one in pairs[:PAIRS] for id in one.evidence]
        ids += [id for one in against[:AGAINST] for edge in (one.stands, one.against) for id in edge.evidence]
        said = records.memories(connection, ids)
        verdicts = records.verdicts(connection, id_in(given, "before"), VERDICTS)
    return {
        "pairs": [(one, _join(one), _mark(one.one.id, one.other.id) in later) for one in pairs[:PAIRS]],
        "more_pairs": len(pairs) > PAIRS,
        "against": against[:AGAINST],
        "more_against": len(against) > AGAINST,
        "said": said,
        "verdicts": verdicts,
        "spoken_of": records.spoken_of,
        "held": held[:HELD],
        "more_held": len(held) > HELD,
    }


def _later(request: Request) -> list[str]:
    return list(filter(None, request.cookies.get(cookie(request, LATER), "").split(".")))[-MOST_LATER:]


def _join(review: Review) -> tuple[Node, Node]:
    """Return which node is merged into which: the one without a number, or with the shorter name, stands for both."""
    into, node = sorted((review.one, review.other), key=lambda node: (len(node.slug), node.slug))
    return node, into


def _mark(one: str, other: str) -> str:
    """Return a short mark of a pair, of which a cookie can hold many."""
    return hashlib.sha256(" ".join(sorted((one, other))).encode()).hexdigest()[:10]
