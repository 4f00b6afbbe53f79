"""Due dates, relative to the day of writing: "by Friday", "tomorrow", "before 2026-03-14", "in two weeks"."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, date, datetime, time, timedelta

from memory_plane_local.tokens import Token

_DAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_OPENERS = frozenset(
    {"by", "before", "until", "till", "on", "due", "for", "next", "this", "end", "eod", "eow", "in", "within"}
)
_NUMBERS = {"a": 1, "an": 1, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "ten": 10}
_UNITS = {"day": 1, "days": 1, "week": 7, "weeks": 7, "month": 30, "months": 30}
_END_OF_DAY = time(23, 59)


def due_date(tokens: Sequence[Token], written: datetime) -> datetime | None:
    """Return the end of the day, where the writer was, that the words name first; None when they name none."""
    lows = [token.low for token in tokens]
    for at, low in enumerate(lows):
        day = _plain_day(low, written.date())
        if day is None and (low in _OPENERS or at == 0 or lows[at - 1] in _OPENERS):
            day = _day(lows[at : at + 5], written.date())
        if day is not None:
            return datetime.combine(day, _END_OF_DAY, written.tzinfo).astimezone(UTC)
    return None


def _plain_day(low: str, today: date) -> date | None:
    """Words that are a day without any word before them."""
    if low in ("today", "tonight", "eod"):
        return today
    return today + timedelta(days=1) if low == "tomorrow" else None


def _day(lows: Sequence[str], today: date) -> date | None:
    """The day that follows a preposition."""
    rest = [low for low in lows if low not in ("by", "before", "until", "till", "on", "due", "for", "the", "of")]
    if not rest:
        return None
    return _weekday(rest, today) or _calendar(rest, today) or _period(rest, today) or _span(lows, today)


def _weekday(rest: Sequence[str], today: date) -> date | None:
    ahead = 7 if rest[0] == "next" else 0
    word = rest[1] if rest[0] in ("next", "this") and len(rest) > 1 else rest[0]
    if (
        word[:3] not in _DAYS
        or (len(word) > 5 and not word.endswith("day"))
        or word in ("month", "money", "sun", "sat", "wed")
    ):
        return None
    distance = (_DAYS.index(word[:3]) - today.weekday()) % 7 or 7
    return today + timedelta(days=distance + (ahead if distance + ahead <= 13 and distance < 7 and ahead else 0))


def _calendar(rest: Sequence[str], today: date) -> date | None:
    """An ISO date, "May 12" or "12 May": the next one to come when no year is given."""
    try:
        return date.fromisoformat(rest[0])
    except ValueError:
        pass
    month = next((word for word in rest[:2] if word[:3] in _MONTHS and word.isalpha()), "")
    number = next((word for word in rest[:2] if word.rstrip("stndrh").isdigit()), "")
    if not month or not number:
        return None
    try:
        day = date(today.year, _MONTHS.index(month[:3]) + 1, int(number.rstrip("stndrh")))
        return day if day >= today else day.replace(year=today.year + 1)
    except ValueError:
        return None


def _period(rest: Sequence[str], today: date) -> date | None:
    """The end of a week or month: "end of week", "next month"."""
    ahead = "next" in rest[:2]
    if "week" in rest[:2] or "eow" in rest[:1]:
        return (
            today
            + timedelta(days=4 - today.weekday() if today.weekday() <= 4 else 6 - today.weekday())
            + timedelta(days=7 * ahead)
        )
    if "month" in rest[:2] and (ahead or rest[0] in ("end", "this", "month")):
        first = (today.replace(day=1) + timedelta(days=32 * (1 + ahead))).replace(day=1)
        return first - timedelta(days=1)
    return None


def _span(lows: Sequence[str], today: date) -> date | None:
    """A number of days, weeks or months from now."""
    if lows[0] not in ("in", "within") or len(lows) < 3:
        return None
    count = _NUMBERS.get(lows[1]) or (int(lows[1]) if lows[1].isdigit() and len(lows[1]) < 4 else 0)
    days = _UNITS.get(lows[2], 0) * count
    return today + timedelta(days=days) if days else None
