"""Read the turn that a hook tells of. Its payload names the transcript and the workspaces, but holds no prompt."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from memory_plane.types import Event, Ingested, Operation
from memory_plane_antigravity import places, summaries, turns
from memory_plane_antigravity.places import Conversation
from memory_plane_antigravity.transcripts import Exchange
from memory_plane_antigravity.values import number, text

_LATE = timedelta(days=1)
"""A turn before the last that is older is none that just ended."""


def take(home: Path, event: Event, now: datetime) -> Ingested | None:
    """Return what the turn became that `Stop` ends or the first `PreInvocation` begins; None for all else.

    None also while the app's database is locked, and for helpers of another conversation: a poll comes later.
    """
    begins = event.name == "PreInvocation" and number(event.payload.get("invocationNum")) == 0
    conversation = _conversation(home, event.payload) if begins or event.name == "Stop" else None
    known = summaries.read(conversation.app, conversation.id) if conversation else None
    summary = known.get(conversation.id) if conversation and known else None
    if conversation is None or known is None or (summary and summary.aside):
        return None
    found = turns.exchanges(conversation, summary)
    running, killed = event.payload.get("fullyIdle") is False, bool(summary and summary.killed)
    # A hook is heard late: other turns may have ended since, and each has a hook of its own.
    last = len(found) - 1 if begins else _ended(found, event.at or now)
    begun = not begins and bool(found) and not found[last].settled  # within the second in which the other ended
    operations: list[Operation] = []
    for exchange in found[max(0, last - begun) : last + 1]:
        at = exchange.at or now
        if exchange is found[-1] or now - at < _LATE:
            over = not begins and turns.is_over(exchange, running=running, killed=killed, quiet=now - at)
            folders = _workspaces(event.payload)
            operations += turns.operations(conversation, exchange, summary, workspaces=folders, heard=at, over=over)
    return Ingested(operations=tuple(operations)) if operations else None


def _ended(found: Sequence[Exchange], heard: datetime) -> int:
    """Return which exchange was the last one that had ended, or begun, when a hook was heard."""
    return max((place for place, one in enumerate(found) if (one.at or heard) <= heard), default=len(found) - 1)


def _conversation(home: Path, payload: Mapping[str, Any]) -> Conversation | None:
    """Find the conversation by its transcript, if that is one of ours, else by its id."""
    named = places.named(home, text(payload.get("transcriptPath"), 4096))
    if named is not None:
        return named
    id = text(payload.get("conversationId"), 100)
    found = (one for app in places.apps(home) if (one := places.conversation(app, id)))
    return next((one for one in found if one.transcript or (summaries.read(one.app, id) or {})), None)


def _workspaces(payload: Mapping[str, Any]) -> tuple[str, ...]:
    given = payload.get("workspacePaths")
    return tuple(folder for one in given if (folder := text(one, 4096))) if isinstance(given, list) else ()
