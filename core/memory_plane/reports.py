"""What a memory says of itself and of its work: frozen values that cross surfaces, and no hook."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

from memory_plane.types import Operation


@dataclass(frozen=True, slots=True, kw_only=True)
class Status:
    """Where the memory is and how it fares; `waiting` counts the enrichment queue, `agents` tells each last write.

    `queued` and `queued_since` are the depth and age of this machine's outbox, `dead` what was refused out of it;
    `purging` counts what was forgotten and may still stand in a file.
    """

    home: Path
    database: str
    revision: str
    operations: int
    thoughts: int
    open_items: int
    facts: int
    nodes: int
    edges: int
    waiting: int
    spooled: int
    failures: tuple[str, ...]
    agents: tuple[tuple[str, datetime], ...]
    queued: int = 0
    queued_since: datetime | None = None
    dead: int = 0
    purging: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Stats:
    """What the memory is made of; `bytes` is the size of the database with its log, 0 for a server.

    `answers_by_plugin`: about how many memories each plugin had something to say. `nodes_by_origin`: whose words the
    names are; `most_linked`: the nodes with most edges, by their slugs.
    """

    operations_by_agent: Mapping[str, int]
    thoughts_by_kind: Mapping[str, int]
    nodes_by_type: Mapping[str, int]
    edges_by_relation: Mapping[str, int]
    bytes: int
    answers_by_plugin: Mapping[str, int] = field(default_factory=dict)
    nodes_by_origin: Mapping[str, int] = field(default_factory=dict)
    most_linked: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class IngestReport:
    """One round of ingesting: events turned, plugins polled, operations stored, deferred answers that came."""

    events: int = 0
    polled: int = 0
    stored: int = 0
    enriched: int = 0
    failures: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class SyncReport:
    """One exchange with another memory: operations that were new here and there, and what was refused and why."""

    pulled: int = 0
    pushed: int = 0
    refused: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class RebuildReport:
    """What was folded anew; `changed` has the ids of memories about which plugins now say something else."""

    operations: int
    derivations: int
    changed: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Changes:
    """What one store tells another, as JSON holds it; `cursor` is where to go on, at once if there is `more`."""

    operations: tuple[Mapping[str, Any], ...]
    derivations: tuple[Mapping[str, Any], ...]
    cursor: str
    more: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Preview:
    """What an operation would take away and what it would bring, a line each; or why it would be refused."""

    gone: tuple[str, ...] = ()
    new: tuple[str, ...] = ()
    refusal: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Loss:
    """What forgetting an operation takes away: itself, what was said about it, and how much was found in these."""

    operations: tuple[Operation, ...] = ()
    derivations: int = 0
    nodes: int = 0
    edges: int = 0
