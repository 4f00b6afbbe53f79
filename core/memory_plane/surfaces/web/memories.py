"""One memory whole: its words, whose they are, what was found in it, what was said of it, and what can be done."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from memory_plane.operations import FORGOTTEN, NODE_OPS, SUPERSEDED_BY, TEXT_FIELD
from memory_plane.plane import Plane
from memory_plane.recall import records
from memory_plane.surfaces.web.acting import missing, shows
from memory_plane.surfaces.web.frame import Frame
from memory_plane.types import Operation

ENTRIES = 40
"""How many nodes, edges and remarks the page shows each."""
SHORTEST = 6
"""So many characters of an id are enough, if one entry alone begins with them."""
_SUPERSEDED = re.compile(SUPERSEDED_BY + r"([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})")


def memories(plane: Plane, frame: Frame) -> list[Route]:
    """Return the page."""

    def page(request: Request) -> Response:
        id = request.path_params["id"]
        record = plane.get(id)
        if record is None and len(id) >= SHORTEST and len(found := plane.find(id)) == 1:
            record = plane.get(found[0])
        if record is None:
            return missing(frame, request, f"No memory has the id {id}")
        return frame.page(request, "memories.html", **_shown(plane, record))

    return [shows(frame, "/memories/{id}", page)]


def _shown(plane: Plane, record: Mapping[str, Any]) -> dict[str, Any]:
    id, op, body, state = record["id"], record["op"], record["body"], record.get("state") or {}
    with plane.database.reading() as connection:
        remarks = records.remarks(connection, id, ENTRIES)
        found = {
            "memory": records.memories(connection, [id]).get(id),
            "nodes": records.named(connection, id, ENTRIES),
            "edges": records.supported(connection, id, ENTRIES),
        }
    apart = {"text", "kind", "origin", "project", "subject", "key", "value"} if op in TEXT_FIELD else set()
    return found | {
        "record": record,
        "at": datetime.fromisoformat(record["created_at"]),
        "body": body,
        "rest": {name: value for name, value in body.items() if name not in apart},
        "state": state,
        "remarks": remarks,
        "superseded_by": _superseded_by(remarks) if state.get("retracted") else None,
        "forgotten": op == FORGOTTEN,
        "judges": op in NODE_OPS,
        "open": op == "thought" and state.get("item") is not None,
    }


def _superseded_by(remarks: Sequence[Operation]) -> str | None:
    """Return the id of what a person or an agent put in the place of a memory."""
    reasons = (one.body.get("reason") or "" for one in remarks if one.op == "retract")
    return next((found[1] for found in map(_SUPERSEDED.match, reasons) if found), None)
