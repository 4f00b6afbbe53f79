"""Who a verb speaks of: what stands before it, what it goes on with, or the writer."""

from __future__ import annotations

from itertools import pairwise

from memory_plane_local.clauses import Clause
from memory_plane_local.coreference import Discourse
from memory_plane_local.elements import NAME, NOUN, PRONOUN, ROLE, VERB, WORD, Element
from memory_plane_local.guards import PAST_TENSE
from memory_plane_local.name import Name
from memory_plane_local.relatives import resumes
from memory_plane_local.tables import cues, words

Found = tuple[list[Name], float]
"""Names, and the factor of having found the right ones."""


def subject(discourse: Discourse, clause: Clause, at: int) -> Found:
    """Return the names that the verb at `at` speaks of."""
    element = clause.elements[at]
    if at == 0:
        return _implied(discourse, clause, element)
    before = clause.elements[at - 1]
    if before.low in cues("branch") and not element.passive and (owner := _branch(clause.elements, at - 1)):
        return owner, 0.93
    if resumes(clause, at):
        return clause.resumed, 0.95
    if before.kind in (NAME, NOUN):
        names, factor = _beside(clause, at, element)
        return [*names, *_together(discourse, clause.elements, at - 1)], factor
    if before.low == "both" and (pair := _both(clause.elements, at - 1)):
        return pair, 0.93
    if before.kind == PRONOUN:
        names, factor = discourse.resolve(before.low)
        return [*_together(discourse, clause.elements, at - 1), *names], factor
    if at > 2 and before.low[0].isdigit() and clause.elements[at - 2].low == "to":  # "the upgrade to 1.31 broke"
        return clause.elements[at - 3].names, 0.95
    if first := governing(clause, at):
        return subject(discourse, clause, clause.elements.index(first))
    if before.low == "'s" and at > 1 and clause.elements[at - 2].low == "let" and element.low in cues("taking"):
        return discourse.resolve("us")
    if before.low in cues("relative"):
        return _described(discourse, clause, at - 1), 1.0
    if before.low in cues("link"):
        return (clause.last, 1.0) if clause.last or at > 2 else _implied(discourse, clause, element)
    if before.low in cues("resume") and not (element.bare and element.form == "base" and element.low.isascii()):
        named = _apposed(clause.elements, at)
        return (named, 0.97) if named else _resumed(discourse, clause, element)
    if before.low == ":" and at == 2 and clause.elements[0].kind == NAME:
        return clause.elements[0].names, 0.95
    if _begins_afresh(clause, at, before):
        return _implied(discourse, clause, element)
    return [], 0.0


def _described(discourse: Discourse, clause: Clause, at: int) -> list[Name]:
    """What the relative pronoun at `at` stands for: Orbit in "Orbit is a service that", and "Orbit, a service that"."""
    elements, head = clause.elements, clause.elements[at - 1]
    if at < 3 or head.kind not in (NOUN, PRONOUN, ROLE) or elements[at - 3].kind not in (NAME, PRONOUN):
        return clause.nearest(at)
    link, first = elements[at - 2], elements[at - 3]
    named = first.names if first.kind == NAME else discourse.resolve(first.low)[0]
    if link.low == "," and head.determined and not head.definite:
        placed = at > 3 and elements[at - 4].low in ("to", *cues("preposition"))  # "at Acme, a service that"
        return clause.nearest(at) if placed else named
    if link.kind != VERB or link.low != "be":
        return clause.nearest(at)
    return [] if link.flags & ~PAST_TENSE else named


def governing(clause: Clause, at: int) -> Element | None:
    """Return the verb by which the one at `at` is decided on: "agreed to use"."""
    if at < 2 or clause.elements[at - 1].low != "to" or clause.elements[at].low not in cues("taking"):
        return None
    first = clause.elements[at - 2]
    return first if first.kind == VERB and first.low in cues("resolving") else None


def opens(clause: Clause, at: int = 0) -> bool:
    """Return whether a sentence begins with the participle at `at` and has its subject later."""
    first = clause.elements[at]
    begins = (first.form == "ing" and first.bare) or first.first == "having"
    if not begins or (at and (at > 1 or clause.elements[0].low not in cues("fronting"))):
        return False
    for place, element in enumerate(clause.elements[at + 2 :], at + 2):
        told = element.form == "past" and clause.elements[place - 2].low == ","
        finite = element.kind == VERB and (not element.bare or element.form == "third" or told)
        if finite and clause.elements[place - 1].kind in (NAME, NOUN):
            return True
    return False


def rates(clause: Clause) -> bool:
    """Return whether a sentence says how it is to do something: "Going with Kafka for Atlas was a mistake"."""
    first = clause.elements[0]
    if first.form != "ing" or not first.bare:
        return False
    for element in clause.elements[1:]:
        if element.low == ",":
            return False
        if element.kind == VERB and element.low == "be":
            return not element.passive
    return False


