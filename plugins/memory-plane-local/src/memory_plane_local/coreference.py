"""Who "they", "he", "it" and "I" are: the names said lately, and the writer."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache

from memory_plane.vocabulary.meanings import genders
from memory_plane_local.elements import NAME, NOUN, VERB, WORD, Element
from memory_plane_local.name import Name
from memory_plane_local.tables import cues, rows
from memory_plane_local.tokens import Token

_WANTED = {
    "he": (("Person",), 0.92),
    "she": (("Person",), 0.92),
    "they": (("Organization", "Team", "Person"), 0.9),
    "it": (("Project", "Tool", "Document", "Organization", "Concept", "Agent"), 0.9),
    "both": (("Person",), 0.92),
    "code": (("Project",), 0.9),
}
_MEMORY, _LONGEST_ENDING = 12, 5
_THING, _GROUP = ("Project", "Tool"), ("Organization", "Team")
_TEAM: tuple[str, ...] = ("Team",)
_CALLED: dict[str, tuple[str, ...]] = dict.fromkeys(
    ("project", "app", "game", "tool", "library", "product", "service", "site", "platform"), _THING
)
_CALLED |= dict.fromkeys(("team", "squad", "band", "choir", "crew"), _TEAM)
_CALLED |= dict.fromkeys(("studio", "charity", "foundation", "organisation", "organization", "nonprofit"), _GROUP)


@dataclass(slots=True)
class Discourse:
    """What has been talked about; `writer` is None when nobody may be taken for "I", `reader` is "you" in a letter.

    `within` are names that told where something is: in "the Maritime Centre in Falmouth. Its curator", it is not they.
    """

    writer: Name | None
    reader: Name | None = None
    recent: list[Name] = field(default_factory=list)
    subject: tuple[Name, ...] = ()
    gender: dict[int, str] = field(default_factory=dict)
    within: set[int] = field(default_factory=set)

    def note(self, names: list[Name]) -> None:
        """Remember names in the order of their last occurrence."""
        for name in names:
            if name in self.recent:
                self.recent.remove(name)
            self.recent.append(name)
        del self.recent[:-_MEMORY]

    def place(self, names: list[Name], *, within: bool) -> None:
        """Take names for where something is, if they were said `within` what tells of it, or else not."""
        if within:
            self.within.update(map(id, names))
        elif self.within:
            self.within.difference_update(map(id, names))

    def resolve(self, pronoun: str, apart: Sequence[Name] = ()) -> tuple[list[Name], float]:
        """Return the names that a pronoun stands for, none of them in `apart`, with the factor of that guess."""
        if pronoun in ("me", "us"):
            return ([self.writer] if self.writer else []), 1.0 if pronoun == "me" else 0.95
        kinds, factor = _WANTED[pronoun]
        if pronoun in ("he", "she"):
            return self._person(pronoun, factor, apart)
        if pronoun == "both" or (pronoun == "they" and self._people() and not self._grouped()):
            return self._people(), factor
        for kind in kinds:
            for name in reversed(self.recent):
                if name.options[:1] == (kind,):
                    return [name], factor
        able = (name for name in reversed(self.recent) if not name.options and id(name) not in self.within)
        unknown = next((name for name in able if not name.weak), None)
        spoken = pronoun == "it" and unknown is not None and self.subject == (unknown,) and unknown.guess != "Person"
        if unknown is not None and (pronoun == "they" or spoken):
            return [unknown], factor * 0.85
        if pronoun == "they" and (thing := self.last("Project")):
            return [thing], factor * 0.85
        return ([self.writer], 0.8) if pronoun == "code" and self.writer else ([], 0.0)

    def _people(self) -> list[Name]:
        """Several people who were the subject before."""
        several = len(self.subject) > 1 and all(name.options[:1] == ("Person",) for name in self.subject)
        return list(self.subject) if several else []

    def _grouped(self) -> bool:
        """Whether a company or a team was named beside or after the subject before, which "they" may be as well."""
        since = min((self.recent.index(name) for name in self.subject if name in self.recent), default=0)
        return any(name.options[:1] in (("Organization",), ("Team",)) for name in self.recent[since:])

    def _person(self, pronoun: str, factor: float, apart: Sequence[Name]) -> tuple[list[Name], float]:
        """The subject before, or the person said last; one who was a she, or has a woman's name, is no he.

        Of several who were the subject together, and may all be, it is nobody.
        """
        said = [name for name in reversed(self.recent) if name.options[:1] == ("Person",)]
        unknown = [name for name in reversed(self.recent) if not name.options and not name.weak and name.text.isalpha()]
        first = [name for name in self.subject if name in said] if len(self.subject) == 1 else []
        able = [name for name in (*first, *said, *unknown) if self.gender.get(id(name), pronoun) == pronoun]
        able = [name for name in able if not any(name is other for other in apart)]
        likely = [name for name in able if id(name) in self.gender or _gender(name.text) in ("", pronoun)]
        name = next(iter(likely or able), None)
        alike = [one for one in self.subject if any(one is other for other in likely)]
        if name is None or (len(alike) > 1 and any(one is name for one in alike)):
            return [], 0.0
        self.gender[id(name)] = pronoun
        return [name], factor if name in said else factor * 0.85

    def stand_in(self, element: Element) -> list[Name]:
        """Return what "the project" or "the studio" of an earlier sentence is called; nothing for other words."""
        if element.kind != NOUN or not element.definite or element.owner or element.end - element.begin > 1:
            return []
        name = next(filter(None, map(self.last, _CALLED.get(element.low, ()))), None)
        return [name] if name is not None else []

    def last(self, kind: str) -> Name | None:
        """Return the name of this type said last."""
        return next((name for name in reversed(self.recent) if name.options[:1] == (kind,)), None)


@cache
def _endings() -> dict[str, str]:
    """The pronoun that given names are spoken of by, by their ending, "" for names of either."""
    found = ((word, pronoun) for pronoun, text in rows("gender_endings.tsv") for word in text.split())
    return {word: "" if pronoun == "either" else pronoun for word, pronoun in found}


def _gender(text: str) -> str:
    """The pronoun of a person by the given name, "" where it does not tell."""
    given, endings = text.split()[0].lower(), _endings()
    for pronoun, names in genders().items():
        if given in names:
            return pronoun
    ways = (given, *(f"-{given[-size:]}" for size in range(_LONGEST_ENDING, 0, -1)))
    return next((endings[way] for way in ways if way in endings), "")


def renamed(elements: Sequence[Element], tokens: Sequence[Token]) -> Iterator[tuple[Name, Name]]:
    """Yield a name and another one for the same: "Orbit (aka Orb)"; what has no name of its own takes the other.

    The name that counts comes first: Larkspur in "Larkspur, formerly Tidewater" and "Tidewater is now called Larkspur".
    """
    for at, element in enumerate(elements):
        if element.kind != NAME or not at or (link := _naming(elements, tokens, at)) is None:
            continue
        first, other = (elements[link[0]], element) if not link[1] else (element, elements[link[0]])
        if first.kind == NOUN and first.names[0].options:
            other.names[0].options, other.names[0].soft = first.names[0].options, True
            first.names = other.names
        elif first.kind == other.kind == NAME:
            yield first.names[0], other.names[0]
            other.names = first.names


def _naming(elements: Sequence[Element], tokens: Sequence[Token], at: int) -> tuple[int, bool] | None:
    """The element that has the name at `at` too, and whether that one is the newer."""
    before = elements[at - 1]
    if before.low in cues("alias"):
        return _named_before(elements, at - 1), False
    aside = at > 1 and before.low in cues("once_named") and elements[at - 2].low in (",", "(")
    now = before.low in (",", "(") and tokens[elements[at].begin - 1].low == "now"
    if (aside or now) and (at + 1 == len(elements) or elements[at + 1].low in (",", ")", "be")):
        first = at - 3 + now
        people = any(one.kind == NAME and one.names[0].options[:1] == ("Person",) for one in elements[: first + 1])
        return (first, now) if first >= 0 and elements[first].kind == NAME and not people else None
    verb = at - 1 - (before.low in ("as", "from", "to"))
    if verb < 1:
        return None
    if elements[verb].low in cues("renaming"):
        return _named_before(elements, verb), before.low != "from"
    if elements[verb].kind != VERB or elements[verb].low not in ("call", "know", "name"):
        return None
    said = {token.low for token in tokens[max(elements[verb].begin - 1, 0) : elements[verb].end]}
    new = "now" in said
    if new or said & cues("once_called") or said & cues("also_called"):
        return _named_before(elements, verb), new
    return None


def _named_before(elements: Sequence[Element], at: int) -> int:
    """The element before what says that something has another name."""
    at -= 1
    while (
        at > 0 and not elements[at].names and (elements[at].low in (",", "(", "be", "the") or elements[at].kind == WORD)
    ):
        at -= 1
    return at
