"""Questions as clauses with a gap: who does, the verb, what follows it, and which of these is asked for."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from memory_plane.ask import sentences as text
from memory_plane.ask.sentences import MAKING, PREPOSITIONS, PRONOUNS, WRITERS
from memory_plane.ask.verbs import ARTICLES, AUXILIARIES, BE, DO, HAVE
from memory_plane.vocabulary.meanings import verb_forms

_SUBJECT = 4
"""How many words a subject has in a question."""

_GAPS = frozenset({"who", "what", "where", "when"})

Gap = Literal["subject", "object", "number", "place", "time", "since", "none"]


@dataclass(frozen=True, slots=True)
class Shape:
    """A question as a clause: who does, the verb, what follows it, which of these is asked for, and is it to come.

    `running` = any verb of making something, which must still go on.
    """

    gap: Gap
    subject: tuple[str, ...]
    verb: str
    rest: tuple[str, ...]
    past: bool
    passive: bool = False
    noun: tuple[str, ...] = ()
    ahead: bool = False
    running: bool = False

    @property
    def bases(self) -> frozenset[str]:
        """What its verb is a form of."""
        return MAKING if self.running else text.bases(self.verb)


def plainer(lows: Sequence[str]) -> Sequence[str]:
    """Return a question in plainer words: "how much is the hut" as "how much does the hut cost"."""
    match list(lows):
        case ["how", "much", "is" | "are" as be, *rest] if rest:
            return ["how", "much", "does" if be == "is" else "do", *rest, "cost"]
        case ["how", "much", "was" | "were", *rest] if rest:
            return ["how", "much", "did", *rest, "cost"]
        case ["what" | "which", "time" | "day" | "date", *rest] if rest:
            return ["when", *rest]
        case [preposition, "who" | "what" | "which" as asked, *rest] if preposition in PREPOSITIONS:
            return [asked, *rest, preposition]
    return lows


def shapes(lows: Sequence[str]) -> Iterator[Shape]:
    """Yield what a question can be as a clause; whoever builds something works on it."""
    for shape in _shapes(lows):
        yield shape
        if shape.rest[:1] == ("on",) and "work" in text.bases(shape.verb) and not shape.past | shape.passive:
            yield replace(shape, rest=shape.rest[1:], running=True)


def _shapes(lows: Sequence[str]) -> Iterator[Shape]:
    """Yield clauses with every place in the question where its verb may stand."""
    first = lows[0] if lows else ""
    for at in range(2, min(_SUBJECT + 2, len(lows))) if first in _GAPS and AUXILIARIES.isdisjoint(lows[:2]) else ():
        if lows[at] in AUXILIARIES:  # "tell me what Tom is working on"
            yield from _shapes([first, lows[at], *lows[1:at], *lows[at + 1 :]])
            break
    if first in ("who", "what"):
        yield from _open(lows, 1, ())
    if first in ("what", "which"):
        for end in (2, 3):
            yield from _open(lows, end, tuple(lows[1:end]))
    elif tuple(lows[:2]) in (("how", "much"), ("how", "many")):
        for end in range(2, 6):
            yield from _inverted(lows, end, "number", tuple(lows[2:end]))
    elif tuple(lows[:2]) in (("when", "will"), ("where", "will")):
        now = [first, "is" if "be" in lows else "does", *(low for low in lows[2:] if low != "be")]
        yield from (replace(shape, ahead=True) for shape in _shapes(now))
    elif tuple(lows[:2]) == ("since", "when"):
        yield from (replace(shape, past=False) for shape in _inverted(lows, 2, "since", ()))
    elif first in ("where", "when"):
        yield from _inverted(lows, 1, "place" if first == "where" else "time", ())
    elif first in AUXILIARIES:
        yield from _inverted(lows, 0, "none", ())


def _open(lows: Sequence[str], at: int, noun: tuple[str, ...]) -> Iterator[Shape]:
    """Yield a clause whose subject or object is asked for: "who keeps the books", "what did Ann give Bob"."""
    yield from _inverted(lows, at, "object", noun)
    chain = at
    while chain < len(lows) and lows[chain] in AUXILIARIES:
        chain += 1
    if chain > at and lows[chain - 1] in DO | HAVE and set(lows[chain : chain + 1]) & ARTICLES:  # "who does the dishes"
        yield _shape("subject", (), lows, chain - 1, lows[at : chain - 1], noun)
    if chain >= len(lows) or (DO & set(lows[at:chain]) and lows[chain] not in verb_forms()):
        return  # "what does Nimbus use" asks for no subject
    if _may_be_verb(lows[chain]):
        yield _shape("subject", (), lows, chain, lows[at:chain], noun)


def _inverted(lows: Sequence[str], at: int, gap: Gap, noun: tuple[str, ...]) -> Iterator[Shape]:
    """Yield a clause with its auxiliary before its subject: "did Ann give", "is Ann meeting"."""
    if at >= len(lows) or lows[at] not in AUXILIARIES:
        return
    begin = at + 1
    while begin < len(lows) and lows[begin] in ARTICLES - {"my", "our"}:
        begin += 1
    for verb in range(begin + 1, min(begin + _SUBJECT, len(lows) - 1) + 1):
        main = lows[at] in DO and lows[verb] in ("do", "have")
        if (
            _may_be_verb(lows[verb]) or main or (lows[at] in BE and lows[verb] in PREPOSITIONS)
        ):  # "what is the talk about"
            yield _shape(gap, tuple(lows[begin:verb]), lows, verb, lows[at : at + 1], noun)


def _shape(
    gap: Gap, subject: tuple[str, ...], lows: Sequence[str], verb: int, before: Sequence[str], noun: tuple[str, ...]
) -> Shape:
    chain = set(before)
    rest = tuple(low for low in lows[verb + 1 :] if low not in ARTICLES or low in ("my", "our"))
    past = bool({"did", "was", "were", "had"} & chain) or (
        not chain & (DO | BE) and text.is_past(lows[verb]) is not False
    )
    passive = bool(chain & BE) and not lows[verb].endswith("ing")
    return Shape(gap, subject, lows[verb], rest, past or bool(chain & HAVE), passive, noun)


def _may_be_verb(low: str) -> bool:
    return low not in AUXILIARIES | ARTICLES | PREPOSITIONS | PRONOUNS | WRITERS and low != "'s" and low.isalpha()
