"""A database is made, upgraded, refused or found sound; what is wrong with it is named."""

from __future__ import annotations

import sqlite3
import stat
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from uuid import UUID

import pytest
from alembic import command
from alembic.script import ScriptDirectory

from memory_plane import models, schema
from memory_plane.database import Database
from memory_plane.errors import SchemaError, StoreError
from memory_plane.store import derivations, log, operations, rebuild
from memory_plane.store.codec import Derivation
from memory_plane.types import Classification, Link, Mention, Operation, Resolution

MakeOperation = Callable[..., Operation]


@pytest.fixture
def empty(tmp_path: Path) -> Iterator[Database]:
    """A database whose file does not exist yet."""
    database = Database(f"sqlite:///{tmp_path / 'memory.db'}", timeout=5)
    yield database
    database.close()


def run(database: Database, *statements: str) -> None:
    with database.writing() as connection:
        for statement in statements:
            connection.exec_driver_sql(statement)


def tables(database: Database) -> set[str]:
    with database.reading() as connection:
        found = connection.exec_driver_sql("SELECT name FROM sqlite_master WHERE type = 'table'").scalars()
        return {name for name in found if not name.startswith(("sqlite_", "memory_fts_"))}


def write(database: Database, *batch: Operation) -> None:
    with database.writing() as connection:
        for operation in batch:
            operations.append(connection, operation, operation.created_at)


# --- making and upgrading ----------------------------------------------------------------------------------------


def test_head_is_what_alembic_calls_the_head() -> None:
    scripts = ScriptDirectory(str(schema.migrations_dir()))
    assert scripts.get_heads() == [schema.head()]


def test_new_database_is_made_at_head(empty: Database) -> None:
    assert schema.current(empty) is None
    schema.ensure(empty)
    assert schema.current(empty) == schema.head()
    assert tables(empty) == {*models.metadata.tables, "memory_fts", "alembic_version"}
    assert schema.check(empty) == []


