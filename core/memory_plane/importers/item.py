"""What every importer yields: entries with a name, each of which becomes a few operations, or says why it does not."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime, tzinfo
from typing import TYPE_CHECKING, Any, NamedTuple
from uuid import uuid5

from memory_plane.errors import MemoryPlaneError
from memory_plane.operations import iso
from memory_plane.types import NAMESPACE, Operation

if TYPE_CHECKING:
    from memory_plane.importers.files import Files

NAME = 512
"""The longest subject, key or source that an operation may have, in characters."""


class Skipped(MemoryPlaneError):
    """Nothing of an entry is worth storing; the message says why."""


class Entry(NamedTuple):
    """One thing of a source: a name to show, and what makes its operations or raises `Skipped`."""

    label: str
    operations: Callable[[], tuple[Operation, ...]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Retold(Operation):
    """An operation that says what another one has said, `told`, where that is known."""

    told: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """A kind of source: how to tell it, and how to read it; times without a zone are of the person's.

    `over`: what is in it has come to its end, so that nothing of it stays open.
    """

    name: str
    looks_for: str
    found: Callable[[Files], bool]
    entries: Callable[[Files, tzinfo | None], Iterator[Entry]]
    over: bool = False


def thought(agent: str, key: list[Any], text: str, *, at: datetime, **body: Any) -> Operation:
    """Make a thought whose id comes of `key`, what the source itself calls it by."""
    return _operation("thought", agent, key, at, {"kind": "observation", "text": clean(text)} | body)


def fact(agent: str, subject: str, key: str, value: str, *, at: datetime, **body: Any) -> Operation:
    """Make a fact as it was at a time; the same one of the same time has the same id."""
    said = {"subject": short(subject), "key": short(key), "value": clean(value)} | body
    return _operation("fact", agent, [subject, key, value, iso(at), body], at, said)


def clean(text: str) -> str:
    """Return `text` without halves of characters, which JSON can carry and no file can."""
    return text.encode("utf-8", "replace").decode()


def short(text: str, limit: int = NAME) -> str:
    """Return `text` on one line and no longer than a name may be."""
    line = " ".join(clean(text).split())
    return line if len(line) <= limit else f"{line[: limit - 1]}…"


def _operation(op: str, agent: str, key: list[Any], at: datetime, body: dict[str, Any]) -> Operation:
    id = str(uuid5(NAMESPACE, json.dumps(["import", op, agent, *key])))
    said = {name: value for name, value in body.items() if value is not None}
    return Operation(id=id, op=op, agent=agent, created_at=at, body=said)
