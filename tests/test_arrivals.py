"""Events of hooks as they arrive: what one agent did is there on the next turn of another, whoever is up."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from threading import Event as Flag
from time import monotonic
from typing import Any

import httpx
import pytest

from memory_plane import Plane, Plugin, hook, hookimpl, intake, seen, spool
from memory_plane.operations import make_operation
from memory_plane.surfaces.rounds import EVERY, arrivals
from memory_plane.testing.hub import HubProcess
from memory_plane.types import AgentInfo, Event, Ingested, Poll

SECONDS = 60
SOON = EVERY / 3
"""Seconds in which a busy machine does what takes half a second, and in which no round comes round."""
COMMAND = [sys.executable, "-m", "memory_plane"]
TOLD = "Egret shipped the ferry timetable"
NAMES = {"capabilities": {}, "clientInfo": {"name": "test", "version": "1"}, "protocolVersion": "2025-11-25"}

SOURCE = """
from memory_plane import Plugin, hookimpl
from memory_plane.operations import make_operation
from memory_plane.types import AgentInfo, Event, Ingested


class ThePlugin(Plugin):
    agents = (AgentInfo(id="egret"), AgentInfo(id="heron"))

    @hookimpl
    def ingest(self, cue):
        if not isinstance(cue, Event) or cue.name != "Stop":
            return None
        body = {"text": cue.payload["said"], "kind": "handoff", "to": "heron"}
        return Ingested(operations=(make_operation("thought", body, agent=cue.agent, created_at=cue.at),))
"""

MakePlane = Callable[..., Plane]
InstallPlugin = Callable[..., str]


class EgretPlugin(Plugin):
    """Says what its agent said, and counts how often it was asked."""

    agents = (AgentInfo(id="egret"),)

    def __init__(self) -> None:
        super().__init__()
        self.heard: list[Any] = []
        self.asked = Flag()

    @hookimpl
    def ingest(self, cue: Poll | Event) -> Ingested | None:
        if isinstance(cue, Poll):
            return None
        self.heard.append(cue.payload)
        self.asked.set()
        return Ingested(operations=(make_operation("thought", {"text": cue.payload["said"]}, agent="egret"),))


class BitternPlugin(Plugin):
    """Hangs until it is released."""

    agents = (AgentInfo(id="bittern"),)
    release = Flag()

    @hookimpl
    def ingest(self, cue: Poll | Event) -> Ingested | None:
        self.release.wait(SECONDS)
        return None


@pytest.fixture
def toy(home: Path, install_plugin: InstallPlugin, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Install a plugin for processes too."""
    install_plugin("toy", SOURCE)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path / "site-packages" / "memory-plane-toy"))
    monkeypatch.setenv("MEMORY_PLANE_PLUGINS__ENABLED", '["toy"]')


@pytest.fixture
def hub_here(home: Path, toy: None, empty_database: Path) -> Iterator[HubProcess]:
    """Start a hub in the home of the test."""
    process = HubProcess(home, database=empty_database, forked=True)
    yield process
    process.stop()


def shim(agent: str, event: str, **payload: Any) -> Any:
    command = [sys.executable, "-S", hook.__file__, agent, event]
    done = subprocess.run(command, input=json.dumps(payload).encode(), capture_output=True, timeout=SECONDS)
    assert (done.returncode, done.stderr) == (0, b"")
    return json.loads(done.stdout)


def told_to_heron() -> str:
    """Ask for the next turn of the other agent until something is there; return what."""
    deadline = monotonic() + SOON
    while not (found := shim("heron", "UserPromptSubmit", session_id="s-1")):
        assert monotonic() < deadline, "nothing came"
    return str(found["hookSpecificOutput"]["additionalContext"])


def run(*arguments: str) -> str:
    done = subprocess.run(
        [*COMMAND, *arguments], capture_output=True, text=True, encoding="utf-8", timeout=SECONDS, check=True
    )
    assert done.stderr == ""
    return done.stdout


def ask(server: subprocess.Popen[str], method: str, **params: Any) -> Any:
    """Ask an MCP server for one thing, and wait for it."""
    assert server.stdin is not None
    assert server.stdout is not None
    server.stdin.write(json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}) + "\n")
    server.stdin.flush()
    return json.loads(server.stdout.readline())["result"]


@pytest.fixture
def serve(home: Path) -> Iterator[Callable[[str], subprocess.Popen[str]]]:
    """Start servers over stdio that have shaken hands."""
    servers: list[subprocess.Popen[str]] = []

    def begin(agent: str) -> subprocess.Popen[str]:
        command = [*COMMAND, "mcp", "--agent", agent]
        server = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, encoding="utf-8")
        servers.append(server)
        ask(server, "initialize", **NAMES)
        return server

    yield begin
    for server in servers:
        server.communicate(timeout=SECONDS)
        assert server.returncode == 0


