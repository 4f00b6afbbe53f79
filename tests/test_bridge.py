"""The bridge's pump between an agent and a hub, both played by the test; and what the bridge leaves to others."""

from __future__ import annotations

import os
import select
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from threading import Thread

import pytest

from memory_plane.surfaces import bridge
from memory_plane.surfaces.bridge import GREETING, Pump, connect, understood

pytestmark = pytest.mark.skipif(not hasattr(socket, "AF_UNIX"), reason="the bridge needs Unix sockets")

SECONDS = 20
PATIENCE = 0.5
OPENING = b"memory-plane 1 00000000000000000000000000000000 0 muse\n"
HEAVY = {"asyncio", "json", "mcp", "click", "pydantic", "sqlalchemy", "pathlib", "typing", "contextlib", "subprocess"}


class Stage:
    """A pump in a thread, the agent's ends of its pipes, and the hub's end of its connection."""

    def __init__(self) -> None:
        self.hears, self.says = os.pipe()
        self.reads, sink = os.pipe()
        self.bell, self.rope = os.pipe()
        self.waiting: list[socket.socket] = []
        self.ended: bool | None = None
        self._told = b""
        self.pump = Pump(lambda: self.waiting.pop(0) if self.waiting else None, self.bell, self.hears, sink)
        self._open = [self.hears, self.says, self.reads, sink, self.bell, self.rope]
        self.hub_comes()
        self.thread = Thread(target=self._run, args=(self.waiting.pop(),), daemon=True)
        self.thread.start()

    def _run(self, first: socket.socket) -> None:
        self.ended = self.pump.run(first, PATIENCE)

    def hub_comes(self) -> None:
        self.hub, theirs = socket.socketpair()
        self.hub.settimeout(SECONDS)
        self._file = self.hub.makefile("rb")
        self.waiting.append(theirs)

    def hub_dies(self) -> None:
        self._file.close()
        self.hub.close()

    def agent(self, *lines: bytes) -> None:
        for line in lines:
            os.write(self.says, line + b"\n")

    def agent_leaves(self) -> None:
        os.close(self.says)
        self._open.remove(self.says)

    def answer(self, *lines: bytes) -> None:
        self.hub.sendall(b"".join(line + b"\n" for line in lines))

    def asked(self) -> bytes:
        return self._file.readline().rstrip(b"\n")

    def told(self) -> bytes:
        while b"\n" not in self._told:
            assert select.select([self.reads], [], [], SECONDS)[0], "the agent is told nothing"
            self._told += os.read(self.reads, 65_536)
        line, _, self._told = self._told.partition(b"\n")
        return line

    def tells_nothing(self) -> bool:
        return not self._told and not select.select([self.reads], [], [], 0.2)[0]

    def result(self) -> bool | None:
        self.thread.join(SECONDS)
        return self.ended

    def close(self) -> None:
        os.write(self.rope, b"!")
        self.hub_dies()
        self.thread.join(SECONDS)
        for unused in self.waiting:
            unused.close()
        for descriptor in self._open:
            os.close(descriptor)


@pytest.fixture
def stage(monkeypatch: pytest.MonkeyPatch) -> Iterator[Stage]:
    monkeypatch.setattr(bridge, "GRACE", 2.0)
    stage = Stage()
    yield stage
    stage.close()


def shake_hands(stage: Stage) -> None:
    stage.agent(b'{"hello"}', b'{"ready"}')
    assert (stage.asked(), stage.asked()) == (b'1 {"hello"}', b'2 {"ready"}')
    stage.answer(b'1* {"welcome"}', b"2*")
    assert stage.told() == b'{"welcome"}'


def test_lines_are_numbered_and_answers_passed_on(stage: Stage) -> None:
    stage.agent(b"one", b"  two \r")
    assert (stage.asked(), stage.asked()) == (b"1 one", b"2 two")
    stage.answer(b"2 second", b"1 first")
    assert (stage.told(), stage.told()) == (b"second", b"first")


def test_a_line_need_not_come_in_one_piece(stage: Stage) -> None:
    os.write(stage.says, b"he")
    os.write(stage.says, b"llo\nnext")
    assert stage.asked() == b"1 hello"
    stage.hub.sendall(b"1 wel")
    stage.hub.sendall(b"come\n")
    assert stage.told() == b"welcome"


def test_empty_lines_are_nothing(stage: Stage) -> None:
    stage.agent(b"", b"  ", b"one")
    assert stage.asked() == b"1 one"


