"""Relations of a person's own domain, by configuration: rows before those of the table, for the whole process."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable

from memory_plane.errors import ConfigurationError
from memory_plane.vocabulary import tables
from memory_plane.vocabulary.catalogue import types

VAGUE = frozenset({"RELATED_TO", "ASSOCIATED_WITH", "CONNECTED_TO", "INVOLVES", "MENTIONS"})
STRENGTH = ".9"
THING = "Thing"
"""Stands in the tables for what is told in ordinary words alone, whose node is a Concept."""
_HINT = re.compile(r"([A-Z][A-Z_]*[A-Z]):\s*([\w, ]+?)\s*>\s*([\w, ]+?)\s*:\s*(\S.*)")


def add(hints: Iterable[str], place: str = "") -> None:
    """Add relations written as `MAINTAINS: Person > Tool, Project: maintain; look after`, each once.

    `place` says where they were read. Raise `ConfigurationError` for one that cannot be read, that is vague, or whose
    types there are not.
    """
    try:
        new = [row for row in dict.fromkeys(map(_row, hints)) if row not in tables.ADDED]
    except ConfigurationError as error:
        raise ConfigurationError(f"{error}  ({place or 'relations'})") from None
    if not new:
        return
    tables.ADDED[:0] = new
    forget()


def forget() -> None:
    """Have every table of the vocabulary, and what was made of it, be read anew."""
    for name, module in list(sys.modules.items()):
        if name.startswith(("memory_plane.vocabulary.", "memory_plane.ask.")):
            for value in vars(module).values():
                if hasattr(value, "cache_clear"):
                    value.cache_clear()


def _row(hint: str) -> tuple[str, ...]:
    found = _HINT.fullmatch(hint.strip())
    if found is None:
        raise ConfigurationError(f"relation {hint!r} cannot be read; write it as 'NAME: Person > Tool: verb; verb on'")
    name, sources, targets, phrases = found.groups()
    if name in VAGUE:
        raise ConfigurationError(f"relation {name!r} says nothing; name what the two do with each other")
    for side in (sources, targets):
        for kind in _listed(side, ","):
            if kind not in (known := (*types(), THING)):
                raise ConfigurationError(f"relation {name!r}: type {kind!r} is unknown; there are {', '.join(known)}")
    said = "; ".join(_listed(phrases, ";")).lower()
    return name, ",".join(_listed(sources, ",")), ",".join(_listed(targets, ",")), "state", STRENGTH, said


def _listed(text: str, separator: str) -> list[str]:
    return [part.strip() for part in text.split(separator) if part.strip()]
