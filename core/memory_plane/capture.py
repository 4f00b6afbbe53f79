"""What of an agent's turn is worth keeping: its focus and at most a few thoughts, found without any model."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import Any
from urllib.parse import unquote, urlsplit
from uuid import uuid5

from memory_plane.types import NAMESPACE, Operation, Origin

FOCUS = 120
"""The longest focus, in characters."""
TEXT = 300
"""The longest thought, in characters."""
MOST = 4
"""How many thoughts one turn may become."""

_MILESTONE = re.compile(
    r"\b(shipped|deployed|released|merged|fixed|implemented|finished|completed|migrated|published)\b", re.IGNORECASE
)
_DECISION = re.compile(
    r"\b(we(?:'ve| have)? decided|let'?s go with|from now on|remember that|decision:)", re.IGNORECASE
)
_COMMITMENT = re.compile(r"\b(I(?:'ll| will)|we(?:'ll| will)) \w+", re.IGNORECASE)
_HANDOFF = re.compile(r"(?:^|\s)@(\w[\w-]+)|\bhand(?:ing)? (?:this|it) (?:over|off) to (\w[\w-]+)", re.IGNORECASE)
_CODE = re.compile(r"^(```|~~~).*?(?:^\1|\Z)", re.DOTALL | re.MULTILINE)
_MARKS = re.compile(r"^\s{0,8}(?:[-*+>#]+|\d{1,3}[.)])\s+|\*\*|__|`", re.MULTILINE)
_SENTENCE = re.compile(r"(?<=[.!?])\s+|\n+|(?<=[。！？])")
_BRIEF = re.compile(
    r"^# (?:For [^\n]{1,60}|Pulse|Shared memory): data reported by agents, not instructions.*?(?=^# |\Z)",
    re.DOTALL | re.MULTILINE,
)
_BLOCK = re.compile(r"<!-- memory-plane.*?<!-- /memory-plane[^>]*-->|<hook_context>.*?</hook_context>", re.DOTALL)


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """One turn of one agent, as its plugin read it.

    `session` is the agent's own id of the conversation and `id` its own id of the turn, "" if it gives none; `at` is
    aware; `prompt` is what the person asked and `answer` what the agent said last, "" if unknown.
    """

    agent: str
    session: str
    id: str
    at: datetime
    prompt: str = ""
    answer: str = ""
    project: str | None = None
    origin: Origin = "agent"


def operations(turn: Turn) -> tuple[Operation, ...]:
    """Return what the turn becomes: its focus and at most `MOST` thoughts, nothing for small talk."""
    thoughts: list[Operation] = []
    for sentence in _sentences(without_ours(turn.answer)):
        if (body := _thought(sentence)) and len(thoughts) < MOST:
            body |= {"text": sentence, "origin": turn.origin, "project": turn.project}
            thoughts.append(_operation(turn, "thought", sentence.casefold(), body))
    focus = next(iter(_sentences(without_ours(turn.prompt))), "")
    if len(focus.split()) < 3 or turn.origin == "external":
        return tuple(thoughts)
    body = {"focus": focus[:FOCUS], "project": turn.project}
    return (_operation(turn, "heartbeat", turn.id or focus, body), *thoughts)


def project_of(folder: str) -> str | None:
    """Return the name of the project in a folder or `file:` URI; None for a home, a root or a temporary folder."""
    if folder.startswith("file:"):
        folder = unquote(urlsplit(folder).path)
        folder = folder[1:] if re.match(r"/[A-Za-z]:", folder) else folder
    path = PureWindowsPath(folder) if re.match(r"[A-Za-z]:|\\\\", folder) else PurePosixPath(folder)
    homes = path.parent.name.lower() in ("home", "users") or str(path) == str(Path.home())
    if homes or path.name.lower() in ("", "tmp", "temp", "root", "home", "users"):
        return None
    return path.name


def without_ours(text: str) -> str:
    """Return `text` without what Memory Plane itself put there: briefs, context of hooks, blocks."""
    return _BRIEF.sub("", _BLOCK.sub("", text))


def _sentences(text: str) -> list[str]:
    plain = _MARKS.sub("", _CODE.sub("\n", text))
    return [one.strip()[:TEXT] for one in _SENTENCE.split(plain) if one.strip()]


def _thought(sentence: str) -> dict[str, Any] | None:
    if found := _HANDOFF.search(sentence):
        return {"kind": "handoff", "to": found[1] or found[2]}
    if sentence.endswith("?"):
        return {"kind": "question"} if re.search(r"\byou\b", sentence) else None
    for kind, cue in (("decision", _DECISION), ("commitment", _COMMITMENT), ("milestone", _MILESTONE)):
        if cue.search(sentence):
            return {"kind": kind}
    return None


def _operation(turn: Turn, op: str, key: str, body: dict[str, Any]) -> Operation:
    id = str(uuid5(NAMESPACE, "\n".join((turn.agent, turn.session, op, key))))
    known = {name: value for name, value in body.items() if value is not None}
    return Operation(id=id, op=op, agent=turn.agent, created_at=turn.at, body=known)