def test_what_answers_no_line_is_passed_on_too(stage: Stage) -> None:
    stage.answer(b"0 news")
    assert stage.told() == b"news"


def test_a_line_that_is_done_without_an_answer_tells_nothing(stage: Stage) -> None:
    stage.agent(b"note", b"question")
    assert (stage.asked(), stage.asked()) == (b"1 note", b"2 question")
    stage.answer(b"1", b"2 answer")
    assert stage.told() == b"answer"


def test_the_opening_and_the_unanswered_lines_are_sent_to_the_next_hub(stage: Stage) -> None:
    shake_hands(stage)
    stage.agent(b"done", b"lost")
    assert (stage.asked(), stage.asked()) == (b"3 done", b"4 lost")
    stage.answer(b"3 yes")
    assert stage.told() == b"yes"
    stage.hub_dies()
    stage.hub_comes()
    assert [stage.asked() for _ in range(3)] == [b'1+ {"hello"}', b'2+ {"ready"}', b"4+ lost"]
    stage.answer(b'1* {"welcome again"}', b"2*", b"4 found")
    assert stage.told() == b"found"
    assert stage.tells_nothing()


def test_an_idle_session_goes_to_the_next_hub_only_when_it_has_something_to_say(stage: Stage) -> None:
    shake_hands(stage)
    stage.hub_dies()
    stage.hub_comes()
    assert not select.select([stage.hub], [], [], 0.3)[0]
    stage.agent(b"new")
    assert [stage.asked() for _ in range(3)] == [b'1+ {"hello"}', b'2+ {"ready"}', b"3 new"]


def test_a_line_is_marked_as_sent_before_only_if_it_was(stage: Stage) -> None:
    stage.agent(b"old")
    assert stage.asked() == b"1 old"
    stage.hub_dies()
    stage.hub_comes()
    assert stage.asked() == b"1+ old"
    stage.agent(b"new")
    assert stage.asked() == b"2 new"


def test_half_an_answer_is_thrown_away_and_asked_for_again(stage: Stage) -> None:
    stage.agent(b"question")
    stage.asked()
    stage.hub.sendall(b"1 half an ans")
    stage.hub_dies()
    stage.hub_comes()
    assert stage.asked() == b"1+ question"
    stage.answer(b"1 whole answer")
    assert stage.told() == b"whole answer"


def test_an_answer_that_came_already_is_not_told_twice(stage: Stage) -> None:
    stage.agent(b"question")
    stage.asked()
    stage.answer(b"1 answer", b"1 answer", b"0 end")
    assert (stage.told(), stage.told()) == (b"answer", b"end")


def test_a_hub_that_stays_away_is_given_up(stage: Stage) -> None:
    shake_hands(stage)
    stage.hub_dies()
    stage.agent(b"anybody?")
    assert stage.result() is False


def test_a_line_that_breaks_every_connection_is_not_sent_for_ever(stage: Stage) -> None:
    stage.agent(b"poison")
    for _ in range(bridge.MOST_LOSSES):
        assert stage.asked().endswith(b" poison")
        stage.hub_dies()
        stage.hub_comes()
    assert stage.asked() == b"1+ poison"
    stage.hub_dies()
    assert stage.result() is False


def test_end_of_input_ends_the_session_when_all_is_answered(stage: Stage) -> None:
    stage.agent(b"one")
    os.write(stage.says, b"without an end")
    stage.agent_leaves()
    assert (stage.asked(), stage.asked()) == (b"1 one", b"2 without an end")
    assert stage.ended is None
    stage.answer(b"2 b", b"1 a")
    assert (stage.told(), stage.told()) == (b"b", b"a")
    assert stage.result() is True
    assert stage.asked() == b""


def test_end_of_input_does_not_wait_for_ever(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bridge, "GRACE", 0.1)
    stage.agent(b"one")
    stage.agent_leaves()
    assert stage.result() is True


def test_a_signal_ends_the_session_after_the_answers_under_way(stage: Stage) -> None:
    stage.agent(b"one")
    stage.asked()
    os.write(stage.rope, b"!")
    stage.answer(b"1 a")
    assert stage.told() == b"a"
    assert stage.result() is True


def test_an_agent_that_reads_no_more_ends_the_session(stage: Stage) -> None:
    os.close(stage.reads)
    stage._open.remove(stage.reads)
    stage.agent(b"one")
    stage.asked()
    stage.answer(b"1 a")
    assert stage.result() is True


