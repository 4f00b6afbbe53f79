"""What somebody is to do, and for whom: "send Rob the deck" is the deck for Rob, "call the bank" is all of it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from itertools import pairwise
from typing import NamedTuple

from memory_plane.types import Item
from memory_plane_local.clauses import Clause
from memory_plane_local.dates import due_date, find_days, tells_of_a_thing
from memory_plane_local.drafts import Draft
from memory_plane_local.elements import MARK, NAME, NOUN, PRONOUN, ROLE, VERB, WORD, Element
from memory_plane_local.name import Name
from memory_plane_local.relations import Reader
from memory_plane_local.tables import cues, words
from memory_plane_local.tokens import Token

_ALSO = 0.8
_REACH = 12
"""Elements after a thing in which "to" names who gets it."""


class Deal(NamedTuple):
    """What is to be done, None when it is nothing that can be told, and for whom."""

    thing: Name | None
    to: Name | None = None


def bind(reader: Reader, owners: Sequence[Name], deal: Deal, strength: float, due: datetime | None) -> Item | None:
    """Draft that somebody is to do something, and return it as an open item; None for nothing that can be told."""
    what = deal.thing
    if what is None:
        return None
    for owner in owners:
        reader.drafts.add(Draft(owner, "COMMITTED_TO", what, "positive", what.start, what.end, strength))
    to = deal.to.text if deal.to else None
    return Item(kind="commitment", owner=owners[0].text, to=to, object=what.text, due_at=due, start=what.start)


def each(item: Item | None, owners: Sequence[Name]) -> list[Item]:
    """Return an item once for each who owes it, told apart by where they begin in its words."""
    return [replace(item, owner=one.text, start=item.start + at) for at, one in enumerate(owners)] if item else []


def read_on(reader: Reader, clause: Clause, owner: Name, after: int) -> Iterator[Item]:
    """Yield what else somebody is to do behind the character `after`: "send Rob the deck, book a room and call Ann"."""
    tokens = clause.sentence.tokens
    first = next((at for at, token in enumerate(tokens) if token.start >= after), len(tokens))
    begins: list[int] = []
    for at in range(max(first, 1), len(tokens) - 1):
        if tokens[at].low in cues("turning"):
            break
        before = at - (tokens[at - 1].low == "to")
        if tokens[before - 1].low in cues("adding") and tokens[at].low not in cues("adding") and _is_order(clause, at):
            begins.append(at)
    for begin, following in pairwise([*begins, len(tokens)]):
        end = following
        while end > begin and following < len(tokens) and tokens[end - 1].low in (*cues("adding"), "to"):
            end -= 1
        if item := bind(
            reader, [owner], act(reader, clause, begin, end), _ALSO, due_date(tokens[begin:], clause.written)
        ):
            yield item


def _is_order(clause: Clause, at: int) -> bool:
    """Whether a token is a bare verb with what it is done to behind it."""
    place = clause.element_at(at)
    element = clause.elements[place] if place < len(clause.elements) else None
    other = element is not None and element.begin == at and element.kind in (NAME, PRONOUN, MARK)
    return not other and is_deed(clause, at) and clause.sentence.tokens[at + 1].low not in cues("no_object")


def act(reader: Reader, clause: Clause, begin: int, end: int | None = None) -> Deal:
    """Return what is to be done by the words from token `begin` on, at most to `end`; the first of them is its verb."""
    tokens = clause.sentence.tokens
    end = min(task_end(tokens, begin, clause.written), len(tokens) if end is None else end)
    deal = given(reader, clause, begin)
    if deal.thing is not None and deal.thing.span[1] <= end:
        return deal
    return Deal(undertaking(clause, begin, end) if end > begin else None, deal.to)


def given(reader: Reader, clause: Clause, verb: int) -> Deal:
    """Return what the verb at a token gives, and who gets it; of other verbs whom it is done to at most."""
    at = clause.element_at(verb + 1)
    elements = clause.elements
    if at < len(elements) and elements[at].begin == verb + 1 and elements[at].low in cues("particle"):
        at += 1
    low = main_verb(clause, verb)
    if low not in words("giving.txt"):
        return Deal(None, addressee(reader, clause, at))
    deal = thing(reader, clause, at)
    return Deal(None) if low in cues("writing") and deal.to is None else deal  # "email the referee"


def thing(reader: Reader, clause: Clause, at: int, to: Name | None = None) -> Deal:
    """Return the thing at an element, past the one who gets it; in a letter that is its reader."""
    receiver, at = _receiver(reader, clause, at)
    to = to or receiver or addressee(reader, clause, at)
    elements = clause.elements
    first = _counted(elements, at)
    if first < len(elements) and (elements[first].kind in (NAME, NOUN) or first > at):
        begin = elements[at].begin if first > at else elements[first].begin
        end = _noun_end(clause, first)
        while end - 1 > begin and clause.sentence.tokens[end - 1].low in cues("fraction"):  # "have the report ready"
            end -= 1
        return Deal(undertaking(clause, begin, end), to or reader.discourse.reader)
    return Deal(None, to)


def _receiver(reader: Reader, clause: Clause, at: int) -> tuple[Name | None, int]:
    """Who gets something, before the thing itself: "promised Hugo the budget", "send you two tickets"."""
    elements = clause.elements
    what = _counted(elements, at + 1)
    if what >= len(elements) or not (elements[what].kind in (NAME, NOUN) or what > at + 1):
        return None, at
    one, owned = elements[at], elements[what].determined or elements[what].owner != "" or what > at + 1
    if one.kind == PRONOUN:
        return next(iter(reader.discourse.resolve(one.low)[0]), None), at + 1
    if one.low == "you":
        return reader.discourse.reader, at + 1
    if one.kind == NAME:
        kind = one.names[0].options[:1]
        gets = kind in (("Person",), ("Agent",), ("Organization",)) or (not kind and owned)
        return (one.names[0], at + 1) if gets else (None, at)
    if one.kind == ROLE and owned:
        return undertaking(clause, one.begin, one.end), at + 1
    if one.kind == NOUN and owned and one.end - one.begin == 1 and elements[what].begin <= one.end + 1:
        return one.names[0], at + 1
    return None, at


def _counted(elements: Sequence[Element], at: int) -> int:
    """The element after a number of things."""
    while at < len(elements) and (elements[at].low in cues("count") or elements[at].low.isdecimal()):
        at += 1
    return at


def _noun_end(clause: Clause, at: int) -> int:
    """The token after the thing at an element, with the words that go on with it: "the migration test"."""
    elements, end = clause.elements, clause.elements[at].end
    for place in range(at + 1, len(elements)):
        element = elements[place]
        after = elements[place + 1] if place + 1 < len(elements) else None
        if (
            element.low in cues("belonging") and element.begin == end
        ):  # "the list of pupils", "a copy of Bob's contract"
            what = _counted(elements, place + 1)
            return _noun_end(clause, what) if what < len(elements) and _is_thing(elements[what]) else end
        bare = element.bare and element.form in ("base", "third") and element.low not in ("be", "have", "do")
        acts = element.kind == VERB and (not bare or (after is not None and after.kind in (NAME, NOUN, PRONOUN)))
        if element.begin != end or acts or element.kind in (MARK, PRONOUN, NAME) or _plain(element):
            break
        end = element.end
    return end


def _is_thing(element: Element) -> bool:
    """Whether what stands after "of" can be a thing: pupils, Chapter 3, brushes; "of course" is none."""
    if element.kind == WORD:
        return not _plain(element) and element.low not in cues("of_nothing")
    return element.kind in (NAME, NOUN) or (element.kind == VERB and element.bare)


def _plain(element: Element) -> bool:
    """Whether a word cannot be part of a thing's name."""
    low = element.low
    listed = low in words("function.txt") or low in words("calendar.txt")
    return element.kind == WORD and (listed or low in cues("stop") or low in cues("soon"))


