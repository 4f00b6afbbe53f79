"""A model over HTTP costs a bounded time, tells no secret, and is left alone when it is out of order."""

from __future__ import annotations

import logging
import socket
from collections.abc import Callable, Iterator
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from threading import Thread
from time import monotonic
from typing import Any

import httpx
import pytest
from pydantic import SecretStr

from memory_plane.endpoint import Endpoint, check_address, check_key
from memory_plane.errors import ModelUnavailable
from memory_plane.remote_model import (
    FIRST_REST,
    KEPT,
    LARGEST,
    LONGEST_REST,
    RETRIES,
    RemoteModel,
    Unusable,
    tidy,
)
from memory_plane.spending import Spending

Answer = httpx.Response | Exception
KEY, SECRET = "sk-hush", "the plan of the surprise party"
GZIP = {"content-encoding": "gzip"}


class Server:
    """Gives the answers one after another, the last one for ever, and keeps the requests."""

    def __init__(self, *answers: Answer | Callable[[httpx.Request], httpx.Response]) -> None:
        self.answers = list(answers)
        self.requests: list[httpx.Request] = []

    def __call__(self, request: httpx.Request) -> httpx.Response:
        self.requests.append(request)
        answer = self.answers[min(len(self.requests), len(self.answers)) - 1]
        if isinstance(answer, Exception):
            raise answer
        return answer(request) if callable(answer) else answer


class Garbled(httpx.SyncByteStream):
    """Bytes that are not what their header says."""

    def __iter__(self) -> Iterator[bytes]:
        yield b"no gzip"


@pytest.fixture
def pauses() -> list[float]:
    return []


@pytest.fixture
def ask(pauses: list[float]) -> Iterator[Callable[..., Any]]:
    """Give `ask(server, question={}, cap=…, key=…)`, by one model a server."""
    models: dict[int, RemoteModel] = {}

    def asking(server: Server, question: Any = None, *, cap: int = 10_000, read: Any = lambda said: said) -> Any:
        model = models.setdefault(
            id(server),
            RemoteModel(
                Endpoint(url="https://models.example/base", key=SecretStr(KEY), deadline=2),
                Spending(None, cap),
                transport=httpx.MockTransport(server),
                pause=pauses.append,
            ),
        )
        return model.ask("/v1/ask", question or {"state": SECRET}, read)

    yield asking
    for model in models.values():
        model.close()
        model.close()


def ok(**said: Any) -> Callable[[httpx.Request], httpx.Response]:
    return lambda _: httpx.Response(200, json=said)


def status(code: int, **headers: str) -> Callable[[httpx.Request], httpx.Response]:
    return lambda _: httpx.Response(code, text=f"no, since {SECRET}", headers=headers)


def test_question_is_posted_with_the_key_in_its_header(ask: Callable[..., Any]) -> None:
    server = Server(ok(answer=1))
    assert ask(server, {"state": "é"}) == {"answer": 1}
    (request,) = server.requests
    assert (request.method, str(request.url)) == ("POST", "https://models.example/base/v1/ask")
    assert request.headers["authorization"] == f"Bearer {KEY}"
    assert request.headers["accept-encoding"] == "identity"
    assert request.content == '{"state":"é"}'.encode()


def test_same_question_is_answered_from_memory(ask: Callable[..., Any]) -> None:
    server = Server(ok(answer=1))
    for _ in range(3):
        ask(server, {"state": "a", "model": "m"})
        ask(server, {"model": "m", "state": "a"})
    assert len(server.requests) == 1
    for number in range(KEPT):
        ask(server, {"state": number})
    ask(server, {"state": "a", "model": "m"})
    assert len(server.requests) == KEPT + 2


@pytest.mark.parametrize("code", [408, 429, 500, 502, 503, 504, 529])
def test_busy_server_is_asked_again(ask: Callable[..., Any], pauses: list[float], code: int) -> None:
    server = Server(status(code), status(code), ok(answer=1))
    assert ask(server) == {"answer": 1}
    assert pauses == [0.25, 0.5]


@pytest.mark.parametrize(
    ("said", "waited"), [("0", [0.0]), ("1.5", [1.5]), ("-3", [0.0]), ("nan", [0.25]), ("soon", [0.25])]
)
def test_server_says_how_long_to_wait(
    ask: Callable[..., Any], pauses: list[float], said: str, waited: list[float]
) -> None:
    ask(Server(status(429, **{"retry-after": said}), ok()))
    assert pauses == waited


def test_server_may_say_it_in_milliseconds(ask: Callable[..., Any], pauses: list[float]) -> None:
    ask(Server(status(503, **{"retry-after-ms": "40", "retry-after": "1"}), ok()))
    assert pauses == [0.04]


def test_wait_that_is_longer_than_the_deadline_is_a_rest(ask: Callable[..., Any], pauses: list[float]) -> None:
    at = format_datetime(datetime.now(UTC) + timedelta(minutes=5), usegmt=True)
    for said in ("300", at, "1e9"):
        server = Server(status(429, **{"retry-after": said}))
        with pytest.raises(ModelUnavailable) as caught:
            ask(server)
        rest = caught.value.until - datetime.now(UTC)
        assert timedelta(minutes=4.9) < rest <= LONGEST_REST
        assert (len(server.requests), pauses) == (1, [])


