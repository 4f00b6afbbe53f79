"""Whether a clause of a sentence says what a question asks, and who or what stands in its gap."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from memory_plane.ask import sentences as text
from memory_plane.ask.days import bare_day, day_of
from memory_plane.ask.pronouns import PERSONS, may_be, meant
from memory_plane.ask.sentences import PREPOSITIONS, PRONOUNS, WRITERS, Sentence
from memory_plane.ask.shapes import Shape
from memory_plane.ask.times import is_of_days
from memory_plane.ask.verbs import ARTICLES, BE
from memory_plane.ask.words import words
from memory_plane.types import Thought

YES, NO = "Yes", "No"
_NEAR = 6
"""How far from another the words after a verb may stand."""
_PARTS = frozenset({"one", "some", "all", "most", "half", "part", "many", "each", "both", "none"})
_ONE = frozenset({"i", "me", "my", "mine", "myself"})
_DAY = "(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day"
_DAYS = rf"(?:{_DAY}s(?:(?:,|,? and) {_DAY}s)*|(?:every|each) (?:{_DAY}|day|week|month|year|morning|evening))"
_HOUR = r"(?:\d{1,2}[:.]\d\d(?: ?[ap]m)?|\d{1,2} ?[ap]m|noon|midnight)"
_USUALLY = re.compile(rf"\b(?P<when>{_DAYS}(?: at {_HOUR})?|(?<=\bat ){_HOUR}(?: on {_DAYS})?)\b", re.IGNORECASE)
PLACES = ("in", "at", "to", "on", "near", "from", "into")


class Told(NamedTuple):
    """What a memory says to a question; what is `changed` takes the place of what was said before."""

    text: str
    thought: Thought
    changed: bool = False


def in_sentence(shape: Shape, sentence: Sentence, previous: Sentence | None, thought: Thought) -> Iterator[Told]:
    """Yield what a sentence says to a question."""
    asked = {*shape.subject, *shape.rest}
    if thought.origin != "user" and asked & (_ONE if thought.origin == "agent" else WRITERS):
        return  # an agent's "I" is itself, its "we" is the person too
    verb = shape.bases
    for at in range(len(sentence.words)):
        if not text.bases(sentence.low(at)) & verb or (shape.running and not text.goes_on(sentence, at)):
            continue
        told = None
        if text.says_verb(sentence, at, shape.verb, past=shape.past, passive=shape.passive):
            told = _clause(shape, sentence, at, previous, thought)
        elif not shape.passive and text.says_verb(sentence, at, shape.verb, past=shape.past, passive=True):
            told = _turned(shape, sentence, at, previous, thought)
        if told is not None:
            yield told


def _turned(shape: Shape, sentence: Sentence, verb: int, previous: Sentence | None, thought: Thought) -> Told | None:
    """Answer by a sentence that is turned: "who started Tansy" by "Tansy was started by Ikram"."""
    begin, _ = text.group_before(sentence, verb)
    done, doer = sentence.before(begin), sentence.after(verb + 2) if sentence.low(verb + 1) == "by" else None
    if done is None or doer is None or not sentence.is_sure(done[0], verb) or supposed(sentence, done[0]):
        return None
    if shape.rest and not _names(sentence, done, shape.rest, previous):
        return None
    if shape.subject and not _names(sentence, doer, shape.subject, previous):
        return None
    match shape.gap:
        case "subject" if shape.rest:
            said = thing(sentence, doer, thought)
        case "object" if not shape.rest:
            said = thing(sentence, done, thought)
        case "none" if shape.rest:
            said = YES
        case _:
            return None
    return None if said is None or not _has_noun(said, shape.noun) else Told(said, thought)


def _clause(shape: Shape, sentence: Sentence, verb: int, previous: Sentence | None, thought: Thought) -> Told | None:
    begin, _ = text.group_before(sentence, verb)
    end = _rest_end(sentence, verb + 1, _required(shape), previous)
    if end is None or (not shape.rest and not shape.subject and not _alone(sentence, end)):
        return None
    subject = _own_subject(sentence, begin)
    own = begin == 0 and subject is None and (text.is_past(sentence.low(verb)) or text.advises(sentence.low(verb)))
    if own or (subject is not None and _is_writer(sentence, subject, shape, thought)):
        return _writers(shape, sentence, verb, end, thought)
    if subject is None or (shape.subject and not _names(sentence, subject, shape.subject, previous)):
        return None
    if shape.gap == "none" and sentence.is_denied(begin, end):
        return Told(NO, thought)
    sure = sentence.is_sure(subject[0], verb, ahead=shape.ahead) and sentence.is_sure(verb + 1, end)
    if not sure or supposed(sentence, subject[0]):
        return None
    said = _gap(shape, sentence, verb, subject, end, previous, thought)
    return None if said is None or not _has_noun(said, shape.noun) else Told(said, thought)


def _is_writer(sentence: Sentence, subject: tuple[int, int], shape: Shape, thought: Thought) -> bool:
    """Whether a subject is the "I" of the agent that is asked about, or the "we" of that project."""
    named = {"i": thought.agent if thought.origin == "agent" else "", "we": thought.project or ""}
    name = named.get(" ".join(sentence.lows[slice(*subject)]), "")
    return bool(name) and shape.subject == tuple(word.low for word in words(name))


def _writers(shape: Shape, sentence: Sentence, verb: int, end: int, thought: Thought) -> Told | None:
    """Answer by what a note tells of its writer: "Fixed the login"."""
    if thought.origin == "external" or (shape.subject and shape.subject not in _writer_names(thought)):
        return None
    if sentence.low(verb + 1) == "by" or not sentence.is_sure(0, end) or supposed(sentence, verb):
        return None
    said = _gap(shape, sentence, verb, (verb, verb), end, None, thought)
    return None if said is None or not _has_noun(said, shape.noun) else Told(said, thought)


def _writer_names(thought: Thought) -> set[tuple[str, ...]]:
    """Return how whoever wrote a note may be called in a question."""
    names = {tuple(word.low for word in words(name)) for name in (thought.agent, thought.project) if name}
    return names | {("i",), ("we",)} if thought.origin == "user" else names


def _own_subject(sentence: Sentence, begin: int) -> tuple[int, int] | None:
    """Return the subject of a verb: of "Ann left and joined Acme" that of the first verb for the second too.

    Of "Ann, who runs sales" it is what stands before the clause.
    """
    found = sentence.before(begin)
    if found is None and sentence.low(begin - 1) in ("who", "which", "that"):
        return sentence.before(begin - 1, across=True)
    if found is not None or begin == 0 or sentence.low(begin - 1) not in ("and", "but", "or"):
        return found
    first = meant(sentence, begin - 1, None)
    return None if first is None else first[1]


def _required(shape: Shape) -> tuple[str, ...]:
    """The words that must follow the verb: of an object asked for, all but the preposition that it hangs on."""
    return (
        shape.rest[:-1] if shape.gap == "object" and shape.rest[-1:] and shape.rest[-1] in PREPOSITIONS else shape.rest
    )


def _alone(sentence: Sentence, at: int) -> bool:
    """Whether nothing but a circumstance follows a verb: "Elke sings in the choir"."""
    return at >= len(sentence.words) or sentence.turns(at) or sentence.low(at) in PREPOSITIONS


def _rest_end(sentence: Sentence, at: int, rest: Sequence[str], previous: Sentence | None) -> int | None:
    """Return the word after those of the rest, which stand in their order; None where they do not.

    "It" and the like stand for what the sentence before, or this one before the verb, names by these words.
    """
    left = list(rest)
    while left:
        if (low := sentence.low(at)) in ("it", "him", "her", "them") and left[0] not in PREPOSITIONS:
            if low in PERSONS and not may_be(left, low):
                return None
            length = _named_before(left, (*(previous.lows if previous else ()), "", *sentence.lows[:at]))
            if not length:
                return None
            del left[:length]
            at += 1
            continue
        low = left.pop(0)
        for place in range(at, min(at + _NEAR, len(sentence.words))):
            if sentence.is_gapped(at, place):
                return None
            if place > at and sentence.low(place - 1) in ("because", "if", "while", "but"):
                return None
            if place > at and low not in PREPOSITIONS and _leads_elsewhere(sentence, place - 1):
                return None
            if text.bases(sentence.low(place)) & text.bases(low):
                at = place + 1
                break
        else:
            return None
    return at


def _named_before(rest: Sequence[str], lows: Sequence[str]) -> int:
    """Return how many of the first words of the rest stand together among others: a pronoun stands for one thing."""
    most = next((at for at, low in enumerate(rest) if low in PREPOSITIONS), len(rest))
    together = (
        length
        for length in range(most, 0, -1)
        for at in range(len(lows) - length + 1)
        if all(
            text.bases(one) & text.bases(other)
            for one, other in zip(rest[:length], lows[at : at + length], strict=True)
        )
    )
    return next(together, 0)


def _leads_elsewhere(sentence: Sentence, at: int) -> bool:
    """Whether a preposition stands at a word, so that a verb is of another thing: "runs the sales team at Fabrik"."""
    part = sentence.low(at) == "of" and sentence.low(at - 1) in _PARTS
    return sentence.low(at) in PREPOSITIONS and not part


def clause_end(sentence: Sentence, begin: int) -> int:
    """Return the word at which a clause ends that begins at a word."""
    end = begin + 1
    while end < len(sentence.words) and not sentence.turns(end):
        end += 1
    return end


def capital(said: str) -> str | None:
    """Return a name that is written large; None for other words."""
    return said if said[:1].isupper() else None


def _gap(
    shape: Shape,
    sentence: Sentence,
    verb: int,
    subject: tuple[int, int],
    end: int,
    previous: Sentence | None,
    thought: Thought,
) -> str | None:
    last = shape.rest[-1] if shape.rest else ""
    match shape.gap:
        case "none":
            return YES
        case "subject" if subject[0] == subject[1]:
            return "you" if thought.origin == "user" else thought.agent
        case "subject":
            return subject_of(sentence, subject, previous, thought)
        case "object" | "place" if shape.gap == "object" or last in PREPOSITIONS:
            if last in PREPOSITIONS and _after_word(sentence, verb + 1, last) == end:
                at: int | None = end  # "what did Saskia take over"
            elif last in PREPOSITIONS:
                at = _after_word(sentence, end, last)
                if at is None and last in ("to", "for"):
                    return _receiver(sentence, verb, shape.rest[:-1])
            else:  # "what did Rosalind give Theo", "what did Rosalind give to Theo"
                at = end if shape.rest and sentence.holds(verb + 1, shape.rest) == end else verb + 1
            return None if at is None or at in sentence.breaks else _object(sentence, at, thought)
        case "number":
            found = sentence.after(verb + 1)
            return sentence.said(*found) if found is not None and text.is_number(sentence.low(found[0])) else None
        case "place":
            for at in range(end, min(end + _NEAR, len(sentence.words))):
                first = at + 1 + (sentence.low(at + 1) in ARTICLES)
                if sentence.low(at) in PLACES and sentence.low(first) and not is_of_days(sentence.low(first)):
                    found = sentence.after(at + 1)
                    return None if found is None else thing(sentence, found, thought)
        case "time":
            day = day_of(sentence, verb, thought, ahead=not shape.past)
            return day if day or shape.past else _usually(sentence, verb, thought)
        case "since":
            return day_of(sentence, verb, thought, ahead=False, kind="since")
    return None


def _after_word(sentence: Sentence, begin: int, low: str) -> int | None:
    return next(
        (at + 1 for at in range(begin, min(begin + _NEAR, len(sentence.words))) if sentence.low(at) == low), None
    )


def _receiver(sentence: Sentence, verb: int, rest: Sequence[str]) -> str | None:
    """Return to whom something is given: "lent Pilar the crampons"."""
    names = (name for name in sentence.names if name.begin == verb + 1 and sentence.holds(name.end, rest) is not None)
    return next((sentence.said(*name[:2]) for name in names), None)


def _usually(sentence: Sentence, verb: int, thought: Thought) -> str | None:
    """Return on which days of the week, or at what time of the day, something happens that a verb tells."""
    found = _USUALLY.search(sentence.text, sentence.words[verb].end)
    if found is None:
        return None
    day = bare_day(sentence, thought, verb + 1, ahead=True)  # "Next meeting: 2 December at 10:00"
    return found["when"] if day is None else f"{day} at {found['when']}"


def _object(sentence: Sentence, at: int, thought: Thought) -> str | None:
    """Return what an object says that begins at a word: a thing, or what is to be done."""
    if sentence.low(at) == "to" and at + 1 < len(sentence.words):
        return sentence.said(at + 1, clause_end(sentence, at + 1))
    if sentence.low(at).endswith("ing") and text.is_verb(sentence, at):
        return sentence.said(at, clause_end(sentence, at))
    found = sentence.after(at)
    return None if found is None else thing(sentence, found, thought)


def thing(sentence: Sentence, found: tuple[int, int], thought: Thought) -> str | None:
    """Return the words of a thing, "you" for whoever writes; None for a pronoun."""
    lows = {sentence.low(at) for at in range(*found)}
    if len(lows) == 1 and lows & WRITERS:
        return "you" if thought.origin == "user" else thought.agent
    return None if lows <= PRONOUNS | ARTICLES else sentence.said(*found)


def subject_of(sentence: Sentence, found: tuple[int, int], previous: Sentence | None, thought: Thought) -> str | None:
    """Return who a subject is: a pronoun is whoever the clause or sentence before it began with."""
    if sentence.low(found[0]) not in PRONOUNS or found[1] - found[0] > 1:
        said = thing(sentence, found, thought)
        return said if said is None or said == "you" else sentence.name_in(*found)
    named = meant(sentence, found[0], previous)
    if named is None:
        return None
    one, (begin, end) = named
    called = end + 1 + (one.low(end + 1) in ("called", "named"))
    if one.low(end) in BE and (name := one.after(called)) is not None and capital(one.said(*name)):
        return one.name_in(*name)  # "the landlord is called Poul; he …"
    return one.name_in(begin, end)


def _names(sentence: Sentence, found: tuple[int, int], subject: Sequence[str], previous: Sentence | None) -> bool:
    """Whether the subject of a clause is the one asked for, by these words or by a pronoun for them."""
    if found[1] - found[0] == 1 and sentence.low(found[0]) in PRONOUNS:
        named = meant(sentence, found[0], previous)
        if sentence.low(found[0]) in ("it", "they") and previous is not None:
            named = previous, (0, len(previous.words))
        if named is not None:
            sentence, found = named
    lows = [sentence.low(at) for at in range(*found)]
    length = len(subject)
    return any(tuple(lows[at : at + length]) == tuple(subject) for at in range(len(lows) - length + 1)) and (
        "'s" not in lows or "'s" in subject
    )


def supposed(sentence: Sentence, begin: int) -> bool:
    """Whether a clause hangs on a condition, is imagined, or is said of more than what stands at its beginning."""
    return sentence.low(begin - 1) in text.BESIDE or any(sentence.low(at) in text.SUPPOSING for at in range(begin + 1))


def _has_noun(said: str, noun: Sequence[str]) -> bool:
    """Whether what was found is of the kind that is asked for; a name's first word is no kind: "Tom" of Tom Scott."""
    found = words(said)
    lows = {base for word in found[len(found) > 1 and said[0].isupper() :] for base in text.bases(word.low)}
    return all(text.bases(word) & lows for word in noun)
