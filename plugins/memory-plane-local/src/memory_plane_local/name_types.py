"""What type a written name can have, from its own words and from its neighbours."""

from __future__ import annotations

from collections.abc import Sequence
from unicodedata import combining, normalize

from memory_plane_local.lexicon import common_nouns, contexts, nouns
from memory_plane_local.tables import cues, words
from memory_plane_local.things import behaves_as_thing
from memory_plane_local.tokens import Token, uncased

Guess = tuple[tuple[str, ...], float]
_LISTING, _LISTED = (",", "and", "&", "(", ")", "@"), 12
GIVEN = 0.75
"""How sure a rare given name alone makes a person, or an ending a company."""


def type_options(tokens: Sequence[Token], begin: int, end: int, lows: list[str]) -> Guess:
    """Return the types that a name can have, and how sure that is."""
    if begin > 1 and tokens[begin - 1].low == "at" and tokens[begin - 2].low in cues("works"):
        return ("Organization",), 0.85
    inner = _by_its_words(lows)
    if inner[0] in ((), ("Person",)) and behaves_as_thing(tokens, begin, end):
        return ("Project",), 0.85
    guess = inner if inner[0] else _by_its_neighbours(tokens, begin, end, lows[-1])
    if guess[0] or len(lows) > 1:
        return guess
    return (("Person",), GIVEN) if _is_given(lows[0]) else _by_its_ending(lows[0])


def _noun_kind(low: str) -> str:
    """The type of what a noun can be said of: "a band called", "a startup named"."""
    return nouns("before").get(low) or nouns("after").get(low, "")


def _by_its_ending(low: str) -> Guess:
    """The type that the end of a word tells, if nothing else does: Printworks, TimescaleDB."""
    for ending, kind in nouns("ending").items():
        if low.endswith(ending) and len(low) > len(ending) + 2:
            return (kind,), GIVEN
    return (), 0.7


def _is_given(low: str) -> bool:
    """Whether a word is a given name, accents and what follows a hyphen aside: Laylā, Mei-Ling."""
    plain = low.partition("-")[0]
    plain = plain if plain.isascii() else "".join(char for char in normalize("NFKD", plain) if not combining(char))
    return low in words("given_names.txt") or (
        plain != low and (plain in words("given_names.txt") or plain in words("first_names.txt"))
    )


def _by_its_words(lows: list[str]) -> Guess:
    """The type that the words of a name tell: Nexus Labs, Project Lighthouse, Mary Jane Watson, checkout.ts."""
    last = lows[-1]
    kind, front = nouns("after").get(last) or nouns("named").get(last), nouns("before").get(lows[0])
    if lows[0] == "team" or (lows[0] in words("calendar.txt") and last in cues("meeting_group")):
        return ("Team",), 0.93
    if len(lows) > 1 and (kind or front):
        return (kind if kind and kind != "Concept" else front or "Concept",), 0.93
    if "&" in lows:
        return ("Organization",), 0.88
    if lows[0] in words("first_names.txt") or lows[0] in words("first_names_ambiguous.txt"):
        return ("Person",), 0.93 if len(lows) > 1 else 0.88
    if len(lows) > 1 and _is_given(lows[0]):
        return ("Person",), 0.9
    if lows[0] in cues("short_of_place"):
        return (), 0.7
    if "." in lows:
        return ("Person",), 0.88
    if "." in last and last.rsplit(".", 1)[-1] in words("file_endings.txt"):
        return ("Document",), 0.85
    return (), 0.7


def _by_its_neighbours(tokens: Sequence[Token], begin: int, end: int, last: str) -> Guess:
    """The type that the words beside a name tell: met Amara, the Atlas project, at Brightwater."""
    before = tokens[begin - 1].low if begin else ""
    before = tokens[begin - 2].low if before in ("the", "a", ".") and begin > 1 else before
    after = tokens[end].low if end < len(tokens) else ""
    named = begin - 2 - (begin > 2 and tokens[begin - 2].low in cues("connecting"))  # "my startup is called Inkwell"
    if before in ("called", "named") and (kind := _kind(tokens, named)) is not None:
        return ((kind,) if kind else ()), 0.85
    if before in ("called", "named") and begin > 1 and tokens[begin - 2].low in {"now", *cues("once_called")}:
        before = ""  # "Tidewater is now called Larkspur"
    if kind := told(tokens, end):
        return (kind,), 0.85
    if after in common_nouns() and tokens[end].shape == "low":
        return (common_nouns()[after],), 0.85
    if before == "@" or (contexts("before").get(before) == "Person" and _written_as_name(tokens[begin])):
        return ("Person",), 0.85
    hint = contexts("before").get(before) or nouns("before").get(before) or _labelled(tokens, begin)
    if not hint and before not in cues("origin"):  # "Rob from The Zebra wants"
        hint = contexts("after").get(after, "")
    if hint and (hint != "Person" or _written_as_name(tokens[begin])):
        return (hint,), 0.8
    if "." in last:
        return ("Project",), 0.75
    return (), 0.7


def _written_as_name(token: Token) -> bool:
    """Whether a word is capitalised, if its script has capitals."""
    return token.shape == "cap" or uncased(token)


def _labelled(tokens: Sequence[Token], begin: int) -> str:
    """The type of what stands behind a label, perhaps not as the first: "Attendees: Maya, Teuila"; "" for none."""
    at, closed = begin - 1, 0
    while at > max(0, begin - _LISTED) and (
        tokens[at].low in _LISTING or tokens[at].shape in ("cap", "mix") or uncased(tokens[at])
    ):
        closed += (tokens[at].low == ")") - (tokens[at].low == "(")
        if closed < 0:
            return ""
        at -= 1
    field = tokens[begin].low in cues("department") or tokens[begin].low in words("fields.txt")
    if at < 1 or field or tokens[at].low not in (":", "by"):
        return ""
    side = "label" if tokens[at].low == ":" else "deed"
    return contexts(side).get(tokens[at - 1].low, "")


def _kind(tokens: Sequence[Token], at: int) -> str | None:
    """The type of what has a name ("a farm called Green Acre"), "" of any other noun, None where somebody is called."""
    if at < 0 or tokens[at].shape != "low" or tokens[at].low in words("function.txt"):
        return None
    return nouns("told").get(tokens[at].low) or common_nouns().get(tokens[at].low, "")


def told(tokens: Sequence[Token], end: int) -> str:
    """Return the type that is told of a name: "Lark is a stationery shop", "Kettle, our scheduling app"; "" if none."""
    if end + 2 >= len(tokens) or tokens[end].low not in cues("telling"):
        return ""
    if tokens[end + 1].low == "whose" and tokens[end + 2].low in nouns("whose"):
        return nouns("whose")[tokens[end + 2].low]
    if tokens[end + 1].low not in cues("article") and tokens[end + 1].low not in cues("owner"):
        return ""
    head = end + 1
    while (
        head + 1 < len(tokens)
        and tokens[head + 1].shape != "mark"
        and tokens[head + 1].low not in words("function.txt")
    ):
        head += 1
    return nouns("told").get(tokens[head].low, "")
