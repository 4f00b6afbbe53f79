"""Patterns of questions that no verb of the vocabulary makes; each row of patterns.tsv is tried at a question."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache, lru_cache
from typing import Any, NamedTuple

from memory_plane.ask.grammar import Phrases
from memory_plane.ask.verbs import ARTICLES, OWNERS
from memory_plane.vocabulary.tables import rows

SLOTS = frozenset("ABNKIT")
ITEMS = {
    "questions": ("question",),
    "question": ("question",),
    "commitments": ("commitment",),
    "commitment": ("commitment",),
    "promises": ("commitment",),
    "handoffs": ("handoff",),
    "handoff": ("handoff",),
    **dict.fromkeys(("items", "item", "things", "tasks", "task", "todos", "to-dos", "loops", "issues", "points"), ()),
}
"""Nouns for open items, and the kinds that they mean; none = any."""

Bound = dict[str, Any]
Atom = str | frozenset[str]


class Pattern(NamedTuple):
    """One pattern of a form, with its option, if any; each place is a slot or the words that may stand there.

    Of each of the `words` one must stand in a question.
    """

    form: str
    option: str
    atoms: tuple[Atom, ...]
    words: tuple[frozenset[str], ...]


@cache
def patterns() -> dict[str, tuple[Pattern, ...]]:
    """Return the patterns by the word they begin with; those that begin with a slot under ""."""
    found: dict[str, list[Pattern]] = {}
    for name, text in rows("patterns.tsv"):
        form, _, option = name.partition(":")
        for source in text.split("; "):
            for atoms in _expanded(source):
                words = tuple(atom for atom in atoms if not isinstance(atom, str))
                for first in [""] if isinstance(atoms[0], str) else atoms[0]:
                    found.setdefault(first, []).append(Pattern(form, option, atoms, words))
    return {first: tuple(dict.fromkeys(entries)) for first, entries in found.items()}


def _expanded(source: str) -> Iterator[tuple[Atom, ...]]:
    """Yield a pattern with and without each of its brackets."""
    head, bracket, rest = source.partition("[")
    if not bracket:
        yield tuple(word if word in SLOTS else frozenset(word.split("|")) for word in source.split())
        return
    inside, _, tail = rest.partition("]")
    yield from _expanded(f"{head}{inside}{tail}")
    yield from _expanded(f"{head}{tail}")


def matching(phrases: Phrases) -> Iterator[tuple[Pattern, Bound]]:
    """Yield the patterns that a whole question fits, with what stands in their slots."""
    for pattern in _fitting(phrases.lows[0] if phrases.lows else "", frozenset(phrases.lows)):
        yield from ((pattern, bound) for bound in _match(phrases, pattern.atoms, 0, {}))


@lru_cache(maxsize=64)
def _fitting(first: str, said: frozenset[str]) -> tuple[Pattern, ...]:
    """Return the patterns whose words a question has; it is read several times, with other names."""
    tried = (*patterns().get(first, ()), *patterns().get("", ()))
    return tuple(pattern for pattern in tried if not any(map(said.isdisjoint, pattern.words)))


def _match(phrases: Phrases, atoms: Sequence[Atom], at: int, bound: Bound) -> Iterator[Bound]:
    if not atoms:
        if at == len(phrases.lows):
            yield bound
        return
    atom, rest = atoms[0], atoms[1:]
    if not isinstance(atom, str):
        at = _past_articles(phrases, atom, at)
        if at < len(phrases.lows) and phrases.lows[at] in atom:
            yield from _match(phrases, rest, at + 1, bound)
        return
    for value, end in _slot(phrases, atom, at):
        yield from _match(phrases, rest, end, {**bound, atom: value})


def _past_articles(phrases: Phrases, atom: frozenset[str], at: int) -> int:
    while at < len(phrases.lows) and phrases.lows[at] in ARTICLES - OWNERS and phrases.lows[at] not in atom:
        at += 1
    return at


def _slot(phrases: Phrases, slot: str, at: int) -> Iterator[tuple[Any, int]]:
    match slot:
        case "A" | "B":
            yield from phrases.terms(at)
        case "N":
            yield from phrases.attribute(at)
        case "K":
            yield from phrases.things(at)
        case "I":
            at = phrases.skip(at)
            if at < len(phrases.lows) and phrases.lows[at] in ITEMS:
                yield ITEMS[phrases.lows[at]], at + 1
        case _:
            at = phrases.skip(at)
            for end in range(len(phrases.lows), at, -1):
                yield phrases.text(at, end), end
