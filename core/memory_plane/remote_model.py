"""A model that is asked over HTTP: one deadline, bounded retries, a breaker, a cap on what is spent, answers kept.

Every failure is a `ModelUnavailable` whose text quotes neither the key, nor what was sent, nor what came back.
"""

from __future__ import annotations

import hashlib
import json
import re
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from functools import cached_property
from math import isfinite
from threading import Lock, Thread
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar, cast
from urllib.parse import urlsplit

from memory_plane.endpoint import Endpoint, is_loopback
from memory_plane.errors import ModelUnavailable

if TYPE_CHECKING:
    import httpx

    from memory_plane.spending import Spending

T = TypeVar("T")

RETRIES = 2
"""How often a request is repeated within its deadline when the server is busy or out of order."""
FIRST_REST, LONGEST_REST = timedelta(seconds=30), timedelta(minutes=15)
"""How long nothing is asked after a failure; each one that follows doubles it."""
KEPT = 256
"""How many answers are remembered: a question is asked anew when something else failed after it was answered."""
LARGEST = 4_000_000
"""Bytes of an answer."""

_FIRST_PAUSE, _LONGEST_PAUSE = 0.25, 5.0
_GRACE = 0.25
_OK, _UNAUTHORIZED, _FORBIDDEN, _NOT_FOUND, _BUSY, _TIMEOUT, _BROKEN = 200, 401, 403, 404, 429, 408, 500
_CUT = 0  # in place of a status: the connection ended before the answer did
_AGAIN = frozenset({_CUT, _TIMEOUT, _BUSY})
_BLAMED = frozenset({_CUT, 400, _TIMEOUT, 413, 422, _BROKEN})
_MISREAD = (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError)
_SHORTEST_SECRET = 12  # what is shorter stands in keys of servers that want none, and may be a word
_MOST_TOKENS = 10**12
_SLUG = re.compile(r"[a-z][a-z_]{0,39}")
_USAGE = (("input_tokens", "output_tokens"), ("prompt_tokens", "completion_tokens"))


class Unusable(ValueError):
    """Raised by who reads an answer that is not what was asked for; the message quotes nothing of it."""


class _Reply(NamedTuple):
    status: int
    body: bytes
    wait: float | None


