"""Append an operation with its fold in one transaction."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import Connection

from memory_plane.operations import FORGET, FORGOTTEN, NODE_OPS
from memory_plane.store import corrections, facts, forgetting, heartbeats, log, stamps, thoughts, verdicts
from memory_plane.store.feed import NOTHING, Delivery
from memory_plane.types import Operation

AHEAD = timedelta(minutes=5)
"""How far a writer's clock may run ahead of the store's before its operations count from the store's time."""

Fold = Callable[[Connection, int, Operation, datetime], None]


def _fold_word(connection: Connection, seq: int, operation: Operation, at: datetime) -> None:
    verdicts.fold(connection, seq, operation)


_FOLDS: dict[str, Fold] = {
    "thought": thoughts.fold,
    "fact": facts.fold,
    "heartbeat": heartbeats.fold,
    "resolve": corrections.fold,
    "assign": corrections.fold,
    "snooze": corrections.fold,
    "pin": corrections.fold,
    "retract": corrections.fold,
    "release": corrections.fold,
    **dict.fromkeys(NODE_OPS, _fold_word),
    FORGET: forgetting.fold,
}


@dataclass(frozen=True, slots=True)
class Appended:
    """What became of an operation: its row, the time it counts from, whether it is `new`, whether its id held other
    content (`clash`), whether its clock was `ahead`, and whether it is not kept since it was `forgotten`.
    """

    seq: int
    at: datetime
    new: bool
    clash: bool = False
    ahead: bool = False
    forgotten: bool = False


def append(connection: Connection, operation: Operation, now: datetime, delivery: Delivery = NOTHING) -> Appended:
    """Insert the operation unless its id is there, and fold it. The caller's transaction makes both one step.

    Only the store that takes it first stamps it; of two stamps the earlier one counts.
    """
    stamp = delivery.stamps.get(operation.id)
    ahead = delivery.peer is None and stamp is None and operation.created_at > now + AHEAD
    effective_at = stamp or (now if ahead else operation.created_at)
    due = forgetting.is_due(connection, operation)
    kept = forgetting.tombstone(operation) if due else operation
    seq = log.insert(connection, kept, effective_at, delivery.peer)
    if seq is None:
        known = log.get(connection, operation.id)
        assert known is not None
        if known[1].op == FORGOTTEN:
            return Appended(known[0], effective_at, new=False, forgotten=True)
        same = (known[1].op, known[1].agent, known[1].body) == (operation.op, operation.agent, operation.body)
        if same and stamp is not None:
            stamps.lower(connection, *known, stamp)
        return Appended(known[0], effective_at, new=False, clash=not same)
    if due:
        return Appended(seq, effective_at, new=False, forgotten=True)
    fold(connection, seq, operation, effective_at)
    return Appended(seq, effective_at, new=True, ahead=ahead)


def fold(connection: Connection, seq: int, operation: Operation, effective_at: datetime) -> None:
    """Bring the tables that are made of operations up to date with one of them; an unknown op changes none."""
    if operation.op == FORGOTTEN:
        return
    step = _FOLDS.get(operation.op)
    if step is not None:
        step(connection, seq, operation, effective_at)
    heartbeats.wrote(connection, operation.agent, effective_at)
