"""Questions that the graph does not answer, read off the sentences that say it in the question's own words.

"Who keeps the books?" is answered by "his sister Birgit keeps the books", whatever verb it is: subject, verb and the
rest must stand in one clause in this order, in the tense of the question, and the clause must say it plainly, not deny
it, suppose it or ask it.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

from sqlalchemy import Connection

from memory_plane.ask import sentences as text
from memory_plane.ask.sentences import PREPOSITIONS, PRONOUNS, WRITERS, Sentence
from memory_plane.ask.shapes import Shape, shapes
from memory_plane.ask.times import Clock
from memory_plane.ask.verbs import ARTICLES, AUXILIARIES, BE
from memory_plane.ask.words import words
from memory_plane.recall import passages
from memory_plane.recall.stopwords import STOP_WORDS
from memory_plane.store import derivations, log
from memory_plane.types import Thought

_READ = 8
"""How many of the newest memories that hold the words are read."""
_NEAR = 6
"""How far from another the words after a verb may stand."""
_REFUSED = frozenset({"not", "or", "than", "never", "without", "most", "best", "more", "less", "fewer", "least"})
_PLACES = ("in", "at", "to", "on", "near", "from", "into")
_DECIDING = frozenset().union(
    *map(text.bases, ("decide", "choose", "pick", "select", "go", "use", "prefer", "settle", "opt", "take", "agree"))
)
_BECAUSE = re.compile(
    r"\b(?:because of|because|due to|owing to|thanks to|so that|in order to|in order for|as|since)\s+(?P<why>.+)",
    re.IGNORECASE,
)
_REASON = re.compile(r"\breason\b.{0,60}?\b(?:is|was)\s+(?:that\s+)?(?P<why>.+)", re.IGNORECASE)


class Told(NamedTuple):
    """What a memory says to a question."""

    text: str
    thought: Thought
    denied: bool = False


@dataclass(frozen=True, slots=True)
class Reader:
    """Reads memories up to a time; sentences in which a plugin read one of these relations are the graph's to tell."""

    connection: Connection
    known: datetime | None = None
    relations: frozenset[str] = frozenset()

    def told(self, lows: Sequence[str]) -> list[Told]:
        """Return what the newest memories say to a question, given as its folded words."""
        if _REFUSED & set(lows):
            return []
        if lows[:1] == ["why"]:
            return self._why([low for low in lows[1:] if low not in AUXILIARIES])
        for shape in shapes(lows):
            found = list(self._said(shape))
            if found:
                return found
        if len(lows) > 2 and lows[0] in ("who", "what") and lows[1] in BE:
            return list(self._being(lows[1], [low for low in lows[2:] if low not in ARTICLES], who=lows[0] == "who"))
        return []

    def _said(self, shape: Shape) -> Iterator[Told]:
        asked = shape.words
        if len(asked) > 1:  # one word alone says too little
            for sentence, previous, thought in self._sentences(asked):
                yield from _in_sentence(shape, sentence, previous, thought)

    def _being(self, be: str, named: Sequence[str], *, who: bool) -> Iterator[Told]:
        """Yield who or what is called by some words: "Raúl is the caterer", "our plumber is called Zdeněk"."""
        telling = [(low,) for low in named if low not in STOP_WORDS and low != "'s"]
        for sentence, previous, thought in self._sentences(telling):
            for at in range(len(sentence.words)):
                end = sentence.holds(at, named)
                said = None if end is None else _is(sentence, at, end, be, previous, thought, who=who)
                if said is not None:
                    yield Told(said, thought)

    def _sentences(self, words: Sequence[Collection[str]]) -> Iterator[tuple[Sentence, Sentence | None, Thought]]:
        """Yield the sentences of the newest memories that hold some words, each with the one before it."""
        for seq, thought in passages.said(self.connection, words, _READ, known=self.known):
            if thought.kind in ("question", "commitment", "handoff"):
                continue
            read, previous = self._read(seq), None
            for sentence in text.sentences(thought.text):
                if not any(sentence.start <= start < sentence.end for start in read):
                    yield sentence, previous, thought
                previous = sentence

    def _read(self, seq: int) -> list[int]:
        """Return where in a memory plugins have read one of the relations."""
        memory = log.memory(self.connection, seq) if self.relations else None
        if memory is None:
            return []
        return [
            claim.start
            for answer in derivations.read(self.connection, seq, memory[0])
            if answer.extraction is not None
            for claim in answer.extraction.claims
            if self._is_asked(claim.relation)
        ]

    def _is_asked(self, relation: str) -> bool:
        return any(relation == one or (one.endswith("_") and relation.startswith(one)) for one in self.relations)

    def _why(self, lows: Sequence[str]) -> list[Told]:
        """Return the reasons that are given in a sentence with the words of a question."""
        telling = [low for low in lows if low not in STOP_WORDS and not text.bases(low) & _DECIDING]
        if not telling:
            return []
        asked = [*(text.spellings(low) for low in telling), text.CAUSES]
        found = []
        for _, thought in passages.said(self.connection, asked, _READ, known=self.known):
            for sentence in text.sentences(thought.text):
                said = {base for word in sentence.words for base in text.bases(word.low)}
                cause = _BECAUSE.search(sentence.text) or _REASON.search(sentence.text)
                if cause and not sentence.asks and all(text.bases(low) & said for low in telling):
                    found.append(Told(cause["why"].strip(" .;!"), thought))
        return found[:1]


