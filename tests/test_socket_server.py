"""The hub's side of the bridge, as a bridge sees it: lines with numbers over a socket."""

from __future__ import annotations

import json
import logging
import socket
import sqlite3
import stat
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import pytest

from memory_plane.surfaces import socket_server as module
from memory_plane.surfaces.bridge import GREETING, at, connect
from memory_plane.surfaces.conversation import MOST_CALLS
from memory_plane.surfaces.socket_server import sessions, socket_server
from memory_plane.types import Tool

if TYPE_CHECKING:
    from memory_plane.plane import Plane
    from memory_plane.testing import MakePlane

pytestmark = pytest.mark.skipif(not hasattr(socket, "AF_UNIX"), reason="the bridge needs Unix sockets")

SECONDS = 30
INITIALIZE = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}

Heard = tuple[int, bool, dict[str, Any] | None]


def opening(agent: str = "muse", *, tools: bool = False, session: str | None = None) -> bytes:
    return f"memory-plane 1 {session or uuid4().hex} {tools:d} {agent}\n".encode()


class Bridge:
    """A connection to the sessions of a plane."""

    def __init__(self, ours: socket.socket, words: bytes) -> None:
        self.socket = ours
        ours.settimeout(SECONDS)
        self._file = ours.makefile("rb")
        ours.sendall(words)

    def raw(self) -> bytes:
        return self._file.readline()

    def say(self, number: int, message: dict[str, Any] | bytes, *, again: bool = False) -> None:
        line = message if isinstance(message, bytes) else json.dumps({"jsonrpc": "2.0", **message}).encode()
        self.socket.sendall(b"%d%s %s\n" % (number, b"+" if again else b"", line))

    def hear(self) -> Heard:
        """Return the number, whether its line is to be kept, and the message."""
        line = self.raw()
        assert line, "the connection was closed"
        head, _, message = line.partition(b" ")
        return int(head.strip().rstrip(b"*")), b"*" in head, json.loads(message) if message else None

    def shake_hands(self) -> None:
        assert self.raw() == GREETING
        self.say(1, {"id": "i", "method": "initialize", "params": INITIALIZE})
        number, kept, answer = self.hear()
        assert (number, kept) == (1, True)
        assert answer is not None
        assert answer["result"]["serverInfo"]["name"] == "memory-plane"
        self.say(2, {"method": "notifications/initialized"})
        assert self.hear() == (2, True, None)

    def result(self) -> dict[str, Any]:
        _, _, answer = self.hear()
        assert answer is not None
        result: dict[str, Any] = answer["result"]
        return result

    def close(self) -> None:
        self._file.close()
        self.socket.close()


Call = Callable[..., Bridge]


@pytest.fixture
def call(plane: Plane) -> Iterator[Call]:
    """Give `call(opening)`: each is one session of the plane."""
    with ExitStack() as opened:
        adopt = opened.enter_context(sessions(plane))

        def connection(words: bytes | None = None) -> Bridge:
            ours, theirs = socket.socketpair()
            adopt(theirs)
            bridge = Bridge(ours, opening() if words is None else words)
            opened.callback(bridge.close)
            return bridge

        yield connection


def post(text: str, id: int = 1, **more: Any) -> dict[str, Any]:
    arguments = {"text": text, **more}
    return {"id": id, "method": "tools/call", "params": {"name": "memory_post_thought", "arguments": arguments}}


def texts(plane: Plane) -> list[str]:
    return [thought.text for thought in reversed(plane.thoughts())]


def test_the_lines_of_the_handshake_are_kept_and_others_are_not(call: Call) -> None:
    bridge = call()
    bridge.shake_hands()
    bridge.say(3, {"id": 1, "method": "ping"})
    assert bridge.hear() == (3, False, {"jsonrpc": "2.0", "id": 1, "result": {}})


def test_a_handshake_that_fails_is_not_kept(call: Call) -> None:
    bridge = call()
    assert bridge.raw() == GREETING
    bridge.say(1, {"id": 1, "method": "initialize", "params": {}})
    number, kept, answer = bridge.hear()
    assert (number, kept) == (1, False)
    assert answer is not None and "error" in answer


