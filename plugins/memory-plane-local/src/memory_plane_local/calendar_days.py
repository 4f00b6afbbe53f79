"""Arithmetic of the calendar: weekdays, months, spans of time, feasts that move."""

from __future__ import annotations

import calendar
from datetime import date, datetime, timedelta
from typing import NamedTuple

from memory_plane_local.calendar_words import phrases

_SHORT = {"minute": timedelta(minutes=1), "hour": timedelta(hours=1)}
_DAYS = {"day": 1, "week": 7, "fortnight": 14}
_MONTHS = {"month": 1, "quarter": 3, "year": 12, "decade": 120}
_FRIDAY, _SATURDAY = 4, 5


class Span(NamedTuple):
    """A stretch of days, both ends in it."""

    first: date
    last: date


def moved(day: datetime, unit: str, by: int) -> datetime:
    """Return the moment `by` units later. Raises OverflowError or ValueError outside the calendar."""
    if unit in _SHORT:
        return day + by * _SHORT[unit]
    if unit in _DAYS:
        return day + timedelta(days=by * _DAYS[unit])
    if unit == "workday":
        return _worked(day, by)
    months = day.year * 12 + day.month - 1 + by * _MONTHS[unit]
    year, month = divmod(months, 12)
    return day.replace(year=year, month=month + 1, day=min(day.day, calendar.monthrange(year, month + 1)[1]))


def _worked(day: datetime, by: int) -> datetime:
    weeks, rest = divmod(abs(by), 5)
    step = timedelta(days=1 if by >= 0 else -1)
    day += step * 7 * weeks
    while rest:
        day += step
        rest -= day.weekday() < _SATURDAY
    return day


def in_week(today: date, weekday: int, weeks: int) -> date:
    """Return a weekday of this week (0) or another; on a Sunday the next week is the one after tomorrow's."""
    ahead = weeks + 1 if weeks > 0 and today.weekday() == 6 and weekday < 6 else weeks
    return today + timedelta(days=weekday - today.weekday() + 7 * ahead)


def nearest(today: date, weekday: int, way: int) -> date:
    """Return the next (1) or last (-1) such weekday that is not today."""
    return today + timedelta(days=way * ((way * (weekday - today.weekday())) % 7 or 7))


def dated(year: int | None, month: int, day: int, today: date) -> date | None:
    """Return the day of the calendar; without a year the next to come; None when no year has such a day."""
    years = [year] if year is not None else range(today.year, today.year + 9)
    for one in years:
        if 1 <= month <= 12 and 1 <= day <= calendar.monthrange(one, month)[1]:
            found = date(one, month, day)
            if year is not None or found >= today:
                return found
    return None


def span(unit: str, today: date, shift: int) -> Span:
    """Return the week (Monday to Friday, or Sunday from Saturday on), month, quarter or year `shift` from this one."""
    if unit in ("week", "weekend"):
        monday = today - timedelta(days=today.weekday() - 7 * shift)
        if unit == "weekend":
            return Span(monday + timedelta(days=_SATURDAY), monday + timedelta(days=6))
        ends = 6 if shift == 0 and today.weekday() > _FRIDAY else _FRIDAY
        return Span(monday, monday + timedelta(days=ends))
    length = _MONTHS[unit]
    start = (today.year * 12 + today.month - 1) // length * length + shift * length
    return months(start // 12, start % 12 + 1, length)


def months(year: int, month: int, length: int = 1) -> Span:
    """Return `length` months from the first of one on."""
    last = year * 12 + month - 1 + length - 1
    return Span(
        date(year, month, 1), date(last // 12, last % 12 + 1, calendar.monthrange(last // 12, last % 12 + 1)[1])
    )


def holiday(rule: str, year: int) -> date:
    """Return the day of a feast: "12-25", "easter -2", "11 thu 4" (fourth Thursday), "11 thu 4 +1"."""
    if "-" in rule and " " not in rule:
        month, day = rule.split("-")
        return date(year, int(month), int(day))
    words = rule.split()
    if words[0] == "easter":
        return easter(year) + timedelta(days=int(words[1]))
    weekday = int(phrases("weekday")[words[1]][0][1])
    return nth_weekday(year, int(words[0]), weekday, int(words[2])) + timedelta(days=int((words[3:] or ["0"])[0]))


def nth_weekday(year: int, month: int, weekday: int, nth: int) -> date:
    """Return the nth such weekday of a month; -1 is the last."""
    whole = months(year, month)
    if nth < 0:
        return whole.last - timedelta(days=(whole.last.weekday() - weekday) % 7)
    return whole.first + timedelta(days=(weekday - whole.first.weekday()) % 7 + 7 * (nth - 1))


def easter(year: int) -> date:
    """Return Easter Sunday of the Gregorian calendar (Gauss's rule in Meeus' form)."""
    golden, hundreds, rest = year % 19, year // 100, year % 100
    skipped, moon = hundreds // 4, (hundreds + 8) // 25
    epact = (19 * golden + hundreds - skipped - (hundreds - moon + 1) // 3 + 15) % 30
    weekday = (32 + 2 * (hundreds % 4) + 2 * (rest // 4) - epact - rest % 4) % 7
    late = (golden + 11 * epact + 22 * weekday) // 451
    month, day = divmod(epact + weekday - 7 * late + 114, 31)
    return date(year, month, day + 1)
