"""Days that a text names."""

from __future__ import annotations

import time
from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest

from memory_plane_local.calendar_days import easter
from memory_plane_local.dates import due_date, find_days
from memory_plane_local.tokens import tokenize

WEDNESDAY = datetime(2026, 11, 25, 9, tzinfo=UTC)


def days(text: str) -> list[str]:
    return [day.last.isoformat() for day in find_days(tokenize(text), WEDNESDAY)]


@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("ship it on 2026-12-24", "2026-12-24"),
        ("ship it on 24.12.2026", "2026-12-24"),
        ("ship it on 12/24/26", "2026-12-24"),
        ("ship it 24/Dec/2026", "2026-12-24"),
        ("due 22/04", "2027-04-22"),
        ("report-2026-10-09.xlsx", "2026-10-09"),
        ("the 23rd of December", "2026-12-23"),
        ("on May the ninth", "2027-05-09"),
        ("Sept. 5, 2027", "2027-09-05"),
        ("the twenty-third day of September nineteen eighty-six", "1986-09-23"),
        ("January first two thousand and thirty", "2030-01-01"),
    ],
)
def test_calendar_dates_in_figures_and_words(text: str, day: str) -> None:
    assert days(text) == [day]


@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("see you Friday", "2026-11-27"),
        ("see you next Friday", "2026-12-04"),
        ("we met last Monday", "2026-11-16"),
        ("this past Tuesday", "2026-11-24"),
        ("Tuesday next week", "2026-12-01"),
        ("next week on Tuesday", "2026-12-01"),
        ("on Friday the 11th", "2026-12-11"),
        ("Friday, Dec 11", "2026-12-11"),
        ("the first Friday of next month", "2026-12-04"),
        ("the last Monday of May", "2027-05-31"),
        ("the day after tomorrow", "2026-11-27"),
        ("in two weeks", "2026-12-09"),
        ("2 years, 1 month and 3 days ago", "2024-10-22"),
        ("a week from tomorrow", "2026-12-03"),
        ("three days before Christmas", "2026-12-22"),
        ("in 3 business days", "2026-11-30"),
        ("in 20 hours", "2026-11-26"),
        ("by the 5th", "2026-12-05"),
        ("the 15th of next month", "2026-12-15"),
        ("last Easter", "2026-04-05"),
        ("Thanksgiving 2027", "2027-11-25"),
        ("Thursday week", "2026-12-03"),
        ("Thursday fortnight", "2026-12-10"),
        ("Sun 3pm", "2026-11-29"),
        ("a week on Friday", "2026-12-04"),
        ("two weeks today", "2026-12-09"),
        ("the Monday after Christmas", "2026-12-28"),
        ("Friday after next", "2026-12-11"),
        ("the day before Christmas Eve", "2026-12-23"),
        ("close of business Friday", "2026-11-27"),
        ("in 2-3 days", "2026-11-28"),
        ("within the next two days", "2026-11-27"),
        ("in a month's time", "2026-12-25"),
    ],
)
def test_days_relative_to_the_day_of_writing(text: str, day: str) -> None:
    assert days(text) == [day]


@pytest.mark.parametrize(
    ("text", "last"),
    [
        ("by end of month", "2026-11-30"),
        ("end of the week", "2026-11-27"),
        ("early next month", "2026-12-11"),
        ("in March", "2027-03-31"),
        ("by May 2027", "2027-05-31"),
        ("in Q1", "2027-03-31"),
        ("by eoy", "2026-12-31"),
        ("before 2028", "2028-12-31"),
    ],
)
def test_period_has_a_last_day(text: str, last: str) -> None:
    assert days(text) == [last]


