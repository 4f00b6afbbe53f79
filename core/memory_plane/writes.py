"""The writes that a memory takes, whether it is opened here (`Plane`) or reached from afar (`Client`)."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, date, datetime, time, timedelta
from typing import TYPE_CHECKING, Any

from memory_plane.errors import MemoryPlaneError, Refused
from memory_plane.operations import SUPERSEDED_BY, TEXT_FIELD, giving_way, make_operation
from memory_plane.types import OPEN_KINDS, Found, Operation, Receipt

if TYPE_CHECKING:
    from memory_plane.settings import Settings

Moment = datetime | str
Progress = Callable[[int, int], None]
"""Is told how much of a long call is done, of how much."""
_DAY = re.compile(r"\d{4}-\d{2}-\d{2}")
PERSON = "user"
"""The agent id under which a person writes."""


class Writes(ABC):
    """Makes an operation of each call; every write returns a `Receipt` and raises nothing: `refused` says why.

    Times are aware datetimes or ISO 8601 text with a zone.
    """

    settings: Settings
    found: Callable[..., Found]
    """See `GraphReads.found`."""

    @abstractmethod
    def _accept(self, operation: Operation) -> Receipt:
        """Write an operation that was just made; refuse one about something that is not here."""

    def write(
        self,
        op: str,
        body: Mapping[str, Any],
        *,
        agent: str,
        created_at: Moment | None = None,
        id: str | None = None,
    ) -> Receipt:
        """Write an operation by its name; the methods below are this with the fields of one op each."""
        try:
            hold = self.settings.hold_external
            operation = make_operation(op, body, agent=agent, created_at=created_at, id=id, hold_external=hold)
        except Refused as error:
            return Receipt(id=id if isinstance(id, str) else "", state="refused", detail=str(error))
        return self._accept(operation)

    def post(
        self,
        text: str,
        *,
        agent: str,
        kind: str = "thought",
        project: str | None = None,
        owner: str | None = None,
        to: str | None = None,
        due_at: Moment | None = None,
        origin: str = "agent",
        source: str | None = None,
        thread: str | None = None,
        held: bool | None = None,
        created_at: Moment | None = None,
        id: str | None = None,
    ) -> Receipt:
        """Write a thought; a `question`, `commitment` or `handoff` stays open until it is resolved.

        `owner` is who owes a commitment, by default the agent that writes it.
        """
        body: dict[str, Any] = {
            "text": text,
            "kind": kind,
            "project": project,
            "owner": owner,
            "to": to,
            "due_at": due_at,
            "origin": origin,
        }
        body |= {"source": source, "thread": thread, "held": held}
        return self.write("thought", body, agent=agent, created_at=created_at, id=id)

    def ingest_text(
        self,
        text: str,
        *,
        agent: str,
        origin: str = "external",
        project: str | None = None,
        source: str | None = None,
        created_at: Moment | None = None,
        progress: Progress | None = None,
    ) -> list[Receipt]:
        """Store each paragraph of a text of any length as an observation; one receipt each, none for a blank text.

        The words are somebody else's unless `origin` says that they are the agent's or the user's own. What is known
        from the same `source` is a duplicate, so of a text that has changed only the new is stored, wherever the rest
        stands now. `found(ids)` tells what is in it.
        """
        from memory_plane import texts

        paragraphs = texts.paragraphs(text)
        try:
            at = moment("created_at", created_at) or datetime.now(UTC)
            # A microsecond apart, so that the order of the text stays the order of time.
            times = [at + timedelta(microseconds=number) for number in range(len(paragraphs))]
        except (Refused, OverflowError) as error:
            return [Receipt(id="", state="refused", detail=str(error))]
        given = {"kind": "observation", "origin": origin, "project": project, "source": source, "thread": source}
        receipts: list[Receipt] = []
        taken: set[str] = set()
        for part, then in zip(paragraphs, times, strict=True):
            id, known = (None, False) if source is None else texts.known(agent, source, part, self._has, taken)
            receipts.append(
                Receipt(id=id, state="duplicate")
                if id is not None and known
                else self.write("thought", {"text": part, **given}, agent=agent, created_at=then, id=id)
            )
            if progress is not None:
                progress(len(receipts), len(paragraphs))
        return receipts

    def _has(self, id: str) -> bool:
        with suppress(MemoryPlaneError):  # whoever gets the same id again tells
            return self.get(id) is not None
        return False

    def fact(
        self,
        subject: str,
        key: str,
        value: str,
        *,
        agent: str,
        confidence: float = 1.0,
        valid_from: Moment | None = None,
        valid_until: Moment | None = None,
        source: str | None = None,
        origin: str = "agent",
        project: str | None = None,
        held: bool | None = None,
        created_at: Moment | None = None,
        id: str | None = None,
    ) -> Receipt:
        """Write the value of (subject, key); the newest by its own time is the current one."""
        body = {"subject": subject, "key": key, "value": value, "confidence": confidence, "origin": origin}
        body |= {"valid_from": valid_from, "valid_until": valid_until, "source": source, "project": project}
        body |= {"held": held}
        return self.write("fact", body, agent=agent, created_at=created_at, id=id)

    def heartbeat(
        self,
        *,
        agent: str,
        focus: str,
        project: str | None = None,
        status: str = "active",
        created_at: Moment | None = None,
        id: str | None = None,
    ) -> Receipt:
        """Say what the agent is doing now."""
        return self.write(
            "heartbeat",
            {"focus": focus, "project": project, "status": status},
            agent=agent,
            created_at=created_at,
            id=id,
        )

    def resolve(
        self,
        item: str,
        *,
        agent: str,
        status: str = "done",
        note: str | None = None,
        created_at: Moment | None = None,
        id: str | None = None,
    ) -> Receipt:
        """Close an open item as `done`, `dropped`, `answered` or `acknowledged`."""
        return self.write(
            "resolve", {"item": item, "status": status, "note": note}, agent=agent, created_at=created_at, id=id
        )

    def assign(
        self, item: str, to: str, *, agent: str, created_at: Moment | None = None, id: str | None = None
    ) -> Receipt:
        """Hand an open item to an agent or a person."""
        return self.write("assign", {"item": item, "to": to}, agent=agent, created_at=created_at, id=id)

    def snooze(
        self, item: str, until: Moment, *, agent: str, created_at: Moment | None = None, id: str | None = None
    ) -> Receipt:
        """Keep an open item off the pages until a time."""
        return self.write("snooze", {"item": item, "until": until}, agent=agent, created_at=created_at, id=id)

    def pin(
        self,
        target: str,
        *,
        agent: str,
        pinned: bool = True,
        created_at: Moment | None = None,
        id: str | None = None,
    ) -> Receipt:
        """Pin a memory, or unpin it."""
        return self.write("pin", {"target": target, "pinned": pinned}, agent=agent, created_at=created_at, id=id)

    def retract(
        self,
        target: str,
        *,
        agent: str,
        reason: str | None = None,
        created_at: Moment | None = None,
        id: str | None = None,
    ) -> Receipt:
        """Take a memory back: it leaves pages, search and graph, and stays in the log."""
        return self.write("retract", {"target": target, "reason": reason}, agent=agent, created_at=created_at, id=id)

    def release(self, target: str, *, agent: str, created_at: Moment | None = None, id: str | None = None) -> Receipt:
        """Let a memory that was held back take part."""
        return self.write("release", {"target": target}, agent=agent, created_at=created_at, id=id)

    def supersede(
        self, target: str, text: str, *, agent: str, created_at: Moment | None = None, id: str | None = None
    ) -> Receipt:
        """Put other words in the place of a thought's, or another value in the place of a fact's; history keeps both.

        The receipt is that of the new memory; the old one is retracted, until the new one is. An item stays
        open, also one that only a plugin read in the old words, whose it was, for whom and by when, unless the new
        words say otherwise; and as it was: assigned, put off, pinned, closed. Who or what both name is one.
        """
        from memory_plane import superseding

        record = self.get(target)
        field = TEXT_FIELD.get(record["op"]) if record is not None else None
        if record is None or field is None:
            return Receipt(id=id or "", state="refused", detail=f"target: {target} is no thought or fact here")
        if "." in target:
            told = f"target: {target} is one of several open items; give {record['id']}, and the words for all of it"
            return Receipt(id=id or "", state="refused", detail=told)
        body = {**record["body"], field: text, "origin": "user" if agent == PERSON else "agent"}
        state = record.get("state") or {}
        if body.get("kind") in OPEN_KINDS:
            body["to"] = state.get("addressee") or body.get("to")
            # Whom only the old words named, the new ones name or do not.
            body["owner"] = body.get("owner") or (
                record["agent"] if state.get("owner") in (None, record["agent"]) else None
            )
        body |= superseding.still_said(record, text)
        receipt = self.write(record["op"], body, agent=agent, created_at=created_at, id=id)
        if receipt.state == "refused":
            return receipt
        found, before = self._found(receipt.id), self._found(target)
        for op, said in superseding.said_of(receipt.id, state, found.items):
            self.write(op, said, agent=agent, created_at=created_at)
        for node, meant in superseding.named_anew(found.nodes, before.nodes):
            self.merge_nodes(node, meant, agent=agent, created_at=created_at)
        reason, back_id = SUPERSEDED_BY + receipt.id, giving_way(receipt.id)
        back = self.retract(target, agent=agent, reason=reason, created_at=created_at, id=back_id)
        return receipt if back.state != "refused" else replace(receipt, detail=f"not retracted: {back.detail}")

    def _found(self, id: str) -> Found:
        with suppress(MemoryPlaneError):  # no hub can tell: the review list will have what is named twice
            return self.found([id])
        return Found()

    @abstractmethod
    def get(self, id: str) -> dict[str, Any] | None:
        """Return the operation with this id as JSON holds it; None if unknown."""

    def merge_nodes(
        self, node: str, into: str, *, agent: str, created_at: Moment | None = None, id: str | None = None
    ) -> Receipt:
        """Say that two nodes are one; `into` stands for both. `retract` the receipt's id to take them apart again."""
        return self.write("merge", {"node": node, "into": into}, agent=agent, created_at=created_at, id=id)

    def split(
        self,
        node: str,
        memories: Sequence[str],
        *,
        agent: str,
        created_at: Moment | None = None,
        id: str | None = None,
    ) -> Receipt:
        """Say that what these memories name is not this node but another one, which is founded by this."""
        body = {"node": node, "memories": list(memories)}
        return self.write("split", body, agent=agent, created_at=created_at, id=id)

    def distinct(
        self, nodes: Sequence[str], *, agent: str, created_at: Moment | None = None, id: str | None = None
    ) -> Receipt:
        """Say that no two of these nodes are one; nothing joins them until somebody says otherwise."""
        return self.write("distinct", {"nodes": list(nodes)}, agent=agent, created_at=created_at, id=id)

    def alias(
        self,
        node: str,
        name: str,
        *,
        agent: str,
        remove: bool = False,
        created_at: Moment | None = None,
        id: str | None = None,
    ) -> Receipt:
        """Give a node a name, or with `remove` deny it a name that it was given or that memories call it."""
        body = {"node": node, "name": name, "remove": remove}
        return self.write("alias", body, agent=agent, created_at=created_at, id=id)

    def forget(self, target: str, *, agent: str, created_at: Moment | None = None, id: str | None = None) -> Receipt:
        """Take the text of a thought, fact or heartbeat off the disk, and all that came of it; this cannot be undone.

        The receipt's detail says `pending` while a reader still holds the old text.
        """
        return self.write("forget", {"target": target}, agent=agent, created_at=created_at, id=id)


