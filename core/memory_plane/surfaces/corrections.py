"""What agents may put right over MCP, and how their words become operations."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from memory_plane import access
from memory_plane.errors import Refused
from memory_plane.operations import FORGET
from memory_plane.store.names import folded
from memory_plane.surfaces import entries
from memory_plane.surfaces.fit import ROOM, level, shorten, size
from memory_plane.surfaces.spec import Arguments, moment

if TYPE_CHECKING:
    from memory_plane.client import Client
    from memory_plane.plane import Plane
    from memory_plane.types import Node, Receipt

CORRECTIONS = {
    "assign": "to",
    "snooze": "until",
    "pin": "",
    "unpin": "",
    "retract": "reason",
    "release": "",
    "forget": "to",
    "supersede": "to",
    "merge": "to",
    "split": "to",
    "distinct": "to",
    "alias": "to",
    "unalias": "to",
}
"""What `memory_correct` can do, and the one parameter that goes with it; without a reason a retraction is fine."""
_ABOUT_NODES = ("merge", "split", "distinct", "alias", "unalias")


def correct(plane: Plane | Client, agent: str | None, given: Arguments) -> dict[str, Any]:
    """Put right an entry, an open item or what is known of a node, or say what that would change."""
    who, action, trial = author(agent), given.pop("action"), bool(given.pop("dry_run"))
    target = given.pop("target")
    for name, value in given.items():
        if value and name != CORRECTIONS[action]:
            raise Refused(f"{name}: does not go with {action!r}")
    op, body = (
        _about_nodes(plane, action, target, given) if action in _ABOUT_NODES else _body(plane, action, target, given)
    )
    if op == FORGET:
        return _forget(plane, who, body["target"], "" if trial else given["to"])
    if trial:
        return _tried(plane, op, body)
    if op == "supersede":
        return receipt(plane.supersede(**body, agent=who))
    return receipt(plane.write(op, body, agent=who))


def _body(plane: Plane | Client, action: str, target: str, given: Arguments) -> tuple[str, dict[str, Any]]:
    id = whole_id(plane, target)
    match action:
        case "assign":
            return action, {"item": id, "to": given["to"]}
        case "snooze":
            return action, {"item": id, "until": moment("until", given["until"]) or ""}
        case "retract":
            return action, {"target": id, "reason": given["reason"] or None}
        case "supersede":
            return action, {"target": id, "text": given["to"]}
        case "pin" | "unpin":
            return "pin", {"target": id, "pinned": action == "pin"}
    return action, {"target": id}


def _about_nodes(plane: Plane | Client, action: str, target: str, given: Arguments) -> tuple[str, dict[str, Any]]:
    if not given["to"]:
        raise Refused(f"to: missing; it goes with {action!r}")
    node = _node(plane, "target", target)
    match action:
        case "merge":
            return action, {"node": node, "into": _node(plane, "to", given["to"])}
        case "distinct":
            return action, {"nodes": [node, _node(plane, "to", given["to"])]}
        case "split":
            return action, {
                "node": node,
                "memories": [whole_id(plane, id) for id in given["to"].replace(",", " ").split()],
            }
    return "alias", {"node": node, "name": given["to"], "remove": action == "unalias"}


def _forget(plane: Plane | Client, agent: str, target: str, code: str) -> dict[str, Any]:
    """Forget an entry of the agent's own, once it has seen what would go.

    An agent may be talked into anything by what it reads, and this cannot be undone: so what others wrote or answered,
    or the user said, is out of its reach, and no single call forgets.
    """
    record = plane.get(target)
    if record is None:
        raise Refused(f"target: nothing here has the id {target}")
    loss = plane.loss(target)
    others = any(one.agent != agent for one in loss.operations)  # the answer to a question goes with it
    if others or record["agent"] != agent or record["body"].get("origin", "agent") != "agent":
        raise Refused("target: is not yours; only the user forgets what others wrote or the user said: docs/forget.md")
    expected = access.code(plane.home, f"{agent} {target} {' '.join(one.id for one in loss.operations)}")
    if code == expected:
        return receipt(plane.forget(target, agent=agent))
    if code:
        raise Refused(f"to: {shorten(repr(code), 20)} is not the code that a call without it gives now")
    detail = f"nothing was forgotten yet; it cannot be undone: call again with to = {expected} if the user asked for it"
    return _tried(plane, FORGET, {"target": target}, detail)


def _tried(plane: Plane | Client, op: str, body: dict[str, Any], detail: str = "nothing was changed") -> dict[str, Any]:
    found = plane.preview(op, body)
    if found.refusal:
        raise Refused(found.refusal)
    head: dict[str, Any] = {"note": entries.NOTE, "id": "", "state": "tried", "detail": detail}
    lines = [{"text": f"{sign} {line}"} for sign, all_ in (("-", found.gone), ("+", found.new)) for line in all_]
    return {**head, "changes": level(lines, ROOM - size(head))}


def _node(plane: Plane | Client, field: str, name: str) -> str:
    """Return the id of the one node that a name, slug or id means."""
    found = plane.nodes(name)
    whole = named(found, name)
    if len(whole) == 1:
        return whole[0].id
    if not found:
        raise Refused(f"{field}: nothing is called {name!r}; memory_get_graph shows names and slugs")
    slugs = ", ".join(node.slug for node in whole[:8])
    raise Refused(
        f"{field}: {shorten(repr(name), 80)} may be {len(whole)} nodes; give the slug of one: {shorten(slugs, 400)}"
    )


def named(nodes: Sequence[Node], name: str) -> Sequence[Node]:
    """Return the nodes of this very name, else those that are called so too, else all: it is a part of their names."""
    word = folded(name)
    return (
        [node for node in nodes if folded(node.name) == word]
        or [node for node in nodes if word in node.aliases]
        or nodes
    )


def author(agent: str | None) -> str:
    """Return the agent that writes; raise `Refused` where the connection names none."""
    if agent is None:
        raise Refused("agent: this connection names no agent, so it can only read; see docs/mcp.md to name one")
    return agent


def whole_id(plane: Plane | Client, id: str) -> str:
    """Return the id that begins so, since pages show its beginning; what is no beginning of one id as it is."""
    found = plane.find(id) if 6 <= len(id.partition(".")[0]) < 36 else []
    return found[0] if len(found) == 1 else id


def receipt(receipt: Receipt) -> dict[str, Any]:
    """Show what became of a write; raise `Refused` for one that was."""
    if receipt.state == "refused":
        raise Refused(receipt.detail)
    return entries.receipt(receipt)