def _in_sentence(shape: Shape, sentence: Sentence, previous: Sentence | None, thought: Thought) -> Iterator[Told]:
    if WRITERS & {*shape.subject, *shape.rest} and thought.origin != "user":
        return
    for at in range(len(sentence.words)):
        told = None
        if text.says_verb(sentence, at, shape.verb, past=shape.past, passive=shape.passive):
            told = _clause(shape, sentence, at, previous, thought)
        elif shape.gap == "subject" and text.says_verb(sentence, at, shape.verb, past=shape.past, passive=True):
            told = _by_whom(shape, sentence, at, previous, thought)
        if told is not None:
            yield told


def _by_whom(shape: Shape, sentence: Sentence, verb: int, previous: Sentence | None, thought: Thought) -> Told | None:
    """Return who did it where the sentence is turned: "who started Tansy", "Tansy was started by Ikram"."""
    begin, _ = text.group_before(sentence, verb)
    subject = sentence.before(begin) if shape.rest else None
    if subject is None or not _names(sentence, subject, shape.rest, previous) or sentence.low(verb + 1) != "by":
        return None
    found = sentence.after(verb + 2) if sentence.is_sure(subject[0], verb) else None
    said = None if found is None else _thing(sentence, found, thought)
    return None if said is None or _supposed(sentence, subject[0]) else Told(said, thought)


def _clause(shape: Shape, sentence: Sentence, verb: int, previous: Sentence | None, thought: Thought) -> Told | None:
    begin, _ = text.group_before(sentence, verb)
    end = _rest_end(sentence, verb + 1, _required(shape))
    if end is None:
        return None
    subject = _own_subject(sentence, begin)
    if subject is None or (shape.subject and not _names(sentence, subject, shape.subject, previous)):
        return None
    if shape.gap == "none" and sentence.is_denied(begin, end):
        return Told("No", thought, denied=True)
    if not (sentence.is_sure(subject[0], verb) and sentence.is_sure(verb + 1, end)) or _supposed(sentence, subject[0]):
        return None
    said = _gap(shape, sentence, verb, subject, end, previous, thought)
    return None if said is None or not _has_noun(said, shape.noun) else Told(said, thought)


def _own_subject(sentence: Sentence, begin: int) -> tuple[int, int] | None:
    """Return the subject of a verb: of "Ann left and joined Acme" that of the first verb for the second too."""
    found = sentence.before(begin)
    if found is not None or begin == 0 or sentence.low(begin - 1) not in ("and", "but", "or"):
        return found
    meant = _meant(sentence, begin - 1, None)
    return None if meant is None else meant[1]


def _required(shape: Shape) -> tuple[str, ...]:
    """The words that must follow the verb: of an object asked for, all but the preposition that it hangs on."""
    return (
        shape.rest[:-1] if shape.gap == "object" and shape.rest[-1:] and shape.rest[-1] in PREPOSITIONS else shape.rest
    )


def _rest_end(sentence: Sentence, at: int, rest: Sequence[str]) -> int | None:
    """Return the word after those of the rest, which stand in their order; None where they do not."""
    for low in rest:
        for place in range(at, min(at + _NEAR, len(sentence.words))):
            if place > at and sentence.low(place - 1) in ("because", "if", "while", "but"):
                return None
            if text.bases(sentence.low(place)) & text.bases(low):
                at = place + 1
                break
        else:
            return None
    return at


def _is(
    sentence: Sentence, begin: int, end: int, be: str, previous: Sentence | None, thought: Thought, *, who: bool
) -> str | None:
    """Return who or what a sentence says to be what stands at some words of it."""
    while begin > 0 and sentence.low(begin - 1) in ARTICLES and begin not in sentence.breaks:
        begin -= 1
    past = be in ("was", "were")
    before, after = sentence.low(begin - 1), end + (sentence.low(end) in BE)
    if sentence.low(end) == "'s" or not sentence.is_sure(begin - 2, end + 2) or _supposed(sentence, begin):
        return None
    if before in BE and begin not in sentence.breaks and (before in ("was", "were")) == past:
        found = sentence.before(text.group_before(sentence, begin)[0])
        return None if found is None else _subject(sentence, found, previous, thought)
    called = sentence.low(after) in ("called", "named")
    if after > end and (sentence.low(end) in ("was", "were")) != past:
        return None
    if (called or after > end) and after not in sentence.breaks:
        found = sentence.after(after + called) if who or called else (after, _clause_end(sentence, after))
        said = None if found is None else _thing(sentence, found, thought)
        return said if said is None or not who or found is None else sentence.name_in(*found)
    if who and before == "as" and (found := sentence.before(begin - 1)) is not None:  # "booked Lumen as photographer"
        return _capital(sentence.name_in(*found))
    if who and begin in sentence.breaks and (found := sentence.before(begin)) is not None:  # "Raúl, the caterer, …"
        return _capital(sentence.name_in(*found))
    return None


