"""What can be read while neither hub nor database answers: `local-cache.json`, with the queued writes on top."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, TypeVar
from unicodedata import normalize

from memory_plane.store.names import folded
from memory_plane.types import (
    OPEN_KINDS,
    Fact,
    Heartbeat,
    Hit,
    OpenItem,
    Operation,
    Pulse,
    Recall,
    Thought,
)

logger = logging.getLogger(__name__)

FILE = "local-cache.json"
PAGES = ("PULSE.md", "SHARED_MEMORY.md")
SNIPPET = 240

_Record = TypeVar("_Record", Thought, OpenItem, Fact, Heartbeat)
_TIMES = ("created_at", "at", "due_at", "snoozed_until", "valid_from", "valid_until", "superseded_at")
_EARLIEST = datetime.min.replace(tzinfo=UTC)


class Replica:
    """The newest that was known here, with this machine's queued operations folded in; the graph is not in it."""

    def __init__(self, home: Path, queued: Sequence[Operation], now: datetime, stale_after: timedelta) -> None:
        """Read the copy in `home`; a missing or broken one is as good as empty."""
        self._now = now
        self._stale_after = stale_after
        self._queued = queued
        found = _load(home / FILE)
        self.known = bool(found) or bool(queued)
        self._thoughts = {one.id: one for one in _records(Thought, found.get("thoughts"))}
        self._items = {one.id: one for one in _records(OpenItem, found.get("items"))}
        self._facts = {_place(one): one for one in _records(Fact, found.get("facts"))}
        self._beats = {one.agent: one for one in _records(Heartbeat, found.get("heartbeats"))}
        for operation in sorted(queued, key=lambda one: (one.created_at, one.id)):
            self._fold(operation)

    # --- reads ---------------------------------------------------------------------------------------------------

    def pulse(self) -> Pulse:
        """Return the live state as it was last known."""
        beats = sorted(self._beats.values(), key=lambda one: (one.at, one.agent), reverse=True)
        aged = (replace(one, stale=self._now - one.at > self._stale_after) for one in beats)
        items = self.items()
        return Pulse(
            at=self._now,
            heartbeats=tuple(aged),
            items=tuple(items),
            thoughts=tuple(self.thoughts()),
            edges=(),
            items_total=len(items),
        )

    def items(self, *, agent: str | None = None, to: str | None = None, limit: int = 50) -> list[OpenItem]:
        """Return open items, pinned ones first, then due ones, then the oldest."""
        awake = [one for one in self._items.values() if one.snoozed_until is None or one.snoozed_until <= self._now]
        chosen = [
            one
            for one in awake
            if (agent is None or one.agent == agent) and (to is None or (one.to or "").lower() == to.lower())
        ]
        chosen.sort(key=lambda one: (not one.pinned, one.due_at is None, one.due_at or _EARLIEST, one.created_at))
        return chosen[:limit]

    def thoughts(self, *, limit: int = 50) -> list[Thought]:
        """Return the newest thoughts."""
        return sorted(self._thoughts.values(), key=lambda one: (one.created_at, one.id), reverse=True)[:limit]

    def facts(
        self,
        *,
        subject: str | None = None,
        key: str | None = None,
        as_of: datetime | None = None,
        known_at: datetime | None = None,
        history: bool = False,
        limit: int = 200,
    ) -> list[Fact]:
        """Return the values that hold; the history is not in the copy."""
        at = as_of or known_at or self._now
        chosen = [
            one
            for one in self._facts.values()
            if (subject is None or folded(one.subject) == folded(subject))
            and (key is None or folded(one.key) == folded(key))
            and one.valid_from <= at
            and one.created_at <= (known_at or one.created_at)
            and (one.valid_until is None or at < one.valid_until)
        ]
        chosen.sort(key=lambda one: (one.created_at, one.id), reverse=True)
        return chosen[:limit]

    def recall(
        self,
        query: str,
        *,
        agent: str | None = None,
        kind: str | None = None,
        project: str | None = None,
        person: str | None = None,
        since: datetime | None = None,
        until: datetime | None = None,
        limit: int = 8,
        cursor: str | None = None,
        explain: bool = False,
        tokens: int | None = None,
    ) -> Recall:
        """Return what holds words of the query, the most of them first, then the newest; there is one page only.

        There is nothing to explain, and the copy knows no conversations.
        """
        words = _words(query)
        hits = [
            replace(hit, score=_score(words, text))
            for hit, text in self._documents()
            if (agent is None or hit.agent == agent)
            and (kind is None or hit.kind == kind)
            and (project is None or project.casefold() in hit.source.casefold().split(", ")[1:])
            and (person is None or folded(person) in folded(text))
            and (since is None or hit.created_at >= since)
            and (until is None or hit.created_at < until)
        ]
        found = [hit for hit in hits if hit.score > 0 or not words]
        found.sort(key=lambda hit: (hit.score, hit.created_at, hit.id), reverse=True)
        return Recall(hits=tuple(found[:limit]))

    def find(self, prefix: str) -> list[str]:
        """Return up to 10 ids that begin with `prefix`."""
        digits = prefix.replace("-", "").lower()
        if not digits:
            return []
        known = {*self._thoughts, *self._items, *(one.id for one in self._facts.values())}
        known |= {one.id for one in self._queued}
        beginning, _, place = digits.partition(".")
        found = sorted(id for id in known if id.partition(".")[0].replace("-", "").startswith(beginning))
        return [id for id in found if id.partition(".")[2] == place][:10]

    # --- the fold of what is queued ------------------------------------------------------------------------------

    def _fold(self, operation: Operation) -> None:
        body = operation.body
        target: str = body.get("target") or body.get("item") or ""
        match operation.op:
            case "thought" | "fact" if not body.get("held"):
                self._show(operation)
            case "release":
                for one in self._queued:
                    if one.id == target:
                        self._show(one)
            case "heartbeat":
                self._beat(operation)
            case "resolve":
                self._close(target)
            case "assign":
                self._change(target, to=body["to"])
            case "snooze":
                self._change(target, snoozed_until=_time(body["until"]))
            case "pin":
                self._change(target, pinned=body["pinned"])
            case "retract" | "forget":
                self._thoughts.pop(target, None)
                self._close(target)
                self._facts = {place: one for place, one in self._facts.items() if one.id != target}

    def _show(self, operation: Operation) -> None:
        if operation.op == "thought":
            self._write(operation)
        elif operation.op == "fact":
            self._set(operation)

    def _write(self, operation: Operation) -> None:
        body, known = operation.body, {"id": operation.id, "agent": operation.agent, "text": operation.body["text"]}
        known |= {"kind": body["kind"], "created_at": operation.created_at, "origin": body["origin"]}
        known["project"] = body.get("project")
        self._thoughts[operation.id] = Thought(**known)
        if body["kind"] in OPEN_KINDS:
            owner = body.get("owner") or (operation.agent if body["kind"] == "commitment" else None)
            due_at = _time(body.get("due_at"))
            item = OpenItem(**known, owner=owner, to=body.get("to"), status="open", due_at=due_at)
            self._items[operation.id] = item

    def _set(self, operation: Operation) -> None:
        body = operation.body
        fact = Fact(
            id=operation.id,
            subject=body["subject"],
            key=body["key"],
            value=body["value"],
            confidence=body["confidence"],
            agent=operation.agent,
            origin=body["origin"],
            created_at=operation.created_at,
            valid_from=_time(body.get("valid_from")) or operation.created_at,
            valid_until=_time(body.get("valid_until")),
            source=body.get("source"),
        )
        known = self._facts.get(_place(fact))
        if known is None or (known.created_at, known.id) <= (fact.created_at, fact.id):
            self._facts[_place(fact)] = fact

    def _beat(self, operation: Operation) -> None:
        body, at = operation.body, operation.created_at
        known = self._beats.get(operation.agent)
        if known is None or known.at <= at or not known.focus:
            self._beats[operation.agent] = Heartbeat(
                agent=operation.agent,
                focus=body["focus"],
                project=body.get("project"),
                status=body["status"],
                at=at,
                stale=False,
            )

    def _among(self, target: str) -> list[str]:
        """The items that an id means: one, or all of a memory."""
        return [id for id, one in self._items.items() if target in (id, one.memory)]

    def _close(self, target: str) -> None:
        for id in self._among(target):
            del self._items[id]

    def _change(self, target: str, **values: Any) -> None:
        for id in self._among(target):
            self._items[id] = replace(self._items[id], **values)
        if target in self._thoughts and "pinned" in values:
            self._thoughts[target] = replace(self._thoughts[target], **values)

    # --- what recall looks through -------------------------------------------------------------------------------

    def _documents(self) -> Iterable[tuple[Hit, str]]:
        texts: list[Thought | OpenItem] = [*self._thoughts.values()]
        texts += (one for one in self._items.values() if one.memory not in self._thoughts)
        for one in texts:
            yield _hit(one, one.kind, one.text, one.project), f"{one.text} {one.agent} {one.project or ''}"
        for fact in self._facts.values():
            words = f"{fact.subject} {fact.key.replace('_', ' ')}: {fact.value}"
            yield _hit(fact, "fact", words, None), f"{words} {fact.agent}"


