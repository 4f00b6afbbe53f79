"""A conversation that has come to its end: what it was about, and what of each turn is worth keeping."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from datetime import datetime
from typing import Literal

from memory_plane import capture
from memory_plane.capture import Turn, without_ours
from memory_plane.importers.item import Retold, Skipped, clean, short, thought
from memory_plane.importers.sections import LONGEST
from memory_plane.types import OPEN_KINDS, Operation

OPENING = 300
"""How much of the first thing that was asked tells what a conversation is about, in characters."""
_SMALL_TALK = 3
"""A conversation without a title whose first message has fewer words is about nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """What the person or the agent said, in the agent's own words for who, and when."""

    id: str
    role: Literal["user", "agent"]
    text: str
    at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Conversation:
    """A conversation of one agent, its messages in order and without branches that were left.

    `told` is the id under which the agent's hook has told what it is about, "" for an agent without one.
    """

    agent: str
    id: str
    title: str
    began_at: datetime
    messages: Sequence[Message]
    summary: str = ""
    project: str | None = None
    told: str = ""


def operations(conversation: Conversation) -> tuple[Operation, ...]:
    """Return one thought on the whole, and milestones and decisions of its turns; raise `Skipped` for small talk.

    It is over: what was asked and promised in it is no open item, and where the agent was then is not its focus.
    """
    kept = [
        operation
        for turn in _turns(conversation)
        for operation in capture.operations(turn)
        if operation.op == "thought" and operation.body["kind"] not in OPEN_KINDS
    ]
    return (_about(conversation), *kept)


def _about(conversation: Conversation) -> Operation:
    first = next((message.text for message in conversation.messages if message.role == "user"), "")
    title, opening = short(conversation.title, OPENING), short(without_ours(first), OPENING)
    summary = short(conversation.summary, LONGEST)
    if not (opening or summary):
        raise Skipped("nothing was said in it")
    if not (title or summary) and len(opening.split()) < _SMALL_TALK:
        raise Skipped("it is small talk")
    about = thought(
        conversation.agent,
        [conversation.id],
        ": ".join(filter(None, (title, summary or opening))),
        at=conversation.began_at,
        origin="agent" if summary else "user",
        project=conversation.project,
        thread=short(conversation.id),
    )
    if not conversation.told:
        return about
    return Retold(**{one.name: getattr(about, one.name) for one in fields(about)}, told=conversation.told)


def _turns(conversation: Conversation) -> Iterator[Turn]:
    """Yield what was asked together with the last that was answered to it."""
    asked: list[Message] = []
    answer: Message | None = None
    for message in conversation.messages:
        if message.role == "agent":
            answer = message
            continue
        if answer is not None:
            yield _turn(conversation, asked, answer)
            asked, answer = [], None
        asked.append(message)
    if answer is not None:
        yield _turn(conversation, asked, answer)


def _turn(conversation: Conversation, asked: Sequence[Message], answer: Message) -> Turn:
    return Turn(
        agent=conversation.agent,
        session=conversation.id,
        id=asked[-1].id if asked else answer.id,
        at=answer.at,
        prompt=clean("\n".join(message.text for message in asked)),
        answer=clean(answer.text),
        project=conversation.project,
    )
