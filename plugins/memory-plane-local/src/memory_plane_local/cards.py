"""Who works where in a line without a verb: "| Ana | Acme | CTO |", "Bo / Globex / sales", "Tom (Initech, CTO)"."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import takewhile

from memory_plane_local.clauses import Clause
from memory_plane_local.drafts import fit
from memory_plane_local.elements import MARK, NAME, NOUN, ROLE, VERB, WORD, Element
from memory_plane_local.lexicon import contexts
from memory_plane_local.name import Name
from memory_plane_local.relations import Reader
from memory_plane_local.tables import cues
from memory_plane_local.titles import state
from memory_plane_local.verbs import sense

_PERSON, _COMPANIES = ("Person",), (("Organization",), ("Team",))
_SURE, _MOST, _WORDS, _LABELLED = 0.93, 40, 2, 3


class Cards:
    """The lines of a text that tell of people by what stands side by side; the title of a name may be on the next."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader
        self._alone: list[Name] = []
        self._heard = 0

    def read(self, clause: Clause) -> None:
        """Read one line or sentence."""
        elements, (first, last) = clause.elements, clause.span()
        signed = self._alone if "\n" in clause.sentence.text[self._heard : first] else []
        self._heard, self._alone = last, elements[0].names if len(elements) == 1 and _person(elements[0]) else []
        if clause.flags or not 0 < len(elements) <= _MOST:
            return
        listed = len(elements) > 1 and elements[1].low == ":" and _labels(clause, elements[0])
        for at, element in enumerate(elements):
            if element.low == "(" and at and _person(elements[at - 1]):
                inside = list(takewhile(lambda one: one.low != ")", elements[at + 1 :]))
                if listed and len(inside) == 1 and inside[0].kind == NAME and not inside[0].names[0].options:
                    inside[0].names[0].options = ("Organization",)  # "Present: Håkon Vik (NVE)"
                self._line(clause, elements[at - 1].names, inside, told=True)
        verb = next((at for at, element in enumerate(elements) if element.kind == VERB), len(elements))
        if verb < len(elements) and (verb == 0 or elements[verb - 1].low not in cues("cell")):
            return
        elements = elements[:verb]
        begin = next((at for at, element in enumerate(elements) if element.kind != MARK), 0)
        cells = len(elements) > begin + _LABELLED and elements[begin + _LABELLED].low in cues("cell")
        begin += 2 * (cells and elements[begin + 1].low == ":" and _labels(clause, elements[begin]))
        if _person(elements[begin]) and begin + 1 < len(elements) and elements[begin + 1].low in cues("beside"):
            self._line(clause, elements[begin].names, elements[begin + 1 :], told=False)
        elif signed and elements[begin].kind == ROLE:
            self._line(clause, signed, elements[begin:], told=False)

    def _line(self, clause: Clause, people: list[Name], rest: Sequence[Element], *, told: bool) -> None:
        """State where people work, whose name is followed by cells; `told`: by one that says it without a title."""
        cells = _cells(rest)
        title = next((cell[-1] for cell in cells if cell and len(cell) <= _WORDS and cell[-1].kind == ROLE), None)
        firm = any(element.low in cues("cell") for element in rest)
        field = firm and any(len(cell) == 1 and cell[0].kind in (WORD, NOUN) for cell in cells)
        named = [cell[0].names[0] for cell in cells if len(cell) == 1 and cell[0].kind == NAME]
        company = next((name for name in named if _employs(name, title, told=told or field)), None)
        for name in named if told else ():
            if name.options[:1] == ("Language",):
                for person in people:
                    self._reader.draft(clause, person, sense("use", "USES"), name, "positive", _SURE)
        if company is None or not (title or told or firm):
            return
        for person in people:
            if title is not None:
                state(self._reader, clause, title, person, company, clause.flags, 1.0, begins=False)
            else:
                works = sense("join", "WORKS_AT")
                self._reader.draft(clause, person, works, company, "positive", _SURE)


def _cells(elements: Sequence[Element]) -> list[list[Element]]:
    """What stands between the marks of a line."""
    cells: list[list[Element]] = [[]]
    for element in elements:
        if element.low in cues("beside"):
            cells.append([])
        else:
            cells[-1].append(element)
    return cells


def _labels(clause: Clause, element: Element) -> bool:
    """Whether a line begins with what people are to it or to the writer: "Lead: Ana / Acme", "Attendees: …"."""
    return contexts("label").get(clause.sentence.tokens[element.begin].low) == "Person"


def _person(element: Element) -> bool:
    return element.kind == NAME and len(element.names) == 1 and element.names[0].options[:1] == _PERSON


def _employs(name: Name, title: Element | None, *, told: bool) -> bool:
    """Whether somebody can work at what has this name: a company, or beside a title what nobody knows."""
    if name.options[:1] in _COMPANIES:
        return True
    if name.options:
        return title is not None and name.options[0] in ("Tool", "Project") and fit(name, ("Organization",)) is not None
    named = not name.weak and name.guess not in ("Person", "Place")
    return named and (title is not None or (told and _wordy(name.text)))


def _wordy(text: str) -> bool:
    """Whether a name in brackets is no abbreviation and has no number in it: LGTM, Physics1998."""
    return not text.isupper() and not any(char.isdigit() for char in text)
