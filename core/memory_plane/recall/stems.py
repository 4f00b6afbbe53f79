"""English words without their endings, by Porter's algorithm of 1980, as the full-text index has them."""

from __future__ import annotations

import re
from functools import lru_cache

_SECOND = {
    "ational": "ate", "tional": "tion", "enci": "ence", "anci": "ance", "izer": "ize", "bli": "ble", "alli": "al",
    "entli": "ent", "eli": "e", "ousli": "ous", "ization": "ize", "ation": "ate", "ator": "ate", "alism": "al",
    "iveness": "ive", "fulness": "ful", "ousness": "ous", "aliti": "al", "iviti": "ive", "biliti": "ble", "logi": "log",
}  # fmt: skip
_THIRD = {"icate": "ic", "ative": "", "alize": "al", "iciti": "ic", "ical": "ic", "ful": "", "ness": ""}
_FOURTH = (
    "al", "ance", "ence", "er", "ic", "able", "ible", "ant", "ement", "ment", "ent", "ion", "ou", "ism", "ate", "iti",
    "ous", "ive", "ize",
)  # fmt: skip
_VOWEL = re.compile(r"[aeiou]|[^aeiou]y")
_DOUBLE = re.compile(r"([^aeiouylsz])\1$")
_SHORT = re.compile(r"[^aeiou][aeiouy][^aeiouwxy]$")


@lru_cache(maxsize=20_000)
def stem(word: str) -> str:
    """Return the stem of a small word; one that is not made of a to z stays as it is."""
    if len(word) < 3 or not (word.isascii() and word.isalpha()):
        return word
    word = _plural(word)
    word = _past(word)
    if word.endswith("y") and _VOWEL.search(word[:-1]):
        word = f"{word[:-1]}i"
    for endings in (_SECOND, _THIRD):
        word = _replaced(word, endings)
    return _final(_longer(word))


def _plural(word: str) -> str:
    if word.endswith(("sses", "ies")):
        return word[:-2]
    return word[:-1] if word.endswith("s") and not word.endswith("ss") else word


def _past(word: str) -> str:
    if word.endswith("eed"):
        return word[:-1] if _measure(word[:-3]) > 0 else word
    for ending in ("ed", "ing"):
        rest = word.removesuffix(ending)
        if rest != word and _VOWEL.search(rest):
            if rest.endswith(("at", "bl", "iz")):
                return f"{rest}e"
            if _DOUBLE.search(rest):
                return rest[:-1]
            return f"{rest}e" if _measure(rest) == 1 and _SHORT.search(rest) else rest
    return word


def _replaced(word: str, endings: dict[str, str]) -> str:
    for length in range(7, 2, -1):
        ending = word[-length:]
        if len(word) > length and ending in endings:
            rest = word[:-length]
            return f"{rest}{endings[ending]}" if _measure(rest) > 0 else word
    return word


def _longer(word: str) -> str:
    for ending in sorted(_FOURTH, key=len, reverse=True):
        if word.endswith(ending):
            rest = word[: -len(ending)]
            fits = ending != "ion" or rest.endswith(("s", "t"))
            return rest if fits and _measure(rest) > 1 else word
    return word


def _final(word: str) -> str:
    if word.endswith("e"):
        rest = word[:-1]
        measure = _measure(rest)
        if measure > 1 or (measure == 1 and not _SHORT.search(rest)):
            word = rest
    return word[:-1] if word.endswith("ll") and _measure(word) > 1 else word


def _measure(rest: str) -> int:
    """Count how often vowels are followed by consonants."""
    count, before = 0, False
    for place, sign in enumerate(rest):
        vowel = sign in "aeiou" or (sign == "y" and place > 0 and not before)
        count += before and not vowel
        before = vowel
    return count
