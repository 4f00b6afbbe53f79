"""One message, whichever way it came: from BlueBubbles, by its webhook, or out of chat.db."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime

from memory_plane.capture import without_ours

_LONGEST = 20_000
_ATTACHMENT = "\ufffc"
_BLANKS = re.compile(r"[ \t\r\f\v]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """A message as its source has it: `at` is aware, `edited` the milliseconds since 1970 of its last edit, 0 if none.

    `other` is the address of whoever sent it, or of whoever got it where it is `mine`; "" for what is mine in a group.
    `chat` identifies the conversation, `title` is the name of a group, "" if it has none.
    """

    guid: str
    text: str
    at: datetime
    mine: bool
    other: str
    chat: str
    group: bool = False
    title: str = ""
    edited: int = 0
    retracted: bool = False


def clean(text: object) -> str:
    """Return the words of a message: no marks of attachments, nothing of ours, no half characters."""
    if not isinstance(text, str):
        return ""
    whole = text[:_LONGEST].encode("utf-8", "replace").decode().replace(_ATTACHMENT, " ")
    lines = (_BLANKS.sub(" ", line).strip() for line in without_ours(whole).splitlines())
    return "\n".join(line for line in lines if line)
