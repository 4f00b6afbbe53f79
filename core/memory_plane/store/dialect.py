"""Statements that SQL dialects spell differently, each built once for a dialect: building costs more than running."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

from sqlalchemy import Connection, Table
from sqlalchemy.dialects.sqlite import Insert
from sqlalchemy.dialects.sqlite import insert as sqlite_insert

__all__ = ["Insert", "insert_new", "upsert"]

Change = Callable[[Insert], Insert]


def insert_new(connection: Connection, table: Table) -> Insert:
    """Return an INSERT that leaves rows alone that are already there."""
    return upsert(connection, table, _leave)


def upsert(connection: Connection, table: Table, change: Change) -> Insert:
    """Return the INSERT that `change`, a module-level function, gives its ON CONFLICT clause."""
    return _built(connection.dialect.name, table, change)


def _leave(statement: Insert) -> Insert:
    return statement.on_conflict_do_nothing()


@cache
def _built(dialect: str, table: Table, change: Change) -> Insert:
    if dialect == "postgresql":  # its class differs in name, not in what is used of it here
        from sqlalchemy.dialects.postgresql import insert as postgres_insert

        return change(postgres_insert(table))  # type: ignore[arg-type]
    return change(sqlite_insert(table))
