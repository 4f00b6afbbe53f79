"""A scripted model on loopback: it speaks the four wire formats of the agents and notes what it hears."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self

from memory_plane.integration import SERVER

Event = tuple[str, dict[str, Any]]
"""A server-sent event: its name, "" for none, and its data."""


@dataclass(frozen=True, slots=True)
class ToolCall:
    """What the model asks its agent to do; `name` is matched by its end, since agents put their own words before it."""

    name: str
    arguments: dict[str, Any]


@dataclass(slots=True)
class Endpoint:
    """Answers each question with the next line of the script, and with the last one for ever.

    `heard` has the body of each request in which the agent offered tools or said more than a ping; small requests of
    an agent to itself (titles, routes) are answered without using the script up.
    """

    lines: Sequence[str | ToolCall]
    heard: list[dict[str, Any]] = field(default_factory=list)
    _said: int = 0
    _server: ThreadingHTTPServer | None = None

    def __enter__(self) -> Self:
        handler = type("Handler", (_Handler,), {"endpoint": self})
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        assert self._server is not None
        self._server.shutdown()
        self._server.server_close()

    @property
    def url(self) -> str:
        assert self._server is not None
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    @property
    def prompts(self) -> list[str]:
        """What each request holds, as text in which line ends are line ends."""
        return ["\n".join(_strings(body)) for body in self.heard]

    def now(self, *lines: str | ToolCall) -> None:
        """Begin another script, and forget what was heard."""
        self.lines, self._said = lines, 0
        self.heard.clear()

    def next(self, body: dict[str, Any]) -> str | ToolCall:
        """Note a request and return what to say to it."""
        tools = list(_tools(body))
        if not tools:
            return '{"complexity_reasoning": "none", "complexity_score": 1}'  # what Gemini CLI's router wants to know
        self.heard.append(body)
        line = self.lines[min(self._said, len(self.lines) - 1)]
        if isinstance(line, ToolCall):
            name = next((tool for tool in tools if tool.endswith(line.name)), None)
            if name is not None:
                line = ToolCall(name, line.arguments)
            elif "tool_call" in tools:  # OpenClaw offers a tool that calls those of servers
                line = ToolCall("tool_call", {"id": f"{SERVER}__{line.name}", "args": line.arguments})
            else:  # an agent's small request to itself: the line is for a later one
                return "ok"
        self._said += 1
        return line


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    for inner in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from _strings(inner)


def _tools(body: dict[str, Any]) -> Iterator[str]:
    """Yield the names of the tools in a request of any of the formats."""
    for tool in body.get("tools") or ():
        for declared in tool.get("functionDeclarations", ()):
            yield declared["name"]
        if tool.get("type") == "namespace":
            yield from (f"{tool['name']}::{inner['name']}" for inner in tool.get("tools", ()))
        elif name := tool.get("name") or tool.get("function", {}).get("name"):
            yield name


class _Handler(BaseHTTPRequestHandler):
    endpoint: Endpoint
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        self._send("application/json", b'{"data": [], "models": []}')

    do_HEAD = do_GET

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers.get("Content-Length") or 0)) or b"{}")
        path, _, query = self.path.partition("?")
        if path.endswith("count_tokens"):
            return self._send("application/json", b'{"input_tokens": 10}')
        if path.endswith(":countTokens"):
            return self._send("application/json", b'{"totalTokens": 10}')
        said = self.endpoint.next(body)
        if path.endswith("/messages"):
            return self._stream(_anthropic(said), body.get("stream", False))
        if path.endswith("/responses"):
            return self._stream(_responses(said), True)
        if "enerateContent" in path:
            return self._stream([("", _gemini(said))], "alt=sse" in query)
        return self._stream(_completions(said, body.get("stream", False)), body.get("stream", False))

    def _stream(self, events: Sequence[Event], stream: bool) -> None:
        if not stream:
            return self._send("application/json", json.dumps(events[-1][1].get("whole", events[-1][1])).encode())
        lines = [
            f"{f'event: {name}{chr(10)}' if name else ''}data: {json.dumps(_bare(data))}\n\n" for name, data in events
        ]
        if self.path.endswith("/completions"):
            lines.append("data: [DONE]\n\n")
        return self._send("text/event-stream", "".join(lines).encode())

    def _send(self, kind: str, data: bytes) -> None:
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(data)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


def _bare(data: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in data.items() if name != "whole"}


# --- the four formats --------------------------------------------------------------------------------------------


def _anthropic(said: str | ToolCall) -> list[Event]:
    tool = isinstance(said, ToolCall)
    whole: dict[str, Any] = {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "fake",
        "stop_sequence": None,
    }
    whole["usage"] = {"input_tokens": 10, "output_tokens": 5}
    if isinstance(said, ToolCall):
        begun = {"type": "tool_use", "id": "toolu_1", "name": said.name, "input": {}}
        delta = {"type": "input_json_delta", "partial_json": json.dumps(said.arguments)}
        content = {**begun, "input": said.arguments}
    else:
        begun, delta = {"type": "text", "text": ""}, {"type": "text_delta", "text": said}
        content = {"type": "text", "text": said}
    reason = "tool_use" if tool else "end_turn"
    return [
        ("message_start", {"type": "message_start", "message": {**whole, "content": [], "stop_reason": None}}),
        ("content_block_start", {"type": "content_block_start", "index": 0, "content_block": begun}),
        ("content_block_delta", {"type": "content_block_delta", "index": 0, "delta": delta}),
        ("content_block_stop", {"type": "content_block_stop", "index": 0}),
        (
            "message_delta",
            {
                "type": "message_delta",
                "delta": {"stop_reason": reason, "stop_sequence": None},
                "usage": {"output_tokens": 5},
            },
        ),
        ("message_stop", {"type": "message_stop", "whole": {**whole, "content": [content], "stop_reason": reason}}),
    ]


def _completions(said: str | ToolCall, stream: bool) -> list[Event]:
    if isinstance(said, ToolCall):
        function = {"name": said.name, "arguments": json.dumps(said.arguments)}
        message: dict[str, Any] = {
            "role": "assistant",
            "content": None,
            "tool_calls": [{"index": 0, "id": "call_1", "type": "function", "function": function}],
        }
        reason = "tool_calls"
    else:
        message, reason = {"role": "assistant", "content": said}, "stop"
    usage = {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}
    base = {"id": "chatcmpl-1", "created": 1, "model": "fake", "object": f"chat.completion{'.chunk' if stream else ''}"}
    if not stream:
        return [("", {**base, "choices": [{"index": 0, "message": message, "finish_reason": reason}], "usage": usage})]
    return [
        ("", {**base, "choices": [{"index": 0, "delta": message, "finish_reason": None}]}),
        ("", {**base, "choices": [{"index": 0, "delta": {}, "finish_reason": reason}]}),
        ("", {**base, "choices": [], "usage": usage}),
    ]


def _responses(said: str | ToolCall) -> list[Event]:
    if isinstance(said, ToolCall):
        space, _, name = said.name.rpartition("::")
        item: dict[str, Any] = {"type": "function_call", "id": "fc_1", "call_id": "call_1", "status": "completed"}
        item |= {"name": name, "arguments": json.dumps(said.arguments)}
        if space:
            item["namespace"] = space
    else:
        item = {"type": "message", "id": "msg_1", "role": "assistant", "status": "completed"}
        item["content"] = [{"type": "output_text", "text": said, "annotations": []}]
    usage = {"input_tokens": 10, "output_tokens": 5, "total_tokens": 15}
    whole = {"id": "resp_1", "object": "response", "status": "completed", "output": [item], "usage": usage}
    steps: list[Event] = [
        ("response.created", {"response": {**whole, "status": "in_progress", "output": []}}),
        ("response.output_item.added", {"output_index": 0, "item": item}),
        ("response.output_item.done", {"output_index": 0, "item": item}),
        ("response.completed", {"response": whole}),
    ]
    return [(name, {"type": name, "sequence_number": number, **data}) for number, (name, data) in enumerate(steps)]


def _gemini(said: str | ToolCall) -> dict[str, Any]:
    part = (
        {"functionCall": {"name": said.name, "args": said.arguments}} if isinstance(said, ToolCall) else {"text": said}
    )
    candidate = {"content": {"role": "model", "parts": [part]}, "finishReason": "STOP", "index": 0}
    usage = {"promptTokenCount": 10, "candidatesTokenCount": 5, "totalTokenCount": 15}
    return {"candidates": [candidate], "usageMetadata": usage, "modelVersion": "fake"}
