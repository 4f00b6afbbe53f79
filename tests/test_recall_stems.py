from __future__ import annotations

import sqlite3
from contextlib import closing

import pytest

from memory_plane.recall.stems import stem

WORDS = """
    caresses ponies ties cats feed agreed plastered bled motoring sing conflated troubled sized hopping tanned
    falling hissing fizzed failing filing happy sky relational conditional rational valency hesitancy digitizer
    radically differently vilely analogously vietnamization predication operator feudalism decisiveness
    hopefulness callousness formality sensitivity sensibility triplicate formative formalize electricity
    electrical goodness revival allowance inference airliner gyroscopic adjustable defensible irritant
    replacement adjustment dependent adoption homologous communism activate angularity effective bowdlerize
    probate rate cease controlling rolling running studies useful researching researched memories deployment
    kites yesterday use ages
"""


@pytest.mark.parametrize("word", WORDS.split())
def test_stem_is_that_of_the_index(word: str) -> None:
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.execute("CREATE VIRTUAL TABLE texts USING fts5(text, tokenize = 'porter unicode61')")
        connection.execute("CREATE VIRTUAL TABLE words USING fts5vocab(texts, 'row')")
        connection.execute("INSERT INTO texts VALUES (?)", (word,))
        assert connection.execute("SELECT term FROM words").fetchone() == (stem(word),)


@pytest.mark.parametrize("word", ["", "a", "42", "naïve", "ёж", "v2", "記憶"])
def test_what_is_no_english_word_stays(word: str) -> None:
    assert stem(word) == word


@pytest.mark.parametrize("word", WORDS.split())
def test_stem_changes_but_its_last_letter(word: str) -> None:
    assert word.startswith(stem(word)[:-1])