def _hit(one: Thought | OpenItem | Fact, kind: str, words: str, project: str | None) -> Hit:
    return Hit(
        id=one.id,
        agent=one.agent,
        kind=kind,
        created_at=one.created_at,
        source=", ".join(filter(None, (one.origin, project))),
        snippet=words if len(words) <= SNIPPET else f"{words[: SNIPPET - 1]}…",
        score=0.0,
    )


def _words(text: str) -> list[str]:
    folded_text = normalize("NFKC", text).casefold()
    words = "".join(sign if sign.isalnum() else " " for sign in folded_text).split()
    return words or folded_text.split()


def _score(words: Sequence[str], text: str) -> float:
    """Return which share of the words stands in the text."""
    inside = normalize("NFKC", text).casefold()
    return sum(word in inside for word in words) / len(words) if words else 0.0


def _load(path: Path) -> dict[str, Any]:
    try:
        found = json.loads(path.read_bytes())
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, RecursionError) as error:
        logger.warning("%s cannot be read: %s", path, error)
        return {}
    return found if isinstance(found, dict) else {}


def _records(kind: Callable[..., _Record], rows: Any) -> Iterable[_Record]:
    for row in rows if isinstance(rows, list) else ():
        try:
            yield kind(**{name: _time(value) if name in _TIMES else value for name, value in row.items()})
        except (TypeError, ValueError, AttributeError) as error:  # written by another version
            logger.warning("a record of %s cannot be read: %s", FILE, error)


def _place(fact: Fact) -> tuple[str, str]:
    return folded(fact.subject), folded(fact.key)


def _time(value: str | None) -> datetime | None:
    return None if value is None else datetime.fromisoformat(value)
