"""The day that words name, as people write it in a message: "by Friday", "tmrw", "Dec 12", "in two weeks"."""

from __future__ import annotations

import re
from contextlib import suppress
from datetime import UTC, date, datetime, time, timedelta
from itertools import islice

_DAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_NUMBERS = {"a": 1, "an": 1, "one": 1, "two": 2, "couple": 2, "three": 3, "four": 4, "five": 5, "six": 6, "ten": 10}
_UNITS = {"day": 1, "week": 7, "month": 30}
_TRIES = 10
_MONTH = (
    r"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?"
    r"|nov(?:ember)?|dec(?:ember)?)"
)
_NAMED = re.compile(
    r"\b(?:"
    r"(?P<iso>20\d\d-\d\d-\d\d)"
    r"|(?P<today>today|tonight|eod|end of day|this (?:morning|afternoon|evening))"
    r"|(?P<tomorrow>tomorrow|tomorow|tmrw|tmr|tmw|2morrow)"
    r"|(?P<next>next )?(?P<weekday>(?:mon|tues|wednes|thurs|fri|satur|sun)day)s?"
    r"|(?P<short>(?:by|on|before|until|till|due|this|next) (?:mon|tues?|wed|thu(?:rs?)?|fri|sat|sun))"
    r"|(?P<week>(?:(?:by|this|next|the) )?(?:end of (?:the |this |next )?week|eow|weekend)|(?:this|next) week)"
    r"|(?P<month>(?:end of (?:the |this |next )?|next )month|eom)"
    r"|in (?P<count>\d{1,2}|an?|one|two|a couple(?: of)?|three|four|five|six|ten) (?P<unit>day|week|month)s?"
    rf"|(?P<named>{_MONTH})\.? (?P<dom>\d{{1,2}})(?:st|nd|rd|th)?(?!\d)"
    rf"|(?P<dom2>\d{{1,2}})(?:st|nd|rd|th)?(?: of)? (?P<named2>{_MONTH})"
    r"|(?:by|on|before|until) the (?P<dom3>\d{1,2})(?:st|nd|rd|th)"
    r")\b",
    re.IGNORECASE,
)


def due_in(text: str, at: datetime) -> datetime | None:
    """Return the end of the day, where this machine is, that `text` written at `at` names first; None for none."""
    for found in islice(_NAMED.finditer(text), _TRIES):
        said = {key: value.lower() for key, value in found.groupdict().items() if value}
        with suppress(ValueError, OverflowError, OSError):  # there is no 30 February
            day = _day(said, at.astimezone().date())
            return datetime.combine(day, time(23, 59)).astimezone().astimezone(UTC)
    return None


def _day(said: dict[str, str], today: date) -> date:
    match said:
        case {"iso": written}:
            return date.fromisoformat(written)
        case {"today": _}:
            return today
        case {"tomorrow": _}:
            return today + timedelta(days=1)
        case {"weekday": name}:
            return _weekday(name, today, ahead="next" in said)
        case {"short": words}:
            return _weekday(words.split()[1], today, ahead=words.startswith("next"))
        case {"week": words}:
            return _end_of_week(words, today)
        case {"month": words}:
            return _end_of_month(today, ahead="next" in words)
        case {"count": number, "unit": unit}:
            count = int(number) if number.isdigit() else _NUMBERS[number.removeprefix("a ").split()[0]]
            return today + timedelta(days=count * _UNITS[unit])
        case {"named": month, "dom": day} | {"named2": month, "dom2": day}:
            return _date(today, _MONTHS.index(month[:3]) + 1, int(day))
        case {"dom3": day}:
            return _day_of_month(today, int(day))
    raise ValueError(f"names no day: {said}")


def _weekday(name: str, today: date, *, ahead: bool) -> date:
    distance = (next(place for place, day in enumerate(_DAYS) if day.startswith(name[:3])) - today.weekday()) % 7 or 7
    return today + timedelta(days=distance + (7 if ahead and distance < 7 - today.weekday() else 0))


def _end_of_week(words: str, today: date) -> date:
    last = 6 if "weekend" in words else 4
    distance = (last - today.weekday()) % 7
    return today + timedelta(days=distance + (7 if words.startswith("next") or "of next" in words else 0))


def _end_of_month(today: date, *, ahead: bool) -> date:
    first = today.replace(day=1)
    for _ in range(2 if ahead else 1):
        first = (first + timedelta(days=32)).replace(day=1)
    return first - timedelta(days=1)


def _date(today: date, month: int, day: int) -> date:
    """The next one to come: no year is given."""
    found = date(today.year, month, day)
    return found if found >= today else found.replace(year=today.year + 1)


def _day_of_month(today: date, day: int) -> date:
    found = today.replace(day=day)
    return found if found >= today else _end_of_month(today, ahead=True).replace(day=day)
