"""Tools chosen for something: "picked X over Y for Z", "let's go with X for Z", "we use X for this and Y for that"."""

from __future__ import annotations

from typing import NamedTuple

from memory_plane_local.clauses import Clause, Match, matches
from memory_plane_local.drafts import polarity
from memory_plane_local.elements import MARK, NAME, NOUN, WORD, Element
from memory_plane_local.guards import FUTURE
from memory_plane_local.name import Name
from memory_plane_local.relations import Reader
from memory_plane_local.subjects import opens, rates
from memory_plane_local.tables import cues
from memory_plane_local.verbs import Row, sense

_CHOSEN = frozenset({"USES", "PREFERS"})
_NO_USERS = frozenset({"Person", "Agent", "Place", "Event", "Language", "Commitment"})
_URGED = 0.9
_MOST = 6
"""Tools that one sentence may tell the purposes of."""


class _Choice(NamedTuple):
    """What is chosen, and for which things; none where it is for a purpose alone ("for CI")."""

    tools: list[Name]
    things: list[Name]
    factor: float


def read_choice(reader: Reader, clause: Clause, at: int) -> bool:
    """Draft what is chosen by the verb at `at` for things that are named, or for several purposes; else False."""
    element = clause.elements[at]
    if (
        element.passive
        or (at == 0 and (opens(clause) or rates(clause)))
        or not (element.low in cues("choosing") or element.low in cues("using"))
    ):
        return False
    subject, sure = reader.subject(clause, at)
    kept = element.low == "keep"
    if kept and element.bare and element.form == "base" and not subject:  # "keep SQLite for the desktop app"
        subject, sure = reader.discourse.resolve("me")[0], _URGED
    decided = element.low in cues("choosing") or subject[:1] == [reader.discourse.writer]
    match = next(filter(_chosen, matches(clause, at)), None)
    begin = at + 1 if kept else match.end if match else 0
    if not subject or not decided or not begin:
        return False
    choices = _choices(reader, clause, begin)
    if kept and not all(name.options[:1] in (("Tool",), ("Language",)) for one in choices for name in one.tools):
        return False
    if leading := _leading(reader, clause, at):
        choices = [choice._replace(things=choice.things or leading) for choice in choices]
    if len(choices) < 2 and not any(choice.things for choice in choices):
        return False
    flags = reader.flags(clause, element)
    if _headed(clause) and element.low in cues("choosing"):
        flags &= ~FUTURE  # "Decision: we'll go with Stripe"
    polar = polarity(flags, state=False)
    for choice in choices:
        for source in choice.things or subject:
            for tool in choice.tools:
                reader.draft(clause, source, uses_of_things(), tool, polar, choice.factor * sure, element)
    clause.last = clause.main = subject
    return True


def _headed(clause: Clause) -> bool:
    """Whether a sentence is headed as a decision."""
    lows = [token.low for token in clause.sentence.tokens[:2]]
    return len(lows) == 2 and lows[0] in cues("decision") and lows[1] in (":", "-", "–", "—")


def uses_of_things() -> Row:
    """Return the row of what is used for any thing, which is told by a decision, and no state."""
    row = sense("use", "USES")
    return row._replace(state=False, subjects=(*row.subjects, "Concept", "Document", "Thing"))


def _chosen(match: Match) -> bool:
    return match.phrase.row.relation in _CHOSEN and not match.turned and match.phrase.rest[:1] != ("~",)


def _choices(reader: Reader, clause: Clause, at: int) -> list[_Choice]:
    """The tools from `at` on, each with what it is for."""
    elements, found = clause.elements, list[_Choice]()
    while len(found) < _MOST:
        tools, after, factor = reader.objects(clause, at, any_phrase=False)
        if not tools:
            break
        things, end = _purpose(reader, clause, _past_others(elements, after))
        found.append(_Choice(tools, things, factor))
        at = _next(elements, end)
        if end == after or at < 0:
            break
    return found


def _past_others(elements: list[Element], at: int) -> int:
    """The element after "over Y" and "instead of Y"."""
    if at >= len(elements) or elements[at].low not in cues("rather"):
        return at
    while at < len(elements) and elements[at].low in cues("rather"):
        at += 1
    return at + 1


def _purpose(reader: Reader, clause: Clause, at: int) -> tuple[list[Name], int]:
    """The things after "for", and the element after them; a purpose in ordinary words is no thing."""
    elements = clause.elements
    if at + 1 >= len(elements) or elements[at].low != "for":
        return [], at
    target = elements[at + 1]
    if target.kind not in (NAME, NOUN, WORD):
        return [], at
    within = _within(elements, at + 2)  # "for payments in Orbit"
    if within and not (target.kind == NOUN and target.definite):
        return within, at + 4
    names, after, _ = reader.objects(clause, at + 1)
    if not names and target.kind == NAME:  # "Quill's config parsing" is a matter of Quill's
        names, after = target.names, at + 2
    if target.kind == WORD or not names or not all(_can_use(target, name) for name in names):
        return [], at + 2
    return [*names, *within], after + 2 * bool(within)


def _within(elements: list[Element], at: int) -> list[Name]:
    """The named thing of which a purpose is a part."""
    inside = elements[at : at + 2]
    told = len(inside) == 2 and inside[0].low in ("in", "on", "of", "inside") and inside[1].kind == NAME
    return [name for name in inside[1].names if _can_use(inside[1], name)] if told else []


def _can_use(element: Element, name: Name) -> bool:
    """Whether a thing uses what is chosen for it: named, or spoken of as known ("the parser", in notes "frontend")."""
    last = name.text.split()[-1].lower()
    if (name.options[:1] and name.options[0] in _NO_USERS) or last in cues("no_user"):
        return False
    part = name.options == ("Project",) and not element.determined and last not in cues("calls_before")
    return element.kind == NAME or element.definite or part


def _leading(reader: Reader, clause: Clause, at: int) -> list[Name]:
    """The thing that a sentence begins with: "for Atlas we picked Postgres"."""
    return _purpose(reader, clause, 0)[0] if 2 < at < 6 else []


def _next(elements: list[Element], at: int) -> int:
    """The next tool that is said to be for something: "… and Terraform for infra"; -1 for none."""
    while at < len(elements) and (elements[at].low in cues("joiner") or elements[at].low == ","):
        at += 1
    ahead = elements[at : at + 2]
    told = len(ahead) == 2 and ahead[0].kind == NAME and ahead[1].low == "for"
    return at if told and elements[at - 1].kind in (MARK, WORD) else -1