# --- the next turn of another agent ------------------------------------------------------------------------------


@pytest.mark.usefixtures("hub_here")
def test_what_a_hook_tells_the_hub_is_in_the_brief_of_another_agent_at_once() -> None:
    assert shim("heron", "SessionStart", session_id="s-1") == {}
    shim("egret", "Stop", said=TOLD)
    assert TOLD in told_to_heron()
    shim("egret", "Stop", said="Egret lost the oars")
    said = told_to_heron()
    assert "Egret lost the oars" in said
    assert TOLD not in said


@pytest.mark.usefixtures("toy")
def test_agent_that_is_served_without_a_hub_takes_in_what_hooks_tell(serve: Callable[..., Any]) -> None:
    shim("egret", "Stop", said=TOLD)
    serve("crane")
    assert TOLD in told_to_heron()
    shim("egret", "Stop", said="Egret lost the oars")
    assert "Egret lost the oars" in told_to_heron()


def test_session_takes_it_in_when_its_hub_has_gone(hub_here: HubProcess, serve: Callable[..., Any]) -> None:
    server = serve("crane")
    hub_here.kill()
    shim("egret", "Stop", said=TOLD)
    ask(server, "tools/list")  # which makes the bridge serve by itself
    assert TOLD in told_to_heron()


@pytest.mark.usefixtures("toy")
def test_command_takes_in_first_what_hooks_left(home: Path) -> None:
    shim("egret", "Stop", said=TOLD)
    assert TOLD in run("pulse")
    assert spool.waiting(home) == []
    shim("egret", "Stop", said="Egret lost the oars")
    assert json.loads(run("ingest", "--spool", "--json"))["events"] == 1
    shim("egret", "Stop", said="Egret found the oars")
    assert json.loads(run("sync", "--json"))["taken_in"] == 1


