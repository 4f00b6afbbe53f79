"""Job titles to claims: "Viktor, the CTO of Nexus Labs", "their CTO, Ingrid", "TechCorp has a CTO called Alice"."""

from __future__ import annotations

from memory_plane_local.clauses import Clause
from memory_plane_local.drafts import Draft, closed, fit, polarity, settle
from memory_plane_local.elements import NAME, NOUN, PRONOUN, ROLE, VERB, WORD, Element
from memory_plane_local.ellipsis import contrast
from memory_plane_local.guards import ENDED, NEGATIVE, PAST_TENSE
from memory_plane_local.name import Name
from memory_plane_local.relations import Reader
from memory_plane_local.tables import cues
from memory_plane_local.verbs import sense

_NAMED = frozenset({"call", "name", "be", "become"})
_PLACES = ("Organization", "Team", "Project")
_STRENGTH = 0.94
_OFFICES = frozenset({"CEO", "CTO", "CFO", "COO", "CMO", "CPO", "CIO", "CISO"})
"""What one is of a company alone, whose name may be written small: "cto of northlight"."""
_COMPANIES = (("Organization",), ("Team",))
_MADE = {"maintainer": ("maintain", "SUPPORTS"), "author": ("author", "BUILDS"), "creator": ("create", "BUILDS")}
"""Titles that one has of a thing, by the verbs that say the same."""
_FOLLOWING = 4
"""Elements that stand at least before the title in which somebody follows somebody else."""
_Held = tuple[Name, Name | None, int]
"""Who holds a title, where, and what flags hold of that."""
_OPENING = 2
"""The last element at which a title opens a sentence: "Once an editor at Wired, …"."""


def read_role(reader: Reader, clause: Clause, at: int) -> None:
    """Find who holds the title at `at`, and where."""
    person, left = _holder_before(reader, clause, at)
    place, after, factor = _place_after(reader, clause, at)
    if succession := _succession(reader, clause, at):
        _succeed(reader, clause, at, *succession, place)
        return
    verb = _verb_between(clause, left, at)
    if place is None:
        place, factor = _place_before(reader, clause, at)
    right = 0
    if not person:
        person, right = _holder_after(clause, after, at)
        verb = verb or _verb_between(clause, after, right) or _having(clause, at)
    if not person:
        return
    if (under := _whose(reader, clause.elements[at], place)) is not None:
        _manages(reader, clause, at, person, under, verb)
        if place is None or place is under:
            return
    if clause.waiting:
        clause.main = person
    tokens, end = clause.sentence.tokens, clause.elements[at].end
    if place is None and end < len(tokens) and tokens[end].low == "there":
        place, factor = reader.discourse.last("Organization"), 0.9
    if place is None and (verb is None or clause.elements[at].determined) and person:
        recent = _unless_left(reader, reader.discourse.last("Organization"))
        place, factor = (recent, 0.8) if clause.elements[at].determined else (None, 0.0)
    flags = reader.flags(clause, verb) if verb else clause.flags
    ceased = bool(verb and verb.form == "third" and flags & ENDED) or _left_as(clause, left, at, "demoting")
    flags |= ENDED if _bygone(clause, left, at) else 0
    # Who became something, or was promoted to it, is it since.
    begins = verb is not None and (verb.low == "become" or _appointed(clause, at) > 0)
    flags &= ~PAST_TENSE if begins else flags
    flags &= ~NEGATIVE if any(one.low == "but" for one in clause.elements[left:at]) else flags
    for holder, where, bits in _sides(reader, clause, after, right, [(one, place, flags) for one in person]):
        state(reader, clause, clause.elements[at], holder, where, bits, factor, begins=begins, ceased=ceased)


def _sides(reader: Reader, clause: Clause, after: int, right: int, held: list[_Held]) -> list[_Held]:
    """Return both sides of "not the CTO of Acme but of Globex" and of "the CTO of Acme is not Alice but Bob"."""
    elements, (_, place, flags) = clause.elements, held[0]
    begin, turned = contrast(clause, after, flags)
    if place is not None and begin and elements[begin].low in cues("title_at"):
        found = [name for name in reader.objects(clause, begin + 1)[0][:1] if fit(name, _PLACES)]
        return [*((holder, name, turned) for holder, _, _ in held for name in found), *held]
    begin, turned = contrast(clause, right + 1, flags) if right else (0, flags)
    others = elements[begin].names if begin and elements[begin].kind == NAME else []
    return [*((name, place, turned) for name in others), *held]


