"""Entities and relations of other graph memories as facts that read well, and that a graph grows from again."""

from __future__ import annotations

import re
from collections.abc import Iterable

_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")


def name_of(name: str) -> str:
    """Return an entity's name as people write it: `John_Smith` is two words, `snake_case` is a name."""
    parts = name.split("_")
    return " ".join(parts) if len(parts) > 1 and all(part[:1].isupper() for part in parts) else name


def key_of(relation: str) -> str:
    """Return a relation in plain words: `worksAt`, `WORKS_AT` and `works-at` are `works at`."""
    return " ".join(re.split(r"[\s_-]+", _CAMEL.sub(" ", relation).strip())).lower()


def listed(values: Iterable[str]) -> str:
    """Return several values of one key as one, in their order, each once."""
    return ", ".join(dict.fromkeys(values))
