"""The types and relations of the graph as a model is told of them: what each means, and what may stand on each side."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from itertools import islice
from typing import NamedTuple

from memory_plane.vocabulary.tables import rows

NONE = "NONE"
"""What a model answers where a text says none of the relations."""
_TOLD = 3


class Relation(NamedTuple):
    """One relation: which types it joins, source before target, and phrases that say it."""

    name: str
    joins: frozenset[tuple[str, str]]
    phrases: tuple[str, ...]

    @property
    def meaning(self) -> str:
        """Say what it means in a few phrases."""
        return "; ".join(islice(self.phrases, _TOLD)) or self.name.lower().replace("_", " ")


@cache
def types() -> Mapping[str, str]:
    """Return what each type of node means."""
    return dict(rows("types.tsv"))  # type: ignore[arg-type]


@cache
def relations() -> Mapping[str, Relation]:
    """Return the relations by name, those of offices (`CTO_OF`) and promises among them."""
    joins: dict[str, set[tuple[str, str]]] = {}
    phrases: dict[str, list[str]] = {}
    for name, sources, targets, said in _senses():
        joins.setdefault(name, set()).update((source, target) for source in sources for target in targets)
        phrases.setdefault(name, []).extend(said)
    return {name: Relation(name, frozenset(joins[name]), tuple(dict.fromkeys(phrases[name]))) for name in joins}


def between(source: str, target: str) -> tuple[str, ...]:
    """Return the relations that may lead from one type to another, in the order of the table."""
    return tuple(name for name, relation in relations().items() if (source, target) in relation.joins)


def _senses() -> Iterator[tuple[str, tuple[str, ...], tuple[str, ...], list[str]]]:
    for name, sources, targets, _, _, text in rows("relations.tsv"):
        said = [phrase.replace(" ~ ", " … ") for phrase in text.split("; ") if not phrase.startswith("<")]
        yield name, tuple(sources.split(",")), tuple(targets.split(",")), said
    for label, kind, titles in rows("roles.tsv"):
        if kind == "lead":
            said = [f"be {title} of" for title in titles.split("; ")]
            yield f"{label}_OF", ("Person", "Agent"), ("Organization", "Team", "Project"), said
    yield "HAS_ROLE", ("Person",), ("Role",), ["have the job title"]
    yield "COMMITTED_TO", ("Person", "Agent"), ("Commitment",), ["have promised", "have to deliver", "owe"]
