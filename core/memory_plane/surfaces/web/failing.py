"""What goes wrong, told to a person: a browser gets a page where a program is answered with JSON."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from starlette.datastructures import Headers
from starlette.requests import Request

from memory_plane.surfaces.web.frame import Frame, came_from

if TYPE_CHECKING:
    from starlette.types import Message, Receive, Scope, Send

HEADINGS = {401: "This is not open to a browser", 404: "There is no such page", 503: "That does not work now"}
REFUSED, BROKEN = "That was refused", "That went wrong"
KEPT = ("retry-after", "allow")
"""What a page keeps of the headers of the answer in whose place it is."""


def in_words(scope: Scope, receive: Receive, send: Send, frame: Frame) -> Send:
    """Return where to send an answer, so that a browser which asked for a page gets its error as one."""
    if scope["method"] == "HEAD" or "text/html" not in Headers(scope=scope).get("accept", ""):
        return send
    held: list[Message] = []

    async def told(message: Message) -> None:
        if not held and not _is_error(message):
            return await send(message)
        held.append(message)
        if len(held) == 1 or message.get("more_body", False):
            return None
        return await _tell(scope, receive, send, frame, held)

    return told


def _is_error(message: Message) -> bool:
    if message["type"] != "http.response.start" or message["status"] < 400:
        return False
    return Headers(raw=message["headers"]).get("content-type", "") == "application/json"


async def _tell(scope: Scope, receive: Receive, send: Send, frame: Frame, held: list[Message]) -> None:
    status, headers = held[0]["status"], Headers(raw=held[0]["headers"])
    reason = json.loads(b"".join(part.get("body", b"") for part in held[1:]))["error"]
    request = Request(scope)
    heading = HEADINGS.get(status, REFUSED if status < 500 else BROKEN)
    again = status == 503 and scope["method"] == "GET"
    values = {"heading": heading, "reason": reason, "back": came_from(request), "again": again}
    page = frame.page(request, "failed.html", status=status, **values)
    page.headers.update({name: headers[name] for name in KEPT if name in headers})
    await page(scope, receive, send)
