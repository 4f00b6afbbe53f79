"""Names that the word lists or the graph know."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from memory_plane_local.lexicon import common_nouns, contexts, is_common, known_names, titles
from memory_plane_local.name import Name, legal_end, name_at, opening, version_end
from memory_plane_local.sentences import Sentence, is_initial
from memory_plane_local.tables import cues, words
from memory_plane_local.things import behaves_as_thing
from memory_plane_local.tokens import Token
from memory_plane_local.verbs import PAST, THIRD, forms

NOTHING_KNOWN: Mapping[str, str] = MappingProxyType({})
_MOST_WORDS = 4
_NUMBERED = frozenset({"Tool", "Language", "Agent", "Project"})
_MAY_BE = {"Tool": ("Tool", "Project"), "Project": ("Project", "Tool")}
"""What is used is a tool and what is led a project, whichever was said first of a thing."""


def listed(sentence: Sentence, at: int, gazetteer: Mapping[str, str]) -> Name | None:
    """Return a name of the word lists, or of the graph, unless a longer written name begins here."""
    tokens = sentence.tokens
    if is_initial(tokens, at):
        return None
    for known in known_names().get(tokens[at].low, ()):
        end = at + 1 + len(known.rest)
        if known.rest and tuple(token.low for token in tokens[at + 1 : end]) != known.rest:
            continue
        if known.ordinary and not _cued(sentence, at, end):
            continue
        if known.type == "Tool" and _personal(tokens, at) and not known.rest:
            continue
        if _grows(sentence, end) and tokens[at].shape != "low":
            return None
        end = _whole(tokens, end, known.type)
        return name_at(sentence, at, end, (known.type,), 0.95)
    return _known(sentence, at, gazetteer) if gazetteer else None


def _known(sentence: Sentence, at: int, gazetteer: Mapping[str, str]) -> Name | None:
    """A name of the graph, in whatever case; an ordinary word or the beginning of a longer name is none."""
    tokens = sentence.tokens
    for end in range(min(at + _MOST_WORDS, len(tokens)), at, -1):
        text = sentence.text[tokens[at].start : tokens[end - 1].end].lower()
        kind = gazetteer.get(text)
        if kind is None or (end == at + 1 and (len(text) < 3 or is_common(text))):
            continue
        if tokens[at].shape != "low" and _grows(sentence, end):
            return None
        if kind == "Person" and end == at + 1 and behaves_as_thing(tokens, at, end):
            return None
        options = () if kind == "Concept" else _MAY_BE.get(kind, (kind,))
        return name_at(sentence, at, _whole(tokens, end, kind), options, 0.9)
    return None


def _whole(tokens: Sequence[Token], end: int, kind: str) -> int:
    """The end of a listed name with the number of its version, or the legal form of a company."""
    if kind == "Organization":
        return legal_end(tokens, end)
    return _code_name(tokens, end, version_end(tokens, end)) if kind in _NUMBERED else end


def _code_name(tokens: Sequence[Token], begin: int, end: int) -> int:
    """The end of a name with what its version is called: ROS 2 Jazzy."""
    called = begin < end < len(tokens) and tokens[end].shape == "cap" and tokens[end - 1].shape == "num"
    return end + 1 if called and not _named(tokens[end].low) else end


def _named(low: str) -> bool:
    return low in known_names() or any(low in words(f"{kind}.txt") for kind in ("function", "first_names", "calendar"))


def _personal(tokens: Sequence[Token], at: int) -> bool:
    """Whether the name of a tool is somebody's here: "Hugo promised", but not "we use Hugo"."""
    given = tokens[at].text.istitle() and tokens[at].low in words("first_names.txt")
    return given and (not at or tokens[at - 1].low not in cues("tool"))


def _listed_at(sentence: Sentence, at: int) -> bool:
    """Whether a listed name begins at `at`."""
    tokens = sentence.tokens
    return any(
        tuple(token.low for token in tokens[at + 1 : at + 1 + len(known.rest)]) == known.rest
        for known in known_names().get(tokens[at].low, ())
    )


def _cued(sentence: Sentence, at: int, end: int) -> bool:
    """Whether an ordinary word such as Go or notion is meant as a name here."""
    tokens = sentence.tokens
    before = tokens[at - 1].low if at else ""
    if tokens[at].low in words("first_names_ambiguous.txt"):
        return before in cues("coded") or (end < len(tokens) and tokens[end].low in common_nouns())
    if tokens[at].shape == "low" or sentence.shout:
        after = tokens[end].low if end < len(tokens) else ""
        if before in cues("joiner") and tokens[at].low in forms() and after in cues("particle"):  # "and wired up"
            return False
        if before == "to" and tokens[at].low in forms() and end < len(tokens) and tokens[end].low in cues("going_on"):
            return False
        return before in cues("tool") and not (
            end < len(tokens) and tokens[end].shape == "low" and _goes_on(tokens[end])
        )
    if before == "(" or not opening(tokens, at):
        return True
    after = tokens[end].low if end < len(tokens) else ""
    if at and common_nouns().get(after) in ("Project", "Tool") and tokens[end].shape == "low":  # "perch: Rust daemon"
        return True
    return after in ("is", "and", "are", ",", ":", "was", "has", "'s", "or", "for") or _acts(after)


def _acts(word: str) -> bool:
    """Whether a word is a verb in the third person or the past: Muse noticed, Instinct flags."""
    kinds = forms().get(word, ("", frozenset()))[1]
    return word.endswith("ed") or THIRD in kinds or PAST in kinds or word in contexts("after")


def _goes_on(token: Token) -> bool:
    return token.low not in words("function.txt") and not token.low.endswith("ly")


def _grows(sentence: Sentence, end: int) -> bool:
    """Whether a capitalised word follows that makes the listed name a part of a longer one (Apple Valley)."""
    tokens = sentence.tokens
    if sentence.shout or end >= len(tokens):
        return False
    token = tokens[end]
    return token.shape == "cap" and token.low not in titles() and not _listed_at(sentence, end) and len(token.text) > 1
