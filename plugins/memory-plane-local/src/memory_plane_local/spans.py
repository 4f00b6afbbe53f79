"""When what a sentence says is so: "since 2019", "until June", "in March 2024", "last week", "from 2015 to 2019"."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from datetime import date, datetime, time, timedelta
from itertools import pairwise
from typing import NamedTuple

from memory_plane.types import Polarity
from memory_plane_local.dates import Day, find_days
from memory_plane_local.figures import DAY, MOMENT, PERIOD
from memory_plane_local.guards import ENDED
from memory_plane_local.tables import cues
from memory_plane_local.tokens import Token

SINCE, UNTIL, BETWEEN, DURING = "since", "until", "between", "during"
_WEEK = timedelta(days=7)
_ONE = timedelta(days=1)


class Span(NamedTuple):
    """A time that a sentence names: from `first`, or until `end`, as `kind` says; `token` is where it stands.

    `ahead` is the first day where it is still to come: "in March" of what has happened and of what will.
    """

    kind: str
    first: date
    end: date
    token: int
    leads: bool
    ahead: date


class Times(NamedTuple):
    """From when and until when a claim holds, as far as it is told."""

    valid_from: datetime | None = None
    valid_until: datetime | None = None


NEVER = Times()
"""No time is told."""


def spans(text: str, tokens: Sequence[Token], written: datetime) -> list[Span]:
    """Return the times that a sentence names, in order; what only bounds (by, before, after, every) names none."""
    if not any(token.shape == "num" or token.low in cues("dated") for token in tokens):
        return []
    found = sorted([*find_days(tokens, written), *_years(tokens)], key=lambda day: day.start)
    starts = [token.start for token in tokens]
    whole: list[Span] = []
    skip = False
    for day, after in pairwise([*found, None]):
        if skip or day is None:
            skip = False
            continue
        at = bisect_right(starts, day.start) - 1
        if after is not None and _goes_on(text, day, after):
            first, end = _told(text, day, written.date()), _told(text, after, written.date())
            begin = _before(text, day, first, end)
            whole.append(Span(BETWEEN, begin, _end(after, end), at - 1, _leads(tokens, at), day.first))
            skip = True
        elif kind := _kind(tokens, at, day):
            first = day.first if kind == UNTIL else _told(text, day, written.date())
            last = first + (day.last - day.first) + _ONE
            end = _end(day, first) if kind == UNTIL else last
            whole.append(Span(kind, first, end, at, _leads(tokens, at), day.first))
    return whole


def coming(span: Span, written: datetime) -> Span | None:
    """Return a time as one that is still to come, None where it is not."""
    return span._replace(first=span.ahead) if span.kind in (SINCE, DURING) and span.ahead > written.date() else None


def times(span: Span, polar: Polarity, flags: int, written: datetime, *, state: bool, leaving: bool) -> Times:
    """Return what a time makes of a claim: `state` lasts, other relations once began; `leaving` ends what was."""
    ended = polar == "past"
    match span.kind:
        case "since":
            first, end = (None, span.first) if ended else (span.first, None)
        case "until":
            end = _past(span.end, written.date()) if ended else span.end
            first = None
        case "between":
            first, end = span.first, span.end
        case _ if leaving or (ended and flags & ENDED):
            first, end = None, span.first
        case _ if ended:
            first, end = span.first, span.end
        case _ if state and span.first == written.date() and span.end == span.first + _ONE:
            return NEVER
        case _:
            first, end = span.first, span.end if state else None
    return Times(_moment(first, written), _moment(end, written))


def _moment(day: date | None, written: datetime) -> datetime | None:
    """The beginning of a day where the writer was."""
    return None if day is None else datetime.combine(day, time(0), written.tzinfo)


def _years(tokens: Sequence[Token]) -> Iterator[Day]:
    """The two years of "from 2015 to 2019", which alone might be any numbers."""
    for at in range(len(tokens) - 3):
        before, one, to, other = tokens[at : at + 4]
        if before.low in ("from", "between") and to.low in cues("till") and _is_year(one) and _is_year(other):
            for token, word in ((one, before.low), (other, to.low)):
                year = int(token.low)
                yield Day(date(year, 1, 1), date(year, 12, 31), PERIOD, token.start, token.end, word, "")


def _is_year(token: Token) -> bool:
    return len(token.low) == 4 and token.low.isdecimal() and "1900" <= token.low <= "2100"


def _goes_on(text: str, day: Day, after: Day) -> bool:
    """Whether two days are the ends of one stretch: "from May to July", "between May and July"."""
    return day.before in ("from", "between") and text[day.end : after.start].strip().lower() in cues("till")


def _kind(tokens: Sequence[Token], at: int, day: Day) -> str:
    before = day.before
    if day.kind == MOMENT or before in cues("bounding") or day.after in ("'s", "’s", "'"):
        return ""
    if before in cues("onset") or (before == "of" and at > 1 and tokens[at - 2].low == "as"):
        return SINCE
    return UNTIL if before in ("until", "till", "til", "through") else DURING


def _leads(tokens: Sequence[Token], at: int) -> bool:
    """Whether nothing but a preposition stands before a time."""
    return all(token.low in cues("leading") for token in tokens[:at])


def _told(text: str, day: Day, today: date) -> date:
    """The first of a day or period that is over or has begun: "in March" is the last, "on Friday" the one before."""
    if _explicit(text, day):
        return day.first
    return _past(day.first, today, weekly=day.first - today < _WEEK)


def _explicit(text: str, day: Day) -> bool:
    return any(len(word) >= 4 and word[:4].isdecimal() for word in text[day.start : day.end].replace("/", " ").split())


def _past(day: date, today: date, *, weekly: bool = False) -> date:
    """The same day of the week or year before today."""
    if day <= today:
        return day
    return day - _WEEK if weekly else _year_before(day, day.year - today.year or 1)


def _year_before(day: date, years: int) -> date:
    try:
        return day.replace(year=day.year - years)
    except ValueError:  # the 29th of February
        return day.replace(year=day.year - years, day=28)


def _before(text: str, day: Day, first: date, end: date) -> date:
    """The beginning of a stretch whose end alone has a year: "from March to May 2025"."""
    if _explicit(text, day) or first.year == end.year:
        return first
    moved = first.replace(day=1, year=end.year) if day.kind == PERIOD else first
    return moved if moved <= end else moved.replace(year=end.year - 1)


def _end(day: Day, first: date) -> date:
    """Until a day is to its end, until a month or a year to its beginning."""
    return first + _ONE if day.kind == DAY else first