def _clause_end(sentence: Sentence, begin: int) -> int:
    end = begin + 1
    while end < len(sentence.words) and not sentence.turns(end):
        end += 1
    return end


def _capital(said: str) -> str | None:
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
    match shape.gap:
        case "none":
            return "Yes"
        case "subject":
            return _subject(sentence, subject, previous, thought)
        case "object":
            last = shape.rest[-1] if shape.rest else ""
            if last in PREPOSITIONS and _after_word(sentence, verb + 1, last) == end:
                at: int | None = end  # "what did Saskia take over"
            elif last in PREPOSITIONS:
                at = _after_word(sentence, end, last)
            else:  # "what did Rosalind give Theo", "what did Rosalind give to Theo"
                at = end if shape.rest and sentence.holds(verb + 1, shape.rest) == end else verb + 1
            return None if at is None or at in sentence.breaks else _object(sentence, at, thought)
        case "place":
            for at in range(end, min(end + _NEAR, len(sentence.words))):
                if sentence.low(at) in _PLACES and (found := sentence.after(at + 1)) is not None:
                    return _thing(sentence, found, thought)
        case "time":
            return _time(sentence, thought)
    return None


def _after_word(sentence: Sentence, begin: int, low: str) -> int | None:
    return next(
        (at + 1 for at in range(begin, min(begin + _NEAR, len(sentence.words))) if sentence.low(at) == low), None
    )


def _object(sentence: Sentence, at: int, thought: Thought) -> str | None:
    """Return what an object says that begins at a word: a thing, or what is to be done."""
    if sentence.low(at) == "to" and at + 1 < len(sentence.words):
        return sentence.said(at + 1, _clause_end(sentence, at + 1))
    found = sentence.after(at)
    return None if found is None else _thing(sentence, found, thought)


def _thing(sentence: Sentence, found: tuple[int, int], thought: Thought) -> str | None:
    lows = {sentence.low(at) for at in range(*found)}
    if len(lows) == 1 and lows & WRITERS:
        return "you" if thought.origin == "user" else thought.agent
    return None if lows <= PRONOUNS | ARTICLES else sentence.said(*found)


def _subject(sentence: Sentence, found: tuple[int, int], previous: Sentence | None, thought: Thought) -> str | None:
    """Return who a subject is: a pronoun is whoever the clause or sentence before it began with."""
    if sentence.low(found[0]) not in PRONOUNS or found[1] - found[0] > 1:
        said = _thing(sentence, found, thought)
        return said if said is None or said == "you" else sentence.name_in(*found)
    named = _meant(sentence, found[0], previous)
    return None if named is None else named[0].name_in(*named[1])


def _meant(sentence: Sentence, pronoun: int, previous: Sentence | None) -> tuple[Sentence, tuple[int, int]] | None:
    """Return the subject of the clause before a pronoun, or of the sentence before it."""
    if sentence.low(pronoun) in ("who", "which", "that"):
        found = sentence.before(pronoun)
        return None if found is None else (sentence, found)
    for one, last in ((sentence, pronoun), (previous, None)):
        if one is None:
            continue
        for at in range(1, len(one.words) if last is None else last):
            if text.is_verb(one, at):
                found = one.before(text.group_before(one, at)[0])
                if found is not None and one.low(found[0]) not in PRONOUNS | WRITERS:
                    return one, found
                break
    return None


def _names(sentence: Sentence, found: tuple[int, int], subject: Sequence[str], previous: Sentence | None) -> bool:
    """Whether the subject of a clause is the one asked for, by these words or by a pronoun for them."""
    if (
        found[1] - found[0] == 1
        and sentence.low(found[0]) in PRONOUNS
        and (named := _meant(sentence, found[0], previous))
    ):
        sentence, found = named
    lows = [sentence.low(at) for at in range(*found)]
    length = len(subject)
    return any(tuple(lows[at : at + length]) == tuple(subject) for at in range(len(lows) - length + 1)) and (
        "'s" not in lows or "'s" in subject
    )


def _supposed(sentence: Sentence, begin: int) -> bool:
    """Whether a clause hangs on a condition or on what somebody thinks."""
    return any(sentence.low(at) in ("if", "whether", "unless") for at in range(begin))


def _has_noun(said: str, noun: Sequence[str]) -> bool:
    lows = {base for word in words(said) for base in text.bases(word.low)}
    return all(text.bases(word) & lows for word in noun)


def _time(sentence: Sentence, thought: Thought) -> str | None:
    """Return the first day that a sentence names, counted from when it was written."""
    clock, lows = Clock(thought.created_at), [word.low for word in sentence.words]
    for at in range(len(lows)):
        read = clock.period(lows, at)
        if read is not None and read[0].kind == "during":
            return read[0].start.date().isoformat()
    return None
