"""What a sentence leaves out once its verb is read: "the frontend in Svelte", "and on Redis", "founded with Bo"."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memory_plane_local.clauses import Clause, Match, matches
from memory_plane_local.drafts import polarity
from memory_plane_local.elements import NAME, NOUN, VERB, WORD, Element
from memory_plane_local.name import Name
from memory_plane_local.tables import cues

if TYPE_CHECKING:
    from memory_plane_local.relations import Reader

_GAPPED, _JOINT = 0.95, frozenset({"FOUNDER_OF", "BUILDS"})
_PERSON = ("Person",)


def read_ellipsis(reader: Reader, clause: Clause, verb: Element, match: Match, subject: list[Name], at: int) -> None:
    """Read what goes on at `at` with the verb of a phrase that was understood."""
    if match.phrase.row.relation in _JOINT and not match.turned:
        found, after, _ = reader.objects(clause, match.end)
        if partners := _partners(clause, clause.element_at(verb.begin), after):
            _draft(reader, clause, verb, match, partners, found)
    elements, before = clause.elements, clause.elements[match.end - 1]
    word = before.low if before.kind == WORD else ""
    while step := _link(elements, at):
        at += step
        if word and elements[at].low == word:
            found, at, _ = reader.objects(clause, at + 1, any_phrase=False)
            _draft(reader, clause, verb, match, subject, found)
        elif begin := gap(elements, at, word):
            clause.taken.add(at)
            found, after, _ = reader.objects(clause, begin)
            _draft(reader, clause, verb, match, elements[at].names, found)
            at = after
        else:
            return


def _draft(
    reader: Reader, clause: Clause, verb: Element, match: Match, subjects: list[Name], found: list[Name]
) -> None:
    """State what the phrase means of these, by the first of its rows that fits their types."""
    flags = reader.flags(clause, verb)
    sources, targets = (found, subjects) if match.turned else (subjects, found)
    pairs = [(source, target) for source in sources for target in targets]
    for other in matches(clause, clause.element_at(verb.begin)) if pairs else ():
        if (other.end, other.turned) != (match.end, match.turned):
            continue
        row = other.phrase.row
        polar = polarity(flags, state=row.state)
        if any([reader.draft(clause, source, row, target, polar, _GAPPED, verb) for source, target in pairs]):
            return


def gap(elements: list[Element], at: int, word: str) -> int:
    """Return where the object of a clause without a verb stands whose subject is at `at`, 0 where there is none."""
    begin = at + 1 + bool(word)
    if begin >= len(elements) or elements[at].kind not in (NAME, NOUN) or elements[begin].kind not in (NAME, NOUN):
        return 0
    ends = begin + 1 == len(elements) or elements[begin + 1].kind != VERB or elements[begin + 1].bare
    return begin if ends and (not word or elements[at + 1].low == word) else 0


def _link(elements: list[Element], at: int) -> int:
    """How many elements link what follows at `at`: "and", a comma, both; 0 for none, or with nothing behind it."""
    step = 0
    if at < len(elements) and elements[at].low in (",", ";"):
        step = 1
    if at + step < len(elements) and elements[at + step].low in cues("joiner"):
        step += 1
    return step if at + step < len(elements) else 0


def _partners(clause: Clause, verb: int, after: int) -> list[Name]:
    """Who does something together with the subject: "with Bo" behind the object, or before the verb with a comma."""
    elements = clause.elements
    if after + 1 < len(elements) and elements[after].low == "with" and _people(elements[after + 1]):
        return elements[after + 1].names
    for at in range(verb - 1):
        if elements[at].low == "with" and elements[at + 2].low == "," and _people(elements[at + 1]):
            return elements[at + 1].names
    return []


def _people(element: Element) -> bool:
    return element.kind == NAME and all(name.options[:1] == _PERSON for name in element.names)
