"""Moments as people type them: `2026-11-03`, `2026-11-03 14:00`, `yesterday`, `friday`, `next week`, `3d`, `2h ago`."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from typing import Any

import click

_DAYS = {"yesterday": -1, "today": 0, "tomorrow": 1}
_UNITS = {"m": "minutes", "h": "hours", "d": "days", "w": "weeks"}
_WEEKDAY = r"(?:mon|tues|wednes|thurs|fri|satur|sun)day"
_NAMED = re.compile(rf"(?:on )?{_WEEKDAY}|(?:last|this|next) (?:{_WEEKDAY}|week|month|year)")
_SPAN = re.compile(r"(in )?(\d{1,6}) ?(m|min|minutes?|h|hours?|d|days?|w|weeks?)( ago)?")


def parse(text: str, *, now: datetime, zone: tzinfo | None, ahead: bool = False, end: bool = False) -> datetime:
    """Read a moment as UTC. A bare span or weekday lies `ahead` or back; a day or week means its `end` or start."""
    words = " ".join(text.lower().split())
    if words == "now":
        return now.astimezone(UTC)
    if span := _SPAN.fullmatch(words):
        distance = timedelta(**{_UNITS[span[3][0]]: int(span[2])})
        return (now + distance if span[1] or (ahead and not span[4]) else now - distance).astimezone(UTC)
    if words == "eod":
        return _day(now.astimezone(zone).date(), zone, end=True)
    if words in _DAYS:
        return _day(now.astimezone(zone).date() + timedelta(days=_DAYS[words]), zone, end)
    try:
        return _day(date.fromisoformat(words), zone, end)
    except ValueError:
        return _named(words, now, zone, ahead, end) or _utc(datetime.fromisoformat(text.strip()), zone)


def _named(words: str, now: datetime, zone: tzinfo | None, ahead: bool, end: bool) -> datetime | None:
    """Read a weekday, or a week, month or year by what it is to now; None for anything else."""
    if not _NAMED.fullmatch(words):
        return None
    from memory_plane.ask.times import Clock  # brings all that questions are answered with

    lows = ["on", *words.removeprefix("on ").split()]
    found = Clock(now, zone, ahead=ahead).period(lows, 0)
    if found is None or found[1] < len(lows):
        return None
    return (found[0].end - timedelta(microseconds=1) if end else found[0].start).astimezone(UTC)


def _day(day: date, zone: tzinfo | None, end: bool) -> datetime:
    return _utc(datetime.combine(day, time.max if end else time.min), zone)


def _utc(moment: datetime, zone: tzinfo | None) -> datetime:
    if moment.tzinfo is None and zone is not None:
        moment = moment.replace(tzinfo=zone)
    # A naive time is the machine's own, with the offset of that very day.
    return moment.astimezone(UTC)


class Moment(click.ParamType):  # type: ignore[type-arg]  # generic in the newest click only
    """A moment on the command line, in the person's time zone."""

    name = "when"

    def __init__(self, *, ahead: bool = False, end: bool = False) -> None:
        self.ahead = ahead
        self.end = end

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> datetime:
        """Read the moment, or fail naming the option."""
        if isinstance(value, datetime):
            return value
        zone = ctx.obj.zone if ctx else None
        try:
            return parse(value, now=datetime.now(UTC), zone=zone, ahead=self.ahead, end=self.end)
        except (ValueError, OverflowError):
            days = "tomorrow, friday, 'next week'" if self.ahead else "yesterday, monday, 'last week'"
            return self.fail(
                f"{value!r} is no time; write 2026-11-03, '2026-11-03 14:00', {days}, 3d or 2h", param, ctx
            )
