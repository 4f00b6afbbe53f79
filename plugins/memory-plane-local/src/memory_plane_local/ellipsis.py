"""What a sentence leaves out once its verb is read: "the frontend in Svelte", "founded with Bo", "but at Globex"."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from memory_plane_local.clauses import Clause, Match, matches
from memory_plane_local.drafts import Draft, fit, polarity
from memory_plane_local.elements import MARK, NAME, NOUN, VERB, WORD, Element
from memory_plane_local.guards import ENDED, NEGATIVE
from memory_plane_local.name import Name
from memory_plane_local.tables import cues
from memory_plane_local.verbs import Row, starting

if TYPE_CHECKING:
    from memory_plane_local.relations import Reader

_GAPPED, _JOINT = 0.95, frozenset({"FOUNDER_OF", "BUILDS"})
_PERSON = ("Person",)
_GOING_ON = frozenset({",", ";", "but", "not"})


def read_ellipsis(reader: Reader, clause: Clause, verb: Element, match: Match, subject: list[Name], at: int) -> None:
    """Read what goes on at `at` with the verb of a phrase that was understood."""
    elements = clause.elements
    joint = match.phrase.row.relation in _JOINT and not match.turned
    if not joint and (at >= len(elements) or elements[at].low not in _GOING_ON | cues("joiner")):
        return
    alike = [one for one in matches(clause, clause.element_at(verb.begin)) if one[1:3] == match[1:3]]
    told = _Told(reader, clause, verb, match.turned, [one.phrase.row for one in alike], reader.flags(clause, verb))
    if joint:
        found, after, _ = reader.objects(clause, match.end)
        if partners := _partners(clause, clause.element_at(verb.begin), after):
            told.of(partners, found)
    before = elements[match.end - 1]
    word = before.low if before.kind == WORD else ""
    while step := _link(elements, at):
        at += step
        if word and elements[at].low == word:
            found, at, _ = reader.objects(clause, at + 1, any_phrase=False)
            told.of(subject, found)
        elif begin := gap(elements, at, word):
            clause.taken.add(at)
            found, after, _ = reader.objects(clause, begin)
            told.of(elements[at].names, found)
            at = after
        else:
            break
    begin, told.flags = contrast(clause, at, told.flags)
    if begin and word and elements[begin].kind == WORD:
        if elements[begin].low != word:  # "does not work at Acme but for Globex"
            likewise = (phrase for phrase in starting(verb.low, elements[begin].low) if phrase.turned == match.turned)
            told.rows = [phrase.row for phrase in likewise if phrase.rest == (elements[begin].low,)]
        begin += 1
    elif word or match.phrase.rest[:1] == ("~",):
        return
    if begin and begin < len(elements) and elements[begin].kind in (NAME, NOUN):
        found, after, _ = reader.objects(clause, begin, any_phrase=False)
        if after == len(elements) or elements[after].kind != VERB or elements[after].bare:
            told.of(subject, found)


def read_likewise(reader: Reader, clause: Clause, at: int) -> bool:
    """Read "but Bob does" and "so does Bob" after what was said of another one; False where the verb is no such."""
    elements, verb = clause.elements, clause.elements[at]
    if verb.low not in ("do", "be") or verb.passive or at < 2:
        return False
    before = clause.sentence.tokens[verb.begin - 1].low
    turned = before in ("so", "as", "nor", "neither") and len(elements) > at + 1
    end = at + 1 + turned
    if end < len(elements) and elements[end].kind != MARK:
        return False
    subject = elements[at + 1].names if turned else reader.subject(clause, at)[0]
    said = [one for one in reader.drafts.found.values() if one.start == clause.span()[0]]
    if not said or not subject or said[-1].relation.startswith("PREVIOUSLY"):
        return False
    polar = polarity(reader.flags(clause, verb), state=True)
    for one in [one for one in said if (one.subject, one.relation) == (said[-1].subject, said[-1].relation)]:
        for name in subject:
            if fit(name, one.subject.options):
                sure = round(one.confidence * _GAPPED, 3)
                reader.drafts.add(Draft(name, one.relation, one.object, polar, one.start, one.end, sure))
    return True


@dataclass(slots=True)
class _Told:
    """What a phrase says: the senses that it can have, whether they are turned round, and the flags that hold."""

    reader: Reader
    clause: Clause
    verb: Element
    turned: bool
    rows: list[Row]
    flags: int

    def of(self, subjects: list[Name], found: list[Name]) -> None:
        """State it of these, by the first sense that fits their types."""
        sources, targets = (found, subjects) if self.turned else (subjects, found)
        pairs = [(source, target) for source in sources for target in targets]
        for row in self.rows if pairs else ():
            polar = polarity(self.flags, state=row.state)
            if any(
                [self.reader.draft(self.clause, one, row, other, polar, _GAPPED, self.verb) for one, other in pairs]
            ):
                return


def contrast(clause: Clause, at: int, flags: int) -> tuple[int, int]:
    """Return where what "but" sets against the element before `at` stands, 0 for nothing, and what flags hold of it."""
    elements = clause.elements
    begin = at + (at < len(elements) and elements[at].low == ",")
    begin += begin < len(elements) and elements[begin].low == "but"
    denied = begin < len(elements) and elements[begin].low == "not"
    begin += denied
    if begin >= len(elements) or elements[begin - 1].low not in ("but", "not"):
        return 0, flags
    if denied:
        return begin, flags | NEGATIVE
    between = clause.sentence.tokens[elements[at].begin : elements[begin].begin]
    if any(token.low == "also" for token in between):
        return begin, flags
    over = flags & (NEGATIVE | ENDED)
    return begin if over else 0, flags & ~over


def gap(elements: list[Element], at: int, word: str) -> int:
    """Return where the object of a clause without a verb stands whose subject is at `at`, 0 where there is none."""
    begin = at + 1 + bool(word)
    if begin >= len(elements) or elements[at].kind not in (NAME, NOUN) or elements[begin].kind not in (NAME, NOUN):
        return 0
    ends = begin + 1 == len(elements) or elements[begin + 1].kind != VERB or elements[begin + 1].bare
    return begin if ends and (not word or elements[at + 1].low == word) else 0


def _link(elements: list[Element], at: int) -> int:
    """How many elements link what follows at `at`: "and", a comma, both; 0 for none, or with nothing behind it."""
    step = 0
    if at < len(elements) and elements[at].low in (",", ";"):
        step = 1
    if at + step < len(elements) and elements[at + step].low in cues("joiner"):
        step += 1
    return step if at + step < len(elements) else 0


def _partners(clause: Clause, verb: int, after: int) -> list[Name]:
    """Who does something together with the subject: "with Bo" behind the object, or before the verb with a comma."""
    elements = clause.elements
    if after + 1 < len(elements) and elements[after].low == "with" and _people(elements[after + 1]):
        return elements[after + 1].names
    for at in range(verb - 1):
        if elements[at].low == "with" and elements[at + 2].low == "," and _people(elements[at + 1]):
            return elements[at + 1].names
    return []


def _people(element: Element) -> bool:
    return element.kind == NAME and all(name.options[:1] == _PERSON for name in element.names)
