"""What somebody is asked to do, and what is handed over to somebody."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from itertools import pairwise, product
from typing import NamedTuple

from memory_plane.types import Item
from memory_plane_local.clauses import Clause
from memory_plane_local.dates import due_date
from memory_plane_local.deals import Deal, act, bind, is_deed, past, undertaking
from memory_plane_local.elements import MARK, NAME, PRONOUN, ROLE, VERB, Element
from memory_plane_local.guards import PAST_TENSE
from memory_plane_local.relations import Reader
from memory_plane_local.speakers import unlabelled
from memory_plane_local.tables import cues, rows
from memory_plane_local.tokens import Token

_NAMED = 3
"""Tokens that say no more than who is spoken to."""
_ASKED = 0.8
_ANSWERED = re.compile(
    r"(?im)^(?:\[\d[^\]\n]{1,30}\] ?[^\W\d_][\w'’. -]{0,40}:"
    r"|[^\W\d_][\w'’. -]{0,40}: (?:I|I['’](?:ll|m|ve|d)|sure|yes|yep|ok|okay|no|thanks|hi|hello)\b)"
)
_REACH = 10
"""Words at the beginning of a sentence in which somebody is told that it is their turn."""


def read_request(clause: Clause, asked: bool, chat: bool = False) -> Item | None:
    """Return a question that somebody is asked to act on, or work handed to somebody; small talk is neither.

    In a `chat` who stands before a colon speaks and asks, and nobody is spoken to by it.
    """
    heard = unlabelled(clause.elements) if chat else clause.elements
    if not heard:
        return None
    tokens = clause.sentence.tokens[heard[0].begin :] if len(heard) < len(clause.elements) else clause.sentence.tokens
    to = _vocative(clause, heard)
    start = tokens[0].start
    text = clause.sentence.text[start : tokens[-1].end]
    if asked:
        if not _requests(heard, tokens):
            return None
        due = due_date(tokens, clause.written)
        return Item(kind="question", owner=None, to=to, object=text + "?", due_at=due, start=start)
    if receiver := _handed(clause):
        return Item(kind="handoff", owner=None, to=receiver, object=text, start=start)
    if to is None or len(tokens) <= _NAMED or not _asked(clause, heard):
        return None
    due = due_date(tokens, clause.written)
    return Item(kind="handoff", owner=None, to=to, object=text, due_at=due, start=start)


def read_asked(reader: Reader, clause: Clause, at: int) -> Item | None:
    """Return what the writer is asked to do, for whoever asks: "Ben asked me to send him the slides by Friday"."""
    elements, tokens, writer = clause.elements, clause.sentence.tokens, reader.discourse.writer
    asks, behind = elements[at], elements[at + 1 : at + 3]
    if asks.low not in cues("requesting") or writer is None or clause.flags or asks.flags & ~PAST_TENSE or asks.passive:
        return None
    if [one.low for one in behind] != ["me", "to"] or (begin := behind[1].end) >= len(tokens):
        return None
    before = elements[at - 1]
    askers = reader.subject(clause, at)[0]
    if at and not askers and before.kind == ROLE:
        askers = [undertaking(clause, before.begin, before.end)]
    over = any(one.form == "past" for one in elements[at + 3 :])
    settled = over or any(token.low in ("but", "already") for token in tokens[begin:])
    if not askers or writer in askers or settled or not is_deed(clause, begin):
        return None
    deal = act(reader, clause, begin)
    due = due_date(tokens[begin:], clause.written)
    return bind(reader, [writer], Deal(deal.thing, deal.to or askers[0]), _ASKED, due)


def is_chat(text: str) -> bool:
    """Return whether what stands before the colons of a text are those who say its lines: "Ana: sure, I'll book it"."""
    return _ANSWERED.search(text) is not None


def _asked(clause: Clause, elements: Sequence[Element]) -> bool:
    """Whether somebody spoken to is asked for something: "@codex fix the test", "Codex, please fix the test"."""
    tokens = clause.sentence.tokens
    if tokens[elements[0].begin].low == "@":
        return all(element.low not in ("me", "us") for element in elements[2:3])  # "@codex I'll fix it" asks nobody
    behind = elements[len(elements) > 1 and elements[1].kind == MARK].end
    return behind < len(tokens) and tokens[behind].low in cues("light")


def _requests(elements: Sequence[Element], tokens: Sequence[Token]) -> bool:
    """Whether a question wants something done or decided: "can you …", "does anyone …", "should we …", "@muse …"."""
    lows = [token.low for token in tokens]
    if lows[0] == "@" or (elements[0].kind == NAME and elements[0].names[0].options[:1] == ("Agent",)):
        return len(lows) > 3
    for at, low in enumerate(lows[:6]):
        rest = lows[at + 1 : at + 3]
        if low in ("can", "could", "would", "will") and rest[:1] == ["you"]:
            return len(rest) > 1 and rest[1] not in ("believe", "imagine", "see", "guess", "say", "like", "prefer")
        if (low in ("can", "could", "does", "has") and rest[:1] in (["anyone"], ["anybody"], ["someone"])) or (
            low == "should" and rest[:1] in (["i"], ["we"])
        ):
            return True
    return False


def _vocative(clause: Clause, elements: Sequence[Element]) -> str | None:
    """Who is spoken to: "@muse …", "Muse, can you …"."""
    tokens = clause.sentence.tokens
    if len(elements) > 1 and elements[0].low == "@" and tokens[elements[0].begin].low == "@":
        return tokens[elements[1].begin].text if elements[1].kind != NAME else elements[1].names[0].text
    if len(elements) > 2 and elements[0].kind == NAME:
        pleaded = tokens[elements[0].end : elements[0].end + 1]  # "Rina please book the hall"
        name = elements[0].names[0]
        if elements[1].low in (",", ":") or any(token.low in cues("light") for token in pleaded):
            return name.text if name.options[:1] in (("Person",), ("Agent",)) else None
    return None


def _handed(clause: Clause) -> str | None:
    """Who takes over: "handing this over to Muse", "passing it to Grok", "over to you, Codex"."""
    for at, element in enumerate(clause.elements):
        if clause.flags or element.kind != VERB or element.low not in cues("parting") or element.flags & ~PAST_TENSE:
            continue
        before = clause.elements[at - 1] if at else None
        mine = before is None or before.kind == MARK or (before.kind == PRONOUN and before.low in ("me", "us"))
        said = mine or not element.flags
        if said and (name := _taker(clause, at)):
            return name
    return _called_on(clause)


def _taker(clause: Clause, at: int) -> str | None:
    """Who gets what the verb at `at` hands on; what is passed to people is work only if it is passed on."""
    verb = clause.elements[at]
    chunk = [other for other in clause.elements[at + 1 : at + 11] if other.low != "@"]
    on = any(token.low in cues("onward") for token in clause.sentence.tokens[verb.end :])
    for place, (before, after) in enumerate(pairwise(chunk), 2):
        if before.low == "to" and after.kind == NAME and not _owns(chunk[place : place + 1]):
            kind = after.names[0].options[:1]
            return after.names[0].text if kind == ("Agent",) or (on and kind in ((), ("Person",))) else None
    return None


def _called_on(clause: Clause) -> str | None:
    """Who is told that it is their turn: "over to you, Grok", "Grok, your turn"."""
    elements = clause.elements
    for at, token in enumerate(clause.sentence.tokens[:_REACH]):
        for turn in _turns().get(token.low, ()):
            end = past(clause, at, turn.words) if not (turn.first and at) else -1
            if end < 0 or clause.flags:
                continue
            after = clause.element_at(end)
            near = [*elements[after : after + 2], *elements[:1]]
            return next((one.names[0].text for one in near if one.kind == NAME and _somebody(one)), None)
    return None


class _Turn(NamedTuple):
    """Words that tell somebody that it is their turn; `first` = at the beginning of a sentence alone."""

    words: tuple[str, ...]
    first: bool


@cache
def _turns() -> dict[str, tuple[_Turn, ...]]:
    """The words by the first of them."""
    found: dict[str, list[_Turn]] = {}
    for text, *first in rows("turns.tsv"):
        for choice in product(*(word.split("|") for word in text.split())):
            found.setdefault(choice[0], []).append(_Turn(choice, bool(first)))
    return {first: tuple(turns) for first, turns in found.items()}


def _owns(after: list[Element]) -> bool:
    return bool(after) and after[0].low in ("'s", "’s", "’", "'")


def _somebody(element: Element) -> bool:
    return element.names[0].options[:1] in (("Person",), ("Agent",))
