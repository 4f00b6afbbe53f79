"""The chats with Grok Bot that its app keeps on this machine: a window of them, undocumented, only ever read.

Each file is one slice of what the app knows, `base32(key).blob`. The list of bots and their chats are opened, and no
other: some hold secrets.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import timedelta
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import Any

from memory_plane_grok.exchanges import Conversation, Exchange
from memory_plane_grok.values import moment, parsed, rows, table, text

AGENT = "grokbot"
FILES = 500
"""How many files are looked at; an app with more bots than this is not known."""
LARGEST = 8 * 1024 * 1024
ENTRIES = 400
"""How many entries of a chat are looked at, the newest; the app keeps some 200."""
QUIET = timedelta(minutes=2)
"""After this long without a word a request has been answered."""

_ROSTER = re.compile(r"sand\.client\.slice\.account\..+\.roster\.last-roster")
_CHAT = re.compile(r"sand\.client\.slice\.account\..+\.transcript\.replicas\.([\w-]{1,100})")


def conversations(folder: Path) -> Iterator[Conversation]:
    """Yield the chats, one a bot; messages of a bot that is not the person's own are other people's words."""
    slices = dict(_slices(folder))
    own = frozenset(id for path, key in slices.items() if _ROSTER.fullmatch(key) for id in _bots(path))
    for path, key in slices.items():
        if chat := _CHAT.fullmatch(key):
            try:
                stamp = path.stat().st_mtime_ns
            except OSError:
                continue
            read = partial(_read, path, chat[1], own)
            yield Conversation(agent=AGENT, key=f"{AGENT}/{chat[1]}", stamp=stamp, read=read, quiet=QUIET)


def key_of(name: str) -> str:
    """Return the key that a file is named after, "" for a name that is none."""
    stem = name.removesuffix(".blob").upper()
    try:
        return base64.b32decode(stem + "=" * (-len(stem) % 8)).decode()
    except (binascii.Error, ValueError):
        return ""


def _slices(folder: Path) -> Iterator[tuple[Path, str]]:
    for path in sorted(folder.glob("*.blob"))[:FILES]:
        if (key := key_of(path.name)) and not path.is_symlink():
            yield path, key


def _bots(path: Path) -> Iterator[str]:
    for row in rows(_value(path).get("rows")):
        yield text(row.get("id"), 100)


def _read(path: Path, bot: str, own: frozenset[str]) -> tuple[Sequence[Exchange], str]:
    entries = [one for one in rows(_value(path).get("entries"))[-ENTRIES:] if moment(one.get("timestampMs"))]
    found = [
        _exchange(bot, request, list(said), own)
        for request, said in groupby(entries, key=lambda entry: text(entry.get("requestId"), 200))
        if request
    ]
    for number, exchange in enumerate(found):
        exchange.before = found[number - 1].answer if number else ""
        exchange.over = number < len(found) - 1
    return found, ""


def _exchange(bot: str, request: str, said: Sequence[Mapping[str, Any]], own: frozenset[str]) -> Exchange:
    """Put one request together: the person's words or, where a strange bot sent it, those, and what the bot said."""
    asked = [one for one in said if one.get("kind") == "message" and one.get("role") == "user"]
    persons = [one for one in asked if not one.get("fromAgent")]
    strangers = [one for one in asked if (sender := text(table(one.get("fromAgent")).get("id"))) and sender not in own]
    times = [at for one in said if (at := moment(one.get("timestampMs")))]
    return Exchange(
        session=bot,
        id=request,
        at=max(times),
        prompt="\n\n".join(text(one.get("content")) for one in persons or strangers),
        answer="\n\n".join(filter(None, map(_answer, said))),
        origin="external" if strangers else "agent",
    )


def _answer(entry: Mapping[str, Any]) -> str:
    """Return what the bot told the person in an entry, "" for anything else, as what it told another bot."""
    if entry.get("kind") == "send-message":
        message = table(entry.get("message"))
        return text(message.get("content")) if message.get("type") == "text" else ""
    if entry.get("kind") == "message" and entry.get("role") == "assistant" and not entry.get("toAgent"):
        return text(entry.get("content"))
    return ""


def _value(path: Path) -> Mapping[str, Any]:
    """Return the content of a slice, whatever its version is; nothing of one that is torn, too large or another."""
    try:
        if path.stat().st_size > LARGEST:
            return {}
        return table(table(parsed(path.read_bytes())).get("value"))
    except OSError:
        return {}
