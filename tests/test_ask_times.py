"""Times in a question: the days that its words name, where the person is."""

from __future__ import annotations

from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest

from memory_plane.ask.times import Clock

NOW = datetime(2026, 11, 30, 10, tzinfo=UTC)  # a Monday


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
