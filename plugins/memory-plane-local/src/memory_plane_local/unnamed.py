"""Things that ordinary words stand for after a verb: a field, software in small letters, what holds something up."""

from __future__ import annotations

from itertools import takewhile

from memory_plane_local.clauses import Clause
from memory_plane_local.coreference import Discourse
from memory_plane_local.elements import MARK, NAME, NOUN, WORD, Element
from memory_plane_local.lexicon import is_common
from memory_plane_local.name import THING, Name
from memory_plane_local.objects import Found, Once
from memory_plane_local.tables import cues, words

_SEVERAL = 2
"""Words in which at least it is told what holds something up."""


def field(once: Once, clause: Clause, at: int) -> Found:
    """Return the field at `at` of a company that somebody leads: "Sam handles sales"."""
    rest = clause.elements[at : at + 2]
    ends = len(rest) == 1 or (len(rest) > 1 and (rest[1].kind == MARK or rest[1].low in cues("link")))
    element = rest[0] if ends else None
    if element is None or element.determined or not _is_one_word(element) or not _is_field(element.low):
        return [], at, 0.0
    token = clause.sentence.tokens[element.begin]
    name = once(Name(token.text, token.start, token.end, ("Team",), 0.7, weak=True))
    name.options = ("Team",) if element.kind == NOUN else name.options
    return [name], at + 1, 0.93


def package(discourse: Discourse, once: Once, clause: Clause, at: int) -> Found:
    """Return the software at `at` that somebody maintains, which has a name that is no word: "libfoo"."""
    element = clause.elements[at] if at < len(clause.elements) else None
    if element is None or element.determined or element.kind not in (NOUN, WORD) or not _is_one_word(element):
        return [], at, 0.0
    token = clause.sentence.tokens[element.begin]
    if is_common(token.low) or token.low.endswith(tuple(cues("abstract"))) or not token.text[0].isalpha():
        return [], at, 0.0
    name = once(Name(token.text, token.start, token.end, ("Project",), 0.75, span=(element.begin, element.end)))
    name.options, name.weak = ("Project",), False
    discourse.note([name])
    return [name], at + 1, 0.95


def hindrance(once: Once, clause: Clause, at: int) -> Found:
    """Return what holds something up in several ordinary words to the end of a clause: "missing TLS cert"."""
    said = list(takewhile(_says, clause.elements[at:]))
    after = at + len(said)
    ends = after == len(clause.elements) or clause.elements[after].kind == MARK
    if not said or not ends or said[-1].end - said[0].begin < _SEVERAL:
        return [], at, 0.0
    first, last = clause.sentence.tokens[said[0].begin], clause.sentence.tokens[said[-1].end - 1]
    text, span = clause.sentence.text[first.start : last.end], (said[0].begin, said[-1].end)
    return [once(Name(text, first.start, last.end, (THING,), 0.65, weak=True, span=span))], after, 0.95


def _is_one_word(element: Element) -> bool:
    return element.end - element.begin == 1


def _is_field(low: str) -> bool:
    return low in cues("department") or low in words("fields.txt")


def _says(element: Element) -> bool:
    """Whether a word or an abbreviation says something, and nothing of time."""
    low = element.low
    if element.kind == NAME:
        return low.isupper() and not element.names[0].options
    listed = low in words("function.txt") or low in words("calendar.txt")
    told = low.isalpha() and not listed and low.removesuffix("s") not in cues("no_user")
    return element.kind in (WORD, NOUN) and told
