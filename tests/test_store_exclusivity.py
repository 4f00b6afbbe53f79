"""What holds when: what sentences say of time, what takes the place of what, and whose words may end it."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import pytest

from memory_plane import Plane

MakePlane = Callable[..., Plane]
NOW = datetime.now(UTC)
DAY = timedelta(days=1)


@pytest.fixture
def plane(make_plane: MakePlane) -> Plane:
    return make_plane("local", timezone="UTC")


def say(plane: Plane, text: str, days_ago: float = 0, origin: str = "user") -> str:
    return plane.post(text, agent="muse", origin=origin, created_at=NOW - days_ago * DAY).id


def employers(plane: Plane, who: str = "Ann Lee", **when: object) -> set[str]:
    """Return where the graph says that somebody works."""
    found = plane.graph(about=who, **when).edges  # type: ignore[arg-type]
    return {edge.target.name for edge in found if edge.relation == "WORKS_AT"}


def test_newer_employer_takes_the_place_of_the_older_one_and_both_are_kept(plane: Plane) -> None:
    say(plane, "Ann Lee works at Acme.", 30)
    say(plane, "Ann Lee works at Globex.", 10)
    assert employers(plane) == {"Globex"}
    assert employers(plane, as_of=NOW - 20 * DAY) == {"Acme"}
    assert plane.ask("Where does Ann Lee work?").text == "Globex"
    assert plane.ask("Where did Ann Lee work before?").text == "Acme"
    assert plane.ask("Does Ann Lee work at Acme?").text.startswith("No, not since")


def test_order_of_arrival_does_not_matter(plane: Plane) -> None:
    say(plane, "Ann Lee works at Globex.", 10)
    say(plane, "Ann Lee works at Acme.", 30)
    assert employers(plane) == {"Globex"}


def test_retracting_the_newer_employer_brings_the_older_one_back(plane: Plane) -> None:
    say(plane, "Ann Lee works at Acme.", 30)
    newer = say(plane, "Ann Lee works at Globex.", 10)
    plane.retract(newer, agent="muse")
    assert employers(plane) == {"Acme"}


def test_employer_that_another_took_the_place_of_does_not_come_back_when_that_ends(plane: Plane) -> None:
    say(plane, "Ann Lee works at Acme.", 30)
    say(plane, "Ann Lee works at Globex.", 20)
    say(plane, "Ann Lee no longer works at Globex.", 10)
    assert employers(plane) == set()
    assert employers(plane, as_of=NOW - 25 * DAY) == {"Acme"}
    assert employers(plane, as_of=NOW - 15 * DAY) == {"Globex"}
    assert plane.ask("Where does Ann Lee work?").known is False
    say(plane, "Ann Lee is back at Acme.", 5)
    assert employers(plane) == {"Acme"}


def test_who_is_said_to_be_back_works_there_again(plane: Plane) -> None:
    for days, firm in ((30, "Acme"), (20, "Globex"), (10, "Acme")):
        say(plane, f"Ann Lee works at {firm}.", days)
    assert employers(plane) == {"Acme"}
    assert employers(plane, as_of=NOW - 15 * DAY) == {"Globex"}


def test_two_employers_of_one_memory_stand_beside_each_other(plane: Plane) -> None:
    say(plane, "Ann Lee works at Initech.", 30)
    say(plane, "Ann Lee works at Acme and Globex.", 10)
    assert employers(plane) == {"Acme", "Globex"}


def test_of_two_dates_the_later_one_counts_whatever_was_said_last(plane: Plane) -> None:
    say(plane, "Ann Lee joined Globex in March 2024.", 30)
    say(plane, "Ann Lee joined Acme in 2015.", 10)
    assert employers(plane) == {"Globex"}
    assert employers(plane, as_of=datetime(2020, 1, 1, tzinfo=UTC), known_at=NOW) == {"Acme"}


def test_as_it_was_known_before_the_change_was_told(plane: Plane) -> None:
    say(plane, "Ann Lee works at Acme.", 30)
    say(plane, "Ann Lee joined Globex two weeks ago.", 1)
    at = NOW - 10 * DAY
    assert employers(plane, as_of=at) == {"Acme"}
    assert employers(plane, as_of=at, known_at=NOW) == {"Globex"}


def test_offices_end_with_the_next_employer(plane: Plane) -> None:
    say(plane, "Ann Lee is the CTO of Acme.", 30)
    say(plane, "Ann Lee works at Globex.", 10)
    assert plane.ask("Where does Ann Lee work?").text == "Globex"
    assert {edge.relation for edge in plane.graph(about="Acme").edges} == set()


def test_organisations_may_be_in_several_places(plane: Plane) -> None:
    say(plane, "Acme Labs is located in Berlin.", 30)
    say(plane, "Acme Labs is located in Paris.", 10)
    assert {edge.target.name for edge in plane.graph(about="Acme Labs").edges} == {"Berlin", "Paris"}


@pytest.mark.parametrize(
    "text",
    [
        "Ann Lee works at Evil Corp.",
        "Ann Lee left Acme.",
        "Ann Lee no longer works at Acme.",
        "Ann Lee does not work at Acme.",
        "Ann Lee moved from Acme to Evil Corp.",
    ],
)
def test_words_of_other_people_end_nothing_that_the_person_said(plane: Plane, text: str) -> None:
    say(plane, "Ann Lee works at Acme.", 30)
    say(plane, text, 10, origin="external")
    assert "Acme" in employers(plane)
    assert plane.ask("Where does Ann Lee work?").text.split(",")[0] == "Acme"
    assert plane.ask("Does Ann Lee work at Acme?").text == "Yes"


def test_person_ends_what_other_people_said(plane: Plane) -> None:
    say(plane, "Ann Lee works at Acme.", 30, origin="external")
    say(plane, "Ann Lee works at Globex.", 40)
    assert employers(plane) == {"Acme", "Globex"}
    say(plane, "Ann Lee left Acme.", 10)
    assert employers(plane) == {"Globex"}


@pytest.mark.parametrize(
    ("text", "question", "answer"),
    [
        ("Marco joined Acme in March 2024.", "When did Marco join Acme?", "2024-03-01"),
        ("Marco has worked at Acme since 2019.", "Since when does Marco work at Acme?", "2019-01-01"),
        ("Marco left Acme on 2 May 2023.", "When did Marco leave Acme?", "2023-05-02"),
        ("Kim founded Northwind in 2015.", "When was Northwind founded?", "2015-01-01"),
        ("Marco works at Acme.", "When did Marco join Acme?", f"noted on {NOW.date()}"),
    ],
)
def test_when_is_answered_with_the_date_of_the_sentence(plane: Plane, text: str, question: str, answer: str) -> None:
    say(plane, text)
    assert answer in plane.ask(question).text


@pytest.mark.parametrize(
    ("text", "now", "before"),
    [
        ("Ann Lee moved from Acme to Globex.", "Globex", "Acme"),
        ("Ann Lee left Acme for Globex.", "Globex", "Acme"),
        ("Ann Lee quit Acme to join Globex.", "Globex", "Acme"),
        ("Ann Lee used to work at Acme, now she works at Globex.", "Globex", "Acme"),
        ("Ann Lee joined Acme in 2015. She joined Globex in 2020.", "Globex", "Acme"),
    ],
)
def test_language_says_what_takes_the_place_of_what(plane: Plane, text: str, now: str, before: str) -> None:
    say(plane, text)
    assert plane.ask("Where does Ann Lee work?").text == now
    assert plane.ask("Where did Ann Lee work before?").text == before


def test_home_that_was_left_is_known(plane: Plane) -> None:
    say(plane, "Ann Lee moved from Berlin to Lisbon in May 2025.")
    assert plane.ask("Where does Ann Lee live?").text == "Lisbon"
    assert plane.ask("Where did Ann Lee live before?").text == "Berlin"


def test_ask_leaves_out_what_is_not_sure_enough(make_plane: MakePlane) -> None:
    plane = make_plane("local", min_confidence=0.99)
    say(plane, "Ann Lee works at Acme.")
    assert plane.ask("Where does Ann Lee work?").text == "I don't know"


def test_rebuilt_memory_has_the_same_edges(plane: Plane) -> None:
    for days, text in (
        (30, "Ann Lee works at Acme."),
        (20, "Ann Lee joined Globex in March."),
        (10, "Ann Lee left Acme."),
    ):
        say(plane, text, days)
    before = plane.graph(as_of=NOW, known_at=NOW), plane.graph(as_of=NOW - 25 * DAY)
    plane.rebuild()
    assert (plane.graph(as_of=NOW, known_at=NOW), plane.graph(as_of=NOW - 25 * DAY)) == before


@pytest.mark.parametrize("order", [(0, 1, 2, 3), (3, 2, 1, 0), (1, 3, 0, 2), (2, 0, 3, 1)])
def test_any_order_gives_the_same_ends(plane: Plane, order: tuple[int, ...]) -> None:
    said = [
        ("Ann Lee works at Acme.", 40, "user"),
        ("Ann Lee works at Evil Corp.", 30, "external"),
        ("Ann Lee joined Globex two weeks ago.", 10, "agent"),
        ("Ann Lee works at Initech.", 5, "agent"),
    ]
    for place in order:
        say(plane, *said[place])
    assert employers(plane) == {"Initech", "Evil Corp"}
    assert [employers(plane, as_of=NOW - days * DAY) for days in (35, 20, 7)] == [
        {"Acme"}, {"Acme", "Evil Corp"}, {"Globex", "Evil Corp"},
    ]  # fmt: skip


def test_somebody_who_is_only_called_by_a_first_name_changes_jobs_too(plane: Plane) -> None:
    say(plane, "Ann works at Acme.", 30)
    say(plane, "Ann works at Globex.", 10)
    assert plane.ask("Where does Ann work?").text == "Globex"


def test_contradictions_are_listed_until_somebody_says_what_is_over(plane: Plane) -> None:
    say(plane, "Ann Lee works at Acme.", 40)
    say(plane, "Ann Lee works at Globex.", 30)
    say(plane, "Ann Lee works at Evil Corp.", 20, origin="external")
    found = {(one.stands.target.name, one.against.target.name, one.against.origin) for one in plane.contradictions()}
    assert found == {("Globex", "Acme", "user"), ("Globex", "Evil Corp", "external")}
    say(plane, "Ann Lee left Acme.", 10)
    assert [one.against.target.name for one in plane.contradictions()] == ["Evil Corp"]
    assert len(plane.contradictions(limit=1)) == 1
