"""What stands after a verb or a preposition."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from memory_plane_local.clauses import Clause
from memory_plane_local.coreference import Discourse
from memory_plane_local.elements import NAME, NOUN, PRONOUN, ROLE, WORD, Element
from memory_plane_local.lexicon import is_common, nouns
from memory_plane_local.name import Name
from memory_plane_local.tables import cues, words

Found = tuple[list[Name], int, float]
"""Names, the element after them, and the factor of having found the right ones."""
Once = Callable[[Name], Name]
_SUBJECTS = frozenset({"he", "she", "they", "i", "we"})
_POSSESSIVES = frozenset({"'s", "’", "'"})


def objects(discourse: Discourse, once: Once, clause: Clause, at: int, *, any_phrase: bool = True) -> Found:
    """Return the names at element `at`; with `any_phrase` bare phrases of ordinary words count too."""
    elements = clause.elements
    while at < len(elements) and elements[at].low in cues("quote"):
        at += 1
    at += 2 * (at + 2 < len(elements) and elements[at].low in cues("portion") and elements[at + 1].low == "of")
    at = _told_of(elements, _enumerated(elements, at))
    if at >= len(elements):
        return [], at, 0.0
    if elements[at].kind == ROLE and at + 1 < len(elements) and elements[at + 1].kind == NAME:
        at += 1
    element = elements[at]
    if element.kind == NAME and at + 2 < len(elements) and elements[at + 1].low in _POSSESSIVES:
        return _possession(once, clause, at, any_phrase=any_phrase)
    if element.kind == NOUN and (_called(elements, at) or _set_off(elements, at)):
        return elements[at + 2].names, at + 3, 1.0
    if element.kind in (NAME, NOUN):
        return ([], at, 0.0) if not any_phrase and _loose(element) else (element.names, at + 1, 1.0)
    if element.kind == PRONOUN and clause.sentence.tokens[element.begin].low not in _SUBJECTS:
        names, factor = discourse.resolve(element.low, clause.last)
        return names, at + 1, factor
    named = not is_common(element.low) or (any_phrase and element.low in cues("department"))
    if element.kind == WORD and element.low.isalpha() and len(element.low) > 2 and named and not _goes_on(elements, at):
        return [once(_phrase(clause, element, element))], at + 1, 0.9
    return [], at, 0.0


def _enumerated(elements: Sequence[Element], at: int) -> int:
    """The element where those begin that a number announces: "for two clients: Tidewell and Fjordly"."""
    behind = next((place + 1 for place in range(at + 1, min(at + 4, len(elements))) if elements[place].low == ":"), 0)
    if not 0 < behind < len(elements) or elements[behind].kind != NAME:
        return at
    first = elements[at].names[0].text.split()[0].lower() if elements[at].kind == NOUN else elements[at].low
    return behind if first in cues("count") or first.isdecimal() else at


def _told_of(elements: Sequence[Element], at: int) -> int:
    """The element of a name that is behind its place and what it is: "the Lisbon startup Fleetlane"."""
    if at + 2 >= len(elements) or elements[at].kind != NAME or elements[at + 2].kind != NAME:
        return at
    place, noun, name = elements[at : at + 3]
    told = noun.low in nouns("told") or noun.low in nouns("before")
    beside = place.end == noun.begin and noun.end == name.begin
    return at + 2 if told and beside and place.names[0].options[:1] == ("Place",) else at


def _possession(once: Once, clause: Clause, at: int, *, any_phrase: bool) -> Found:
    """Somebody's thing: the named thing itself, or the whole phrase where any phrase may stand."""
    owner, thing = clause.elements[at], clause.elements[at + 2]
    if thing.kind == NAME:
        return thing.names, at + 3, 1.0
    if thing.kind != NOUN or not any_phrase:
        return [], at, 0.0
    whole = _phrase(clause, owner, thing)
    whole.options = thing.names[0].options
    return [once(whole)], at + 3, 0.9


def _called(elements: Sequence[Element], at: int) -> bool:
    """Whether a noun phrase is told by its name: "a farm called Green Acre"."""
    verb = elements[at + 1] if at + 2 < len(elements) else None
    return verb is not None and verb.low in ("call", "name") and verb.bare and elements[at + 2].kind == NAME


def _set_off(elements: Sequence[Element], at: int) -> bool:
    """Whether what a noun phrase is called stands between commas: "a bakery, Sesame, in Lille"."""
    kind, named = nouns("told").get(elements[at].low), elements[at + 2 : at + 4]
    if (
        kind in (None, "Person")
        or elements[at].definite
        or not named
        or named[0].kind != NAME
        or len(named[0].names) > 1
    ):
        return False
    if (
        elements[at + 1].low != ","
        or (len(named) > 1 and named[1].low != ",")
        or named[0].names[0].options not in ((), (kind,))
    ):
        return False
    named[0].names[0].options = (kind,)
    return True


def _loose(element: Element) -> bool:
    """Whether an ordinary noun phrase is too vague to be a thing: one noun without "the", or no article at all."""
    if element.kind == NAME:
        return False
    if element.end - element.begin == 1:
        return not element.definite
    return not element.determined and not element.owner and element.names[0].strength < 0.7


def _goes_on(elements: Sequence[Element], at: int) -> bool:
    """Whether a word is one of several that mean something together: "bare metal"."""
    after = elements[at + 1] if at + 1 < len(elements) and elements[at + 1].begin == elements[at].end else None
    return after is not None and after.kind == WORD and is_common(after.low) and after.low not in words("function.txt")


def _phrase(clause: Clause, first: Element, last: Element) -> Name:
    start = clause.sentence.tokens[first.begin].start
    end = clause.sentence.tokens[last.end - 1].end
    return Name(clause.sentence.text[start:end], start, end, (), 0.6, weak=True, span=(first.begin, last.end))
