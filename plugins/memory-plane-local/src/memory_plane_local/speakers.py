"""Whose words a sentence has, when they are not the writer's: "Otto: I'll send it", "Ines said: “I will”"."""

from __future__ import annotations

from collections.abc import Sequence

from memory_plane_local.coreference import Discourse
from memory_plane_local.elements import MARK, NAME, PRONOUN, VERB, Element
from memory_plane_local.name import Name
from memory_plane_local.tables import cues
from memory_plane_local.tokens import Token

_SPEAKERS = ((), ("Person",), ("Agent",))
_HEAD = 8
"""Elements at the beginning of a line that the time of what is said may take: "[10:31] Otto:"."""


def labelled(elements: Sequence[Element]) -> Name | None:
    """Return who says a line of a conversation: the person or agent before its first colon."""
    begin, end = _label(elements)
    return elements[begin].names[0] if end else None


def unlabelled(elements: Sequence[Element]) -> Sequence[Element]:
    """Return what a line of a conversation says, behind who says it."""
    return elements[_label(elements)[1] :]


def _label(elements: Sequence[Element]) -> tuple[int, int]:
    """The element that names who says a line, and the one after its colon, 0 where nobody is named."""
    begin = next((at for at, one in enumerate(elements[:_HEAD]) if not _stamps(one)), 0)
    if begin >= len(elements) or elements[begin].kind != NAME:
        return 0, 0
    end = next((at for at, one in enumerate(elements[begin + 1 :], begin + 1) if not _stamps(one)), len(elements))
    named = elements[begin].names[0].options[:1] in _SPEAKERS[1:]
    return (begin, end) if named and end > begin + 1 and elements[end - 1].low == ":" else (0, 0)


def _stamps(element: Element) -> bool:
    """Whether an element can belong to the time that is written beside a speaker."""
    return element.low in cues("stamp") or element.low.isdecimal()


def quoted(discourse: Discourse, elements: Sequence[Element]) -> list[Name] | None:
    """Return who says what a sentence quotes, nobody when that is not known; None where it quotes nothing."""
    for at, element in enumerate(elements):
        if element.kind != VERB or element.low not in cues("saying"):
            continue
        opened = elements[at + 1 :][:3]
        opened = opened[1:] if opened and opened[0].kind == PRONOUN else opened[:2]  # Yara told me: “…”
        if elements[0].low in cues("quotes") or (opened and (opened[0].low == ":" or _quotes(opened))):
            beside = [*elements[max(at - 1, 0) : at], *elements[at + 1 : at + 2]]
            return next((found for one in beside if (found := _sayer(discourse, one)) is not None), [])
    return None


def of_nobody(tokens: Sequence[Token]) -> bool:
    """Return whether "I" stands in a quotation of which nobody is told to have said it: "> I'll send it"."""
    if tokens[0].low == ">":
        return True
    at = next((place for place, token in enumerate(tokens) if token.low in ("i", "we", "my")), 0)
    before = [token.low for token in tokens[:at] if token.shape == "mark"]
    return before.count('"') % 2 > 0 or before.count("“") > before.count("”")


def _quotes(opened: Sequence[Element]) -> bool:
    """Whether a quotation begins: “ alone or after a comma."""
    return opened[0].low in cues("quotes") or (
        opened[0].kind == MARK and len(opened) > 1 and opened[1].low in cues("quotes")
    )


def _sayer(discourse: Discourse, element: Element) -> list[Name] | None:
    if element.kind == PRONOUN:
        return discourse.resolve(element.low)[0]
    return element.names[:1] if element.kind == NAME and element.names[0].options[:1] in _SPEAKERS else None
