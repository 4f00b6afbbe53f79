"""Questions in plain words, answered from graph, facts and items without a model: see docs/ask.md."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime, tzinfo
from functools import cache, partial
from itertools import chain, islice

from sqlalchemy import Connection

from memory_plane.ask import diary, wording
from memory_plane.ask.answering import Answering
from memory_plane.ask.forms import fact_of, forms
from memory_plane.ask.grammar import Phrases
from memory_plane.ask.naming import Names, Naming
from memory_plane.ask.questions import Form, Named, relations
from memory_plane.ask.reading import Reader
from memory_plane.ask.sentences import WRITERS
from memory_plane.ask.times import WEEKDAYS, Clock, Period
from memory_plane.ask.words import LONGEST, Word, asked, words
from memory_plane.recall import knowledge
from memory_plane.types import Answer

__all__ = ["ask"]
_READINGS = 16
"""How many readings of a question are tried."""

Reading = tuple[Form, Period | None]


def ask(
    connection: Connection,
    question: str,
    now: datetime,
    zone: tzinfo | None = None,
    as_of: datetime | None = None,
    *,
    least: float = 0.0,
) -> Answer:
    """Answer a question as of a time by edges at least so probable.

    It is "I don't know" where the memory does not say it or a word was not understood. As of a time the answer is the
    one that was given then: nothing counts that was told later.
    """
    naming = Naming(connection, question)
    found = words(question)
    if not 0 < len(found) <= LONGEST:
        return wording.unknown(understood=False)
    found = naming.split(found)
    moment = as_of or now
    clock = Clock(moment, zone, ahead=any(word.low == "due" for word in found))
    if found[0].low == "why" and (reason := _by_words(connection, found, clock, as_of, frozenset())) is not None:
        return reason
    answering = cache(partial(_answering, connection, clock, as_of=as_of, least=least))
    exact, names, nothing, asking = naming.exact(found), Names(), None, frozenset[str]()
    for more in (dict, partial(naming.near, found), partial(naming.unknown, found)):
        names, readings = _merged(exact, more()), list[Reading]()
        for called in chain((names,), naming.doubted(names)):
            readings = list(dict.fromkeys(islice(_readings(connection, found, called, clock), _READINGS)))
            for form, period in readings:
                asking |= relations(form)
                answer = answering(period).answer(form)
                if answer is not None and answer.findings and not answer.text.startswith(diary.NOT_YET):
                    return _saying_how(answer, called)
                nothing = nothing or answer
            if not readings:
                break
        if readings:
            break
    fact = _by_key(connection, found, clock, as_of)
    told = fact or _by_words(connection, naming.meant(found, names), clock, as_of, asking)
    return (_saying_how(told, names) if told else None) or nothing or wording.unknown(understood=bool(readings))


def _answering(
    connection: Connection, clock: Clock, period: Period | None, as_of: datetime | None, least: float
) -> Answering:
    """Return what answers at the time of the question: that in its words, or else the one it is asked as of."""
    if period is None or period.kind != "as_of":
        return Answering(connection, clock.now, as_of, period, clock.zone, least)
    return Answering(connection, period.end, min(period.end, clock.now), None, clock.zone, least)


def _readings(connection: Connection, found: Sequence[Word], names: Names, clock: Clock) -> Iterator[Reading]:
    """Yield what the question can ask, with and without a time in it."""
    named = frozenset(place for at, entries in names.items() for end, _ in entries for place in range(at, end))
    for kept in _kept(found, named):
        lows = [found[at].low for at in kept]
        for period, begin, end in (*_periods(lows, clock), (None, 0, len(kept))):
            phrases = _phrases(connection, found, names, kept[begin:end])
            yield from ((form, period) for form in forms(phrases))


def _kept(found: Sequence[Word], named: frozenset[int]) -> list[list[int]]:
    """Return the places of the words that ask something, without and with what politeness may open a question."""
    shortest, longest = asked(found, named), asked(found, named, openers=False)
    return [shortest] if shortest == longest else [shortest, longest]


def _by_key(connection: Connection, found: Sequence[Word], clock: Clock, as_of: datetime | None) -> Answer | None:
    """Answer by a fact whose key and subject are the question's own words."""
    kept = asked(found, frozenset())
    lows = [found[place].low for place in kept]
    for period, begin, end in (*_periods(lows, clock), (None, 0, len(kept))):
        asking = fact_of(_phrases(connection, found, {}, kept[begin:end]))
        if asking is not None and (period is None or period.kind == "as_of"):
            return _answering(connection, clock, period, as_of, 0.0).answer(asking)
    return None


def _by_words(
    connection: Connection, found: Sequence[Word], clock: Clock, as_of: datetime | None, relations: frozenset[str]
) -> Answer | None:
    """Answer by what memories say in the question's own words."""
    reader = Reader(connection, as_of, relations)
    for kept in _kept(found, frozenset()):
        lows = [found[at].low for at in kept]
        told = reader.told(lows)
        for period, begin, end in () if told else _periods(lows, clock):
            told = told or [
                one for one in reader.told(lows[begin:end]) if period.start <= one.thought.created_at < period.end
            ]
        if told:
            return diary.told(told, ours=not WRITERS.isdisjoint(lows))
    return None


def _periods(lows: Sequence[str], clock: Clock) -> Iterator[tuple[Period, int, int]]:
    """Yield the times at the end and at the beginning of a question, with the words that are left."""
    for at in range(1, len(lows)):
        read = clock.period(lows, at)
        if read is not None and read[1] == len(lows):
            yield read[0], 0, at
    if len(lows) > 2 and lows[-1] in WEEKDAYS and (day := clock.period(["on", lows[-1]], 0)) is not None:
        yield day[0], 0, len(lows) - 1  # "what did codex do Monday"
    read = clock.period(lows, 0)
    if read is not None and read[1] < len(lows):
        yield read[0], read[1], len(lows)


def _phrases(connection: Connection, found: Sequence[Word], names: Names, kept: Sequence[int]) -> Phrases:
    """Return the words that are kept, with the names that stand in them."""
    places = {at: place for place, at in enumerate(kept)}
    moved: Names = {}
    for at, entries in names.items():
        for end, named in entries:
            if all(place in places for place in range(at, end)):
                moved.setdefault(places[at], []).append((places[at] + end - at, named))
    called = partial(knowledge.called, connection)
    return Phrases([found[at].low for at in kept], moved, Named("me", called("me")), called)


def _merged(one: Names, other: Names) -> Names:
    return {at: [*one.get(at, ()), *other.get(at, ())] for at in one.keys() | other.keys()}


def _saying_how(answer: Answer, names: Names) -> Answer:
    """Say which name a misspelt one was taken for."""
    read = {named.text: named.read_as for entries in names.values() for _, named in entries if named.read_as}
    return wording.read_as(answer, read)
