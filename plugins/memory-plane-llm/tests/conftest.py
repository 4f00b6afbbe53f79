"""A server that speaks as OpenAI's does, on this machine."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

import pytest

from memory_plane import Plane

MakePlane = Callable[..., Plane]

SETTINGS = ("OPENAI_API_KEY", "OPENAI_BASE_URL", "MEMORY_GRAPH_API_KEY", "MEMORY_GRAPH_BASE_URL", "MEMORY_GRAPH_MODEL")


def _vector(at: int, text: str) -> dict[str, Any]:
    return {"object": "embedding", "index": at, "embedding": [float(len(text)), 1.0]}


class Server:
    """Says the same `answer` to every question, and keeps the questions."""

    def __init__(self) -> None:
        self.answer: Any = {}
        self.name = "gpt-test-1"
        self.status = 200
        self.vectors: Callable[[int, str], Any] = _vector
        self.requests: list[tuple[Mapping[str, str], Any]] = []
        self._http = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._thread = Thread(target=self._http.serve_forever, kwargs={"poll_interval": 0.01})
        self.url = f"http://127.0.0.1:{self._http.server_address[1]}/v1"

    def __enter__(self) -> Server:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._http.shutdown()
        self._thread.join()
        self._http.server_close()

    def completion(self) -> dict[str, Any]:
        """Return what `openai` takes for a `ChatCompletion`."""
        said = self.answer if isinstance(self.answer, str) else json.dumps(self.answer)
        message = {"role": "assistant", "content": said, "refusal": None}
        choice = {"index": 0, "finish_reason": "stop", "logprobs": None, "message": message}
        usage = {"prompt_tokens": 900, "completion_tokens": 50, "total_tokens": 950}
        known = {"id": "chatcmpl-1", "object": "chat.completion", "created": 1_764_500_000, "model": self.name}
        return known | {"choices": [choice], "usage": usage}

    def embedded(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        """Return what `openai` takes for a `CreateEmbeddingResponse`."""
        data = [self.vectors(at, text) for at, text in enumerate(asked["input"])]
        usage = {"prompt_tokens": 7, "total_tokens": 7}
        return {"object": "list", "data": data, "model": asked["model"], "usage": usage}

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        server = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                self._send({"data": [{"id": "gpt-test"}, {"id": "<b>"}]})

            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["content-length"])))
                server.requests.append((dict(self.headers.items()), body))
                self._send(server.completion() if self.path == "/v1/chat/completions" else server.embedded(body))

            def _send(self, value: Any) -> None:
                content = json.dumps(value).encode()
                self.send_response(server.status)
                self.send_header("content-length", str(len(content)))
                self.end_headers()
                self.wfile.write(content)

            def log_message(self, *_: object) -> None:
                """Say nothing."""

        return Handler


@pytest.fixture
def server() -> Iterator[Server]:
    with ExitStack() as running:
        yield running.enter_context(Server())


@pytest.fixture(autouse=True)
def bare(monkeypatch: pytest.MonkeyPatch, server: Server) -> None:
    """Take the variables of the person away who runs the tests; who says nothing asks the server of the test."""
    for name in SETTINGS:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("OPENAI_BASE_URL", server.url)


@pytest.fixture
def make_llm(make_plane: MakePlane, server: Server) -> MakePlane:
    """Give `make_llm(**settings)`: a memory with the plugins local and llm."""

    def make(*, strict: bool = True, **settings: Any) -> Plane:
        table = {"base_url": server.url, "timeout": 2.0} | settings
        return make_plane("local", "llm", strict=strict, plugin={"llm": table})

    return make
