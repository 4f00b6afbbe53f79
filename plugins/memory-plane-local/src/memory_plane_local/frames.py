"""Patterns of elements to claims, for what no verb says: "Daniel <> Rob", "Fatima (Go)", "Rob from The Zebra"."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache
from typing import NamedTuple

from memory_plane_local.clauses import Clause
from memory_plane_local.drafts import fit, polarity
from memory_plane_local.elements import NAME, NOUN, PRONOUN, ROLE, VERB, WORD, Element
from memory_plane_local.guards import ENDED, PAST_TENSE, QUESTION
from memory_plane_local.name import Name
from memory_plane_local.relations import Reader
from memory_plane_local.subjects import opens
from memory_plane_local.tables import cues, rows
from memory_plane_local.verbs import Row, sense

_SLOTS = frozenset({"S", "O", "P", "X"})
_EMPLOYER = ("Organization",)
_ANY = ("Person", "Agent", "Project", "Organization")
_PEOPLES = frozenset({"WORKS_AT", "PREVIOUSLY_WORKED_AT", "FAMILY_OF"})
_MEETINGS = frozenset({"meet", "see", "visit", "interview"})
"""Verbs whose "at" tells where it was, which is no employer unless the name itself says that it is a company."""
_HIRING = frozenset({"hire", "recruit", "poach"})
_BY_ITSELF = 0.9
"""The strength from which on a name's type is not told by "at" alone."""
_STATES = frozenset({"USES", "WORKS_AT", "MEMBER_OF", "LOCATED_IN", "DEPENDS_ON"})


class Atom(NamedTuple):
    """One place of a pattern: a slot with its types, verbs, or words."""

    slot: str
    types: tuple[str, ...]
    verbs: tuple[str, ...]
    words: tuple[str, ...]
    known: bool = False


class Frame(NamedTuple):
    """A row of frames.tsv."""

    row: Row
    atoms: tuple[Atom, ...]
    polite: bool


@dataclass(slots=True)
class _Bound:
    """What the slots of a pattern hold, and what its verbs say of polarity."""

    sources: list[Name] = field(default_factory=list)
    targets: list[Name] = field(default_factory=list)
    flags: int = 0
    factor: float = 1.0
    owner: str = ""


def read_frames(reader: Reader, clause: Clause, at: int) -> None:
    """Try every pattern that can begin at element `at`."""
    if at in clause.taken or (at == 0 and opens(clause)):
        return
    for frame in _beginning(clause.elements, at):
        bound = _match(reader, clause, at, frame)
        if bound is None or not bound.sources or not bound.targets:
            continue
        works = frame.row.relation == "WORKS_AT"
        met = works and _behind(clause.elements, at, _MEETINGS, "at")  # "met Bob at KubeCon" tells nobody's employer
        if met and bound.targets[0].strength < _BY_ITSELF:
            continue
        flags = clause.flags | clause.onwards[clause.elements[at].begin] | (0 if frame.polite else bound.flags)
        polar = polarity(flags, state=frame.row.state)
        if works and polar == "positive" and _behind(clause.elements, at, _HIRING, "from"):
            polar = "past" if clause.elements[at - 1].flags == PAST_TENSE else "positive"
        if works and at > 1 and clause.elements[at + 1].low in ("at", "@"):
            verb, link = clause.elements[at - 2 : at]
            over = reader.flags(clause, verb) if verb.kind == VERB and link.low in cues("alongside") else 0
            if over & ENDED:  # "I used to work with Ann at Acme": of Ann it tells nothing that is over
                bound.sources = reader.subject(clause, at - 2)[0] if verb.low == "work" else []
                polar = polarity(flags | over, state=True)
        stated = False
        for source in bound.sources:
            for target in bound.targets:
                stated = reader.draft(clause, source, frame.row, target, polar, bound.factor) or stated
        if stated:
            _maker(reader, clause, at, frame, bound)
            return


def _behind(elements: list[Element], at: int, verbs: frozenset[str], word: str) -> bool:
    """Whether the element at `at` is the object of one of these verbs, and `word` comes next."""
    return at > 0 and elements[at - 1].low in verbs and [one.low for one in elements[at + 1 : at + 2]] == [word]


@cache
def _frames() -> dict[str, tuple[Frame, ...]]:
    """The patterns by what they begin with: a word or "=verb", after "name" when a name comes first."""
    found: dict[str, list[Frame]] = {}
    for relation, strength, pattern, *note in rows("frames.tsv"):
        atoms = tuple(_atom(text) for text in pattern.split())
        subjects = _types(atoms, "S") or (("Person",) if relation in _PEOPLES else _ANY)
        objects = _types(atoms, "O") or _ANY
        state = relation in _STATES and note != ["event"]
        frame = Frame(Row(relation, subjects, objects, state, float(strength)), atoms, note == ["polite"])
        named = bool(atoms[0].slot)
        anchor = atoms[1] if named else atoms[0]
        for key in (*anchor.words, *(f"={verb}" for verb in anchor.verbs)):
            key = f"name {key}" if named else key
            found.setdefault(key, []).append(frame)
    return {key: tuple(frames) for key, frames in found.items()}


