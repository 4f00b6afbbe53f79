"""Promises: "I'll send Rob the deck", "Bob promised Ann the draft", "I told Ann I'd call", "Ines is on the hook"."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from functools import cache
from itertools import product
from typing import NamedTuple

from memory_plane.types import Item, Polarity
from memory_plane_local.clauses import Clause
from memory_plane_local.dates import due_date
from memory_plane_local.deals import Deal, act, bind, given, is_deed, past, task_end, thing, undertaking
from memory_plane_local.drafts import Draft, fit, polarity, settle
from memory_plane_local.elements import MARK, NAME, NOUN, PRONOUN, ROLE, VERB, WORD, Element
from memory_plane_local.guards import FUTURE, HYPOTHETICAL, PAST_TENSE
from memory_plane_local.name import Name
from memory_plane_local.relations import Reader
from memory_plane_local.subjects import governing
from memory_plane_local.tables import cues, rows, words
from memory_plane_local.tokens import Token

_STRENGTH = {"promise": 0.93, "agree": 0.85, "commit": 0.92, "owe": 0.88, "pledge": 0.9}
_SOMEBODY = ("Person", "Agent", "Organization")
_PEOPLE = (("Person",), ("Agent",))
_OTHERWISE = 0.82
_VOW = 6
"""Elements before "I'd" in which somebody is told so."""


class _Vow(NamedTuple):
    """Whose word a reported promise is, and to whom it was given."""

    owners: list[Name]
    to: Name | None


def read_promise(reader: Reader, clause: Clause, at: int) -> Item | None:
    """A commitment by the verb at `at`: "promised to …", "I'll …", "needs to … by Friday", "told Ann I'd …"."""
    element = clause.elements[at]
    promised = element.low in cues("promise") and not element.passive
    vow = None if promised else _vow(reader, clause, at)
    if not promised and vow is None and not _undertaken(reader, clause, at):
        return None
    owners = vow.owners if vow else _subject(reader, clause, at)
    owners = [name for name in owners if fit(name, _SOMEBODY)]
    if at + 2 < len(clause.elements) and governing(clause, at + 2) is element:
        return None
    deal = _promised(reader, clause, at + 1) if promised else _doing(reader, clause, element)
    what = deal.thing
    if not owners or what is None:
        return None
    deal = Deal(what, deal.to or (vow.to if vow else None))
    strength = _STRENGTH.get(element.low, _OTHERWISE)
    polar: Polarity = (
        "past" if _over(clause, element) else polarity(clause.flags | (element.flags * promised), state=False)
    )
    if polar == "positive":
        return bind(reader, owners, deal, strength, _due(clause, element, fronted=not promised and vow is None))
    for owner in owners:
        reader.drafts.add(Draft(owner, "COMMITTED_TO", what, polar, what.start, what.end, strength))
    return None


def _due(clause: Clause, verb: Element, *, fronted: bool) -> datetime | None:
    """The day told behind a verb, or before all the rest: "On Friday I'll …"."""
    tokens = clause.sentence.tokens
    due = due_date(tokens[verb.end - 1 :], clause.written)  # with "lend", which says how long
    return due or (due_date(tokens[: verb.begin], clause.written) if fronted else None)


def _undertaken(reader: Reader, clause: Clause, at: int) -> bool:
    """Whether "will" and "need to" oblige: said by the writer, or of a person who gives something or has a date."""
    element, tokens = clause.elements[at], clause.sentence.tokens
    unsure = clause.flags or clause.onwards[element.begin]
    idle = (
        element.low in cues("idle")
        and not _does(clause, at)
        and not (element.low == "get" and _is_it(reader, clause, element))
    )
    if idle or element.passive or unsure:
        return False
    subject = _subject(reader, clause, at)
    if not subject:
        return False
    said = {token.low for token in tokens[element.begin : element.end]}
    gives = element.low in words("giving.txt")
    if element.flags == FUTURE and said & {"will", "'ll"}:
        return subject[0] is reader.discourse.writer or _gives(reader, clause, at, subject[0])
    if element.form == "third" and element.bare and not element.flags:  # "Siobhán writes the postmortem by Friday"
        return subject[0].options[:1] == ("Person",) and _is_due(clause, element)
    if element.form == "ing" and not element.bare and not element.flags:  # "I'm sending Rob the deck tomorrow"
        told = element.low in cues("sending") or given(reader, clause, element.end - 1).to is not None
        return gives and told and _is_dated(clause, element)
    needed = said & {"need", "needs", "must"} or {"have", "to"} <= said or {"has", "to"} <= said
    return bool(needed) and ((gives and subject[0].options[:1] == ("Person",)) or _is_dated(clause, element))


def _is_dated(clause: Clause, verb: Element) -> bool:
    """Whether a day is told behind a verb."""
    return due_date(clause.sentence.tokens[verb.end :], clause.written) is not None


def _is_due(clause: Clause, verb: Element) -> bool:
    """Whether what a verb of deeds does is to be done by a day."""
    tokens = clause.sentence.tokens
    end = task_end(tokens, verb.end, clause.written)
    by = end < len(tokens) and tokens[end].low in ("by", "before", "due")
    does = verb.low in words("deeds.txt") or verb.low in words("giving.txt")
    return does and by and due_date(tokens[end:], clause.written) is not None


def _is_it(reader: Reader, clause: Clause, verb: Element) -> bool:
    """Whether somebody named is to see to what was spoken of before, by a day or where it holds something up."""
    at, tokens = clause.element_at(verb.begin), clause.sentence.tokens
    known = verb.end < len(tokens) and tokens[verb.end].low in ("it", "them", "this", "that")
    if not known or verb.flags != FUTURE or at == 0 or clause.elements[at - 1].kind != NAME:
        return False
    return _is_dated(clause, verb) or any(one.relation == "BLOCKED_BY" for one in reader.drafts.found.values())


def _gives(reader: Reader, clause: Clause, at: int, somebody: Name) -> bool:
    """Whether what somebody else will do is owed: something given, or a deed by a day."""
    element, after = clause.elements[at], clause.sentence.tokens[clause.elements[at].end :][:1]
    if at == 0 or clause.elements[at - 1].low in ("they", "it"):
        return False
    if _is_it(reader, clause, element) and somebody.options[:1] in _PEOPLE:
        return True
    if element.low == "get":
        return _is_given(clause, at) or [token.low for token in after] == ["back"]
    if element.low in words("giving.txt") or element.low == "have":
        return True
    return element.low in words("deeds.txt") and somebody.options[:1] in _PEOPLE and _is_dated(clause, element)


def _subject(reader: Reader, clause: Clause, at: int) -> list[Name]:
    """Who a verb speaks of: "you" is the reader of a letter, "the landlord" somebody without a name."""
    before = clause.elements[at - 1] if at else None
    if before is not None and before.low == "you":
        return [reader.discourse.reader] if reader.discourse.reader else []
    if before is not None and (before.kind == ROLE or before.low in cues("folk")):
        known = before.definite and (at == 1 or clause.elements[at - 2].kind == MARK)
        return [_somebody(reader, clause, before)] if known else []
    return reader.subject(clause, at)[0]


def _somebody(reader: Reader, clause: Clause, element: Element) -> Name:
    """The person that an ordinary word stands for: "the landlord", "my brother"."""
    name = element.names[0] if element.names else reader.once(undertaking(clause, element.begin, element.end))
    settle(name, "Person")
    return name


def _does(clause: Clause, at: int) -> bool:
    """Whether a verb of many meanings does something: "get Dana the lease", "take the deploy", "have it by Friday"."""
    element = clause.elements[at]
    rest = clause.sentence.tokens[element.end :]
    if [token.low for token in rest[:2]] == ["back", "to"]:  # "get back to Lena"
        return True
    if (_is_definite(rest) or element.low == "have") and not cues("idle_thing") & {token.low for token in rest[1:3]}:
        day = due_date(rest, clause.written) if element.low == "have" else None
        return element.low in cues("definite") or day is not None
    return element.low == "get" and _is_given(clause, at)


def _is_given(clause: Clause, at: int) -> bool:
    """Whether it is somebody who gets something: "get Dana the lease"."""
    after = clause.elements[at + 1 : at + 3]
    return len(after) == 2 and after[0].kind in (NAME, PRONOUN) and after[1].kind in (NAME, NOUN)


def _is_definite(tokens: Sequence[Token]) -> bool:
    """Whether what is spoken of is known: "the Monday shift", "my part"."""
    return len(tokens) > 1 and (tokens[0].low in ("the", "this", "these") or tokens[0].low in cues("owner"))


def _over(clause: Clause, element: Element) -> bool:
    """Whether a promise holds no longer: "had promised it", "promised it, but she cancelled"."""
    if element.first == "had":
        return True
    lows = [token.low for token in clause.sentence.tokens[element.end :]]
    return "but" in lows and bool(cues("withdrawn") & set(lows[lows.index("but") :]))


def _vow(reader: Reader, clause: Clause, at: int) -> _Vow | None:
    """Who gave whom the word that "would" and "will" tell of: "I told Petra I'd bring it", "Owen assured us he'd"."""
    element = clause.elements[at]
    told = element.first in ("would", "'d") and element.flags == HYPOTHETICAL
    if not (told or (element.first in ("will", "'ll") and element.flags == FUTURE)) or element.form != "base" or at < 2:
        return None
    before = clause.elements[max(0, at - _VOW) : at]
    tokens = clause.sentence.tokens
    said = next((one for one in reversed(before[:-1]) if tokens[one.end - 1].low in cues("vowed")), None)
    if before[-1].kind not in (PRONOUN, NAME) or said is None or said.flags & ~PAST_TENSE or clause.flags:
        return None
    if (element.low in cues("idle") and not _does(clause, at)) or any(
        token.low == "never" for token in tokens[max(0, said.begin - 1) : said.end]
    ):
        return None
    place = before.index(said)
    heard = [one for one in before[place + 1 : -1] if one.low not in ("that", "to")]
    if len(heard) > 1 or clause.onwards[element.begin]:
        return None
    sayer = before[place - 1] if place else None
    same = before[-1].kind == PRONOUN and sayer is not None and sayer.kind == NAME
    owners = sayer.names if same and sayer is not None else reader.subject(clause, at)[0]
    to = next(iter(_named(reader, heard[0])), None) if heard else None
    return _Vow(owners[:1], to)


def _named(reader: Reader, element: Element) -> list[Name]:
    return reader.discourse.resolve(element.low)[0] if element.kind == PRONOUN else element.names


def _promised(reader: Reader, clause: Clause, at: int) -> Deal:
    """Read on from a verb of promising to the thing promised, past the one it is promised to."""
    elements, to, told = clause.elements, None, ""
    cursor, verb = at, elements[at - 1]
    aimed = at < len(elements) and elements[at].low == "to"
    if verb.low == "commit" and not aimed and not _is_clause(clause, at):  # "committed the fix to main"
        return Deal(None)
    while cursor < len(elements):
        element = elements[cursor]
        if element.kind == NAME and _is_told(elements, cursor, at):
            to = element.names[0]
        elif element.kind == PRONOUN and cursor == at and element.low in ("me", "us"):
            to = reader.discourse.writer if cursor + 1 < len(elements) and elements[cursor + 1].kind != VERB else None
        elif element.kind in (NOUN, ROLE) and cursor == at and _infinitive(elements, cursor):
            to = undertaking(clause, element.begin, element.end)
        elif not (element.kind == PRONOUN or element.low in ("to", "that", "on")):
            break
        told = element.low
        cursor += 1
    if cursor >= len(elements):
        return Deal(None, to)
    element = elements[cursor]
    if element.kind == VERB:
        deal = _doing(reader, clause, element)
    elif verb.low == "agree" and _is_clause(clause, cursor):  # "agreed that it is too high"
        return Deal(None)
    elif (element.kind == WORD and told == "to") or _is_clause(clause, cursor):
        deal = act(reader, clause, element.begin)
    else:
        deal = thing(reader, clause, cursor, to)
    return Deal(deal.thing, to or deal.to)


def _is_told(elements: list[Element], at: int, begin: int) -> bool:
    """Whether a promise is made to the person at an element: "promised Ann the draft", "committed to Arno that …"."""
    behind = at == begin or (at == begin + 1 and elements[begin].low == "to" and at + 1 < len(elements))
    return behind and elements[at].names[0].options[:1] == ("Person",)


def _is_clause(clause: Clause, at: int) -> bool:
    """Whether what is promised is a clause of its own: "committed to Arno that the scaffolding comes down"."""
    if not 0 < at < len(clause.elements):
        return False
    between = clause.sentence.tokens[clause.elements[at - 1].end : clause.elements[at].begin]
    return clause.elements[at].low == "that" or any(token.low == "that" for token in between)


def _infinitive(elements: list[Element], at: int) -> bool:
    """Whether what is promised comes after somebody: "promised the bank to hand in the accounts"."""
    return at + 2 < len(elements) and elements[at + 1].low == "to" and elements[at + 2].kind in (VERB, WORD)


def _doing(reader: Reader, clause: Clause, verb: Element) -> Deal:
    """What the verb of a promise does: a noun for what is given, the whole doing otherwise."""
    main = max(verb.begin, verb.end - 1)  # without "I'll" before it
    deal = given(reader, clause, main)
    if deal.thing is None and verb.low == "have":
        deal = thing(reader, clause, clause.element_at(verb.end))
    if deal.thing is not None:
        return deal
    elements = clause.elements
    first = clause.element_at(verb.end)
    first += first < len(elements) and elements[first].begin == verb.end and elements[first].low in cues("particle")
    limit = task_end(clause.sentence.tokens, main, clause.written)
    back = clause.sentence.tokens[verb.end].low == "back" if verb.end < len(clause.sentence.tokens) else False
    end = next((i for i in range(first, len(elements)) if _stops(elements[i], limit)), len(elements))
    named = any(element.kind in (NAME, NOUN, ROLE) for element in elements[first:end])
    if _is_it(reader, clause, verb):
        return Deal(undertaking(clause, main, limit), deal.to)
    if not named and not back and not _is_definite(clause.sentence.tokens[verb.end :]):
        return Deal(None, deal.to)
    return Deal(undertaking(clause, main, elements[end - 1].end), deal.to)


def _stops(element: Element, limit: int) -> bool:
    stops = element.low in cues("stop") and element.low != "when"  # of which its limit tells
    return stops or element.kind == MARK or element.begin >= limit


# --- Words other than verbs of promising that bind somebody ------------------------------------------------------


class _Bond(NamedTuple):
    """Words behind somebody that bind; `dated` = only by a day; `deed` = a verb follows, `new` if no table has it."""

    words: tuple[str, ...]
    dated: bool
    deed: bool
    new: bool


def read_bond(reader: Reader, clause: Clause, at: int) -> Item | None:
    """A commitment of whom the element at `at` names: "is on the hook for …", "has until Friday to …", "is to …"."""
    tokens, after = clause.sentence.tokens, clause.elements[at].end
    if after >= len(tokens) or tokens[after].low not in _bonds() or clause.flags:
        return None
    for bond in _bonds()[tokens[after].low]:
        begin = past(clause, after, bond.words)
        if begin < 0 or begin >= len(tokens):
            continue
        owners = [name for name in _named(reader, clause.elements[at]) if name.options[:1] in _PEOPLE]
        if not owners:
            return None
        if bond.new and any(one.kind == VERB and one.end == begin + 1 for one in clause.elements):
            continue
        if bond.dated and due_date(tokens[after:], clause.written) is None:
            continue
        if bond.deed and not is_deed(clause, begin):
            continue
        deal = act(reader, clause, begin) if bond.deed else thing(reader, clause, clause.element_at(begin))
        if deal.thing is not None:
            return bind(reader, owners, deal, _OTHERWISE, due_date(tokens[after:], clause.written))
    return None


@cache
def _bonds() -> dict[str, tuple[_Bond, ...]]:
    """The words that bind by the first of them."""
    found: dict[str, list[_Bond]] = {}
    for kind, text in rows("bonds.tsv"):
        for choice in product(*(word.split("|") for word in text.split())):
            found.setdefault(choice[0], []).append(_Bond(choice, "dated" in kind, "deed" in kind, "new" in kind))
    return {first: tuple(bonds) for first, bonds in found.items()}
