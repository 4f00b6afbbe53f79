"""Which day a sentence gives: a day belongs to its own clause, and of what was moved it is the new one."""

from __future__ import annotations

from collections.abc import Iterable

from memory_plane.ask import sentences as text
from memory_plane.ask.sentences import PREPOSITIONS, PRONOUNS, WRITERS, Sentence
from memory_plane.ask.times import Clock, is_of_days
from memory_plane.ask.verbs import ARTICLES, AUXILIARIES, BE, HAVE
from memory_plane.types import Thought
from memory_plane.vocabulary.verbs import forms

_LINKS = frozenset({"before", "after", "until", "till", "since", "as", "once"})
_TO = frozenset({"to", "until", "till"})
_MOVING = frozenset().union(
    *map(text.bases, ("move", "shift", "postpone", "push", "reschedule", "delay", "defer", "change", "bring"))
)
_FAR = 8
"""How far from what was moved its new day may stand, and how many words a subject has."""


def day_in(
    sentence: Sentence, thought: Thought, places: Iterable[int], *, ahead: bool, kind: str = "during"
) -> str | None:
    """Return the first day that a sentence names at one of some places, counted from when it was written."""
    clock = Clock(thought.created_at, ahead=ahead, coming=ahead)
    for at in places:
        read = clock.period(sentence.lows, at)
        if read is not None and read[0].kind == kind:
            return read[0].start.date().isoformat()
    return None


def bare_day(sentence: Sentence, thought: Thought, at: int, *, ahead: bool) -> str | None:
    """Return the day whose words begin at a word, with or without a preposition: "but 15 April", "to Thursday"."""
    clock = Clock(thought.created_at, ahead=ahead, coming=ahead)
    at += sentence.low(at) == "on"
    read = clock.period(["on", *sentence.lows[at:]], 0) if sentence.low(at) else None
    return None if read is None else read[0].start.date().isoformat()


def day_of(sentence: Sentence, verb: int, thought: Thought, *, ahead: bool, kind: str = "during") -> str | None:
    """Return the day of what a verb tells: none of another clause, nor one from or to which something is moved."""
    moving = bool(text.bases(sentence.low(verb)) & _MOVING)
    places = [at for at in _own(sentence, verb) if not (moving and sentence.low(at) in ("from", *_TO))]
    if not moving and (moved := _moved_to(sentence, range(min(places), max(places) + 1), thought, ahead=ahead)):
        return moved
    return day_in(sentence, thought, places, ahead=ahead, kind=kind)


def changed(sentence: Sentence, begin: int, end: int, thought: Thought, *, ahead: bool) -> tuple[bool, str | None]:
    """Return whether a sentence gives what stands at some words another day than before, and which, if it says it.

    "Moved the review from Tuesday to Thursday", "the review is no longer on 1 April but on 15 April".
    """
    while begin > 0 and sentence.low(begin - 1) in ARTICLES and begin not in sentence.breaks:
        begin -= 1
    old = Clock(thought.created_at).period(sentence.lows, end)  # "the review on Tuesday was moved"
    after = end if old is None else old[1]
    while sentence.low(after) in BE | HAVE:
        after += 1
    if old is None and sentence.low(after) in ("not", "no"):
        other = next(
            (at for at in range(after, min(after + _FAR, len(sentence.words))) if sentence.low(at) == "but"), -1
        )
        return True, None if other < 0 else bare_day(sentence, thought, other + 1, ahead=ahead)
    moving = next((at for at in (begin - 1, after) if text.bases(sentence.low(at)) & _MOVING), None)
    if moving is None:
        return False, None
    sure = sentence.is_sure(text.group_before(sentence, moving)[0], after)
    return True, _moved_to(sentence, range(moving, _end(sentence, end)), thought, ahead=ahead) if sure else None


def _moved_to(sentence: Sentence, places: range, thought: Thought, *, ahead: bool) -> str | None:
    """Return the day to which something is moved at some places."""
    moving = next((at for at in places if text.bases(sentence.low(at)) & _MOVING), None)
    for at in places if moving is not None else ():
        if moving is not None and at > moving and sentence.low(at) in _TO:
            day = bare_day(sentence, thought, at + 1, ahead=ahead)
            if day is not None:
                return day
    return None


