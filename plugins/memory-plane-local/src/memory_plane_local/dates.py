"""Days that a text names, relative to the day of writing: "by Friday", "in two weeks", "the 5th", "end of month"."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import MAXYEAR, MINYEAR, UTC, date, datetime, time, timedelta
from functools import cache, lru_cache
from typing import NamedTuple

from memory_plane_local.calendar_words import SPLIT, Piece, phrases, pieces, spoken
from memory_plane_local.day_reader import PARTS
from memory_plane_local.figures import MOMENT, PERIOD
from memory_plane_local.stretches import StretchReader
from memory_plane_local.tables import cues, words
from memory_plane_local.tokens import Token

_END_OF_DAY = time(23, 59)
_ONE = timedelta(days=1)
_LIGHT = frozenset({"the", "a", "an", "in", "within"})
_KINDS = (
    "month", "weekday", "day", "beside", "close", "moment", "end", "shift", "near", "edge", "holiday",
    "week of", "week number",
)  # fmt: skip


class Day(NamedTuple):
    """Days named in a text: the first and last, `day`, `period` or `moment`, the characters, the words beside them."""

    first: date
    last: date
    kind: str
    start: int
    end: int
    before: str
    after: str


def find_days(tokens: Sequence[Token], written: datetime) -> Iterator[Day]:
    """Yield every day and period named, in order; `written` is in the writer's zone."""
    telling = _telling()
    if not any(token.low in telling or (not token.text.isalpha() and _tells(token.text)) for token in tokens):
        return  # most of what is read: cutting it into pieces costs ten times the look
    found = pieces(tokens)
    reader, at = StretchReader(found, written), 0
    while at < len(found):
        read = reader.read(at) if _opens(found, at) else None
        if read is None:
            at += 1
            continue
        span = found[at].start, found[read.end - 1].end
        # Whoever writes the first or last year of the calendar means "ever", beyond which nothing can be reckoned.
        if read.first.year > MINYEAR and read.last.year < MAXYEAR:
            yield Day(read.first, read.last, read.kind, *span, reader.low(at - 1), reader.low(read.end))
        at = read.end


def due_date(tokens: Sequence[Token], written: datetime) -> datetime | None:
    """Return the end of the day to come, where the writer was, by which the words want something; None for none.

    It is the first one after "by" and the like, or else the first that says nothing of a thing ("the Q3 deck"). What
    is lent or kept "until" a day is not due on it.
    """
    first: Day | None = None
    lasts = any(token.low in cues("lasting") for token in tokens)
    for day in find_days(tokens, written):
        if not _may_be_due(day, written) or (lasts and day.before in cues("until")):
            continue
        plain = not tells_of_a_thing(day)
        if first is None or (plain and tells_of_a_thing(first)):
            first = day
        if plain and day.before in cues("day_due"):
            first = day
            break
    if first is not None:
        last = first.first - _ONE if first.kind == PERIOD and first.before == "before" else first.last
    elif not lasts and _by_the_hour(tokens):
        last = written.date()
    else:
        return None
    return datetime.combine(last, _END_OF_DAY, written.tzinfo).astimezone(UTC)


def _by_the_hour(tokens: Sequence[Token]) -> bool:
    """Whether something is wanted by an hour, which is one of today: "by 5pm", "until noon", "before 17:30"."""
    due = cues("day_due")
    for at in [at for at, token in enumerate(tokens[:-1], 1) if token.low in due]:
        hour, after = tokens[at], tokens[at + 1] if at + 1 < len(tokens) else None
        if hour.low in cues("hour") or (hour.low[0].isdigit() and hour.low.endswith(("am", "pm"))):
            return True
        if hour.low.isdecimal() and after is not None and (after.low in cues("half_day") or after.low == ":"):
            return True
    return False


def _may_be_due(day: Day, written: datetime) -> bool:
    begun = day.before in cues("day_begun") or day.after in ("'s", "’s", "'")
    return day.kind != MOMENT and day.last >= written.date() and not begun


def tells_of_a_thing(day: Day) -> bool:
    """Return whether a noun follows that the day belongs to: "the May report", but not "Friday morning"."""
    low = day.after
    return low.isalpha() and low not in _plain() and low not in cues("day_then")


@cache
def _plain() -> frozenset[str]:
    return words("function.txt") | words("adverbs.txt") | words("calendar.txt")


@lru_cache(maxsize=1024)
def _tells(text: str) -> bool:
    """Whether a part of what is no mere word is a number, or tells of days."""
    return any(part.isdecimal() or part.lower() in _telling() for part in SPLIT.findall(text))


@cache
def _telling() -> frozenset[str]:
    """The words without one of which, or a number, no expression is about days."""
    return _followers() - _LIGHT - {"'", "’"}


def _opens(found: Sequence[Piece], at: int) -> bool:
    """Whether an expression can begin with a piece; "the" and "in" need another that can go on with them."""
    piece = found[at]
    if piece.low in _LIGHT:
        after = found[at + 1] if at + 1 < len(found) else piece
        return after.number >= 0 or after.low in _followers()
    if piece.low == "'":  # '26
        return at + 1 < len(found) and found[at + 1].number >= 0
    return piece.number >= 0 or piece.low in _openers() or piece.low in PARTS


@cache
def _openers() -> frozenset[str]:
    return _LIGHT | {"half"} | spoken() | {word for kind in _KINDS for word in phrases(kind)}


@cache
def _followers() -> frozenset[str]:
    return _openers() | PARTS.keys() | {word for kind in ("unit", "span") for word in phrases(kind)}
