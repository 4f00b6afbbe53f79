"""Fold the log and the derivations anew: what stands in every other table must come out as it was."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from sqlalchemy import Connection, delete

from memory_plane import models
from memory_plane.operations import FORGOTTEN, iso, memory_of, record_of
from memory_plane.store import derivations, index, log, operations

Progress = Callable[[int, int], None]

_FOLDS = (
    models.graph_evidence,
    models.graph_edges,
    models.mentions,
    models.aliases,
    models.graph_nodes,
    models.doubts,
    models.verdicts,
    models.same_nodes,
    models.kept_apart,
    models.parted_nodes,
    models.node_names,
    models.attention,
    models.items,
    models.facts,
    models.thoughts,
    models.agent_heartbeats,
)
"""Every table that is a fold, those that point to others first."""


def refold_operations(connection: Connection, progress: Progress) -> int:
    """Empty every fold and make those of the log anew; return how many operations there are."""
    for table in _FOLDS:
        connection.execute(delete(table))
    index.clear(connection)
    total, done = log.count(connection), 0
    for done, (seq, operation, effective_at) in enumerate(log.replay(connection), 1):
        operations.fold(connection, seq, operation, effective_at)
        progress(done, total)
    return done


def refold_derivations(connection: Connection, progress: Progress) -> int:
    """Fold the stored derivations of every visible memory; return how many there are."""
    total, count = log.count(connection), 0
    for done, (seq, operation, _) in enumerate(log.replay(connection), 1):
        memory = memory_of(operation)
        if memory is not None and derivations.visible(connection, seq, memory):
            count += derivations.apply_all(connection, seq)
        progress(done, total)
    return count


def export(connection: Connection) -> Iterator[dict[str, object]]:
    """Yield the whole memory as records: operations, then derivations, both in (created_at, id) order."""
    for _, operation, effective_at in log.replay(connection):
        if operation.op == FORGOTTEN:
            continue
        record = record_of(operation)
        if effective_at != operation.created_at:
            record["effective_at"] = iso(effective_at)
        yield record
    for seq, operation, _ in log.replay(connection):
        for plugin, version, rank, answer in derivations.answers(connection, seq):
            yield {"memory": operation.id, "plugin": plugin, "version": version, "rank": rank, "answer": answer}