def moment(name: str, at: Moment | None) -> datetime | None:
    """Read a moment that a caller gave as `name`; raise `Refused` for one without a zone, or none at all."""
    if isinstance(at, str):
        text = at
        try:
            at = datetime.fromisoformat(text)
        except ValueError:
            raise Refused(f"{name}: {text[:60]!r} is no ISO 8601 time; write it as 2026-10-31T12:00:00Z") from None
    if at is not None and at.utcoffset() is None:
        raise Refused(f"{name}: has no time zone; write it as 2026-10-31T12:00:00Z or with an offset")
    return at


def asked(name: str, at: Moment | None, timezone: str | None) -> datetime | None:
    """Read a moment that is asked about, as `moment` does, or a day: its begin for `since`, else its end.

    Only what is asked may be a day: what is written is the same moment on every machine.
    """
    if not isinstance(at, str) or not _DAY.fullmatch(at):
        return moment(name, at)
    from zoneinfo import ZoneInfo

    try:
        day = datetime.combine(date.fromisoformat(at), time.min if name == "since" else time.max)
        return (day.replace(tzinfo=ZoneInfo(timezone)) if timezone else day).astimezone(UTC)
    except (ValueError, OverflowError):
        raise Refused(f"{name}: {at!r} is no day; write it as 2026-10-31") from None