def _implied(discourse: Discourse, clause: Clause, element: Element) -> Found:
    """A note without a subject is about its writer: "Started learning Rust"; so is "please always use pnpm"."""
    if element.low == "use" and element.form == "base":
        urged = any(token.low in cues("urge") for token in clause.sentence.tokens[: element.begin])
        return (discourse.resolve("me")[0], 0.95) if urged else ([], 0.0)
    if element.opening == "ing" and element.low == "meet":  # "Meeting with Acme on Thursday" is still to come
        return [], 0.0
    if element.opening not in ("past", "ing", "participle") or element.passive or clause.sentence.question:
        return [], 0.0
    return discourse.resolve("me")[0], 0.95


def _beside(clause: Clause, at: int, element: Element) -> Found:
    """A name right before the verb; a participle after a product is said of the product."""
    if element.bare and element.form == "ing" and clause.product:
        return clause.product, 0.97
    if element.form == "ing" and clause.elements[at - 1].kind == NOUN and clause.last:
        return clause.last, 0.95
    return clause.last if _predicate(clause, at) else _head(clause, at), 1.0


def _predicate(clause: Clause, at: int) -> bool:
    """Whether a participle tells more of what something is: "Lumen is a CLI written in Rust"."""
    element, noun = clause.elements[at], clause.elements[at - 1]
    told = element.bare and element.form in ("past", "participle") and noun.kind == NOUN and not noun.definite
    return told and at > 2 and clause.elements[at - 2].low == "be" and bool(clause.last)


def _head(clause: Clause, at: int) -> list[Name]:
    """The head of "Owen from Graylight" and "nobody on the data team" is what stands before the preposition."""
    elements = clause.elements
    names = elements[at - 1].names
    if at < 3 or elements[at - 2].low not in cues("preposition"):
        return names
    head = elements[at - 3]
    if (
        head.kind == NOUN
        and head.low in cues("crowd")
        and head.end - head.begin == 1
        and elements[at - 2].low != "with"
    ):
        return names
    if head.kind in (NAME, NOUN):
        return head.names
    return [] if head.low in words("function.txt") else names


def _resumed(discourse: Discourse, clause: Clause, element: Element) -> Found:
    """After a comma the main subject goes on, or the product: "…, using Rust"."""
    if element.bare and element.form in ("ing", "participle") and clause.product:
        return clause.product, 0.95
    if clause.main:
        return clause.main, 0.97
    return _implied(discourse, clause, element)


def _together(discourse: Discourse, elements: list[Element], at: int) -> list[Name]:
    """Who stands in one list with the name at `at`: "Tom, Lars and I founded", "Ann and her husband Jules run"."""
    kin = elements[at - 1] if at > 2 else None
    if kin is not None and kin.owner and elements[at - 2].low in cues("joiner") and elements[at - 3].kind == NAME:
        return elements[at - 3].names
    if at < 2 or elements[at - 1].low not in cues("joiner") or any(one.kind == VERB for one in elements[:at]):
        return []
    if elements[at].kind == NAME:
        return discourse.resolve(elements[0].low)[0] if at == 2 and elements[0].kind == PRONOUN else []
    found: list[Name] = []
    for one in elements[at - 2 :: -2]:
        if one.kind != NAME or any(name.options[:1] != ("Person",) for name in one.names):
            break
        found = [*one.names, *found]
    return found


def _both(elements: list[Element], at: int) -> list[Name]:
    """The two people of whom the clauses before "both" speak: "Ana leads design, Bo leads sales, and both report"."""
    pairs = pairwise(elements[:at])
    said = [one.names[0] for one, verb in pairs if one.kind == NAME and verb.kind == VERB and len(one.names) == 1]
    people = [name for name in dict.fromkeys(said) if name.options[:1] == ("Person",)]
    return people if len(people) == len(set(map(id, said))) == 2 else []


def _branch(elements: list[Element], at: int) -> list[Name]:
    """The company whose office stands at `at`: "Stripe's Dublin office"."""
    at -= 1 if elements[at - 1].kind == NAME else 0
    return elements[at - 2].names if at > 1 and elements[at - 1].low == "'s" and elements[at - 2].kind == NAME else []


def _apposed(elements: list[Element], at: int) -> list[Name]:
    """The name between commas that says who a phrase before a verb is: "their editor, Maud, lives"."""
    if at < 4 or elements[at - 2].kind != NAME or not elements[at - 1].low == elements[at - 3].low == ",":
        return []
    noun = elements[at - 4]
    told = noun.kind in (ROLE, NOUN) or noun.owner or (at > 4 and elements[at - 5].low == "'s")
    return elements[at - 2].names if told and noun.kind != NAME else []


def _begins_afresh(clause: Clause, at: int, before: Element) -> bool:
    """Whether a note begins at the verb: after a label, a first word that says nothing, or "day 3 of"."""
    if before.low in cues("label"):
        return True
    if before.low == "of" and clause.elements[at].form == "ing":
        return not clause.main
    return at == 1 and before.kind == WORD and before.low in words("function.txt")
