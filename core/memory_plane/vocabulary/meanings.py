"""What the words of a question mean in the graph: kinds of things, what things have, and what a relation includes."""

from __future__ import annotations

import re
from functools import cache
from typing import NamedTuple

from memory_plane.vocabulary.tables import rows
from memory_plane.vocabulary.verbs import Phrase, Row, inflections, phrases

Words = tuple[str, ...]
_NO_OFFICE = frozenset({"FOUNDER", "PARTNER", "OWNER"})
"""Titles that do not say that somebody works there now."""


class Way(NamedTuple):
    """A relation to look along; `forward`: what is sought is its source; `targets`: types of its target, None = any.

    A relation that ends with "_" stands for all that begin so: HEAD_OF_DESIGN_OF.
    """

    relation: str
    forward: bool
    targets: frozenset[str] | None = None


class Attribute(NamedTuple):
    """What something has: the ways to it, the kinds of it, and the keys of facts that hold it.

    With `via` the ways begin at what the owner has along that one: colleagues work where one works.
    """

    ways: tuple[Way, ...]
    kinds: frozenset[str]
    keys: frozenset[str]
    via: Way | None = None


class Title(NamedTuple):
    """A job title: its label, whether it is an office (CTO_OF), and all words for it."""

    label: str
    office: bool
    words: tuple[str, ...]


@cache
def kinds() -> dict[Words, frozenset[str]]:
    """Return the types that people mean by a word such as "companies"."""
    return {
        tuple(word.split("_")): frozenset(types.split(","))
        for types, text in rows("kinds.tsv")
        for word in text.split()
    }


@cache
def sorts() -> dict[Words, frozenset[str]]:
    """Return the names, folded, of what people mean by a word such as "database"."""
    return {
        tuple(word.split("_")): frozenset(name.replace("_", " ") for name in names.split())
        for words, names in rows("sorts.tsv")
        for word in words.split()
    }


@cache
def genders() -> dict[str, frozenset[str]]:
    """Return the first names and nouns, folded, of people who are always "she", and of those who are always "he"."""
    found: dict[str, list[str]] = {}
    for pronoun, text in rows("genders.tsv"):
        found.setdefault(pronoun, []).extend(text.split())
    return {pronoun: frozenset(names) for pronoun, names in found.items()}


@cache
def titles() -> dict[Words, Title]:
    """Return job titles by their words, plurals too."""
    found: dict[Words, Title] = {}
    for label, kind, text in rows("roles.tsv"):
        names = tuple(text.split("; "))
        title = Title(label, kind == "lead", names)
        for name in names:
            found[tuple(name.split())] = found[tuple(f"{name}s".split())] = title
    return found


@cache
def offices() -> tuple[str, ...]:
    """Return the relations of offices: CTO_OF, HEAD_OF …"""
    return tuple(dict.fromkeys(f"{title.label}_OF" for title in titles().values() if title.office))


@cache
def _office() -> re.Pattern[str]:
    return re.compile(f"({'|'.join(offices())})(_.+_OF)?")


def is_office(relation: str) -> bool:
    """Return whether a relation is an office, also one for something: CTO_OF, HEAD_OF_DESIGN_OF."""
    return _office().fullmatch(relation) is not None


@cache
def attributes() -> dict[Words, tuple[Attribute, ...]]:
    """Return what something has by its words; a title is had by whom it is held at."""
    found: dict[Words, list[Attribute]] = {}
    for relation, types, keys, text in rows("attributes.tsv"):
        shared = Way(relation.removeprefix("~"), forward=False) if relation.startswith("~") else None
        ways = _ways(f"<{relation.removeprefix('~')}" if shared else relation)
        attribute = Attribute(ways, _set(types, ","), _set(keys, " "), shared)
        for word in text.split():
            found.setdefault(tuple(word.split("_")), []).append(attribute)
    for words, title in titles().items():
        if title.office:
            ways = including(Way(f"{title.label}_OF", forward=True))
            found.setdefault(words, []).append(Attribute(ways, frozenset(), frozenset({"_".join(words)})))
    return {words: tuple(entries) for words, entries in found.items()}


@cache
def keys_of(way: Way) -> frozenset[str]:
    """Return the keys of facts about one end of an edge that say what is at the other."""
    found = (one for entries in attributes().values() for one in entries if one.ways[:1] == (way,))
    return frozenset(key for one in found for key in one.keys)


