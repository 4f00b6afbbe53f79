"""The data export of claude.ai: conversations, projects and what Claude remembers, in a zip, a folder or several zips.

Until summer 2026 it was one zip with conversations.json, projects.json or projects/*.json, and memories.json; since
then it is a manifest and conversations-000.zip, projects-000.zip, memories-000.zip with memories/*.json, and others.
No export says which project a conversation belongs to.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import datetime, timedelta, tzinfo
from functools import partial
from pathlib import PurePosixPath
from typing import Any

from memory_plane.errors import MemoryPlaneError
from memory_plane.importers import conversations
from memory_plane.importers.conversations import Conversation, Message
from memory_plane.importers.exports import conversation_files, label, records, small, starts_with
from memory_plane.importers.files import Files
from memory_plane.importers.item import Entry, Kind, Skipped, fact, short, thought
from memory_plane.importers.sections import sections, titled
from memory_plane.importers.times import moment
from memory_plane.types import Operation

AGENT = "claude-ai"
PERSON = "user"
_PROJECTS = re.compile(r"(?:.*/)?projects(?:/[^/]+)?\.json")
_MEMORIES = re.compile(r"(?:.*/)?memories(?:/[^/]+)?\.json")
_SOURCE = "claude.ai export"


def found(files: Files) -> bool:
    """Whether there are conversations with `chat_messages`, or projects or memories of claude.ai."""
    if any(starts_with(files, name, "chat_messages") for name in conversation_files(files)):
        return True
    with suppress(MemoryPlaneError):
        marks = {"prompt_template", "conversations_memory"}
        return any(marks & set(record) for pattern in (_MEMORIES, _PROJECTS) for record, _ in _some(files, pattern))
    return False


def entries(files: Files, zone: tzinfo | None) -> Iterator[Entry]:
    """Yield what Claude remembers, the projects, and the conversations."""
    projects = {record.get("uuid"): record.get("name") for record, _ in _some(files, _PROJECTS)}
    for record, at in _some(files, _MEMORIES):
        yield Entry("what Claude remembers", partial(_memories, record, projects, at))
    for record, at in _some(files, _PROJECTS):
        yield Entry(f"project {label(record, 'name', 'uuid')}", partial(_project, record, at))
    for name in conversation_files(files):
        for record in records(files, name) if not (_PROJECTS.fullmatch(name) or _MEMORIES.fullmatch(name)) else ():
            yield Entry(label(record, "name", "uuid"), partial(_conversation, record, files.changed(name)))


def _some(files: Files, pattern: re.Pattern[str]) -> Iterator[tuple[Mapping[str, Any], datetime]]:
    """Yield the objects in small files, each of which holds one or an array, with the time of the file."""
    for name in files.names:
        if pattern.fullmatch(name):
            value = small(files, name)
            for record in value if isinstance(value, list) else [value]:
                if isinstance(record, Mapping):
                    yield record, files.changed(name)


# --- conversations -----------------------------------------------------------------------------------------------


def _conversation(record: Mapping[str, Any], fallback: datetime) -> tuple[Operation, ...]:
    began_at = moment(record.get("created_at")) or fallback
    return conversations.operations(
        Conversation(
            agent=AGENT,
            id=record["uuid"],
            title=record.get("name") or "",
            summary=record.get("summary") or "",
            began_at=began_at,
            messages=tuple(_messages(record, began_at)),
        )
    )


def _messages(record: Mapping[str, Any], at: datetime) -> Iterator[Message]:
    for message in _branch(record.get("chat_messages") or (), record.get("current_leaf_message_uuid")):
        text = _text(message)
        at = moment(message.get("created_at")) or at
        if text:
            human = message.get("sender") == "human"
            yield Message(id=message.get("uuid") or "", role="user" if human else "agent", text=text, at=at)


def _branch(messages: Sequence[Mapping[str, Any]], last: str | None) -> Sequence[Mapping[str, Any]]:
    """Return the messages from the first to the last one, without what was edited away; all where none has a parent."""
    known = {message.get("uuid"): message for message in messages}
    parents = {message.get("parent_message_uuid") for message in messages}
    if not parents & known.keys():
        return messages
    at = last if last in known else messages[-1].get("uuid")
    path: dict[Any, Mapping[str, Any]] = {}
    while at in known and at not in path:
        path[at] = known[at]
        at = known[at].get("parent_message_uuid")
    return list(path.values())[::-1]


def _text(message: Mapping[str, Any]) -> str:
    """Return what was said: the newer exports leave `text` empty; thinking, tools and their results are not said."""
    content = message.get("content")
    blocks = [block for block in content if isinstance(block, Mapping)] if isinstance(content, list) else []
    said = [block.get("text") for block in blocks if block.get("type") == "text"]
    return "\n".join(filter(None, said)).strip() or (message.get("text") or "" if not blocks else "").strip()


# --- projects and memories ---------------------------------------------------------------------------------------


def _project(record: Mapping[str, Any], fallback: datetime) -> tuple[Operation, ...]:
    name, id = record["name"], record["uuid"]
    at = moment(record.get("updated_at")) or moment(record.get("created_at")) or fallback
    made = [
        fact(AGENT, name, key, value, at=at, origin="user", project=short(name), source=_SOURCE)
        for key, value in (("description", record.get("description")), ("instructions", record.get("prompt_template")))
        if value and value.strip()
    ]
    for doc in record.get("docs") or ():
        made += _doc(doc, name, id, at)
    if not made:
        raise Skipped("it has no description, instructions or documents")
    return tuple(made)


def _doc(doc: Mapping[str, Any], project: str, id: str, at: datetime) -> Iterator[Operation]:
    """Yield the pieces of a document that was given to a project; nobody knows whose words they are."""
    at, name = moment(doc.get("created_at")) or at, doc.get("filename") or "document"
    for number, (heading, text) in enumerate(sections(doc.get("content") or "")):
        yield thought(
            AGENT,
            [id, doc.get("uuid") or name, heading, text],
            titled(name, heading, text),
            at=at + timedelta(microseconds=number),  # the order of the text stays the order of time
            origin="external",
            project=short(project),
            source=short(f"{project}/{name}"),
            thread=short(f"{id}/{name}"),
        )


def _memories(record: Mapping[str, Any], projects: Mapping[Any, Any], at: datetime) -> tuple[Operation, ...]:
    made = _remembered(PERSON, "memory", record.get("conversations_memory"), at)
    of_projects = record.get("project_memories")
    for id, text in of_projects.items() if isinstance(of_projects, Mapping) else ():
        name = projects.get(id) or f"project {id}"
        made += _remembered(name, "memory", text, at, project=short(name))
    for file in record.get("memory_files") or ():
        if isinstance(file, Mapping) and isinstance(file.get("path"), str):
            made += _remembered(PERSON, PurePosixPath(file["path"]).stem, file.get("content"), at, below=True)
    if not made:
        raise Skipped("it is empty")
    return tuple(made)


def _remembered(
    subject: str, key: str, text: Any, at: datetime, *, project: str | None = None, below: bool = False
) -> list[Operation]:
    """Make a fact of each section, so that what a later export says of it takes its place.

    It is called by its heading, or where `below`, by the key and the heading.
    """
    said: dict[str, list[str]] = {}
    for heading, piece in sections(text, bold=True) if isinstance(text, str) else ():
        name = f"{key} › {heading}" if heading and below else heading or key
        said.setdefault(name.lower(), []).append(piece)
    return [
        fact(AGENT, subject, name, "\n\n".join(pieces), at=at, origin="agent", project=project, source=_SOURCE)
        for name, pieces in said.items()
    ]


KIND = Kind(
    name="claude",
    looks_for="conversations.json whose conversations have `chat_messages`, or projects or memories beside it",
    found=found,
    entries=entries,
    over=True,
)
