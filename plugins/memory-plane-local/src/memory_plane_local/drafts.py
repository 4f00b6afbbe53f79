"""Claims while they are being found: types fitted, polarity decided, confidence multiplied."""

from __future__ import annotations

from dataclasses import dataclass, field

from memory_plane.types import Polarity
from memory_plane_local.guards import ENDED, FUTURE, HYPOTHETICAL, NEGATIVE, PAST_TENSE, QUESTION
from memory_plane_local.name import THING, Name
from memory_plane_local.spans import NEVER, Times

_GUESSED, _STRETCHED = 0.93, 0.9
_EMPLOYMENT = frozenset({"WORKS_AT", "MEMBER_OF"})
_BONDS = frozenset({"MENTOR_OF", "PART_OF", "FAMILY_OF"})


@dataclass(slots=True)
class Draft:
    """One claim between two names."""

    subject: Name
    relation: str
    object: Name
    polarity: Polarity
    start: int
    end: int
    confidence: float
    times: Times = NEVER


@dataclass(slots=True)
class Drafts:
    """All claims of a text, each said once."""

    found: dict[tuple[int, str, int], Draft] = field(default_factory=dict)

    def add(self, draft: Draft) -> None:
        """Keep a claim; said twice, the surer one counts, and what is over or denied beats what holds."""
        if draft.subject is draft.object or draft.subject.nameless or draft.object.nameless:
            return
        key = (id(draft.subject), draft.relation, id(draft.object))
        known = self.found.get(key)
        if known is None or (known.polarity == draft.polarity and known.confidence < draft.confidence):
            self.found[key] = draft
        if known is not None and known.polarity == draft.polarity:
            self.found[key].times = max(known.times, draft.times, key=any)
        draft.subject.used = draft.object.used = True

    def employed(self, people: list[Name], apart: list[Name]) -> bool:
        """Return whether it is told where one of these people works, other than at what is `apart`."""
        said = [one for one in self.found.values() if one.subject in people and one.polarity == "positive"]
        work = [one.object for one in said if one.relation == "WORKS_AT" or one.relation.endswith("_OF")]
        return any(name.options == ("Organization",) for name in work if name not in apart)

    def withdraw(self, relation: str, subject: str | None, at: int) -> None:
        """Take back what is claimed of somebody by a relation and the words that stand at a character."""
        for key, one in list(self.found.items()):
            if one.relation == relation and one.subject.text == subject and one.start <= at < one.end:
                del self.found[key]


def fit(name: Name, allowed: tuple[str, ...]) -> tuple[str, float] | None:
    """Return the type that `name` has among the allowed ones and the factor for it, None when it has none."""
    if not name.options or (name.soft and name.options[0] not in allowed):
        if name.weak and THING in allowed:
            return THING, _GUESSED
        if name.guess in allowed and name.guess != "Concept":
            return name.guess, _GUESSED
        guesses = tuple(kind for kind in allowed if kind not in ("Team", "Agent"))
        return (_shape_type(name, guesses), _GUESSED) if guesses else None
    for option in name.options:
        if option in allowed:
            return option, 1.0
    if allowed[0] == "Organization" and name.options[0] in ("Tool", "Project") and not name.weak:
        return "Organization", _STRETCHED
    if "Tool" in allowed and name.options[0] == "Organization":
        return "Tool", _STRETCHED
    return None


def _shape_type(name: Name, allowed: tuple[str, ...]) -> str:
    """An untyped name that mixes cases or digits is no person."""
    mixed = not name.text.replace(" ", "").isalpha() or any(
        char.isupper() for char in name.text[1:].replace(" ", "")[1:]
    )
    if mixed and " " not in name.text:
        return next((kind for kind in allowed if kind not in ("Person", "Agent")), allowed[0])
    return allowed[0]


def settle(name: Name, kind: str) -> None:
    """Let a claim decide the type of a name."""
    name.soft = False
    if name.options[:1] != (kind,):
        name.options = (kind,)


def polarity(flags: int, *, state: bool) -> Polarity:
    """Return what the bits of a verb and its sentence make of a claim."""
    if flags & QUESTION:
        return "question"
    if flags & (HYPOTHETICAL | FUTURE):
        return "hypothetical"
    if flags & ENDED:
        return "past"
    if flags & NEGATIVE:
        return "negative"
    return "past" if state and flags & PAST_TENSE else "positive"


def closed(relation: str, polar: Polarity) -> str:
    """Return the name that an ended relation goes by."""
    if polar == "past" and (relation in _EMPLOYMENT or (relation.endswith("_OF") and relation not in _BONDS)):
        return "PREVIOUSLY_WORKED_AT"
    return relation
