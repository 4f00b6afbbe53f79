"""Tasks that a writer notes down: "remind me to …", "need to ask Omar …", "TODO: …", "[ ] …"."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from functools import cache
from itertools import product
from typing import NamedTuple

from memory_plane.types import Item
from memory_plane_local.clauses import Clause
from memory_plane_local.dates import due_date, find_days
from memory_plane_local.drafts import Draft
from memory_plane_local.elements import MARK, NAME, NOUN, VERB
from memory_plane_local.guards import HYPOTHETICAL
from memory_plane_local.items import given, undertaking
from memory_plane_local.name import Name
from memory_plane_local.relations import Reader
from memory_plane_local.tables import cues, rows, words
from memory_plane_local.tokens import Token

_STRENGTH, _ASSIGNED = 0.88, 0.82
_DUE = 6
"""Words after a task in which its day stands, before another begins."""
_SHORTEST = 2
"""Words that a task has at least."""


class _Opener(NamedTuple):
    """Words that open a task; `kind`: what must follow them."""

    words: tuple[str, ...]
    kind: str


def read_task(reader: Reader, clause: Clause, written: datetime) -> Item | None:
    """Return what the writer is to do by the words that open a sentence, and take all in it for not yet so."""
    tokens, owner = clause.sentence.tokens, reader.discourse.writer
    begin, kind = _opened(tokens)
    if owner is None or begin < 0 or clause.sentence.question or _conditional(tokens[begin:]):
        return None
    end = task_end(tokens, begin, written)
    if end < begin + _SHORTEST or tokens[begin].low in cues("untask") or tokens[begin].low in ("(", "["):
        return None
    if not _follows(clause, kind, begin, end):
        return None
    thing, to = given(reader, clause, _element_at(clause, begin))
    thing = thing or undertaking(clause, begin, end)
    reader.drafts.add(Draft(owner, "COMMITTED_TO", thing, "positive", thing.start, thing.end, _STRENGTH))
    clause.flags |= HYPOTHETICAL
    due = due_date(tokens[end:], written)
    return Item(kind="commitment", owner=owner.text, to=to.text if to else None, object=thing.text, due_at=due)


def read_assignments(reader: Reader, clause: Clause, written: datetime) -> Iterator[Item]:
    """Yield what people are given to do: "Yara to draft the brief, Otto to book the venue by Thursday"."""
    elements, tokens = clause.elements, clause.sentence.tokens
    for at, element in enumerate(elements[:-2]):
        begin = elements[at + 1].end
        alone = at == 0 or elements[at - 1].kind == MARK or elements[at - 1].low in cues("joiner")
        if not (alone and element.kind == NAME and elements[at + 1].low in ("to", ":")) or clause.flags:
            continue
        end = task_end(tokens, begin, written)
        due = due_date(tokens[end : end + _DUE], written)
        said = elements[at + 1].low == "to" or due is not None
        if not said or end < begin + _SHORTEST or not _follows(clause, "deed", begin, end):
            continue
        if owners := [name for name in element.names if name.options[:1] in (("Person",), ("Agent",))]:
            yield _assigned(reader, clause, owners, begin, end, due)


def _assigned(reader: Reader, clause: Clause, owners: list[Name], begin: int, end: int, due: datetime | None) -> Item:
    thing, to = given(reader, clause, _element_at(clause, begin))
    thing = thing or undertaking(clause, begin, end)
    for owner in owners:
        reader.drafts.add(Draft(owner, "COMMITTED_TO", thing, "positive", thing.start, thing.end, _ASSIGNED))
    clause.onwards[begin:] = [bits | HYPOTHETICAL for bits in clause.onwards[begin:]]
    return Item(kind="commitment", owner=owners[0].text, to=to.text if to else None, object=thing.text, due_at=due)


def task_end(tokens: Sequence[Token], begin: int, written: datetime) -> int:
    """Return the token where what is to be done ends: at a mark, a reason, a condition or the time for it."""
    end = next((at for at in range(begin, len(tokens)) if _closes(tokens[at])), len(tokens))
    for day in find_days(tokens[begin:end], written):
        if day.before in cues("of_day"):
            continue
        at = next(at for at in range(begin, end) if tokens[at].end > day.start)
        while at > begin and tokens[at - 1].low in cues("day_before"):
            at -= 1
        return at
    while end > begin and tokens[end - 1].low in cues("soon"):
        end -= 1
    return end


def _closes(token: Token) -> bool:
    return token.low in cues("reason") or (token.shape == "mark" and token.low not in cues("inside_task"))


@cache
def _openers() -> dict[str, tuple[_Opener, ...]]:
    """The openers by first word, the longest first."""
    found: dict[str, list[_Opener]] = {}
    for kind, text in rows("tasks.tsv"):
        for choice in product(*(word.split("|") for word in text.split())):
            found.setdefault(choice[0], []).append(_Opener(choice, kind))
    return {first: tuple(sorted(entries, key=lambda one: -len(one.words))) for first, entries in found.items()}


def _opened(tokens: Sequence[Token]) -> tuple[int, str]:
    """The token after the opener of a sentence, -1 when it has none; bullets and light words may stand before it."""
    lows = [token.low for token in tokens[:12]]
    at = 0
    while at < len(lows) and (lows[at] in cues("bullet") or lows[at] in cues("urge")):
        at += 1
    lows[at:] = [low for low in lows[at:] if low not in cues("still")]
    for opener in _openers().get(lows[at], ()) if at < len(lows) else ():
        if tuple(lows[at : at + len(opener.words)]) == opener.words:
            return _behind(tokens, at, len(opener.words)), opener.kind
    return -1, ""


def _behind(tokens: Sequence[Token], at: int, count: int) -> int:
    """The token after `count` words from `at` on, light ones uncounted."""
    while at < len(tokens) and (count or tokens[at].low in cues("still")):
        count -= tokens[at].low not in cues("still")
        at += 1
    return at


def _conditional(tokens: Sequence[Token]) -> bool:
    """Whether it is to be done only if something else happens: "ask whether" and "check if" are no conditions."""
    lows = [token.low for token in tokens]
    condition = next((at for at, low in enumerate(lows) if low in ("if", "unless")), 0)
    return condition > 0 and not cues("inquire") & set(lows[:condition])


def _follows(clause: Clause, kind: str, begin: int, end: int) -> bool:
    """Whether there is behind an opener what must be there."""
    if kind == "deed":
        return clause.sentence.tokens[begin].low in words("deeds.txt")
    return kind == "any" or _does_something(clause, begin, end)


def _does_something(clause: Clause, begin: int, end: int) -> bool:
    """Whether a verb that does something to a thing follows."""
    main = clause.sentence.tokens[begin].low
    if main in cues("idle") or main in words("function.txt") or clause.sentence.tokens[begin].shape != "low":
        return False
    return any(element.kind in (NAME, NOUN) and begin < element.end <= end for element in clause.elements)


def _element_at(clause: Clause, token: int) -> int:
    """The verb of which a token is the main word, -1 for none."""
    found = (at for at, element in enumerate(clause.elements) if element.kind == VERB and element.end == token + 1)
    return next(found, -1)
