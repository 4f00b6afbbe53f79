"""One thing in place of another: "moved from Acme to Globex", "switched from Redis to Valkey", "replaced X with Y"."""

from __future__ import annotations

from datetime import timedelta
from functools import cache
from typing import NamedTuple

from memory_plane_local.choices import uses_of_things
from memory_plane_local.clauses import Clause
from memory_plane_local.drafts import Draft, fit, polarity
from memory_plane_local.elements import MARK, NAME, NOUN, VERB, WORD, Element
from memory_plane_local.ellipsis import read_likewise
from memory_plane_local.name import Name
from memory_plane_local.relations import Reader
from memory_plane_local.tables import cues, rows
from memory_plane_local.verbs import Row, sense

_UNSAID = 0.95
_HANDED_ON = frozenset({"LEADS", "SUPPORTS", "OWNS", "MANAGES", "HAS_ROLE"})
_LONG = timedelta(days=7)
"""Who left in such a time left for good: "left in May", unlike "left at five" or "left yesterday"."""
_REACH = 4
"""How many elements may stand between a verb and what it changes from."""


class Change(NamedTuple):
    """What takes the place of what; `thing` is what is moved, if it is not the subject itself."""

    old: list[Name]
    new: list[Name]
    thing: list[Name]


def read_change(reader: Reader, clause: Clause, at: int) -> bool:
    """Draft what begins and what ends by the verb at `at`; False where it says no such thing."""
    element = clause.elements[at]
    if read_likewise(reader, clause, at) or _left_work(reader, clause, at):
        return True
    if _moved_on(reader, clause, at) or _took_over(reader, clause, at):
        return True
    ways = (_change(clause, at, *way) for way in _verbs().get(element.low, ()))
    change = next(filter(None, ways), None)
    if change is None:
        return False
    subject, factor = reader.subject(clause, at)
    subject = subject or _possessor(clause.elements, at)
    if not subject and element.bare and element.form == "base":  # "Plan: migrate Orbit to Postgres"
        return False
    factor = factor or _UNSAID
    if any(name.options[:1] == ("Place",) for name in (*change.old, *change.new)) and subject:
        change = change._replace(thing=[])
    subject = change.thing or ([] if element.passive else subject)
    row = _row(subject, change, element.low)
    if row is None:
        return False
    clause.last = clause.main = subject or clause.main
    polar = polarity(reader.flags(clause, element), state=False)
    for source in subject:
        for name in change.new:
            reader.draft(clause, source, row, name, polar, factor, element)
        for name in change.old if polar == "positive" else ():
            moved = row.relation == "LOCATED_IN" and _left_home(reader, clause, source, name, factor, element)
            moved or reader.draft(clause, source, row, name, "past", factor, element, leaving=True)
    return True


def _left_work(reader: Reader, clause: Clause, at: int) -> bool:
    """Whether somebody left where the text has him at work: "joined Acme in 2021 and left in May", "he quit"."""
    verb = clause.elements[at]
    if verb.low not in ("leave", "quit", "resign") or verb.passive or verb.form not in ("past", "participle"):
        return False
    span = clause.told(verb)
    coming = span is not None and span.first > clause.written.date()
    long = span is not None and span.end - span.first >= _LONG and span.token <= verb.end + 1
    if coming or not (long or verb.low != "leave") or _left_something(clause.elements[at + 1 : at + 2]):
        return False
    if polarity(reader.flags(clause, verb), state=False) != "positive":
        return False
    people, factor = reader.subject(clause, at)
    works = sense("join", "WORKS_AT")
    held = [one for one in reader.drafts.found.values() if one.relation == "WORKS_AT" and one.subject in people]
    for one in held:
        reader.draft(clause, one.subject, works, one.object, "past", factor or _UNSAID, verb, leaving=True)
    return bool(held)


def _moved_on(reader: Reader, clause: Clause, at: int) -> bool:
    """Whether a person moved to a company: "Bob moved to Globex", but not "we moved to Stripe"."""
    verb = clause.elements[at]
    if verb.low not in cues("changing_jobs") or verb.passive:
        return False
    rest = clause.elements[at + 1 : at + 4]
    rest = rest[1:] if rest and rest[0].low == "over" else rest
    if len(rest) < 2 or rest[0].low != "to":
        return False
    people, factor = reader.subject(clause, at)
    several = at > 0 and clause.sentence.tokens[clause.elements[at - 1].begin].low == "we"
    companies = rest[1].names if rest[1].kind == NAME else []
    if several or not companies or not all(name.options[:1] == ("Organization",) for name in companies):
        return False
    if not people or any(name.options[:1] != ("Person",) for name in people):
        return False
    clause.last, clause.main = people, clause.main or people
    polar, works = polarity(reader.flags(clause, verb), state=False), sense("join", "WORKS_AT")
    pairs = [(person, company) for person in people for company in companies]
    return any([reader.draft(clause, one, works, other, polar, factor, verb) for one, other in pairs])


