"""The transcripts of Claude Code: `~/.claude/projects/<folder>/<session>.jsonl`, one record a line."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, tzinfo
from functools import partial
from itertools import islice
from typing import Any, Literal

from memory_plane.capture import Turn, operations, project_of
from memory_plane.importers import conversations
from memory_plane.importers.claude_records import said_in
from memory_plane.importers.conversations import Conversation, Message
from memory_plane.importers.documents import lines
from memory_plane.importers.files import Files
from memory_plane.importers.item import Entry, Kind, Skipped
from memory_plane.importers.times import moment
from memory_plane.types import Operation

AGENT = "claude-code"
LOOKED_AT = 200
"""How many lines of a file are looked at to tell what it is."""
_TITLES = (("custom-title", "customTitle"), ("ai-title", "aiTitle"), ("summary", "summary"))
"""The kinds of records with a name of the session, and where it stands; the person's own goes first."""
_NAMES = tuple(name for _, name in _TITLES)


def found(files: Files) -> bool:
    """Whether there are lines of sessions."""
    return any(_is_session(files, name) for name in _sessions(files))


def entries(files: Files, zone: tzinfo | None) -> Iterator[Entry]:
    """Yield the sessions."""
    for name in _sessions(files):
        yield Entry(name.removesuffix(".jsonl"), partial(_operations, files, name))


def _sessions(files: Files) -> list[str]:
    """Return the names of sessions; those of subagents lie in folders of their own, or are called so."""
    named = (name for name in files.names if name.endswith(".jsonl"))
    return [name for name in named if not re.search(r"(?:^|/)(?:subagents/|agent-)", name)]


def _is_session(files: Files, name: str) -> bool:
    with files.open(name) as stream:
        first = [one for one in islice(lines(stream), LOOKED_AT) if isinstance(one, Mapping)]
    kinds = {one.get("type") for one in first if {"sessionId", "message"} <= one.keys() or {*one} & set(_NAMES)}
    return not kinds.isdisjoint(("user", "assistant", *dict(_TITLES)))


def _operations(files: Files, name: str) -> tuple[Operation, ...]:
    """Read one session; what a subagent said is its own matter, and known to who sent it."""
    titles: dict[str, str] = {}
    said: list[Mapping[str, Any]] = []
    with files.open(name) as stream:
        for record in lines(stream):
            if isinstance(record, Mapping):
                titles |= {kind: record[key] for kind, key in _TITLES if record.get("type") == kind and record.get(key)}
                if said_in(record):
                    said.append(_trimmed(record))
    if not said:
        raise Skipped("nothing was said in it")
    return conversations.operations(_conversation(said, titles, name, files.changed(name)))


def _conversation(
    said: Sequence[Mapping[str, Any]], titles: Mapping[str, str], name: str, at: datetime
) -> Conversation:
    folder = next((record["cwd"] for record in said if isinstance(record.get("cwd"), str)), "")
    messages = tuple(_messages(said, at))
    return Conversation(
        agent=AGENT,
        id=said[-1].get("sessionId") or name.rsplit("/", 1)[-1].removesuffix(".jsonl"),
        title=next((titles[kind] for kind, _ in _TITLES if isinstance(titles.get(kind), str)), ""),
        began_at=messages[0].at,
        messages=messages,
        project=project_of(folder) if folder else None,
        told=_told(said[0], messages[0]),
    )


def _told(record: Mapping[str, Any], first: Message) -> str:
    """Return the id of the focus that Claude's hook told when the session began, "" where it told none."""
    session, id = (known if isinstance(known := record.get(name), str) else "" for name in ("sessionId", "promptId"))
    prompt = first.text if first.role == "user" else ""
    told = operations(Turn(agent=AGENT, session=session, id=id, at=first.at, prompt=prompt))
    return next((one.id for one in told if one.op == "heartbeat"), "")


def _messages(said: Sequence[Mapping[str, Any]], at: datetime) -> Iterator[Message]:
    at = next(filter(None, (moment(record.get("timestamp")) for record in said)), at)
    for record in said:
        at = moment(record.get("timestamp")) or at
        role: Literal["user", "agent"] = "user" if record["type"] == "user" else "agent"
        yield Message(id=record.get("uuid") or "", role=role, text=said_in(record), at=at)


def _trimmed(record: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a record without the results of tools, which may be many times as long as all that was said."""
    kept = ("type", "uuid", "sessionId", "promptId", "timestamp", "cwd")
    return {key: record.get(key) for key in kept} | {"message": {"content": said_in(record)}}


KIND = Kind(
    name="claude-code",
    looks_for="*.jsonl whose records have a `sessionId`, as below ~/.claude/projects",
    found=found,
    entries=entries,
    over=True,
)
