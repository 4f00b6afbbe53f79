"""The stdio server as its clients see it, alone and beside a hub: real processes, nothing between them but lines."""

from __future__ import annotations

import fcntl
import json
import os
import select
import signal
import socket
import subprocess
import sys
import termios
import time
from array import array
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from shutil import copy
from threading import Event, Thread
from typing import Any

import psutil
import pytest

from memory_plane import Plane, __version__
from memory_plane.surfaces.bridge import at
from memory_plane.surfaces.mcp_tools import CORE
from memory_plane.testing.hub import HubProcess

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="signals and select on pipes are POSIX")

SECONDS = 120
INITIALIZE = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}
ENVELOPE = {
    "_meta": {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {},
    }
}

IMPATIENT = (
    "from memory_plane import entry; from memory_plane.surfaces import bridge; bridge.PATIENCE = 0.5; entry.main()"
)

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

    def unread(self) -> int:
        """Return how many bytes of stdout wait in the pipe."""
        assert self.process.stdout is not None
        waiting = array("i", [0])
        fcntl.ioctl(self.process.stdout, termios.FIONREAD, waiting)
        return waiting[0]

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

    def is_small(self) -> bool:
        """Tell whether it holds at most the 25 MB that a bridge may have."""
        return bool(psutil.Process(self.process.pid).memory_info().rss <= 25_000_000)


@pytest.fixture
def start(home: Path, empty_database: Path, agent: str) -> Iterator[Start]:
    """Start servers, by default of the test's own agent in a home that has a memory already.

    Whatever still runs at the end is killed.
    """
    copy(empty_database, home / "memory.db")
    servers: list[Server] = []

    def run(agent: str = agent, *, command: list[str] | None = None, at: Path = home) -> Server:
        servers.append(Server(command or [sys.executable, "-m", "memory_plane", "mcp", "--agent", agent], at))
        return servers[-1]

    yield run
    for server in servers:
        server.process.kill()
        server.process.wait(SECONDS)
        for pipe in (server.process.stdin, server.process.stdout):
            assert pipe is not None
            pipe.close()


@pytest.fixture
def hub(home: Path, empty_database: Path) -> Iterator[HubProcess]:
    """Start a hub in the home of the test, which may kill it."""
    process = HubProcess(home, database=empty_database, forked=True)
    yield process
    process.kill()


@pytest.fixture
def impatient(start: Start, sized: Callable[[Any, Any], Any]) -> Start:
    """Start servers as `start` does, which miss a hub sooner than usual."""
    code = sized(["-c", IMPATIENT], ["-m", "memory_plane"])
    return lambda agent: start(command=[sys.executable, *code, "mcp", "--agent", agent])


@pytest.fixture(params=["alone", "beside a hub"])
def place(request: pytest.FixtureRequest, home: Path) -> Path:
    """Return the home that servers are started in, once without a hub and once with one that all tests share."""
    if request.param == "alone":
        return home
    shared: HubProcess = request.getfixturevalue("shared_hub")
    return shared.home


@pytest.fixture
def either(start: Start, place: Path) -> Start:
    """Start servers as `start` does, once without a hub and once beside one."""
    return partial(start, at=place)


def post(id: int, text: str, **more: Any) -> dict[str, Any]:
    call = {"name": "memory_post_thought", "arguments": {"text": text, **more}}
    return {"id": id, "method": "tools/call", "params": call}


def stored(home: Path, agent: str | None = None) -> list[str]:
    """Return what was said, by one agent or by all."""
    with Plane(home=home) as plane:
        said = [json.loads(line) for line in plane.export() if '"thought"' in line]
    return [str(one["body"]["text"]) for one in said if agent in (None, one["agent"])]


def test_the_older_generation_shakes_hands(either: Start) -> None:
    server = either()
    result = server.shake_hands()
    assert result["protocolVersion"] == "2025-06-18"
    assert result["serverInfo"]["name"] == "memory-plane"
    assert result["serverInfo"]["version"] == __version__
    assert [tool["name"] for tool in server.ask(1, "tools/list")["tools"]] == [spec.name for spec in CORE]


def test_the_newer_generation_discovers(either: Start) -> None:
    server = either()
    result = server.ask(1, "server/discover", **ENVELOPE)
    assert "2026-07-28" in result["supportedVersions"]
    assert "memory_get_pulse" in result["instructions"]
    assert len(server.ask(2, "tools/list", **ENVELOPE)["tools"]) == len(CORE)
    called = server.ask(3, "tools/call", name="memory_post_thought", arguments={"text": "hello"}, **ENVELOPE)
    assert called["structuredContent"]["state"] == "stored"
    assert called["resultType"] == "complete"


