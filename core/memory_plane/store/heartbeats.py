"""One row an agent: its newest heartbeat, and when it last wrote."""

from __future__ import annotations

import json
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, bindparam, delete, select, update

from memory_plane import models
from memory_plane.operations import FORGOTTEN
from memory_plane.prepared import Prepared
from memory_plane.types import Operation

_agents = models.agent_heartbeats
_newest = Prepared(
    select(_agents.c.at, models.operations.c.id)
    .join(models.operations, models.operations.c.seq == _agents.c.seq)
    .where(_agents.c.agent == bindparam("agent"))
)


def _later(insert: Any) -> Any:
    statement = insert(_agents)
    new = statement.excluded
    return statement.on_conflict_do_update(
        index_elements=["agent"],
        set_={"written_at": new.written_at},
        where=_agents.c.written_at < new.written_at,
    )


_wrote = Prepared(_later, "agent", "written_at")


def fold(connection: Connection, seq: int, operation: Operation, at: datetime) -> None:
    """Keep the newest heartbeat by (time, id), whatever the order of arrival."""
    wrote(connection, operation.agent, at)
    known = _newest.first(connection, agent=operation.agent)
    if known is not None and (known.at, known.id) > (at, operation.id):
        return
    body = operation.body
    connection.execute(
        update(_agents)
        .where(_agents.c.agent == operation.agent)
        .values(seq=seq, focus=body["focus"], project=body.get("project"), status=body["status"], at=at)
    )


def wrote(connection: Connection, agent: str, at: datetime) -> None:
    """Note that the agent wrote at this time, if it is later than what is noted."""
    _wrote.run(connection, agent=agent, written_at=at)


def refold(connection: Connection, agent: str) -> None:
    """Find the agent's newest heartbeat and its last write in the log again; what is forgotten is neither."""
    log = models.operations
    at = models.effective()
    own = select(log.c.seq, log.c.body, at.label("at")).where(log.c.agent == agent, log.c.op != FORGOTTEN)
    newest = connection.execute(
        own.where(log.c.op == "heartbeat").order_by(at.desc(), log.c.id.desc()).limit(1)
    ).first()
    last = connection.execute(own.order_by(at.desc()).limit(1)).first()
    if last is None:
        connection.execute(delete(_agents).where(_agents.c.agent == agent))
        return
    values: dict[str, Any] = {"written_at": last.at, "seq": None, "focus": None, "project": None}
    values |= {"status": None, "at": None}
    if newest is not None:
        body = json.loads(newest.body)
        values |= {"seq": newest.seq, "focus": body["focus"], "project": body.get("project")}
        values |= {"status": body["status"], "at": newest.at}
    connection.execute(update(_agents).where(_agents.c.agent == agent).values(**values))
