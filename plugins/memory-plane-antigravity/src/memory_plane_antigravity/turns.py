"""What a turn of Antigravity becomes. A hook and a poll that see the same turn come to the same ids."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any
from uuid import uuid5

from memory_plane import capture
from memory_plane.types import NAMESPACE, Operation
from memory_plane_antigravity import transcripts
from memory_plane_antigravity.places import AGENT, Conversation
from memory_plane_antigravity.summaries import Summary
from memory_plane_antigravity.transcripts import Exchange

QUIET = timedelta(minutes=10)
"""After this long without a sign of life a turn is over, whatever its files say: it was cancelled, or killed."""

_AGAIN = 900
"""Seconds after which a turn that still goes on is told of again, lest its focus be shown as stale."""
_TITLE = 60


def exchanges(conversation: Conversation, summary: Summary | None) -> tuple[Exchange, ...]:
    """Return the latest exchanges, oldest first; without a transcript one, as far as the app's database tells it."""
    found = transcripts.read(conversation.transcript) if conversation.transcript else ()
    if found or summary is None:
        return found
    return (Exchange(id=summary.asked, at=summary.modified, prompt=summary.preview, settled=not summary.running),)


def is_over(exchange: Exchange, *, running: bool, killed: bool, quiet: timedelta) -> bool:
    """Tell whether a turn is over. That nothing is `running` may be said too early, so it does not suffice."""
    return exchange.closed or killed or quiet > QUIET or (exchange.settled and not running)


def operations(
    conversation: Conversation,
    exchange: Exchange,
    summary: Summary | None,
    *,
    workspaces: Iterable[str] = (),
    heard: datetime,
    over: bool,
) -> tuple[Operation, ...]:
    """Return the focus of a turn and, once it is over, the few thoughts of it.

    `heard` is when the conversation moved, for a turn that does not say when it was.
    """
    folders = [*workspaces, *(summary.workspaces if summary else ()), exchange.folder]
    project = next((name for folder in folders if folder and (name := capture.project_of(folder))), None)
    turn = capture.Turn(
        agent=AGENT,
        session=conversation.id,
        id=exchange.id,
        at=exchange.at or heard,
        prompt=exchange.prompt,
        answer=exchange.answer if over else "",
        before=exchange.before,
        project=project,
    )
    found = capture.operations(turn)
    asked = next((one.body["focus"] for one in found if one.op == "heartbeat"), "")
    focus = _focus(exchange.task or (summary.title if summary else ""), asked)
    # A preview may be anybody's words, so it says nothing but what the conversation is about.
    thoughts = tuple(one for one in found if one.op != "heartbeat") if conversation.transcript else ()
    if not focus:
        return thoughts
    status = _status(summary, over=over)
    # Of one moment the fuller word is the later one: that the turn is over, then what its conversation is called.
    later = timedelta(microseconds=2 * over + (focus != asked))
    return (_heartbeat(replace(turn, at=turn.at + later), focus, status), *thoughts)


def _focus(title: str, asked: str) -> str:
    """Join what the conversation is about and what was asked last, as far as they say different things."""
    title = " ".join(capture.without_ours(title).split())[: capture.FOCUS]
    if not title or not asked or asked.lower().startswith(title.lower()):
        return asked or title
    return f"{title[:_TITLE].rstrip()}: {asked}"[: capture.FOCUS]


def _status(summary: Summary | None, *, over: bool) -> str:
    if summary is not None and summary.killed:
        return "stopped"
    if not over:
        return "working"
    return "failed" if summary is not None and summary.failed else "idle"


def _heartbeat(turn: capture.Turn, focus: str, status: str) -> Operation:
    body: dict[str, Any] = {"focus": focus, "status": status}
    if turn.project:
        body["project"] = turn.project
    again = str(int(turn.at.timestamp()) // _AGAIN) if status == "working" else ""
    key = "\n".join((AGENT, turn.session, "heartbeat", turn.id, again, *body.values()))
    return Operation(id=str(uuid5(NAMESPACE, key)), op="heartbeat", agent=AGENT, created_at=turn.at, body=body)
