"""Grok Build's sessions: `sessions/<folder>/<id>/updates.jsonl`, a stream of updates; unknown ones are passed over."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any

from memory_plane_grok.exchanges import Conversation, Exchange
from memory_plane_grok.values import moment, parsed, table, text

AGENT = "grok"
TAIL = 1024 * 1024
"""How many bytes from the end of a stream hold its last turns, or what is wanted of them."""

_UPDATES = "updates.jsonl"
_LARGEST = 256 * 1024
_WANTED = ("user_message_chunk", "agent_message_chunk", "tool_call", "turn_completed", "hook_execution")
_MARKS = tuple(f'"{kind}"'.encode() for kind in _WANTED)
_PROGRAM = ("<system-reminder>", "<system_reminder>")
"""How begins what Grok says to itself in the place of a person: a task ended, a schedule is due."""


def folder(home: Path) -> Path:
    """Return the folder of all sessions."""
    return home / "sessions"


def conversations(home: Path) -> Iterator[Conversation]:
    """Yield the sessions that have said anything; their groups are named after working folders."""
    for group in _folders(folder(home)):
        for session in _folders(group):
            updates = session / _UPDATES
            try:
                stamp = updates.stat().st_mtime_ns
            except OSError:
                continue
            read = partial(_read, updates, folder(home))
            yield Conversation(agent=AGENT, key=f"{AGENT}/{session.name}", stamp=stamp, read=read)


def named(path: str, root: Path) -> Path | None:
    """Return the stream that a hook named if it is one of a session below `root`, None for any other file."""
    try:
        real = Path(path).resolve(strict=True) if path else None
        inside = real is not None and len(real.relative_to(root.resolve()).parts) == 3
    except (OSError, ValueError, RuntimeError):
        return None
    return real if inside and real is not None and real.name == _UPDATES and real.is_file() else None


def exchanges(updates: Path) -> tuple[Exchange, ...]:
    """Return the last turns of a stream, oldest first."""
    reader = _Reader()
    for record in _tail(updates):
        params = table(record.get("params"))
        update = table(params.get("update"))
        meta = table(params.get("_meta"))
        at = moment(meta.get("agentTimestampMs")) or moment(record.get("timestamp"))
        if at is not None:
            reader.hear(update, meta, _session(meta, params), at)
    return tuple(reader.found)


def is_persons(prompt: str) -> bool:
    """Tell whether a person said this, and not Grok's own program."""
    return bool(prompt.strip()) and not prompt.lstrip().startswith(_PROGRAM)


class _Reader:
    """Puts turns together from updates, in the order in which they were written."""

    def __init__(self) -> None:
        self.found: list[Exchange] = []
        self._announced = ""
        self._index: object = None
        self._answers = self._apart = False

    def hear(self, update: Mapping[str, Any], meta: Mapping[str, Any], session: str, at: datetime) -> None:
        said = text(table(update.get("content")).get("text"))
        match update.get("sessionUpdate"):
            case "hook_execution" if update.get("event_name") == "user_prompt_submit":
                self._announced = text(update.get("prompt_id"), 200)
            case "user_message_chunk":
                self._asked(said, table(update.get("_meta")), session, at)
            case "agent_message_chunk" if self.found:
                self._answered(said, text(meta.get("promptId"), 200), at)
            case "tool_call" if self.found:
                self._answers = self._apart = True
            case "turn_completed" if self.found:
                self._ended(text(update.get("prompt_id"), 200), at)

    def _asked(self, said: str, meta: Mapping[str, Any], session: str, at: datetime) -> None:
        index = meta.get("promptIndex")
        if self.found and not self._answers and index is not None and index == self._index:  # in several blocks
            self.found[-1].prompt += f"\n\n{said}" if self.found[-1].prompt else ""
            return
        before = ""
        if self.found:
            self.found[-1].over = True
            before = self.found[-1].answer if self.found[-1].session == session else ""
        asked = said if is_persons(said) and meta.get("hideFromScrollback") is not True else ""
        self.found.append(Exchange(session=session, at=at, id=self._announced, prompt=asked, before=before))
        self._announced, self._index, self._answers, self._apart = "", index, False, True

    def _answered(self, said: str, id: str, at: datetime) -> None:
        owner = self._owner(id)
        anew = owner is self.found[-1] and self._apart
        owner.answer = said if anew else owner.answer + said
        owner.id, owner.at = owner.id or id, max(owner.at, at)
        self._answers, self._apart = True, False

    def _ended(self, id: str, at: datetime) -> None:
        owner = self._owner(id)
        owner.id, owner.over, owner.at = owner.id or id, True, max(owner.at, at)

    def _owner(self, id: str) -> Exchange:
        """Return the turn with that id; what is written late may be of the last but one."""
        return next((one for one in reversed(self.found[-2:]) if id and one.id == id), self.found[-1])


def _read(updates: Path, root: Path) -> tuple[tuple[Exchange, ...], str]:
    """Return the turns of a session and its working folder; none for a helper's: who sent it tells of it."""
    path = named(str(updates), root)
    summary = _summary(updates.with_name("summary.json"))
    if path is None or summary.get("session_kind") == "subagent":
        return (), ""
    return exchanges(path), text(table(summary.get("info")).get("cwd"), 4096)


def _summary(path: Path) -> Mapping[str, Any]:
    try:
        if path.is_symlink() or path.stat().st_size > _LARGEST:
            return {}
        return table(parsed(path.read_text("utf-8", "replace")))
    except OSError:
        return {}


def _session(meta: Mapping[str, Any], params: Mapping[str, Any]) -> str:
    """Return the session in which something was said first: a fork has copies of what its parent said."""
    return text(meta.get("eventId"), 200).rpartition("-")[0] or text(params.get("sessionId"), 200)


def _tail(path: Path) -> Iterator[Mapping[str, Any]]:
    """Yield the records at the end of a stream that may matter; torn lines are passed over."""
    try:
        with path.open("rb") as file:
            size = file.seek(0, os.SEEK_END)
            file.seek(max(0, size - TAIL))
            lines = file.read(TAIL).split(b"\n")
    except OSError:
        return
    for line in lines[1:] if size > TAIL else lines:
        if any(mark in line for mark in _MARKS):
            yield table(parsed(line))


def _folders(path: Path) -> Iterator[Path]:
    try:
        with os.scandir(path) as entries:
            found = sorted(entry.path for entry in entries if entry.is_dir(follow_symlinks=False))
    except OSError:
        return
    yield from map(Path, found)
