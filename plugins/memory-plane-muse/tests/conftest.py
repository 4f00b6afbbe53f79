"""Sources built from the documented formats: databases of Messages of three generations, and a BlueBubbles server."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

APPLE = datetime(2001, 1, 1, tzinfo=UTC)
PASSWORD = "pa55 wörd&more/7f3c"
COLUMNS = {
    # macOS 10.12: seconds, no edits. 10.13 to 12: nanoseconds. 13 on: edits, and text in attributedBody alone.
    "sierra": "date INTEGER, is_from_me INTEGER, item_type INTEGER, associated_message_guid TEXT, "
    "associated_message_type INTEGER, cache_roomnames TEXT",
    "monterey": "date INTEGER, is_from_me INTEGER, item_type INTEGER, associated_message_guid TEXT, "
    "associated_message_type INTEGER, cache_roomnames TEXT, thread_originator_guid TEXT, message_summary_info BLOB",
    "ventura": "date INTEGER, is_from_me INTEGER, item_type INTEGER, associated_message_guid TEXT, "
    "associated_message_type INTEGER, cache_roomnames TEXT, thread_originator_guid TEXT, message_summary_info BLOB, "
    "date_edited INTEGER, date_retracted INTEGER",
}


def typedstream(text: str, *, mutable: bool = False) -> bytes:
    """Build an attributedBody as Messages writes it, with attributes after the string."""
    words = text.encode()
    size = len(words)
    width = 0 if size < 0x80 else 2 if size <= 0xFFFF else 4
    length = {0: b"", 2: b"\x81", 4: b"\x82"}[width] + size.to_bytes(width or 1, "little")
    kinds = (
        b"\x84\x84\x84\x12NSAttributedString\x00\x84\x84\x08NSObject\x00\x85\x92"
        b"\x84\x84\x84\x08NSString\x01\x94\x84\x01"
    )
    if mutable:
        kinds = (
            b"\x84\x84\x84\x19NSMutableAttributedString\x00\x84\x84\x12NSAttributedString\x00\x84\x84\x08NSObject\x00"
            b"\x85\x92\x84\x84\x84\x0fNSMutableString\x01\x84\x84\x08NSString\x01\x95\x84\x01"
        )
    rest = b"\x86\x84\x02iI\x01\x05\x92\x84\x84\x84\x0cNSDictionary\x00\x94\x84\x01i\x01\x92\x84\x96\x96"
    return b"\x04\x0bstreamtyped\x81\xe8\x03\x84\x01@" + kinds + b"+" + length + words + rest


class Messages:
    """A chat.db that Messages is writing: WAL, its connection stays open."""

    def __init__(self, path: Path, generation: str = "ventura") -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self.path, self.generation = path, generation
        self.connection = sqlite3.connect(path, isolation_level=None)
        self.connection.executescript(f"""
            PRAGMA journal_mode = WAL;
            CREATE TABLE message (ROWID INTEGER PRIMARY KEY AUTOINCREMENT, guid TEXT UNIQUE, text TEXT,
                attributedBody BLOB, handle_id INTEGER DEFAULT 0, service TEXT, group_title TEXT,
                group_action_type INTEGER DEFAULT 0, {COLUMNS[generation]});
            CREATE TABLE handle (ROWID INTEGER PRIMARY KEY, id TEXT, service TEXT, country TEXT);
            CREATE TABLE chat (ROWID INTEGER PRIMARY KEY, guid TEXT, chat_identifier TEXT, display_name TEXT,
                style INTEGER);
            CREATE TABLE chat_message_join (chat_id INTEGER, message_id INTEGER);
            CREATE TABLE chat_handle_join (chat_id INTEGER, handle_id INTEGER);
        """)

    def stamp(self, at: datetime) -> int:
        """Return a moment as this generation writes it."""
        seconds = (at - APPLE) // timedelta(seconds=1)
        return seconds if self.generation == "sierra" else seconds * 10**9

    def handle(self, address: str) -> int:
        found = self.connection.execute("SELECT ROWID FROM handle WHERE id = ?", (address,)).fetchone()
        if found is None:
            found = self.connection.execute("INSERT INTO handle (id) VALUES (?) RETURNING ROWID", (address,)).fetchone()
        return int(found[0])

    def chat(self, identifier: str, *, group: bool = False, title: str = "") -> int:
        guid = f"iMessage;{'+' if group else '-'};{identifier}"
        found = self.connection.execute("SELECT ROWID FROM chat WHERE guid = ?", (guid,)).fetchone()
        if found is None:
            row = (guid, identifier, title or None, 43 if group else 45)
            found = self.connection.execute(
                "INSERT INTO chat (guid, chat_identifier, display_name, style) VALUES (?, ?, ?, ?) RETURNING ROWID", row
            ).fetchone()
        return int(found[0])

    def say(
        self,
        text: str,
        sender: str | None = "+15551234567",
        *,
        at: datetime,
        guid: str,
        to: str = "+15551234567",
        group: str | None = None,
        joined: bool = True,
        **columns: Any,
    ) -> None:
        """Add a message; `sender` None is the person, `group` the name of a group."""
        chat = self.chat(f"chat-{group}", group=True, title=group) if group is not None else self.chat(sender or to)
        values: dict[str, Any] = {
            "guid": guid,
            "text": None if self.generation == "ventura" else text,
            "attributedBody": typedstream(text) if self.generation == "ventura" else None,
            "handle_id": self.handle(sender) if sender else 0,
            "date": self.stamp(at),
            "is_from_me": int(sender is None),
            "item_type": 0,
            **columns,
        }
        names, marks = ", ".join(values), ", ".join("?" * len(values))
        statement = f"INSERT INTO message ({names}) VALUES ({marks}) RETURNING ROWID"
        (row,) = self.connection.execute(statement, tuple(values.values())).fetchone()
        if joined:
            self.connection.execute("INSERT INTO chat_message_join VALUES (?, ?)", (chat, row))

    def change(self, guid: str, **columns: Any) -> None:
        """Change a message that is there."""
        names = ", ".join(f"{name} = ?" for name in columns)
        self.connection.execute(f"UPDATE message SET {names} WHERE guid = ?", (*columns.values(), guid))


@pytest.fixture
def typed() -> Callable[..., bytes]:
    """Give `typed(text, mutable=False)`: an attributedBody."""
    return typedstream


@pytest.fixture
def database() -> Iterator[Callable[..., Messages]]:
    """Give `database(path, generation)`; what it opens is closed after the test."""
    with ExitStack() as opened:

        def make(path: Path, generation: str = "ventura") -> Messages:
            made = Messages(path, generation)
            opened.callback(made.connection.close)
            return made

        yield make


@pytest.fixture
def messages(tmp_path: Path) -> Iterator[Messages]:
    """The database of a Mac of today."""
    made = Messages(tmp_path / "Zoë's Mac" / "chat.db")
    yield made
    made.connection.close()


@dataclass
class Server:
    """What a BlueBubbles server knows, and what it was asked."""

    url: str = ""
    messages: list[dict[str, Any]] = field(default_factory=list)
    contacts: list[dict[str, Any]] = field(default_factory=list)
    webhooks: list[dict[str, Any]] = field(default_factory=list)
    asked: list[tuple[str, str, Any]] = field(default_factory=list)
    answer: tuple[int, bytes] | None = None

    def say(
        self, text: str | None, *, at: datetime, guid: str, sender: str | None = "+15551234567", **more: Any
    ) -> None:
        """Add a message in the form of the server; `sender` None is the person."""
        self.messages.append(record(text, at=at, guid=guid, sender=sender, **more))


def record(
    text: str | None,
    *,
    at: datetime,
    guid: str,
    sender: str | None = "+15551234567",
    to: str = "+15551234567",
    **more: Any,
) -> dict[str, Any]:
    """Return a message as BlueBubbles 1.9.9 tells it."""
    group = more.pop("group", None)
    chat = {"guid": f"iMessage;-;{sender or to}", "style": 45, "chatIdentifier": sender or to, "displayName": ""}
    if group is not None:
        chat = {
            "guid": f"iMessage;+;chat-{group}",
            "style": 43,
            "chatIdentifier": f"chat-{group}",
            "displayName": group,
        }
    return {
        "originalROWID": 7,
        "guid": guid,
        "text": text,
        "attributedBody": None,
        "handle": {"address": sender, "service": "iMessage", "country": "us"} if sender else None,
        "handleId": 1 if sender else 0,
        "otherHandle": 0,
        "attachments": [],
        "subject": None,
        "error": 0,
        "dateCreated": int(at.timestamp() * 1000),
        "dateRead": None,
        "dateDelivered": None,
        "isFromMe": sender is None,
        "itemType": 0,
        "groupTitle": None,
        "groupActionType": 0,
        "balloonBundleId": None,
        "associatedMessageGuid": None,
        "associatedMessageType": None,
        "threadOriginatorGuid": None,
        "chats": [chat],
        "dateEdited": None,
        "dateRetracted": None,
        "partCount": 1,
        **more,
    }


@pytest.fixture
def bubble() -> Callable[..., dict[str, Any]]:
    """Give `bubble(text, at=…, guid=…, sender=…, **fields)`: a message as BlueBubbles tells it."""
    return record


@pytest.fixture
def server() -> Iterator[Server]:
    """A BlueBubbles server on loopback that keeps to the documented envelope."""
    known = Server()

    class Handler(_Handler):
        server_state = known

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as http:
        known.url = f"http://127.0.0.1:{http.server_port}"
        thread = Thread(target=http.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield known
        http.shutdown()
        thread.join()


def _digits(number: str) -> str:
    return "".join(filter(str.isdigit, number))[-7:]


class _Handler(BaseHTTPRequestHandler):
    server_state: Server
    protocol_version = "HTTP/1.1"

    def log_message(self, *_: Any) -> None:
        """Say nothing."""

    def do_GET(self) -> None:
        self._answer(None)

    def do_DELETE(self) -> None:
        self._answer(None)

    def do_POST(self) -> None:
        self._answer(json.loads(self.rfile.read(int(self.headers["content-length"] or 0))))

    def _answer(self, body: Any) -> None:
        state, parts = self.server_state, urlsplit(self.path)
        path = parts.path.removeprefix("/api/v1")
        state.asked.append((self.command, path, body))
        if state.answer is not None:
            self._send(*state.answer)
        elif parse_qs(parts.query).get("password") != [PASSWORD]:
            self._send(401, json.dumps({"status": 401, "message": "You are not authorized", "error": {}}).encode())
        else:
            told = {"status": 200, "message": "Success", **self._found(path, body)}
            self._send(200, json.dumps(told).encode())

    def _found(self, path: str, body: Any) -> dict[str, Any]:
        state = self.server_state
        match self.command, path.split("/")[1:]:
            case "POST", ["message", "query"]:
                return self._query(body)
            case "POST", ["contact", "query"]:
                asked = {_digits(one) for one in body["addresses"]}
                return {
                    "data": [
                        contact
                        for contact in state.contacts
                        if asked & {_digits(one["address"]) for one in contact["phoneNumbers"]}
                    ]
                }
            case "POST", ["webhook"]:
                state.webhooks.append({"id": len(state.webhooks) + 1, **body})
                return {"data": state.webhooks[-1]}
            case "DELETE", ["webhook", id]:
                state.webhooks = [one for one in state.webhooks if one["id"] != int(id)]
                return {}
            case "GET", ["webhook"]:
                return {"data": state.webhooks}
        return {"data": "pong"}

    def _query(self, body: Any) -> dict[str, Any]:
        assert 1 <= body["limit"] <= 1000
        newest = body["sort"] == "DESC"
        first, last = body["after"], body.get("before") or 2**62
        found = [one for one in self.server_state.messages if first <= one["dateCreated"] <= last]
        found.sort(key=lambda one: one["dateCreated"], reverse=newest)
        page = found[body["offset"] :][: body["limit"]]
        metadata = {"offset": body["offset"], "limit": body["limit"], "total": len(found), "count": len(page)}
        return {"data": page, "metadata": metadata}

    def _send(self, status: int, content: bytes) -> None:
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)
