"""A BlueBubbles server: its messages, its contacts and its webhooks, over HTTP.

The server takes its password in the address of a request and nowhere else, so no address leaves this module: errors
name the server alone, and the library's own log lines, which tell addresses, are not made.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from time import monotonic
from typing import Any, Self
from urllib.parse import urlsplit

import httpx
from pydantic import SecretStr

from memory_plane_muse.message import Message, clean

CONNECT, ANSWER, WHOLE = 2.0, 5.0, 10.0
"""Seconds that the server has to be there, to begin to answer, and to end."""
MOST_BYTES = 8_000_000
EVENTS = ("new-message", "updated-message")

_GROUP = 43


class Unanswered(Exception):
    """The server gave no answer that can be used; the message says why, without its password."""


class BlueBubbles:
    """One server; close it, or use it as a context manager. What asks it raises `Unanswered`."""

    def __init__(self, url: str, password: SecretStr) -> None:
        """Make ready to ask; nothing is sent yet."""
        self._url = url.rstrip("/")
        self._password = password
        # No client: that one logs the address of each request.
        self._transport = httpx.HTTPTransport(verify=self._url.startswith("https:"), retries=0)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the connection."""
        self._transport.close()

    def messages(self, *, after: int, before: int | None = None, newest: bool = False, limit: int) -> list[Any]:
        """Return messages as the server has them: sent at or after a time in milliseconds, the oldest first."""
        query = {"after": after, "before": before, "limit": limit, "sort": "DESC" if newest else "ASC"}
        given = {key: value for key, value in query.items() if value is not None}
        found = self._ask("POST", "/message/query", {**given, "offset": 0, "with": ["chat"]})
        return found if isinstance(found, list) else []

    def names(self, addresses: Iterable[str]) -> dict[str, str]:
        """Return the names of the contacts behind addresses, by every address of theirs."""
        found = self._ask("POST", "/contact/query", {"addresses": list(addresses)})
        names: dict[str, str] = {}
        for contact in found if isinstance(found, list) else ():
            if isinstance(contact, dict) and (name := _name(contact)):
                names |= dict.fromkeys(_addresses(contact), name)
        return names

    def ping(self) -> None:
        """Ask whether the server lives and takes the password."""
        self._ask("GET", "/ping")

    def webhooks(self) -> list[dict[str, Any]]:
        """Return the webhooks that the server has."""
        found = self._ask("GET", "/webhook")
        return [one for one in found if isinstance(one, dict)] if isinstance(found, list) else []

    def add_webhook(self, address: str) -> None:
        """Have new and changed messages posted to an address."""
        self._ask("POST", "/webhook", {"url": address, "events": list(EVENTS)})

    def remove_webhook(self, id: int) -> None:
        """Have nothing posted any more by one webhook."""
        self._ask("DELETE", f"/webhook/{int(id)}")

    def _ask(self, method: str, path: str, body: Mapping[str, Any] | None = None) -> Any:
        timeout = httpx.Timeout(ANSWER, connect=CONNECT).as_dict()
        try:
            request = httpx.Request(
                method,
                f"{self._url}/api/v1{path}",
                params={"password": self._password.get_secret_value()},
                json=body,
                extensions={"timeout": timeout},
            )
            response = self._transport.handle_request(request)
            try:
                content = _read(response)
            finally:
                response.close()
        except (httpx.HTTPError, httpx.InvalidURL, UnicodeError, ValueError) as error:
            raise Unanswered(f"BlueBubbles at {self._url!r} does not answer ({type(error).__name__})") from None
        return self._data(response.status_code, content)

    def _data(self, status: int, content: bytes) -> Any:
        if status in (401, 403):
            raise Unanswered(f"BlueBubbles at {self._url!r} does not take the password; correct plugin.muse.password")
        try:
            answer = json.loads(content)
        except (ValueError, RecursionError):
            answer = None
        if not 200 <= status < 300 or not isinstance(answer, dict):
            raise Unanswered(f"BlueBubbles at {self._url!r} answered with {status} and nothing that can be used")
        return answer.get("data")


def is_address(url: str) -> bool:
    """Tell whether a URL can be that of a server: its scheme, its host, and no password of its own."""
    parts = urlsplit(url)
    return parts.scheme in ("http", "https") and bool(parts.hostname) and not (parts.username or parts.query)


def message_of(record: Any) -> Message | None:
    """Read a message as the server tells it; None for a tapback, what happens in a group, or anything else."""
    if not isinstance(record, dict):
        return None
    guid, at = record.get("guid"), _moment(record.get("dateCreated"))
    apart = (record.get(name) for name in ("itemType", "associatedMessageType", "associatedMessageGuid", "isSpam"))
    if not isinstance(guid, str) or not guid or at is None or any(apart):
        return None
    chats = record.get("chats")
    chat = chats[0] if isinstance(chats, list) and chats and isinstance(chats[0], dict) else {}
    handle = record.get("handle")
    address = _text(handle.get("address")) if isinstance(handle, dict) else ""
    group, mine = chat.get("style") == _GROUP, bool(record.get("isFromMe"))
    other = address or ("" if group else _text(chat.get("chatIdentifier")))
    return Message(
        guid=guid,
        text=clean(record.get("text")),
        at=at,
        mine=mine,
        other="" if mine and group else other,
        chat=_text(chat.get("guid")) or other,
        group=group,
        title=_text(chat.get("displayName")) if group else "",
        edited=_milliseconds(record.get("dateEdited")),
        retracted=_milliseconds(record.get("dateRetracted")) > 0,
    )


def milliseconds_of(record: Any) -> int:
    """Return when a message was sent, in milliseconds since 1970; 0 for what is none."""
    return _milliseconds(record.get("dateCreated")) if isinstance(record, dict) else 0


def _read(response: httpx.Response) -> bytes:
    parts, size, end = [], 0, monotonic() + WHOLE
    for part in response.iter_raw():
        size += len(part)
        if size > MOST_BYTES or monotonic() > end:
            raise ValueError("the answer is too large, or takes too long")
        parts.append(part)
    return b"".join(parts)


def _milliseconds(value: Any) -> int:
    return int(value) if isinstance(value, int | float) and not isinstance(value, bool) and 0 < value < 4e12 else 0


def _moment(value: Any) -> datetime | None:
    given = _milliseconds(value)
    return datetime.fromtimestamp(given / 1000, UTC) if given else None


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _name(contact: Mapping[str, Any]) -> str:
    parts = (_text(contact.get("firstName")), _text(contact.get("lastName")))
    return _text(contact.get("displayName")).strip() or " ".join(filter(None, parts)) or _text(contact.get("nickname"))


def _addresses(contact: Mapping[str, Any]) -> list[str]:
    given = [one for kind in ("phoneNumbers", "emails") for one in (contact.get(kind) or ()) if isinstance(one, dict)]
    return [_text(one.get("address")) for one in given if _text(one.get("address"))]
