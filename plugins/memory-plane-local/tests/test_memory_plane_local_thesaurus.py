"""Words that mean nearly the same are one to recall; names and days are only themselves."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from memory_plane import Plane
from memory_plane.recall.stems import stem
from memory_plane_local import LocalPlugin, LocalSettings, tables, thesaurus


@pytest.mark.parametrize(("word", "other"), [("bought", "purchased"), ("kids", "children"), ("doctor", "physician")])
def test_word_is_like_another(word: str, other: str) -> None:
    assert 0.7 <= thesaurus.expand([word]).alike[word][other] < 1


@pytest.mark.parametrize("word", ["june", "monday", "sweden", "john", "seven", "qwertz", ""])
def test_name_day_or_number_is_like_no_other(word: str) -> None:
    assert thesaurus.expand([word]).alike == {}


def test_list_has_no_form_of_the_word_itself() -> None:
    for line in tables.lines("alike.tsv"):
        word, _ = line.split("\t")
        assert stem(word) not in map(stem, thesaurus.expand([word]).alike[word]), word


@pytest.mark.parametrize("embedding", ["letters", "none"])
def test_without_meanings_no_word_is_like_another(embedding: str) -> None:
    assert LocalPlugin(LocalSettings.model_validate({"embedding": embedding})).expand(["bought"]) is None


def test_question_finds_what_is_said_in_other_words(make_plane: Callable[..., Plane]) -> None:
    plane = make_plane("local")
    for text in ("We purchased the figurines in Rome", "We sold the figurines in Rome", "Rome was full"):
        plane.post(text, agent="ann", origin="user", thread=text)
    hits = plane.recall("what figurines were bought in Rome", explain=True).hits
    assert hits[0].snippet == "We purchased the figurines in Rome"
    assert hits[0].why is not None
    assert hits[1].why is not None
    assert hits[0].why["beside"] > hits[1].why["beside"]
