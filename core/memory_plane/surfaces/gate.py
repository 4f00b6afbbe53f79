"""The gate of the hub: turns away what no agent of this user would send, before anything reads the body."""

from __future__ import annotations

import re
import secrets
from typing import TYPE_CHECKING

from starlette.datastructures import Headers
from starlette.responses import JSONResponse

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Receive, Scope, Send

HOSTS = ("127.0.0.1", "localhost", "[::1]")

_ORIGIN = re.compile(r"https?://(127\.0\.0\.1|localhost|\[::1\])(:\d{1,5})?")


class Gate:
    """Turn away what no agent of this user would send, before anything reads the body."""

    def __init__(self, app: ASGIApp, *, token: str, port: int) -> None:
        self._app = app
        self._credentials = f"Bearer {token}".encode()
        self._hosts = {f"{host}:{port}" for host in HOSTS} | (set(HOSTS) if port == 80 else set())

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer for the app, or let it answer."""
        if scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": 1008})
        elif scope["type"] == "http" and (refusal := self._refusal(scope)) is not None:
            await refusal(scope, receive, send)
        else:
            await self._app(scope, receive, send)

    def _refusal(self, scope: Scope) -> JSONResponse | None:
        headers = Headers(scope=scope)
        if len(headers.getlist("host")) != 1 or headers["host"].lower() not in self._hosts:
            return refuse(421, "this host name does not belong to Memory Plane")
        if any(not _ORIGIN.fullmatch(origin.lower()) for origin in headers.getlist("origin")):
            return refuse(403, "requests from web pages elsewhere are not served")
        if scope["path"] == "/health":
            return None
        given = headers.getlist("authorization")
        if len(given) != 1 or not secrets.compare_digest(_credentials(given[0]), self._credentials):
            return refuse(401, "send the token as Authorization: Bearer …", {"www-authenticate": "Bearer"})
        if scope["method"] not in ("GET", "HEAD") and not _is_json(headers):
            return refuse(415, "send application/json")
        return None


def refuse(status: int, reason: str, headers: dict[str, str] | None = None) -> JSONResponse:
    """Answer with an error."""
    return JSONResponse({"error": reason}, status_code=status, headers=headers)


def _credentials(header: str) -> bytes:
    scheme, _, token = header.partition(" ")
    return f"{'Bearer' if scheme.lower() == 'bearer' else scheme} {token.strip()}".encode("utf-8", "surrogateescape")


def _is_json(headers: Headers) -> bool:
    return headers.get("content-type", "").partition(";")[0].strip().lower() == "application/json"
