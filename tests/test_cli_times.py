from __future__ import annotations

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import click
import pytest

from memory_plane.surfaces.cli.times import Moment, parse

BERLIN = ZoneInfo("Europe/Berlin")
NOW = datetime(2026, 11, 3, 23, 30, tzinfo=UTC)  # half past midnight on the 4th in Berlin


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("now", "2026-11-03T23:30"),
        ("today", "2026-11-03T23:00"),
        ("Yesterday", "2026-11-02T23:00"),
        ("tomorrow", "2026-11-04T23:00"),
        ("2026-07-01", "2026-06-30T22:00"),
        ("2026-12-01", "2026-11-30T23:00"),
        ("2026-12-01 14:00", "2026-12-01T13:00"),
        ("2026-12-01T14:00", "2026-12-01T13:00"),
        ("2026-12-01T14:00Z", "2026-12-01T14:00"),
        ("2026-12-01T14:00+05:30", "2026-12-01T08:30"),
        ("30m", "2026-11-03T23:00"),
        ("2h", "2026-11-03T21:30"),
        ("2h ago", "2026-11-03T21:30"),
        ("3 days ago", "2026-10-31T23:30"),
        ("1w", "2026-10-27T23:30"),
        ("in 3 days", "2026-11-06T23:30"),
        ("monday", "2026-11-01T23:00"),
        ("last friday", "2026-10-29T23:00"),
        ("next week", "2026-11-08T23:00"),
        ("last month", "2026-09-30T22:00"),
        ("eod", "2026-11-04T22:59:59.999999"),
    ],
)
def test_moment_is_read_in_the_persons_zone(text: str, expected: str) -> None:
    assert parse(text, now=NOW, zone=BERLIN) == datetime.fromisoformat(expected).replace(tzinfo=UTC)


def test_bare_span_lies_ahead_where_the_option_looks_ahead() -> None:
    assert parse("3d", now=NOW, zone=BERLIN, ahead=True) == NOW + timedelta(days=3)
    assert parse("3d ago", now=NOW, zone=BERLIN, ahead=True) == NOW - timedelta(days=3)


def test_day_counts_to_its_last_moment_where_an_end_is_asked_for() -> None:
    end = datetime(2026, 11, 4, 22, 59, 59, 999999, tzinfo=UTC)
    assert parse("today", now=NOW, zone=BERLIN, end=True) == end
    assert parse("2026-11-04", now=NOW, zone=BERLIN, end=True) == end


def test_without_a_zone_the_machines_own_is_used() -> None:
    local = datetime(2026, 7, 1).astimezone()
    assert parse("2026-07-01", now=NOW, zone=None) == local


@pytest.mark.parametrize("text", ["", "soon", "3x", "2026-13-01", "d", "yesterday 3d", "99:99"])
def test_other_words_are_refused(text: str) -> None:
    with pytest.raises(ValueError):
        parse(text, now=NOW, zone=BERLIN)


@pytest.mark.parametrize("text", ["999999w", "0001-01-01", "9999-12-31T23:59-12:00"])
def test_moment_out_of_range_overflows_loudly(text: str) -> None:
    with pytest.raises((ValueError, OverflowError)):
        parse(text, now=NOW, zone=BERLIN)


@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("friday", "2026-11-06"),
        ("on Friday", "2026-11-06"),
        ("wednesday", "2026-11-04"),
        ("next wednesday", "2026-11-11"),
        ("next  week", "2026-11-15"),
        ("next month", "2026-12-31"),
        ("eod", "2026-11-04"),
    ],
)
def test_due_day_is_the_last_moment_of_what_lies_ahead(text: str, day: str) -> None:
    due = parse(text, now=NOW, zone=BERLIN, ahead=True, end=True)
    assert due.astimezone(BERLIN).isoformat() == f"{day}T23:59:59.999999+01:00"


@pytest.mark.parametrize("text", ["may", "fridays", "friday or so", "next", "2026"])
def test_what_is_no_moment_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="Invalid isoformat"):
        parse(text, now=NOW, zone=BERLIN, ahead=True)


@pytest.mark.parametrize(("ahead", "days"), [(True, "tomorrow, friday, 'next week'"), (False, "yesterday, monday")])
def test_refusal_tells_of_days_that_lie_where_the_option_looks(ahead: bool, days: str) -> None:
    with pytest.raises(click.BadParameter, match=days):
        Moment(ahead=ahead).convert("someday", None, None)