class RemoteModel:
    """Asks one endpoint; safe to use from several threads. `pause` waits seconds between two tries."""

    def __init__(
        self,
        endpoint: Endpoint,
        spending: Spending,
        *,
        transport: httpx.BaseTransport | None = None,
        pause: Callable[[float], object] = time.sleep,
    ) -> None:
        """Keep what is needed; nothing is opened before the first question."""
        self.endpoint = endpoint
        self.spending = spending
        self._transport = transport
        self._pause = pause
        self._lock = Lock()
        self._answers: OrderedDict[bytes, Any] = OrderedDict()
        self._failures = 0
        self._resting: tuple[float, ModelUnavailable] | None = None

    def close(self) -> None:
        """Close the connections; a second call does nothing, and a question opens new ones."""
        client = vars(self).pop("_http", None)
        if client is not None:
            client.close()

    def ask(self, path: str, question: Mapping[str, Any], read: Callable[[Any], T]) -> T:
        """Post a question and return what `read` makes of the answer; the same question is answered from memory.

        `read` raises `Unusable` for an answer that is none. Raise `ModelUnavailable` for every failure, and without a
        request while the model rests after one or its tokens of today are used up.
        """
        content = json.dumps(question, ensure_ascii=False, separators=(",", ":"), sort_keys=True).encode()
        known = hashlib.sha256(path.encode() + b"\0" + content).digest()
        with self._lock:
            if known in self._answers:
                self._answers.move_to_end(known)
                return cast(T, self._answers[known])
        self._check_rest()
        estimate = len(content) // 3 + 16
        self.spending.reserve(estimate)
        try:
            said = self._guarded("POST", path, content)
        except ModelUnavailable as error:
            self.spending.settle(estimate, estimate if error.blames else 0)  # who was not reached sends no bill
            raise
        self.spending.settle(estimate, _spent(said, estimate))
        try:
            answer = read(said)
        except _MISREAD as error:
            raise self._unusable(error) from None
        self._succeeded(known, answer)
        return answer

    def fetch(self, path: str) -> Any:
        """Get a document of the endpoint, such as its list of models; raise `ModelUnavailable`."""
        return self._guarded("GET", path, None)

    def rouse(self) -> None:
        """Ask again at once, whatever failed before: for a person who has just mended it."""
        with self._lock:
            self._resting = None

    # --- failures --------------------------------------------------------------------------------------------------

    def _check_rest(self) -> None:
        with self._lock:
            if self._resting is not None and time.monotonic() < self._resting[0]:
                raise self._resting[1]

    def _failed(self, what: str, *, blames: bool = False, rest: timedelta | None = None) -> ModelUnavailable:
        """Have the model left alone for a while; whoever asks meanwhile gets the same error, with nobody to blame."""
        with self._lock:
            doubled = FIRST_REST * 2 ** min(self._failures, 10)
            self._failures += 1
            pause = min(max(rest or FIRST_REST, doubled), LONGEST_REST)
            until = datetime.now(UTC) + pause
            message = f"{_shown(self.endpoint.url)} {what}"
            self._resting = time.monotonic() + pause.total_seconds(), ModelUnavailable(message, until=until)
            return ModelUnavailable(message, until=until, blames=blames)

    def _unusable(self, error: Exception) -> ModelUnavailable:
        why = str(error) if isinstance(error, Unusable) else f"it cannot be read ({type(error).__name__})"
        return self._failed(f"gave no usable answer: {why}", blames=True)

    def _unreachable(self, error: Exception) -> ModelUnavailable:
        where = "base_url and the proxy that the environment names" if self._by_proxy else "base_url"
        return self._failed(f"cannot be reached ({type(error).__name__}); check {where}")

    def _succeeded(self, known: bytes, answer: Any) -> None:
        with self._lock:
            self._failures, self._resting = 0, None
            self._answers[known] = answer
            while len(self._answers) > KEPT:
                self._answers.popitem(last=False)

    # --- one request -----------------------------------------------------------------------------------------------

    def _guarded(self, method: str, path: str, content: bytes | None) -> Any:
        """Return the JSON of an answer, or raise what the failure means for the questions that follow."""
        import httpx

        try:
            reply = self._in_time(method, path, content)
        except httpx.TimeoutException as error:
            blames = isinstance(error, httpx.ReadTimeout)
            raise self._failed(f"did not answer within {self.endpoint.deadline:g} s", blames=blames) from None
        except Unusable as error:
            raise self._unusable(error) from None
        except Exception as error:  # noqa: BLE001 - a proxy, a certificate or a name may fail in any way
            raise self._unreachable(error) from None
        if reply.status != _OK:
            rest = None if reply.wait is None else timedelta(seconds=reply.wait)
            raise self._failed(_meaning(reply), blames=reply.status in _BLAMED, rest=rest)
        try:
            return json.loads(reply.body)
        except (ValueError, RecursionError):
            raise self._failed("gave no usable answer: it is not JSON", blames=True) from None

    def _in_time(self, method: str, path: str, content: bytes | None) -> _Reply:
        """Give up with the deadline: nothing else bounds the look-up of a name, or headers that drip."""
        import httpx

        said: list[_Reply | Exception] = []

        def run() -> None:
            try:
                said.append(self._repeated(method, path, content))
            except Exception as error:  # noqa: BLE001 - it is raised where it is waited for
                said.append(error)

        thread = Thread(target=run, name=f"a request to {_shown(self.endpoint.url)}", daemon=True)
        thread.start()
        thread.join(self.endpoint.deadline + _GRACE)
        if thread.is_alive():
            self.close()  # so that the thread ends too
            raise httpx.ReadTimeout("nothing came in time")
        if isinstance(said[0], Exception):
            raise said[0]
        return said[0]

    def _repeated(self, method: str, path: str, content: bytes | None) -> _Reply:
        end = time.monotonic() + self.endpoint.deadline
        for attempt in range(RETRIES + 1):
            reply = self._once(method, path, content, end)
            if reply.status not in _AGAIN and reply.status < _BROKEN:
                break
            wait = min(_FIRST_PAUSE * 2**attempt, _LONGEST_PAUSE) if reply.wait is None else reply.wait
            if attempt == RETRIES or time.monotonic() + wait >= end:
                break
            self._pause(wait)
        return reply

    def _once(self, method: str, path: str, content: bytes | None, end: float) -> _Reply:
        """Make one request; a connection that the server closed, be it while nothing was asked, is worth another."""
        import httpx

        left = max(0.001, end - time.monotonic())
        headers = {} if content is None else {"content-type": "application/json"}
        url = self.endpoint.url + path
        try:
            with self._http.stream(method, url, content=content, headers=headers, timeout=left) as response:
                return _Reply(response.status_code, self._body(response, end), _retry_after(response.headers))
        except (httpx.ReadError, httpx.WriteError, httpx.RemoteProtocolError):
            return _Reply(_CUT, b"", None)
        except httpx.DecodingError:
            raise Unusable("it cannot be decoded") from None

    def _body(self, response: httpx.Response, end: float) -> bytes:
        """Read an answer, less the key if it repeats that; the end counts for all of it, however slowly it drips."""
        import httpx

        body = bytearray()
        for chunk in response.iter_bytes():
            body += chunk
            if len(body) > LARGEST:
                raise Unusable(f"it is longer than {LARGEST:,} bytes")
            if time.monotonic() > end:
                raise httpx.ReadTimeout("the answer drips")
        key = b"" if self.endpoint.key is None else self.endpoint.key.get_secret_value().encode()
        return bytes(body.replace(key, b"") if len(key) >= _SHORTEST_SECRET else body)

    @property
    def _trusts_environment(self) -> bool:
        """Whether a proxy may stand between: none to this machine, and none that would read what is not encrypted."""
        return self.endpoint.url.startswith("https:") and not is_loopback(self.endpoint.url)

    @property
    def _by_proxy(self) -> bool:
        from urllib.request import getproxies

        return self._trusts_environment and bool(getproxies())

    @cached_property
    def _http(self) -> httpx.Client:
        import httpx

        headers = {"accept": "application/json", "accept-encoding": "identity", "user-agent": "memory-plane"}
        if self.endpoint.key is not None:
            headers["authorization"] = f"Bearer {self.endpoint.key.get_secret_value()}"
        return httpx.Client(
            headers=headers,
            transport=self._transport,
            trust_env=self._trusts_environment,
            follow_redirects=False,  # the key is for one place
        )


