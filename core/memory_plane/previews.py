"""What an operation would change: it is written, looked at and taken back, so that it is what the write will do."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from datetime import datetime
from itertools import combinations

from sqlalchemy import Connection

from memory_plane.database import Database
from memory_plane.operations import NODE_OPS, giving_way, memory_of
from memory_plane.recall import entities, graph, reviews, state
from memory_plane.reports import Preview
from memory_plane.store import corrections, derivations, identities, log, operations, verdicts
from memory_plane.types import Edge, Node, Operation

EDGES = 500
"""How many edges are compared, the most probable ones of the nodes concerned."""


class _TakenBack(Exception):
    """Ends a transaction that was only tried."""


def preview(database: Database, operation: Operation, now: datetime) -> Preview:
    """Return what writing an operation would take away and bring, in words, or why it would be refused."""
    with database.reading() as connection:
        refusal = corrections.refusal(connection, operation)
    if refusal is not None:
        return Preview(refusal=refusal)
    before, after = Counter[str](), Counter[str]()
    with suppress(_TakenBack), database.writing(durable=False) as connection:
        rows = _folded_anew(connection, operation)
        meant, nodes = entities.meant(connection, rows), _concerned(connection, operation)
        operations.append(connection, operation, now)
        nodes += sorted({node for _, node in meant ^ entities.meant(connection, rows)} - set(nodes))
        with database.reading() as as_was:
            others = _namesakes(as_was, nodes) | _namesakes(connection, nodes)
            before.update(_lines(as_was, operation, nodes, others, now))
            after.update(_lines(connection, operation, nodes, others, now))
        raise _TakenBack
    return Preview(gone=tuple((before - after).elements()), new=tuple((after - before).elements()))


def _concerned(connection: Connection, operation: Operation) -> list[str]:
    """Return the ids of the nodes that an operation may change."""
    body = operation.body
    ids = [body[field] for field in ("node", "into") if field in body] + list(body.get("nodes", ()))
    if operation.op == "split":
        ids.append(identities.founded_by(operation.id))
    target = log.target_of(operation)
    about = log.get(connection, target) if target is not None else None
    if about is not None:
        ids += _concerned(connection, about[1])
        ids += [node.id for node in graph.nodes(connection, graph.named_in(connection, about[0])).values()]
    return list(dict.fromkeys(ids))


def _folded_anew(connection: Connection, operation: Operation) -> list[int]:
    """Return the rows of the memories in which a word on nodes, or taking one back, may change what is meant."""
    if operation.op in NODE_OPS:
        return verdicts.concerned(connection, operation)
    target = log.target_of(operation)
    about = log.get(connection, target) if target is not None else None
    if operation.op != "retract" or about is None or about[1].op not in NODE_OPS:
        return []
    return verdicts.concerned(connection, about[1], taken_back=about[0])


def _namesakes(connection: Connection, ids: Iterable[str]) -> set[str]:
    """Return the ids of the nodes whose slugs change their number with those of these nodes."""
    keys = [key for id in ids for key in graph.find(connection, id)]
    return {node.id for node in graph.nodes(connection, entities.namesakes(connection, keys)).values()}


def _lines(
    connection: Connection, operation: Operation, ids: Sequence[str], others: Iterable[str], now: datetime
) -> Iterator[str]:
    """Yield what there is to say of these nodes, and how `others` are called."""
    target = log.target_of(operation)
    gave_way = log.get(connection, giving_way(target)) if target is not None else None
    for one in (operation, *([gave_way[1]] if gave_way is not None else [])):
        yield from _memory(connection, one)
    yield from _apart(connection, operation)
    keys = [key for id in ids for key in graph.find(connection, id)]
    named = [key for id in others for key in graph.find(connection, id)]
    for key, node in graph.nodes(connection, dict.fromkeys([*keys, *named])).items():
        yield _node(node, graph.mentions(connection, key))
    for edge in graph.around(connection, keys, now, EDGES).edges:
        yield _edge(edge)


def _memory(connection: Connection, operation: Operation) -> Iterator[str]:
    """Show the memory that an operation is about as far as pages do, and what is true of its subject."""
    target = log.target_of(operation)
    found = log.get(connection, target) if target is not None else None
    memory = None if found is None else memory_of(found[1])
    if found is None or memory is None:
        return
    if derivations.visible(connection, found[0], memory):
        yield f"{memory.kind} {memory.id}: {memory.text}"
    body = found[1].body
    if memory.kind == "fact":
        for fact in state.facts(
            connection, subject=body["subject"], key=body["key"], as_of=None, history=False, limit=1
        ):
            yield f"{fact.subject} {fact.key} is {fact.value}"


def _apart(connection: Connection, operation: Operation) -> Iterator[str]:
    """Yield which of the nodes that are said not to be one, or no longer, may be one and which are none."""
    target = log.target_of(operation)
    found = log.get(connection, target) if target is not None else None
    word = operation if found is None else found[1]
    if word.op != "distinct":
        return
    ids = {identities.representative(connection, id) for id in word.body["nodes"]}
    called = {node.id: node.name for id in ids for node in graph.nodes(connection, graph.find(connection, id)).values()}
    foes = identities.Foes(connection)
    for one, other in combinations(sorted(called), 2):
        if foes.are_distinct(one, other):
            yield f"{called[one]} {one} and {called[other]} {other} are two"
    for one, other in reviews.asked(connection, called):
        yield f"{called[one]} {one} and {called[other]} {other} may be one, for review"


def _node(node: Node, mentions: int) -> str:
    called = f", also {', '.join(node.aliases)}" if node.aliases else ""
    return f"{node.slug} {node.name} ({node.type}{called}; named {mentions} times) {node.id}"


def _edge(edge: Edge) -> str:
    until = f" until {edge.valid_until:%Y-%m-%d}" if edge.valid_until else ""
    return f"{edge.source.name} {edge.relation} {edge.target.name} ({edge.probability:.2f}){until}"
