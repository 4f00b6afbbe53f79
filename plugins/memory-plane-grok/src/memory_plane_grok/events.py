"""What the hooks of Grok Build deliver, turned into operations: at most a few of a turn."""

from __future__ import annotations

import re
from datetime import datetime
from pathlib import Path

from memory_plane.types import Event, Operation
from memory_plane_grok import exchanges, sessions
from memory_plane_grok.exchanges import Exchange
from memory_plane_grok.sessions import AGENT
from memory_plane_grok.values import text

_CUT = re.compile(r"… \[\+\d+ chars\]$")
"""How ends what Grok has cut short."""


def operations(event: Event, root: Path, *, now: datetime) -> tuple[Operation, ...]:
    """Return what an event says: a prompt tells the focus, the end of a turn what was done; the others nothing.

    Grok sends both its own names and those of Claude Code, and nothing of a helper's is taken in. `root` has the
    sessions.
    """
    if event.agent != AGENT or _said(event, "subagentType", "subagent_type"):
        return ()
    match event.name:
        case "UserPromptSubmit":
            turn = _asked(event, now)
        case "Stop":
            turn = _done(event, root, now)
        case _:
            return ()
    folder = _said(event, "cwd", "workspaceRoot")
    return exchanges.operations(AGENT, turn, folder, over=True, asked=event.asked) if turn else ()


def _asked(event: Event, now: datetime) -> Exchange | None:
    prompt = _said(event, "prompt")
    return _exchange(event, now, prompt=prompt) if sessions.is_persons(prompt) else None


def _done(event: Event, root: Path, now: datetime) -> Exchange | None:
    """Read a turn from its event and its session; the end of a session names no turn, and means the last one."""
    updates = sessions.named(_said(event, "transcriptPath", "transcript_path"), root)
    known = sessions.exchanges(updates) if updates else ()
    id = _said(event, "promptId", "prompt_id")
    turn = next((one for one in reversed(known) if one.id == id or not id), None)
    said = _said(event, "lastAssistantMessage", "last_assistant_message")
    if turn is None:
        return _exchange(event, now, answer=said) if said else None
    if said and not (turn.answer and _CUT.search(said)):
        turn.answer = said
    return turn


def _exchange(event: Event, now: datetime, *, prompt: str = "", answer: str = "") -> Exchange:
    session, id = _said(event, "sessionId", "session_id"), _said(event, "promptId", "prompt_id")
    return Exchange(session=session, id=id, at=event.at or now, prompt=prompt, answer=answer)


def _said(event: Event, *names: str) -> str:
    return next((said for name in names if (said := text(event.payload.get(name)))), "")
