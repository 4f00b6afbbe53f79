"""What a short line adds to the one before it: "Owner: Linnea.", "Due: Friday", "Maintainer: Bo", "Champion: Åse"."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from functools import cache
from itertools import dropwhile
from typing import NamedTuple

from memory_plane.types import Item
from memory_plane_local.clauses import Clause
from memory_plane_local.dates import due_date
from memory_plane_local.deals import Deal, act, bind, is_deed
from memory_plane_local.elements import NAME, NOUN, WORD
from memory_plane_local.name import Name
from memory_plane_local.relations import Reader
from memory_plane_local.tables import rows, words
from memory_plane_local.tokens import Token
from memory_plane_local.verbs import Row, sense

_STRENGTH = 0.85
_EMPHASIS = frozenset("*_-•#>")
_LABEL, _HEAD = 3, 5
"""Tokens that a label has at most with its colon, and that stand at most before a task with theirs."""
_MADE = ("Project", "Tool", "Document")
_VERBS = {"BUILDS": "author", "SUPPORTS": "maintain", "LEADS": "lead", "WORKS_AT": "join"}


class Added(NamedTuple):
    """The open item that the line before has now, None where it adds to no task; `instead` of the one it had."""

    item: Item | None = None
    instead: Item | None = None


class Particulars:
    """The line before, and the task that it is."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader
        self._before: Clause | None = None
        self._item: Item | None = None

    def heard(self, clause: Clause, item: Item | None) -> None:
        """Keep a line to which the next ones may add something, with the item that it was understood as."""
        self._before, self._item = clause, item

    def read(self, clause: Clause) -> Added | None:
        """Return what a line adds, None for all other lines."""
        kind = kinds("line").get(_label(clause.sentence.tokens), "")
        before = self._before
        if not kind or before is None or clause.sentence.question:
            return None
        behind = dropwhile(lambda one: one.low != ":", clause.elements)
        people = [name for one in behind if one.kind == NAME for name in one.names if _somebody(name)]
        due = due_date(clause.sentence.tokens, clause.written)
        if kind in _VERBS:
            return self._related(clause, before, kind, people)
        if not (people if kind == "owner" else due):
            return None
        return self._task(before, people, due) or (self._owned(clause, before, people) if people else None)

    def _task(self, before: Clause, people: Sequence[Name], due: datetime | None) -> Added | None:
        """Give the task of the line before its owner or its day."""
        drafts, (first, last) = self._reader.drafts.found, before.span()
        held = {key: one for key, one in drafts.items() if one.relation == "COMMITTED_TO" and first <= one.start < last}
        if self._item is not None and held:
            deal = Deal(next(iter(held.values())).object)
            owners = people or [one.subject for one in held.values()]
        elif people and (begin := _deed(before)) >= 0:
            deal, owners = act(self._reader, before, begin), people
        else:
            return None
        for key in held:
            del drafts[key]
        known, due = self._item, due or (self._item.due_at if self._item else None)
        self._item = bind(self._reader, owners, deal, _STRENGTH, due)
        return Added(self._item, known)

    def _owned(self, clause: Clause, before: Clause, people: Sequence[Name]) -> Added | None:
        """State whose the thing is with which the line before begins."""
        return self._draft(clause, people, sense("own", "OWNS"), _things(before, _MADE))

    def _related(self, clause: Clause, before: Clause, relation: str, people: Sequence[Name]) -> Added | None:
        """State what people are to the thing, or the company, that the line before begins with."""
        wanted = ("Organization",) if relation == "WORKS_AT" else _MADE
        return self._draft(clause, people, sense(_VERBS[relation], relation), _things(before, wanted))

    def _draft(self, clause: Clause, people: Sequence[Name], row: Row, things: Sequence[Name]) -> Added | None:
        pairs = [(one, thing) for one in people for thing in things]
        stated = [self._reader.draft(clause, one, row, thing, "positive", 1.0) for one, thing in pairs]
        return Added() if any(stated) else None


@cache
def kinds(where: str) -> dict[str, str]:
    """Return what a label stands for that begins a "line" or heads a "column"."""
    labels = [(kind, text) for kind, places, text in rows("particulars.tsv") if where in places.split()]
    return {label.replace("_", " "): kind for kind, text in labels for label in text.split()}


def _label(tokens: Sequence[Token]) -> str:
    """What stands before the colon with which a line begins."""
    if not any(token.low == ":" for token in tokens[: 2 * _LABEL]):
        return ""
    lows = [token.low for token in tokens[: 2 * _LABEL] if token.low not in _EMPHASIS]
    return " ".join(lows[: lows.index(":")]) if ":" in lows[:_LABEL] else ""


def _somebody(name: Name) -> bool:
    plain = not name.options and name.guess in ("Concept", "Person") and name.text.replace(" ", "").isalpha()
    return name.options[:1] in (("Person",), ("Agent",), ("Team",)) or plain


def _deed(clause: Clause) -> int:
    """The token at which a line tells what is to be done, perhaps behind a label: "Sprint goal: replace …"; else -1."""
    tokens = clause.sentence.tokens
    begin = next((at + 1 for at, token in enumerate(tokens[:_HEAD]) if token.low == ":"), 0)
    while begin < len(tokens) and tokens[begin].low in _EMPHASIS:
        begin += 1
    return begin if begin + 1 < len(tokens) and is_deed(clause, begin) else -1


def _things(clause: Clause, wanted: Sequence[str]) -> list[Name]:
    """The first thing that a line names and that is of a type that is wanted, or of none and at its beginning."""
    for at, element in enumerate(clause.elements[:_HEAD]):
        if element.kind not in (NAME, NOUN) or len(element.names) > 1:
            continue
        kinds = element.names[0].options[:1]
        labels = clause.elements[at + 1 : at + 2] and clause.elements[at + 1].low == ":" and "Organization" in wanted
        if not labels:
            fits = kinds[0] in wanted if kinds else at == 0 and not _goes_on(clause, at)
            return element.names if fits else []
    return []


def _goes_on(clause: Clause, at: int) -> bool:
    """Whether a word goes on with what a name begins: "Bakery relaunch"."""
    after = clause.elements[at + 1] if at + 1 < len(clause.elements) else None
    return after is not None and after.kind == WORD and after.low not in words("function.txt")
