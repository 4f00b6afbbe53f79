"""Counts for people: these read whole tables, so no write and no page asks for them."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Connection, Table, func, select, union_all

from memory_plane import models
from memory_plane.recall import graph


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
    counts = _counted(connection, models.derivations.c.plugin)
    return {plugin: count for plugin, count in counts.items() if " " not in plugin}  # a space: scored anew for an agent


def nodes_by_origin(connection: Connection) -> dict[str, int]:
    """Return how many nodes are named in whose words."""
    return _counted(connection, models.graph_nodes.c.origin)


def most_linked(connection: Connection, limit: int = 10) -> dict[str, int]:
    """Return the nodes with most edges, by their slugs."""
    edges = models.graph_edges.c
    ends = union_all(select(edges.source.label("node")), select(edges.target.label("node"))).subquery()
    total = func.count()
    chosen = select(ends.c.node, total).group_by(ends.c.node).order_by(total.desc(), ends.c.node).limit(limit)
    rows = connection.execute(chosen).all()
    nodes = graph.nodes(connection, [row.node for row in rows])
    return {nodes[key].slug: count for key, count in rows}


def _counted(connection: Connection, column: Any) -> dict[str, int]:
    found = select(column, func.count()).group_by(column).order_by(func.count().desc(), column)
    return {name: count for name, count in connection.execute(found)}
