"""Open items that a text contains: promises, questions to somebody, handovers."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from itertools import pairwise

from memory_plane.types import Item
from memory_plane_local.clauses import Clause
from memory_plane_local.dates import due_date
from memory_plane_local.drafts import Draft, fit, polarity
from memory_plane_local.elements import MARK, NAME, NOUN, PRONOUN, VERB, Element
from memory_plane_local.guards import FUTURE, PAST_TENSE
from memory_plane_local.name import Name
from memory_plane_local.relations import Reader
from memory_plane_local.subjects import governing
from memory_plane_local.tables import cues, rows, words

_REACH = 10
"""Words at the beginning of a sentence in which somebody is told that it is their turn."""
_STRENGTH = {"promise": 0.93, "agree": 0.85, "commit": 0.92, "owe": 0.88, "pledge": 0.9}


@dataclass(slots=True)
class _Deal:
    """The parts of a promise: what, for whom, and the elements it spans."""

    thing: Name | None
    to: Name | None


def read_promise(reader: Reader, clause: Clause, at: int, written: datetime) -> Item | None:
    """A commitment by the verb at `at`: "promised to …", "I'll …", "needs to … by Friday"."""
    element = clause.elements[at]
    promised = element.low in cues("promise") and not element.passive
    if not promised and not _undertaken(reader, clause, at, written):
        return None
    owners = [name for name in reader.subject(clause, at)[0] if fit(name, ("Person", "Agent", "Organization"))]
    if at + 2 < len(clause.elements) and governing(clause, at + 2) is element:
        return None
    deal = _deal(reader, clause, at + 1 if promised else at, promised=promised)
    if not owners or deal.thing is None:
        return None
    flags = clause.flags | (element.flags if promised else 0)
    polar = polarity(flags, state=False)
    strength = _STRENGTH.get(element.low, 0.82)
    for owner in owners:
        thing = deal.thing
        reader.drafts.add(Draft(owner, "COMMITTED_TO", thing, polar, thing.start, thing.end, strength))
    if polar != "positive":
        return None
    due = due_date(clause.sentence.tokens[element.end :], written)
    to = deal.to.text if deal.to else None
    return Item(kind="commitment", owner=owners[0].text, to=to, object=deal.thing.text, due_at=due)


def _undertaken(reader: Reader, clause: Clause, at: int, written: datetime) -> bool:
    """Whether "will" and "need to" oblige: said by the writer, or of a person who gives something or has a date."""
    element = clause.elements[at]
    if (element.low in cues("idle") and not _gets(clause, at)) or element.passive or clause.flags:
        return False
    said = {token.low for token in clause.sentence.tokens[element.begin : element.end]}
    subject = reader.subject(clause, at)[0]
    mine = bool(subject) and subject[0] is reader.discourse.writer
    if element.flags == FUTURE and said & {"will", "'ll"}:
        named = at > 0 and clause.elements[at - 1].low not in ("they", "it")
        return mine or (named and element.low in words("giving.txt") and bool(subject))
    needed = said & {"need", "needs", "must"} or {"have", "to"} <= said or {"has", "to"} <= said
    return bool(needed) and bool(subject) and due_date(clause.sentence.tokens[element.end :], written) is not None


def _gets(clause: Clause, at: int) -> bool:
    """Whether somebody is got something: "get Dana the lease"."""
    after = clause.elements[at + 1 : at + 3]
    told = len(after) == 2 and after[0].kind in (NAME, PRONOUN) and after[1].kind in (NAME, NOUN)
    return told and clause.elements[at].low == "get"


def _deal(reader: Reader, clause: Clause, at: int, *, promised: bool) -> _Deal:
    """Read on from the promise to the thing promised, past the one it is promised to."""
    elements, to = clause.elements, None
    cursor = at
    while promised and cursor < len(elements):
        element = elements[cursor]
        if element.kind == NAME and cursor == at and element.names[0].options[:1] == ("Person",):
            to = element.names[0]
        elif element.kind == PRONOUN and cursor == at and element.low in ("me", "us"):
            to = reader.discourse.writer if cursor + 1 < len(elements) and elements[cursor + 1].kind != VERB else None
        elif not (element.kind == PRONOUN or element.low in ("to", "that", "on")):
            break
        cursor += 1
    if cursor >= len(elements):
        return _Deal(None, to)
    verb = elements[cursor] if elements[cursor].kind == VERB else None
    return _thing(reader, clause, cursor, verb, to)


def _thing(reader: Reader, clause: Clause, cursor: int, verb: Element | None, to: Name | None) -> _Deal:
    """The thing itself: a noun for what is given, the whole doing otherwise."""
    elements = clause.elements
    first = cursor + (verb is not None)
    if first < len(elements) and elements[first].kind in (NAME, PRONOUN) and first + 1 < len(elements):
        receiver = _receiver(reader, elements[first], elements[first + 1])
        if receiver is not None and elements[first + 1].kind in (NAME, NOUN):
            to, first = receiver, first + 1
    to = to or _addressee(clause, first)
    if (
        first < len(elements)
        and elements[first].kind in (NAME, NOUN)
        and (verb is None or verb.low in words("giving.txt"))
    ):
        element = elements[first]
        return _Deal(undertaking(clause, element.begin, element.end), to)
    if verb is None:
        return _Deal(None, to)
    end = next(
        (i for i in range(first, len(elements)) if elements[i].low in cues("stop") or elements[i].kind == MARK),
        len(elements),
    )
    if not any(element.kind in (NAME, NOUN) for element in elements[first:end]):
        return _Deal(None, to)
    return _Deal(undertaking(clause, _main_token(verb), elements[end - 1].end), to)


def given(reader: Reader, clause: Clause, at: int) -> tuple[Name | None, Name | None]:
    """Return the thing that the verb at `at` gives and who gets it, nothing for other verbs."""
    verb = clause.elements[at]
    if at < 0 or verb.low not in words("giving.txt"):
        return None, None
    deal = _thing(reader, clause, at, verb, None)
    return deal.thing, deal.to


def _receiver(reader: Reader, element: Element, thing: Element) -> Name | None:
    """Who gets something: "promised Hugo the budget"."""
    if element.kind == PRONOUN:
        return reader.discourse.writer if element.low in ("me", "us") else None
    kind = element.names[0].options[:1]
    return element.names[0] if kind == ("Person",) or (not kind and thing.determined) else None


def _addressee(clause: Clause, at: int) -> Name | None:
    """The person after "to" that follows the thing: "send the deck to Rob"."""
    for before, element in pairwise(clause.elements[at : at + 12]):
        if (
            before.low == "to"
            and element.kind == NAME
            and element.names[0].options[:1] in (("Person",), ("Agent",), ())
        ):
            return element.names[0]
    return None


def _main_token(verb: Element) -> int:
    """The token of the main verb, without "I'll" before it."""
    return max(verb.begin, verb.end - 1)


def undertaking(clause: Clause, begin: int, end: int) -> Name:
    """Return what stands between two tokens as something to be done."""
    first, last = clause.sentence.tokens[begin], clause.sentence.tokens[end - 1]
    text = clause.sentence.text[first.start : last.end]
    return Name(text, first.start, last.end, ("Commitment",), 0.85, weak=True, span=(begin, end))


def read_request(clause: Clause, asked: bool, written: datetime) -> Item | None:
    """Return a question that somebody is asked to act on, or work handed to somebody; small talk is neither."""
    tokens = clause.sentence.tokens
    to = _vocative(clause)
    text = clause.sentence.text[tokens[0].start : tokens[-1].end]
    if asked:
        due = due_date(tokens, written)
        return Item(kind="question", owner=None, to=to, object=text + "?", due_at=due) if _requests(clause) else None
    receiver = _handed(clause)
    if receiver is None and to and len(tokens) > 3 and (tokens[0].low == "@" or _asked(clause)):
        receiver = to
    return Item(kind="handoff", owner=None, to=receiver, object=text) if receiver else None


def _asked(clause: Clause) -> bool:
    """Whether somebody spoken to is asked for something right away: "Codex, please fix the test"."""
    behind = clause.elements[1].end
    return clause.sentence.tokens[behind].low == "please" if behind < len(clause.sentence.tokens) else False


def _requests(clause: Clause) -> bool:
    """Whether a question wants something done or decided: "can you …", "does anyone …", "should we …", "@muse …"."""
    lows = [token.low for token in clause.sentence.tokens]
    if lows[0] == "@" or (clause.elements[0].kind == NAME and clause.elements[0].names[0].options[:1] == ("Agent",)):
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


def _vocative(clause: Clause) -> str | None:
    """Who is spoken to: "@muse …", "Muse, can you …"."""
    elements = clause.elements
    if len(elements) > 1 and elements[0].low == "@" and clause.sentence.tokens[0].low == "@":
        return clause.sentence.tokens[elements[1].begin].text if elements[1].kind != NAME else elements[1].names[0].text
    if len(elements) > 2 and elements[0].kind == NAME and elements[1].low in (",", ":"):
        name = elements[0].names[0]
        return name.text if name.options[:1] in (("Person",), ("Agent",)) else None
    return None


def _handed(clause: Clause) -> str | None:
    """Who takes over: "handing this over to Muse", "passing it to Grok", "over to you, Codex"."""
    for at, element in enumerate(clause.elements):
        if clause.flags or element.kind != VERB or element.low not in cues("parting") or element.flags & ~PAST_TENSE:
            continue
        said = at == 0 or clause.elements[at - 1].kind in (PRONOUN, MARK) or not element.flags
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
    tokens, elements = clause.sentence.tokens, clause.elements
    lows = [token.low for token in tokens[:_REACH]]
    for phrase in rows("turns.tsv"):
        words_of = phrase[0].split()
        reach = 1 if phrase[1:] == ("first",) else len(lows)
        starts = (at for at in range(reach) if lows[at : at + len(words_of)] == words_of)
        if (at := next(starts, -1)) < 0 or clause.flags:
            continue
        after = clause.element_at(at + len(words_of))
        near = [*elements[after : after + 2], *elements[:1]]
        return next((one.names[0].text for one in near if one.kind == NAME and _somebody(one)), None)
    return None


def _owns(after: list[Element]) -> bool:
    return bool(after) and after[0].low in ("'s", "’s", "’", "'")


def _somebody(element: Element) -> bool:
    return element.names[0].options[:1] in (("Person",), ("Agent",))