def _took_over(reader: Reader, clause: Clause, at: int) -> bool:
    """Whether somebody goes on with what another one did: "Bob no longer maintains Loam; Ann took it over"."""
    verb, rest = clause.elements[at], clause.elements[at + 1 : at + 3]
    if verb.low not in ("take", "replace", "succeed"):
        return False
    before: list[Name] = []
    things: list[Name] = []
    if verb.low == "take" and len(rest) > 1 and rest[1].low == "over":
        things = rest[0].names or (reader.discourse.resolve("it")[0] if rest[0].low == "it" else [])
        ends = bool(things)
    elif verb.low == "take" and rest and rest[0].low == "over":
        ends = len(rest) == 1 or rest[1].kind == MARK or rest[1].low in cues("link")
    else:
        ends = verb.low != "take" and bool(rest) and rest[0].low in ("he", "she")
        before = reader.discourse.resolve(rest[0].low, clause.main)[0] if ends else []
    people, factor = reader.subject(clause, at) if ends and not verb.passive else ([], 0.0)
    if not people:
        return False
    polar = polarity(reader.flags(clause, verb), state=False)
    over = [
        one
        for one in reader.drafts.found.values()
        if one.polarity == "past" and (one.relation in _HANDED_ON or one.relation.endswith("_OF"))
        if (not things or one.object in things) and (not before or one.subject in before) and one.subject not in people
    ]
    over = [one for one in over if (one.subject, one.start) == (over[-1].subject, over[-1].start)]
    for person in people:
        for one in over:
            sure = round(_UNSAID * factor * clause.doubt, 3)
            reader.drafts.add(Draft(person, one.relation, one.object, polar, *clause.span(), sure))
        for thing in things if not over else ():
            reader.draft(clause, person, sense("take", "LEADS"), thing, polar, factor, verb)
    return bool(over or things)


def _left_something(after: list[Element]) -> bool:
    """Whether what stands behind the verb says what: "left the deck", "quit smoking", "resigned as treasurer"."""
    return any(one.kind not in (WORD, MARK) or one.low in ("from", "as") for one in after)


@cache
def _verbs() -> dict[str, list[tuple[str, frozenset[str]]]]:
    """What stands before the old thing ("" = nothing) and before the new one, by verb."""
    found: dict[str, list[tuple[str, frozenset[str]]]] = {}
    for old, new, verbs in rows("changes.tsv"):
        for verb in verbs.split():
            found.setdefault(verb, []).append((old.strip("-"), frozenset(new.strip("-").split())))
    return found


def _change(clause: Clause, at: int, before: str, after: frozenset[str]) -> Change | None:
    elements = clause.elements
    if clause.elements[at].passive and not before:
        return _passive(elements, at, after)
    if clause.elements[at].passive:
        thing = (elements[at - 1].names if at else []) or clause.main
        moved = thing and at + 2 < len(elements) and elements[at + 1].low == before
        return _pair(elements, at + 2, after, thing) if moved else None
    if not before and not after:
        return _dropped(elements, at + 1)
    if not before:
        owned = (
            len(elements) > at + 3 and elements[at + 2].low in ("'s", "’s", "’", "'") and bool(elements[at + 1].names)
        )
        return _pair(elements, at + 3, after, elements[at + 1].names) if owned else _pair(elements, at + 1, after, [])
    for cursor in range(at + 1, min(at + _REACH, len(elements))):
        if elements[cursor].low == before:
            return _pair(elements, cursor + 1, after, _moved(elements[at + 1 : cursor]))
        if elements[cursor].kind == VERB:
            break
    return _toward(elements, at, after)


def _dropped(elements: list[Element], at: int) -> Change | None:
    """A tool that is used no longer: "dropped Redis in Orbit", "ditched Redis in favour of Valkey"."""
    if at >= len(elements) or not _tools(elements[at]):
        return None
    lows = [element.low for element in elements[at + 1 : at + 4]]
    new = (
        elements[at + 4] if lows in (["in", "favor", "of"], ["in", "favour", "of"]) and at + 4 < len(elements) else None
    )
    if new is not None:
        return Change(elements[at].names, new.names, []) if _tools(new) else None
    return Change(elements[at].names, [], _inside(elements, at + 1))