def _holder_before(reader: Reader, clause: Clause, at: int) -> tuple[list[Name], int]:
    """The person before a title, over "is", "who is", a comma, a bracket, "as", or another title and "and" or "but"."""
    elements = clause.elements
    cursor = at - 1
    while cursor >= 0 and (
        elements[cursor].low in ("and", "&", "but", "nor", "'s", "’", "'") or elements[cursor].kind == ROLE
    ):
        cursor -= 1
        cursor -= cursor > 0 and elements[cursor].low == "," and elements[cursor + 1].low == "but"
    again = 1 < cursor < at - 1 and elements[cursor].kind == NAME and elements[cursor - 2].kind == ROLE
    if again and elements[cursor - 1].low in cues("title_at"):  # "the CTO of Acme and its founder"
        return _holder_before(reader, clause, cursor - 2)
    cursor -= cursor > 0 and elements[cursor].low in cues("former")
    if (
        cursor < at - 1
        and cursor >= 0
        and elements[cursor].kind == NAME
        and elements[cursor + 1].low in ("'s", "’", "'")
    ):
        cursor -= 1
    if cursor < 0:
        return [], at
    element = elements[cursor]
    if begin := _appointed(clause, at):  # "Nadia was named CTO", "Acme promoted Nadia to CTO"
        verb = begin if elements[begin].kind == VERB else begin - 1
        if elements[begin + 1].kind == NAME:
            return elements[begin + 1].names, begin
        return (_subject(reader, clause, verb), verb) if elements[verb].kind == VERB else ([], at)
    if element.low == "as" and cursor:
        before = elements[cursor - 1]
        hired = before.kind == NAME and before.names[0].options[:1] == ("Person",)
        return before.names if hired else clause.last, cursor
    if element.kind == VERB and element.low in ("be", "become", "do") and cursor:
        return _subject(reader, clause, cursor), cursor
    if (
        element.low in cues("opener")
        and cursor
        and elements[cursor - 1].kind == NAME
        and _personal(elements[cursor - 1])
    ):
        return elements[cursor - 1].names, cursor
    return [], at


def _having(clause: Clause, at: int) -> Element | None:
    """The verb by which a place has the title at `at`: "Acme does not have a CTO called Alice"."""
    before = clause.elements[at - 1] if at else None
    return before if before is not None and before.kind == VERB and before.low == "have" else None


def _succession(reader: Reader, clause: Clause, at: int) -> tuple[int, list[Name], list[Name]] | None:
    """The verb by which somebody follows somebody else in the title at `at`, and the two: "Ann replaced Bob as CTO"."""
    elements = clause.elements
    if at < _FOLLOWING or elements[at - 1].low != "as" or elements[at - 2].kind != NAME:
        return None
    link = elements[at - 3].low if elements[at - 3].kind == WORD else ""
    verb, named = at - 3 - bool(link), elements[at - 2].names
    if link == "with" and elements[verb].kind == NAME and elements[verb - 1].low == "replace":
        return verb - 1, named, elements[verb].names
    if elements[verb].low not in ("replace", "succeed") or link != ("by" if elements[verb].passive else ""):
        return None
    other = _subject(reader, clause, verb)
    return (verb, named, other) if link else (verb, other, named)


def _succeed(
    reader: Reader, clause: Clause, at: int, verb: int, heirs: list[Name], former: list[Name], place: Name | None
) -> None:
    """State that some hold the title at `at` since others do so no longer."""
    role, flags = clause.elements[at], reader.flags(clause, clause.elements[verb]) & ~PAST_TENSE
    for heir in heirs:
        state(reader, clause, role, heir, place, flags, 1.0, begins=True)
    if polarity(flags, state=False) == "positive":
        for holder in former:
            state(reader, clause, role, holder, place, ENDED, 1.0, begins=False, ceased=True)


