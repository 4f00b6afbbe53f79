"""Operations about an earlier operation: resolve, assign, snooze, pin, retract, release; and which make sense."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import Connection

from memory_plane.operations import FORGET, FORGOTTEN, NODE_OPS, giving_way
from memory_plane.store import facts, forgetting, graph, identities, items, log, marks, thoughts, verdicts
from memory_plane.types import Operation

_ABOUT_ITEMS = ("resolve", "assign", "snooze")
_FITTING = {FORGET: forgetting.FORGETTABLE, "retract": ("thought", "fact", *NODE_OPS)}


def refusal(connection: Connection, operation: Operation) -> str | None:
    """Say why an operation about another one makes no sense here, field first; None if it does or is about none."""
    if operation.op in NODE_OPS:
        return _about_nodes(connection, operation)
    target = log.target_of(operation)
    if target is None:
        return None
    field = "item" if operation.op in _ABOUT_ITEMS else "target"
    found = log.get(connection, target)
    if found is None:
        return f"{field}: nothing here has the id {target}"
    row, about = found
    if about.op == FORGOTTEN:
        return f"{field}: {target} was forgotten; nothing is left of it"
    fitting = _FITTING.get(operation.op, ("thought", "fact"))
    if about.op not in fitting:
        *others, last = (one for one in fitting if one not in NODE_OPS)
        return f"{field}: {target} is a {about.op!r} operation; give the id of a {', '.join(others)} or {last}"
    if operation.op not in _ABOUT_ITEMS:
        return None
    reason = items.refusal(connection, row, operation.body["item"])
    return None if reason is None else f"{field}: {reason}"


def _about_nodes(connection: Connection, operation: Operation) -> str | None:
    """Say why a word on nodes makes no sense here."""
    body = operation.body
    nodes = {"nodes": body["nodes"]} if operation.op == "distinct" else {"node": [body["node"]]}
    if operation.op == "merge":
        nodes["into"] = [body["into"]]
    stands = {id: identities.representative(connection, id) for ids in nodes.values() for id in ids}
    for field, ids in nodes.items():
        for id in ids:
            if graph.key_of(connection, stands[id]) is None:
                return f"{field}: no node here has the id {id}"
    for id in body.get("memories", ()):
        if not graph.names(connection, id, stands[body["node"]]):
            return f"memories: {id} does not name {body['node']}"
    if body.get("remove") and not graph.is_called(connection, stands[body["node"]], body["name"]):
        return f"name: the node is not called {body['name']!r}"
    if operation.op != "merge":
        return None
    if stands[body["node"]] == stands[body["into"]]:
        return f"node: {body['node']} is one with {body['into']} already"
    return _kept_apart(connection, body["node"], body["into"])


def _kept_apart(connection: Connection, node: str, into: str) -> str | None:
    """Say which two nodes would come together though they were said not to be one."""
    verdicts_now = [one for one in verdicts.all_of(connection) if {one.one, one.other} != {node, into}]
    joined = verdicts.joined([*verdicts_now, verdicts.Verdict(node, into, same=True)])
    if joined.get(node, node) == joined.get(into, into):
        return None
    return f"node: {node} and {into} stand for nodes that were said not to be one; retract that first"


def fold(connection: Connection, seq: int, operation: Operation, at: datetime) -> None:
    """Bring the operation that this one is about up to date; one that is not here yet will look back when it comes."""
    target = log.target_of(operation)
    if target is None:
        return
    _bring_up(connection, operation.body.get("item", target))
    if operation.op != "retract":
        return
    for _ in range(marks.LINKS):  # taken back, other words give what stood there before them its place again
        gave_way = log.get(connection, giving_way(target))
        before = log.target_of(gave_way[1]) if gave_way is not None else None
        if before is None:
            return
        _bring_up(connection, before)
        target = before


def _bring_up(connection: Connection, target: str) -> None:
    """Have a memory, one item in it, or a word on nodes, be as all that was said of it has it."""
    found = log.get(connection, target.partition(".")[0])
    if found is None:
        return
    row, about = found
    said = marks.read(connection, about.id)
    items.mark(connection, row, target)
    if about.op == "thought":
        thoughts.mark(connection, row, about, said)
    elif about.op in NODE_OPS:
        verdicts.fold(connection, row, about)
    elif about.op == "fact":
        facts.set_visible(connection, row, about, said.visible(held=about.body.get("held", False)))
