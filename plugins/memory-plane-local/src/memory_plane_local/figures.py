"""Days written in figures: "2026-12-24", "24.12.2026", "23/Sep/2020", and whether a number is one of a day at all."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, datetime
from typing import NamedTuple

from memory_plane_local import calendar_days as days
from memory_plane_local.calendar_words import Piece, century, number, phrase
from memory_plane_local.tables import cues, words

DAY, PERIOD, MOMENT = "day", "period", "moment"
_ALWAYS = (24, 7)
_SEPARATORS = frozenset("/-.")


class Found(NamedTuple):
    """What was read: the days, whether one day, a period or a moment, and the piece after it."""

    first: date
    last: date
    kind: str
    end: int


class FigureReader:
    """Reads days in figures from the pieces of a text written at `written`."""

    def __init__(self, pieces: Sequence[Piece], written: datetime) -> None:
        self.pieces = pieces
        self.written = written
        self.today = written.date()

    def low(self, at: int) -> str:
        return self.pieces[at].low if 0 <= at < len(self.pieces) else ""

    def day(self, day: date, end: int) -> Found:
        return Found(day, day, DAY, end)

    def numeric(self, at: int) -> Found | None:
        """ "2026-12-24", "24.12.2026", "12/24/26", "23/Sep/2020", "22/04" after a preposition."""
        if at and self.pieces[at].glued and (self.pieces[at - 1].number >= 0 or self.low(at - 1) in (".", ":")):
            return None
        if self.low(at - 1) in cues("versioned"):
            return None
        fields, end = self._fields(at)
        if len(fields) < 2 or self._runs_on(end):
            return None
        months = [phrase("month", field, self.pieces) for field in fields]
        named = next((place for place, month in enumerate(months) if month), None)
        if named is not None:
            return self._with_month(fields, named, end)
        return self._in_figures([self.pieces[field] for field in fields], at, end)

    def _fields(self, at: int) -> tuple[list[int], int]:
        """The places of two or three numbers or months with the same mark, or with spaces after a year, between."""
        fields, sign = [at], self.low(at + 1)
        if self.pieces[at].number < 0 and not phrase("month", at, self.pieces):
            return [], at
        step = 2 if sign in _SEPARATORS else 1
        if step == 1 and (len(self.pieces[at].text) != 4 or self.pieces[at].number < 0):
            return [], at
        while len(fields) < 3 and fields[-1] + step < len(self.pieces):
            following = fields[-1] + step
            spaced = not self.pieces[following].glued
            if (step == 2 and (self.low(following - 1) != sign or spaced)) or (step == 1 and not spaced):
                break
            if self.pieces[following].number < 0 and not phrase("month", following, self.pieces):
                break
            fields.append(following)
        return fields, fields[-1] + 1

    def _runs_on(self, end: int) -> bool:
        """Whether figures go on after a mark: a version, a formula, a telephone number."""
        after = end + 1
        return (
            after < len(self.pieces)
            and self.low(end) in (".", "/", ":", "-", ",")
            and self.pieces[end].glued
            and self.pieces[after].glued
            and self.pieces[after].number >= 0
            and self.low(end) != "-"
        )

    def _with_month(self, fields: Sequence[int], named: int, end: int) -> Found | None:
        month = phrase("month", fields[named], self.pieces)
        numbers = [self.pieces[field] for field in fields if field != fields[named]]
        if month is None or any(piece.number < 0 for piece in numbers):
            return None
        whole = next((piece for piece in numbers if len(piece.text) == 4), None)
        rest = [piece for piece in numbers if piece is not whole]
        if not rest:
            span = days.months(whole.number, int(month[0])) if whole else None
            return Found(span.first, span.last, PERIOD, end) if span else None
        said = whole.number if whole else century(rest[1].number) if len(rest) > 1 else None
        day = days.dated(said, int(month[0]), rest[0].number, self.today)
        return self.day(day, end) if day else None

    def _in_figures(self, fields: Sequence[Piece], at: int, end: int) -> Found | None:
        sign = self.low(at + 1)
        sizes = [len(piece.text) for piece in fields]
        first, second = fields[0].number, fields[1].number
        said: int | None = None
        if len(fields) == 3:
            if sizes[0] == 4:
                said, first, second = first, second, fields[2].number
            elif max(sizes[:2]) > 2 or sizes[2] not in (2, 4):
                return None
            else:
                said = fields[2].number if sizes[2] == 4 else century(fields[2].number)
        elif max(sizes) > 2 or (first, second) == _ALWAYS or not self._may_be_short(at, end, sign):
            return None
        turned = sizes[0] != 4 and (len(fields) == 3 if sign == "." else self._day_first())
        orders = ((second, first), (first, second)) if turned else ((first, second), (second, first))
        found = (days.dated(said, month, day, self.today) for month, day in orders)
        return next((self.day(day, end) for day in found if day), None)

    def _may_be_short(self, at: int, end: int, sign: str) -> bool:
        """Whether two numbers are a day: 22/04 where a day is expected, 7.6 after a weekday."""
        before = self.low(at - 1)
        weekday = phrase("weekday", at - 1, self.pieces) if at else None
        if sign != "/":
            return weekday is not None or (sign == "-" and before in ("on", "by") and self.closed(end))
        if self.low(end) in cues("fraction") or (not before and self.pieces[at].number == self.pieces[at + 2].number):
            return False  # 3/4 of it, 10/10
        opened = not before or before in cues("figures_in") or before in "(,?:\n" or weekday is not None
        return opened and self.closed(end)

    def _day_first(self) -> bool:
        """Whether 12/11 is in November where the writer is."""
        zone = getattr(self.written.tzinfo, "key", "")
        return zone.partition("/")[0] in cues("day_first") or zone in cues("day_first")

    def closed(self, end: int) -> bool:
        """Whether what follows does not make the number before it a count: no noun, no percent."""
        after = self.low(end)
        if not after or not (after[0].isalnum() or after in "%/$€" or (after == "-" and self.pieces[end].glued)):
            return True
        return (
            after in words("function.txt")
            or after in cues("day_then")
            or bool(number(end, self.pieces) or phrase("weekday", end, self.pieces) or phrase("day", end, self.pieces))
        )
