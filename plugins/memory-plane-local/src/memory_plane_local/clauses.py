"""A sentence while it is read, and the phrases that a verb in it begins."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from itertools import pairwise
from typing import NamedTuple

from memory_plane_local.elements import MARK, NAME, NOUN, VERB, Element
from memory_plane_local.guards import NEGATIVE
from memory_plane_local.name import Name
from memory_plane_local.sentences import Sentence
from memory_plane_local.spans import Span, spans
from memory_plane_local.tables import cues, words
from memory_plane_local.tokens import Token
from memory_plane_local.verbs import Phrase, phrases, starting

_HEARSAY = 0.65
_TOLD_BY_OTHERS = 0.8


def doubt(tokens: Sequence[Token]) -> float:
    """Return the factor for what the writer only heard: "I heard that …", "Apparently …", but not "heard back from"."""
    for token, after in pairwise([*tokens, None]):
        if token is not None and token.low in cues("hearsay") and (not after or after.low not in cues("heard_of")):
            return _HEARSAY
    return _TOLD_BY_OTHERS if any(_says(tokens, at) for at in range(1, len(tokens) - 1)) else 1.0


def _says(tokens: Sequence[Token], at: int) -> bool:
    """Whether somebody else says, in other words than his own, what follows: "Bob says Acme is hiring"."""
    return (
        tokens[at].low in cues("reporting")
        and tokens[at - 1].low not in cues("ourselves")
        and tokens[at + 1].low not in cues("not_reported")
    )


@dataclass(slots=True)
class Clause:
    """A sentence while it is read: `flags` hold for all of it, the subjects change from verb to verb.

    `onwards` holds those that the words before each token lay on all after them; `doubt` is the factor of hearsay;
    `before` is the subject that goes on after a semicolon, `main` the first subject, `last` that of the verb before,
    `product` what was last built; `waiting` are verbs that come before their subject, `taken` subjects of a verb that
    is left out, `resumed` the head of a relative clause whose verb is at `relative`, `previous` the flags of the verb
    before.
    """

    sentence: Sentence
    elements: list[Element]
    flags: int
    onwards: list[int]
    written: datetime
    doubt: float = 1.0
    before: list[Name] = field(default_factory=list)
    main: list[Name] = field(default_factory=list)
    last: list[Name] = field(default_factory=list)
    product: list[Name] = field(default_factory=list)
    waiting: list[int] = field(default_factory=list)
    taken: set[int] = field(default_factory=set)
    resumed: list[Name] = field(default_factory=list)
    relative: int = 0
    previous: int = 0
    _index: list[int] = field(default_factory=list)
    _spans: list[Span] | None = None

    def element_at(self, token: int) -> int:
        """Return the first element that begins at this token or later."""
        if not self._index:
            for place, element in enumerate(self.elements):
                self._index.extend([place] * (element.begin + 1 - len(self._index)))
        return self._index[token] if token < len(self._index) else len(self.elements)

    def told(self, verb: Element) -> Span | None:
        """Return the time that is said of a verb or title: behind it, or before all the others."""
        if self._spans is None:
            self._spans = spans(self.sentence.text, self.sentence.tokens, self.written)
        if not self._spans:
            return None
        verbs = [element.begin for element in self.elements if element.kind == VERB]
        own = max((begin for begin in verbs if begin <= verb.begin), default=-1)
        limit = min((begin for begin in verbs if begin > verb.begin), default=len(self.sentence.tokens))
        behind = (span for span in self._spans if own <= span.token < limit and not span.leads)
        return next(behind, None) or next((span for span in self._spans if span.leads), None)

    def span(self) -> tuple[int, int]:
        """Return where the sentence stands in the text."""
        return self.sentence.tokens[0].start, self.sentence.tokens[-1].end

    def nearest(self, at: int) -> list[Name]:
        """Return the names before the relative pronoun at `at`, past those that are denied: "Sven, not Mara, who"."""
        first = at - 3
        for place in range(at - 1, -1, -1):
            element = self.elements[place]
            if place < first:
                return []
            before = self.elements[place - 1] if place else None
            denied = before is not None and (before.low == "not" or (before.low == "be" and before.flags & NEGATIVE))
            if element.kind in (NAME, NOUN) and denied:
                first = place - 4
            elif element.kind in (NAME, NOUN):
                return element.names
        return []


class Match(NamedTuple):
    """A phrase of the table found at a verb: `end` is the element after it; `turned` = the object comes first."""

    phrase: Phrase
    end: int
    turned: bool
    passive: bool


def matches(clause: Clause, at: int) -> Iterator[Match]:
    """Yield the phrases that the verb at `at` begins, passives first, long ones before short ones."""
    element = clause.elements[at]
    ahead = _next_word(clause, element.end)
    if element.passive or (element.bare and element.form in ("past", "participle")):
        yield from _passives(clause, element, ahead)
    if element.passive:
        return
    for verb in (element.low,) if element.title == element.low else (element.low, element.title):
        for phrase in starting(verb, ahead):
            if (end := _follows(clause, element.end, phrase.rest)) >= 0:
                yield Match(phrase, end, phrase.turned, False)


def _passives(clause: Clause, element: Element, ahead: str) -> Iterator[Match]:
    """ "(is) written in" as a phrase of its own, then "(is) built by" as "build" turned round."""
    for phrase in starting("be", element.title):
        if phrase.rest[:1] == (element.title,) and (end := _follows(clause, element.end, phrase.rest[1:])) >= 0:
            yield Match(phrase, end, phrase.turned, True)
    begin = _past_year(clause.sentence.tokens, element.end)
    ahead = _next_word(clause, begin)
    for phrase in phrases().get(element.low, ()) if ahead == "by" else starting(element.low, ahead):
        if (end := _follows(clause, begin, (*phrase.rest, "by"))) >= 0:
            yield Match(phrase, end, not phrase.turned, True)


def _past_year(tokens: Sequence[Token], at: int) -> int:
    """The token after the year that stands between a participle and "by": "was founded in 1890 by"."""
    dated = at + 1 < len(tokens) and tokens[at].low == "in" and tokens[at + 1].shape == "num"
    return at + 2 if dated else at


def _next_word(clause: Clause, at: int) -> str:
    """The next word that says something."""
    tokens = clause.sentence.tokens
    while at < len(tokens) and _said_lightly(tokens[at].low):
        at += 1
    return tokens[at].low if at < len(tokens) else ""


def _said_lightly(low: str) -> bool:
    return low in words("adverbs.txt") or low in cues("article") or low in cues("owner") or low in cues("time")


def _follows(clause: Clause, at: int, rest: Sequence[str]) -> int:
    """The element after the words `rest` from token `at` on, light words left out; -1 when others stand there."""
    tokens = clause.sentence.tokens
    for place, word in enumerate(rest):
        if word == "~":
            at = _gap(clause, at, rest[place + 1])
            continue
        while at < len(tokens) and tokens[at].low != word and _said_lightly(tokens[at].low):
            at += 1
        if at >= len(tokens) or tokens[at].low != word:
            return -1
        at += 1
    return clause.element_at(at)


def _gap(clause: Clause, at: int, word: str) -> int:
    """The token where `word` follows after one name or noun phrase; `at` when it does not."""
    begin = clause.element_at(at)
    for element in clause.elements[begin : begin + 5]:
        if element.kind == VERB or element.low in cues("link") or (element.kind == MARK and element.low not in "$€£"):
            return at
        if element.low == word:
            return element.begin
    return at
