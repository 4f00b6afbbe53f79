"""The grammar of days: what the words from one piece of a text on say of the calendar."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import date, datetime, timedelta

from memory_plane_local import calendar_days as days
from memory_plane_local.calendar_words import Reading, count, number, ordinal, phrase, year
from memory_plane_local.figures import DAY, MOMENT, PERIOD, FigureReader, Found
from memory_plane_local.tables import cues

_MOST_AMOUNTS = 4
PARTS = {"q": 3, "h": 6}
"""How many months a numbered part of a year has."""
_BETWEEN = frozenset({",", "(", "the", "-"})


class DayReader(FigureReader):
    """Reads days from the pieces of a text written at `written`."""

    def read(self, at: int) -> Found | None:
        """Read the longest expression that begins at `at`; None for words that name no day."""
        try:
            return self._moved(at) or self._unmoved(at)
        except (OverflowError, ValueError):  # in 9999 years
            return None

    def _unmoved(self, at: int) -> Found | None:
        if at >= len(self.pieces):
            return None
        rules: tuple[Callable[[int], Found | None], ...] = (
            self._named, self.numeric, self._nth_of, self._month_day, self._weekday,
            self._of_week, self._holiday, self._of_month, self._period,
        )  # fmt: skip
        return next((found for rule in rules if (found := rule(at))), None)

    # --- From another day on

    def _moved(self, at: int) -> Found | None:
        """ "in two weeks", "3 days ago", "a week from tomorrow", "two weeks before Christmas"."""
        inside = self.low(at) in ("in", "within")
        begin = at + inside
        if inside and self.low(begin) == "the":  # "within the next two days"
            begin += 1 + (self.low(begin + 1) in cues("coming"))
        amounts, end = self._amounts(begin)
        if not amounts:
            return None
        if self.low(end) in ("'", "'s") and self.low(end + 1) == "time":
            end += 2
        if found := self._based(end) or self._on(end, amounts[-1][1]):
            way, base = found
            start = datetime.combine(base.first, self.written.time(), self.written.tzinfo)
            return self._after(start, amounts, way, base.end)
        if hence := phrase("hence", end, self.pieces):
            return self._after(self.written, amounts, int(hence[0]), hence[1])
        return self._after(self.written, amounts, 1, end) if inside else None

    def _amounts(self, at: int) -> tuple[list[tuple[int, str]], int]:
        """Read "2 years, 1 month and 21 days"."""
        found: list[tuple[int, str]] = []
        end = at
        while len(found) < _MOST_AMOUNTS and (read := self._amount(at)) is not None:
            found.append(read[:2])
            end = read[2]
            at = end + (self.low(end) in ("and", ","))
        return found, end

    def _amount(self, at: int) -> tuple[int, str, int] | None:
        if self.low(at) == "half" and self.low(at + 1) in ("a", "an"):
            unit = phrase("unit", at + 2, self.pieces)
            return (0, unit[0], unit[1]) if unit and unit[0] in ("hour", "day") else None
        many = count(at, self.pieces)
        if many is not None and self.low(many.end) in cues("till"):  # "in 2-3 days"
            many = count(many.end + 1, self.pieces) or many
        if many is None or not (unit := phrase("unit", many.end, self.pieces)):
            return None
        return many.value, *unit

    def _based(self, at: int) -> tuple[int, Found] | None:
        """The day after "from", "before" and their like."""
        way = phrase("after", at, self.pieces)
        base = self._unmoved(way[1]) if way else None
        return (int(way[0]), base) if way and base and base.kind != PERIOD else None

    def _on(self, at: int, unit: str) -> tuple[int, Found] | None:
        """The day from which weeks are counted without a word: "a week on Friday", "two weeks today"."""
        base = self._named(at) or self._weekday(at + (self.low(at) == "on")) if unit in ("week", "fortnight") else None
        return (1, base) if base and base.kind == DAY and base.first >= self.today else None

    def _after(self, start: datetime, amounts: Sequence[tuple[int, str]], way: int, end: int) -> Found:
        for many, unit in amounts:
            start = days.moved(start, unit, way * many)
        at = end + (self.low(end) == "on")
        if weekday := phrase("weekday", at, self.pieces):
            start += timedelta(days=(int(weekday[0]) - start.weekday()) % 7)
            end = weekday[1]
        return self.day(start.date(), end)

    # --- By a word of its own

    def _named(self, at: int) -> Found | None:
        """ "today", "the day after tomorrow", "the day before Easter", "end of the day", "close of business Friday"."""
        if (beside := phrase("beside", at, self.pieces)) and (base := self._unmoved(beside[1])) and base.kind == DAY:
            return self.day(base.first + timedelta(days=int(beside[0])), base.end)
        for kind, result in (("day", DAY), ("close", DAY), ("moment", MOMENT)):
            if found := phrase(kind, at, self.pieces):
                day = self.today + timedelta(days=int(found[0]))
                told = self._unmoved(found[1] + (self.low(found[1]) in ("on", ","))) if kind == "close" else None
                return told if told and told.kind == DAY else Found(day, day, result, found[1])
        return None

    def _holiday(self, at: int) -> Found | None:
        """ "Christmas", "last Easter", "Independence Day of this year", "Black Friday 2027"."""
        at, shift = self._shift(at)
        found = phrase("holiday", at, self.pieces)
        if not found:
            return None
        rule, end = found
        if said := self._year_after(end):
            return self.day(days.holiday(rule, said.value), said.end)
        after = end + (self.low(end) in ("of", "in"))
        whose, other = self._shift(after)
        if other is not None and self.low(whose) == "year":
            return self.day(days.holiday(rule, self.today.year + other), whose + 1)
        day = days.holiday(rule, self.today.year)
        if shift is None or shift > 0:
            past = day < self.today or (shift is not None and day == self.today)
            return self.day(days.holiday(rule, self.today.year + past), end)
        return self.day(days.holiday(rule, self.today.year - (shift < 0 and day >= self.today)), end)

    def _shift(self, at: int) -> tuple[int, int | None]:
        """Skip "next", "last" or "this"; return what they add."""
        found = phrase("shift", at, self.pieces)
        return (found[1], int(found[0])) if found else (at, None)

    # --- By month and weekday

    def _month_day(self, at: int) -> Found | None:
        """ "May 12", "12th of May 2026", "the twenty-third day of September", "April the ninth"."""
        month = phrase("month", at, self.pieces)
        if month:
            after = month[1] + (self.low(month[1]) == ".")
            after += self.low(after) == "the"
            day = ordinal(after, self.pieces) or number(after, self.pieces)
            if day is None or day.value > 31 or (self._vague(at) and not self.closed(day.end)):
                return None
            return self._in_month(int(month[0]), day)
        begin = at + (self.low(at) == "the")
        day = ordinal(begin, self.pieces) or number(begin, self.pieces)
        if day is None or day.value > 31 or self._part_of_more(at):
            return None
        after = day.end + (self.low(day.end) == "day")
        after += self.low(after) in ("of", "-")
        month = phrase("month", after, self.pieces)
        if not month or (self.low(after) == "may" and self.low(after - 1) != "of" and self._vague(after)):
            return None
        return self._in_month(int(month[0]), Reading(day.value, month[1] + (self.low(month[1]) == ".")))

    def _part_of_more(self, at: int) -> bool:
        """Whether the number at `at` is a price or the end of another: $12, 11:30."""
        if at == 0:
            return False
        marked = self.pieces[at].glued and self.low(at - 1) in (":", "/", "-", ".") and self.pieces[at - 2].number >= 0
        return marked or self.low(at - 1) in ("$", "€", "£")

    def _vague(self, at: int) -> bool:
        """Whether a word of the calendar is written like an ordinary one: may, march, sun."""
        piece = self.pieces[at]
        return piece.text.islower() and piece.low in cues("day_or_word")

    def _in_month(self, month: int, day: Reading) -> Found | None:
        said = self._year_after(day.end)
        found = days.dated(said.value if said else None, month, day.value, self.today)
        return self.day(found, said.end if said else day.end) if found else None

    def _year_after(self, end: int) -> Reading | None:
        after = end + (self.low(end) in (",", "of", "in"))
        said = year(after, self.pieces)
        return said if said and not (after + 1 == said.end and self.low(said.end) == ":") else None

    def _weekday(self, at: int) -> Found | None:
        """ "Friday", "next Friday", "this past Friday", "Friday the 26th", "Tuesday, May 9", "Friday next week"."""
        near = phrase("near", at, self.pieces)
        begin, shift = (near[1], None) if near else self._shift(at)
        weekday = phrase("weekday", begin, self.pieces)
        if not weekday or (not near and shift is None and not self._surely(begin)):
            return None
        which, end = int(weekday[0]), weekday[1]
        end += self.low(end) == "." and end + 1 < len(self.pieces) and self.pieces[end + 1].number >= 0
        if shift is None and not near and (week := self._week_after(end)):
            return self.day(days.in_week(self.today, which, week.value), week.end)
        if shift is None and (away := self._away(end, which)):
            return away
        if dated := self._date_after(end, which):
            return dated
        if near:
            return self.day(days.nearest(self.today, which, int(near[0])), end)
        if shift is None:
            return self.day(self.today + timedelta(days=(which - self.today.weekday()) % 7), end)
        return self.day(days.in_week(self.today, which, shift), end)

    def _away(self, end: int, weekday: int) -> Found | None:
        """ "(Thursday) week", "(the Monday) after Easter", "(Friday) after next"."""
        coming = self.today + timedelta(days=(weekday - self.today.weekday()) % 7)
        if self.low(end) in ("week", "fortnight") and self.closed(end + 1):
            return self.day(coming + timedelta(days=7 if self.low(end) == "week" else 14), end + 1)
        if self.low(end) == "after" and self.low(end + 1) == "next":
            return self.day(days.in_week(self.today, weekday, 2), end + 2)
        found = self._based(end)
        return self.day(days.nearest(found[1].first, weekday, found[0]), found[1].end) if found else None

    def _surely(self, at: int) -> bool:
        """Whether an abbreviation is a weekday: written with a capital, or where a day is expected."""
        if at == 0 and self.pieces[at].low in cues("day_or_word"):  # "Sun and wind", but "Sun 3pm" and "Mon, Tue"
            after = self.low(at + 1)
            return not after.isalpha() or after in cues("day_then") or bool(phrase("weekday", at + 2, self.pieces))
        if not self._vague(at):
            return True
        return self.low(at - 1) in cues("day_in") or self.low(at - 1) in (",", "or", "and")

    def _week_after(self, end: int) -> Reading | None:
        at = end + (self.low(end) in ("of", "in", ","))
        after, shift = self._shift(at)
        return Reading(shift, after + 1) if shift is not None and self.low(after) == "week" else None

    def _date_after(self, end: int, weekday: int) -> Found | None:
        """The date that a weekday is told with: (Friday) the 26th, (Tue) May 9, (Monday) 21."""
        at = end
        while self.low(at) in _BETWEEN:
            at += 1
        if at >= len(self.pieces):
            return None
        if found := self.numeric(at) or self._month_day(at):
            return self._agreeing(found, weekday)
        day = ordinal(at, self.pieces) or (number(at, self.pieces) if at == end else None)
        if day is None or not 0 < day.value < 32 or not self.closed(day.end) or self._is_time(day.end):
            return None
        return self._in_coming(day, weekday, self.today.replace(day=1))

    def _agreeing(self, found: Found, weekday: int) -> Found:
        """Take the year before for a date without a year when only that one has this weekday."""
        day = found.first
        before = days.dated(day.year - 1, day.month, day.day, self.today)
        if day.weekday() == weekday or before is None or before.weekday() != weekday or day < self.today:
            return found
        return found if self.pieces[found.end - 1].number > 31 else self.day(before, found.end)

    def _in_coming(self, day: Reading, weekday: int | None, earliest: date) -> Found | None:
        """The first such day of a month, from `earliest` on, that falls on the weekday."""
        for ahead in range(60):
            year, month = divmod(self.today.year * 12 + self.today.month - 1 + ahead, 12)
            found = days.dated(year, month + 1, day.value, self.today)
            if found and found >= earliest and weekday in (None, found.weekday()):
                return self.day(found, day.end)
        return None

    def _is_time(self, end: int) -> bool:
        goes_on = end + 1 < len(self.pieces) and self.pieces[end].glued and self.pieces[end + 1].number >= 0
        return self.low(end) in cues("hour_then") or (goes_on and self.low(end) in ":.-/")

    def _of_week(self, at: int) -> Found | None:
        """ "next week Monday", "this week on Friday"."""
        after, shift = self._shift(at)
        if shift is None or self.low(after) != "week":
            return None
        after += 1 + (self.low(after + 1) in ("on", ","))
        weekday = phrase("weekday", after, self.pieces)
        return self.day(days.in_week(self.today, int(weekday[0]), shift), weekday[1]) if weekday else None

    # --- Within a month

    def _nth_of(self, at: int) -> Found | None:
        """ "the first Friday of next month", "last day of July", "the 15th day of next month"."""
        begin = at + (self.low(at) == "the")
        last = self.low(begin) == "last"
        nth = Reading(-1, begin + 1) if last else ordinal(begin, self.pieces)
        if nth is None:
            return None
        weekday = phrase("weekday", nth.end, self.pieces)
        end = weekday[1] if weekday else nth.end + (self.low(nth.end) == "day")
        if (last and end == nth.end) or self.low(end) not in ("of", "in"):
            return None
        span = self._span(end + 1 + (self.low(end + 1) == "the"))
        if span is None or (weekday is None and nth.value > (span.last - span.first).days + 1):
            return None
        if weekday:
            return self.day(days.nth_weekday(span.first.year, span.first.month, int(weekday[0]), nth.value), span.end)
        return self.day(span.last if last else span.first + timedelta(days=nth.value - 1), span.end)

    def _span(self, at: int) -> Found | None:
        """ "next month", "month", "July 2026", "2026" where the words before expect one."""
        after, shift = self._shift(at)
        if unit := phrase("span", after, self.pieces):
            span = days.span(unit[0], self.today, shift or 0)
            return Found(span.first, span.last, PERIOD, unit[1])
        if month := phrase("month", after, self.pieces):
            end = month[1] + (self.low(month[1]) == ".")
            said = self._year_after(end)
            span = days.months(said.value if said else self._year_of(int(month[0]), shift), int(month[0]))
            return Found(span.first, span.last, PERIOD, said.end if said else month[1])
        if self.low(after) in PARTS and after + 1 < len(self.pieces):
            return self._part_of_year(after)
        said = year(after, self.pieces)
        if said and self.pieces[after].number >= 1900 and not self.pieces[after].glued:
            return Found(date(said.value, 1, 1), date(said.value, 12, 31), PERIOD, said.end)
        return None

    def _part_of_year(self, at: int) -> Found | None:
        """ "Q3", "Q3 2026", "H1"."""
        part, length = self.pieces[at + 1], PARTS[self.low(at)]
        if not part.glued or not 1 <= part.number <= 12 // length:
            return None
        said = self._year_after(at + 2)
        past = said is None and part.number * length < self.today.month
        span = days.months(said.value if said else self.today.year + past, (part.number - 1) * length + 1, length)
        return Found(span.first, span.last, PERIOD, said.end if said else at + 2)

    def _year_of(self, month: int, shift: int | None) -> int:
        """The year of a month told without one: the next to come, or the one before for "last March"."""
        if shift is not None and shift < 0:
            return self.today.year - (month >= self.today.month)
        return self.today.year + (month < self.today.month)

    def _of_month(self, at: int) -> Found | None:
        """ "the 18th" where a day is expected, "on 15"."""
        begin = at + (self.low(at) == "the")
        before = self.low(at - 1)
        if before not in cues("day_in"):
            return None
        bare = before == "on" or (begin > at and self.low(begin + 1) != "of")
        nth = ordinal(begin, self.pieces)
        day = nth or (number(begin, self.pieces) if bare else None)
        if day is None or not 0 < day.value < 32 or not self.closed(day.end) or (not nth and self._is_time(day.end)):
            return None
        return self._in_coming(day, None, self.today)

    # --- Periods

    def _period(self, at: int) -> Found | None:
        """ "end of month", "early next week", "next month", "by May 2027", "Q3", "eow"."""
        if unit := phrase("end", at, self.pieces):
            span = days.span(unit[0], self.today, 0)
            return Found(span.last, span.last, PERIOD, unit[1])
        if edge := phrase("edge", at, self.pieces):
            after = edge[1] + (self.low(edge[1]) == "the")
            whole = self._weekday(after) or self._named(after) or self._span(after)
            return self._part(whole, edge[0]) if whole else None
        bare = self.low(at) == "the" and self.low(at + 1) == "weekend" and self.low(at - 1) in cues("day_in")
        whole = self._span(at + bare)
        if whole is None or not (bare or self._expected(at)):
            return None
        return whole

    def _part(self, whole: Found, edge: str) -> Found:
        if whole.kind == DAY:
            return whole
        third = (whole.last - whole.first) // 3
        if edge == "start":
            return Found(whole.first, whole.first + third, PERIOD, whole.end)
        if edge == "middle":
            return Found(whole.first + third, whole.last - third, PERIOD, whole.end)
        return Found(whole.last, whole.last, PERIOD, whole.end)

    def _expected(self, at: int) -> bool:
        """Whether a period that is an ordinary word or a number too is meant: "in May", "by 2027", "this week"."""
        shifted, shift = self._shift(at)
        if shift is not None:
            return not self._vague(shifted)
        before = self.low(at - 1)
        if self.pieces[at].number >= 0:
            return before in ("in", "by", "before", "until", "till", "since", "during")
        if self.low(at) in ("week", "month", "year", "quarter", "weekend"):
            return False
        if self.low(at) == "h":
            return (before == "in" or before in cues("day_in")) and self.closed(at + 2)
        if self.pieces[at].low in cues("day_or_word"):
            return before in cues("month_in" if self.pieces[at].text.islower() else "period_in")
        return self.low(at) == "q" or not number(at + 1, self.pieces) or bool(self._year_after(at + 1))
