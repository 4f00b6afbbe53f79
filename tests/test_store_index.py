"""The index: what is put in can be taken out again, and words of any script stand apart."""

from __future__ import annotations

from datetime import UTC, datetime
from unicodedata import normalize

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import Connection, text

from memory_plane.database import Database
from memory_plane.store import index

AT = datetime(2026, 3, 4, 9, tzinfo=UTC)


def document(seq: int = 1, words: str = "Ann likes tea", project: str | None = None) -> index.Document:
    return index.document(seq, words, agent="muse", kind="thought", project=project, at=AT)


def found(connection: Connection, query: str) -> list[int]:
    match = text("SELECT rowid FROM memory_fts WHERE memory_fts MATCH :query")
    return list(connection.execute(match, {"query": query}).scalars())


def check(connection: Connection) -> None:
    connection.execute(text("INSERT INTO memory_fts(memory_fts) VALUES ('integrity-check')"))


def test_what_is_put_in_is_found_until_it_is_taken_out(engine: Database) -> None:
    with engine.writing() as connection:
        index.put(connection, document(1))
        index.put(connection, document(2, "Bob likes milk"))
        assert found(connection, "likes") == [1, 2]
        index.take(connection, document(1))
        assert found(connection, "likes") == [2]
        assert found(connection, "tea") == []
        index.put(connection, document(1))
        assert found(connection, "tea") == [1]
        check(connection)
        index.clear(connection)
        assert found(connection, "likes") == []
        check(connection)


@pytest.mark.parametrize("query", ["muse", "March", '"4 March 2026"', '"2026-03-04"', "kitchen"])
def test_agent_date_and_project_stand_in_the_index(engine: Database, query: str) -> None:
    with engine.writing() as connection:
        index.put(connection, document(project="Kitchen"))
        assert found(connection, query) == [1]


def test_document_never_depends_on_the_clock_of_the_machine() -> None:
    assert document() == document()
    assert "4 March 2026" in document().text


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("Ann likes tea", ["Ann", "likes", "tea"]),
        ("我在东京", ["我", "在", "东", "京"]),
        ("使用Python开发", ["使", "用", "Python", "开", "发"]),
        ("서울", ["서", "울"]),
        ("カタカナ", ["カ", "タ", "カ", "ナ"]),
        ("𠀀𠀁", ["𠀀", "𠀁"]),
        ("naïve ЁЖ دليل", ["naïve", "ЁЖ", "دليل"]),
        ("\uf09bgit", ["\uf09b", "git"]),
    ],
)
def test_characters_of_unspaced_scripts_stand_apart(words: str, expected: list[str]) -> None:
    assert index.spaced(words).split() == expected


@given(st.text())
def test_spacing_loses_no_character(words: str) -> None:
    assert "".join(index.spaced(words).split()) == "".join(normalize("NFKC", words).split())


def test_tags_tell_names_and_values_apart() -> None:
    tags = {index.tag(name, value) for name in ("agent", "project") for value in ("muse", "grok", "agent")}
    assert len(tags) == 6
    assert index.tag("project", "Sky") == index.tag("project", "SKY")
    assert all(tag.isalnum() and tag.isascii() for tag in tags)
