"""The MCP bridge: a pump for lines between an agent's stdio and the hub of its home, which starts at once.

It reads no JSON: it numbers the lines, and the hub says of each when it is done with it.

    bridge  memory-plane 1 SESSION TOOLS AGENT      hub  memory-plane 1
            NUMBER LINE                                  NUMBER ANSWER     the line's answer
            NUMBER+ LINE   sent before                   NUMBER            done, there is no answer
                                                         NUMBER* ANSWER    keep the line, it opens the session
                                                         0 MESSAGE         no answer to a line

When the hub restarts, the lines that opened the session and those that it was not done with are sent again; session and
number give each write its id, so that it happens once. When the hub stays away, this process serves by itself.
"""

# Importing pathlib, contextlib or typing would take longer than all of this does.
# ruff: noqa: PTH100, PTH110, PTH111, PTH123

from __future__ import annotations

import os
import select
import signal
import socket
import stat
import sys
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from typing import TypeVar

    Answer = TypeVar("Answer")

SOCKET = "hub.sock"
GREETING = b"memory-plane 1\n"

PATIENCE = 6.0
"""Seconds without a hub before a waiting call is served here."""
GREETED = 3.0
"""Seconds that a hub may take to say who it is: one that hangs is none."""
MOST_LOSSES = 5
"""How many connections may break one after the other without an answer: a call that kills the hub must not for ever."""
GRACE = 10.0
"""Seconds that calls under way may take once the agent has gone."""
PARENT_CHECK = 2.0
"""Seconds between two looks at whether the parent is alive; its end of the pipe may live on in another process."""
MOST_WAITING = 128
"""How many lines may wait for the hub before no more are read."""
ROOM = 4_000_000
"""How many bytes may wait in one direction before no more are read."""
MAX_LINE = 8_000_000
"""The longest line, in bytes: a text of 1 MB may be written in six times as many. The rest is cut off."""
CHUNK = 65_536
ATOMIC = 4096
"""How many bytes a pipe takes without blocking when it takes any."""
LONGEST_PATH = 96
"""The longest name of a socket, in bytes: systems take about 104."""


TOOLS = {"plugins": 1, "graph": 2}
"""What `--tools` offers besides the tools that everybody has; the numbers add up."""
ELSEWHERE = ("MEMORY_PLANE_DATABASE", "_MEMORY_PLANE_COMPLETE")
HUB_URL = ("MEMORY_PLANE_HUB_URL", "MEMORY_PLANE_HUB__URL", "MEMORY_HUB_URL")
LOOPBACK = ("http://127.0.0.1:", "http://localhost:", "http://[::1]:")


class Wanted:
    """What a command line asks of the bridge; `given` is the home as `--home` names it."""

    def __init__(self, home: str, agent: str, tools: int, given: str) -> None:
        self.home, self.agent, self.tools, self.given = home, agent, tools, given


def main(arguments: Sequence[str]) -> int | None:
    """Serve one agent through the hub of its home; return the exit code, or None, nothing read, where there is none."""
    wanted = understood(arguments, os.environ)
    if wanted is None or not hasattr(socket, "AF_UNIX") or sys.stdin is None or sys.stdout is None:
        return None
    head = b"memory-plane 1 %s %d" % (os.urandom(16).hex().encode(), wanted.tools)
    opening = b"%s %s\n" % (head, wanted.agent.encode())
    hub = connect(wanted.home, opening)
    if hub is None:
        return None
    pump = Pump(lambda: connect(wanted.home, opening), bell())
    if pump.run(hub, PATIENCE):
        return 0
    from memory_plane.surfaces.takeover import take_over

    return take_over(pump, opening, wanted)


def understood(arguments: Sequence[str], environment: Mapping[str, str]) -> Wanted | None:
    """Return what `mcp` with plain options asks for; None for anything that the command line should look at."""
    given = agent = ""
    named, tools = False, 0
    words = iter(_joined(arguments))
    for word in words:
        name, equals, value = word.partition("=")
        if name == ("--agent" if named else "--home"):
            value = value if equals else next(words, "")
            if not value or value.startswith("-"):
                return None
            given, agent = (given, value) if named else (value, agent)
        elif word == "mcp" and not named:
            named = True
        elif name == "--tools" and named and all(kind in TOOLS for kind in value.split(",")):
            tools = sum(TOOLS[kind] for kind in set(value.split(",")))
        else:
            return None
    agent = agent or environment.get("MEMORY_PLANE_AGENT", "")
    if not named or not agent.isprintable() or not agent.strip() or _unusual(environment):
        return None
    return Wanted(_home(given, environment), agent, tools, given)


