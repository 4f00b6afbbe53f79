"""The data export of ChatGPT: conversations.json, or conversations-000.json and so on, in a zip, a folder or alone.

A conversation is a tree of messages; what the person saw last is the path from `current_node` back to the root.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from datetime import datetime, tzinfo
from functools import partial
from typing import Any

from memory_plane.importers import conversations
from memory_plane.importers.conversations import Conversation, Message
from memory_plane.importers.exports import conversation_files, label, records, starts_with
from memory_plane.importers.files import Files
from memory_plane.importers.item import Entry, Kind, Skipped
from memory_plane.importers.times import moment
from memory_plane.types import Operation

AGENT = "chatgpt"
_CITATION = re.compile("\ue200.*?\ue201", re.DOTALL)
_SPOKEN = frozenset({"text", "multimodal_text"})
"""Other contents are code, results of tools, pages that were read, thinking, and the person's hidden profile."""


def found(files: Files) -> bool:
    """Whether there are conversations that are trees."""
    return any(starts_with(files, name, "mapping") for name in conversation_files(files))


def entries(files: Files, zone: tzinfo | None) -> Iterator[Entry]:
    """Yield the conversations."""
    for name in conversation_files(files):
        for record in records(files, name):
            yield Entry(
                label(record, "title", "conversation_id", "id"), partial(_operations, record, files.changed(name))
            )


def _operations(record: Mapping[str, Any], fallback: datetime) -> tuple[Operation, ...]:
    if record.get("is_do_not_remember"):
        raise Skipped("it is marked as not to be remembered")
    began_at = moment(record.get("create_time"))
    messages = tuple(_messages(record["mapping"], record.get("current_node"), began_at or fallback))
    return conversations.operations(
        Conversation(
            agent=AGENT,
            id=record.get("conversation_id") or record["id"],
            title=record.get("title") or "",
            began_at=began_at or min((message.at for message in messages), default=fallback),
            messages=messages,
        )
    )


def _messages(nodes: Mapping[str, Any], last: str | None, at: datetime) -> Iterator[Message]:
    for node in reversed(_path(nodes, last)):
        message = node.get("message") or {}
        role = (message.get("author") or {}).get("role")
        text = _text(message)
        at = moment(message.get("create_time")) or at
        if role in ("user", "assistant") and text:
            yield Message(id=message.get("id") or "", role="user" if role == "user" else "agent", text=text, at=at)


def _path(nodes: Mapping[str, Any], last: str | None) -> list[Mapping[str, Any]]:
    """Return the nodes from the last one back to the root; where none is named, the newest leaf is the last."""
    if last not in nodes:
        leaves = [id for id, node in nodes.items() if not node.get("children")]
        last = max(leaves, key=lambda id: (nodes[id].get("message") or {}).get("create_time") or 0, default=None)
    path: dict[str, Mapping[str, Any]] = {}
    while last is not None and last in nodes and last not in path:
        path[last] = nodes[last]
        last = nodes[last].get("parent")
    return list(path.values())


def _text(message: Mapping[str, Any]) -> str:
    """Return what was said aloud: no words to tools, no thinking, nothing that was hidden."""
    content, metadata = message.get("content") or {}, message.get("metadata") or {}
    hidden = metadata.get("is_visually_hidden_from_conversation") or metadata.get("is_user_system_message")
    to_a_tool = message.get("recipient") not in (None, "all") or message.get("channel") in ("analysis", "commentary")
    if content.get("content_type") not in _SPOKEN or hidden or to_a_tool:
        return ""
    parts = [part if isinstance(part, str) else part.get("text") for part in content.get("parts") or () if part]
    return _CITATION.sub("", "\n".join(part for part in parts if isinstance(part, str))).strip()


KIND = Kind(
    name="chatgpt",
    looks_for="conversations.json or conversations-000.json whose conversations have a `mapping`",
    found=found,
    entries=entries,
    over=True,
)
