"""What cannot go on until something else is there: "Can't ship Orbit until legal signs off"."""

from __future__ import annotations

from memory_plane_local.clauses import Clause
from memory_plane_local.drafts import polarity
from memory_plane_local.elements import NAME, NOUN, WORD, Element
from memory_plane_local.guards import NEGATIVE, PAST_TENSE, QUESTION
from memory_plane_local.name import Name
from memory_plane_local.relations import Reader
from memory_plane_local.tables import cues, words
from memory_plane_local.verbs import sense

_SURE = 0.92


def read_hold_up(reader: Reader, clause: Clause) -> None:
    """Draft what the thing that a sentence denies for now waits for."""
    elements = clause.elements
    until = next((at for at, element in enumerate(elements) if element.low in cues("until")), 0)
    denied = (
        any(token.low in cues("unable") for token in clause.sentence.tokens[: elements[until].begin])
        if until
        else False
    )
    past = any(element.flags & PAST_TENSE for element in elements[:until])
    if not denied or past or until + 1 == len(elements) or clause.flags & QUESTION:
        return
    for source in _held(elements[:until]):
        for target in _awaited(reader, clause, elements[until + 1]):
            polar = polarity(clause.flags & ~NEGATIVE, state=True)
            reader.draft(clause, source, sense("block", "BLOCKED_BY"), target, polar, _SURE)


def _held(before: list[Element]) -> list[Name]:
    """The thing said last before "until"; people wait for their own sake."""
    things = [one for one in before if one.kind in (NAME, NOUN) and (one.kind == NAME or one.definite)]
    return things[-1].names if things else []


def _awaited(reader: Reader, clause: Clause, element: Element) -> list[Name]:
    """What must come first: a name, a thing spoken of as known, or a department."""
    if element.kind in (NAME, NOUN):
        return element.names if element.kind == NAME or element.definite else []
    if element.kind != WORD or element.low not in words("fields.txt"):
        return []
    token = clause.sentence.tokens[element.begin]
    return [reader.once(Name(token.text, token.start, token.end, ("Team",), 0.7, weak=True))]
