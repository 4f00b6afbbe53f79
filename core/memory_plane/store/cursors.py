"""Where each plugin has read its source up to."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Connection, bindparam, select

from memory_plane import models
from memory_plane.prepared import Prepared

_cursors = models.cursors
_get = Prepared(select(_cursors.c.value).where(_cursors.c.plugin == bindparam("plugin")))


@Prepared
def _put(insert: Any) -> Any:
    new = insert(_cursors)
    return new.on_conflict_do_update(index_elements=["plugin"], set_={"value": new.excluded.value})


def get(connection: Connection, plugin: str) -> str | None:
    """Return the plugin's cursor, None before its first poll."""
    found: str | None = _get.scalar(connection, plugin=plugin)
    return found


def put(connection: Connection, plugin: str, value: str) -> None:
    """Keep the plugin's cursor."""
    _put.run(connection, plugin=plugin, value=value)
