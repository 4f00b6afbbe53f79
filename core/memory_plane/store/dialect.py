"""The few statements that SQL dialects spell differently."""

from __future__ import annotations

from sqlalchemy import Connection, FromClause, Table
from sqlalchemy.dialects.postgresql import Insert as PostgresInsert
from sqlalchemy.dialects.postgresql import insert as postgres_insert
from sqlalchemy.dialects.sqlite import Insert as SqliteInsert
from sqlalchemy.dialects.sqlite import insert as sqlite_insert


def insert(connection: Connection, table: FromClause) -> SqliteInsert | PostgresInsert:
    """Return an INSERT that can be given an ON CONFLICT clause."""
    assert isinstance(table, Table)
    return postgres_insert(table) if connection.dialect.name == "postgresql" else sqlite_insert(table)


def insert_new(connection: Connection, table: FromClause) -> SqliteInsert | PostgresInsert:
    """Return an INSERT that leaves rows alone that are already there."""
    return insert(connection, table).on_conflict_do_nothing()
