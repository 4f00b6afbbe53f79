"""The stamp of an operation whose writer's clock ran ahead: the earliest that any store gave counts everywhere."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import Connection, update

from memory_plane import models
from memory_plane.operations import NODE_OPS, memory_of
from memory_plane.store import corrections, derivations, facts, heartbeats, log, verdicts
from memory_plane.types import Operation


def lower(connection: Connection, seq: int, operation: Operation, at: datetime) -> None:
    """Have a stored operation count from an earlier time, and fold what depends on it anew.

    It reads all that the agent ever wrote; two stores that stamp the same operation are rare.
    """
    if at >= log.effective(connection, seq):
        return
    memory = memory_of(operation)
    shown = memory is not None and derivations.visible(connection, seq, memory)
    if shown:
        derivations.remove_all(connection, seq)
    if operation.op == "fact":
        facts.remove(connection, seq, operation)
    elif operation.op in NODE_OPS:
        verdicts.remove(connection, seq, operation)
    table = models.operations
    connection.execute(update(table).where(table.c.seq == seq).values(effective_at=at))
    if operation.op == "fact":
        facts.fold(connection, seq, operation, at)
    elif operation.op == "thought":
        thoughts = models.thoughts
        connection.execute(update(thoughts).where(thoughts.c.seq == seq).values(at=at))
    elif operation.op in NODE_OPS:
        verdicts.fold(connection, seq, operation)
    else:
        corrections.fold(connection, seq, operation, at)
    if shown:
        derivations.apply_all(connection, seq)
    heartbeats.refold(connection, operation.agent)
