"""Other spellings of a name: what makes two names a question, and what keeps them apart."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_plane import spellings
from memory_plane.spellings import ALIKE, INITIAL, PART, SHORT, SHORT_ALONE


@pytest.mark.parametrize(
    ("one", "other", "score"),
    [
        ("josé garcía", "jose garcia", ALIKE),
        ("王伟", "wang wei", ALIKE),
        ("владимир петров", "vladimir petrov", ALIKE),
        ("jean-luc picard", "jean luc picard", ALIKE),
        ("bob smith", "robert smith", SHORT),
        ("john q. smith", "john smith", SHORT),
        ("r. smith", "robert smith", INITIAL),
        ("bruno k.", "bruno keller", INITIAL),
        ("bruno k.", "bruno lund", 0),
        ("smith", "robert smith", PART),
        ("bob", "robert", SHORT_ALONE),
        ("sasha volkov", "aleksandr volkov", SHORT),
        ("саша волков", "alexander volkov", SHORT),
        ("aleksandr volkov", "alexander volkov", SHORT),
        ("evgeny orlov", "evgenia orlov", 0),
        ("kasia nowak", "katarzyna nowak", SHORT),
        ("paco garcía", "francisco garcía", SHORT),
        ("zé silva", "josé silva", SHORT),
        ("bob", "robert smith", SHORT_ALONE),
        ("jürgen groß", "juergen gross", ALIKE),
        ("zhang wei", "wei zhang", INITIAL),
        ("anna baur", "anna bauer", 0),
        ("bob smith", "bob jones", 0),
        ("rachel smith", "robert smith", 0),
        ("r. smith", "anna smith", 0),
        ("anna berg", "hanna berg", 0),
        ("an", "ann", 0),
    ],
)
def test_names_of_persons_are_compared_word_by_word(one: str, other: str, score: float) -> None:
    assert spellings.likeness(one, other) == spellings.likeness(other, one) == score
    assert spellings.likeness(one, one) == 1


@pytest.mark.parametrize(
    ("one", "other"),
    [("acme corp.", "acme"), ("acme, inc", "acme gmbh"), ("gpt-4", "gpt 4"), ("node.js", "nodejs"), ("café", "cafe")],
)
def test_spellings_have_a_key_in_common(one: str, other: str) -> None:
    assert spellings.key(one) == spellings.key(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [("gpt-4", "gpt-5"), ("java", "javascript"), ("c", "c++"), ("c#", "c++"), ("co", "inc"), ("v1.1", "v2.1")],
)
def test_different_names_have_different_keys(one: str, other: str) -> None:
    assert spellings.key(one) != spellings.key(other)


@pytest.mark.parametrize("name", ["", "-", "...", "🎉", "\u0301", "a" * 5000, "王" * 300])
def test_any_name_has_a_key_and_forms(name: str) -> None:
    assert isinstance(spellings.key(name), str)
    assert all(form and form != name for form in spellings.latin(name))
    assert spellings.likeness(name, "ann") in (0, PART)


def test_a_name_in_another_script_is_looked_for_in_latin_letters_in_both_orders() -> None:
    assert spellings.latin("李小龙") == ("li xiao long", "li xiaolong", "xiaolong li")
    assert spellings.latin("wang wei") == ()


@pytest.mark.parametrize(
    ("one", "other", "slip"),
    [
        ("kubernetes", "kubernets", True),
        ("elasticsearch", "elasticsaerch", True),
        ("margarethe vollmer", "margarethe volmer", True),
        ("müller-lüdenscheidt", "muller-ludenscheid", True),
        ("max stein", "max stone", False),
        ("chris lake", "chris blake", False),
        ("terraform 12", "terraform 13", False),
        ("release12", "release13", False),
        ("kubernetes", "kubernetes", False),
        ("kubernetes", "kubernets cluster", False),
        ("anna berg", "anne berg", False),
    ],
)
def test_a_slip_is_one_letter_of_a_long_word(one: str, other: str, slip: bool) -> None:
    assert spellings.is_slip(one, other) is spellings.is_slip(other, one) is slip


@given(st.text("abné 1", min_size=1, max_size=14), st.integers(0, 13), st.sampled_from("abx1"), st.integers(0, 3))
def test_whatever_is_a_slip_away_is_found(name: str, at: int, letter: str, how: int) -> None:
    name = " ".join(name.split())
    before, after = name[:at], name[at:]
    ways = (before + letter + after[1:], before + letter + after, before + after[1:], before + after[1::-1] + after[2:])
    other = ways[how]
    if spellings.is_slip(name, other) and spellings.key(name) != spellings.key(other):
        known = {*spellings.without_thirds(name), name, spellings.MARK + spellings.key(name)}
        assert not known.isdisjoint(spellings.slips(other))