def test_megabytes_go_both_ways_unharmed(stage: Stage) -> None:
    long = os.urandom(500_000).hex().encode()
    Thread(target=stage.agent, args=(long,), daemon=True).start()
    assert stage.asked() == b"1 " + long
    Thread(target=stage.answer, args=(b"1 " + long,), daemon=True).start()
    assert stage.told() == long


def test_a_line_that_is_too_long_is_cut_and_the_next_one_whole(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bridge, "MAX_LINE", 10)
    stage.agent(b"a" * 1000, b"next")
    assert (stage.asked(), stage.asked()) == (b"1 " + b"a" * 10, b"2 next")


def pushed(push: Callable[[], int]) -> int:
    """Return how many bytes can be pushed until nothing has moved for a while."""
    total, quiet = 0, time.monotonic() + 0.5
    while time.monotonic() < quiet:
        try:
            total += push()
            quiet = time.monotonic() + 0.5
        except BlockingIOError:
            time.sleep(0.01)
    return total


def test_an_agent_that_does_not_read_stops_the_hub(stage: Stage) -> None:
    stage.hub.setblocking(False)
    line = b"0 " + b"x" * 9998 + b"\n"
    assert pushed(lambda: stage.hub.send(line)) < 3 * bridge.ROOM


def test_a_hub_that_does_not_answer_stops_the_agent(stage: Stage) -> None:
    os.set_blocking(stage.says, False)
    line = b"x" * 3999 + b"\n"  # so short that it is written whole or not at all
    assert pushed(lambda: os.write(stage.says, line)) < 3 * bridge.ROOM
    os.set_blocking(stage.says, True)


def test_many_short_lines_are_taken_in_as_they_are_answered(stage: Stage) -> None:
    numbers = range(1, 5 * bridge.MOST_WAITING)
    Thread(target=stage.agent, args=[b"%d" % number for number in numbers], daemon=True).start()
    for number in numbers:
        assert stage.asked() == b"%d %d" % (number, number)
        stage.answer(b"%d" % number)


# --- which hub ---------------------------------------------------------------------------------------------------


@pytest.fixture
def door(home: Path) -> Iterator[socket.socket]:
    """A socket in the home that somebody listens on."""
    listener = socket.socket(socket.AF_UNIX)
    bridge.at(str(home), listener.bind)
    listener.listen()
    listener.settimeout(SECONDS)
    yield listener
    listener.close()


def welcome(door: socket.socket, words: bytes) -> Thread:
    def greet() -> None:
        visitor, _ = door.accept()
        with visitor:
            visitor.recv(1000)
            visitor.sendall(words)

    thread = Thread(target=greet, daemon=True)
    thread.start()
    return thread


def test_a_hub_that_greets_is_connected_to(home: Path, door: socket.socket) -> None:
    thread = welcome(door, GREETING)
    hub = connect(str(home), OPENING)
    assert hub is not None
    hub.close()
    thread.join(SECONDS)


@pytest.mark.parametrize("words", [b"", b"memory-plane 2\n", b"220 mail.example ESMTP\n"])
def test_one_that_greets_otherwise_is_not_used(home: Path, door: socket.socket, words: bytes) -> None:
    thread = welcome(door, words)
    assert connect(str(home), OPENING) is None
    thread.join(SECONDS)


def test_one_that_hangs_is_not_used(home: Path, door: socket.socket, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bridge, "GREETED", 0.1)
    assert connect(str(home), OPENING) is None


def test_what_a_killed_hub_left_is_not_used(home: Path, door: socket.socket) -> None:
    door.close()
    assert connect(str(home), OPENING) is None


def test_no_home_and_no_socket_is_no_hub(home: Path) -> None:
    assert connect(str(home), OPENING) is None
    assert connect(str(home / ("far" * 40)), OPENING) is None


def test_a_file_is_no_hub(home: Path) -> None:
    (home / "hub.sock").write_text("")
    assert connect(str(home), OPENING) is None


def test_a_link_is_not_followed(home: Path, door: socket.socket) -> None:
    elsewhere = home / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "hub.sock").symlink_to(home / "hub.sock")
    assert connect(str(elsewhere), OPENING) is None


def test_the_socket_of_another_person_is_not_used(
    home: Path, door: socket.socket, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "getuid", lambda: (home / "hub.sock").lstat().st_uid + 1)
    assert connect(str(home), OPENING) is None


def test_entering_a_home_with_a_long_name_is_taken_back(tmp_path: Path) -> None:
    home = tmp_path / ("x" * 100) / ("ж" * 50)
    home.mkdir(parents=True)
    before = Path.cwd()
    assert bridge.at(str(home), lambda path: (path, Path.cwd())) == ("hub.sock", home)
    assert Path.cwd() == before


