"""The stdio server as its clients see it: real processes, and nothing between them but lines."""

from __future__ import annotations

import json
import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest

from memory_plane import Plane, __version__

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="signals and select on pipes are POSIX")

SECONDS = 30
INITIALIZE = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}
ENVELOPE = {
    "_meta": {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {},
    }
}

Start = Callable[..., "Server"]


class Server:
    """One server process and the lines to and from it."""

    def __init__(self, command: list[str], home: Path) -> None:
        environment = {**os.environ, "MEMORY_PLANE_HOME": str(home), "MEMORY_PLANE_PLUGINS__ENABLED": "[]"}
        self.log = home / "stderr.txt"
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log, env=environment
            )
        self._rest = b""

    def send(self, *messages: dict[str, Any]) -> None:
        assert self.process.stdin is not None
        lines = [json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n" for message in messages]
        self.raw(b"".join(lines))

    def raw(self, data: bytes) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(data)
        self.process.stdin.flush()

    def hang_up(self) -> None:
        assert self.process.stdin is not None
        self.process.stdin.close()

    def line(self) -> bytes:
        """Return the next line of stdout, or nothing at its end."""
        assert self.process.stdout is not None
        deadline = time.monotonic() + SECONDS
        while b"\n" not in self._rest:
            ready, _, _ = select.select([self.process.stdout], [], [], max(0, deadline - time.monotonic()))
            assert ready, f"no answer; stderr: {self.log.read_text()}"
            chunk = os.read(self.process.stdout.fileno(), 65_536)
            if not chunk:
                return b""
            self._rest += chunk
        line, _, self._rest = self._rest.partition(b"\n")
        return line

    def read(self) -> dict[str, Any]:
        answer: dict[str, Any] = json.loads(self.line())
        assert answer["jsonrpc"] == "2.0"
        return answer

    def ask(self, id: int, method: str, **params: Any) -> dict[str, Any]:
        self.send({"id": id, "method": method, "params": params})
        answer = self.read()
        assert answer["id"] == id
        result: dict[str, Any] = answer["result"]
        return result

    def shake_hands(self) -> dict[str, Any]:
        result = self.ask(0, "initialize", **INITIALIZE)
        self.send({"method": "notifications/initialized"})
        return result

    def exit_code(self) -> int:
        return self.process.wait(SECONDS)


@pytest.fixture
def start(home: Path) -> Iterator[Start]:
    """Start servers on one home; whatever still runs at the end is killed."""
    servers: list[Server] = []

    def run(agent: str = "muse", *, command: list[str] | None = None) -> Server:
        servers.append(Server(command or [sys.executable, "-m", "memory_plane", "mcp", "--agent", agent], home))
        return servers[-1]

    yield run
    for server in servers:
        server.process.kill()
        server.process.wait(SECONDS)
        for pipe in (server.process.stdin, server.process.stdout):
            assert pipe is not None
            pipe.close()


def post(id: int, text: str, **more: Any) -> dict[str, Any]:
    call = {"name": "memory_post_thought", "arguments": {"text": text, **more}}
    return {"id": id, "method": "tools/call", "params": call}


def stored(home: Path) -> list[str]:
    with Plane(home=home) as plane:
        return [str(json.loads(line)["body"]["text"]) for line in plane.export() if '"thought"' in line]


def test_the_older_generation_shakes_hands(start: Start) -> None:
    server = start()
    result = server.shake_hands()
    assert result["protocolVersion"] == "2025-06-18"
    assert result["serverInfo"]["name"] == "memory-plane"
    assert result["serverInfo"]["version"] == __version__
    assert len(server.ask(1, "tools/list")["tools"]) == 7


def test_the_newer_generation_discovers(start: Start) -> None:
    server = start()
    result = server.ask(1, "server/discover", **ENVELOPE)
    assert "2026-07-28" in result["supportedVersions"]
    assert "memory_get_pulse" in result["instructions"]
    assert len(server.ask(2, "tools/list", **ENVELOPE)["tools"]) == 7
    called = server.ask(3, "tools/call", name="memory_post_thought", arguments={"text": "hello"}, **ENVELOPE)
    assert called["structuredContent"]["state"] == "stored"
    assert called["resultType"] == "complete"


def test_the_author_is_the_agent_of_the_command_line(start: Start, home: Path) -> None:
    server = start("Claude-Code")
    server.shake_hands()
    server.send(post(1, "written"))
    assert not server.read()["result"].get("isError")
    server.hang_up()
    assert server.exit_code() == 0
    with Plane(home=home) as plane:
        (thought,) = plane.pulse().thoughts
    assert thought.agent == "claude-code"


def test_end_of_input_ends_the_server(start: Start) -> None:
    server = start()
    server.shake_hands()
    server.hang_up()
    assert server.exit_code() == 0
    assert server.line() == b""


def test_end_of_input_before_any_request_ends_the_server(start: Start) -> None:
    server = start()
    server.hang_up()
    assert server.exit_code() == 0


def test_calls_are_answered_although_input_closed_at_once(start: Start, home: Path) -> None:
    server = start()
    opening = {"id": 0, "method": "initialize", "params": INITIALIZE}
    server.send(opening, {"method": "notifications/initialized"}, *[post(n, f"last words {n}") for n in range(1, 21)])
    server.hang_up()
    answers = [server.read() for _ in range(21)]
    assert [answer["id"] for answer in answers] == list(range(21))
    assert all(answer["result"]["structuredContent"]["state"] == "stored" for answer in answers[1:])
    assert server.exit_code() == 0
    assert len(stored(home)) == 20


def test_a_last_line_without_its_end_is_still_read(start: Start) -> None:
    server = start()
    server.shake_hands()
    server.raw(json.dumps({"jsonrpc": "2.0", **post(1, "no newline")}).encode())
    server.hang_up()
    assert server.read()["result"]["structuredContent"]["state"] == "stored"


def test_a_burst_of_writes_is_answered_once_each(start: Start, home: Path) -> None:
    server = start()
    server.shake_hands()
    server.send(*[post(n, f"burst {n}") for n in range(1, 201)])
    answers = [server.read() for _ in range(200)]
    assert {answer["id"] for answer in answers} == set(range(1, 201))
    assert len({answer["result"]["structuredContent"]["id"] for answer in answers}) == 200
    server.hang_up()
    assert server.exit_code() == 0
    assert sorted(stored(home)) == sorted(f"burst {n}" for n in range(1, 201))


def test_a_client_that_reads_late_loses_nothing(start: Start) -> None:
    server = start()
    server.shake_hands()
    server.send(post(1, "x" * 900))
    server.read()
    for n in range(2, 80):
        server.send({"id": n, "method": "tools/list", "params": {}})
    time.sleep(0.5)
    assert [server.read()["id"] for _ in range(2, 80)] == list(range(2, 80))


def test_broken_lines_are_answered_and_survived(start: Start) -> None:
    server = start()
    server.shake_hands()
    server.raw(b"\n{not json\n")
    assert server.read()["error"]["code"] == -32700
    server.raw(b'[1, 2]\n{"jsonrpc": "2.0"}\n\xff\xfe\n')
    assert [server.read()["error"]["code"] for _ in range(3)] == [-32600, -32600, -32700]
    assert server.ask(9, "ping") == {}


def test_half_a_character_is_replaced_and_the_request_answered(start: Start, home: Path) -> None:
    server = start()
    server.shake_hands()
    server.send(post(7, "cut inside an emoji \ud83d"), post(8, "whole \U0001f389"))
    answers = [server.read() for _ in range(2)]
    assert [answer["id"] for answer in answers] == [7, 8]
    assert all(answer["result"]["structuredContent"]["state"] == "stored" for answer in answers)
    assert sorted(stored(home)) == ["cut inside an emoji ?", "whole \U0001f389"]


def test_a_request_that_cannot_be_read_is_answered_under_its_own_id(start: Start) -> None:
    server = start()
    server.shake_hands()
    server.send({"id": 6, "method": 7})
    answer = server.read()
    assert (answer["id"], answer["error"]["code"]) == (6, -32600)


def test_an_unknown_method_is_refused_by_the_protocol(start: Start) -> None:
    server = start()
    server.shake_hands()
    server.send({"id": 5, "method": "memory/forget", "params": {}})
    assert server.read()["error"]["code"] == -32601


def test_sigterm_ends_cleanly_with_pages_rendered(start: Start, home: Path) -> None:
    server = start()
    server.shake_hands()
    server.send(post(1, "Shipped before the signal", kind="milestone"))
    server.read()
    server.process.send_signal(signal.SIGTERM)
    assert server.exit_code() == 0
    assert server.line() == b""
    assert "Shipped before the signal" in (home / "PULSE.md").read_text("utf-8")
    assert not (home / "memory.db-wal").exists()


def test_sigint_ends_cleanly(start: Start) -> None:
    server = start()
    server.shake_hands()
    server.process.send_signal(signal.SIGINT)
    assert server.exit_code() == 0


def test_a_client_that_vanishes_ends_the_server(start: Start) -> None:
    server = start()
    server.shake_hands()
    assert server.process.stdout is not None
    server.process.stdout.close()
    server.send({"id": 1, "method": "ping", "params": {}})
    assert server.exit_code() == 0


PARENT = """
import subprocess, sys, time
child = subprocess.Popen([sys.executable, "-m", "memory_plane", "mcp", "--agent", "muse"], stdin=0, stdout=1)
print(child.pid, file=sys.stderr, flush=True)
time.sleep(60)
"""


def test_death_of_the_parent_ends_the_server_although_the_pipe_stays_open(start: Start) -> None:
    parent = start(command=[sys.executable, "-c", PARENT])
    parent.shake_hands()
    server = psutil.Process(int(parent.log.read_text().split()[0]))
    parent.process.kill()
    parent.process.wait(SECONDS)
    deadline = time.monotonic() + SECONDS
    while server.is_running() and server.status() != psutil.STATUS_ZOMBIE:
        assert time.monotonic() < deadline, "the server outlives its parent"
        time.sleep(0.1)


STRAY = """
import os, sys
from memory_plane.surfaces import stdio
wire = stdio.claim()
from memory_plane import Plane
from memory_plane.surfaces.mcp_server import serve_stdio

class Loud(Plane):
    def post(self, *arguments, **more):
        print("a stray print")
        os.write(1, b"a stray write\\n")
        os.system("echo a stray child")
        assert sys.stdin.read() == ""
        return super().post(*arguments, **more)

print("printed while loading")
with Loud() as plane:
    serve_stdio(plane, "muse", wire=wire)
print("printed at the end")
"""


def test_nothing_but_protocol_reaches_stdout(start: Start) -> None:
    server = start(command=[sys.executable, "-c", STRAY])
    server.shake_hands()
    server.send(post(1, "quiet please"))
    assert server.read()["result"]["structuredContent"]["state"] == "stored"
    server.hang_up()
    assert server.exit_code() == 0
    assert server.line() == b""
    strays = ("a stray print", "a stray write", "a stray child", "printed while loading", "printed at the end")
    assert all(stray in server.log.read_text() for stray in strays)


def test_two_agents_on_one_home_see_each_other_at_once(start: Start) -> None:
    muse, grok = start("muse"), start("grok")
    for server in (muse, grok):
        server.shake_hands()
    muse.send(post(1, "Daniel, meet Rob"))
    muse.read()
    pulse = grok.ask(1, "tools/call", name="memory_get_pulse", arguments={})
    assert [entry["text"] for entry in pulse["structuredContent"]["recent"]] == ["Daniel, meet Rob"]
