"""Tokens to sentences, and what holds for a whole sentence: asked, shouted, quoted code left out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from memory_plane_local.tables import cues, words
from memory_plane_local.tokens import Token

_ENDS = frozenset({".", "!", "?", "…", "。", "！", "？", "।", "؟", ";", "；", "\n", "..", "..."})
_QUESTION = frozenset({"?", "？", "؟"})
_SHOUT = 4
_INITIALS = 3
"""How many initials one has at most."""
_LANGUAGES = frozenset("CDR")
"""Letters that are names themselves, after a word: "written in R. Nobody knows why"."""
_LONGEST = 200
"""Tokens after which a sentence is cut, so that text without full stops costs no more than any other."""


_HEAD = 12
"""Tokens at the beginning of a line among which a program writes how grave it is, behind the time."""


@dataclass(slots=True)
class Sentence:
    """A stretch of tokens that says one thing. `fresh` is False after a semicolon: the subject goes on."""

    text: str
    tokens: Sequence[Token]
    question: bool
    shout: bool
    fresh: bool = True


def sentences(text: str, tokens: Sequence[Token]) -> Iterator[Sentence]:
    """Cut tokens into sentences; fenced code is skipped, it says nothing about the world."""
    start, fresh, fenced = 0, True, False
    for at, token in enumerate(tokens):
        if token.low == "```":
            if not fenced and at > start:
                yield _sentence(text, tokens[start:at], "", fresh)
            fenced, start, fresh = not fenced, at + 1, True
        elif fenced:
            start = at + 1
        elif token.low in _ENDS and not _abbreviation(tokens, at):
            if at > start:
                yield _sentence(text, tokens[start:at], token.low, fresh)
            start, fresh = at + 1, token.low not in (";", "；")
        elif at - start >= _LONGEST:
            yield _sentence(text, tokens[start:at], "", fresh)
            start = at
    if start < len(tokens) and not fenced:
        yield _sentence(text, tokens[start:], "", fresh)


def logged(tokens: Sequence[Token]) -> bool:
    """Return whether a program wrote a line: "[09:14:07] INFO started", "WARN retrying", "$ git push"."""
    while len(tokens) > 1 and tokens[0].low in ("`", ">", "|"):
        tokens = tokens[1:]
    first = tokens[0].text
    if first == "$":
        return len(tokens) > 1 and tokens[1].shape == "low"
    if first != "[" and not first[0].isdigit() and first not in cues("log_level"):
        return False
    level = next((at for at, token in enumerate(tokens[:_HEAD]) if token.text in cues("log_level")), -1)
    stamped = all(token.shape in ("mark", "num") or token.text[0].isdigit() for token in tokens[: max(level, 0)])
    return level >= 0 and stamped and level + 1 < len(tokens) and (level > 0 or tokens[1].shape in ("low", "num"))


def _abbreviation(tokens: Sequence[Token], at: int) -> bool:
    """Whether the full stop at `at` belongs to the word before it (Dr. Inc.) and the sentence goes on."""
    if tokens[at].low != "." or at == 0 or at + 1 >= len(tokens):
        return False
    before, after = tokens[at - 1], tokens[at + 1]
    if before.low in words("titles.txt") or before.low in cues("exemplifying"):
        return True
    if before.shape == after.shape == "cap" and before.low in cues("short_of_place"):
        return True
    if is_initial(tokens, at - 1) or is_last_initial(tokens, at - 1):
        return True
    return before.low in words("abbreviations.txt") and after.shape in ("low", "num")


def is_last_initial(tokens: Sequence[Token], at: int) -> bool:
    """Return whether a letter with a full stop is short for a family's name: "Bruno K. works at Acme"."""
    if not (0 < at < len(tokens) - 2 and tokens[at + 1].low == "." and _letters(tokens[at].text)):
        return False
    given, after = tokens[at - 1], tokens[at + 2]
    named = given.shape == "cap" and any(given.low in words(f"{kind}.txt") for kind in ("first_names", "given_names"))
    return named and (after.shape == "low" or after.low in (",", "(", ")"))


def is_initial(tokens: Sequence[Token], at: int) -> bool:
    """Return whether letters stand for given names before another name: "R. Smith", but not "Plan B. Alice left"."""
    end = at
    while end < at + 2 * _INITIALS and _is_dotted(tokens, end):
        end += 2
    if at < 0 or end == at or not _goes_on(tokens[end]):
        return False
    before = tokens[at - 1] if at else None
    if before is None or before.shape == "mark":
        return True
    if before.shape in ("cap", "mix"):
        return before.low in words("first_names.txt")
    return before.shape != "low" or tokens[at].text not in _LANGUAGES


def _is_dotted(tokens: Sequence[Token], at: int) -> bool:
    return 0 <= at < len(tokens) - 2 and tokens[at + 1].low == "." and _letters(tokens[at].text)


def _goes_on(token: Token) -> bool:
    return token.shape == "cap" and not any(token.low in words(f"{kind}.txt") for kind in ("function", "first_names"))


def _letters(text: str) -> bool:
    return text != "I" and all(len(part) == 1 and part.isupper() for part in text.split("."))


def _sentence(text: str, tokens: Sequence[Token], end: str, fresh: bool) -> Sentence:
    capitals = sum(1 for token in tokens if token.text.isupper() and len(token.text) > 1)
    if capitals >= _SHOUT:
        letters = sum(1 for token in tokens if token.shape not in ("mark", "num") and len(token.text) > 1)
        return Sentence(text, tokens, end in _QUESTION, capitals > 0.8 * letters, fresh)
    return Sentence(text, tokens, end in _QUESTION, False, fresh)
