"""Messages to operations: one thought a message that is worth it; what is unsent, edited or answered is taken back."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, NamedTuple
from uuid import uuid5

from memory_plane.types import EPOCH, NAMESPACE, Kind, Operation
from memory_plane_muse.agents import ME, MUSE
from memory_plane_muse.message import Message
from memory_plane_muse.names import Names, is_machine
from memory_plane_muse.worth import Found, Sort, worth

SEEN, ASKED = 400, 200
"""How many noted messages, and how many conversations with an open question, a cursor remembers."""

_SERVICES = ("SMS", "RCS")
_KINDS: Mapping[Sort, Kind] = {
    "introduction": "handoff",
    "promise": "commitment",
    "request": "question",
    "question": "question",
    "news": "observation",
}


class Asked(NamedTuple):
    """A plain question that waits for an answer; `at` is in seconds since 1970."""

    id: str
    mine: bool
    at: float


@dataclass(slots=True)
class State:
    """What is known from one poll to the next.

    `seen` has the edit of each message that was noted lately, `asked` the thought of the last plain question of a
    conversation, whether it was the person's own, and when: the next word of the other side answers it.
    """

    seen: dict[str, int] = field(default_factory=dict)
    asked: dict[str, Asked] = field(default_factory=dict)

    @classmethod
    def read(cls, value: Any) -> State:
        """Read what `written` gave; anything else is a fresh start."""
        given = value if isinstance(value, dict) else {}
        seen, asked = given.get("seen"), given.get("asked")
        return cls(
            {guid: edit for guid, edit in _items(seen) if isinstance(edit, int)},
            {chat: asked for chat, one in _items(asked) if (asked := _asked(one)) is not None},
        )

    def written(self) -> dict[str, Any]:
        """Return the newest of it as JSON can hold it."""
        seen, asked = list(self.seen.items())[-SEEN:], list(self.asked.items())[-ASKED:]
        return {"seen": dict(seen), "asked": {chat: list(one) for chat, one in asked}}


class Notes:
    """Notes what messages say; `told` outlives a poll, since a webhook may have brought a message before it."""

    def __init__(self, names: Names, told: dict[str, int]) -> None:
        self._names = names
        self._told = told
        self._made: dict[str, Operation] = {}

    def take(self, messages: Iterable[Message], state: State, *, whole: bool = True) -> tuple[Operation, ...]:
        """Return what messages, oldest first, become; `state` follows.

        A plain question is noted only where the conversation is read as a `whole`, so that its answer will be seen.
        """
        for message in messages:
            if message.retracted or message.edited:
                self._take_back(message, state)
            if message.retracted:
                continue
            self._answer(message, state)
            if state.seen.get(message.guid) != message.edited:
                self._note(message, state, whole)
        made, self._made = self._made, {}
        return tuple(made.values())

    def _take_back(self, message: Message, state: State) -> None:
        """Take the earlier words of a message back, where they were noted."""
        known = {edit for edit in (state.seen.get(message.guid), self._told.get(message.guid)) if edit is not None}
        for edit in known - (set() if message.retracted else {message.edited}):
            target = _id(message.guid, edit)
            if self._made.pop(target, None) is None:
                self._add("retract", f"unsaid:{target}", _moment(message), {"target": target})
        if message.retracted:
            state.seen.pop(message.guid, None)
            self._told.pop(message.guid, None)

    def _answer(self, message: Message, state: State) -> None:
        asked = state.asked.get(message.chat)
        if asked is None or asked.mine == message.mine or message.at.timestamp() <= asked.at:
            return
        del state.asked[message.chat]
        if self._made.pop(asked.id, None) is None:  # else it was asked and answered at once, and nothing is open
            body = {"item": asked.id, "status": "answered"}
            self._add("resolve", f"answered:{asked.id}", message.at, body)

    def _note(self, message: Message, state: State, whole: bool) -> None:
        found = None if is_machine(message.other) else worth(message.text, message.at, group=message.group)
        if found is None or (found.sort == "question" and not (whole and message.chat)):
            return
        id = _id(message.guid, message.edited)
        self._made[id] = Operation(
            id=id, op="thought", agent=MUSE, created_at=message.at, body=self._body(message, found)
        )
        for known, most in ((state.seen, SEEN), (self._told, SEEN)):
            known.pop(message.guid, None)
            known[message.guid] = message.edited
            while len(known) > most:
                del known[next(iter(known))]
        if found.sort == "question":
            state.asked[message.chat] = Asked(id, message.mine, message.at.timestamp())

    def _body(self, message: Message, found: Found) -> dict[str, Any]:
        name = self._names.of(message.other) if message.other else ""
        kind = "observation" if found.sort == "introduction" and message.mine else _KINDS[found.sort]
        service = next((one for one in _SERVICES if message.chat.startswith(f"{one};")), "iMessage")
        there = f" in “{_title(message)}”" if message.group else ""
        who = f" from {name}" if name and not message.mine else f" to {name}" if name and not message.group else ""
        body: dict[str, Any] = {
            "text": f"{service}{who}{there}: {found.text}",
            "kind": kind,
            "origin": "user" if message.mine else "external",
            "source": f"{service}{who}{there}",
            "thread": message.chat[:500] or None,
        }
        if kind == "commitment":
            body["owner"] = ME if message.mine else name
        if kind == "handoff" or (kind in ("commitment", "question") and not message.group):
            body["to"] = name if message.mine else ME
        if kind in ("commitment", "question"):
            body["due_at"] = found.due
        return {key: value for key, value in body.items() if value}

    def _add(self, op: str, key: str, at: datetime, body: dict[str, Any]) -> None:
        id = str(uuid5(NAMESPACE, f"{MUSE}:{key}"))
        self._made[id] = Operation(id=id, op=op, agent=MUSE, created_at=at, body=body)


def _id(guid: str, edit: int) -> str:
    return str(uuid5(NAMESPACE, f"{MUSE}:imessage:{guid}:{edit}"))


def _moment(message: Message) -> datetime:
    """When a message was changed, as far as its source says."""
    return datetime.fromtimestamp(message.edited / 1000, UTC) if message.edited else max(message.at, EPOCH)


def _title(message: Message) -> str:
    return " ".join(message.title.translate(_QUOTES).split())[:60] or "a group"


_QUOTES = str.maketrans({"“": "'", "”": "'", "\n": " ", ":": " "})


def _items(value: Any) -> list[tuple[str, Any]]:
    return [(key, one) for key, one in value.items() if isinstance(key, str)] if isinstance(value, dict) else []


def _asked(value: Any) -> Asked | None:
    if not isinstance(value, list) or len(value) != 3:
        return None
    id, mine, at = value
    return Asked(id, bool(mine), at) if isinstance(id, str) and isinstance(at, int | float) else None
