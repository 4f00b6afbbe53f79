"""Who or what is called by some words: "Raúl is the caterer", "our plumber is called Zdeněk", "her sister Talia"."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from memory_plane.ask import sentences as text
from memory_plane.ask.clauses import PLACES, Told, capital, clause_end, subject_of, supposed, thing
from memory_plane.ask.days import changed, day_in
from memory_plane.ask.sentences import Sentence
from memory_plane.ask.times import Clock
from memory_plane.ask.verbs import ARTICLES, BE
from memory_plane.types import Thought

_HAPPENING = frozenset().union(*map(text.bases, ("start", "begin", "open", "happen", "fall", "take", "place")))


def being(
    be: str, named: Sequence[str], sentence: Sentence, previous: Sentence | None, thought: Thought, *, who: bool
) -> Iterator[Told]:
    """Yield who or what is called by some words: "Raúl is the caterer", "our plumber is called Zdeněk"."""
    for at in range(len(sentence.words)):
        end = sentence.holds(at, named)
        said = None if end is None else _is(sentence, at, end, be, previous, thought, who=who)
        if end is None and who:
            said = _of_whom(named, sentence, at, be, previous, thought)
        if said is not None:
            yield Told(said, thought)


def place(named: Sequence[str], sentence: Sentence, previous: Sentence | None, thought: Thought) -> Iterator[Told]:
    """Yield where a thing is: "the food bank at Linden Street", "the keys are in the shed"."""
    for at in range(len(sentence.words)):
        end = sentence.holds(at, named)
        if end is None or not sentence.is_sure(at, end + 2) or supposed(sentence, at):
            continue
        end += sentence.low(end) in ("is", "are", "'s")
        dated = Clock(thought.created_at).period(sentence.lows, end)
        end = dated[1] if dated is not None else end
        found = sentence.after(end + 1) if sentence.low(end) in PLACES and end not in sentence.breaks else None
        said = None if found is None else thing(sentence, found, thought)
        if said is not None and not sentence.words[found[0] if found else 0].low[:1].isdecimal():
            yield Told(said, thought)


def dated(be: str, named: Sequence[str], sentence: Sentence, thought: Thought) -> Iterator[Told]:
    """Yield when a thing is: "Mum's birthday is on 9 December", "the fair starts on Friday"."""
    past = be in ("was", "were")
    for at in range(len(sentence.words)):
        end = sentence.holds(at, named)
        if end is None or sentence.asks or supposed(sentence, at):
            continue
        other, said = changed(sentence, at, end, thought, ahead=not past)
        if said is not None and not past:
            yield Told(said, thought, changed=True)
        if other or not sentence.is_sure(at, end + 2, ahead=True):
            continue
        while sentence.low(end) == "will" or sentence.low(end) in BE or text.bases(sentence.low(end)) & _HAPPENING:
            end += 1
        said = day_in(sentence, thought, range(end, end + 1), ahead=not past)
        if said is not None:
            yield Told(said, thought)


def _of_whom(
    named: Sequence[str], sentence: Sentence, at: int, be: str, previous: Sentence | None, thought: Thought
) -> str | None:
    """Return who "Noemi's sister" is by "Noemi … her sister Talia", "the guest of episode 12" by "the guest was …"."""
    for place, low in enumerate(named[1:-1], 1):
        owner, tail = (named[:place], named[place + 1 :]) if low == "'s" else (named[place + 1 :], named[:place])
        if low not in ("'s", "of") or (end := sentence.holds(at, tail)) is None:
            continue
        if low == "'s" and sentence.low(at - 1) not in ("her", "his", "their"):
            continue
        near = [*sentence.lows[:at], *(previous.lows if previous else ())]
        if set(owner) <= set(near):
            return _is(sentence, at, end, be, previous, thought, who=True)
    return None


def _is(
    sentence: Sentence, begin: int, end: int, be: str, previous: Sentence | None, thought: Thought, *, who: bool
) -> str | None:
    """Return who or what a sentence says to be what stands at some words of it."""
    while begin > 0 and sentence.low(begin - 1) in ARTICLES and begin not in sentence.breaks:
        begin -= 1
    past = be in ("was", "were")
    before, after = sentence.low(begin - 1), end + (sentence.low(end) in BE)
    if sentence.low(end) == "'s" or not sentence.is_sure(begin - 2, end + 2) or supposed(sentence, begin):
        return None
    if before in BE and begin not in sentence.breaks and (before in ("was", "were")) == past:
        found = sentence.before(text.group_before(sentence, begin)[0])
        return None if found is None else subject_of(sentence, found, previous, thought)
    called = sentence.low(after) in ("called", "named")
    if after > end and (sentence.low(end) in ("was", "were")) != past:
        return None
    if (called or after > end) and after not in sentence.breaks:
        found = sentence.after(after + called) if who or called else (after, clause_end(sentence, after))
        said = None if found is None else thing(sentence, found, thought)
        return said if said is None or not who or found is None else sentence.name_in(*found)
    if not who:
        return None
    if before == "as" and (found := sentence.before(begin - 1)) is not None:  # "booked Lumen as photographer"
        return capital(sentence.name_in(*found))
    if (
        begin in sentence.breaks and (found := sentence.before(begin, across=True)) is not None
    ):  # "Raúl, the caterer, …"
        return capital(sentence.name_in(*found))
    if end not in sentence.breaks and (found := sentence.after(end)) is not None:  # "our plumber Zdeněk"
        return capital(sentence.said(*found))
    return None