def test_the_author_is_the_agent_of_the_command_line(either: Start, place: Path, agent: str) -> None:
    server = either(agent.title())
    server.shake_hands()
    server.send(post(1, "written"))
    assert not server.read()["result"].get("isError")
    server.hang_up()
    assert server.exit_code() == 0
    assert stored(place, agent) == ["written"]


def test_end_of_input_ends_the_server(either: Start) -> None:
    server = either()
    server.shake_hands()
    server.hang_up()
    assert server.exit_code() == 0
    assert server.line() == b""


def test_end_of_input_before_any_request_ends_the_server(either: Start) -> None:
    server = either()
    server.hang_up()
    assert server.exit_code() == 0


def test_calls_are_answered_although_input_closed_at_once(either: Start, place: Path, agent: str) -> None:
    server = either()
    opening = {"id": 0, "method": "initialize", "params": INITIALIZE}
    server.send(opening, {"method": "notifications/initialized"}, *[post(n, f"last words {n}") for n in range(1, 21)])
    server.hang_up()
    answers = [server.read() for _ in range(21)]
    assert [answer["id"] for answer in answers] == list(range(21))
    assert all(answer["result"]["structuredContent"]["state"] == "stored" for answer in answers[1:])
    assert server.exit_code() == 0
    assert len(stored(place, agent)) == 20


def test_a_last_line_without_its_end_is_still_read(either: Start) -> None:
    server = either()
    server.shake_hands()
    server.raw(json.dumps({"jsonrpc": "2.0", **post(1, "no newline")}).encode())
    server.hang_up()
    assert server.read()["result"]["structuredContent"]["state"] == "stored"


def test_a_burst_of_writes_is_answered_once_each(either: Start, place: Path, agent: str) -> None:
    server = either()
    server.shake_hands()
    server.send(*[post(n, f"burst {n}") for n in range(1, 201)])
    answers = [server.read() for _ in range(200)]
    assert {answer["id"] for answer in answers} == set(range(1, 201))
    assert len({answer["result"]["structuredContent"]["id"] for answer in answers}) == 200
    server.hang_up()
    assert server.exit_code() == 0
    assert sorted(stored(place, agent)) == sorted(f"burst {n}" for n in range(1, 201))


def test_a_client_that_reads_late_loses_nothing(either: Start) -> None:
    server = either()
    server.shake_hands()
    server.send(post(1, "x" * 900))
    server.read()
    for n in range(2, 80):
        server.send({"id": n, "method": "tools/list", "params": {}})
    deadline, tick = time.monotonic() + SECONDS, Event()
    while server.unread() < 40_000:  # until the pipe, which has 64 KB in whole pages, is as good as full
        assert time.monotonic() < deadline, "the server stopped writing"
        tick.wait(0.01)
    assert [server.read()["id"] for _ in range(2, 80)] == list(range(2, 80))


def test_broken_lines_are_answered_and_survived(either: Start) -> None:
    server = either()
    server.shake_hands()
    server.raw(b"\n{not json\n")
    assert server.read()["error"]["code"] == -32700
    server.raw(b'[1, 2]\n{"jsonrpc": "2.0"}\n\xff\xfe\n')
    assert [server.read()["error"]["code"] for _ in range(3)] == [-32600, -32600, -32700]
    assert server.ask(9, "ping") == {}


def test_half_a_character_is_replaced_and_the_request_answered(either: Start, place: Path, agent: str) -> None:
    server = either()
    server.shake_hands()
    server.send(post(7, "cut inside an emoji \ud83d"), post(8, "whole \U0001f389"))
    answers = [server.read() for _ in range(2)]
    assert [answer["id"] for answer in answers] == [7, 8]
    assert all(answer["result"]["structuredContent"]["state"] == "stored" for answer in answers)
    assert sorted(stored(place, agent)) == ["cut inside an emoji ?", "whole \U0001f389"]


def test_a_request_that_cannot_be_read_is_answered_under_its_own_id(either: Start) -> None:
    server = either()
    server.shake_hands()
    server.send({"id": 6, "method": 7})
    answer = server.read()
    assert (answer["id"], answer["error"]["code"]) == (6, -32600)


def test_an_unknown_method_is_refused_by_the_protocol(either: Start) -> None:
    server = either()
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


def test_sigint_ends_cleanly(either: Start) -> None:
    server = either()
    server.shake_hands()
    server.process.send_signal(signal.SIGINT)
    assert server.exit_code() == 0


