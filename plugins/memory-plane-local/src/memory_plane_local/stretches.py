"""Stretches of days: "Mon–Wed", "March 23-27", "from 23 to 27 March", "the week of April 20", "calendar week 15"."""

from __future__ import annotations

from datetime import date, timedelta

from memory_plane_local import calendar_days as days
from memory_plane_local.calendar_words import number, ordinal, phrase, spoken, year
from memory_plane_local.day_reader import DayReader
from memory_plane_local.figures import DAY, PERIOD, Found
from memory_plane_local.tables import cues

_WEEK = timedelta(days=7)
_WEEKS = 53


class StretchReader(DayReader):
    """Reads days, and what begins and ends with two of them."""

    def read(self, at: int) -> Found | None:
        """Read the longest expression that begins at `at`; None for words that name no day."""
        try:
            counted = self.pieces[at].number >= 0 or self.low(at) in spoken()
            begun = self._week(at) or (self._shared_month(at) if counted else None)
            return begun or self._goes_on(at, super().read(at))
        except ValueError:  # no such week
            return None

    def _goes_on(self, at: int, first: Found | None) -> Found | None:
        """The stretch that a day begins; "from …" and "between …" name two days each by itself."""
        if first is None or first.kind != DAY or self.low(first.end) not in cues("till"):
            return first
        if self.low(at - 1) in ("from", "between"):
            return first
        after = first.end + 1
        day = ordinal(after, self.pieces) or number(after, self.pieces)
        if day is not None and self._has_month(at, first.end) and self.closed(day.end):
            said = year(day.end + (self.low(day.end) == ","), self.pieces)
            last = days.dated(said.value if said else first.first.year, first.first.month, day.value, date.min)
            start = first.first.replace(year=last.year) if last else first.first
            if last is not None and start < last:
                return Found(start, last, PERIOD, said.end if said else day.end)
        weekday = phrase("weekday", after, self.pieces)
        second = super().read(after)
        if second is None or second.kind != DAY:
            return first
        end = second.first + (_WEEK if weekday and second.first < first.first else timedelta(0))
        return Found(first.first, end, PERIOD, second.end) if first.first < end else first

    def _has_month(self, at: int, end: int) -> bool:
        return any(phrase("month", place, self.pieces) for place in range(at, end))

    def _shared_month(self, at: int) -> Found | None:
        """ "23 to 27 March", "3rd–5th of April": the first day has the month and year of the second."""
        day = ordinal(at, self.pieces) or number(at, self.pieces)
        if day is None or self.low(day.end) not in cues("till") or self._part_of_more(at):
            return None
        last = self._month_day(day.end + 1)
        if last is None or phrase("month", day.end + 1, self.pieces) or not 0 < day.value < last.first.day:
            return None
        return Found(last.first.replace(day=day.value), last.first, PERIOD, last.end)

    # --- Weeks

    def _week(self, at: int) -> Found | None:
        """ "week of April 20", "calendar week 15", "CW 15", "2026-W15"."""
        if opened := phrase("week of", at, self.pieces):
            day = super().read(opened[1] + (self.low(opened[1]) == "the"))
            monday = day.first - timedelta(days=day.first.weekday()) if day and day.kind == DAY else None
            return Found(monday, monday + timedelta(days=6), PERIOD, day.end) if day and monday else None
        said = year(at, self.pieces)
        if said is not None and self.low(said.end) == "-" and self.low(said.end + 1) == "w":
            week = number(said.end + 2, self.pieces)
            return self._iso(said.value, week.value, week.end) if week else None
        if not (called := phrase("week number", at, self.pieces)) or not (week := number(called[1], self.pieces)):
            return None
        after = week.end + (self.low(week.end) == "of")
        told = year(after, self.pieces)
        this = self.today.isocalendar()
        return self._iso(
            told.value if told else this.year + (week.value < this.week), week.value, told.end if told else week.end
        )

    def _iso(self, year: int, week: int, end: int) -> Found | None:
        if not 0 < week <= _WEEKS:
            return None
        monday = date.fromisocalendar(year, week, 1)
        return Found(monday, monday + timedelta(days=6), PERIOD, end)
