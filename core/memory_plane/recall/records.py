"""One entry of the log as a person looks at it: what was said of it, what was found in it, who judged what."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Connection, and_, bindparam, exists, func, select, union

from memory_plane import models
from memory_plane.errors import Refused
from memory_plane.operations import memory_of
from memory_plane.prepared import Prepared
from memory_plane.recall import graph, open_items
from memory_plane.store import derivations, identities, log
from memory_plane.types import Edge, Found, Memory, Mention, Node, Operation

_log, _edges, _evidence = models.operations, models.graph_edges, models.graph_evidence
_said = models.verdicts, models.node_names
_remarks = Prepared(
    select(_log.c.seq).where(_log.c.target == bindparam("id")).order_by(_log.c.seq.desc()).limit(bindparam("limit"))
)
_supported = Prepared(
    select(_edges).where(
        _edges.c.source == bindparam("source"),
        _edges.c.relation == bindparam("relation"),
        _edges.c.target == bindparam("target"),
        exists().where(and_(_evidence.c.edge == _edges.c.key, _evidence.c.seq == bindparam("row"))),
    )
)
_words = union(*(select(table.c.seq).where(table.c.seq < bindparam("before")) for table in _said)).subquery()
_verdicts = Prepared(select(_words.c.seq).order_by(_words.c.seq.desc()).limit(bindparam("limit")))
_all_words = union(*(select(table.c.seq) for table in _said)).subquery()
_naming = Prepared(
    select(models.mentions.c.seq)
    .where(models.mentions.c.node == bindparam("node"))
    .distinct()
    .order_by(models.mentions.c.seq)
    .limit(bindparam("limit"))
)
_LAST = 2**62
LOOKED_AT = 100
"""How many memories are looked at for what they called a node that was merged."""


def memories(connection: Connection, ids: Iterable[str]) -> dict[str, Memory]:
    """Return thoughts and facts by their ids, without those that are not here."""
    found = {id: log.get(connection, id) for id in dict.fromkeys(ids)}
    read = {id: memory_of(one[1]) for id, one in found.items() if one is not None}
    return {id: memory for id, memory in read.items() if memory is not None}


def remarks(connection: Connection, target: str, limit: int) -> tuple[Operation, ...]:
    """Return what was said of an operation, the last first."""
    return tuple(log.at(connection, row.seq) for row in _remarks.all(connection, id=target, limit=limit))


def named(connection: Connection, id: str, limit: int) -> tuple[Node, ...]:
    """Return the nodes that a memory names, by their names."""
    found = log.get(connection, id)
    keys = graph.named_in(connection, found[0])[:limit] if found is not None else []
    return tuple(sorted(graph.nodes(connection, keys).values(), key=lambda node: (node.name.casefold(), node.id)))


def supported(connection: Connection, id: str, limit: int) -> tuple[Edge, ...]:
    """Return the edges of the graph that rest on a memory, as far as its own plugins' answers lead there."""
    found = log.get(connection, id)
    memory = None if found is None else memory_of(found[1])
    if found is None or memory is None:
        return ()
    seen = identities.seen(connection, id, derivations.read(connection, found[0], memory))
    links = {
        (link.source, link.relation, link.target)
        for one in seen
        if one.classification is not None
        for link in one.classification.links
    }
    keys = {
        node: key for source, _, target in links for node in (source, target) for key in graph.find(connection, node)
    }
    rows = [
        row
        for source, relation, target in sorted(links)[:limit]
        if source in keys and target in keys
        for row in _supported.all(connection, source=keys[source], relation=relation, target=keys[target], row=found[0])
    ]
    return graph.as_edges(connection, rows)


def found(connection: Connection, ids: Sequence[str], now: datetime, limit: int) -> Found:
    """Return what is in memories, at most so many nodes, edges and open items, in the order of the memories."""
    nodes: dict[str, Node] = {}
    edges: dict[tuple[str, str, str], Edge] = {}
    for id in ids:
        if len(nodes) < limit:
            nodes |= {node.id: node for node in named(connection, id, limit)}
        if len(edges) < limit:
            edges |= {(e.source.id, e.relation, e.target.id): e for e in supported(connection, id, limit)}
    items = open_items.among(connection, now, ids, limit)
    return Found(nodes=tuple(nodes.values())[:limit], edges=tuple(edges.values())[:limit], items=items)


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdicts:
    """What persons said of nodes, the last first; `older` is the id after which it goes on, None at the end.

    `nodes` has those that are spoken of and still there, each as what stands for it now; `names` what memories called
    those that were merged.
    """

    operations: tuple[Operation, ...]
    nodes: Mapping[str, Node]
    names: Mapping[str, str]
    total: int
    older: str | None = None


def verdicts(connection: Connection, before: str | None, limit: int) -> Verdicts:
    """Return merges, splits, names and what was said to be apart, but for what was taken back.

    Raise `Refused` for a place that nothing here has.
    """
    place = _LAST if before is None else _row(connection, before)
    rows = _verdicts.all(connection, before=place, limit=limit + 1)
    said = tuple(log.at(connection, row.seq) for row in rows[:limit])
    nodes = {id: node for one in said for id in spoken_of(one) for node in _node(connection, id)}
    merged = {one.body[field] for one in said if one.op == "merge" for field in ("node", "into")}
    return Verdicts(
        operations=said,
        nodes=nodes,
        names={id: name for id in sorted(merged) for name in _called(connection, id)},
        total=connection.execute(select(func.count()).select_from(_all_words)).scalar_one(),
        older=said[-1].id if len(rows) > limit and said else None,
    )


def spoken_of(operation: Operation) -> Sequence[str]:
    """Return the ids of the nodes that an operation is about."""
    body = operation.body
    founded = [identities.founded_by(operation.id)] if operation.op == "split" else []
    return [*(body[field] for field in ("node", "into") if field in body), *body.get("nodes", ()), *founded]


def _row(connection: Connection, id: str) -> int:
    found = log.get(connection, id)
    if found is None:
        raise Refused(f"before: nothing here has the id {id}")
    return found[0]


def _called(connection: Connection, id: str) -> Iterator[str]:
    """Yield what a memory called a node before it was merged, once, if one of those looked at tells."""
    for key in graph.find(connection, id):
        for row in _naming.all(connection, node=key, limit=LOOKED_AT):
            for mention in _meant(connection, row.seq, id):
                yield mention.text
                return


def _meant(connection: Connection, seq: int, id: str) -> Iterator[Mention]:
    """Yield the mentions in the memory of a row that were taken for a node when its plugins were asked."""
    found = log.memory(connection, seq)
    for answer in derivations.read(connection, seq, found[0]) if found is not None else ():
        if answer.classification is not None:
            yield from (one.mention for one in answer.classification.resolutions if one.node == id)


def _node(connection: Connection, id: str) -> Iterator[Node]:
    yield from graph.nodes(connection, graph.find(connection, id)).values()
