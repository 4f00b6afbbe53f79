"""Read what an app keeps of each conversation in `conversation_summaries.db`: title, workspaces, whether it runs."""

from __future__ import annotations

import logging
import sqlite3
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from memory_plane.sqlite_files import opened
from memory_plane_antigravity.places import summaries
from memory_plane_antigravity.values import moment, number, parsed, text, truth

logger = logging.getLogger(__name__)

MOST = 200
"""How many conversations are read of a database, the newest."""

_PATIENCE = 0.5
_TABLE = "conversation_summaries"
_COLUMNS = {
    "title": 300,
    "preview": 1000,
    "workspace_uris": 8000,
    "status": 100,
    "last_modified_time": 64,
    "last_user_input_time": 64,
    "last_user_input_step_index": 0,
    "not_fully_idle": 0,
    "killed": 0,
    "nesting_depth": 0,
    "parent_conversation_id": 100,
    "winning_conversation_id": 100,
}
"""What is read, with how many characters of it at most. Versions differ in what they have; all else is left alone."""
_BUSY = (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    """What the app says of a conversation.

    `preview` is the prompt that it shows, `asked` identifies it; `aside`: another conversation speaks for it, which
    started it as a helper or won over it.
    """

    id: str
    title: str = ""
    preview: str = ""
    asked: str = ""
    workspaces: tuple[str, ...] = ()
    modified: datetime | None = None
    running: bool = False
    killed: bool = False
    failed: bool = False
    aside: bool = False


def read(app: Path, id: str | None = None) -> dict[str, Summary] | None:
    """Return an app's newest conversations, or one, by id; None while the database is locked.

    Nothing, if there is no database, or one that this does not understand.
    """
    path = summaries(app)
    if path is None:
        return {}
    try:
        with opened(path, patience=_PATIENCE) as database:
            database.row_factory = sqlite3.Row
            return {one.id: one for row in _rows(database, id) if (one := _summary(dict(row))).id}
    except (sqlite3.Error, OSError) as error:
        if getattr(error, "sqlite_errorcode", 0) & 0xFF in _BUSY:
            return None
        logger.info("%s cannot be read: %s", path, error)
        return {}


def _rows(database: sqlite3.Connection, id: str | None) -> Iterator[sqlite3.Row]:
    database.text_factory = lambda raw: raw.decode("utf-8", "replace")
    known = {row["name"].lower() for row in database.execute(f"PRAGMA table_info({_TABLE})")}
    chosen = [_column(name, most) if name in known else f"NULL AS {name}" for name, most in _COLUMNS.items()]
    query = f"SELECT conversation_id, {', '.join(chosen)} FROM {_TABLE}"
    if id is not None:
        query += " WHERE conversation_id = ?"
    if "last_modified_time" in known:
        query += f" ORDER BY {_TABLE}.last_modified_time DESC"
    yield from database.execute(f"{query} LIMIT {MOST}", () if id is None else (id,))


def _column(name: str, most: int) -> str:
    short = f"CASE typeof({name}) WHEN 'text' THEN substr({name}, 1, {most}) ELSE {name} END" if most else name
    return f"{short} AS {name}"


def _summary(row: Mapping[str, Any]) -> Summary:
    id, status = text(row["conversation_id"], 100), text(row["status"]).upper()
    asked, winner = moment(row["last_user_input_time"]), text(row["winning_conversation_id"])
    return Summary(
        id=id,
        title=text(row["title"]),
        preview=text(row["preview"]),
        asked=f"{number(row['last_user_input_step_index'])}@{asked.isoformat() if asked else ''}",
        workspaces=_workspaces(text(row["workspace_uris"])),
        modified=moment(row["last_modified_time"]),
        running=truth(row["not_fully_idle"]) or "RUNNING" in status,
        killed=truth(row["killed"]),
        failed="ERROR" in status,
        aside=truth(row["nesting_depth"]) or bool(text(row["parent_conversation_id"])) or winner not in ("", id),
    )


def _workspaces(value: str) -> tuple[str, ...]:
    """Return the folders or `file:` URIs of a JSON array, or the one that stands there without."""
    folders = parsed(value) if value.startswith("[") else [value]
    return tuple(folder for one in folders if (folder := text(one))) if isinstance(folders, list) else ()