def test_database_at_head_is_left_alone(engine: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(command, "upgrade", lambda *_: pytest.fail("upgraded again"))
    schema.ensure(engine)
    assert engine.path is not None
    assert not engine.path.with_name("memory.db.lock").exists()


def test_empty_database_is_not_copied(empty: Database) -> None:
    assert schema.upgrade(empty) is None
    assert schema.upgrade(empty) is None
    assert empty.path is not None
    assert list(empty.path.parent.glob("*.bak")) == []


@pytest.mark.parametrize("act", [schema.ensure, schema.upgrade, schema.check])
def test_database_of_a_newer_version_is_refused(engine: Database, act: Callable[[Database], object]) -> None:
    run(engine, "UPDATE alembic_version SET version_num = '9999'")
    expected = rf"^database is at revision '9999', this version knows up to '{schema.head()}'; upgrade memory-plane"
    with pytest.raises(SchemaError, match=expected):
        act(engine)
    assert schema.current(engine) == "9999"


def test_older_database_is_copied_before_it_is_upgraded(
    engine: Database, operation: MakeOperation, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(engine, operation(text="Ann likes tea"))
    run(engine, "UPDATE alembic_version SET version_num = '0000'")
    monkeypatch.setattr(command, "upgrade", lambda *_: None)
    copy = schema.upgrade(engine)
    assert copy is not None
    assert copy.name == "memory.db.0000.bak"
    assert stat.S_IMODE(copy.stat().st_mode) == 0o600
    with closing(sqlite3.connect(copy)) as connection:
        assert connection.execute("SELECT text FROM operations").fetchall() == [("Ann likes tea",)]
        assert connection.execute("SELECT count(*) FROM thoughts").fetchall() == [(1,)]


def test_failing_upgrade_leaves_the_database_as_it_was(empty: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    good = command.upgrade

    def half(*arguments: object) -> None:
        good(*arguments)  # type: ignore[arg-type]
        raise RuntimeError

    monkeypatch.setattr(command, "upgrade", half)
    with pytest.raises(RuntimeError):
        schema.upgrade(empty)
    assert tables(empty) == set()
    monkeypatch.undo()
    schema.ensure(empty)
    assert schema.current(empty) == schema.head()


def test_migrations_lead_down_again_and_up(engine: Database) -> None:
    with engine.writing() as connection:
        command.downgrade(schema._config(connection), "base")
    assert tables(engine) == {"alembic_version"}
    assert schema.current(engine) is None
    schema.ensure(engine)
    assert schema.check(engine) == []


def test_every_migration_leads_down_one_step_and_up(engine: Database) -> None:
    revisions = [script.revision for script in ScriptDirectory(str(schema.migrations_dir())).walk_revisions()]
    for _ in revisions:
        with engine.writing() as connection:
            command.downgrade(schema._config(connection), "-1")
            command.upgrade(schema._config(connection), "+1")
            command.downgrade(schema._config(connection), "-1")
    assert tables(engine) == {"alembic_version"}


GRAPH = (
    "SELECT name, origin FROM graph_nodes ORDER BY name",
    "SELECT relation, origin FROM graph_edges ORDER BY relation",
    "SELECT method, origin, at FROM graph_evidence ORDER BY origin, at",
)


def link(database: Database, thought: Operation, relation: str) -> None:
    """Write a memory whose text is two names, and a link between them."""
    names = thought.body["text"].split()
    nodes = [f"0b5c6b0e-7d53-4c7e-9f2b-{ord(name[0]):012d}" for name in names]
    found = tuple(
        Resolution(
            mention=Mention(text=name, type="Person", start=at, end=at + len(name), confidence=1),
            node=id,
            probability=1,
        )
        for name, id in zip(names, nodes, strict=True)
        for at in (thought.body["text"].index(name),)
    )
    said = Classification(
        resolutions=found, links=(Link(source=nodes[0], relation=relation, target=nodes[1], probability=0.5),)
    )
    with database.writing() as connection:
        seq = operations.append(connection, thought, thought.created_at).seq
        memory = log.memory(connection, seq)
        assert memory is not None
        answer = Derivation(plugin="local", version="1", classification=said)
        derivations.record(connection, seq, *memory, [answer])


def test_older_graph_is_told_whose_words_it_is(engine: Database, operation: MakeOperation) -> None:
    link(engine, operation(text="Ann Bob", origin="user"), "KNOWS")
    link(engine, operation(text="Ann Bob", origin="external"), "KNOWS")
    link(engine, operation(text="Ann Bob", origin="external"), "HATES")
    link(engine, operation(text="Ann Zoe", origin="external"), "MANAGES")
    link(engine, operation(text="Ann Carl"), "LEADS")
    run(engine, "UPDATE operations SET effective_at = created_at - 1 WHERE seq = 2")  # one with a stamp of its own
    run(engine, "UPDATE graph_evidence SET at = at - 1 WHERE seq = 2")

    def seen() -> list[object]:
        with engine.reading() as connection:
            return [connection.exec_driver_sql(query).all() for query in GRAPH]

    before = seen()
    assert before[:2] == [
        [("Ann", "user"), ("Bob", "user"), ("Carl", "agent"), ("Zoe", "external")],
        [("HATES", "external"), ("KNOWS", "user"), ("LEADS", "agent"), ("MANAGES", "external")],
    ]
    with engine.writing() as connection:
        command.downgrade(schema._config(connection), "0002")
    schema.ensure(engine)
    assert seen() == before


def test_name_that_other_people_gave_first_is_theirs_until_it_is_rebuilt(
    engine: Database, operation: MakeOperation
) -> None:
    link(engine, operation(text="Aha Bob", origin="external"), "KNOWS")
    link(engine, operation(text="Ann Bob", origin="user"), "KNOWS")
    with engine.writing() as connection:
        command.downgrade(schema._config(connection), "0002")
        connection.exec_driver_sql(
            "UPDATE graph_nodes SET name = 'Aha', founded_at = (SELECT min(created_at) FROM operations)"
            " WHERE name = 'Ann'"
        )
    schema.ensure(engine)
    with engine.writing() as connection:
        assert connection.exec_driver_sql(GRAPH[0]).all() == [("Aha", "external"), ("Bob", "user")]
        assert connection.exec_driver_sql(GRAPH[1]).all() == [("KNOWS", "external")]
        rebuild.refold_operations(connection, lambda *_: None)
        rebuild.refold_derivations(connection, lambda *_: None)
        assert connection.exec_driver_sql(GRAPH[0]).all() == [("Ann", "user"), ("Bob", "user")]
        assert connection.exec_driver_sql(GRAPH[1]).all() == [("KNOWS", "user")]


def test_models_are_what_the_migrations_make(engine: Database) -> None:
    assert schema.drift(engine) == []


def test_several_that_start_at_once_all_succeed(tmp_path: Path) -> None:
    databases = [Database(f"sqlite:///{tmp_path / 'memory.db'}") for _ in range(4)]
    with ThreadPoolExecutor() as pool:
        list(pool.map(schema.ensure, databases))
    assert [schema.current(database) for database in databases] == [schema.head()] * 4
    for database in databases:
        database.close()


def test_database_that_cannot_be_read_is_not_touched(empty: Database) -> None:
    assert empty.path is not None
    empty.path.write_bytes(b"something else " * 100)
    with pytest.raises(StoreError, match="the file is no database"):
        schema.ensure(empty)
    assert empty.path.read_bytes() == b"something else " * 100


# --- what check finds --------------------------------------------------------------------------------------------


@pytest.fixture
def written(engine: Database, operation: MakeOperation) -> Database:
    """A sound database with a thought, an item, two values of a fact and a heartbeat in it."""
    write(
        engine,
        operation(text="Ann likes tea"),
        operation(text="Who likes milk?", kind="question"),
        operation("fact", subject="Ann", key="city", value="Rome"),
        operation("fact", subject="Ann", key="city", value="Oslo"),
        operation("heartbeat", focus="tea"),
    )
    return engine


def test_sound_database_has_no_complaints(written: Database) -> None:
    assert schema.check(written) == []


@pytest.mark.parametrize(
    ("statement", "complaint"),
    [
        ("DELETE FROM thoughts WHERE seq = 1", "1 thought operations without a row; run: memory-plane rebuild"),
        ("DELETE FROM facts WHERE seq = 3", "1 fact operations without a row; run: memory-plane rebuild"),
        ("DELETE FROM operations WHERE seq = 1", "1 thoughts without a log row; run: memory-plane rebuild"),
        ("DELETE FROM operations WHERE seq = 4", "1 facts without a log row; run: memory-plane rebuild"),
        ("UPDATE thoughts SET visible = 0 WHERE seq = 1", "1 index rows without a visible memory; run: "),
        ("UPDATE facts SET indexed = 0 WHERE seq = 4", "1 index rows without a visible memory"),
        ("INSERT INTO memory_fts(memory_fts) VALUES ('delete-all')", "3 visible memories that are not in the index"),
        ("DROP INDEX ix_thoughts_at", "ix_thoughts_at"),
        ("ALTER TABLE thoughts ADD COLUMN mood TEXT", "mood"),
        ("ALTER TABLE thoughts RENAME COLUMN kind TO sort", "sort"),
        ("ALTER TABLE attention DROP COLUMN reason", "reason"),
        ("DROP TABLE cursors", "cursors"),
    ],
)
def test_damage_is_found(written: Database, statement: str, complaint: str) -> None:
    run(written, statement)
    assert complaint in "\n".join(schema.check(written))


def test_rows_that_point_nowhere_are_found(written: Database) -> None:
    assert written.path is not None
    with closing(sqlite3.connect(written.path, isolation_level=None)) as connection:
        connection.execute("INSERT INTO mentions (seq, start, end, node) VALUES (1, 0, 3, 77)")
    assert schema.check(written) == ["foreign key: mentions row None points to no row of graph_nodes"]


def test_broken_full_text_index_is_found_and_can_be_made_anew(written: Database) -> None:
    run(written, "UPDATE memory_fts_data SET block = x'00' WHERE id > 10")
    assert schema.check(written) == ["the full-text index is damaged; run: memory-plane rebuild"]
    with written.writing() as connection:
        rebuild.refold_operations(connection, lambda done, total: None)
    assert schema.check(written) == []


def test_check_of_a_locked_database_is_no_complaint(written: Database) -> None:
    other = Database(str(written.url), timeout=0.05)
    with written.writing(), pytest.raises(StoreError, match="held it locked"):
        schema.check(other)
    other.close()


def test_row_that_its_index_misses_is_found(written: Database) -> None:
    assert written.path is not None
    with closing(sqlite3.connect(written.path, isolation_level=None)) as connection:
        connection.execute("PRAGMA writable_schema = ON")
        connection.execute("DELETE FROM sqlite_master WHERE name = 'ix_thoughts_at'")
        connection.execute("PRAGMA writable_schema = OFF")
    written.close()
    assert any(complaint.startswith("integrity: ") for complaint in schema.check(written))


def test_tables_of_plugins_are_no_drift(written: Database) -> None:
    run(written, "CREATE TABLE muse_people (name TEXT)", "CREATE TABLE alembic_version_muse (version_num TEXT)")
    assert schema.check(written) == []


def test_words_on_nodes_of_an_older_file_are_folded(engine: Database, operation: MakeOperation) -> None:
    ann, bob, carl = (f"0b5c6b0e-7d53-4c7e-9f2b-{ord(letter):012d}" for letter in "ABC")
    words = (
        operation("distinct", nodes=[ann, carl]),
        operation("merge", node=bob, into=carl),
        operation("distinct", nodes=[bob, ann]),
    )
    with engine.writing() as connection:
        for word in words:
            operations.append(connection, word, word.created_at)

    def apart() -> object:
        with engine.reading() as connection:
            return connection.exec_driver_sql("SELECT hex(one), hex(other) FROM kept_apart ORDER BY one, other").all()

    before = apart()
    assert before == sorted(
        (UUID(one).hex.upper(), UUID(other).hex.upper()) for one, other in ((ann, carl), (carl, ann))
    )
    with engine.writing() as connection:
        command.downgrade(schema._config(connection), "0007")
    schema.ensure(engine)
    assert apart() == before
