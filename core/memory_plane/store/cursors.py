"""Where each plugin has read its source up to."""

from __future__ import annotations

from sqlalchemy import Connection, select

from memory_plane import models
from memory_plane.store.dialect import Insert, upsert

_cursors = models.cursors


def get(connection: Connection, plugin: str) -> str | None:
    """Return the plugin's cursor, None before its first poll."""
    return connection.execute(select(_cursors.c.value).where(_cursors.c.plugin == plugin)).scalar()


def put(connection: Connection, plugin: str, value: str) -> None:
    """Keep the plugin's cursor."""
    connection.execute(upsert(connection, _cursors, _newer), {"plugin": plugin, "value": value})


def _newer(statement: Insert) -> Insert:
    return statement.on_conflict_do_update(index_elements=["plugin"], set_={"value": statement.excluded.value})
