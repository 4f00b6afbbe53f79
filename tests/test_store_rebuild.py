"""Rebuilding folds the log anew, whatever became of the tables; an export is ordered by nothing but what is in it."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import pytest

from memory_plane import schema
from memory_plane.database import Database
from memory_plane.models import metadata
from memory_plane.recall import state
from memory_plane.store import derivations, log, operations, rebuild
from memory_plane.store.codec import Derivation
from memory_plane.types import Attention, Operation, Routing

MakeOperation = Callable[..., Operation]

NOW = datetime(2026, 3, 14, 9, tzinfo=UTC)
KEPT = {"operations", "derivations", "enrichment", "cursors"}


def quiet(done: int, total: int) -> None:
    """Tell nobody how far it is."""


@pytest.fixture
def written(engine: Database, operation: MakeOperation) -> Database:
    """A thought that is retracted before it was written, a fact with two values, an item, and an answer of a plugin."""
    wrong = operation(text="Ann hates tea")
    question = operation(text="Tea?", kind="question")
    batch = [
        operation("retract", target=wrong.id, created_at=wrong.created_at - timedelta(hours=1)),
        wrong,
        operation("fact", subject="Ann", key="tea", value="black"),
        operation("fact", subject="Ann", key="tea", value="green"),
        operation("resolve", item=question.id, created_at=question.created_at - timedelta(hours=1)),
        question,
        operation(text="far ahead", created_at=NOW + timedelta(days=3)),
        operation("heartbeat", focus="tea"),
    ]
    with engine.writing() as connection:
        for one in batch:
            operations.append(connection, one, NOW)
        memory = log.memory(connection, 6)
        assert memory is not None
        routing = Routing(attention=(Attention(agent="grok", score=0.5, reason="tea"),))
        derivations.record(connection, 6, *memory, [Derivation(plugin="local", version="1", routing=routing)])
    return engine


def dump(database: Database) -> dict[str, list[str]]:
    with database.reading() as connection:
        return {
            name: sorted(map(repr, connection.execute(table.select()).all())) for name, table in metadata.tables.items()
        }


def test_rebuild_changes_nothing(written: Database) -> None:
    before = dump(written)
    with written.writing() as connection:
        assert rebuild.refold_operations(connection, quiet) == 8
        assert rebuild.refold_derivations(connection, quiet) == 1
    assert dump(written) == before
    assert schema.check(written) == []


@pytest.mark.parametrize("name", sorted(metadata.tables.keys() - KEPT))
def test_rebuild_brings_back_what_was_lost(written: Database, name: str) -> None:
    before = dump(written)
    with written.writing() as connection:
        connection.execute(metadata.tables[name].delete())
    with written.writing() as connection:
        rebuild.refold_operations(connection, quiet)
        rebuild.refold_derivations(connection, quiet)
    assert dump(written) == before


def test_rebuild_leaves_queue_and_cursors_alone(written: Database) -> None:
    with written.writing() as connection:
        connection.exec_driver_sql("INSERT INTO cursors (plugin, value) VALUES ('muse', '7')")
        connection.exec_driver_sql("INSERT INTO enrichment (plugin, seq, tries) VALUES ('jev', 6, 2)")
        rebuild.refold_operations(connection, quiet)
        rebuild.refold_derivations(connection, quiet)
        assert connection.exec_driver_sql("SELECT value FROM cursors").scalar() == "7"
        assert connection.exec_driver_sql("SELECT tries FROM enrichment").scalar() == 2


def test_rebuild_tells_how_far_it_is(written: Database) -> None:
    told: list[tuple[int, int]] = []
    with written.writing() as connection:
        rebuild.refold_operations(connection, lambda done, total: told.append((done, total)))
    assert told == [(number, 8) for number in range(1, 9)]


def test_export_has_operations_and_then_derivations(written: Database) -> None:
    with written.reading() as connection:
        records = list(rebuild.export(connection))
        question = next(one.id for _, one, _ in log.replay(connection) if one.body.get("kind") == "question")
    assert ["op" in record for record in records] == [True] * 8 + [False]
    assert records[-1].keys() == {"memory", "plugin", "version", "rank", "answer"}
    assert records[-1]["memory"] == question
    assert [record["created_at"] for record in records[:8]] == sorted(
        str(record["created_at"]) for record in records[:8]
    )
    assert [record["effective_at"] for record in records if "effective_at" in record] == ["2026-03-14T09:00:00.000000Z"]


def test_time_that_an_operation_counts_from_survives(written: Database) -> None:
    with written.writing() as connection:
        rebuild.refold_operations(connection, quiet)
        assert state.thoughts(connection, 1)[0].created_at == NOW
