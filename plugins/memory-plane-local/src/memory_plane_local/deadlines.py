"""Deadlines: "the deadline for X is May 3", "X is due on Friday", "X has to be with Ann by Friday"."""

from __future__ import annotations

from collections.abc import Sequence

from memory_plane.types import Item
from memory_plane_local.clauses import Clause
from memory_plane_local.dates import due_date, find_days
from memory_plane_local.deals import Deal, act, bind, undertaking
from memory_plane_local.elements import NAME
from memory_plane_local.relations import Reader
from memory_plane_local.tables import cues, words
from memory_plane_local.tokens import Token

_STRENGTH = 0.8
_NEAR = 4
"""Words between "due" and its day."""


def read_deadline(reader: Reader, clause: Clause) -> Item | None:
    """Return what has to be done by the day that a sentence gives for its end; the writer has to see to it."""
    tokens, opening = clause.sentence.tokens, cues("deadline")
    at = next((place for place, token in enumerate(tokens) if token.low in opening), -1)
    if at < 0 or clause.flags or clause.sentence.question or reader.discourse.writer is None:
        return None
    if tokens[at].low == "due":
        deal = _due(clause, at)
    elif tokens[at].low == "be":
        deal = _to_be(clause, at)
    else:
        deal = _deadline(reader, clause, at)
    day = due_date(tokens[_begin_of_day(tokens, at) :], clause.written) if deal.thing else None
    return bind(reader, [reader.discourse.writer], deal, _STRENGTH, day) if day else None


def _deadline(reader: Reader, clause: Clause, at: int) -> Deal:
    """What the deadline at a token is for: "deadline for X is …", "deadline to do X: …", "X deadline – …"."""
    tokens = clause.sentence.tokens
    joined = next((place for place in range(at + 1, len(tokens)) if tokens[place].low in cues("connecting")), -1)
    if joined < 0 or not _is_day(clause, joined + 1):
        return Deal(None)
    if at + 2 < joined and tokens[at + 1].low == "to":
        return act(reader, clause, at + 2, joined)
    if at + 2 < joined and tokens[at + 1].low in ("for", "of"):
        return _noun(clause, at + 2, joined)
    return _noun(clause, _phrase_begin(tokens, at), at if _phrase_begin(tokens, at) < at else at + 1)


def _due(clause: Clause, at: int) -> Deal:
    """What is due: "X is due on Friday", "X due Friday"."""
    tokens = clause.sentence.tokens
    end = at - (at > 0 and tokens[at - 1].low in ("is", "are", "'s", "comes", "falls"))
    return _noun(clause, _phrase_begin(tokens, end), end) if _is_day(clause, at + 1) else Deal(None)


def _to_be(clause: Clause, at: int) -> Deal:
    """What has to be somewhere or done: "X has to be with Ann by Friday", "X must be submitted by Friday"."""
    tokens = clause.sentence.tokens
    lows = [token.low for token in tokens[max(0, at - 2) : at]]
    owing = lows[-1:] in (["must"], ["should"]) or (lows[-1:] == ["to"] and lows[:1] and lows[0] in cues("owing"))
    if not owing or not any(token.low in cues("day_due") for token in tokens[at:]):
        return Deal(None)
    end = at - 1 - (lows[-1] == "to")
    with_ = clause.element_at(at + 1)
    after = clause.elements[with_ : with_ + 3]
    to = next((one.names[0] for one in after if one.kind == NAME and one.names[0].options[:1] == ("Person",)), None)
    return _noun(clause, _phrase_begin(tokens, end), end)._replace(to=to)


def _noun(clause: Clause, begin: int, end: int) -> Deal:
    """A thing in words between two tokens: neither a person nor a pronoun, nor what arrives by itself."""
    tokens = clause.sentence.tokens
    while begin < end and any(tokens[begin].low in cues(use) for use in ("article", "owner", "interjection")):
        begin += 1
    while end > begin and tokens[end - 1].shape == "mark":
        end -= 1
    if begin >= end or tokens[end - 1].low in words("function.txt") or tokens[end - 1].low in cues("arriving"):
        return Deal(None)
    place = clause.element_at(begin)
    named = clause.elements[place] if place < len(clause.elements) else None
    if named is not None and named.kind == NAME and named.end == end and named.names[0].options[:1] == ("Person",):
        return Deal(None)
    return Deal(undertaking(clause, begin, end))


def _phrase_begin(tokens: Sequence[Token], end: int) -> int:
    """The token where the phrase before `end` begins: after the last mark or word of another kind."""
    begin = end
    while begin > 0 and (tokens[begin - 1].shape != "mark" or tokens[begin - 1].low in ("'", "’", "-", "/", "&", "#")):
        if tokens[begin - 1].low in ("that", "and", "but", "so", "because"):
            break
        begin -= 1
    return begin


def _begin_of_day(tokens: Sequence[Token], at: int) -> int:
    """Where the day begins that holds: of "no longer 1 April but 15 April" at the other one."""
    lows = [token.low for token in tokens]
    denied = next((place for place in range(max(at - 2, 0), len(lows)) if lows[place] in ("not", "no")), len(lows))
    dated = any(low[:1].isdecimal() for low in lows[at : max(at, denied)])
    return next((place + 1 for place in range(denied, len(lows)) if not dated and lows[place] == "but"), at)


def _is_day(clause: Clause, at: int) -> bool:
    """Whether a day begins within the next few words."""
    near = clause.sentence.tokens[at : at + _NEAR]
    if not near:
        return False
    day = next(find_days(clause.sentence.tokens[at : at + 2 * _NEAR], clause.written), None)
    return day is not None and day.start <= near[-1].start
