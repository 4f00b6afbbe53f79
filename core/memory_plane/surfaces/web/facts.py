"""What is true now, by subject; and every value that one of these facts ever had."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import groupby
from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from memory_plane.plane import Plane
from memory_plane.recall import graph, ledger
from memory_plane.store.names import folded
from memory_plane.surfaces.web.acting import id_in, shows
from memory_plane.surfaces.web.frame import Frame

ENTRIES = 40
"""How many facts or values the page shows at a time."""


def facts(plane: Plane, frame: Frame) -> list[Route]:
    """Return the page of all facts, which is that of one fact's history too."""

    def page(request: Request) -> Response:
        given = request.query_params
        if given.get("subject") and given.get("key"):
            return frame.page(request, "history.html", **_history(plane, given))
        return frame.page(request, "facts.html", **_current(plane, given))

    return [shows(frame, "/facts", page)]


def _current(plane: Plane, given: Mapping[str, str]) -> dict[str, Any]:
    beginning = given.get("subject", "").strip()
    after = (given["after"], given.get("after_key", "")) if given.get("after") else None
    with plane.database.reading() as connection:
        found = ledger.current(connection, beginning, after, ENTRIES)
        known = {fact.subject for fact in found.facts if graph.find(connection, fact.subject)}
    subjects = [list(group) for _, group in groupby(found.facts, key=lambda fact: folded(fact.subject))]
    return {"beginning": beginning, "subjects": subjects, "known": known, "after": found.after}


def _history(plane: Plane, given: Mapping[str, str]) -> dict[str, Any]:
    subject, key = given["subject"], given["key"]
    with plane.database.reading() as connection:
        values = ledger.history(connection, subject, key, id_in(given, "before"), ENTRIES + 1)
    now = plane.facts(subject=subject, key=key, limit=1)
    return {
        "subject": now[0].subject if now else subject,
        "key": now[0].key if now else key,
        "values": values[:ENTRIES],
        "older": values[ENTRIES - 1].fact.id if len(values) > ENTRIES else None,
        "current": now[0].id if now else None,
    }