def test_a_client_that_vanishes_ends_the_server(either: Start) -> None:
    server = either()
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


def test_death_of_the_parent_ends_the_server_although_the_pipe_stays_open(either: Start) -> None:
    parent = either(command=[sys.executable, "-c", PARENT])
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


def test_two_agents_on_one_home_see_each_other_at_once(either: Start, agent: str) -> None:
    writer, reader = either(agent), either("grok")
    for server in (writer, reader):
        server.shake_hands()
    writer.send(post(1, "Daniel, meet Rob"))
    writer.read()
    recent = reader.ask(1, "tools/call", name="memory_get_pulse", arguments={})["structuredContent"]["recent"]
    assert [entry["text"] for entry in recent if entry["agent"] == agent] == ["Daniel, meet Rob"]


# --- beside a hub ------------------------------------------------------------------------------------------------


def state(server: Server, id: int, text: str) -> str:
    """Write a thought and return the state of its receipt."""
    server.send(post(id, text))
    answer = server.read()
    assert answer["id"] == id
    return str(answer["result"]["structuredContent"]["state"])


def test_beside_a_hub_a_server_is_a_small_pump(start: Start, shared_hub: HubProcess, agent: str) -> None:
    server = start(at=shared_hub.home)
    server.shake_hands()
    assert state(server, 1, "through the hub") == "stored"
    assert server.is_small()
    assert stored(shared_hub.home, agent) == ["through the hub"]


def test_without_a_hub_a_server_is_none_and_makes_the_memory(start: Start, tmp_path: Path) -> None:
    new = tmp_path / "new"
    new.mkdir()
    server = start(at=new)
    server.shake_hands()
    assert state(server, 1, "the first word") == "stored"
    assert not server.is_small()


def test_the_hub_of_another_home_is_not_used(start: Start, shared_hub: HubProcess, home: Path, agent: str) -> None:
    server = start()
    server.shake_hands()
    assert state(server, 1, "elsewhere") == "stored"
    assert not server.is_small()
    server.hang_up()
    assert server.exit_code() == 0
    assert stored(shared_hub.home, agent) == []
    assert stored(home) == ["elsewhere"]


def test_a_home_with_a_long_name_has_a_hub_too(start: Start, tmp_path: Path, empty_database: Path) -> None:
    hub = HubProcess(tmp_path / ("home" * 25) / ("дом" * 33), database=empty_database)
    server = start(at=hub.home)
    server.shake_hands()
    assert state(server, 1, "far away") == "stored"
    assert server.is_small()
    hub.stop()


def test_what_a_killed_hub_left_holds_nobody_up(start: Start, hub: HubProcess, home: Path) -> None:
    hub.kill()
    assert (home / "hub.sock").exists()
    alone = start()
    alone.shake_hands()
    assert not alone.is_small()
    hub.start()
    bridged = start()
    bridged.shake_hands()
    assert bridged.is_small()


def test_a_hub_that_hangs_holds_nobody_up(start: Start, home: Path) -> None:
    with socket.socket(socket.AF_UNIX) as hanging:
        at(str(home), hanging.bind)
        hanging.listen()
        server = start()
        server.shake_hands()
        assert state(server, 1, "not waiting") == "stored"
        assert not server.is_small()


def test_an_invalid_agent_is_refused_as_without_a_hub(start: Start, shared_hub: HubProcess) -> None:
    server = start("no agent", at=shared_hub.home)
    assert server.exit_code() == 2
    assert "memory-plane: --agent: 'no agent' is no agent id" in server.log.read_text()
    assert "Traceback" not in server.log.read_text()


@pytest.mark.parametrize("envelope", [{}, ENVELOPE], ids=["older", "newer"])
def test_a_session_outlives_a_restart_of_the_hub(
    start: Start, hub: HubProcess, home: Path, envelope: dict[str, Any]
) -> None:
    server = start()
    if not envelope:
        server.shake_hands()
    for id in range(1, 4):
        arguments = {"text": f"thought {id}"}
        called = server.ask(id, "tools/call", name="memory_post_thought", arguments=arguments, **envelope)
        assert called["structuredContent"]["state"] == "stored"
        if id < 3:
            hub.stop() if id == 1 else hub.kill()
            hub.start()
    assert server.is_small()
    server.hang_up()
    assert server.exit_code() == 0
    assert server.line() == b""
    assert stored(home) == ["thought 1", "thought 2", "thought 3"]