def test_server_that_is_out_of_order_rests_longer_and_longer(ask: Callable[..., Any]) -> None:
    server = Server(status(503))
    with pytest.raises(ModelUnavailable, match=r"https://models\.example answered 503") as caught:
        ask(server)
    assert len(server.requests) == RETRIES + 1
    assert FIRST_REST - timedelta(seconds=2) < caught.value.until - datetime.now(UTC) <= FIRST_REST
    with pytest.raises(ModelUnavailable, match="answered 503") as again:
        ask(server)
    assert (len(server.requests), again.value.blames) == (RETRIES + 1, False)


@pytest.mark.parametrize(
    ("answer", "told", "blames"),
    [
        (status(400), "answered 400", True),
        (status(401), "does not accept the key (401); check api_key", False),
        (status(403), "does not accept the key (403); check api_key", False),
        (status(404), "has no such path or model (404); check base_url and model", False),
        (status(422), "answered 422", True),
        (status(500), "answered 500", True),
        (status(307, location="https://elsewhere.example/"), "answered 307", False),
        (status(200), "gave no usable answer: it is not JSON", True),
        (lambda _: httpx.Response(200, content=b" " * (LARGEST + 1)), "it is longer than 4,000,000 bytes", True),
        (lambda _: httpx.Response(200, stream=Garbled(), headers=GZIP), "it cannot be decoded", True),
        (status(200, **{"content-type": "text/html"}), "gave no usable answer: it is not JSON", True),
        (lambda _: httpx.Response(200, content=b"[" * 100_000), "gave no usable answer: it is not JSON", True),
        (
            lambda _: httpx.Response(422, json={"detail": [{"type": "string_type", "msg": SECRET, "input": SECRET}]}),
            "answered 422 (string_type)",
            True,
        ),
        (lambda _: httpx.Response(400, json={"error": {"type": SECRET}}), "answered 400", True),
        (lambda _: httpx.Response(400, json={"error": SECRET}), "answered 400", True),
        (lambda _: httpx.Response(400, json=[SECRET]), "answered 400", True),
        (httpx.ConnectError(SECRET), "cannot be reached (ConnectError); check base_url", False),
        (httpx.ReadError(SECRET), "ended the connection before its answer", True),
        (httpx.RemoteProtocolError(SECRET), "ended the connection before its answer", True),
        (httpx.ProxyError(SECRET), "cannot be reached (ProxyError)", False),
        (ImportError(SECRET), "cannot be reached (ImportError)", False),
        (httpx.ReadTimeout(SECRET), "did not answer within 2 s", True),
        (httpx.ConnectTimeout(SECRET), "did not answer within 2 s", False),
    ],
)
def test_failure_says_what_to_do_and_no_secret(
    ask: Callable[..., Any], caplog: pytest.LogCaptureFixture, answer: Any, told: str, blames: bool
) -> None:
    with caplog.at_level(logging.DEBUG), pytest.raises(ModelUnavailable) as caught:
        ask(Server(answer))
    assert told in str(caught.value)
    assert caught.value.blames is blames
    chain = [caught.value, caught.value.__cause__] + [record.getMessage() for record in caplog.records]
    assert all(word not in str(one) for one in chain for word in (KEY, SECRET))


@pytest.mark.parametrize("code", [301, 302, 303, 307, 308])
def test_redirect_is_not_followed(ask: Callable[..., Any], code: int) -> None:
    server = Server(status(code, location="https://elsewhere.example/v1/ask"))
    with pytest.raises(ModelUnavailable, match=f"answered {code}"):
        ask(server)
    assert {request.url.host for request in server.requests} == {"models.example"}


def test_connection_that_the_server_closed_is_opened_anew(ask: Callable[..., Any], pauses: list[float]) -> None:
    server = Server(httpx.RemoteProtocolError("disconnected"), ok(answer=1))
    assert ask(server) == {"answer": 1}
    assert len(pauses) == 1


@pytest.mark.parametrize("error", [TypeError, KeyError, OverflowError, RecursionError, AttributeError, ValueError])
def test_answer_on_which_its_reader_stumbles_is_none(ask: Callable[..., Any], error: type[Exception]) -> None:
    def read(said: Any) -> Any:
        raise error(SECRET)

    with pytest.raises(ModelUnavailable, match=rf"it cannot be read \({error.__name__}\)") as caught:
        ask(Server(ok()), read=read)
    assert caught.value.blames
    assert SECRET not in str(caught.value)


def test_key_that_an_answer_repeats_is_cut_out_of_it() -> None:
    key = "sk-0123456789"
    transport = httpx.MockTransport(lambda request: httpx.Response(200, json=dict(request.headers)))
    model = RemoteModel(
        Endpoint(url="https://m.example", key=SecretStr(key)), Spending(None, 1000), transport=transport
    )
    assert model.ask("/v1/ask", {}, lambda said: said)["authorization"] == "Bearer "
    model.close()