def _joined(arguments: Sequence[str]) -> Iterator[str]:
    """Yield the words, `--tools` with what it names as one."""
    words = list(arguments)
    while words:
        word = words.pop(0)
        if word == "--tools":
            word += f"={words.pop(0)}" if words and not words[0].startswith("-") else "=plugins"
        yield word


def connect(home: str, opening: bytes) -> socket.socket | None:
    """Return a connection to the hub of this home that has greeted, None where there is none of this user."""
    try:
        return at(home, lambda path: _connect(path, opening))
    except OSError:
        return None


def at(home: str, use: Callable[[str], Answer]) -> Answer:
    """Call `use` with a name of the home's socket that is short enough, entering a home with a long one meanwhile."""
    path = f"{home}/{SOCKET}"
    if len(os.fsencode(path)) <= LONGEST_PATH:
        return use(path)
    back = os.open(".", os.O_RDONLY)
    try:
        os.chdir(home)
        return use(SOCKET)
    finally:
        os.fchdir(back)
        os.close(back)


def _connect(path: str, opening: bytes) -> socket.socket | None:
    found = os.lstat(path)
    if not stat.S_ISSOCK(found.st_mode) or found.st_uid != os.getuid():
        return None
    hub = socket.socket(socket.AF_UNIX)
    try:
        hub.settimeout(GREETED)
        hub.connect(path)
        if greeted(hub, opening):
            return hub
    except OSError:
        pass
    hub.close()
    return None


def greeted(hub: socket.socket, opening: bytes) -> bool:
    """Say who connects, and tell whether a hub that speaks like us answers."""
    hub.settimeout(GREETED)
    hub.sendall(opening)
    return hub.recv(len(GREETING), socket.MSG_WAITALL) == GREETING


def _unusual(environment: Mapping[str, str]) -> bool:
    """Tell whether the environment names a database or a hub elsewhere, or asks for completion."""
    for name, value in environment.items():
        known = name.upper()  # the settings read their variables in any spelling, the bridge in the usual one
        if (known in ELSEWHERE and value) or known == "MEMORY_PLANE_HOME" != name:
            return True
        if known in HUB_URL and value and not value.startswith(LOOPBACK):
            return True
    return False


def _home(given: str, environment: Mapping[str, str]) -> str:
    """Return the home as the settings find it."""
    home = given or environment.get("MEMORY_PLANE_HOME")
    if not home:
        file = environment.get("MEMORY_PLANE_CONFIG")
        home = os.path.expanduser("~/.memory-plane")
        if file or not os.path.exists(f"{home}/{SOCKET}"):
            home = _home_in(file or f"{home}/config.toml") or home
    return os.path.abspath(os.path.expanduser(home))


def _home_in(file: str) -> str | None:
    import tomllib

    try:
        with open(os.path.expanduser(file), "rb") as toml:
            home = tomllib.load(toml).get("home")
    except (OSError, ValueError):
        return None
    return home if isinstance(home, str) else None


