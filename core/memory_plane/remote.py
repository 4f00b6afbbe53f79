"""A hub that is reached over HTTP: it gets nothing before it has proved, on that very connection, that it is ours."""

from __future__ import annotations

import json
import secrets
import ssl
from collections.abc import Mapping, Sequence
from datetime import datetime
from functools import cache
from pathlib import Path
from threading import RLock
from typing import Any, Self
from urllib.parse import quote

import httpx
from pydantic import TypeAdapter, ValidationError

from memory_plane import reports, types
from memory_plane.access import key_id, proof
from memory_plane.errors import HubBusy, HubUnreachable, Refused, half_a_character
from memory_plane.operations import iso
from memory_plane.reports import Changes
from memory_plane.types import Operation, Receipt

ANSWERS: Mapping[str, Any] = {
    "pulse": types.Pulse,
    "ask": types.Answer,
    "recall": types.Recall,
    "items": list[types.OpenItem],
    "thoughts": list[types.Thought],
    "held": list[types.Memory],
    "facts": list[types.Fact],
    "graph": types.Graph,
    "path": types.Trail,
    "search": list[types.Node],
    "communities": list[types.Community],
    "contradictions": list[types.Contradiction],
    "found": types.Found,
    "visualize": str,
    "nodes": list[types.Node],
    "reviews": list[types.Review],
    "preview": reports.Preview,
    "status": reports.Status,
    "stats": reports.Stats,
    "find": list[str],
    "loss": reports.Loss,
    "get": dict[str, Any],
    "page": str,
}
"""The reads of a hub, and what each answers."""
_NAMES = {"query": "q"}
_UNKNOWN = "unknown parameter"
"""What a hub says of a parameter that came with a later version."""


class _Unproved(Exception):
    """A new connection is about to be opened: who answers there is not known yet."""


class Hub:
    """One hub behind one connection; safe to use from several threads, which take turns.

    Every method raises `HubUnreachable` when no hub that is ours answers in time, and `Refused` for bad input.
    """

    def __init__(
        self,
        url: str,
        token: str,
        *,
        connect: float = 2.0,
        answer: float = 10.0,
        certificate: Path | None = None,
        transport: httpx.BaseTransport | None = None,
    ) -> None:
        """Make ready to talk to `url`; `connect` and `answer` are seconds, `certificate` is one to trust besides.

        Raise `HubUnreachable` for a URL, token or certificate with which no hub can be called.
        """
        self.url = url
        self._token = token
        self._lock = RLock()
        self._store_id: str | None = None
        try:
            self._http = httpx.Client(
                base_url=url,
                headers={"authorization": f"Bearer {token}"},
                timeout=httpx.Timeout(answer, connect=connect),
                limits=httpx.Limits(max_connections=1, max_keepalive_connections=1, keepalive_expiry=None),
                trust_env=False,  # a proxy would be a stranger
                verify=_trusted(certificate),
                transport=transport,
            )
        except UnicodeEncodeError:
            raise HubUnreachable(f"hub {url!r}: its token holds what no token does; check hub.token") from None
        except (OSError, ValueError, httpx.InvalidURL) as error:
            raise HubUnreachable(f"hub {url!r} cannot be called: {error}; check hub.url and hub.certificate") from None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def is_at(self, url: str, token: str) -> bool:
        """Whether this is the hub at that address, opened by that token."""
        return self.url == url and secrets.compare_digest(self._token.encode(), token.encode())

    def close(self) -> None:
        """Close the connection, once the request under way has its answer."""
        with self._lock:
            self._http.close()

    # --- writes --------------------------------------------------------------------------------------------------

    def store(self, operation: Operation) -> Receipt:
        """Write one operation; one about something that is not there, or that the token may not write, is refused."""
        flat = {**operation.body, "agent": operation.agent, "created_at": iso(operation.created_at)}
        response = self._send("POST", f"/api/{operation.op}", json={**flat, "id": operation.id}, also=(403, 413, 422))
        if response.status_code in (httpx.codes.FORBIDDEN, httpx.codes.REQUEST_ENTITY_TOO_LARGE):
            return Receipt(id=operation.id, state="refused", detail=_error(response))
        receipt: Receipt = self._read(Receipt, response)
        return receipt

    def merge(
        self,
        operations: Sequence[Mapping[str, Any]],
        derivations: Sequence[Mapping[str, Any]] = (),
        *,
        peer: str | None = None,
    ) -> list[Receipt]:
        """Write a batch in any order; see `Plane.merge`."""
        body = {"operations": list(operations), "derivations": list(derivations), "peer": peer}
        response = self._send("POST", "/api/sync", json=body, also=(413,) if len(operations) == 1 else ())
        if response.is_error and derivations:  # what was derived can be derived there too
            return self.merge(operations, peer=peer)
        if response.is_error:
            return [Receipt(id=str(operations[0].get("id", "")), state="refused", detail=_error(response))]
        receipts: list[Receipt] = self._read(list[Receipt], response)
        return receipts

    # --- reads ---------------------------------------------------------------------------------------------------

    def ask(self, name: str, arguments: Mapping[str, Any]) -> Any:
        """Return what the read `name` of `Plane` answers; None is an argument that is not given."""
        given = {_NAMES.get(key, key): _text(value) for key, value in arguments.items() if value is not None}
        path = {"get": "/api/memories/{id}", "page": "/api/pages/{name}", "find": "/api/ids"}.get(name, f"/api/{name}")
        try:
            if "{" in path:
                path = path.format(**{key: quote(value, safe="") for key, value in given.items()})
                given = {}
            response = self._send("GET", path, params=given, also=(404, 422))
        except UnicodeEncodeError as error:
            raise half_a_character(error) from None
        if response.status_code == httpx.codes.NOT_FOUND and name == "get":
            return None
        if response.is_error:
            raise Refused(_of_its_age(_error(response)))
        return response.text if name in ("page", "visualize") else self._read(ANSWERS[name], response)

    def changes(self, since: str | None = None, *, peer: str | None = None, limit: int = 500) -> Changes:
        """Return what it has to tell; see `Plane.changes`."""
        asked = {"since": since, "peer": peer, "limit": str(limit)}
        params = {name: value for name, value in asked.items() if value is not None}
        response = self._send("GET", "/api/changes", params=params, also=(422,))
        if response.is_error:
            raise Refused(_error(response))
        self._store_id = str(self._read(dict[str, Any], response).get("store", ""))
        found: Changes = self._read(Changes, response)
        return found

    @property
    def store_id(self) -> str:
        """The id of the memory behind the hub."""
        if self._store_id is None:
            self.changes(limit=1)
        return self._store_id or ""

    def sign_in(self) -> str:
        """Return an address of the hub that signs one browser in, once and soon."""
        response = self._send("POST", "/api/sign-in", json={})
        return self.url.rstrip("/") + str(self._read(dict[str, Any], response).get("path", "/"))

    # --- the connection ------------------------------------------------------------------------------------------

    def _send(self, method: str, path: str, *, also: Sequence[int] = (), **what: Any) -> httpx.Response:
        """Send a request on a proven connection; return a good answer, or one whose status is in `also`."""
        with self._lock:
            response = self._tried(method, path, what)
        if response.is_success or response.status_code in also:
            return response
        if response.status_code in (httpx.codes.UNAUTHORIZED, httpx.codes.FORBIDDEN):
            raise HubUnreachable(f"hub {self.url!r} does not let us in: {_error(response)}; check hub.token")
        kind = HubBusy if response.status_code == httpx.codes.TOO_MANY_REQUESTS else HubUnreachable
        raise kind(f"hub {self.url!r} cannot answer now ({response.status_code}): {_error(response)}")

    def _tried(self, method: str, path: str, what: Mapping[str, Any]) -> httpx.Response:
        """Send; where the hub has closed the connection meanwhile, prove the next one and send again.

        An operation has its id, so one that was stored before the connection broke is a duplicate then.
        """
        if self._http.is_closed:  # by another thread, which found a new token or address
            raise HubUnreachable(f"hub {self.url!r} is called in another way by now; try again")
        for _ in range(3):
            try:
                return self._http.request(method, path, extensions={"trace": _no_new_connection}, **what)
            except (_Unproved, httpx.RemoteProtocolError, httpx.ReadError, httpx.WriteError):
                self._prove()
            except httpx.HTTPError as error:
                raise HubUnreachable(f"hub {self.url!r} does not answer: {_reason(error)}") from error
        raise HubUnreachable(f"hub {self.url!r} closes every connection")

    def _prove(self) -> None:
        """Open a connection and have the other side prove that it knows our token, without showing it."""
        challenge = secrets.token_urlsafe(24)
        asked = {"challenge": challenge, "key": key_id(self._token)}
        request = self._http.build_request("GET", "/health", params=asked)
        del request.headers["authorization"]
        try:
            response = self._http.send(request)
            given = response.json().get("proof") if response.is_success else None
        except httpx.HTTPError as error:
            raise HubUnreachable(f"hub {self.url!r} does not answer: {_reason(error)}") from error
        except (ValueError, AttributeError):
            given = None
        expected = proof(self._token, challenge, request.headers["host"])
        if not isinstance(given, str) or not secrets.compare_digest(given.encode(), expected.encode()):
            raise HubUnreachable(f"what answers at {self.url!r} is not our hub; check hub.url and hub.token")

    def _read(self, kind: Any, response: httpx.Response) -> Any:
        try:
            found = _adapter(kind).validate_json(response.content)
        except ValidationError:
            raise HubUnreachable(f"hub {self.url!r} gave an answer that makes no sense") from None
        return found