def _tools(element: Element) -> bool:
    return element.kind == NAME and all(name.options[:1] in (("Tool",), ("Language",)) for name in element.names)


def _toward(elements: list[Element], at: int, after: frozenset[str]) -> Change | None:
    """A thing that gets a new tool in place of one that is not named: "migrated Atlas to Postgres"."""
    rest = elements[at + 1 : at + 4]
    if (
        len(rest) < 3
        or rest[0].owner
        or rest[1].low not in after
        or rest[2].kind != NAME
        or not (thing := _moved(rest[:1]))
    ):
        return None
    return Change([], rest[2].names, thing) if _tools(rest[2]) else None


def _pair(elements: list[Element], at: int, after: frozenset[str], thing: list[Name]) -> Change | None:
    """The old thing at `at`, the new one, if there is any, behind a preposition."""
    if not after:
        return Change(elements[at].names, [], thing) if at < len(elements) and _named(elements[at]) else None
    end = next((cursor for cursor in range(at + 1, min(at + 3, len(elements))) if elements[cursor].low in after), -1)
    if end < 0 or end + 1 >= len(elements):
        return None
    old, new = elements[at], elements[end + 1]
    return Change(old.names, new.names, thing or _inside(elements, end + 2)) if _named(old) and _named(new) else None


def _passive(elements: list[Element], at: int, after: frozenset[str]) -> Change | None:
    """ "Redis was replaced by Valkey in Orbit"."""
    if at == 0 or at + 2 >= len(elements) or elements[at + 1].low not in after | {"by"}:
        return None
    old, new, inside = elements[at - 1], elements[at + 2], _inside(elements, at + 3)
    return Change(old.names, new.names, inside) if _named(old) and _named(new) and inside else None


def _inside(elements: list[Element], at: int) -> list[Name]:
    """The thing in which one takes the place of the other."""
    rest = elements[at : at + 2]
    return rest[1].names if len(rest) == 2 and rest[0].low in ("in", "at", "for") and _named(rest[1]) else []


def _moved(between: list[Element]) -> list[Name]:
    """The thing that somebody moves; a job or a role is none."""
    things = [element for element in between if element.kind in (NAME, NOUN) and element.low not in cues("works")]
    return things[-1].names if things and (things[-1].kind == NAME or things[-1].definite) else []


def _named(element: Element) -> bool:
    return element.kind in (NAME, NOUN) and bool(element.names)


def _row(subject: list[Name], change: Change, verb: str) -> Row | None:
    """The relation that old and new things have to the subject, by their types."""
    names = [*change.old, *change.new]
    kinds = {name.options[0] for name in names if name.options}
    if not subject:
        return None
    if "Place" in kinds:
        return _fitting(sense("live", "LOCATED_IN"), subject, names) or _fitting(
            sense("relocate", "LOCATED_IN"), subject, names
        )
    if verb in cues("going") and all(fit(name, ("Person",)) for name in subject) and kinds <= {"Organization", "Team"}:
        return sense("join", "MEMBER_OF") if kinds == {"Team"} else sense("join", "WORKS_AT")
    return _fitting(uses_of_things() if change.thing else sense("use", "USES"), subject, names)


def _left_home(reader: Reader, clause: Clause, source: Name, name: Name, factor: float, element: Element) -> bool:
    """Whether it is a person that moved away."""
    return reader.draft(clause, source, sense("move", "PREVIOUSLY_LIVED_IN"), name, "positive", factor, element)


def _possessor(elements: list[Element], at: int) -> list[Name]:
    """The thing a part of which is changed: "Orbit's CI moved from CircleCI to Buildkite"."""
    part = elements[at - 3 : at] if at > 2 else []
    owned = bool(part) and part[1].low in ("'s", "’s") and part[0].kind == NAME and part[2].kind in (WORD, NOUN)
    return part[0].names if owned and part[0].names[0].options[:1] in ((), ("Project",)) else []


def _fitting(row: Row, subject: list[Name], names: list[Name]) -> Row | None:
    fits = all(fit(name, row.subjects) for name in subject) and all(fit(name, row.objects) for name in names)
    return row._replace(state=False) if fits else None