def test_answer_that_nobody_can_use_is_not_kept(ask: Callable[..., Any]) -> None:
    def read(said: Any) -> Any:
        raise Unusable("no number")

    server = Server(ok(answer="x"))
    with pytest.raises(ModelUnavailable, match="gave no usable answer: no number") as caught:
        ask(server, read=read)
    assert caught.value.blames


def test_answer_that_drips_ends_with_the_deadline(pauses: list[float]) -> None:
    class Dripping(httpx.SyncByteStream):
        given = 0

        def __iter__(self) -> Iterator[bytes]:
            while True:
                Dripping.given += 1
                yield b" "

    model = RemoteModel(
        Endpoint(url="https://models.example", deadline=0.05),
        Spending(None, 1000),
        transport=httpx.MockTransport(lambda _: httpx.Response(200, stream=Dripping())),
    )
    with pytest.raises(ModelUnavailable, match=r"did not answer within 0\.05 s|DecodingError"):
        model.ask("/v1/ask", {}, lambda said: said)
    assert Dripping.given
    model.close()


def test_headers_that_drip_end_with_the_deadline() -> None:
    def drip(listening: socket.socket) -> None:
        connection, _ = listening.accept()
        with connection, suppress(OSError):
            connection.sendall(b"HTTP/1.1 200 OK\r\nx-slow: ")
            connection.settimeout(0.02)
            while True:
                with suppress(TimeoutError):
                    connection.recv(65536)
                connection.sendall(b"x")

    with socket.create_server(("127.0.0.1", 0)) as listening:
        dripping = Thread(target=drip, args=(listening,))
        dripping.start()
        url = f"http://127.0.0.1:{listening.getsockname()[1]}"
        model = RemoteModel(Endpoint(url=url, deadline=0.2), Spending(None, 1000))
        began = monotonic()
        with pytest.raises(ModelUnavailable, match=r"did not answer within 0\.2 s"):
            model.ask("/v1/ask", {}, lambda said: said)
        assert monotonic() - began < 3
        dripping.join(10)
        assert not dripping.is_alive()
    model.close()


@pytest.mark.parametrize(
    ("usage", "counted"),
    [
        ({"input_tokens": 30, "output_tokens": 3}, 33),
        ({"input_tokens": 30.0, "output_tokens": 3.0}, 33),
        ({"prompt_tokens": 40, "completion_tokens": 4}, 44),
        ({"input_tokens": -30, "output_tokens": 3}, 20),
        ({"input_tokens": "many"}, 20),
        ({"input_tokens": 10**400}, 20),
        ({"input_tokens": 1e300}, 20),
        ([], 20),
        (None, 20),
    ],
)
def test_what_was_spent_is_what_the_server_says_or_else_a_guess(usage: Any, counted: int) -> None:
    spending = Spending(None, 1000)
    transport = httpx.MockTransport(lambda _: httpx.Response(200, json={"usage": usage}))
    model = RemoteModel(Endpoint(url="https://models.example"), spending, transport=transport)
    model.ask("/v1/ask", {"state": "x"}, lambda said: said)
    assert spending.today() == counted
    model.close()


def test_nothing_is_sent_beyond_the_cap(ask: Callable[..., Any]) -> None:
    server = Server(ok())
    with pytest.raises(ModelUnavailable, match="tokens a day"):
        ask(server, cap=10)
    assert server.requests == []


def test_document_is_fetched(pauses: list[float]) -> None:
    server = Server(ok(models=[]))
    model = RemoteModel(Endpoint(url="http://127.0.0.1:1"), Spending(None, 0), transport=httpx.MockTransport(server))
    assert model.fetch("/v1/models") == {"models": []}
    assert "authorization" not in server.requests[0].headers
    model.close()


@pytest.mark.parametrize(
    "url", ["https://api.example.com", "http://127.0.0.1:8009", "http://localhost:8009/v1/", "http://[::1]:8009"]
)
def test_address_of_a_model_is_taken(url: str) -> None:
    assert check_address(url) == url.rstrip("/")


@pytest.mark.parametrize(
    "url", ["", "api.example.com", "ftp://example.com", "https://me:pw@example.com", "https://example.com/?key=1"]
)
def test_address_that_is_none_is_refused(url: str) -> None:
    with pytest.raises(ValueError, match="is no address"):
        check_address(url)


def test_address_in_the_clear_must_be_wanted() -> None:
    with pytest.raises(ValueError, match="in the clear"):
        check_address("http://192.168.1.5:8009")
    assert check_address("http://192.168.1.5:8009", allow_plain=True)


def test_key_must_fit_a_header() -> None:
    assert check_key(None) is check_key(SecretStr(" ")) is None
    assert str(check_key(SecretStr(f" {KEY}\n"))) == "**********"
    for bad in ("sk hush", "sk-hüsh", "a\nb"):
        with pytest.raises(ValueError, match="is no key") as caught:
            check_key(SecretStr(bad))
        assert bad not in str(caught.value)


def test_name_of_a_model_is_made_harmless() -> None:
    assert tidy("jev-1.14.0") == "jev-1.14.0"
    assert tidy("<b>x\n`" + "y" * 200) == "bx" + "y" * 78
    assert tidy(None) == ""
