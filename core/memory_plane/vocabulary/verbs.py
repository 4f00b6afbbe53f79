"""Verbs: their inflections, and the phrases of the relation table that begin with them."""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

from memory_plane.vocabulary.tables import rows

BASE, THIRD, ING, PAST, PARTICIPLE = "base", "third", "ing", "past", "participle"


class Row(NamedTuple):
    """One sense of the relation table; `state` relations are over in the simple past."""

    relation: str
    subjects: tuple[str, ...]
    objects: tuple[str, ...]
    state: bool
    strength: float


class Phrase(NamedTuple):
    """The words after the verb, and what the whole phrase means; `turned` = the object comes first."""

    rest: tuple[str, ...]
    row: Row
    turned: bool


@cache
def phrases() -> dict[str, tuple[Phrase, ...]]:
    """Return the phrases of each verb, the longest first, in the order of the table among equals."""
    found: dict[str, list[Phrase]] = {}
    for relation, subjects, objects, tense, strength, text in rows("relations.tsv"):
        row = Row(relation, tuple(subjects.split(",")), tuple(objects.split(",")), tense == "state", float(strength))
        for phrase in text.split("; "):
            verb, *rest = phrase.lstrip("<").split()
            found.setdefault(verb, []).append(Phrase(tuple(rest), row, phrase.startswith("<")))
    return {verb: tuple(sorted(entries, key=lambda entry: -len(entry.rest))) for verb, entries in found.items()}


@cache
def _by_next_word() -> dict[str, dict[str, tuple[Phrase, ...]]]:
    """The phrases of a verb by the word after it; those that take any word stand under each."""
    found: dict[str, dict[str, tuple[Phrase, ...]]] = {}
    for verb, entries in phrases().items():
        nexts = {phrase.rest[0] for phrase in entries if phrase.rest} | {""}
        found[verb] = {
            word: tuple(phrase for phrase in entries if not phrase.rest or phrase.rest[0] in (word, "~"))
            for word in nexts
        }
    return found


def starting(verb: str, word: str) -> tuple[Phrase, ...]:
    """Return the phrases of a verb that can go on with `word`, the longest first."""
    entries = _by_next_word().get(verb)
    if entries is None:
        return ()
    return entries.get(word) or entries[""]


def inflections(lemma: str) -> list[tuple[str, str]]:
    """Return (word, form) for every form of a verb."""
    return _inflect(lemma, _irregular().get(lemma))


@cache
def _irregular() -> dict[str, tuple[str, ...]]:
    return {row[0]: row[1:] for row in rows("irregular.tsv")}


@cache
def forms() -> dict[str, tuple[str, frozenset[str]]]:
    """Return (base form, possible inflections) of every word that can be a form of a listed verb."""
    found: dict[str, tuple[str, set[str]]] = {}
    irregular = _irregular()
    for lemma in [*irregular, *(verb for verb in (*phrases(), *_MORE) if verb not in irregular)]:
        for word, form in inflections(lemma):
            found.setdefault(word, (lemma, set()))[1].add(form)
    return {word: (lemma, frozenset(kinds)) for word, (lemma, kinds) in found.items()}


def _inflect(lemma: str, irregular: tuple[str, ...] | None) -> list[tuple[str, str]]:
    pairs = [(lemma, BASE), (_third(lemma), THIRD), (_suffixed(lemma, "ing"), ING)]
    if irregular is None:
        return [*pairs, (_suffixed(lemma, "ed"), PAST), (_suffixed(lemma, "ed"), PARTICIPLE)]
    for words, form in zip(irregular, (PAST, PARTICIPLE, THIRD, ING, BASE), strict=False):
        pairs += [(word, form) for word in words.split()]
    return pairs


def _third(lemma: str) -> str:
    if lemma.endswith(("s", "x", "ch", "sh", "z", "o")):
        return lemma + "es"
    return lemma[:-1] + "ies" if lemma.endswith("y") and lemma[-2] not in "aeiou" else lemma + "s"


def _suffixed(lemma: str, suffix: str) -> str:
    if lemma.endswith("e") and not lemma.endswith("ee"):
        return lemma[:-1] + suffix
    if suffix == "ed" and lemma.endswith("y") and lemma[-2] not in "aeiou":
        return lemma[:-1] + "ied"
    short = (
        len(lemma) <= 4
        and len(lemma) > 2
        and lemma[-1] not in "aeiouwxy"
        and lemma[-2] in "aeiou"
        and lemma[-3] not in "aeiou"
    )
    return lemma + lemma[-1] + suffix if short or lemma in _DOUBLING else lemma + suffix


_MORE = (
    "swap",
    "pass",
    "delegate",
    "assign",
    "draw",
    "sketch",
    "paint",
    "render",
    "cut",
    "document",
    "redeploy",
    "add",
    "drop",
    "ditch",
    "abandon",
    "scrap",
)
"""Verbs of statements that stand in no phrase."""
_DOUBLING = frozenset({"transfer", "commit", "refer", "prefer", "submit", "program"})
