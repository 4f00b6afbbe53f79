"""Forgetting: an operation loses its text and all that came of it; a row without content keeps its place in the log.

Whatever comes first, the operation or the word to forget it, the log looks the same afterwards: neither the operation
nor anything said about it is in it any more, but the word to forget it is, and travels on.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import datetime

from sqlalchemy import Connection, bindparam, delete, func, select

from memory_plane import models
from memory_plane.operations import FORGET, FORGOTTEN, NODE_OPS
from memory_plane.prepared import Prepared
from memory_plane.reports import Loss
from memory_plane.store import derivations, facts, heartbeats, log, thoughts, verdicts
from memory_plane.types import Operation

FORGETTABLE = ("thought", "fact", "heartbeat", *NODE_OPS)

_log, _purges = models.operations, models.purges
_forgets = Prepared(select(_log.c.seq).where(_log.c.target == bindparam("id"), _log.c.op == FORGET).limit(1))
_remarks = select(_log.c.id).where(_log.c.target == bindparam("id"), _log.c.op != FORGET).order_by(_log.c.seq)
_note = Prepared(lambda insert: insert(_purges).on_conflict_do_nothing(), "target")
_PARTS = (models.items, models.attention, models.derivations, models.enrichment, models.vectors)


def is_due(connection: Connection, operation: Operation) -> bool:
    """Whether an operation was forgotten before it came, or is about one that was."""
    if operation.op in FORGETTABLE:
        return _forgets.first(connection, id=operation.id) is not None
    target = log.target_of(operation)
    return operation.op != FORGET and target is not None and _forgets.first(connection, id=target) is not None


def tombstone(operation: Operation) -> Operation:
    """Return what the log keeps of a forgotten operation: who and when, so that its id is known and its row stays."""
    return Operation(id=operation.id, op=FORGOTTEN, agent=operation.agent, created_at=operation.created_at, body={})


def fold(connection: Connection, seq: int, operation: Operation, at: datetime) -> None:
    """Take away what the operation says to forget, as far as it is here; `is_due` keeps out what comes later."""
    target = log.target_of(operation)
    assert target is not None
    gone = list(_of(connection, target))
    for row, one in gone:
        _bury(connection, row, one)
    for agent in dict.fromkeys(one.agent for _, one in gone):
        heartbeats.refold(connection, agent)
    if gone:
        _note.run(connection, target=target)


def loss(connection: Connection, target: str) -> Loss:
    """Return what would go if the operation with this id were forgotten."""
    gone = list(_of(connection, target))
    rows = [row for row, _ in gone]
    mentions, evidence = models.mentions, models.graph_evidence
    named = select(mentions.c.node).where(mentions.c.seq.in_(rows))
    elsewhere = select(mentions.c.node).where(mentions.c.node.in_(named), mentions.c.seq.not_in(rows))
    said = select(evidence.c.edge).where(evidence.c.seq.in_(rows))
    by_others = select(evidence.c.edge).where(evidence.c.edge.in_(said), evidence.c.seq.not_in(rows))
    nodes = select(func.count(mentions.c.node.distinct())).where(
        mentions.c.seq.in_(rows), mentions.c.node.not_in(elsewhere)
    )
    edges = select(func.count(evidence.c.edge.distinct())).where(
        evidence.c.seq.in_(rows), evidence.c.edge.not_in(by_others)
    )
    return Loss(
        operations=tuple(one for _, one in gone),
        derivations=sum(1 for row in rows for _ in derivations.answers(connection, row)),
        nodes=connection.execute(nodes).scalar_one(),
        edges=connection.execute(edges).scalar_one(),
    )


def waiting(connection: Connection) -> list[str]:
    """Return the ids of what was forgotten and may still stand in a file."""
    return list(connection.execute(select(_purges.c.target)).scalars())


def purged(connection: Connection, targets: Iterable[str]) -> None:
    """Note that nothing of these is left in any file."""
    connection.execute(delete(_purges).where(_purges.c.target.in_(list(targets))))


def _of(connection: Connection, target: str) -> Iterator[tuple[int, Operation]]:
    """Yield the operation with this id, if it can be forgotten, and all that was said about it, if they are here."""
    for id in (target, *connection.execute(_remarks, {"id": target}).scalars()):
        found = log.get(connection, id)
        if found is not None and (id != target or found[1].op in FORGETTABLE):
            yield found


def _bury(connection: Connection, seq: int, operation: Operation) -> None:
    if operation.op == "thought":
        thoughts.remove(connection, seq, operation)
    elif operation.op == "fact":
        facts.remove(connection, seq, operation)
    elif operation.op in NODE_OPS:
        verdicts.remove(connection, seq, operation)
    for table in _PARTS:
        connection.execute(delete(table).where(table.c.seq == seq))
    log.empty(connection, seq, tombstone(operation))
