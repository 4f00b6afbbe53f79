"""Counts for people: these read whole tables, so no write and no page asks for them."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Connection, Table, func, select

from memory_plane import models


def rows(connection: Connection, table: Table) -> int:
    """Return the number of rows of a table."""
    return connection.execute(select(func.count()).select_from(table)).scalar_one()


def current_facts(connection: Connection) -> int:
    """Return the number of facts that may hold now."""
    current = select(func.count()).where(models.facts.c.indexed)
    return connection.execute(current).scalar_one()


def operations_by_agent(connection: Connection) -> dict[str, int]:
    """Return how many operations each agent wrote."""
    return _counted(connection, models.operations.c.agent)


def thoughts_by_kind(connection: Connection) -> dict[str, int]:
    """Return how many thoughts there are of each kind."""
    return _counted(connection, models.thoughts.c.kind)


def nodes_by_type(connection: Connection) -> dict[str, int]:
    """Return how many nodes there are of each type."""
    return _counted(connection, models.graph_nodes.c.type)


def edges_by_relation(connection: Connection) -> dict[str, int]:
    """Return how many edges there are of each relation."""
    return _counted(connection, models.graph_edges.c.relation)


def answers_by_plugin(connection: Connection) -> dict[str, int]:
    """Return about how many memories each plugin had something to say."""
    return _counted(connection, models.derivations.c.plugin)


def _counted(connection: Connection, column: Any) -> dict[str, int]:
    found = select(column, func.count()).group_by(column).order_by(func.count().desc(), column)
    return {name: count for name, count in connection.execute(found)}
