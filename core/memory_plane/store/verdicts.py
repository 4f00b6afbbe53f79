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
from memory_plane.store import apartness, derivations, graph, identities, log, marks
from memory_plane.store.names import folded
from memory_plane.types import Operation

_verdicts, _apart, _same = models.verdicts, models.kept_apart, models.same_nodes
_parted, _said = models.parted_nodes, models.node_names
_mentions, _nodes, _log = models.mentions, models.graph_nodes, models.operations
_words = Prepared(
    select(_verdicts.c.one, _verdicts.c.other, _verdicts.c.same, _verdicts.c.seq)
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
    return _last(Verdict(*row[:3]) for row in _words.all(connection))


def concerned(connection: Connection, operation: Operation, *, taken_back: int | None = None) -> list[int]:
    """Return the rows of the memories that a new word on nodes, or one that is taken back, folds anew."""
    if operation.op == "alias":
        return []
    words = [Verdict(*row[:3]) for row in _words.all(connection) if row.seq != taken_back]
    new = [] if taken_back is not None else _verdicts_of(operation)
    change = _Change(_as_folded(connection), _state(_last([*words, *new])))
    return _rows(connection, change, operation.body["memories"] if operation.op == "split" else ())


def _last(words: Iterable[Verdict]) -> list[Verdict]:
    last: dict[frozenset[str], Verdict] = {}
    for one in words:
        pair = frozenset((one.one, one.other))
        last.pop(pair, None)
        last[pair] = one
    return list(last.values())


def _foes(verdicts: Iterable[Verdict]) -> dict[str, set[str]]:
    found: dict[str, set[str]] = defaultdict(set)
    for one, other, same in verdicts:
        if not same:
            found[one].add(other)
            found[other].add(one)
    return found


def joined(verdicts: Sequence[Verdict]) -> dict[str, str]:
    """Return by node the one that stands for it, for all nodes that are joined with others."""
    apart = _foes(verdicts)
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
    _refold(connection, seq, _state(all_of(connection)), memories, partings if holds else [])


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


class _State(NamedTuple):
    """Which node stands for each that is one with others, and which of those that stand are not one, in both orders."""

    stands: Mapping[str, str]
    apart: frozenset[tuple[str, str]]

    def representative(self, id: str) -> str:
        return self.stands.get(id, id)

    def are_distinct(self, one: str, other: str) -> bool:
        return (self.representative(one), self.representative(other)) in self.apart


def _state(verdicts: Sequence[Verdict]) -> _State:
    stands = joined(verdicts)
    pairs = [(stands.get(one, one), stands.get(other, other)) for one, other, same in verdicts if not same]
    return _State(stands, frozenset(two for pair in pairs for two in (pair, pair[::-1])))


def _as_folded(connection: Connection) -> _State:
    return _State(
        {row.node: row.representative for row in connection.execute(select(_same))},
        frozenset((row.one, row.other) for row in connection.execute(select(_apart))),
    )


def _refold(
    connection: Connection, seq: int, will: _State, memories: Sequence[str], partings: list[dict[str, Any]]
) -> None:
    """Bring the graph from the words that were to those that will be, and these memories to what they mean then."""
    change = _Change(_as_folded(connection), will)
    rows = _rows(connection, change, memories)
    _count_names(connection, change.touched, -1)
    derivations.remove_all(connection, *rows)
    _put(connection, change)
    connection.execute(delete(_parted).where(_parted.c.seq == seq))
    if partings:
        connection.execute(insert(_parted), partings)
    _count_names(connection, change.touched, 1)
    for row in rows:
        derivations.apply_all(connection, row)


def _put(connection: Connection, change: _Change) -> None:
    was, will = change.was, change.will
    connection.execute(delete(_same).where(_same.c.node.in_(change.nodes)))
    same = [{"node": id, "representative": will.stands[id]} for id in sorted(change.nodes) if id in will.stands]
    for one, other in sorted(was.apart - will.apart):
        connection.execute(delete(_apart).where(_apart.c.one == one, _apart.c.other == other))
    apart = [{"one": one, "other": other} for one, other in sorted(will.apart - was.apart)]
    for table, values in ((_same, same), (_apart, apart)):
        if values:
            connection.execute(insert(table), values)


class _Change:
    """The nodes for which another one stands from now on, and all that stood for them or will."""

    def __init__(self, was: _State, will: _State) -> None:
        self.was, self.will = was, will
        ids = was.stands.keys() | will.stands.keys()
        self.nodes = {id for id in ids if was.stands.get(id) != will.stands.get(id)}
        moved = {id for id in self.nodes if was.representative(id) != will.representative(id)}
        self.left = {was.representative(id) for id in moved}
        self.touched = self.left | {will.representative(id) for id in self.nodes}

    def touches(self, id: str) -> bool:
        """Whether a node is among those that are one with a touched one, before or after."""
        return any(state.representative(id) in self.touched for state in (self.was, self.will))

    def torn(self) -> set[str]:
        """Return the nodes, as they stand, that a memory may name which means another one by what is kept apart."""
        foes = {one for one, _ in self.was.apart | self.will.apart}
        told = {one for one, _ in self.was.apart ^ self.will.apart} | (self.touched & foes)
        ids = told | self.was.stands.keys() | self.will.stands.keys()
        named = {
            self.was.representative(id)
            for id in ids
            if self.was.representative(id) in told or self.will.representative(id) in told
        }
        return named | {other for one, other in self.was.apart if one in named}


def _rows(connection: Connection, change: _Change, memories: Sequence[str]) -> list[int]:
    """Return the rows of the memories in the graph that the change concerns, beside those that are given."""
    nodes, concerned = change.left, list(memories)
    if change.nodes:
        if any(change.touches(row.node) for row in _denying.all(connection)):
            nodes = change.touched
        parted = connection.execute(select(_parted.c.memory, _parted.c.node))
        concerned += [row.memory for row in parted if change.touches(row.node)]
    rows = _naming(connection, nodes)
    rows |= {row.seq for id in concerned for row in _in_graph.all(connection, id=id)}
    torn = _naming(connection, change.torn()) - rows
    return sorted(rows | {row for row in torn if _means_another(connection, row, change)})


def _naming(connection: Connection, nodes: Iterable[str]) -> set[int]:
    return {row.seq for id in nodes for row in _mentioning.all(connection, id=id)}


def _means_another(connection: Connection, row: int, change: _Change) -> bool:
    """Whether a name in a memory means another node than before by what is kept apart."""
    found = log.memory(connection, row)
    if found is None:
        return False
    answers = list(derivations.read(connection, row, found[0]))
    was, will = (apartness.kept(found[0].id, answers, one.are_distinct) for one in (change.was, change.will))
    return was != will


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