# --- which command lines -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("line", "agent", "tools"),
    [
        ("mcp --agent muse", "muse", False),
        ("mcp --agent=muse --tools", "muse", True),
        ("mcp --tools --agent a --agent b", "b", True),
        ("mcp --agent muse --tools graph", "muse", 2),
        ("mcp --tools=graph,plugins --agent muse", "muse", 3),
        ("mcp --tools plugins --agent muse", "muse", 1),
        ("mcp", "from-environment", False),
    ],
)
def test_plain_command_lines_are_understood(line: str, agent: str, tools: int) -> None:
    wanted = understood(line.split(), {"MEMORY_PLANE_AGENT": "from-environment", "MEMORY_PLANE_HOME": "/h"})
    assert wanted is not None
    assert (wanted.agent, wanted.tools, wanted.home, wanted.given) == (agent, tools, "/h", "")


@pytest.mark.parametrize(
    "line",
    [
        "",
        "mcp",
        "mcp --help",
        "mcp -h",
        "mcp --agent",
        "mcp --agent=",
        "mcp --agent --tools",
        "mcp --agent muse extra",
        "mcp --agent muse --tool",
        "mcp --agent muse --tools=yes",
        "mcp --agent muse --tools graph,",
        "mcp --agent muse --tools graph plugins",
        "mcp --agent muse --home elsewhere",
        "mcp mcp --agent muse",
        "--verbose mcp --agent muse",
        "--home mcp --agent muse",
        "post mcp --agent muse",
        "mcp --agent two\nlines",
    ],
)
def test_other_command_lines_are_left_alone(line: str) -> None:
    assert understood(line.split(" ") if line else [], {}) is None


@pytest.mark.parametrize(
    "environment",
    [
        {"MEMORY_PLANE_DATABASE": "sqlite:///other.db"},
        {"memory_plane_database": "sqlite:///other.db"},
        {"memory_plane_home": "elsewhere"},
        {"_MEMORY_PLANE_COMPLETE": "bash_complete"},
        {"MEMORY_PLANE_HUB_URL": "https://hub.example:8788"},
        {"MEMORY_HUB_URL": "http://192.168.1.2:8788"},
        {"memory_plane_hub__url": "http://127.0.0.1.example:8788"},
    ],
)
def test_an_environment_that_changes_more_is_left_alone(environment: dict[str, str]) -> None:
    assert understood(["mcp", "--agent", "muse"], environment) is None


def test_an_environment_that_names_the_hub_of_this_machine_is_understood() -> None:
    assert understood(["mcp", "--agent", "muse"], {"MEMORY_HUB_URL": "http://127.0.0.1:8788", "LANG": "C"}) is not None
    assert understood(["mcp", "--agent", "muse"], {"MEMORY_PLANE_DATABASE": ""}) is not None


def home_of(environment: dict[str, str], *before: str) -> str:
    wanted = understood([*before, "mcp", "--agent", "muse"], environment)
    assert wanted is not None
    return wanted.home


def test_the_home_is_the_one_that_the_settings_find(home: Path, tmp_path: Path) -> None:
    usual = str(Path("~/.memory-plane").expanduser())
    configuration = tmp_path / "my.toml"
    configuration.write_text('home = "/configured"')
    config = {"MEMORY_PLANE_CONFIG": str(configuration)}
    assert home_of({}) == usual
    assert home_of({"MEMORY_PLANE_HOME": "~/there"}) == str(Path("~/there").expanduser())
    assert home_of({"MEMORY_PLANE_HOME": "/there"}, "--home", "/here") == "/here"
    assert home_of({}, "--home=here") == str(Path.cwd() / "here")
    assert home_of(config) == "/configured"
    assert home_of({**config, "MEMORY_PLANE_HOME": "/there"}) == "/there"
    (home / "config.toml").write_text('home = "/moved"')
    assert home_of({}) == "/moved"
    (home / "config.toml").write_text("home = [broken")
    assert home_of({}) == usual


def test_nothing_heavy_is_imported() -> None:
    code = "import sys, memory_plane.entry, memory_plane.surfaces.bridge; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-S", "-c", code], capture_output=True, text=True, check=True, env=bare())
    assert HEAVY.isdisjoint(name.partition(".")[0] for name in done.stdout.split())


def bare() -> dict[str, str]:
    """Return an environment in which the package is found without `site`, which may import anything."""
    package = Path(bridge.__file__).parents[2]
    return {**os.environ, "PYTHONPATH": str(package)}