def tidy(name: object) -> str:
    """Return the name that a server gives its model, as far as it can be one."""
    return re.sub(r"[^\w.:/-]", "", name)[:80] if isinstance(name, str) else ""


def _shown(url: str) -> str:
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}"


def _meaning(reply: _Reply) -> str:
    if reply.status == _CUT:
        return "ended the connection before its answer"
    if reply.status in (_UNAUTHORIZED, _FORBIDDEN):
        return f"does not accept the key ({reply.status}); check api_key"
    if reply.status == _NOT_FOUND:
        return "has no such path or model (404); check base_url and model"
    kind = _kind(reply.body)
    return f"answered {reply.status}{f' ({kind})' if kind else ''}"


def _kind(body: bytes) -> str:
    """Return the kind of error that a server names, nothing of its words: they may quote the question."""
    with suppress(ValueError, RecursionError):
        said = json.loads(body)
        detail = (said.get("detail") or said.get("error")) if isinstance(said, dict) else None
        first = detail[0] if isinstance(detail, list) and detail else detail
        kinds = (first.get("error_type"), first.get("type")) if isinstance(first, dict) else ()
        return next((kind for kind in kinds if isinstance(kind, str) and _SLUG.fullmatch(kind)), "")
    return ""


def _retry_after(headers: Mapping[str, str]) -> float | None:
    """Return the seconds that a server asks to wait, in any spelling: seconds, milliseconds or a time."""
    most = LONGEST_REST.total_seconds()
    for name, unit in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        with suppress(ValueError, OverflowError):
            seconds = float(headers.get(name, "")) * unit
            return min(max(0.0, seconds), most) if isfinite(seconds) else None
    with suppress(ValueError, TypeError, OverflowError):
        at = parsedate_to_datetime(headers.get("retry-after", ""))
        return min(max(0.0, (at - datetime.now(UTC)).total_seconds()), most)
    return None


def _spent(answer: Any, estimate: int) -> int:
    """Return the tokens that an answer says it took; what was guessed where it does not say."""
    usage = answer.get("usage") if isinstance(answer, dict) else None
    if not isinstance(usage, dict):
        return estimate
    for names in _USAGE:
        counts = [usage[name] for name in names if isinstance(usage.get(name), int | float)]
        if counts and all(0 <= count <= _MOST_TOKENS for count in counts):
            return int(sum(counts))
    return estimate
