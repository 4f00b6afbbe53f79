"""Text to tokens: the only place that looks at characters."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

from memory_plane_local.ideographs import segment

_MARKS = (
    "\u0300-\u036f\u0591-\u05bd\u05bf\u05c1-\u05c7\u064b-\u065f\u0670\u0900-\u0963\u0966-\u0dff\u0e31-\u0e4e"
    "\u0eb1-\u0ecd\u0f71-\u0f84\u102b-\u103e\u17b4-\u17d3"
)
"""Vowels and accents that are written as signs of their own within a word."""
_JOINERS, _DOT = "\u200c\u200d", "(?<=[\u30a1-\u30fc])・(?=[\u30a1-\u30fa])"
"""What stands inside words without being seen (Persian), and between the names of one person (マリア・シルバ)."""
# One alternative a kind of token, none of which can backtrack over another: linear on any text.
_SCANNER = re.compile(
    r"(?P<link>https?://\S+)"
    rf"|(?P<word>(?<![\w.,])\d{{1,3}}(?:,\d{{3}})+(?![\w,])|[\w{_MARKS}]+(?:(?:[-.'’@&{_JOINERS}]|{_DOT})[\w{_MARKS}]+)*(?:\+\+|\#(?!\w))?)"
    r"|(?P<owning>(?<=\w\.)['’]s\b)"  # Bruno K.'s team
    r"|(?P<mark>\n\s*|```|~~~|<->|<>|->|\.\.+|[^\w\s])"
)
_SAME = {"，": ",", "、": ",", "（": "(", "）": ")", "：": ":", "\u037e": ";", "~~~": "```"}
_SHORTENED = {"can't": (3, "can"), "won't": (2, "will"), "shan't": (3, "shall")}
_UNMARKED = {
    f"{verb}nt": (len(verb), verb)
    for verb in ("do", "does", "did", "is", "are", "was", "were", "has", "have", "had", "could", "should", "would")
} | {"cant": (3, "can"), "wont": (2, "will")}
"""Denials without their apostrophe, as people write them in chat: where they are cut, and what the verb is."""
_CLITICS = ("'s", "'re", "'ve", "'ll", "'d", "'m")


class Token(NamedTuple):
    """A word or mark; shape is `low`, `cap` (Alice), `mix` (gRPC, ROS2, a.b), `num`, `mark` or `link`."""

    text: str
    low: str
    start: int
    end: int
    shape: str


@lru_cache(maxsize=2)  # a memory is read, and then asked whom it concerns
def tokenize(text: str) -> tuple[Token, ...]:
    """Cut `text` into tokens, clitics apart: They're -> They 're; doesn't -> does n't."""
    tokens: list[Token] = []
    for found in _SCANNER.finditer(text):
        piece, start = found.group(), found.start()
        if found.lastgroup == "owning":
            tokens.append(Token(piece, "'s", start, found.end(), "low"))
        elif found.lastgroup != "word":
            kind = "link" if found.lastgroup == "link" else "mark"
            low = "\n" if piece[0] == "\n" else _SAME.get(piece, piece)
            tokens.append(Token(piece, low, start, found.end(), kind))
        elif "'" in piece or "’" in piece:
            tokens.extend(_contracted(piece, start))
        elif piece[:3].lower() == "ex-" and piece[3:4].isupper():
            tokens += [_word(piece[:2], start), _word(piece[3:], start + 3)]
        elif piece[-1] == "t" and piece.lower() in _UNMARKED:
            cut, low = _UNMARKED[piece.lower()]
            tokens.append(Token(piece[:cut], low, start, start + cut, _shape(piece[:cut])))
            tokens.append(Token(piece[cut:], "n't", start + cut, found.end(), "low"))
        elif piece.isascii():
            tokens.append(_word(piece, start))
        else:
            tokens.extend(_word(part, start + at) for at, part in segment(piece))
    return tuple(tokens)


def _word(piece: str, start: int) -> Token:
    return Token(piece, piece.lower(), start, start + len(piece), _shape(piece))


def _shape(piece: str) -> str:
    if piece.islower():
        return "low" if piece.isalpha() or not _has_sign(piece) else "mix"
    first = piece[0]
    if first.isdigit():
        return "mix" if any(char.isalpha() for char in piece) else "num"
    if first.isupper() or first.istitle():
        return "cap" if (piece[1:].islower() and piece.isalpha()) or len(piece) == 1 else "mix"
    return "mix" if any(char.isupper() for char in piece) else "low"


def uncased(token: Token) -> bool:
    """Return whether a word is in a script that has no capitals, or that writes no names with them (Georgian)."""
    first = token.text[0]
    return first > "\u0590" and token.shape == "low" and (first.upper() == first or "\u10d0" <= first <= "\u10ff")


def _has_sign(piece: str) -> bool:
    """Whether a lower-case word is written like an identifier: a digit, a dot or an @ in it."""
    return any(char in ".@_+#" or char.isdigit() for char in piece)


def _contracted(piece: str, start: int) -> list[Token]:
    plain = piece.lower().replace("’", "'")
    if plain in _SHORTENED:
        cut, low = _SHORTENED[plain]
        first = Token(piece[:cut], low, start, start + cut, _shape(piece[:cut]))
        return [first, Token(piece[cut:], "n't", start + cut, start + len(piece), "low")]
    if plain.endswith("n't") and len(plain) > 3:
        return _split(piece, plain, start, len(piece) - 3)
    for clitic in _CLITICS:
        if plain.endswith(clitic) and len(plain) > len(clitic):
            return _split(piece, plain, start, len(piece) - len(clitic))
    return [Token(piece, plain, start, start + len(piece), _shape(piece))]


def _split(piece: str, plain: str, start: int, at: int) -> list[Token]:
    end = start + len(piece)
    return [_word(piece[:at], start), Token(piece[at:], plain[at:], start + at, end, "low")]
