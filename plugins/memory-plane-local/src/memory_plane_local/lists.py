"""Lists: "A, B and C" becomes one element with three names."""

from __future__ import annotations

from memory_plane_local.elements import NAME, NOUN, VERB, WORD, Element
from memory_plane_local.ellipsis import gap
from memory_plane_local.guards import HYPOTHETICAL
from memory_plane_local.tables import cues

_TECHNICAL = frozenset({"Tool", "Language", "Project", "Concept"})
_SERVED = _TECHNICAL | {"Organization"}


def joined(found: list[Element]) -> list[Element]:
    """Join the members of each list, unless a verb shows that the last one begins a clause of its own."""
    out: list[Element] = []
    at = 0
    closing = max((place for place, element in enumerate(found) if element.low in cues("joiner")), default=-1)
    while at < len(found):
        element, end = found[at], at + 1
        if element.kind in (NAME, NOUN) and (at < closing or _firm(element)):
            end = _list_end(found, at)
            for other in found[at + 1 : end]:
                element.names.extend(other.names)
                if other.low == "or" and not _firm(element):  # "Alice or Bob leads Orbit"
                    element.flags |= HYPOTHETICAL
            element.end = found[end - 1].end
        out.append(element)
        at = end
    return out


def _list_end(found: list[Element], at: int) -> int:
    """The end of the list that begins at `at`; a list without "and" must be of tools."""
    last, end, closed = at, at + 1, False
    served = at > 0 and found[at - 1].kind == VERB
    while end + 1 < len(found) and (step := _joiner(found, end)):
        item = found[end + step]
        if item.kind not in (NAME, NOUN) or not _alike(found[at], item, served) or _own_clause(found, at, end + step):
            break
        closed = closed or step == 2 or found[end].low in cues("joiner")
        last, end = end + step, end + step + 1
    same = all(_firm(element) for element in found[at : last + 1] if element.kind in (NAME, NOUN))
    return last + 1 if closed or same or last == at else at + 1


def _joiner(found: list[Element], at: int) -> int:
    """1 for "and" or a comma, 2 for ", and", 0 for no list."""
    if found[at].low in cues("joiner"):
        return 1
    if found[at].low != ",":
        return 0
    return 2 if found[at + 1].low in cues("joiner") and at + 2 < len(found) else 1


def _alike(first: Element, other: Element, served: bool) -> bool:
    """Whether two things can stand in one list: a person and a tool cannot, a firm whose service is used can."""
    ours, theirs = first.names[0].options, other.names[0].options
    if not ours or not theirs:
        return not ("Person" in ours[:1] or "Person" in theirs[:1]) or first.kind == other.kind == NAME
    kinds = _SERVED if served else _TECHNICAL
    return bool(set(ours) & set(theirs)) or (ours[0] in kinds and theirs[0] in kinds)


def _firm(element: Element) -> bool:
    return element.names[0].options[:1] in (("Tool",), ("Language",))


def _past_place(found: list[Element], at: int) -> int:
    """The last element of an item with what tells where somebody is: "Renate at Stadtwerke Kiel"."""
    if at + 2 >= len(found) or found[at + 1].low not in ("at", "from") or found[at + 2].kind != NAME:
        return at
    return at + 2 if found[at].names[0].options[:1] == ("Person",) else at


def _own_clause(found: list[Element], begin: int, at: int) -> bool:
    """Whether the item at `at` is the subject of a new clause, so that the list ended before it."""
    ahead = _past_place(found, at) + 1
    after = found[ahead] if ahead < len(found) else None
    if begin and found[begin - 1].kind == WORD and gap(found, at, found[begin - 1].low):
        return True
    if after is not None and after.low in cues("flow"):
        return True
    if after is None or after.kind != VERB or (after.bare and after.form in ("ing", "participle")):
        return False
    if any(element.kind == VERB for element in found[max(0, begin - 3) : begin]):
        return True
    if found[at - 1].low in ("or", "nor"):
        return False
    return after.opening == "third" and after.first not in ("are", "'re", "have", "'ve")
