"""What OpenClaw's turns become: at most a few operations of a turn, or also what was said in it, if a person wants."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime, timedelta
from pathlib import Path, PurePath
from typing import Any
from uuid import uuid5

from memory_plane.capture import Turn, project_of, without_ours
from memory_plane.capture import operations as captured
from memory_plane.types import NAMESPACE, Event, Operation, Origin
from memory_plane_instinct.agent import INSTINCT, Mode

EVENT = "agent_end"

MESSAGES = 20
"""How many messages of a turn are kept, where all are wanted."""
TEXT = 1_000
"""How many characters of such a message."""

_PERSON = frozenset(("", "user", "manual", "overflow"))
"""What triggers a run whose prompt a person gave; others are heartbeats, jobs, and OpenClaw's own."""
_MARK = "⟦openclaw:ctx⟧"
_TIME = re.compile(r"^\[[A-Za-z]{3} \d{4}-\d\d-\d\d \d\d:\d\d[^\]]*\] *")
_INTERNAL = re.compile(r"<<<BEGIN_OPENCLAW_INTERNAL_CONTEXT>>>.*?(?:<<<END_OPENCLAW_INTERNAL_CONTEXT>>>|\Z)", re.DOTALL)
_HEADER = re.compile(rf".{{1,200}}(?: {_MARK}|\(untrusted [a-z ,]+\):)")
_WORDLESS = re.compile(r"\b(?:NO_REPLY|HEARTBEAT_OK)\b|\[\[ ?[a-z_]+(?::[^\]\n]*)? ?\]\]")


def operations(event: Event, mode: Mode, min_chars: int, now: datetime) -> tuple[Operation, ...]:
    """Return what a turn becomes: nothing where that is off, or the event is none of ours."""
    if event.agent != INSTINCT or event.name != EVENT or mode == "off":
        return ()
    said, at = list(_messages(event.payload)), event.at or now
    turn = _turn(event.payload, said, at)
    kept = captured(turn)
    return kept if mode == "distilled" else (*kept, *_observations(turn, said, min_chars))


def _turn(payload: Mapping[str, Any], said: list[tuple[str, str]], at: datetime) -> Turn:
    person = _text(payload, "trigger") in _PERSON and _text(payload, "begunBy") in ("", "external_user")
    prompts = [text for role, text in said if role == "user"]
    answers = [text for role, text in said if role == "assistant"]
    return Turn(
        agent=INSTINCT,
        session=_text(payload, "sessionId"),
        id=_text(payload, "runId"),
        at=at,
        prompt="\n\n".join(prompts) if person else "",
        answer=answers[-1] if answers and payload.get("success") is not False else "",
        before=_words(_text(payload, "before")) if person else "",
        project=_project(_text(payload, "workspaceDir")),
        origin=_origin(payload),
    )


def _origin(payload: Mapping[str, Any]) -> Origin:
    """Return whose words they are: where several people write, or one who does not own the agent, they are others'."""
    return "external" if payload.get("shared") is True or payload.get("owner") is False else "agent"


def _project(folder: str) -> str | None:
    """Return the project of the folder that the agent works in; where it lives is none, though it is a repository."""
    try:
        lives = any(part.startswith(".") for part in PurePath(folder).parts) or (Path(folder) / "SOUL.md").exists()
    except (OSError, ValueError):
        return None
    return project_of(folder) if folder and not lives else None


def _observations(turn: Turn, said: list[tuple[str, str]], least: int) -> Iterator[Operation]:
    """Yield each message of the turn that is long enough, in order, once."""
    for place, (role, text) in enumerate(dict.fromkeys(said)):
        whole = " ".join(without_ours(text).split())
        if len(whole) < least or (role == "user" and not turn.prompt):
            continue
        origin: Origin = "user" if role == "user" and turn.origin == "agent" else turn.origin
        body = {"text": _short(whole), "kind": "observation", "origin": origin, "thread": turn.session[:512] or None}
        body["project"] = turn.project
        yield Operation(
            id=str(uuid5(NAMESPACE, "\n".join((INSTINCT, "message", turn.session, turn.id, role, whole)))),
            op="thought",
            agent=INSTINCT,
            created_at=turn.at + timedelta(microseconds=place),
            body={name: value for name, value in body.items() if value is not None},
        )


# --- what stands in a payload, which may be anything ---------------------------------------------------------------


def _messages(payload: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    held = payload.get("messages")
    for message in held[:MESSAGES] if isinstance(held, list) else ():
        if isinstance(message, dict) and message.get("role") in ("user", "assistant"):
            text = _words(_text(message, "text"))
            if text:
                yield message["role"], text


def _words(text: str) -> str:
    """Return what somebody said, without what OpenClaw puts around it."""
    text = _TIME.sub("", _INTERNAL.sub("", text))
    if _MARK in text or "(untrusted " in text:
        text = _TIME.sub("", "\n".join(_without_context(text.split("\n"))).lstrip())
    return _WORDLESS.sub("", text).strip()


def _without_context(lines: Iterable[str]) -> Iterator[str]:
    """Leave out what OpenClaw tells of a message: a line that says so, with the JSON or the lines right below it."""
    end: str | None = None
    for line in map(str.rstrip, lines):
        if end is not None:
            end = "```" if line == "```json" else None if line == end else end
        elif line == f"Context: {_MARK}":
            return
        elif _HEADER.fullmatch(line):
            end = ""
        else:
            yield line


def _short(text: str) -> str:
    return text if len(text) <= TEXT else f"{text[: TEXT - 1]}…"


def _text(held: Mapping[str, Any], name: str) -> str:
    value = held.get(name)
    return value.encode("utf-8", "replace").decode() if isinstance(value, str) else ""
