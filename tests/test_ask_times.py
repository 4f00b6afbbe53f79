"""Times in a question: the days that its words name, where the person is."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from memory_plane.ask import ask
from memory_plane.ask.times import Clock
from memory_plane.plane import Plane

MakePlane = Callable[..., Plane]


NOW = datetime(2026, 11, 30, 10, tzinfo=UTC)  # a Monday
UNKNOWN = "I don't know"


def read(words: str, clock: Clock) -> tuple[str, str, str] | None:
    """Return the kind of a time, its first and its last day."""
    found = clock.period(words.split(), 0)
    if found is None or found[1] != len(words.split()):
        return None
    period = found[0]
    return period.kind, period.start.date().isoformat(), period.end.date().isoformat()


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("today", ("during", "2026-11-30", "2026-12-01")),
        ("yesterday", ("during", "2026-11-29", "2026-11-30")),
        ("on friday", ("during", "2026-11-27", "2026-11-28")),
        ("last monday", ("during", "2026-11-23", "2026-11-24")),
        ("since monday", ("since", "2026-11-30", "2026-11-30")),
        ("last week", ("during", "2026-11-23", "2026-11-30")),
        ("this month", ("during", "2026-11-01", "2026-12-01")),
        ("last year", ("during", "2025-01-01", "2026-01-01")),
        ("3 days ago", ("during", "2026-11-27", "2026-11-28")),
        ("in the last two weeks", ("during", "2026-11-16", "2026-12-01")),
        ("in the next 3 days", ("during", "2026-11-30", "2026-12-04")),
        ("in march", ("during", "2026-03-01", "2026-04-01")),
        ("in december", ("during", "2025-12-01", "2026-01-01")),
        ("between november 25 and november 26", ("during", "2026-11-25", "2026-11-27")),
        ("between the 3rd and the 5th of march", ("during", "2026-03-03", "2026-03-06")),
        ("from november 25 to 27", ("during", "2026-11-25", "2026-11-28")),
        ("between monday and wednesday", ("during", "2026-11-23", "2026-11-26")),
        ("between november 25 and december 3", ("during", "2026-11-25", "2026-12-04")),
        ("between november 26 and november 25", ("during", "2026-11-25", "2026-11-27")),
        ("between may and june", ("during", "2026-05-01", "2026-07-01")),
        ("on march 3", ("during", "2026-03-03", "2026-03-04")),
        ("on the 3rd of march 2025", ("during", "2025-03-03", "2025-03-04")),
        ("in 2024", ("during", "2024-01-01", "2025-01-01")),
        ("before 2026-10-01", ("until", "2026-10-01", "2026-10-01")),
        ("as of 2026-10-01", ("as_of", "2026-10-01", "2026-10-02")),
        ("after june", ("since", "2026-07-01", "2026-11-30")),
    ],
)
def test_days_are_read(words: str, expected: tuple[str, str, str]) -> None:
    assert read(words, Clock(NOW, UTC)) == expected


@pytest.mark.parametrize(
    "words",
    [
        *("on february 31", "in acme", "since", "", "friday", "march", "2024", "in 99999 days"),
        *("between february 3 and 31", "between alice and bob", "between monday", "from 3 to 5"),
    ],
)
def test_what_is_no_time_is_none(words: str) -> None:
    assert read(words, Clock(NOW, UTC)) is None


def test_days_begin_where_the_person_is() -> None:
    period, _ = Clock(NOW, ZoneInfo("Asia/Tokyo")).period(["yesterday"], 0) or (None, 0)
    assert period is not None
    assert (period.start, period.end) == (
        datetime(2026, 11, 28, 15, tzinfo=UTC),
        datetime(2026, 11, 29, 15, tzinfo=UTC),
    )


def test_due_on_friday_is_the_next_one() -> None:
    assert read("on friday", Clock(NOW, UTC, ahead=True)) == ("during", "2026-12-04", "2026-12-05")


@pytest.mark.parametrize(
    ("text", "question", "expected"),
    [
        ("Yara moved the review from Tuesday to Thursday.", "When is the review?", "2026-12-03"),
        ("Yara moved the review from Tuesday to Thursday.", "When did Yara move the review?", UNKNOWN),
        ("On Monday Yara moved the review to Thursday.", "When did Yara move the review?", "2026-11-30"),
        ("I moved my appointment from 3 March to 10 March.", "When is my appointment?", "2027-03-10"),
        ("The review on Tuesday was moved to Thursday.", "When is the review?", "2026-12-03"),
        ("The call was postponed from 2 December to 9 December.", "When is the call?", "2026-12-09"),
        ("The call may be postponed from 2 December to 9 December.", "When is the call?", UNKNOWN),
        ("The deadline is no longer 1 April but 15 April.", "When is the deadline?", "2027-04-15"),
        (
            "The grant report is no longer due on 1 April but on 15 April.",
            "When is the grant report due?",
            "2027-04-15",
        ),
        ("The party is from Monday to Thursday.", "When is the party?", "2026-11-30"),
        ("Next meeting: 2 December at 10:00", "When is the next meeting?", "2026-12-02 at 10:00"),
    ],
)
def test_of_what_was_moved_the_new_day_is_told(make_plane: MakePlane, text: str, question: str, expected: str) -> None:
    assert answered(make_plane, text, question) == expected


@pytest.mark.parametrize(
    ("text", "question", "expected"),
    [
        ("We will launch on 15 February because the museum is closed then.", "When is the museum closed?", UNKNOWN),
        ("We will launch on 15 February because the museum is closed then.", "When will we launch?", "2027-02-15"),
        ("Rosa flies on 3 December, so Karim feeds the cat.", "When does Karim feed the cat?", UNKNOWN),
        ("The fridge broke on Monday and Sven repairs it.", "When does Sven repair the fridge?", UNKNOWN),
        ("The fridge broke on Monday and Sven repairs it.", "When did the fridge break?", "2026-11-30"),
        ("The fridge broke and Sven repairs it on Friday.", "When did the fridge break?", UNKNOWN),
        ("Ann and Bo visit Leeds on Friday, and Carl feeds the cat.", "When does Carl feed the cat?", UNKNOWN),
        ("Ann and Bo visit Leeds on Friday, and Carl feeds the cat.", "When do Ann and Bo visit Leeds?", "2026-12-04"),
        (
            "On 4 December we open the hall and Bo paints the fence on 9 December.",
            "When do we open the hall?",
            "2026-12-04",
        ),
        ("On Friday, the board met.", "When did the board meet?", "2026-11-27"),
        ("Carl painted the shed on Friday and washed the van.", "When did Carl wash the van?", UNKNOWN),
        ("Carl painted the shed and washed the van on Friday.", "When did Carl paint the shed?", "2026-11-27"),
    ],
)
def test_day_belongs_to_its_own_clause(make_plane: MakePlane, text: str, question: str, expected: str) -> None:
    assert answered(make_plane, text, question) == expected


def test_item_is_due_on_the_day_that_holds(make_plane: MakePlane) -> None:
    text = "The deadline for the grant is no longer 1 April but 15 April."
    assert answered(make_plane, text, "When is the grant due?") == "2027-04-15"


def answered(make_plane: MakePlane, text: str, question: str) -> str:
    """Return what is answered of a memory with one text, both on the same Monday."""
    plane = make_plane("local")
    plane.post(text, agent="notes", origin="user", created_at=NOW)
    with plane.database.reading() as connection:
        return ask(connection, question, NOW, UTC).text


def test_later_move_takes_the_place_of_the_day_that_was_told_before(make_plane: MakePlane) -> None:
    plane = make_plane("local")
    for hours, text in enumerate(("The review is on Tuesday.", "Yara moved the review to Thursday.")):
        plane.post(text, agent="notes", origin="user", created_at=NOW + timedelta(hours=hours))
    with plane.database.reading() as connection:
        assert ask(connection, "When is the review?", NOW + timedelta(hours=3), UTC).text == "2026-12-03"


def test_weekday_needs_no_preposition(make_plane: MakePlane) -> None:
    assert "Fixed" in answered(make_plane, "Fixed the login.", "What did notes do Monday?")
    assert answered(make_plane, "Fixed the login.", "What did notes do Sunday?") == UNKNOWN