class Pump:
    """Moves lines between the agent and the hub, and keeps those that the hub is not done with."""

    def __init__(self, again: Callable[[], socket.socket | None], bell: int, source: int = 0, sink: int = 1) -> None:
        """`again` connects anew, `bell` becomes readable to ask for the end; `source` and `sink` lead to the agent."""
        self.source, self.sink, self._bell = source, sink, bell
        self._again = again
        self._hub: socket.socket | None = None
        self._held: dict[int, bytes] = {}
        self._kept: set[int] = set()
        self._newest = self._sent = self._losses = 0
        self._line, self._answer = bytearray(), bytearray()
        self._to_hub, self._to_agent = bytearray(), bytearray()
        self._deadline: float | None = None
        self._gone = False
        self._parent = os.getppid()

    def run(self, hub: socket.socket, patience: float) -> bool:
        """Pump until the session has ended; return False when calls wait and no hub comes for `patience` seconds."""
        self._attach(hub)
        while not self._finished():
            if self._hub is None and self._waiting() and not self._reconnect(patience):
                return False
            self._turn()
        if self._hub is not None:
            self._hub.close()
        return True

    def _attach(self, hub: socket.socket) -> None:
        hub.setblocking(False)
        self._hub = hub
        if self._deadline is not None:
            self._deadline = time.monotonic() + GRACE
        for number, line in self._held.items():
            self._queue(number, line)

    def _reconnect(self, patience: float) -> bool:
        deadline, pause = time.monotonic() + patience, 0.02
        while self._losses <= MOST_LOSSES:
            hub = self._again()
            if hub is not None:
                self._attach(hub)
                return True
            if time.monotonic() > deadline:
                break
            self._heed(select.select([self._bell], [], [], pause)[0])
            pause = min(2 * pause, 0.5)
        return False

    def _turn(self) -> None:
        """Wait until something can move, and move it."""
        reading, writing = [self._bell], [self.sink] if self._to_agent else []
        if self._deadline is None and self._has_room():
            reading.append(self.source)
        hub = self._hub
        line = -1 if hub is None else hub.fileno()
        if hub is not None and len(self._to_agent) < ROOM:
            reading.append(line)
        if hub is not None and self._to_hub:
            writing.append(line)
        pause = PARENT_CHECK if self._deadline is None else min(PARENT_CHECK, self._deadline - time.monotonic())
        readable, writable, _ = select.select(reading, writing, [], max(0.0, pause))
        self._heed(readable)
        if self.sink in writable:
            self._tell_agent()
        if hub is not None and line in readable:
            self._hear_hub(hub)
        if hub is not None and line in writable and hub is self._hub:
            self._tell_hub(hub)
        if self.source in readable and self._deadline is None:
            self._hear_agent()

    def _heed(self, readable: list[int]) -> None:
        """End when a signal came or the parent has died."""
        if self._bell in readable:
            os.read(self._bell, CHUNK)
            self._end()
        elif os.getppid() != self._parent:
            self._end()

    def _end(self) -> None:
        if self._deadline is None:
            self._deadline = time.monotonic() + GRACE

    def _finished(self) -> bool:
        if self._gone or self._deadline is None:
            return self._gone
        return time.monotonic() > self._deadline or not (self._waiting() or self._to_agent)

    def _waiting(self) -> bool:
        return len(self._held) > len(self._kept)

    def _has_room(self) -> bool:
        return len(self._held) < MOST_WAITING and sum(map(len, self._held.values())) < ROOM

    def _hear_agent(self) -> None:
        try:
            data = os.read(self.source, CHUNK)
        except OSError:
            data = b""
        *pieces, rest = data.split(b"\n")
        for piece in pieces:
            self._collect(piece)
            self._hold()
        self._collect(rest)
        if not data:
            self._hold()
            self._end()

    def _collect(self, piece: bytes) -> None:
        self._line += piece[: MAX_LINE - len(self._line)]

    def _hold(self) -> None:
        """Number the line that is complete now, and keep it until the hub is done with it."""
        line = bytes(self._line.strip())
        self._line.clear()
        if line:
            self._newest += 1
            self._held[self._newest] = line
            if self._hub is not None:
                self._queue(self._newest, line)

    def _queue(self, number: int, line: bytes) -> None:
        self._to_hub += b"%d%s %s\n" % (number, b"+" if number <= self._sent else b"", line)

    def _hear_hub(self, hub: socket.socket) -> None:
        try:
            data = hub.recv(CHUNK)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        if not data:
            self._lose(hub)
            return
        *pieces, rest = data.split(b"\n")
        for piece in pieces:
            self._answer += piece
            self._pass_on(bytes(self._answer))
            self._answer.clear()
        self._answer += rest

    def _pass_on(self, answer: bytes) -> None:
        """Pass an answer on, unless the agent had it before the hub restarted."""
        head, _, message = answer.partition(b" ")
        number = int(head.rstrip(b"*"))
        if number:
            if number not in self._held or number in self._kept:
                return
            if head.endswith(b"*"):
                self._kept.add(number)
            else:
                del self._held[number]
            self._losses = 0
        if message:
            self._to_agent += message + b"\n"

    def _tell_hub(self, hub: socket.socket) -> None:
        try:
            del self._to_hub[: hub.send(self._to_hub[:CHUNK])]
        except BlockingIOError:
            return
        except OSError:
            self._lose(hub)

    def _tell_agent(self) -> None:
        try:
            del self._to_agent[: os.write(self.sink, self._to_agent[:ATOMIC])]
        except OSError:
            self._gone = True

    def _lose(self, hub: socket.socket) -> None:
        hub.close()
        self._hub = None
        self._answer.clear()
        self._to_hub.clear()
        self._sent = self._newest
        self._losses += 1


def bell() -> int:
    """Return a descriptor that becomes readable when a signal asks to stop; a signal alone does not end a wait."""
    sound, rope = os.pipe()
    os.set_blocking(rope, False)
    signal.set_wakeup_fd(rope, warn_on_full_buffer=False)
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: None)
    return sound