def test_a_session_goes_on_by_itself_when_the_hub_stays_away(impatient: Start, hub: HubProcess, home: Path) -> None:
    server = impatient("grok")
    server.shake_hands()
    assert state(server, 1, "with the hub") == "stored"
    hub.kill()
    server.send(*[post(id, f"without {id}") for id in range(2, 12)])
    answers = [server.read() for _ in range(2, 12)]
    assert [answer["id"] for answer in answers] == list(range(2, 12))
    assert all(answer["result"]["structuredContent"]["state"] == "stored" for answer in answers)
    assert server.ask(12, "tools/call", name="memory_sync_status", arguments={})["structuredContent"]["you"] == "grok"
    server.hang_up()
    assert server.exit_code() == 0
    assert server.line() == b""
    assert stored(home) == ["with the hub", *[f"without {id}" for id in range(2, 12)]]


def test_calls_under_way_are_answered_although_hub_and_input_end(impatient: Start, hub: HubProcess, home: Path) -> None:
    server = impatient("muse")
    server.shake_hands()
    hub.process.send_signal(signal.SIGSTOP)
    server.send(*[post(id, f"last words {id}") for id in range(1, 6)])
    server.hang_up()
    hub.kill()
    answers = [server.read() for _ in range(1, 6)]
    assert [answer["id"] for answer in answers] == list(range(1, 6))
    assert server.exit_code() == 0
    assert sorted(stored(home)) == [f"last words {id}" for id in range(1, 6)]


Writing = Callable[..., "list[Writer]"]


class Writer(Thread):
    """One session that writes its thoughts one after the other and keeps the states of its receipts."""

    def __init__(self, start: Start, number: int, writes: int) -> None:
        super().__init__(daemon=True)
        self.server = start(f"agent-{number}")
        self.number = number
        self.texts = [f"{number}: {write}" for write in range(1, writes + 1)]
        self.states: list[str] = []

    def run(self) -> None:
        self.server.shake_hands()
        for write, text in enumerate(self.texts, 1):
            self.states.append(state(self.server, write, text))
        self.server.hang_up()


def written(writers: list[Writer], home: Path) -> None:
    """Wait for the writers, and compare what they were told with what is there."""
    for writer in writers:
        writer.join(2 * SECONDS)
        assert len(writer.states) == len(writer.texts), f"{writer.number} stopped after {len(writer.states)} receipts"
        assert set(writer.states) <= {"stored", "duplicate"}
        assert writer.server.exit_code() == 0
        assert writer.server.line() == b""
    kept = stored(home)
    assert len(kept) == sum(len(writer.texts) for writer in writers)
    for writer in writers:
        assert [text for text in kept if text.startswith(f"{writer.number}: ")] == writer.texts


def wait_for(writers: list[Writer], share: float) -> None:
    """Wait until the writers have got this share of their receipts."""
    receipts = share * sum(len(writer.texts) for writer in writers)
    deadline, tick = time.monotonic() + 2 * SECONDS, Event()
    while sum(len(writer.states) for writer in writers) < receipts:
        assert time.monotonic() < deadline, "the writers have stopped"
        tick.wait(0.01)


@pytest.fixture
def writing(start: Start, sized: Callable[[int, int], int]) -> Writing:
    """Start sessions that write, all at once."""

    def begin(sessions: int = 8, start: Start = start) -> list[Writer]:
        writers = [Writer(start, number, sized(12, 50)) for number in range(sessions)]
        for writer in writers:
            writer.start()
        return writers

    return begin


def test_eight_sessions_write_while_the_hub_is_killed_under_them(
    writing: Writing, hub: HubProcess, home: Path, sized: Callable[[int, int], int]
) -> None:
    writers, kills = writing(), sized(1, 3)
    for kill in range(kills):
        wait_for(writers, (kill + 0.5) / (kills + 0.5))
        hub.kill()
        hub.start()
    written(writers, home)


def test_sessions_of_their_own_write_while_a_hub_comes_and_goes(
    writing: Writing, home: Path, sized: Callable[[int, int], int]
) -> None:
    writers = writing(sized(3, 8))  # each is a server of its own, which costs a second of a processor
    wait_for(writers, 0.1)
    hub = HubProcess(home)
    wait_for(writers, 0.5)
    hub.kill()
    written(writers, home)


def test_sessions_write_on_when_the_hub_never_comes_back(
    writing: Writing, impatient: Start, hub: HubProcess, home: Path, sized: Callable[[int, int], int]
) -> None:
    writers = writing(sized(2, 8), impatient)  # each becomes a server of its own, which costs a second of a processor
    wait_for(writers, 0.25)
    hub.kill()
    written(writers, home)