def _no_new_connection(event: str, _: Mapping[str, Any]) -> None:
    if event == "connection.connect_tcp.started":
        raise _Unproved


@cache
def _adapter(kind: Any) -> TypeAdapter[Any]:
    return TypeAdapter(kind)


def _trusted(certificate: Path | None) -> ssl.SSLContext | bool:
    """Trust what the system trusts and the certificate besides, whether it signed itself or somebody else did."""
    if certificate is None:
        return True
    context = ssl.create_default_context()
    context.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN  # the default of later Pythons
    context.load_verify_locations(certificate)
    return context


def _text(value: Any) -> str:
    if isinstance(value, datetime):
        return iso(value)
    if isinstance(value, Mapping):
        return json.dumps(value, ensure_ascii=False, default=_text)
    if isinstance(value, list | tuple):
        return ",".join(map(str, value))
    return str(value).lower() if isinstance(value, bool) else str(value)


def _error(response: httpx.Response) -> str:
    """Return what the hub says of the failure, in one line."""
    try:
        said = response.json()
    except ValueError:
        return response.reason_phrase
    reason = said.get("error") or said.get("detail") if isinstance(said, dict) else None
    return " ".join(str(reason or response.reason_phrase).split())[:300]


def _of_its_age(reason: str) -> str:
    """Return why a hub does not answer, with what to do where it is older than who asks: it knows less."""
    knows_not = _UNKNOWN in reason or reason == httpx.codes.get_reason_phrase(httpx.codes.NOT_FOUND)
    advice = "; the hub is older than this command, so restart it: memory-plane down, then memory-plane up"
    return f"{reason}{advice}" if knows_not else reason


def _reason(error: httpx.HTTPError) -> str:
    return "no answer in time" if isinstance(error, httpx.TimeoutException) else str(error) or type(error).__name__
