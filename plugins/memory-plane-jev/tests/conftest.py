"""A System One server that says what a test wants, and the reference server with its faults."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

import pytest
from jevcompat import mock  # type: ignore[import-untyped]

from memory_plane import Plane

Question = Mapping[str, Any]
Judge = Callable[[Question, Mapping[str, Any]], Any]
MakeServer = Callable[..., "Server"]
MakeJev = Callable[..., Plane]


def unsure(question: Question, state: Mapping[str, Any]) -> Any:
    """Know nothing: every option is as likely as the others."""
    return 0.5 if question["type"] == "noul" else None


class Server:
    """Answers with what `judge` says: a probability, an (option, probability), the number of a level, or None.

    `requests` are the headers and bodies that came; `status` is what every answer has.
    """

    def __init__(self, judge: Judge = unsure) -> None:
        self.judge = judge
        self.status = 200
        self.requests: list[tuple[Mapping[str, str], Any]] = []
        self._http = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._thread = Thread(target=self._http.serve_forever, kwargs={"poll_interval": 0.01})
        self.url = f"http://127.0.0.1:{self._http.server_address[1]}"

    def __enter__(self) -> Server:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._http.shutdown()
        self._thread.join()
        self._http.server_close()

    @property
    def questions(self) -> list[Question]:
        """All questions that came, in their order."""
        return [one for _, body in self.requests for one in body["questions"].values()]

    def answer(self, body: Any) -> dict[str, Any]:
        """Answer a request in the wire format."""
        answers = {id: _answer(one, self.judge(one, body["state"])) for id, one in body["questions"].items()}
        usage = {"input_tokens": 100, "output_tokens": len(answers)}
        return {"model": "jev-test-1", "answers": answers, "usage": usage}

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        server = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["content-length"])))
                server.requests.append((dict(self.headers.items()), body))
                answer = server.answer(body) if server.status == 200 else {"detail": {"message": json.dumps(body)}}
                content = json.dumps(answer).encode()
                self.send_response(server.status)
                self.send_header("content-type", "application/json")
                self.send_header("content-length", str(len(content)))
                self.end_headers()
                self.wfile.write(content)

            def log_message(self, *_: object) -> None:
                """Say nothing."""

        return Handler


def _answer(question: Question, said: Any) -> dict[str, Any]:
    if question["type"] == "noul":
        return {"type": "noul", "noul": said}
    options = list(question["criteria"])
    chosen, sure = said if isinstance(said, tuple) else (said, 1.0)
    if question["type"] == "score":
        chosen = None if chosen is None else options[chosen]
    rest = (1 - sure) / max(1, len(options) - 1)
    shares = {one: 1 / len(options) if chosen is None else sure if one == chosen else rest for one in options}
    best = max(shares, key=shares.__getitem__)
    if question["type"] == "choice":
        return {"type": "choice", "choice": best, "confidence": shares[best], "probabilities": shares}
    return {
        "type": "score",
        "score": sum(number * share for number, share in enumerate(shares.values())),
        "confidence": shares[best],
        "legend": {str(number): level for number, level in enumerate(options)},
        "probabilities": {str(number): share for number, share in enumerate(shares.values())},
    }


@pytest.fixture
def make_server() -> Iterator[MakeServer]:
    """Give `make_server(judge)`; the servers are stopped after the test."""
    with ExitStack() as running:
        yield lambda judge=unsure: running.enter_context(Server(judge))


@pytest.fixture
def make_mock() -> Iterator[Callable[..., Any]]:
    """Give `make_mock(*faults, **config)`: the reference server, with `url` and `cfg`."""
    with ExitStack() as running:

        def make(*faults: str, **config: Any) -> Any:
            settings = mock.MockConfig(faults=frozenset(faults), **config)
            started = running.enter_context(mock.Running(settings))
            started.cfg = settings
            return started

        yield make


@pytest.fixture
def make_jev(make_plane: Callable[..., Plane], monkeypatch: pytest.MonkeyPatch) -> MakeJev:
    """Give `make_jev(url, **settings)`: a memory with the plugins local and jev, by default not strict."""
    for name in ("TYPESAFE_API_KEY", "TYPESAFE_BASE_URL", "TYPESAFE_DEFAULT_MODEL"):
        monkeypatch.delenv(name, raising=False)

    def make(url: str | None, *, strict: bool = False, **settings: Any) -> Plane:
        table = settings | ({"base_url": url} if url else {})
        return make_plane("local", "jev", strict=strict, plugin={"jev": {"timeout": 2.0} | table})

    return make
