"""The file of the official MCP memory server, memory.json or memory.jsonl: a line an entity or relation.

An entity becomes a fact with its type and one with its observations; its relations become a fact a kind of relation.
The file tells no times: all of it was so when the file was written, and a newer file takes the place of an older one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime, tzinfo
from functools import partial
from itertools import islice
from typing import Any

from memory_plane.errors import MemoryPlaneError
from memory_plane.importers.documents import lines
from memory_plane.importers.files import Files
from memory_plane.importers.graph_facts import key_of, listed, name_of
from memory_plane.importers.item import Entry, Kind, Skipped, fact, short
from memory_plane.types import Operation

AGENT = "mcp-memory"
LARGEST = 256_000_000
"""The most bytes of a file; relations stand after all entities, so that it has to be read whole."""


def found(files: Files) -> bool:
    """Whether a file begins with an entity or a relation."""
    return any(_is_graph(files, name) for name in _files(files))


def entries(files: Files, zone: tzinfo | None) -> Iterator[Entry]:
    """Yield the entities, with the relations that go out of them."""
    for name in _files(files):
        if _is_graph(files, name):
            yield from _entities(files, name)


def _files(files: Files) -> list[str]:
    return [name for name in files.names if files.alone or name in ("memory.json", "memory.jsonl")]


def _is_graph(files: Files, name: str) -> bool:
    with files.open(name) as stream:
        first = next((one for one in islice(lines(stream), 5) if one is not None), None)
    return isinstance(first, Mapping) and first.get("type") in ("entity", "relation")


def _entities(files: Files, name: str) -> Iterator[Entry]:
    entities: dict[str, Mapping[str, Any]] = {}
    relations: dict[str, dict[str, list[str]]] = {}
    broken: list[int] = []
    with files.open(name) as stream:
        for number, record in enumerate(lines(stream), 1):
            if stream.tell() > LARGEST:
                raise MemoryPlaneError(f"{name} is larger than {LARGEST:,} bytes")
            if not _read(record, entities, relations):
                broken.append(number)
    at = files.changed(name)
    for entity in dict.fromkeys((*entities, *relations)):
        yield Entry(
            short(entity), partial(_operations, entity, entities.get(entity, {}), relations.get(entity, {}), at)
        )
    for number in broken:
        yield Entry(f"line {number}", _broken)


def _read(record: Any, entities: dict[str, Mapping[str, Any]], relations: dict[str, dict[str, list[str]]]) -> bool:
    """Take in a record and return whether it is one; of two entities with one name the server knows the first."""
    match record:
        case {"type": "entity", "name": str(name)} if name.strip():
            entities.setdefault(name, record)
        case {"type": "relation", "from": str(source), "to": str(target), "relationType": str(kind)}:
            relations.setdefault(source, {}).setdefault(kind, []).append(target)
        case _:
            return False
    return True


def _operations(
    name: str, entity: Mapping[str, Any], relations: Mapping[str, list[str]], at: datetime
) -> tuple[Operation, ...]:
    subject, type_ = name_of(name), entity.get("entityType")
    seen = [one.strip().rstrip(";") for one in entity.get("observations") or () if isinstance(one, str) and one.strip()]
    said = {"type": type_ if isinstance(type_, str) else "", "observations": "; ".join(dict.fromkeys(seen))}
    said |= {key_of(kind): listed(map(name_of, targets)) for kind, targets in relations.items()}
    made = [fact(AGENT, subject, key, value, at=at, source="memory.json") for key, value in said.items() if value]
    if not made:
        raise Skipped("nothing is known of it")
    return tuple(made)


def _broken() -> tuple[Operation, ...]:
    raise ValueError


KIND = Kind(
    name="memory-json",
    looks_for="memory.json or memory.jsonl with lines of `entity` and `relation`",
    found=found,
    entries=entries,
)
