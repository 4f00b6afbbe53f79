"""What Claude Code's hooks deliver, turned into operations: at most a few of a turn."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path

from memory_plane.capture import Turn, project_of
from memory_plane.capture import operations as captured
from memory_plane.types import Event, Operation
from memory_plane_claude.telling import CODE
from memory_plane_claude.transcripts import LastTurn, last_turn

_PERSON = frozenset({"", "user", "sdk"})
"""Where a prompt of the person comes from; wakeups and schedules are Claude's own."""


def operations(event: Event, transcripts: Path, *, now: datetime) -> tuple[Operation, ...]:
    """Return what an event says: a prompt tells the focus, the end of a turn what was done; the others nothing."""
    if event.agent != CODE:
        return ()
    match event.name:
        case "UserPromptSubmit":
            return _asked(event, now)
        case "Stop" | "PreCompact":
            return _done(event, transcripts, now)
        case _:
            return ()


def _asked(event: Event, now: datetime) -> tuple[Operation, ...]:
    if _said(event, "source") not in _PERSON:
        return ()
    return captured(
        Turn(
            agent=CODE,
            session=_said(event, "session_id"),
            id=_said(event, "prompt_id"),
            at=event.at or now,
            prompt=_said(event, "prompt"),
            project=project_of(_said(event, "cwd")),
            asked=event.asked,
        )
    )


def _done(event: Event, transcripts: Path, now: datetime) -> tuple[Operation, ...]:
    path, said = _said(event, "transcript_path"), _said(event, "last_assistant_message")
    turn = last_turn(Path(path), transcripts, said) if path else LastTurn()  # it may be heard when others have followed
    answer = said or turn.answer
    return captured(
        Turn(
            agent=CODE,
            session=_said(event, "session_id"),
            id=_said(event, "prompt_id"),
            at=event.at or turn.at or now,
            prompt=turn.prompt,
            answer=answer,
            before=turn.before,
            project=project_of(_said(event, "cwd") or turn.folder),
        )
    )


def _said(event: Event, name: str) -> str:
    value = event.payload.get(name)
    return value if isinstance(value, str) else ""