def _appointed(clause: Clause, at: int) -> int:
    """Where it is said that somebody was given the title at `at`, 0 for nowhere."""
    elements, begin = clause.elements, at - 1 - (clause.elements[at - 1].low in ("to", "as"))
    begin -= begin > 0 and elements[begin].kind == NAME
    tokens = clause.sentence.tokens[elements[begin].begin : elements[begin].end] if begin > 0 else []
    return begin if any(token.low in cues("appointing") for token in tokens) else 0


def _subject(reader: Reader, clause: Clause, at: int) -> list[Name]:
    return [name for name in reader.subject(clause, at)[0] if fit(name, ("Person", "Agent"))]


def _bygone(clause: Clause, left: int, at: int) -> bool:
    """Whether a title is held no longer: "former CTO", "stepped down as lead", "Once an editor at X, Ana …"."""
    elements, tokens = clause.elements, clause.sentence.tokens
    before = elements[left:at] if left < at else elements[max(at - 1, 0) : at]
    opened = tokens[0].low in ("once", "formerly") and at <= _OPENING
    if opened or any(one.low in cues("former") for one in before):
        return True
    return _left_as(clause, left, at, "leaving")


def _left_as(clause: Clause, left: int, at: int, use: str) -> bool:
    """Whether somebody gave a title up by one of the verbs that are cues for `use`: "stepped down as lead"."""
    before = clause.elements[max(left - 3, 0) : left] if left < at and clause.elements[left].low == "as" else []
    return any(one.kind == VERB and one.low in cues(use) for one in before)


def _personal(element: Element) -> bool:
    return all(fit(name, ("Person", "Agent")) for name in element.names)


def _place_after(reader: Reader, clause: Clause, at: int) -> tuple[Name | None, int, float]:
    """The organisation after "of", "at" or, in brackets, a comma."""
    elements = clause.elements
    cursor = at + 1
    while cursor < len(elements) and (elements[cursor].low in ("and", "&") or elements[cursor].kind == ROLE):
        cursor += 1
    if cursor >= len(elements):
        return None, at + 1, 0.0
    bracketed = at > 0 and elements[at - 1].low == "("
    if elements[cursor].low not in cues("title_at") and not (bracketed and elements[cursor].low == ","):
        return None, cursor, 0.0
    cursor += 1
    cursor += cursor < len(elements) and elements[cursor].low == ","
    kinds = (NAME, NOUN, PRONOUN, *((WORD,) if elements[at].low in _OFFICES else ()))
    if cursor < len(elements) and elements[cursor].kind in kinds:
        names, after, factor = reader.objects(clause, cursor)
        for name in names[:1]:
            if fit(name, _PLACES):
                return name, after, factor
    return None, cursor, 0.0


def _place_before(reader: Reader, clause: Clause, at: int) -> tuple[Name | None, float]:
    """The organisation before a title: "TechCorp's CTO", "their CTO", "TechCorp has a CTO", "whose CTO"."""
    elements = clause.elements
    owner = elements[at].owner
    if owner:
        names, factor = reader.discourse.resolve("they" if owner in ("they", "it", "us") else owner)
        names = [name for name in names if fit(name, ("Organization", "Team")) and _unless_left(reader, name)]
        return (names[0], factor) if names else (None, 0.0)
    before = elements[at - 1] if at else None
    if before is None or at < 2:
        return None, 0.0
    begin = _appointed(clause, at)
    if begin and elements[begin - 1].kind == NAME and elements[begin + 1].kind == NAME:
        return elements[begin - 1].names[-1], 0.95
    if before.low in ("'s", "’", "'") and elements[at - 2].kind == NAME:
        return elements[at - 2].names[-1], 1.0
    if before.kind == VERB and before.low == "have" and elements[at - 2].kind == NAME:
        return elements[at - 2].names[-1], 1.0
    if before.low == "whose":
        names = clause.nearest(at - 1)
        return (names[-1], 1.0) if names else (None, 0.0)
    if before.low == "as" and elements[at - 2].kind == NAME and fit(elements[at - 2].names[-1], _PLACES):
        return elements[at - 2].names[-1], 0.95
    return None, 0.0