def _ways(relation: str) -> tuple[Way, ...]:
    """The table says how one looks from the owner: "<" = the owner is the target."""
    if relation == "title":
        names = (name for office in offices() for name in (office, f"{office}_"))
        return (Way("HAS_ROLE", forward=False), *(Way(name, forward=False) for name in names))
    name = relation.lstrip("<=")
    if relation.startswith("="):
        return Way(name, forward=True), Way(name, forward=False)
    return including(Way(name, forward=relation.startswith("<")))


def _set(text: str, separator: str) -> frozenset[str]:
    return frozenset() if text in ("*", "-") else frozenset(text.split(separator))


def including(way: Way) -> tuple[Way, ...]:
    """Return a way with those of the relations that say the same: whoever is CTO_OF a company works there."""
    found = [way]
    for one in _meanings().get(way.relation, ("", ""))[1].split():
        relation, _, type_ = one.partition(":")
        held = (name for name in offices() if name.removesuffix("_OF") not in _NO_OFFICE)
        names = [name for office in held for name in (office, f"{office}_")]
        targets = frozenset({type_}) if type_ else None
        found += [Way(name, way.forward, targets) for name in (names if relation == "title" else [relation])]
    if backwards(way.relation) == way.relation:
        found.append(Way(way.relation, not way.forward))
    return tuple(dict.fromkeys(found))


@cache
def exclusive() -> dict[str, str]:
    """Return the relations of which a thing of a type has but one at a time: a later one takes its place."""
    return {relation: type_ for relation, type_, _ in rows("exclusive.tsv")}


def is_sole(relation: str) -> bool:
    """Return whether a thing is seldom at the target of two edges of a relation: it has one CTO, one that leads it."""
    return is_office(relation) or relation in _sole()


@cache
def _sole() -> frozenset[str]:
    return frozenset(relation for (relation,) in rows("sole.tsv"))


@cache
def former() -> dict[str, str]:
    """Return how relations are called once they are over."""
    return {relation: over for relation, _, over in rows("exclusive.tsv")}


def backwards(relation: str) -> str:
    """Return how a relation is called from its target to its source: LEADS, LED_BY."""
    inverse = _meanings().get(relation, ("", ""))[0]
    if inverse:
        return relation if inverse == "=" else inverse
    if relation.endswith("_OF"):
        return f"HAS_{relation.removesuffix('_OF')}"
    return f"{relation}, backwards"


@cache
def _meanings() -> dict[str, tuple[str, str]]:
    return {relation: (inverse, "".join(others)) for relation, inverse, *others in rows("meanings.tsv")}


@cache
def verb_forms() -> dict[str, tuple[tuple[str, frozenset[str]], ...]]:
    """Return what every word can be as a verb of a question: (base form, which forms of it), "found" twice."""
    found: dict[str, dict[str, set[str]]] = {}
    for lemma in question_phrases():
        for word, form in inflections(lemma):
            found.setdefault(word, {}).setdefault(lemma, set()).add(form)
    return {word: tuple((lemma, frozenset(kinds)) for lemma, kinds in verbs.items()) for word, verbs in found.items()}


@cache
def question_phrases() -> dict[str, tuple[Phrase, ...]]:
    """Return the phrases of each verb as `phrases()` does, those that only questions use included."""
    # That two are of one family does not say whether they are married: sentences do. Nor does the graph have what was
    # fixed where "fixed the bug in Orbit" says that Orbit was changed.
    found = {
        verb: [
            one
            for one in entries
            if (one.row.relation != "FAMILY_OF" or "related" in one.rest)
            and (one.rest or not any("~" in other.rest and other.row.relation == one.row.relation for other in entries))
        ]
        for verb, entries in phrases().items()
    }
    for relation, subjects, objects, tense, text in rows("questions.tsv"):
        row = Row(relation, tuple(subjects.split(",")), tuple(objects.split(",")), tense == "state", 1.0)
        for phrase in text.split("; "):
            verb, *rest = phrase.lstrip("<").split()
            found.setdefault(verb, []).append(Phrase(tuple(rest), row, phrase.startswith("<")))
    return {verb: tuple(entries) for verb, entries in found.items()}
