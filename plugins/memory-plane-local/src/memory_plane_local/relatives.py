"""Relative clauses that tell who did something to their head: "the tool Mia built", "Kettle, which Ana founded"."""

from __future__ import annotations

from memory_plane_local.clauses import Clause
from memory_plane_local.elements import NAME, NOUN, PRONOUN, ROLE, VERB, WORD, Element
from memory_plane_local.name import THING, Name
from memory_plane_local.tables import cues

_DOERS = (("Person",), ("Agent",), ("Team",), ("Organization",))


def told_of(clause: Clause, at: int) -> list[Name]:
    """Return the head of the relative clause whose verb is at `at`, nothing where the verb has an object of its own."""
    elements = clause.elements
    verb, after = elements[at], elements[at + 1 : at + 4]
    if at < 2 or verb.passive or (verb.bare and verb.form in ("ing", "participle")):
        return []
    if elements[at - 1].kind not in (NAME, PRONOUN) or (after and after[0].kind in (NAME, NOUN, PRONOUN, ROLE)):
        return []
    relative = elements[at - 2].low in cues("relative")
    begin = at - 2 - relative
    begin -= relative and elements[begin].low == ","
    head, doer = elements[begin], elements[at - 1]
    if not relative and doer.kind == NAME and doer.names[0].options[:1] not in _DOERS:
        return []
    if begin < 0 or not (head.determined if head.kind in (NOUN, PRONOUN, WORD) else relative and head.kind == NAME):
        return []
    clause.relative, clause.resumed = at, _called(elements, begin, after)
    return [] if any(_everyday(name) for name in clause.resumed) else clause.resumed


def resumes(clause: Clause, at: int) -> bool:
    """Return whether the verb at `at` goes on about the head of a relative clause: "the tool Mia built is fast"."""
    verb, between = clause.elements[at], clause.elements[clause.relative + 1 : at]
    if not clause.resumed or (verb.bare and verb.form in ("ing", "participle", "base")):
        return False
    if any(element.kind in (VERB, PRONOUN) for element in between):
        return False
    if not between or between[-1].low == ",":
        return True
    last = between[-2] if between[-1].kind in (NAME, NOUN) and len(between) > 1 else between[-1]
    return last.kind == WORD and last.low not in cues("link") and last.low not in cues("relative")


def _called(elements: list[Element], begin: int, after: list[Element]) -> list[Name]:
    """The names of a head: of what it tells more of ("Loomwise, a startup …"), or what it is called ("…, Sievert,")."""
    head, before = elements[begin], elements[begin - 1].low if begin > 1 else ""
    if head.kind == NAME:
        return head.names
    if (before == "be" or (before == "," and not head.definite)) and elements[begin - 2].kind == NAME:
        return elements[begin - 2].names
    called = len(after) > 1 and after[0].low == "," and after[1].kind == NAME
    return after[1].names if called and (len(after) == 2 or after[2].low == ",") else head.names


def _everyday(name: Name) -> bool:
    """Whether a head is one ordinary word, of which nobody need remember what was done to it: "the thing I love"."""
    return name.options[:1] == (THING,) and " " not in name.text
