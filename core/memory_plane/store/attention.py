"""How much each agent should care about a memory: what plugins scored, and what its writer addressed."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from sqlalchemy import Connection, bindparam, delete

from memory_plane import models
from memory_plane.prepared import Prepared
from memory_plane.types import Attention, Operation

ADDRESSED = "addressed to it"
"""The reason of whom the writer named."""

_attention = models.attention
_all = delete(_attention).where(_attention.c.agent == bindparam("name"), _attention.c.seq == bindparam("row"))
_take, _take_scored = Prepared(_all), Prepared(_all.where(_attention.c.reason != ADDRESSED))


@Prepared
def _put(insert: Any) -> Any:
    statement = insert(_attention)
    new = statement.excluded
    return statement.on_conflict_do_update(
        index_elements=["agent", "seq"],
        set_={"score": new.score, "reason": new.reason},
        where=_attention.c.score < new.score,
    )


def put(connection: Connection, seq: int, scores: Iterable[Attention]) -> None:
    """Keep the highest score that was given, whatever the order."""
    rows = [{"agent": one.agent, "seq": seq, "score": one.score, "reason": one.reason} for one in scores]
    _put.run_all(connection, rows)


def take(connection: Connection, seq: int, agents: Iterable[str]) -> None:
    """Forget what these agents should care about."""
    for agent in agents:
        _take.run(connection, name=agent, row=seq)


def take_scored(connection: Connection, seq: int, agents: Iterable[str]) -> None:
    """Forget what plugins say that these agents should care about; whom the writer addressed stays addressed."""
    for agent in agents:
        _take_scored.run(connection, name=agent, row=seq)


def addressed(operation: Operation) -> tuple[Attention, ...]:
    """Return the score of whom the writer addressed: nobody else decides that."""
    to = operation.body.get("to")
    return (Attention(agent=to.lower(), score=1.0, reason=ADDRESSED),) if to else ()
