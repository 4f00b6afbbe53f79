"""The SQLite file of agent-memory-graph (schema versions 1 to 4), `~/.openclaw/data/memory-graph.db` by default.

Entities become facts with their type and properties, relations that hold become a fact a kind of relation, and those
that ended a fact each, with its time. The log of raw messages is a transcript, and is left where it is.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime, tzinfo
from functools import partial
from pathlib import Path
from typing import Any

from memory_plane.errors import MemoryPlaneError
from memory_plane.importers.files import Files
from memory_plane.importers.graph_facts import key_of, listed
from memory_plane.importers.item import Entry, Kind, Skipped, fact, short
from memory_plane.importers.times import moment
from memory_plane.operations import iso
from memory_plane.sqlite_files import opened
from memory_plane.types import Operation

AGENT = "memory-graph"
_MAGIC = b"SQLite format 3\0"
_RELATIONS = (
    "SELECT r.*, e.name AS target FROM relationships r JOIN entities e ON e.id = r.to_id"
    " WHERE r.from_id = ? ORDER BY r.created_at, r.id"
)

Row = Mapping[str, Any]


def found(files: Files) -> bool:
    """Whether it is a database with entities and relationships."""
    path = _file(files)
    if path is None:
        return False
    with _opened(path) as connection:
        return {"entities", "relationships"} <= _names(connection)


def entries(files: Files, zone: tzinfo | None) -> Iterator[Entry]:
    """Yield the entities, with the relations that go out of them."""
    path = _file(files)
    if path is None:
        return
    at = files.changed(files.names[0])
    with _opened(path) as connection:
        for entity in connection.execute("SELECT * FROM entities ORDER BY created_at, id"):
            relations = connection.execute(_RELATIONS, (entity["id"],)).fetchall()
            yield Entry(short(str(entity["name"])), partial(_operations, dict(entity), [*map(dict, relations)], at))


def _file(files: Files) -> Path | None:
    path = files.local(files.names[0]) if files.alone else None
    if path is None:
        return None
    with path.open("rb") as stream:
        return path if stream.read(len(_MAGIC)) == _MAGIC else None


@contextmanager
def _opened(path: Path) -> Iterator[sqlite3.Connection]:
    try:
        with opened(path) as connection:
            connection.row_factory = sqlite3.Row
            yield connection
    except sqlite3.Error as error:
        raise MemoryPlaneError(f"{str(path)!r} cannot be read: {error}") from None


def _names(connection: sqlite3.Connection) -> set[str]:
    return {name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}


def _operations(entity: Row, relations: Sequence[Row], fallback: datetime) -> tuple[Operation, ...]:
    name = entity["name"]
    at = moment(entity.get("updated_at")) or moment(entity.get("created_at")) or fallback
    made = [_fact(name, key, value, at, entity) for key, value in _properties(entity)]
    holding: dict[str, list[Row]] = {}
    for relation in relations:
        if relation.get("valid_until") is None:
            holding.setdefault(key_of(relation["relation"]), []).append(relation)
        elif ended := _ended(name, relation, at):
            made.append(ended)
    for key, group in holding.items():
        newest = max(filter(None, (moment(one.get("updated_at")) for one in group)), default=at)
        begun = min(filter(None, (moment(one.get("valid_from")) for one in group)), default=None)
        weakest = min(group, key=_confidence)
        made.append(_fact(name, key, listed(one["target"] for one in group), newest, weakest, valid_from=begun))
    if not made:
        raise Skipped("nothing is known of it")
    return tuple(made)


def _properties(entity: Row) -> Iterator[tuple[str, str]]:
    if entity.get("type") not in (None, "", "Unknown"):
        yield "type", entity["type"].lower()
    try:
        properties = json.loads(entity.get("properties") or "{}")
    except ValueError:
        return
    for key, value in properties.items() if isinstance(properties, dict) else ():
        if isinstance(value, str | int | float) and str(value).strip():
            yield key_of(key), str(value)


def _ended(name: str, relation: Row, at: datetime) -> Operation | None:
    """Make the fact of a relation that held for a while; None for one that held for no time at all."""
    until = moment(relation["valid_until"])
    begun = moment(relation.get("valid_from")) or moment(relation.get("created_at"))
    if until is None or (begun is not None and begun >= until):
        return None
    key, target = key_of(relation["relation"]), relation["target"]
    return _fact(name, key, target, begun or at, relation, valid_from=begun, valid_until=until)


def _fact(name: str, key: str, value: str, at: datetime, row: Row, **times: datetime | None) -> Operation:
    held = {field: iso(moment) for field, moment in times.items() if moment is not None}
    return fact(AGENT, name, key, value, at=at, confidence=_confidence(row), source="memory-graph", **held)


def _confidence(row: Row) -> float:
    value = row.get("confidence")
    return min(1.0, max(0.0, float(value))) if isinstance(value, int | float) else 1.0


KIND = Kind(
    name="memory-graph",
    looks_for="a SQLite file with the tables `entities` and `relationships`",
    found=found,
    entries=entries,
)
