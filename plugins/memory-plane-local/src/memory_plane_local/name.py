"""A name while a text is read, and where in a sentence it stands."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from memory_plane.spellings import COMPANY
from memory_plane_local.lexicon import common_nouns
from memory_plane_local.sentences import Sentence
from memory_plane_local.tables import words
from memory_plane_local.tokens import Token
from memory_plane_local.verbs import THIRD, forms

THING = "Thing"
"""The type of a phrase of ordinary words that no noun table knows: an argument of few relations."""


@dataclass(slots=True, eq=False)
class Name:
    """A named thing, once for all its occurrences in a text; claims narrow its type, `guess` is for want of any.

    `hunch` is for want of a guess, and no claim is read by it. `label` is what the tagger calls it, PER, ORG or LOC,
    however sure it is. The type of a `soft` one gives way to a claim. What is `nameless` is only told by its kind: "the
    service" of one text is not that of another, so nothing is claimed of it.
    """

    text: str
    start: int
    end: int
    options: tuple[str, ...] = ()
    strength: float = 0.7
    weak: bool = False
    soft: bool = False
    used: bool = False
    nameless: bool = False
    guess: str = "Concept"
    hunch: str = ""
    label: str = ""
    span: tuple[int, int] = field(default=(0, 0))

    @property
    def type(self) -> str:
        """The best type so far."""
        if self.options:
            return self.options[0] if self.options[0] != THING else self.guess
        return self.hunch if self.hunch and self.guess == "Concept" else self.guess


def name_at(
    sentence: Sentence,
    begin: int,
    end: int,
    options: tuple[str, ...],
    strength: float,
    *,
    weak: bool = False,
    soft: bool = False,
) -> Name:
    """Make the name that the tokens `begin` to `end` write."""
    start, stop = sentence.tokens[begin].start, sentence.tokens[end - 1].end
    return Name(sentence.text[start:stop], start, stop, options, strength, weak, soft, span=(begin, end))


def me(span: tuple[int, int] = (0, 0)) -> Name:
    """Return the person whose memory this is, or where a text speaks of them."""
    return Name("me", 0, 0, ("Person",), 1.0, weak=True, span=span)


def opening(tokens: Sequence[Token], at: int) -> bool:
    """Return whether a capital at `at` may be due to the beginning of a sentence, a quotation or a list entry."""
    return (
        at == 0
        or (tokens[at - 1].shape == "mark" and tokens[at - 1].low in ':"“(-*•#>—–[]|')
        or (at == 1 and tokens[0].shape in ("mark", "num"))
    )


def owns_noun(tokens: Sequence[Token], end: int) -> bool:
    """Return whether a noun that takes names follows: "Platform team"."""
    return end < len(tokens) and tokens[end].shape == "low" and tokens[end].low in common_nouns()


def legal_end(tokens: Sequence[Token], end: int) -> int:
    """Return the end of a name with what tells that a company bears it: Siemens AG, Hooli, Inc."""
    at = end + (end < len(tokens) and tokens[end].low == ",")
    if at >= len(tokens) or tokens[at].low not in COMPANY or tokens[at].shape not in ("cap", "mix"):
        return end
    return end if at > end and len(tokens[at].low) == 2 else at + 1  # Boulder, CO


def version_end(tokens: Sequence[Token], end: int) -> int:
    """Return the end of a name with the number of its version (Python 3, Orbit v2) when nothing is counted with it."""
    if end >= len(tokens) or tokens[end].shape not in ("num", "mix", "low"):
        return end
    text = tokens[end].low
    if text[0] == "v" and text[1:2].isdigit():
        return end + 1
    if end + 1 < len(tokens) and tokens[end + 1].low == ":":
        return end
    counted = end + 1 < len(tokens) and tokens[end + 1].shape == "low" and not _goes_on(tokens[end + 1].low)
    return end + 1 if tokens[end].shape == "num" and len(text) <= 4 and not counted else end


def _goes_on(word: str) -> bool:
    """Whether a word cannot be what a number counts: "Orbit 2 depends", "Python 3 is"."""
    return word in words("function.txt") or THIRD in forms().get(word, ("", frozenset()))[1]
