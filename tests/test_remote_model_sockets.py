"""A model over real connections: whatever server, proxy or redirect do, the key goes to one place in bounded time."""

from __future__ import annotations

import socket
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from threading import Thread
from time import monotonic, sleep
from typing import Any

import pytest
from pydantic import SecretStr

from memory_plane.endpoint import Endpoint
from memory_plane.errors import ModelUnavailable
from memory_plane.remote_model import LARGEST, RemoteModel
from memory_plane.spending import Spending

KEY = "sk-0123456789abcdef"
OK = b'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 8\r\n\r\n{"ok":1}'
PROXIES = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY")

Turn = Callable[[socket.socket], None]


class Listener:
    """Answers each connection by the next turn, the last one for ever, and keeps what it heard."""

    def __init__(self, *turns: Turn) -> None:
        self.heard: list[bytes] = []
        self._turns = turns
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.port = self._socket.getsockname()[1]
        self._thread = Thread(target=self._serve, daemon=True)
        self._thread.start()

    def close(self) -> None:
        self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()
        self._thread.join(5)

    def _serve(self) -> None:
        with suppress(OSError):
            while True:
                connection, _ = self._socket.accept()
                turn = self._turns[min(len(self.heard), len(self._turns) - 1)]
                with connection, suppress(OSError):
                    connection.settimeout(2)
                    self.heard.append(_request(connection))
                    turn(connection)


def _request(connection: socket.socket) -> bytes:
    """Read all of a request: what is left unread when a connection is closed resets it."""
    heard = b""
    while more := connection.recv(65536):
        heard += more
        if b"\r\n\r\n" in heard and (heard.endswith(b"}") or not heard.startswith(b"POST")):
            break
    return heard


def says(*parts: bytes, pause: float = 0.0) -> Turn:
    """Send the parts, one after another, and close."""

    def turn(connection: socket.socket) -> None:
        for part in parts:
            connection.sendall(part)
            sleep(pause)

    return turn


@pytest.fixture
def listen() -> Iterator[Callable[..., Listener]]:
    with ExitStack() as opened:
        yield lambda *turns: opened.enter_context(closing(Listener(*turns)))


@contextmanager
def model(url: str, deadline: float = 1.0) -> Iterator[RemoteModel]:
    endpoint = Endpoint(url=url, key=SecretStr(KEY), deadline=deadline)
    with closing(RemoteModel(endpoint, Spending(None, 100_000), pause=lambda _: None)) as remote:
        yield remote


def ask(remote: RemoteModel, number: int = 1) -> Any:
    return remote.ask("/v1/ask", {"question": number}, lambda said: said)


@pytest.fixture(autouse=True)
def bare(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in PROXIES:
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.lower(), raising=False)


@pytest.mark.parametrize(
    ("turn", "told"),
    [
        (says(b"HTTP/1.1 200 OK\r\n\r\n", *[b" "] * 50, pause=0.05), "did not answer within 0.5 s"),
        (says(b"HTTP/1.1 200 OK\r\n\r\n", *[b" " * 1_000_000] * 5), f"longer than {LARGEST:,} bytes"),
        (says(b"HTTP/1.1 200 OK\r\ncontent-type: text/html\r\n\r\n<html>sign in</html>"), "it is not JSON"),
        (says(b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\ndata: {}\n\n"), "it is not JSON"),
        (says(b"HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\n\r\n{}"), "it cannot be decoded"),
        (says(b"HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\n{}"), "ended the connection before its answer"),
        (says(b"HTTP/1.1 " + b"x" * 200_000), "ended the connection before its answer"),
        (says(b"SSH-2.0-OpenSSH_9.9\r\n"), "ended the connection before its answer"),
        (says(b""), "ended the connection before its answer"),
    ],
)
def test_what_is_no_answer_costs_a_bounded_time_and_is_told(
    listen: Callable[..., Listener], turn: Turn, told: str
) -> None:
    began = monotonic()
    with model(f"http://127.0.0.1:{listen(turn).port}", 0.5) as remote:
        with pytest.raises(ModelUnavailable, match=told) as caught:
            ask(remote)
        assert caught.value.blames
    assert monotonic() - began < 3
    assert KEY not in str(caught.value)


def test_connection_that_was_closed_while_nothing_was_asked_is_opened_anew(listen: Callable[..., Listener]) -> None:
    server = listen(says(OK))  # it promises to keep the connection, and closes it
    with model(f"http://127.0.0.1:{server.port}") as remote:
        for number in range(4):
            assert ask(remote, number) == {"ok": 1}
    assert len(server.heard) >= 4


@pytest.mark.parametrize("code", [301, 302, 303, 307, 308])
def test_key_does_not_follow_a_redirect(listen: Callable[..., Listener], code: int) -> None:
    elsewhere = listen(says(OK))
    line = f"HTTP/1.1 {code} Go\r\nlocation: http://127.0.0.1:{elsewhere.port}/\r\ncontent-length: 0\r\n\r\n"
    with (
        model(f"http://127.0.0.1:{listen(says(line.encode())).port}") as remote,
        pytest.raises(ModelUnavailable, match=f"answered {code}"),
    ):
        ask(remote)
    assert elsewhere.heard == []


@pytest.mark.parametrize("name", ["HTTP_PROXY", "http_proxy", "ALL_PROXY"])
def test_proxy_sees_nothing_that_is_not_encrypted(
    listen: Callable[..., Listener], monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    proxy, server = listen(says(OK)), listen(says(OK))
    monkeypatch.setenv(name, f"http://127.0.0.1:{proxy.port}")
    with model(f"http://127.0.0.1:{server.port}") as remote:
        assert ask(remote) == {"ok": 1}
    with model("http://models.invalid") as remote, pytest.raises(ModelUnavailable, match=r"cannot be reached|within"):
        ask(remote)
    assert proxy.heard == []


def test_proxy_is_told_where_to_and_not_the_key(
    listen: Callable[..., Listener], monkeypatch: pytest.MonkeyPatch
) -> None:
    proxy = listen(says(b"HTTP/1.1 502 Bad Gateway\r\n\r\n"))
    monkeypatch.setenv("HTTPS_PROXY", f"http://127.0.0.1:{proxy.port}")
    with (
        model("https://models.invalid") as remote,
        pytest.raises(ModelUnavailable, match=r"cannot be reached \(ProxyError\); check base_url and the proxy") as one,
    ):
        ask(remote)
    assert not one.value.blames
    assert proxy.heard[0].startswith(b"CONNECT models.invalid:443 ")
    assert KEY.encode() not in b"".join(proxy.heard)


@pytest.mark.parametrize("proxy", ["socks5://127.0.0.1:1", "nonsense://127.0.0.1:1", "127.0.0.1:1", "http://[::1"])
def test_proxy_that_cannot_be_used_is_told_and_blames_nobody(monkeypatch: pytest.MonkeyPatch, proxy: str) -> None:
    monkeypatch.setenv("ALL_PROXY", proxy)
    with (
        model("https://models.invalid") as remote,
        pytest.raises(ModelUnavailable, match="check base_url and the proxy that the environment names") as caught,
    ):
        ask(remote)
    assert not caught.value.blames