def _whose(reader: Reader, role: Element, place: Name | None) -> Name | None:
    """The person whose manager or lawyer somebody is; None where a title is that of a company."""
    if role.low == "MANAGER" and role.owner in ("me", "he", "she"):
        return next(iter(reader.discourse.resolve(role.owner)[0]), None)
    personal = role.title.lower() in cues("personal_title") and place is not None and not place.options
    if place is not None and place.soft and role.low != "MANAGER":
        return None
    return place if personal or (place is not None and place.options[:1] in (("Person",), ("Agent",))) else None


def _manages(reader: Reader, clause: Clause, at: int, holders: list[Name], under: Name, verb: Element | None) -> None:
    """State who manages whom; of other titles that people have of people no relation tells."""
    if clause.elements[at].low != "MANAGER":
        return
    polar = polarity(reader.flags(clause, verb) if verb else clause.flags, state=True)
    tokens = clause.sentence.tokens
    settle(under, "Agent" if under.options[:1] == ("Agent",) else "Person")
    for holder in holders:
        settle(holder, "Person")
        reader.drafts.add(Draft(holder, "MANAGES", under, polar, tokens[0].start, tokens[-1].end, _STRENGTH))


def _unless_left(reader: Reader, place: Name | None) -> Name | None:
    """A place, unless the same text says that somebody left it."""
    left = (draft.object for draft in reader.drafts.found.values() if draft.relation == "PREVIOUSLY_WORKED_AT")
    return None if any(name is place for name in left) else place


def _holder_after(clause: Clause, cursor: int, at: int) -> tuple[list[Name], int]:
    """The person after a title: "CTO Viktor", "the CTO of X is Viktor", "the head of design at X today, Søren"."""
    elements = clause.elements
    begin = cursor
    while cursor < len(elements) and cursor <= begin + 2:
        element = elements[cursor]
        if element.kind == NAME and _personal(element) and (cursor > begin or cursor == at + 1):
            owns = cursor + 1 < len(elements) and elements[cursor + 1].low in ("'s", "’", "'")
            return ([], at) if owns and not element.names[0].options else (element.names, cursor)
        if element.low not in cues("opener") and not (element.kind == VERB and element.low in _NAMED):
            break
        cursor += 1
    return [], at


def _verb_between(clause: Clause, begin: int, end: int) -> Element | None:
    chunk = clause.elements[min(begin, end) : max(begin, end)]
    return next((element for element in chunk if element.kind == VERB and element.low in ("be", "become")), None)


def state(
    reader: Reader,
    clause: Clause,
    role: Element,
    holder: Name,
    place: Name | None,
    flags: int,
    factor: float,
    *,
    begins: bool,
    ceased: bool = False,
) -> None:
    """State that somebody holds a title, at a place where one is known; `begins`: since the verb says so.

    Where the title has `ceased` ("is no longer the CTO"), it alone is over, and not the work at its place.
    """
    polar = polarity(flags, state=True)
    ceased = ceased and polar == "past"
    times = reader.times(clause, role, polar, state=not begins, leaving=False)
    tokens = clause.sentence.tokens
    start, end = tokens[0].start, tokens[-1].end
    settle(holder, "Person" if "Agent" not in holder.options[:1] else "Agent")
    made = (
        _MADE.get(role.title.lower().split()[-1]) if place is not None and place.options[:1] not in _COMPANIES else None
    )
    if made is not None and place is not None:
        reader.draft(clause, holder, sense(*made), place, polar, factor)
    elif place is not None and not (ceased and role.form == "staff"):
        settle(place, (fit(place, _PLACES) or ("Organization", 1.0))[0])
        relation = f"{role.low}_OF" if role.form == "lead" else "WORKS_AT"
        relation = relation if ceased else closed(relation, polar)
        strength = round(_STRENGTH * factor * clause.doubt, 3)
        reader.drafts.add(Draft(holder, relation, place, polar, start, end, strength, times))
    after = clause.elements[at + 1].low if (at := clause.elements.index(role)) + 1 < len(clause.elements) else ""
    if (role.form == "staff" or place is None) and after != ":":
        first, last = tokens[role.begin], tokens[role.end - 1]
        title = reader.once(Name(role.title, first.start, last.end, ("Role",), 0.85, weak=True))
        reader.drafts.add(Draft(holder, "HAS_ROLE", title, polar, start, end, 0.88, times))
