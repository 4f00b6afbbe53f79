"""Given names that things have: "Marlin depends on Kafka", "the Luna service", "Percy is maintained by Bruno"."""

from __future__ import annotations

from collections.abc import Sequence

from memory_plane_local.lexicon import common_nouns, known_names, nouns
from memory_plane_local.tables import cues, words
from memory_plane_local.tokens import Token
from memory_plane_local.verbs import forms

_POSSESSIVES = ("'s", "’s")
_TECHNICAL = ("Tool", "Language")
_MADE = ("Project", "Tool")
_NEAR = 5
"""How many words before a tool what it is for may be decided."""


def behaves_as_thing(tokens: Sequence[Token], begin: int, end: int) -> bool:
    """Return whether a given name alone, or with the number of a version, is here the name of something made."""
    if end - begin > 1:
        return end - begin == 2 and tokens[begin + 1].low[0] in "v0123456789" and tokens[begin + 1].low[-1].isdigit()
    return _called(tokens, begin, end) or _does(tokens, end) or _has(tokens, end) or _undergoes(tokens, begin, end)


def _called(tokens: Sequence[Token], begin: int, end: int) -> bool:
    """Whether a noun tells what it is: "the Marlin service", "Luna, our app", "Robin is a Rust library"."""
    before, after = _low(tokens, begin - 1), _low(tokens, end)
    if (before == "the" or before in cues("owner")) and common_nouns().get(after) in _MADE:
        return tokens[end].shape == "low"
    if after not in cues("telling"):
        return False
    head = end + 1
    if _low(tokens, head) not in cues("article") and _low(tokens, head) not in cues("owner"):
        return False
    while _low(tokens, head + 1).isalpha() and _low(tokens, head + 1) not in words("function.txt"):
        head += 1
    return nouns("told").get(_low(tokens, head)) == "Project"


def _does(tokens: Sequence[Token], end: int) -> bool:
    """Whether something follows that only things do: depends on Kafka, went live, is written in Go."""
    verb = _low(tokens, end)
    if _low(tokens, end + 1) == "live" and _lemma(verb) == "go":
        return _low(tokens, end + 2) not in ("on", "with")
    if verb in cues("of_things"):
        return _low(tokens, end + 1) in ("on", "upon") and _is_technical(tokens, end + 2)
    at = end + 1
    while _low(tokens, at) in ("been", "being") or _low(tokens, at) in words("adverbs.txt"):
        at += 1
    passive = verb in ("is", "was", "has", *_POSSESSIVES) and _low(tokens, at) in cues("made")
    return passive and _low(tokens, at + 1) in ("by", "in", "on", "with", "using")


def _has(tokens: Sequence[Token], end: int) -> bool:
    """Whether it has what only things have: "Marlin's database is PostgreSQL"."""
    inside = _low(tokens, end) in _POSSESSIVES and _low(tokens, end + 1) in cues("inside_things")
    return inside and _low(tokens, end + 2) in ("is", "was") and _is_technical(tokens, end + 3)


def _undergoes(tokens: Sequence[Token], begin: int, end: int) -> bool:
    """Whether it is made, or a tool is chosen for it: "maintains Jasper", "decided to use Valkey for Marlin"."""
    before, after = _low(tokens, begin - 1), _low(tokens, end)
    if after in cues("article") or after in cues("owner") or after in _POSSESSIVES:
        return False  # "built Alice a house"
    if _lemma(before) in cues("making") or (before == "on" and _lemma(_low(tokens, begin - 2)) == "work"):
        return True
    if before != "for" or not _is_technical(tokens, begin - 2):
        return False
    verbs = (_lemma(token.low) for token in tokens[max(0, begin - 2 - _NEAR) : begin - 2])
    return any(verb in cues("choosing") or verb in cues("using") for verb in verbs)


def _is_technical(tokens: Sequence[Token], at: int) -> bool:
    return any(known.type in _TECHNICAL for known in known_names().get(_low(tokens, at), ()))


def _lemma(low: str) -> str:
    return forms().get(low, (low, frozenset()))[0]


def _low(tokens: Sequence[Token], at: int) -> str:
    return tokens[at].low if 0 <= at < len(tokens) else ""
