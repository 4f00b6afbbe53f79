"""What the word lists say of one word or of a name in several words."""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

from memory_plane.vocabulary import tables as vocabulary
from memory_plane_local.tables import lines, rows, words


class Known(NamedTuple):
    """A listed name: the words after its first one, its type, and whether it is an ordinary word as well."""

    rest: tuple[str, ...]
    type: str
    ordinary: bool


class Role(NamedTuple):
    """A job title: the words after its first one, its label, and whether it makes a relation (CTO_OF)."""

    rest: tuple[str, ...]
    label: str
    leads: bool


@cache
def known_names() -> dict[str, tuple[Known, ...]]:
    """Return listed products, agents, organisations and places by first word, longest first."""
    found: dict[str, list[Known]] = {}
    for line in lines("products.txt"):
        kind, _, names = line.partition(":")
        for name in names.split():
            _add(found, name, kind)
    for name in words("places.txt"):
        _add(found, name, "Place")
    return {first: tuple(sorted(entries, key=lambda known: -len(known.rest))) for first, entries in found.items()}


def _add(found: dict[str, list[Known]], name: str, kind: str) -> None:
    first, *rest = name.lstrip("?").split("_")
    found.setdefault(first, []).append(Known(tuple(rest), kind, name.startswith("?")))


@cache
def roles() -> dict[str, tuple[Role, ...]]:
    """Return job titles by first word, longest first."""
    found: dict[str, list[Role]] = {}
    for label, kind, titles in vocabulary.rows("roles.tsv"):
        for title in titles.split("; "):
            first, *rest = title.split()
            found.setdefault(first, []).append(Role(tuple(rest), label, kind == "lead"))
    return {first: tuple(sorted(entries, key=lambda role: -len(role.rest))) for first, entries in found.items()}


@cache
def titles() -> frozenset[str]:
    """Return the job titles of one word."""
    return frozenset(first for first, entries in roles().items() if any(not role.rest for role in entries))


@cache
def nouns(where: str) -> dict[str, str]:
    """Return the type that a noun gives to the name at its side; `where` is "after" or "before"."""
    return {noun: kind for kind, side, text in rows("nouns.tsv") if side == where for noun in text.split()}


@cache
def common_nouns() -> dict[str, str]:
    """Return the nouns that type a phrase in lower case too: "Mika works" is no company."""
    return {noun: kind for noun, kind in nouns("after").items() if kind != "Organization"}


@cache
def contexts(side: str) -> dict[str, str]:
    """Return the type that a word "before" or "after" an untyped name suggests."""
    return {word: kind for kind, where, text in rows("contexts.tsv") if where == side for word in text.split()}


@cache
def is_common(word: str) -> bool:
    """Whether a lower-case word is ordinary English, inflections included."""
    common = words("common.txt")
    listed = word in common or word in words("function.txt") or word in words("scripts.txt")
    return listed or any(stem in common for stem in stems(word))


def stems(word: str) -> list[str]:
    """Return the base forms that `word` may be an inflection of."""
    found: list[str] = []
    for suffix, ends in _SUFFIXES:
        if word.endswith(suffix) and len(word) > len(suffix) + 2:
            root = word[: -len(suffix)]
            found += [root + end for end in ends]
            if len(root) > 2 and root[-1] == root[-2]:
                found.append(root[:-1])
    return found


_SUFFIXES = (
    ("ies", ("y",)),
    ("es", ("", "e")),
    ("s", ("",)),
    ("ied", ("y",)),
    ("ed", ("", "e")),
    ("ing", ("", "e")),
    ("ly", ("", "le")),
    ("er", ("", "e")),
    ("est", ("", "e")),
    ("ness", ("",)),
)
