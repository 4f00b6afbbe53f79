"""Graphs of other programs: the file of the official MCP memory server, and the database of agent-memory-graph."""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Callable, Sequence
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from memory_plane import Plane
from memory_plane.importers import graph_memory, memory_json
from memory_plane.importers.driver import Source, count, take_in
from memory_plane.importers.files import Files
from memory_plane.importers.graph_facts import key_of, name_of
from memory_plane.importers.item import Kind
from memory_plane.surfaces.cli import main
from memory_plane.types import Operation

MakePlane = Callable[..., Plane]
Read = Callable[..., dict[str, tuple[Operation, ...] | str]]

CHANGED = datetime(2026, 11, 3, 10, tzinfo=UTC)


def bring_in(plane: Plane, kind: Kind, path: Path) -> list[str]:
    """Import a source and return the states of its entities."""
    with Files(path) as files:
        source = Source(kind=kind, files=files)
        return [one.state for one in take_in(plane, source, count(source), lambda done, total: None)]


def said(operations: Any) -> dict[str, str]:
    return {one.body["key"]: one.body["value"] for one in operations}


# --- names and relations -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "known_as"),
    [("John_Smith", "John Smith"), ("Анна_Каренина", "Анна Каренина"), ("default_user", "default_user"),
     ("snake_Case", "snake_Case"), ("Memory Plane", "Memory Plane"), ("_", "_"), ("GPT", "GPT")],
)  # fmt: skip
def test_name_is_written_as_people_write_it(name: str, known_as: str) -> None:
    assert name_of(name) == known_as


@pytest.mark.parametrize("relation", ["works_at", "worksAt", "WORKS_AT", "works-at", " Works  at "])
def test_relation_is_plain_words_however_it_is_spelt(relation: str) -> None:
    assert key_of(relation) == "works at"


# --- memory.json -------------------------------------------------------------------------------------------------

LINES: list[Any] = [
    {"type": "entity", "name": "John_Smith", "entityType": "person",
     "observations": ["Speaks fluent Spanish", "Graduated in 2019;", "Speaks fluent Spanish", ""]},
    {"type": "entity", "name": "Anthropic", "entityType": "organization", "observations": []},
    {"type": "entity", "name": "John_Smith", "entityType": "robot", "observations": ["Is the second of that name"]},
    {"type": "relation", "from": "John_Smith", "to": "Anthropic", "relationType": "works_at"},
    {"type": "relation", "from": "John_Smith", "to": "Python", "relationType": "uses"},
    {"type": "relation", "from": "John_Smith", "to": "Rust", "relationType": "uses"},
    {"type": "relation", "from": "Nobody", "to": "Anthropic", "relationType": "knows"},
]  # fmt: skip


def memory_file(path: Path, lines: Sequence[Any], at: datetime = CHANGED) -> Path:
    path.write_text("\n".join(line if isinstance(line, str) else json.dumps(line) for line in lines), "utf-8")
    os.utime(path, (at.timestamp(),) * 2)
    return path


@pytest.mark.parametrize("name", ["memory.json", "memory.jsonl"])
def test_entity_is_its_type_its_observations_and_its_relations(tmp_path: Path, name: str, read: Read) -> None:
    found = read(memory_json.KIND, memory_file(tmp_path / name, LINES))
    assert list(found) == ["John_Smith", "Anthropic", "Nobody"]
    assert said(found["John_Smith"]) == {
        "type": "person",
        "observations": "Speaks fluent Spanish; Graduated in 2019",
        "works at": "Anthropic",
        "uses": "Python, Rust",
    }
    assert said(found["Nobody"]) == {"knows": "Anthropic"}
    assert {one.body["subject"] for one in found["John_Smith"] if isinstance(one, Operation)} == {"John Smith"}
    assert {one.created_at for one in found["John_Smith"] if isinstance(one, Operation)} == {CHANGED}


def test_line_that_is_broken_is_told_and_the_others_are_read(tmp_path: Path, read: Read) -> None:
    broken = [LINES[0], "{torn", "[]", {"type": "entity"}, {"type": "entity", "name": 3}, {"type": "dance"}, LINES[1]]
    found = read(memory_json.KIND, memory_file(tmp_path / "memory.json", broken))
    refused = "it does not look as memory-json has it"
    assert [found[f"line {number}"] for number in range(2, 7)] == [refused] * 5
    assert isinstance(found["John_Smith"], tuple) and isinstance(found["Anthropic"], tuple)


