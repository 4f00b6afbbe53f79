"""Whose something with a name is: "Clara's dog Biscuit", "my startup Inkwell", "Google's browser Chrome"."""

from __future__ import annotations

from memory_plane_local.clauses import Clause
from memory_plane_local.drafts import polarity
from memory_plane_local.elements import NAME, VERB, Element
from memory_plane_local.lexicon import nouns
from memory_plane_local.name import Name
from memory_plane_local.relations import Reader
from memory_plane_local.tables import cues
from memory_plane_local.verbs import Row

_KINDS = ("Project", "Organization", "Document", "Tool", "Concept", "Thing")
_OWNS = Row("OWNS", ("Person",), _KINDS, True, 0.86)
_WORKS = Row("WORKS_AT", ("Person",), ("Organization",), True, 0.84)
_MAKES = Row("BUILDS", ("Organization", "Team"), ("Project", "Tool"), False, 0.84)
_POSSESSIVES = ("'s", "’s", "'", "’")


def read_belonging(reader: Reader, clause: Clause, at: int) -> None:
    """State whose the thing is that is named at `at`, where a noun tells what it is and an owner stands before that."""
    thing, before = clause.elements[at], clause.elements[:at]
    if thing.kind != NAME:
        return
    if not thing.title:
        comma = _set_off(clause.elements, at)
        called = bool(before) and before[-1].kind == VERB and before[-1].low in ("call", "name") and before[-1].passive
        before = before[:-1] if comma or called else before
        if (
            not before
            or before[-1].low not in nouns("told")
            or (before[-1].end != thing.begin and not (comma or called))
        ):
            return
        noun = before.pop()
        thing.title, thing.owner = noun.low, noun.owner
    if nouns("told").get(thing.title) == "Concept":
        thing.names[0].options = ("Concept",)
    owners: list[Name] = []
    factor = 1.0
    if thing.owner:
        owners, factor = reader.discourse.resolve("they" if thing.owner == "it" else thing.owner)
    elif len(before) > 1 and before[-1].low == "whose":
        owners = clause.nearest(len(before) - 1)
    elif len(before) > 1 and before[-1].low in _POSSESSIVES and before[-2].kind == NAME:
        owners = before[-2].names[-1:]
    for owner in owners:
        row = _OWNS if owner.options[:1] == ("Person",) else _MAKES
        row = _WORKS if row is _OWNS and thing.title in cues("employed") else row
        reader.draft(clause, owner, row, thing.names[0], polarity(clause.flags, state=False), factor)


def _set_off(elements: list[Element], at: int) -> bool:
    """Whether a name that is no person's stands between commas."""
    closed = at + 1 == len(elements) or elements[at + 1].low == ","
    return closed and at > 0 and elements[at - 1].low == "," and elements[at].names[0].options[:1] != ("Person",)