@pytest.mark.parametrize(
    ("text", "first", "last"),
    [
        ("Mon–Wed", "2026-11-30", "2026-12-02"),
        ("Thursday to Monday", "2026-11-26", "2026-11-30"),
        ("March 23-27", "2027-03-23", "2027-03-27"),
        ("April 3rd–5th, 2028", "2028-04-03", "2028-04-05"),
        ("23 to 27 March", "2027-03-23", "2027-03-27"),
        ("2026-12-01 to 2026-12-04", "2026-12-01", "2026-12-04"),
        ("the week of December 9", "2026-12-07", "2026-12-13"),
        ("calendar week 2", "2027-01-11", "2027-01-17"),
        ("2026-W53", "2026-12-28", "2027-01-03"),
        ("before the weekend", "2026-11-28", "2026-11-29"),
        ("end of H1", "2027-06-30", "2027-06-30"),
    ],
)
def test_stretch_of_days_has_both_ends(text: str, first: str, last: str) -> None:
    (day,) = find_days(tokenize(text), WEDNESDAY)
    assert (day.first.isoformat(), day.last.isoformat()) == (first, last)


@pytest.mark.parametrize(
    ("zone", "day"), [("America/Chicago", "2026-12-11"), ("Europe/Berlin", "2027-11-12"), ("UTC", "2026-12-11")]
)
def test_figures_are_read_as_where_the_writer_is(zone: str, day: str) -> None:
    (found,) = find_days(tokenize("due 12/11"), WEDNESDAY.astimezone(ZoneInfo(zone)))
    assert found.first.isoformat() == day


@pytest.mark.parametrize(
    "text",
    [
        "This may or may not be right. May I ask why?",
        "the march of progress, a second of rest, the sun deck",
        "step 3/15 and 8/1.5, 4:3, 24/7, version 2.11.7, RFC 2119",
        "Tel: +86 138-2010-2015, ssn 123-12-1234, call (206) 555-1212",
        "32 - 2015 or 2015-32 or feb 30",
        "deliver 2000 pieces to 12 people on the 18th floor",
        "end of the line",
        "10/10 would buy again, 3/4 of the milk, 1/2 done, room 5/6",
        "Sun and wind, version 1.2.2026 of it",
        "2026-W54, h1 and h2 tags, calendar week 0",
    ],
)
def test_numbers_and_ordinary_words_are_no_days(text: str) -> None:
    assert days(text) == []


@pytest.mark.parametrize("text", ["we shipped it yesterday", "since Monday", "I fix it now", "with Friday's help"])
def test_past_days_and_now_are_no_due_date(text: str) -> None:
    assert due_date(tokenize(text), WEDNESDAY) is None


@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("before June", "2027-05-31"),
        ("before the weekend", "2026-11-27"),
        ("before Friday", "2026-11-27"),
        ("by noon", "2026-11-25"),
        ("by 5pm", "2026-11-25"),
        ("before 17:30", "2026-11-25"),
        ("by 5pm tomorrow", "2026-11-26"),
    ],
)
def test_due_is_the_last_day_that_keeps_it(text: str, day: str) -> None:
    due = due_date(tokenize(text), WEDNESDAY)
    assert due is not None and due.date().isoformat() == day


def test_first_day_to_come_is_due() -> None:
    due = due_date(tokenize("found it yesterday, will fix it Monday or Tuesday"), WEDNESDAY)
    assert due == datetime(2026, 11, 30, 23, 59, tzinfo=UTC)


@pytest.mark.parametrize(
    "text",
    [
        "in 9999 years",
        "in 999 decades",
        "13/13/2026",
        "9999 years ago",
        "0000-01-01",
        "valid until 9999-12-31",
        "0001-01-01",
    ],
)
def test_days_outside_the_calendar_are_left_out(text: str) -> None:
    assert days(text) == []


@pytest.mark.parametrize("text", ["3 days and ", "2 days after ", "Friday the ", "first of the last day of ", "1/"])
def test_long_chains_of_dates_are_read_in_linear_time(text: str) -> None:
    begin = time.process_time()
    days(text * (20_000 // len(text)))
    assert time.process_time() - begin < 5


def test_easter_of_known_years() -> None:
    assert [easter(year).isoformat() for year in (2018, 2024, 2025)] == ["2018-04-01", "2024-03-31", "2025-04-20"]