def test_odd_entity_is_as_much_as_it_says(tmp_path: Path, read: Read) -> None:
    odd = [
        {"type": "entity", "name": "Ann", "entityType": None, "observations": [3, None, "Likes tea", {}]},
        {"type": "entity", "name": "Bob"},
        {"type": "entity", "name": "x" * 600, "observations": ["Is long"]},
    ]
    found = read(memory_json.KIND, memory_file(tmp_path / "memory.json", odd))
    assert said(found["Ann"]) == {"observations": "Likes tea"}
    assert found["Bob"] == "nothing is known of it"
    assert said(found["x" * 511 + "…"]) == {"observations": "Is long"}


def test_graph_grows_from_the_relations_and_the_page_reads_well(make_plane: MakePlane, tmp_path: Path) -> None:
    plane = make_plane("local")
    assert bring_in(plane, memory_json.KIND, memory_file(tmp_path / "memory.json", LINES)) == ["imported"] * 3
    edges = {(edge.source.name, edge.relation, edge.target.name) for edge in plane.graph(about="John Smith").edges}
    assert {("John Smith", "WORKS_AT", "Anthropic"), ("John Smith", "USES", "Rust")} <= edges
    page = plane.page("SHARED_MEMORY.md")
    assert "## John Smith\n" in page
    assert "\n- observations: Speaks fluent Spanish; Graduated in 2019 · 2026-11-03 · mcp-memory" in page
    assert "Speaks fluent Spanish" in plane.recall("who speaks Spanish?").hits[0].snippet


def test_newer_file_takes_the_place_of_an_older_one(plane: Plane, tmp_path: Path) -> None:
    path = memory_file(tmp_path / "memory.json", LINES)
    bring_in(plane, memory_json.KIND, path)
    before = plane.status().operations
    changed = LINES[0] | {"observations": ["Speaks Portuguese"]}
    memory_file(path, [changed, *LINES[1:]], datetime(2026, 11, 20, tzinfo=UTC))
    assert bring_in(plane, memory_json.KIND, path) == ["imported", "already there", "already there"]
    assert plane.status().operations == before + 1
    assert [fact.value for fact in plane.facts(subject="John Smith", key="observations")] == ["Speaks Portuguese"]

    memory_file(path, LINES, datetime(2026, 11, 21, tzinfo=UTC))  # and back again
    bring_in(plane, memory_json.KIND, path)
    (fact,) = plane.facts(subject="John Smith", key="observations")
    assert fact.value == "Speaks fluent Spanish; Graduated in 2019"


# --- agent-memory-graph ------------------------------------------------------------------------------------------

ENTITIES = (
    "CREATE TABLE entities (id TEXT PRIMARY KEY, name TEXT NOT NULL, type TEXT NOT NULL, properties TEXT DEFAULT '{}',"
    " created_at TEXT NOT NULL DEFAULT (datetime('now')), updated_at TEXT NOT NULL DEFAULT (datetime('now')),"
    " source TEXT, confidence REAL DEFAULT 1.0%s)"
)
RELATIONSHIPS = (
    "CREATE TABLE relationships (id TEXT PRIMARY KEY, from_id TEXT NOT NULL REFERENCES entities(id),"
    " to_id TEXT NOT NULL REFERENCES entities(id), relation TEXT NOT NULL, properties TEXT DEFAULT '{}',"
    " created_at TEXT NOT NULL, updated_at TEXT NOT NULL, source TEXT, confidence REAL DEFAULT 1.0%s)"
)
NEWER = {"entities": ", mention_count INTEGER DEFAULT 1, lifecycle TEXT DEFAULT 'active', last_accessed TEXT",
         "relationships": ", valid_from TEXT, valid_until TEXT, lifecycle TEXT DEFAULT 'active'"}  # fmt: skip
AT = "2026-05-01T10:00:00.000Z"


def graph_file(path: Path, version: int) -> Path:
    """Lay out a database as that version of the schema did."""
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("CREATE TABLE _meta (key TEXT PRIMARY KEY, value TEXT)")
        connection.execute("INSERT INTO _meta VALUES ('schema_version', ?)", (str(version),))
        connection.execute(ENTITIES % (NEWER["entities"] if version > 2 else ""))
        connection.execute(RELATIONSHIPS % (NEWER["relationships"] if version > 2 else ""))
        connection.execute("CREATE TABLE memory_log (id TEXT PRIMARY KEY, raw_text TEXT NOT NULL)")
        connection.execute("INSERT INTO memory_log VALUES ('m1', 'the whole transcript')")
        for id, name, type_, properties in (
            ("e-1", "Viktor", "Person", '{"role": "CTO", "age": 40, "tags": ["x"]}'),
            ("e-2", "Nexus Labs", "Company", "{}"),
            ("e-3", "Rust", "Language", "no json"),
            ("e-4", "Thing", "Unknown", None),
        ):
            connection.execute(
                "INSERT INTO entities (id, name, type, properties, created_at, updated_at) VALUES (?, ?, ?, ?, ?, ?)",
                (id, name, type_, properties, "2026-04-01 08:00:00", AT),
            )
        for id, relation, target, confidence in (("r-1", "USES", "e-3", 0.7), ("r-2", "USES", "e-2", 0.9)):
            connection.execute(
                "INSERT INTO relationships (id, from_id, to_id, relation, created_at, updated_at, confidence)"
                " VALUES (?, 'e-1', ?, ?, ?, ?, ?)",
                (id, target, relation, AT, AT, confidence),
            )
    return path


