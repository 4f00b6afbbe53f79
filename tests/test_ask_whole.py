"""Answers are whole: numbers with their unit, names from their first word to their last, each reason once."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from memory_plane import Plane

MakePlane = Callable[..., Plane]

UNKNOWN = "I don't know"


@pytest.mark.parametrize(
    ("text", "question", "expected"),
    [
        ("Brightwater Capital invests 400,000 euros.", "How much does Brightwater Capital invest?", "400,000 euros"),
        ("Rent costs 1,200.50 euros.", "How much does rent cost?", "1,200.50 euros"),
        ("The van costs 12.000 euros.", "How much does the van cost?", "12.000 euros"),
        ("The van costs 3 500 euros.", "How much does the van cost?", "3 500 euros"),
        ("The budget of Orbit is 2,500,000 dollars.", "What is the budget of Orbit?", "2,500,000 dollars"),
        ("Saltline raised $2.5M in May.", "How much did Saltline raise?", "$2.5M"),
        ("The dough needs 3/4 litre of milk.", "How much milk does the dough need?", "3/4 litre of milk"),
        ("The kiosk shows 12:30 on its clock.", "What does the kiosk show?", "12:30"),
        ("The kiosk runs v1.2 of Tidepool.", "What does the kiosk run?", "v1.2 of Tidepool"),
    ],
)
def test_number_stands_whole_in_an_answer(make_plane: MakePlane, text: str, question: str, expected: str) -> None:
    plane = make_plane("local")
    plane.post(text, agent="notes", origin="user")
    assert plane.ask(question).text == expected


@pytest.mark.parametrize(
    ("text", "question", "expected"),
    [
        ("Met Gus Ferrer, the manager of Port Vell.", "Who is the manager of Port Vell?", "Gus Ferrer"),
        ("Rose Tyler, the harbour warden, called.", "Who is the harbour warden?", "Rose Tyler"),
        ("Had lunch at Kettle with Raúl Ortiz, the caterer.", "Who is the caterer?", "Raúl Ortiz"),
        ("Ulrich Baum of Nordkap Ventures may join the round.", "Who may join the round?", "Ulrich Baum"),
        ("Sunniva Dahl from Nordhavn mends the nets.", "Who mends the nets?", "Sunniva Dahl"),
        ("The Royal Bank of Scotland sponsors the fair.", "Who sponsors the fair?", "Royal Bank of Scotland"),
        ("Coffee with Tomasz Wilk. He keeps the keys of the boat.", "Who keeps the keys?", "Tomasz Wilk"),
        ("Coffee with Tomasz Wilk and Leona Varga. He keeps the keys.", "Who keeps the keys?", UNKNOWN),
        ("My neighbour has a dog. Her name is Noor.", "Who is Noor?", UNKNOWN),
        ("Her sister feeds the goats.", "Who feeds the goats?", UNKNOWN),
        ("I sent her the revised deck.", "What did I send?", "the revised deck"),
        ("I gave Leona Varga the deck.", "What did I give Leona?", "the deck"),
    ],
)
def test_answer_is_a_whole_name_and_no_pronoun(make_plane: MakePlane, text: str, question: str, expected: str) -> None:
    plane = make_plane("local")
    plane.post(text, agent="notes", origin="user")
    assert plane.ask(question).text == expected


def test_memory_that_says_it_twice_is_one_reason(make_plane: MakePlane) -> None:
    plane = make_plane("local")
    plane.post("Elke mends the nets. Joss mends the nets too.", agent="notes", origin="user")
    found = plane.ask("Who mends the nets?")
    assert found.text == "Elke, Joss"
    assert len(found.findings) == 1