def addressee(reader: Reader, clause: Clause, at: int) -> Name | None:
    """Return the person after "to", or after "for" and "with", that follows the thing: "send the deck to Rob"."""
    for before, element in pairwise(clause.elements[at : at + _REACH]):
        if before.low in cues("adding") and element.kind == VERB:  # something else begins
            return None
        if before.low not in ("to", "for", "with"):
            continue
        if before.low == "to" and element.kind == PRONOUN and element.low != "it":
            return next(iter(reader.discourse.resolve(element.low)[0]), None)
        if before.low == "to" and element.low == "you":
            return reader.discourse.reader
        if element.kind != NAME:
            continue
        name = element.names[0]
        sure = name.options[:1] in (("Person",), ("Agent",))
        if sure or before.low == "to":
            likely = not name.options and name.type != "Place" and name.text.replace(" ", "").isalpha()
            return name if sure or likely else None
    return None


def main_verb(clause: Clause, at: int) -> str:
    """Return the verb whose last word is at a token in its base form, or that word: "delivering" is "deliver"."""
    found = (one.low for one in clause.elements if one.end == at + 1 and one.kind == VERB)
    return next(found, clause.sentence.tokens[at].low)


def past(clause: Clause, at: int, said: Sequence[str]) -> int:
    """Return the token after words that stand at a token, "~" for a day among them; -1 where others stand there."""
    tokens = clause.sentence.tokens
    for word in said:
        while at < len(tokens) and tokens[at].low in cues("still"):
            at += 1
        if word == "~":
            at += at < len(tokens) and tokens[at].low in cues("day_before")
            start = tokens[at].start if at < len(tokens) else -1
            day = next((day for day in find_days(tokens, clause.written) if day.start == start), None)
            if day is None:
                return -1
            at = next((place for place in range(at, len(tokens)) if tokens[place].start >= day.end), len(tokens))
        elif at < len(tokens) and tokens[at].low == word:
            at += 1
        else:
            return -1
    return at


