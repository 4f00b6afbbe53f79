"""Names back to the form that other texts give them: в Газпроме, do Krakowa, у Львові."""

from __future__ import annotations

from collections.abc import Container, Iterator
from functools import cache

from memory_plane_local.tables import rows

CASES = ("loc", "gen", "dat", "ins", "acc")
_SOFTENED = ("шке", "вке", "тке", "чке", "йке", "лке", "пке")
"""After these a stem without its ending would end in sounds that no word ends in: Ромашка."""


def nominative(language: str, name: str, case: str, known: Container[str]) -> str:
    """Return the nominative of a name in `case`: what `known` (lower case) or the tables have, else by its ending."""
    whole = _irregular(language).get(name.replace(" ", "_").lower())
    return whole or " ".join(_word(language, word, case, known) for word in name.split(" "))


def _word(language: str, word: str, case: str, known: Container[str]) -> str:
    listed = _irregular(language).get(word.lower())
    if listed:
        return listed
    options = list(_candidates(language, word, case))
    names = _known(language)
    if word.lower() in names:
        return word
    return next((option for option in options if option.lower() in names or option.lower() in known), "") or (
        word if word.lower() in known else next(iter(options), word)
    )


def _candidates(language: str, word: str, case: str) -> Iterator[str]:
    """Yield what may be the nominative, the likeliest first."""
    softened = case == "loc" and word.endswith(_SOFTENED)
    for code, ending, *forms in rows("cases.tsv"):
        if code != language or len(forms) != len(CASES):
            continue
        form = forms[CASES.index(case)].strip("-")
        if not word.endswith(form) or (softened and ending != "а"):
            continue
        stem = word[: len(word) - len(form)]
        hard = ending != "-" or not form or stem[-1:].lower() not in _VOWELS
        if len(stem) > 1 and hard and (form or word[-1].lower() not in _VOWELS):
            yield stem + ending.strip("-")


_VOWELS = frozenset("аеёиоуыэюяіїєaeiouyąęó")


@cache
def _known(language: str) -> frozenset[str]:
    lists = (row[2] for row in rows("cases.tsv") if row[0] == language and row[1] == "known")
    return frozenset(name for names in lists for name in names.split())


@cache
def _irregular(language: str) -> dict[str, str]:
    """The nominatives of forms that follow no row."""
    found: dict[str, str] = {}
    for names in (row[2] for row in rows("cases.tsv") if row[0] == language and row[1] == "="):
        for entry in names.split("; "):
            first, *others = entry.split()
            found.update({form.lower(): first.replace("_", " ") for form in (first, *others)})
    return found
