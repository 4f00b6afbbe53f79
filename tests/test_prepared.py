"""Statements that are compiled once and run by the driver."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
from sqlalchemy import bindparam, delete, func, insert, select, text

from memory_plane import models
from memory_plane.database import Database
from memory_plane.prepared import Prepared

ID = "9f0c203f-1df6-55ea-8218-da576443ee1f"
AT = datetime(2026, 3, 1, 12, 0, 0, 5, tzinfo=UTC)
LOG = models.operations
ADD = Prepared(
    lambda insert: insert(LOG).on_conflict_do_nothing().returning(LOG.c.seq),
    *(column.name for column in LOG.c if column is not LOG.c.seq),
)
BY_ID = Prepared(select(LOG).where(LOG.c.id == bindparam("id")))
ROW: dict[str, Any] = {"id": ID, "op": "thought", "agent": "muse", "created_at": AT, "text": "hi", "body": "{}"}


def test_values_go_in_and_come_out_as_python_has_them(engine: Database) -> None:
    with engine.writing() as connection:
        assert ADD.scalar(connection, **ROW) == 1
        row = BY_ID.first(connection, id=ID)
    assert row is not None
    assert (row.seq, row.id, row.created_at, row.effective_at, row.text) == (1, ID, AT, None, "hi")


def test_conflict_that_is_ignored_returns_nothing(engine: Database) -> None:
    with engine.writing() as connection:
        ADD.scalar(connection, **ROW)
        assert ADD.scalar(connection, **ROW) is None


def test_absent_row_is_none(engine: Database) -> None:
    with engine.reading() as connection:
        assert BY_ID.first(connection, id=ID) is None
        assert BY_ID.scalar(connection, id=ID) is None
        assert BY_ID.all(connection, id=ID) == []


def test_same_answer_as_from_core(engine: Database) -> None:
    chosen = select(LOG.c.agent, func.count().label("number")).where(LOG.c.op == "thought").group_by(LOG.c.agent)
    with engine.writing() as connection:
        ADD.scalar(connection, **ROW)
        (prepared,), (core,) = Prepared(chosen).all(connection), connection.execute(chosen).all()
        assert tuple(prepared) == tuple(core) == ("muse", 1)
        assert prepared.number == 1


def test_change_says_how_many_rows_it_met(engine: Database) -> None:
    remove = Prepared(delete(LOG).where(LOG.c.agent == bindparam("name")))
    with engine.writing() as connection:
        ADD.scalar(connection, **ROW)
        assert [remove.run(connection, name=name) for name in ("grok", "muse", "muse")] == [0, 1, 0]


def test_many_rows_go_in_at_once(engine: Database) -> None:
    add = Prepared(insert(models.cursors))
    with engine.writing() as connection:
        add.run_all(connection, [{"plugin": name, "value": name.upper()} for name in ("a", "b")])
        add.run_all(connection, [])
        assert connection.execute(select(models.cursors).order_by(models.cursors.c.plugin)).all() == [
            ("a", "A"),
            ("b", "B"),
        ]


def test_written_sql_has_its_parameters_too(engine: Database) -> None:
    with engine.reading() as connection:
        assert Prepared(text("SELECT :one || :two")).scalar(connection, one="a", two="b") == "ab"


@pytest.mark.parametrize("value", ["it's", 'a "b"', "x); DROP TABLE operations; --", "%s ? :id", "\u0000"])
def test_value_is_never_part_of_the_statement(engine: Database, value: str) -> None:
    with engine.writing() as connection:
        ADD.scalar(connection, **ROW | {"text": value})
        assert BY_ID.first(connection, id=ID).text == value  # type: ignore[union-attr]