def task_end(tokens: Sequence[Token], begin: int, written: datetime) -> int:
    """Return the token where what is to be done ends: at a mark, a reason, a condition or the time for it."""
    end = next((at for at in range(begin, len(tokens)) if _closes(tokens, at)), len(tokens))
    for day in find_days(tokens[begin:end], written):
        if day.before in cues("of_day") or (day.before in cues("article") and tells_of_a_thing(day)):
            continue
        at = next(at for at in range(begin, end) if tokens[at].end > day.start)
        while at > begin and (tokens[at - 1].low in cues("day_before") or tokens[at - 1].low in ("(", "[")):
            at -= 1
        return at
    while end > begin and tokens[end - 1].low in cues("soon"):
        end -= 1
    return end


def _closes(tokens: Sequence[Token], at: int) -> bool:
    token = tokens[at]
    if token.low == "when" and _tells_which(tokens, at):
        return False
    return token.low in cues("reason") or (token.shape == "mark" and token.low not in cues("inside_task"))


def _tells_which(tokens: Sequence[Token], at: int) -> bool:
    """Whether "when" tells of which fault something is said: "the crash when a headset is unplugged"."""
    after = tokens[at + 1].low if at + 1 < len(tokens) else ""
    return at > 0 and tokens[at - 1].low in cues("fault") and after not in ("i", "you", "he", "she", "we", "they")


def is_deed(clause: Clause, at: int) -> bool:
    """Return whether a token is a verb of what people have to do, or an unknown word before a thing that is named."""
    token = clause.sentence.tokens[at]
    if token.low in words("deeds.txt") or token.low in words("giving.txt"):
        return True
    known = token.low in words("function.txt") or token.low in words("adverbs.txt") or token.shape != "low"
    return not known and at + 1 < len(clause.sentence.tokens) and is_named(clause, at + 1)


def is_named(clause: Clause, at: int) -> bool:
    """Return whether something named or spoken of as known begins at a token: "the visa photos", "Oma's card"."""
    token = clause.sentence.tokens[at]
    if token.low in cues("article") or token.low in cues("owner"):
        return at + 1 < len(clause.sentence.tokens)
    place = clause.element_at(at)
    return place < len(clause.elements) and clause.elements[place].begin == at and clause.elements[place].kind == NAME


def undertaking(clause: Clause, begin: int, end: int) -> Name:
    """Return what stands between two tokens as something to be done."""
    first, last = clause.sentence.tokens[begin], clause.sentence.tokens[end - 1]
    text = clause.sentence.text[first.start : last.end]
    return Name(text, first.start, last.end, ("Commitment",), 0.85, weak=True, span=(begin, end))