def test_command_takes_in_no_more_than_it_can_at_once_and_no_failure_again(
    home: Path, toy: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    spool.put(home, Event(agent="egret", name="Stop", payload={}))
    for number in range(102):
        spool.put(home, Event(agent="egret", name="Stop", payload={"said": str(number)}))
    done = subprocess.run([*COMMAND, "pulse"], capture_output=True, text=True, timeout=SECONDS)
    assert "plugin 'toy' failed in 'ingest'" in done.stderr
    assert [path.suffixes for path in spool.waiting(home)] == [[".1", ".json"], [".json"], [".json"], [".json"]]
    run("pulse")
    assert [path.suffixes for path in spool.waiting(home)] == [[".1", ".json"]]


def test_command_works_although_what_hooks_left_cannot_be_taken_in(home: Path) -> None:
    (home / "spool").mkdir()
    (home / "spool" / "0.json").mkdir()
    (home / ".intake-none.lock").mkdir()
    assert "Nothing yet" in run("pulse")


def test_command_leaves_it_to_the_hub(hub_here: HubProcess, home: Path) -> None:
    from memory_plane.surfaces.cli.session import Session

    session = Session()
    assert session.taker() is None
    hub_here.stop()
    assert session.taker() is session.client.plane
    session.close()
    session.close_log()


# --- one turn, once ----------------------------------------------------------------------------------------------


def test_turn_that_arrives_from_three_registrations_is_taken_in_once(make_plane: MakePlane) -> None:
    plugin = EgretPlugin()
    plane = make_plane(plugin)
    for _ in range(3):
        shim("egret", "Stop", said=TOLD, session_id="s-1")
    shim("egret", "Stop", said=TOLD, session_id="s-2")
    with arrivals(plane.home, lambda: plane):
        assert plugin.asked.wait(SECONDS)
        plane.ingest()  # waits for what is under way
    assert [payload["session_id"] for payload in plugin.heard] == ["s-1", "s-2"]
    assert spool.waiting(plane.home) == []


def test_events_of_several_plugins_are_taken_in_as_they_were_said(make_plane: MakePlane) -> None:
    class WrenPlugin(EgretPlugin):
        agents = (AgentInfo(id="wren"),)

    plane = make_plane(EgretPlugin(), WrenPlugin())
    order = ("egret", "wren", "wren", "egret", "stranger")
    for agent in order:
        plane.spool(Event(agent=agent, name="Stop", payload={"said": TOLD}))
    found = [(owner, len(files)) for owner, files in intake.in_order(plane)]
    assert found == [("egret", 1), ("wren", 2), ("egret", 1), ("", 1)]


def test_agent_that_repeats_another_in_the_same_batch_says_nothing(make_plane: MakePlane) -> None:
    plane, shipped = make_plane("claude", "clients", "muse"), "Shipped the ferry timetable to production."
    said = (("muse-code", "Here I am."), ("codex", shipped), ("muse-code", shipped), ("claude-code", shipped))
    for agent, text in said:
        plane.spool(Event(agent=agent, name="Stop", payload={"session_id": agent, "last_assistant_message": text}))
    plane.ingest()
    assert [(one.agent, one.text) for one in plane.thoughts()] == [("codex", shipped)]


def test_same_words_a_moment_later_are_said_again() -> None:
    recent, at = intake.Recent(), datetime(2026, 3, 14, 9, tzinfo=UTC)
    said = Event(agent="egret", name="Stop", payload={"said": "yes"}, at=at)
    assert not recent.has(said)
    recent.add(said)
    assert recent.has(said)
    for other in (
        replace(said, agent="heron"),
        replace(said, name="SessionEnd"),
        replace(said, payload={"said": "no"}),
    ):
        assert not recent.has(other)
    assert not recent.has(replace(said, at=at + timedelta(seconds=5)))
    assert not recent.has(replace(said, at=None))


def test_event_that_failed_is_no_repetition_of_itself(make_plane: MakePlane) -> None:
    plugin = EgretPlugin()
    plane = make_plane(plugin, strict=False)
    plane.spool(Event(agent="egret", name="Stop", payload={}))
    recent = intake.Recent()
    for _ in range(2):
        assert intake.take_events(plane, recent=recent) == (0, 0)
    assert plugin.heard == [{}, {}]


def test_event_is_taken_in_by_one_process_at_a_time(make_plane: MakePlane, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(intake, "OTHERS", 0.01)
    plane = make_plane(EgretPlugin())
    plane.spool(Event(agent="egret", name="Stop", payload={"said": TOLD}))
    with intake._alone(plane.home, "egret") as alone:
        assert alone
        assert intake.take_events(plane) == (0, 0)
    assert intake.take_events(plane) == (1, 1)


def test_plugin_that_hangs_holds_no_other_up(make_plane: MakePlane, monkeypatch: pytest.MonkeyPatch) -> None:
    hanging, plugin = BitternPlugin(), EgretPlugin()
    plane = make_plane(hanging, plugin)
    plane.spool(Event(agent="bittern", name="Stop", payload={}))
    plane.spool(Event(agent="egret", name="Stop", payload={"said": TOLD}))
    with arrivals(plane.home, lambda: plane):
        assert plugin.asked.wait(SECONDS)
        hanging.release.set()


# --- the watch ---------------------------------------------------------------------------------------------------


def test_watch_tells_of_each_event_once(home: Path) -> None:
    watch = spool.Watch(home)
    assert watch.new() == []
    first = spool.put(home, Event(agent="egret", name="Stop", payload={}))
    assert watch.new() == [first]
    assert watch.new() == []
    rest = [spool.put(home, Event(agent="egret", name="Stop", payload={"n": n})) for n in range(3)]
    assert watch.new() == rest
    spool.failed(rest[0])
    spool.done(rest[1])
    (home / "spool" / "0.part").touch()
    (home / "spool" / "0.bad").touch()
    assert watch.new() == []


def test_watch_tells_first_and_every_half_minute_of_all_that_waits(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tried = spool.put(home, Event(agent="egret", name="Stop", payload={}))
    spool.failed(tried)
    tried = tried.with_name(f"{tried.stem}.1.json")
    watch = spool.Watch(home)
    assert watch.new() == [tried]
    assert watch.new() == []
    monkeypatch.setattr(spool, "AGAIN", 0.0)
    watch = spool.Watch(home)
    assert watch.new() == watch.new() == [tried]


# --- when an agent was last heard over MCP -----------------------------------------------------------------------


def heard(home: Path, agent: str, since: datetime) -> bool:
    at = seen.last(home, agent).mcp
    return at is not None and at > since - timedelta(seconds=2)


@pytest.mark.parametrize("beside_a_hub", [False, True])
def test_agent_that_asks_over_mcp_is_noted(
    home: Path, serve: Callable[..., Any], beside_a_hub: bool, request: pytest.FixtureRequest
) -> None:
    begun = datetime.now(UTC)
    if beside_a_hub:
        hub = request.getfixturevalue("hub_here")
    server = serve("crane")
    assert not heard(home, "crane", begun)
    ask(server, "tools/list")
    assert heard(home, "crane", begun)
    if beside_a_hub:
        headers = {"authorization": f"Bearer {hub.token}", "accept": "application/json, text/event-stream"}
        call = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
        httpx.post(f"{hub.url}/mcp/wren", json=call, headers=headers, timeout=SECONDS, trust_env=False)
        assert heard(home, "wren", begun)


def test_note_that_cannot_be_left_costs_no_answer(home: Path, serve: Callable[..., Any]) -> None:
    (home / "seen").write_text("in the way")
    assert ask(serve("crane"), "tools/list")["tools"]
    assert seen.last(home, "crane") == seen.Seen()