def test_who_writes_is_said_in_the_opening(call: Call, plane: Plane) -> None:
    bridge = call(opening("Claude-Code"))
    bridge.shake_hands()
    bridge.say(3, post("hello"))
    assert bridge.result()["structuredContent"]["state"] == "stored"
    assert [thought.agent for thought in plane.thoughts()] == ["claude-code"]


@pytest.mark.parametrize(
    "words",
    [
        b"memory-plane 2 " + b"0" * 32 + b" 0 muse\n",
        b"memory-plane 1 no-session 0 muse\n",
        b"memory-plane 1 " + b"0" * 32 + b" 4 muse\n",
        opening("no agent", session="0" * 32),
        opening("", session="0" * 32),
        b"memory-plane 1 " + b"0" * 32 + b" 0 \xff\n",
        b"GET / HTTP/1.1\r\n",
        b"\n",
    ],
)
def test_a_connection_that_opens_otherwise_is_closed(call: Call, words: bytes) -> None:
    assert call(words).raw() == b""


def test_a_connection_that_says_nothing_is_closed(call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "OPENING", 0.05)
    assert call(b"").raw() == b""


def test_more_agents_than_are_served_are_sent_away(call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_SESSIONS", 1)
    first = call()
    assert first.raw() == GREETING
    assert call().raw() == b""


def test_a_call_that_is_sent_again_writes_once_and_says_the_same_id(call: Call, plane: Plane) -> None:
    words = opening()
    ids = []
    for again in (False, True):
        bridge = call(words)
        bridge.shake_hands()
        bridge.say(3, post("once", focus="writing"), again=again)
        ids.append(bridge.result()["structuredContent"])
    assert [answer["state"] for answer in ids] == ["stored", "duplicate"]
    assert ids[0]["id"] == ids[1]["id"]
    assert texts(plane) == ["once"]
    assert plane.status().operations == 2  # the thought and the focus


def test_each_way_to_write_happens_once(call: Call, plane: Plane) -> None:
    item = plane.post("Who pays?", agent="muse", kind="question").id
    calls = [
        ("memory_upsert_fact", {"subject": "Rob", "key": "role", "value": "CTO"}),
        ("memory_resolve_item", {"item": item, "status": "answered"}),
    ]
    words = opening()
    for again in (False, True):
        bridge = call(words)
        bridge.shake_hands()
        for number, (name, arguments) in enumerate(calls, 3):
            params = {"name": name, "arguments": arguments}
            bridge.say(number, {"id": number, "method": "tools/call", "params": params}, again=again)
            assert bridge.result()["structuredContent"]["state"] == ("duplicate" if again else "stored")
    assert plane.status().operations == 3


def test_the_same_words_in_two_lines_or_sessions_are_two_writes(call: Call, plane: Plane) -> None:
    for _ in range(2):
        bridge = call()
        bridge.shake_hands()
        for number in (3, 4):
            bridge.say(number, post("same", id=1))  # a client that uses one id for every call
            assert bridge.result()["structuredContent"]["state"] == "stored"
    assert texts(plane) == ["same"] * 4


def test_the_id_of_the_caller_counts(call: Call, plane: Plane) -> None:
    bridge, id = call(), str(uuid4())
    bridge.shake_hands()
    bridge.say(
        3, post("mine", id=1) | {"params": {"name": "memory_post_thought", "arguments": {"text": "m", "id": id}}}
    )
    assert bridge.result()["structuredContent"]["id"] == id


def test_a_plugins_tool_is_not_run_again(call: Call, plane: Plane, monkeypatch: pytest.MonkeyPatch) -> None:
    runs: list[str] = []

    def send(to: str) -> str:
        runs.append(to)
        return "sent"

    tool = Tool(name="muse_send", description="Send a message", function=send)
    monkeypatch.setattr(plane.plugins, "tools", lambda plane: [tool])
    words = opening(tools=True)
    for again in (False, True):
        bridge = call(words)
        bridge.shake_hands()
        params = {"name": "muse_send", "arguments": {"to": "Rob"}}
        bridge.say(3, {"id": 1, "method": "tools/call", "params": params}, again=again)
        result = bridge.result()
        assert bool(result.get("isError")) is again
    assert "the hub restarted while muse_send ran" in result["content"][0]["text"]
    assert runs == ["Rob"]


def test_the_newer_generation_needs_no_handshake(call: Call) -> None:
    bridge = call()
    assert bridge.raw() == GREETING
    envelope = {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {},
    }
    request = post("modern")
    request["params"]["_meta"] = envelope
    bridge.say(1, request)
    assert bridge.result()["structuredContent"]["state"] == "stored"


def test_lines_that_are_no_messages_are_answered_under_their_number(call: Call) -> None:
    bridge = call()
    bridge.shake_hands()
    bridge.say(3, b"{broken")
    bridge.say(4, b"[]")
    for number, code in ((3, -32700), (4, -32600)):
        heard, kept, answer = bridge.hear()
        assert answer is not None
        assert (heard, kept, answer["error"]["code"]) == (number, False, code)


def test_an_answer_to_nothing_is_done_with(call: Call) -> None:
    bridge = call()
    bridge.shake_hands()
    bridge.say(3, {"id": 77, "result": {}})
    assert bridge.hear() == (3, False, None)


class Slow:
    """A tool that a test lets go."""

    def __init__(self, plane: Plane, monkeypatch: pytest.MonkeyPatch) -> None:
        self.running, self.go = threading.Event(), threading.Event()
        tool = Tool(name="muse_wait", description="Wait", function=self.wait)
        monkeypatch.setattr(plane.plugins, "tools", lambda plane: [tool])

    def wait(self) -> str:
        self.running.set()
        assert self.go.wait(SECONDS)
        return "waited"


@pytest.fixture
def slow(plane: Plane, monkeypatch: pytest.MonkeyPatch) -> Iterator[Slow]:
    slow = Slow(plane, monkeypatch)
    yield slow
    slow.go.set()


WAIT = {"id": "w", "method": "tools/call", "params": {"name": "muse_wait", "arguments": {}}}


def test_a_call_that_is_cancelled_is_done_with(call: Call, slow: Slow) -> None:
    bridge = call(opening(tools=True))
    bridge.shake_hands()
    bridge.say(3, WAIT)
    assert slow.running.wait(SECONDS)
    bridge.say(4, {"method": "notifications/cancelled", "params": {"requestId": "w"}})
    bridge.say(5, {"id": 5, "method": "ping"})
    assert bridge.hear() == (4, False, None)
    assert bridge.hear()[0] == 5
    slow.go.set()
    assert bridge.hear() == (3, False, None)


def test_a_slow_call_holds_up_its_own_session_alone(call: Call, slow: Slow, plane: Plane) -> None:
    busy, free = call(opening("busy", tools=True)), call(opening("free"))
    for bridge in (busy, free):
        bridge.shake_hands()
    busy.say(3, WAIT)
    assert slow.running.wait(SECONDS)
    for number in range(4, 10):
        busy.say(number, post(f"after {number}", id=number))
    free.say(3, post("free"))
    assert free.result()["structuredContent"]["state"] == "stored"
    slow.go.set()
    assert [busy.hear()[0] for _ in range(3, 10)] == list(range(3, 10))
    assert texts(plane) == ["free", *[f"after {number}" for number in range(4, 10)]]


def test_no_more_calls_are_read_than_are_under_way(call: Call, slow: Slow) -> None:
    bridge = call(opening(tools=True))
    bridge.shake_hands()
    bridge.say(3, WAIT)
    assert slow.running.wait(SECONDS)
    last = 3 + MOST_CALLS
    for number in range(4, last + 1):
        bridge.say(number, post(f"call {number}", id=number))
    bridge.say(last + 1, b"{broken")  # would be answered at once
    bridge.socket.settimeout(0.3)
    with pytest.raises(TimeoutError):
        bridge.socket.recv(1, socket.MSG_PEEK)
    bridge.socket.settimeout(SECONDS)
    slow.go.set()
    heard = sorted(bridge.hear()[0] for _ in range(3, last + 2))
    assert heard == list(range(3, last + 2))


def test_the_end_answers_what_is_under_way(plane: Plane, slow: Slow) -> None:
    ours, theirs = socket.socketpair()
    with sessions(plane) as adopt:
        adopt(theirs)
        bridge = Bridge(ours, opening(tools=True))
        bridge.shake_hands()
        bridge.say(3, WAIT)
        assert slow.running.wait(SECONDS)
        threading.Timer(0.1, slow.go.set).start()
    assert bridge.result()["content"][0]["text"].endswith("waited")
    assert bridge.raw() == b""
    bridge.close()


def test_the_end_leaves_a_call_that_takes_too_long_without_an_answer(
    plane: Plane, slow: Slow, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "GRACE", 0.1)
    ours, theirs = socket.socketpair()
    with sessions(plane) as adopt:
        adopt(theirs)
        bridge = Bridge(ours, opening(tools=True))
        bridge.shake_hands()
        bridge.say(3, WAIT)
        assert slow.running.wait(SECONDS)
        threading.Timer(0.5, slow.go.set).start()
    assert bridge.raw() == b""
    bridge.close()


def test_a_bridge_that_vanishes_leaves_the_others_be(call: Call) -> None:
    gone, stays = call(), call()
    for bridge in (gone, stays):
        bridge.shake_hands()
    gone.socket.sendall(b"3 {half a li")
    gone.close()
    stays.say(3, {"id": 1, "method": "ping"})
    assert stays.result() == {}


# --- the socket in the home --------------------------------------------------------------------------------------


def test_the_socket_is_for_its_owner_alone_and_goes_with_the_hub(plane: Plane, home: Path) -> None:
    with socket_server(plane):
        found = (home / "hub.sock").lstat()
        assert stat.S_ISSOCK(found.st_mode)
        assert stat.S_IMODE(found.st_mode) == 0o600
        hub = connect(str(home), opening())
        assert hub is not None
        hub.close()
    assert not list(home.glob("hub.sock*"))
    assert connect(str(home), opening()) is None


def test_what_a_killed_hub_left_is_replaced(plane: Plane, home: Path) -> None:
    for name in ("hub.sock.new", "hub.sock"):
        with socket.socket(socket.AF_UNIX) as left:
            at(str(home), left.bind)
        (home / "hub.sock").rename(home / name)
    assert connect(str(home), opening()) is None
    with socket_server(plane):
        hub = connect(str(home), opening())
        assert hub is not None
        hub.close()


def test_a_link_in_its_place_is_replaced_and_not_followed(plane: Plane, home: Path) -> None:
    precious = home / "precious"
    precious.write_text("mine")
    precious.chmod(0o640)
    for name in ("hub.sock", "hub.sock.new"):
        (home / name).symlink_to(precious)
    with socket_server(plane):
        assert stat.S_ISSOCK((home / "hub.sock").lstat().st_mode)
    assert precious.read_text() == "mine"
    assert stat.S_IMODE(precious.stat().st_mode) == 0o640


def test_a_home_that_takes_no_socket_costs_the_bridge_alone(
    plane: Plane, home: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (home / "hub.sock").mkdir()
    with caplog.at_level(logging.WARNING), socket_server(plane):
        assert plane.post("still here", agent="muse").state == "stored"
    assert "each agent serves itself" in caplog.text
    assert [file.name for file in home.glob("hub.sock*")] == ["hub.sock"]


@pytest.fixture
def database(home: Path) -> Iterator[sqlite3.Connection]:
    """The hub's database, opened by somebody else."""
    with closing(sqlite3.connect(home / "memory.db", isolation_level=None)) as connection:
        yield connection


def dialled(path: str) -> Bridge:
    ours = socket.socket(socket.AF_UNIX)
    try:
        ours.connect(path)
    except OSError:
        ours.close()
        raise
    return Bridge(ours, opening())


def test_a_write_that_the_database_cannot_take_waits_in_the_outbox(
    make_plane: MakePlane, home: Path, database: sqlite3.Connection
) -> None:
    with socket_server(make_plane(timeout=0.2)), closing(at(str(home), dialled)) as bridge:
        bridge.shake_hands()
        database.execute("BEGIN IMMEDIATE")
        bridge.say(3, post("patience"))
        assert bridge.result()["structuredContent"]["state"] == "queued"
        assert "patience" in (home / "outbox.jsonl").read_text("utf-8")