# --- clauses ---------------------------------------------------------------------------------------------------------


def _own(sentence: Sentence, verb: int) -> list[int]:
    """Return the words of the clause of a verb, those first that stand nearest to it.

    "Launched on Monday and closed on Friday" is one clause with two verbs: what stands after the first is not of the
    second, but what stands before both or after both is of each.
    """
    group = text.group_before(sentence, verb)[0]
    begin = group
    while begin > 0 and not _begins(sentence, begin) and sentence.low(begin - 1) not in PREPOSITIONS:
        begin -= 1
    starts = {at for at in range(1, len(sentence.words)) if _opens(sentence, at)}
    starts |= {begin} if begin < group and _begins(sentence, begin) else set()
    starts = {at for at in starts if not _is_fronted(sentence, at)}
    first = max((at for at in starts if at <= verb), default=0)
    last = min((at for at in starts if at > verb), default=len(sentence.words))
    joined = first < group and sentence.low(group - 1) in ("and", "but", "or", "then") and begin == group
    told = next((at for at in range(first, group) if _tells(sentence, at)), group) if joined else verb
    near = next((at for at in range(verb + 1, last) if sentence.turns(at)), last)
    return [*range(group, near), *range(told - 1 if joined else group - 1, first - 1, -1), *range(near, last)]


def _end(sentence: Sentence, at: int) -> int:
    """Return the word at which the next clause after a word begins."""
    return next((place for place in range(at + 1, len(sentence.words)) if _opens(sentence, place)), len(sentence.words))


def _begins(sentence: Sentence, at: int) -> bool:
    """Whether a clause may begin at a word: a mark stands before it, or a word that joins clauses."""
    return at > 0 and (at in sentence.breaks or sentence.turns(at - 1) or sentence.low(at - 1) in _LINKS)


def _opens(sentence: Sentence, at: int) -> bool:
    """Whether a clause with a subject of its own begins at a word."""
    if not _begins(sentence, at):
        return False
    end = at
    while end < len(sentence.words) and sentence.words[end].text[:1].isupper() and not is_of_days(sentence.low(end)):
        end += 1
    person = sentence.low(at) in PRONOUNS | WRITERS
    if (person or end > at) and _goes_on(sentence, max(end, at + 1)):
        return True
    for verb in range(at, min(at + _FAR, len(sentence.words))):
        if (verb > at and verb in sentence.breaks) or (verb > at and sentence.turns(verb)):
            return False
        if sentence.low(verb) in PREPOSITIONS:
            return False
        if _tells(sentence, verb):
            return not ARTICLES.issuperset(sentence.lows[at:verb])
    return False


def _goes_on(sentence: Sentence, at: int) -> bool:
    """Whether a verb may stand at a word after a name."""
    low = sentence.low(at)
    closed = not low.isalpha() or low in PREPOSITIONS | ARTICLES or sentence.turns(at) or is_of_days(low)
    return not closed and not sentence.words[at].text[:1].isupper()


def _is_fronted(sentence: Sentence, at: int) -> bool:
    """Whether nothing but a circumstance stands before a word: "On Friday, the board met"."""
    opening = sentence.low(0) in PREPOSITIONS or is_of_days(sentence.low(0))
    return opening and not any(_tells(sentence, place) for place in range(at))


def _tells(sentence: Sentence, at: int) -> bool:
    """Whether a word may be a verb that tells something."""
    low = sentence.low(at)
    if low in AUXILIARIES or sentence.words[at].text[:1].isupper() or low in ARTICLES:
        return low in AUXILIARIES
    singular = (low[:-1], low[:-2], f"{low[:-3]}y") if low.endswith("s") else ()
    known = any(one in forms() or text.bases_of(one) for one in singular)
    return text.is_verb(sentence, at) or bool(text.is_past(low)) or known