@pytest.mark.parametrize("version", [1, 4])
def test_entity_of_a_graph_is_its_type_its_properties_and_its_relations(
    tmp_path: Path, version: int, read: Read
) -> None:
    found = read(graph_memory.KIND, graph_file(tmp_path / "memory graph.db", version))
    viktor = found["Viktor"]
    assert said(viktor) == {"type": "person", "role": "CTO", "age": "40", "uses": "Rust, Nexus Labs"}
    assert {one.created_at for one in viktor if isinstance(one, Operation)} == {datetime(2026, 5, 1, 10, tzinfo=UTC)}
    assert [one.body["confidence"] for one in viktor if isinstance(one, Operation)] == [1.0, 1.0, 1.0, 0.7]
    assert said(found["Rust"]) == {"type": "language"}
    assert found["Thing"] == "nothing is known of it"


def test_relation_that_ended_holds_for_its_time_and_no_longer(plane: Plane, tmp_path: Path) -> None:
    path = graph_file(tmp_path / "memory-graph.db", 4)
    with closing(sqlite3.connect(path)) as connection, connection:
        row = (
            "INSERT INTO relationships (id, from_id, to_id, relation, created_at, updated_at, valid_from, valid_until,"
        )
        row += " lifecycle) VALUES (?, 'e-1', ?, 'WORKS_AT', ?, ?, ?, ?, ?)"
        old, new = "2024-01-01T00:00:00.000Z", "2025-01-01T00:00:00.000Z"
        connection.execute(row, ("r-3", "e-4", old, new, old, new, "superseded"))
        connection.execute(row, ("r-4", "e-2", new, new, new, None, "active"))
        connection.execute(row, ("r-5", "e-3", new, new, new, new, "superseded"))  # never held
    bring_in(plane, graph_memory.KIND, path)
    assert [fact.value for fact in plane.facts(subject="Viktor", key="works at")] == ["Nexus Labs"]
    then = plane.facts(subject="Viktor", key="works at", as_of="2024-06-01T00:00:00Z")
    assert [fact.value for fact in then] == ["Thing"]
    assert len(plane.facts(subject="Viktor", key="works at", history=True)) == 2


def test_database_is_only_read_also_while_its_owner_writes(plane: Plane, tmp_path: Path) -> None:
    path = graph_file(tmp_path / "memory-graph.db", 4)
    with closing(sqlite3.connect(path)) as owner:
        owner.execute("PRAGMA journal_mode = WAL")
        owner.execute("UPDATE entities SET name = 'Viktor' WHERE id = 'e-1'")
        assert bring_in(plane, graph_memory.KIND, path)[0] == "imported"
        owner.commit()
    assert "the whole transcript" not in "".join(plane.export())


def test_database_in_a_folder_that_takes_no_files_is_read(tmp_path: Path, read: Read) -> None:
    folder = tmp_path / "shut"
    folder.mkdir()
    path = graph_file(folder / "memory-graph.db", 4)
    folder.chmod(0o500)
    try:
        assert "Viktor" in read(graph_memory.KIND, path)
    finally:
        folder.chmod(0o700)


def test_damaged_database_and_one_of_another_program_are_refused(home: Path, tmp_path: Path) -> None:
    damaged, other = tmp_path / "damaged.db", tmp_path / "other.db"
    damaged.write_bytes(b"SQLite format 3\0" + b"x" * 5000)
    with closing(sqlite3.connect(other)) as connection:
        connection.execute("CREATE TABLE songs (name)")
    for path, reason in ((damaged, "cannot be read"), (other, "nothing known here")):
        refused = CliRunner().invoke(main, ["import", str(path)])
        assert (refused.exit_code, refused.stderr.count("\n")) == (1, 1)
        assert reason in refused.stderr
