"""Times in a question: "since Monday", "last week", "in March 2026", "as of 2026-10-01", "3 days ago"."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta, tzinfo
from typing import NamedTuple

WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_MONTHS = (
    "january", "february", "march", "april", "may", "june",
    "july", "august", "september", "october", "november", "december",
)  # fmt: skip
_NUMBERS = ("a", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
_UNITS = {"day": 1, "week": 7, "fortnight": 14, "month": 30, "quarter": 91, "year": 365}
_OPENERS: dict[tuple[str, ...], str] = {
    ("as", "of"): "as_of",
    ("since",): "since",
    ("after",): "after",
    ("before",): "until",
    ("until",): "until",
    ("till",): "until",
    ("by",): "until",
    ("in",): "during",
    ("on",): "during",
    ("during",): "during",
    ("over",): "during",
    ("within",): "during",
    ("for",): "during",
    ("back", "in"): "during",
}
_STRETCHES = {"between": ("and",), "from": ("to", "till", "until", "through")}
_BY_WORD = {
    words[0]: [(opener, kind) for opener, kind in _OPENERS.items() if opener[0] == words[0]] for words in _OPENERS
}
_SPANS = frozenset({"weekend", "noon", "midnight", "morning", "afternoon", "evening", "eod", "eow", "eom", "hour"})
_ALONE = frozenset({"today", "yesterday", "tonight", "last", "past", "this", "next", "recently", "lately", "tomorrow"})


class Period(NamedTuple):
    """A stretch of time that a question speaks of; `kind` is `during`, `since`, `until` or `as_of` its end."""

    kind: str
    start: datetime
    end: datetime


@dataclass(frozen=True, slots=True)
class Clock:
    """Now, and the zone whose days count (None = this machine's); `ahead` = a weekday is the next one, not the last.

    `coming` = so is a day of a month.
    """

    now: datetime
    zone: tzinfo | None = None
    ahead: bool = False
    coming: bool = False

    def period(self, lows: Sequence[str], at: int) -> tuple[Period, int] | None:
        """Return the time that the words from `at` on tell, and the word after it."""
        for opener, kind in _BY_WORD.get(lows[at], ()) if at < len(lows) else ():
            if tuple(lows[at : at + len(opener)]) == opener:
                found = self._days(lows, _past_article(lows, at + len(opener)))
                return None if found is None else (self._period(kind, found[0], found[1]), found[2])
        if found := self._stretch(lows, at):
            return self._period("during", found[0], found[1]), found[2]
        if at < len(lows) and (lows[at] in _ALONE or "ago" in lows[at + 1 : at + 3]):
            found = self._days(lows, at)
            return None if found is None else (self._period("during", found[0], found[1]), found[2])
        return None

    def _stretch(self, lows: Sequence[str], at: int) -> tuple[date, date, int] | None:
        """Return the days of "between November 25 and 27", "between 3 and 5 March", "from Monday to Wednesday"."""
        links = _STRETCHES.get(lows[at], ()) if at < len(lows) else ()
        begin = _past_article(lows, at + 1)
        one = self._days(lows, begin)
        place = one[2] if one else begin + 1
        if place + 1 >= len(lows) or lows[place] not in links:
            return None
        place = _past_article(lows, place + 1)
        other = self._days(lows, place) if place < len(lows) else None
        try:
            if one is None and other is not None and any(map(_month, lows[place : place + 3])):
                one = (other[0].replace(day=_ordinal(lows[begin])),) * 2 + (place,)
            elif other is None and one is not None and place < len(lows):
                other = (one[0].replace(day=_ordinal(lows[place])),) * 2 + (place + 1,)
        except ValueError:  # no day of that month
            return None
        if one is None or other is None:
            return None
        return *_in_turn(one[0], other[1], weekdays=lows[begin] in WEEKDAYS), other[2]

    def _period(self, kind: str, first: date, last: date) -> Period:
        begin, end = self._midnight(first), self._midnight(last + timedelta(days=1))
        if kind == "after":
            return Period("since", end, self.now)
        if kind == "since":
            return Period("since", begin, self.now)
        return Period(kind, begin, begin if kind == "until" else end)

    def _midnight(self, day: date) -> datetime:
        moment = datetime.combine(day, time.min)
        return (moment.replace(tzinfo=self.zone) if self.zone else moment).astimezone(self.now.tzinfo)

    def _days(self, lows: Sequence[str], at: int) -> tuple[date, date, int] | None:
        """Return the first and the last day that the words name, and the word after them."""
        if at >= len(lows):
            return None
        today = self.now.astimezone(self.zone).date()
        try:
            return (
                _plain(lows, at, today)
                or _span(lows, at, today)
                or self._weekday(lows, at, today)
                or self._calendar(lows, at, today)
            )
        except (ValueError, OverflowError):  # the 31st of February, the year 99999
            return None

    def _weekday(self, lows: Sequence[str], at: int, today: date) -> tuple[date, date, int] | None:
        step = lows[at] in ("last", "this", "next")
        name = lows[at + step] if at + step < len(lows) else ""
        if name not in WEEKDAYS:
            return None
        back = (today.weekday() - WEEKDAYS.index(name)) % 7
        if lows[at] == "next" or (self.ahead and lows[at] != "last"):
            day = today + timedelta(days=(7 - back) % 7 or 7 * (lows[at] == "next"))
        else:
            day = today - timedelta(days=back or 7 * (lows[at] == "last"))
        return day, day, at + step + 1

    def _calendar(self, lows: Sequence[str], at: int, today: date) -> tuple[date, date, int] | None:
        """Return the days of "2026-03-14", "2026", "March", "March 2026", "March 3", "3 March 2026"."""
        word = lows[at]
        if len(word) == 10 and word[4:5] == "-":
            day = date.fromisoformat(word)
            return day, day, at + 1
        if _is_year(word):
            return date(int(word), 1, 1), date(int(word), 12, 31), at + 1
        number, place = (_ordinal(word), at + 1) if _ordinal(word) else (0, at)
        place += place < len(lows) and number > 0 and lows[place] == "of"
        month = _month(lows[place]) if place < len(lows) else 0
        if not month:
            return None
        place += 1
        if not number and place < len(lows) and _ordinal(lows[place]):
            number, place = _ordinal(lows[place]), place + 1
        year, place = (int(lows[place]), place + 1) if place < len(lows) and _is_year(lows[place]) else (0, place)
        first, last = _in_month(year or today.year, month, number)
        if not year and first > today and not self.ahead:
            first, last = _in_month(today.year - 1, month, number)
        if not year and last < today and self.coming:
            first, last = _in_month(today.year + 1, month, number)
        return first, last, place


def is_of_days(low: str) -> bool:
    """Whether a word is of the calendar or the clock: "friday", "fri", "march", "weeks", "tomorrow", "5th"."""
    plain = low.removesuffix("s")
    weekday = any(low in (name, name[:3]) or plain == name for name in WEEKDAYS)
    return weekday or _month(low) > 0 or plain in _UNITS or plain in _SPANS or low in _ALONE or low[:1].isdecimal()


def _plain(lows: Sequence[str], at: int, today: date) -> tuple[date, date, int] | None:
    match lows[at]:
        case "today" | "tonight":
            return today, today, at + 1
        case "yesterday":
            return today - timedelta(days=1), today - timedelta(days=1), at + 1
        case "tomorrow":
            return today + timedelta(days=1), today + timedelta(days=1), at + 1
        case "recently" | "lately":
            return today - timedelta(days=7), today, at + 1
    return None


def _span(lows: Sequence[str], at: int, today: date) -> tuple[date, date, int] | None:
    """Return the days of "last week", "the past 3 days", "2 weeks ago"."""
    step = lows[at] in ("last", "past", "this", "next")
    rest = lows[at + step : at + step + 3]
    count = _count(rest[0]) if rest else 0
    unit = rest[count > 0].removesuffix("s") if len(rest) > (count > 0) else ""
    if unit not in _UNITS:
        return None
    end = at + step + (count > 0) + 1
    if not step and rest[2:] == ["ago"]:
        day = today - timedelta(days=(count or 1) * _UNITS[unit])
        return day, day, end + 1
    if step and count and lows[at] != "this":
        days = timedelta(days=count * _UNITS[unit])
        return (today, today + days, end) if lows[at] == "next" else (today - days, today, end)
    return (*_named_span(lows[at], unit, today), end) if step and not count else None


def _named_span(which: str, unit: str, today: date) -> tuple[date, date]:
    """Return the calendar week, month or year that is over, running or to come."""
    ahead = {"this": 0, "next": 1}.get(which, -1)
    if unit == "year":
        return date(today.year + ahead, 1, 1), date(today.year + ahead, 12, 31)
    if unit == "month":
        years, month = divmod(today.month - 1 + ahead, 12)
        return _in_month(today.year + years, month + 1, 0)
    if unit == "week":
        monday = today - timedelta(days=today.weekday()) + timedelta(weeks=ahead)
        return monday, monday + timedelta(days=6)
    days = timedelta(days=_UNITS[unit])
    return (today - days, today) if ahead <= 0 else (today, today + days)


def _in_turn(first: date, last: date, *, weekdays: bool) -> tuple[date, date]:
    """Return two days, each of which was taken for the last of its name, as a stretch: Monday to Wednesday."""
    if last >= first:
        return first, last
    if weekdays:
        return first - timedelta(weeks=1), last
    year = timedelta(days=_UNITS["year"])
    return (last, first) if 2 * (first - last) < year else (first, last + year)


def _in_month(year: int, month: int, day: int) -> tuple[date, date]:
    if day:
        return date(year, month, day), date(year, month, day)
    first = date(year, month, 1)
    return first, (first + timedelta(days=32)).replace(day=1) - timedelta(days=1)


def _past_article(lows: Sequence[str], at: int) -> int:
    return at + (at < len(lows) and lows[at] == "the")


def _count(word: str) -> int:
    if word.isdecimal() and len(word) < 4:
        return int(word)
    return max(_NUMBERS.index(word), 1) if word in _NUMBERS else 0


def _is_year(word: str) -> bool:
    return len(word) == 4 and word.isdecimal() and word[:2] in ("19", "20")


def _ordinal(word: str) -> int:
    """Return the day of a month that a word names, 0 for none."""
    digits = word.removesuffix(word.lstrip("0123456789")) if word[:1].isdecimal() else ""
    return int(digits) if digits and len(digits) < 3 and word[len(digits) :] in ("", "st", "nd", "rd", "th") else 0


def _month(word: str) -> int:
    named = [number for number, month in enumerate(_MONTHS, 1) if word in (month, month[:3])]
    return named[0] if named else 0
