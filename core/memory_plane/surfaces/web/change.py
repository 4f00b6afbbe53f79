"""One change that a person makes: what it would take away and bring is shown first, a second press writes it."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from memory_plane.errors import Refused
from memory_plane.plane import Plane
from memory_plane.recall import records
from memory_plane.reports import Preview
from memory_plane.surfaces.web.acting import Given, acts, an_id, id_in, shows
from memory_plane.surfaces.web.frame import Frame, local
from memory_plane.types import Node, Receipt
from memory_plane.writes import PERSON

LINES = 40
"""How many lines of what would go and come are shown."""
NAMES = 20
"""How many nodes of one name a person may choose from."""
CHOSEN = "memory-"
"""What the fields begin with whose names say which memories a split takes."""
WORDS = {
    "retract": ("Retract this?", "It leaves pages, search and graph, and stays in the log."),
    "supersede": ("Put other words in its place?", "The old ones are retracted; history keeps both."),
    "release": ("Release this?", "It takes part in pages, search and graph from now on."),
    "forget": ("Forget this for good?", "Its words go off the disk, and all that came of them. This cannot be undone."),
    "merge": ("Are these two one?", "Review lists it afterwards, and takes it back."),
    "distinct": ("Are these two never the same?", "Nothing joins them until somebody says otherwise."),
    "split": ("Is it somebody else in these memories?", "A new node is founded for what they name."),
    "alias": ("Give it this name?", "What is called so will be taken for it."),
    "unalias": ("Deny it this name?", "What is called so will not be taken for it."),
}
"""What each change asks, and what comes of it."""


def change(plane: Plane, frame: Frame) -> list[Route]:
    """Return the page that asks once more, and where all changes go."""

    def page(request: Request) -> Response:
        return frame.page(request, "change.html", **_shown(plane, request.query_params))

    return [shows(frame, "/change", page), acts(frame, "/change", partial(_write, plane))]


def _shown(plane: Plane, given: Given) -> dict[str, Any]:
    do = given.get("do", "")
    if do not in WORDS:
        raise Refused(f"do: {do!r} is unknown; give {', '.join(WORDS)}")
    fields, choice = _named(plane, dict(given))
    target = id_in(fields, "target")
    loss = plane.loss(target) if do == "forget" and target else None
    if do == "forget" and not (loss and loss.operations):
        raise Refused(f"target: nothing here with the id {target} can be forgotten")
    with plane.database.reading() as connection:
        chosen = records.memories(connection, [*([target] if target else ()), *_memories(fields)[:LINES]])
    return {
        "words": WORDS[do],
        "fields": fields,
        "back": local(fields.get("back", "/")),
        "choice": choice,
        "nodes": [node for name in ("node", "into") if fields.get(name) for node in plane.nodes(fields[name])[:1]],
        "memories": list(chosen.values()),
        "preview": Preview() if choice or do == "forget" else _preview(plane, fields),
        "loss": loss,
        "lines": LINES,
    }


def _named(plane: Plane, given: dict[str, str]) -> tuple[dict[str, str], list[Node]]:
    """Return what was given with the node that is called as a person wrote; or those of which one must be chosen."""
    name = given.pop("with", "")
    if not name or given.get("node"):
        return given, []
    found = [node for node in plane.nodes(name) if node.id != given.get("into")]
    if not found:
        raise Refused(f"nothing else in the graph is called {name!r}; look for it in Search")
    return (given | {"node": found[0].id}, []) if len(found) == 1 else (given, found[:NAMES])


def _preview(plane: Plane, given: Given) -> Preview:
    if given["do"] == "supersede":
        given = {"do": "retract", "target": given.get("target", "")}
    return plane.preview(*_operation(given))


def _write(plane: Plane, given: Given) -> Receipt:
    if given.get("do") == "supersede":
        return plane.supersede(id_in(given, "target") or "", given.get("text", ""), agent=PERSON)
    return plane.write(*_operation(given), agent=PERSON)


def _operation(given: Given) -> tuple[str, Mapping[str, Any]]:
    """Return the operation that a form asks for, and its body; raise `Refused` for one that no form has."""
    target, node, into = (given.get(name, "") for name in ("target", "node", "into"))
    match given.get("do"):
        case "pin" | "unpin" as word:
            return "pin", {"target": target, "pinned": word == "pin"}
        case "retract":
            return "retract", {"target": target, "reason": given.get("reason") or None}
        case "release" | "forget" as word:
            return word, {"target": target}
        case "merge":
            return "merge", {"node": node, "into": into}
        case "distinct":
            return "distinct", {"nodes": [node, into]}
        case "split":
            return "split", {"node": node, "memories": _memories(given)}
        case "alias" | "unalias" as word:
            return "alias", {"node": node, "name": given.get("name", ""), "remove": word == "unalias"}
        case "fact":
            said = {name: given.get(name, "") for name in ("subject", "key", "value")}
            return "fact", {**said, "origin": "user"}
        case other:
            raise Refused(f"do: {other!r} is unknown")


def _memories(given: Given) -> list[str]:
    return [an_id("memories", name.removeprefix(CHOSEN)) for name in given if name.startswith(CHOSEN)]
