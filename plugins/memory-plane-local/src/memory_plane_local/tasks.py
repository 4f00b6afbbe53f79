"""Tasks that a writer notes down: "remind me to …", "need to ask Omar …", "TODO: …", "[ ] …"."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from functools import cache
from itertools import product
from typing import NamedTuple

from memory_plane.types import Item
from memory_plane_local.clauses import Clause
from memory_plane_local.dates import due_date
from memory_plane_local.deals import act, bind, is_deed, is_named, past, task_end
from memory_plane_local.elements import MARK, NAME, NOUN, ROLE, WORD, Element
from memory_plane_local.guards import HYPOTHETICAL
from memory_plane_local.lexicon import stems
from memory_plane_local.relations import Reader
from memory_plane_local.tables import cues, rows, words
from memory_plane_local.tokens import Token

_STRENGTH, _ASSIGNED = 0.88, 0.82
_DUE = 6
"""Words after a task in which its day stands, before another begins."""
_SHORTEST, _NOUN = 2, 4
"""Words that a task has at least, and that a thing has at most that somebody is given to see to."""


class _Opener(NamedTuple):
    """Words that open a task; `kind`: what must follow them."""

    words: tuple[str, ...]
    kind: str


def read_task(reader: Reader, clause: Clause) -> Item | None:
    """Return what the writer is to do by the words that open a sentence, and take all in it for not yet so."""
    tokens, owner = clause.sentence.tokens, reader.discourse.writer
    begin, kind = _opened(clause)
    if owner is None or begin < 0 or clause.sentence.question or _conditional(tokens[begin:]):
        return None
    end = task_end(tokens, begin, clause.written)
    if end < begin + (1 if kind == "any" and _due(clause, begin, end) else _SHORTEST):
        return None
    if tokens[begin].low in cues("untask") or tokens[begin].low in ("(", "["):
        return None
    if not _follows(clause, kind, begin, end):
        return None
    item = bind(reader, [owner], act(reader, clause, begin, end), _STRENGTH, _due(clause, begin, end))
    clause.flags |= HYPOTHETICAL
    return item


def _due(clause: Clause, begin: int, end: int) -> datetime | None:
    """The day told behind a task, or between the words that open it: "remind me on Monday to …"."""
    tokens = clause.sentence.tokens
    if _how_long(tokens, begin, end):
        return None
    return due_date(tokens[end:], clause.written) or due_date(tokens[:begin], clause.written)


def _how_long(tokens: Sequence[Token], begin: int, end: int) -> bool:
    """Whether the day behind a task is when it may end: "lend Ann the van until Friday"."""
    return end < len(tokens) and tokens[end].low in cues("until") and tokens[begin].low in cues("lasting")


def read_assignments(reader: Reader, clause: Clause) -> Iterator[Item]:
    """Yield what people are given to do: "Yara to draft the brief, Otto to book the venue by Thursday"."""
    elements, tokens = clause.elements, clause.sentence.tokens
    for at, element in enumerate(elements[:-2]):
        does = element.kind == NAME and does_deed(elements[at + 1])
        begin = elements[at + 1].begin if does else elements[at + 1].end
        alone = (
            at == 0
            or elements[at - 1].kind == MARK
            or elements[at - 1].low in cues("joiner")
            or _is_given(elements, at)
        )
        given = element.kind == NAME and (does or elements[at + 1].low in cues("assigning"))
        if not (alone and given) or clause.flags:
            continue
        end = task_end(tokens, begin, clause.written)
        due = None if _how_long(tokens, begin, end) else due_date(tokens[end : end + _DUE], clause.written)
        if does:
            said = due is not None and tokens[end].low in ("by", "before", "due") and end >= begin + _SHORTEST
        elif elements[at + 1].low == "to":
            said = end >= begin + _SHORTEST and is_deed(clause, begin)
        else:
            by = any(token.low in cues("day_due") for token in tokens[end : end + 1])
            said = due is not None and (is_deed(clause, begin) or (by and begin < end <= begin + _NOUN))
        if not said or tokens[begin].low in cues("light"):  # "Tia: pls …" asks her
            continue
        if owners := [name for name in element.names if name.options[:1] in (("Person",), ("Agent",))]:
            clause.onwards[begin:] = [bits | HYPOTHETICAL for bits in clause.onwards[begin:]]
            if item := bind(reader, owners, act(reader, clause, begin, end), _ASSIGNED, due):
                yield item


def does_deed(element: Element) -> bool:
    """Return whether a word tells what somebody does, by a verb without a relation: "Ana reviews the schema"."""
    return element.kind == WORD and element.low.endswith("s") and bool(words("deeds.txt") & set(stems(element.low)))


def _is_given(elements: Sequence[Element], at: int) -> bool:
    """Whether somebody is named whose task follows: "Task for Zoe: …"."""
    return at == 2 and elements[1].low == "for" and elements[0].low in cues("assignment")


@cache
def _openers() -> dict[str, tuple[_Opener, ...]]:
    """The openers by first word, the longest first."""
    found: dict[str, list[_Opener]] = {}
    for kind, text in rows("tasks.tsv"):
        for choice in product(*(word.split("|") for word in text.split())):
            found.setdefault(choice[0], []).append(_Opener(choice, kind))
    return {first: tuple(sorted(entries, key=lambda one: -len(one.words))) for first, entries in found.items()}


def _opened(clause: Clause) -> tuple[int, str]:
    """The token after the opener of a sentence, -1 when it has none; bullets and light words may stand before it."""
    tokens = clause.sentence.tokens
    at = next((place for place, token in enumerate(tokens) if token.low not in _leading()), len(tokens))
    element = clause.elements[place] if (place := clause.element_at(at)) < len(clause.elements) else None
    if element is not None and element.begin == at and element.kind == NAME:  # Will told Grace
        return -1, ""
    for opener in _openers().get(tokens[at].low, ()) if at < len(tokens) else ():
        if (begin := past(clause, at, opener.words)) >= 0:
            return begin, opener.kind
    return -1, ""


@cache
def _leading() -> frozenset[str]:
    """The words that may stand before an opener: a bullet, "please", "still"."""
    return frozenset({","}).union(*map(cues, ("bullet", "urge", "light", "still", "interjection")))


def _conditional(tokens: Sequence[Token]) -> bool:
    """Whether it is to be done only if something else happens: "ask whether" and "check if" are no conditions."""
    lows = [token.low for token in tokens]
    condition = next((at for at, low in enumerate(lows) if low in ("if", "unless")), 0)
    return condition > 0 and not cues("inquire") & set(lows[:condition])


def _follows(clause: Clause, kind: str, begin: int, end: int) -> bool:
    """Whether there is behind an opener what must be there."""
    if kind == "deed":
        return is_deed(clause, begin)
    if kind == "thing":
        return is_named(clause, begin)
    return kind == "any" or _does_something(clause, begin, end)


def read_errand(reader: Reader, clause: Clause) -> Item | None:
    """Return what a note without a subject says is to be done by a day: "Send the invoice to Acme by 3/20"."""
    tokens, owner = clause.sentence.tokens, reader.discourse.writer
    begin = next((place for place, token in enumerate(tokens) if token.low not in _leading()), len(tokens))
    rest = tokens[begin + 1 : begin + 3]
    if any(token.low in cues("light") for token in tokens[:begin]):  # "please …" asks somebody else
        return None
    if owner is None or clause.flags or clause.sentence.question or len(rest) < _SHORTEST:
        return None
    if not (tokens[begin].low in words("deeds.txt") or tokens[begin].low in words("giving.txt")):
        return None
    if {token.low for token in rest} & cues("errand_for") or (
        rest[0].low in words("function.txt") and not is_named(clause, begin + 1)
    ):
        return None
    end = task_end(tokens, begin, clause.written)
    by = end < len(tokens) and tokens[end].low in cues("day_due")
    if end < begin + _SHORTEST or not (by or is_named(clause, begin + 1) or rest[0].low in cues("kin")):
        return None
    due = due_date(tokens[end:], clause.written)
    if due is None:
        return None
    clause.flags |= HYPOTHETICAL
    return bind(reader, [owner], act(reader, clause, begin, end), _ASSIGNED, due)


def _does_something(clause: Clause, begin: int, end: int) -> bool:
    """Whether a verb that does something to a thing follows."""
    tokens = clause.sentence.tokens
    main, back = tokens[begin].low, tokens[begin + 1].low == "back"  # "get back to Lena"
    if (main in cues("idle") and not back) or main in words("function.txt") or tokens[begin].shape != "low":
        return False
    if any(element.kind in (NAME, NOUN, ROLE) and begin < element.end <= end for element in clause.elements):
        return True
    deed = main in words("deeds.txt")
    return any(is_named(clause, at) or (deed and _says(tokens[at])) for at in range(begin + 1, end))


def _says(token: Token) -> bool:
    """Whether a word says something by itself."""
    return token.shape != "mark" and token.low not in words("function.txt") and token.low not in words("adverbs.txt")
