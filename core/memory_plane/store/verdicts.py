"""What persons say of nodes: two are one (merge), two are not (distinct, split), one has a name or has it not (alias).

The last word on a pair counts. Those that are one are joined in the order in which it was said, but never so that two
come together that are not one. A change takes the memories that it touches out of the graph and folds them in again: so
each word can be taken back, and the order in which words and memories come makes no difference.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations
from typing import Any, NamedTuple

from sqlalchemy import Connection, bindparam, delete, insert, select

from memory_plane import models
from memory_plane.prepared import Prepared
from memory_plane.store import derivations, graph, identities, marks
from memory_plane.store.names import folded
from memory_plane.types import Operation

_verdicts, _same, _parted, _said = models.verdicts, models.same_nodes, models.parted_nodes, models.node_names
_mentions, _nodes, _log = models.mentions, models.graph_nodes, models.operations
_words = Prepared(
    select(_verdicts.c.one, _verdicts.c.other, _verdicts.c.same)
    .join(_log, _log.c.seq == _verdicts.c.seq)
    .order_by(models.effective(), _log.c.id, _verdicts.c.one, _verdicts.c.other)
)
_mentioning = Prepared(
    select(_mentions.c.seq)
    .join(_nodes, _nodes.c.key == _mentions.c.node)
    .where(_nodes.c.id == bindparam("id"))
    .distinct()
)
_in_graph = Prepared(
    select(_mentions.c.seq).join(_log, _log.c.seq == _mentions.c.seq).where(_log.c.id == bindparam("id")).limit(1)
)
_denying = Prepared(select(_said.c.node).where(_said.c.denied))


class Verdict(NamedTuple):
    """A word on two nodes: whether the first is the `same` as the other, which then stands for both."""

    one: str
    other: str
    same: bool


def fold(connection: Connection, seq: int, operation: Operation) -> None:
    """Bring what is known of nodes up to date with an operation; one that was taken back says nothing."""
    _settle(connection, seq, operation, holds=not marks.read(connection, operation.id).retracted)


def remove(connection: Connection, seq: int, operation: Operation) -> None:
    """Take out what an operation says of nodes."""
    _settle(connection, seq, operation, holds=False)


def all_of(connection: Connection) -> list[Verdict]:
    """Return the last word on each pair, in the order in which they were said."""
    last: dict[frozenset[str], Verdict] = {}
    for row in _words.all(connection):
        pair = frozenset((row.one, row.other))
        last.pop(pair, None)
        last[pair] = Verdict(*row)
    return list(last.values())


def foes(verdicts: Iterable[Verdict]) -> dict[str, set[str]]:
    """Return by node those that it is not."""
    found: dict[str, set[str]] = defaultdict(set)
    for one, other, same in verdicts:
        if not same:
            found[one].add(other)
            found[other].add(one)
    return found


def are_distinct(connection: Connection, apart: Mapping[str, set[str]], one: str, other: str) -> bool:
    """Whether two nodes, with all that each stands for, hold two that are not one; `apart` is what `foes` gave."""
    if not apart:
        return False
    others = set(identities.members(connection, other))
    return any(not others.isdisjoint(apart.get(id, ())) for id in identities.members(connection, one))


def joined(verdicts: Sequence[Verdict]) -> dict[str, str]:
    """Return by node the one that stands for it, for all nodes that are joined with others."""
    apart = foes(verdicts)
    sets: dict[str, set[str]] = {}
    stands: dict[str, str] = {}
    for one, other, same in verdicts:
        first, second = stands.get(one, one), stands.get(other, other)
        mine, theirs = sets.get(first, {first}), sets.get(second, {second})
        if not same or first == second or any(not theirs.isdisjoint(apart.get(id, ())) for id in mine):
            continue
        sets.pop(first, None)
        sets[second] = theirs | mine
        stands |= dict.fromkeys(sets[second], second)
    return stands


def _settle(connection: Connection, seq: int, operation: Operation, *, holds: bool) -> None:
    if operation.op == "alias":
        _settle_name(connection, seq, operation.body, holds=holds)
        return
    connection.execute(delete(_verdicts).where(_verdicts.c.seq == seq))
    if holds:
        rows = [{"seq": seq, **verdict._asdict()} for verdict in _verdicts_of(operation)]
        connection.execute(insert(_verdicts), rows)
    memories = operation.body["memories"] if operation.op == "split" else []
    partings = [
        {"seq": seq, "memory": id, "node": operation.body["node"], "founded": identities.founded_by(operation.id)}
        for id in dict.fromkeys(memories)
    ]
    _refold(connection, seq, joined(all_of(connection)), memories, partings if holds else [])


def _verdicts_of(operation: Operation) -> list[Verdict]:
    body = operation.body
    match operation.op:
        case "merge":
            return [Verdict(body["node"], body["into"], same=True)]
        case "split":
            pairs = [(identities.founded_by(operation.id), body["node"])]
        case _:
            pairs = list(combinations(sorted(body["nodes"]), 2))
    return [Verdict(one, other, same=False) for one, other in pairs]


def _refold(
    connection: Connection, seq: int, stands: Mapping[str, str], memories: Sequence[str], partings: list[dict[str, Any]]
) -> None:
    """Have these nodes stand for others, and these memories mean another node, in place of what `seq` said before."""
    stood = {row.node: row.representative for row in connection.execute(select(_same))}
    change = _Change(stood, stands)
    rows = _rows(connection, change, memories)
    _count_names(connection, change.touched, -1)
    derivations.remove_all(connection, *rows)
    connection.execute(delete(_same).where(_same.c.node.in_(change.nodes)))
    new = [{"node": id, "representative": stands[id]} for id in sorted(change.nodes) if id in stands]
    connection.execute(delete(_parted).where(_parted.c.seq == seq))
    for table, values in ((_same, new), (_parted, partings)):
        if values:
            connection.execute(insert(table), values)
    _count_names(connection, change.touched, 1)
    for row in rows:
        derivations.apply_all(connection, row)


class _Change:
    """The nodes for which another one stands from now on, and all that stood for them or will."""

    def __init__(self, stood: Mapping[str, str], stands: Mapping[str, str]) -> None:
        self._stands = (stood, stands)
        self.nodes = {id for id in stood.keys() | stands.keys() if stood.get(id) != stands.get(id)}
        self.left = {stood.get(id, id) for id in self.nodes if stood.get(id, id) != stands.get(id, id)}
        self.touched = self.left | {stands.get(id, id) for id in self.nodes}

    def touches(self, id: str) -> bool:
        """Whether a node is among those that are one with a touched one, before or after."""
        return any(stands.get(id, id) in self.touched for stands in self._stands)


def _rows(connection: Connection, change: _Change, memories: Sequence[str]) -> list[int]:
    """Return the rows of the memories in the graph that the change concerns, beside those that are given."""
    nodes, concerned = change.left, list(memories)
    if change.nodes:
        if any(change.touches(row.node) for row in _denying.all(connection)):
            nodes = change.touched
        parted = connection.execute(select(_parted.c.memory, _parted.c.node))
        concerned += [row.memory for row in parted if change.touches(row.node)]
    rows = {row.seq for id in nodes for row in _mentioning.all(connection, id=id)}
    return sorted(rows | {row.seq for id in concerned for row in _in_graph.all(connection, id=id)})


def _settle_name(connection: Connection, seq: int, body: Mapping[str, Any], *, holds: bool) -> None:
    """Give a node a name or deny it; what memories call it need only be counted anew where a name was denied."""
    node, name = identities.representative(connection, body["node"]), folded(body["name"])
    before = identities.names(connection, node).get(name)
    _count_names(connection, {node}, -1)
    connection.execute(delete(_said).where(_said.c.seq == seq))
    if holds:
        row = {"seq": seq, "node": body["node"], "name": name, "denied": body.get("remove", False)}
        connection.execute(insert(_said), row)
    denied = [said for said in (before, identities.names(connection, node).get(name)) if said is False]
    if len(denied) != 1:  # both or neither
        _count_names(connection, {node}, 1)
        return
    rows = sorted(row.seq for row in _mentioning.all(connection, id=node))
    derivations.remove_all(connection, *rows)
    for row in rows:
        derivations.apply_all(connection, row)


def _count_names(connection: Connection, nodes: Iterable[str], step: int) -> None:
    """Count the names that were given to these nodes, or count them no longer."""
    for id in nodes:
        key = graph.key_of(connection, id)
        if key is not None:
            graph.count_given(connection, key, id, step)
