"""The gate of the hub: turns away what no agent of this user would send, before anything reads the body."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from functools import partial
from typing import TYPE_CHECKING, Any

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import JSONResponse

from memory_plane.access import agent_of, opens
from memory_plane.operations import agent_id

if TYPE_CHECKING:
    from starlette.responses import Response
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

    from memory_plane.surfaces.web.door import Door

HOSTS = ("127.0.0.1", "localhost", "[::1]")
AGENT_HEADER = "x-memory-plane-agent"

IDENTITY = "memory_plane.identity"
"""Where the scope holds the agent that the token stands for; None is the master token, which stands for any."""
WEBHOOK = "memory_plane.webhook"
"""Where the scope holds the agent whose webhook the request was posted to, with the right secret."""
STILL_OPEN = "memory_plane.still_open"
"""Where the scope holds a function that tells whether the token of the request still opens the hub."""

JSON, FORM = "application/json", "application/x-www-form-urlencoded"
_WEBHOOK = re.compile(r"/ingest/([^/]+)/([^/]+)")
_ONCE = ("content-type", "content-length", "content-encoding", "transfer-encoding", "last-event-id")
_HARDENING = {
    "cache-control": "no-store",
    "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
    "cross-origin-resource-policy": "same-origin",
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
}


class Gate:
    """Let a request in when its host, its origin and its token are right, and say in the scope whose token it is.

    A webhook needs no token: its path holds a secret.
    """

    def __init__(
        self,
        app: ASGIApp,
        *,
        master: Callable[[], str | None],
        port: int,
        names: Iterable[str] = (),
        webhook: Callable[[str, str], bool] = lambda agent, secret: False,
        door: Door | None = None,
    ) -> None:
        """`master` tells the token now, None where nothing is served; `names` are hosts beside those of loopback.

        `webhook` tells whether an agent's webhook has that secret; `door` lets a person's browser in to the pages.
        """
        self._app = app
        self._master = master
        self._webhook = webhook
        self._door = door
        hosts = [*HOSTS, *map(_bracketed, names)]
        self._hosts = {host if _has_port(host) else f"{host}:{port}" for host in hosts}
        self._hosts |= set(hosts) if port in (80, 443) else set()
        bare = "|".join(re.escape(host.rpartition(":")[0] if _has_port(host) else host) for host in hosts)
        self._origin = re.compile(rf"https?://({bare})(:\d{{1,5}})?")

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer for the app, or let it answer."""
        if scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": 1008})
        elif scope["type"] != "http":
            await self._app(scope, receive, send)
        else:
            hardened = partial(_harden, send)
            send = self._door.in_words(scope, receive, hardened) if self._door is not None else hardened
            answer = self._refusal(scope) or self._app
            await answer(scope, receive, send)

    def _refusal(self, scope: Scope) -> Response | None:
        headers = Headers(scope=scope)
        if len(headers.getlist("host")) != 1 or headers["host"].lower() not in self._hosts:
            return refuse(421, "this host name does not belong to Memory Plane")
        if any(not self._origin.fullmatch(origin.lower()) for origin in headers.getlist("origin")):
            return refuse(403, "requests from web pages elsewhere are not served")
        if scope["path"] == "/health" and scope["method"] in ("GET", "HEAD"):
            return None
        if self._door is not None and self._door.covers(scope["path"]):
            return _malformed(scope["method"], headers, FORM) or self._door.refusal(scope, headers)
        stranger = None if self._knows_secret(scope) else self._stranger(scope, headers)
        return stranger or _malformed(scope["method"], headers)

    def _knows_secret(self, scope: Scope) -> bool:
        found = _WEBHOOK.fullmatch(scope["path"]) if scope["method"] == "POST" else None
        if found is None or not self._webhook(found[1], found[2]):
            return False
        scope[WEBHOOK] = scope[IDENTITY] = found[1]
        return True

    def _stranger(self, scope: Scope, headers: Headers) -> JSONResponse | None:
        """Refuse a request without a token, and one whose header names another agent than its token."""
        given = headers.getlist("authorization")
        scheme, _, token = (given[0] if len(given) == 1 else "").partition(" ")
        still_open = partial(self._opens, token.strip())
        if scheme.lower() != "bearer" or not still_open():
            return refuse(401, "send the token as Authorization: Bearer …", {"www-authenticate": "Bearer"})
        identity = agent_of(token.strip())
        scope[IDENTITY], scope[STILL_OPEN] = identity, still_open
        named = {agent_id(name) for name in headers.getlist(AGENT_HEADER)}
        return refuse(403, not_yours(identity)) if identity is not None and named - {identity} else None

    def _opens(self, token: str) -> bool:
        master = self._master()
        return master is not None and opens(master, token)


def refuse(status: int, reason: str, headers: dict[str, str] | None = None) -> JSONResponse:
    """Answer with an error."""
    return JSONResponse({"error": reason}, status_code=status, headers=headers)


def not_yours(identity: str | None) -> str:
    """Say why the bearer of an agent's token may not write under another name."""
    return f"agent: this token is that of {identity!r} and speaks for no other agent"


def _malformed(method: str, headers: Headers, kind: str = JSON) -> JSONResponse | None:
    """Refuse what two programs in a row may read differently, and a body of another kind, such as a page's form."""
    if any(len(headers.getlist(name)) > 1 for name in _ONCE):
        return refuse(400, f"send each of {', '.join(_ONCE)} once")
    if "content-length" in headers and "transfer-encoding" in headers:
        return refuse(400, "send content-length or transfer-encoding, not both")
    if headers.get("content-encoding", "identity").strip().lower() != "identity":
        return refuse(415, "send the body as it is, without content-encoding")
    if method not in ("GET", "HEAD", "DELETE") and _kind(headers) != kind:
        return refuse(415, f"send {kind}")
    return None


def _kind(headers: Headers) -> str:
    return headers.get("content-type", "").partition(";")[0].strip().lower()


def _bracketed(name: str) -> str:
    """Write a host name as a Host header has it."""
    name = name.strip().lower()
    return f"[{name}]" if name.count(":") > 1 and not name.startswith("[") else name


def _has_port(host: str) -> bool:
    return re.search(r":\d+$", host) is not None


async def _harden(send: Callable[[Any], Any], message: Message) -> None:
    if message["type"] == "http.response.start":
        headers = MutableHeaders(scope=message)
        for name, value in _HARDENING.items():
            headers.setdefault(name, value)
    await send(message)