def _atom(text: str) -> Atom:
    head, _, types = text.partition(":")
    if head in _SLOTS:
        kinds = tuple(types.lstrip("!").split(",")) if types else ()
        return Atom(head, kinds, (), (), types.startswith("!"))
    if text in ("*", "#"):
        return Atom(text, (), (), ())
    if text.startswith("="):
        return Atom("", (), tuple(verb.lstrip("=") for verb in text.split("|")), ())
    return Atom("", (), (), tuple(text.split("|")))


def _types(atoms: tuple[Atom, ...], slot: str) -> tuple[str, ...]:
    return next((atom.types for atom in atoms if atom.slot in (slot, "P")), ())


def _beginning(elements: list[Element], at: int) -> tuple[Frame, ...]:
    element, frames = elements[at], _frames()
    if element.kind not in (NAME, NOUN):
        return frames.get(f"={element.low}" if element.kind == VERB else element.low, ())
    said = frames.get(element.low, ()) if element.kind == NOUN else ()
    if at + 1 == len(elements):
        return said
    after = elements[at + 1]
    return said + frames.get(f"name ={after.low}" if after.kind == VERB else f"name {after.low}", ())


def _match(reader: Reader, clause: Clause, at: int, frame: Frame) -> _Bound | None:
    elements, bound, cursor = clause.elements, _Bound(), at
    if not frame.row.state and frame.row.relation in _STATES and elements[at].form == "base" and elements[at].bare:
        return None  # "Add Sentry to the importer" is still to be done
    for atom in frame.atoms:
        if atom.slot and cursor + 1 < len(elements) and elements[cursor].kind == ROLE:
            cursor += elements[cursor + 1].kind == NAME  # "our florist Gustavo" is Gustavo
        if cursor == len(elements) or not _matches(reader, clause, elements[cursor], atom, bound):
            return None
        cursor += 1
        if cursor < len(elements) and elements[cursor].low in cues("configured") and _is_technical(atom):
            cursor += 1  # "added Playwright tests to Orbit"
    if frame.atoms[-1].words and cursor < len(elements) and elements[cursor].low in ("'s", "’s"):
        return None  # "is my mum's doctor"
    if not any(atom.slot in ("S", "P") for atom in frame.atoms):
        bound.sources, bound.factor = _unsaid(reader, clause, at, frame, bound)
    return bound


def _unsaid(reader: Reader, clause: Clause, at: int, frame: Frame, bound: _Bound) -> tuple[list[Name], float]:
    """The subject of a pattern that has none: the verb's own, whose something is, or that of the sentence."""
    if bound.owner:
        return reader.discourse.resolve(bound.owner)
    if clause.elements[at].low in cues("kin_title"):  # "uncle Kenji" is nobody's whom the sentence names
        return [], 0.0
    if frame.atoms[0].words == ("code",):
        return reader.discourse.resolve("code")
    if (
        frame.row.relation == "USES" and frame.atoms[0].words
    ):  # "the backend" is that of nothing which the sentence names
        return [], 0.0
    return reader.subject(clause, at) if frame.atoms[0].verbs else (clause.main or clause.before, 0.95)


def _is_technical(atom: Atom) -> bool:
    return atom.slot == "O" and atom.known and set(atom.types) <= {"Tool", "Language"}


def _matches(reader: Reader, clause: Clause, element: Element, atom: Atom, bound: _Bound) -> bool:
    if atom.slot == "*":
        return element.kind != VERB
    if atom.slot == "#":
        return element.kind == NOUN
    if atom.verbs:
        bound.flags |= element.flags & ~QUESTION
        return element.kind == VERB and element.low in atom.verbs
    if atom.words:
        bound.owner = element.owner or bound.owner
        return element.low in atom.words
    names = element.names if element.kind in (NAME, NOUN) else []
    if element.kind == WORD and atom.slot == "O" and set(atom.types) & {"Organization"}:
        names = reader.objects(clause, clause.elements.index(element))[0]
    if element.kind == PRONOUN and atom.slot != "P":
        names, factor = reader.discourse.resolve(element.low)
        bound.factor *= factor
    if not names or (atom.types and not all(_fits(name, atom) for name in names)):
        return False
    return _bind(atom, names, bound)


def _fits(name: Name, atom: Atom) -> bool:
    """Patterns are stricter than verbs: no type is stretched, but for the firm that is known by its product."""
    if not name.options or (atom.types == _EMPLOYER and not atom.known):
        return not atom.known and fit(name, atom.types) is not None
    return name.options[0] in atom.types


def _bind(atom: Atom, names: list[Name], bound: _Bound) -> bool:
    if atom.slot == "P":
        bound.sources, bound.targets = names[:1], names[1:]
        return len(names) > 1
    if atom.slot == "S":
        bound.sources = names
    elif atom.slot == "O":
        bound.targets = names
    return True


def _maker(reader: Reader, clause: Clause, at: int, frame: Frame, bound: _Bound) -> None:
    """Who introduces the writer to somebody knows that somebody."""
    writer = reader.discourse.writer
    if frame.row.relation != "INTRODUCED_TO" or frame.atoms[0].verbs[:1] != ("introduce",) or bound.sources != [writer]:
        return
    knows = sense("know", "KNOWS")
    polar = polarity(clause.flags | bound.flags, state=False)
    for maker in reader.subject(clause, at)[0]:
        for target in bound.targets:
            reader.draft(clause, maker, knows, target, polar, 1.0)
