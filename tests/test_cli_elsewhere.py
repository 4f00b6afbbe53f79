"""A machine whose memory is at a hub elsewhere: nothing is made here in its stead, and nothing stays behind here."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from threading import Event as Tick
from time import monotonic
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner, Result

from memory_plane import hook as shim
from memory_plane import spool
from memory_plane.operations import make_operation
from memory_plane.outbox import Outbox
from memory_plane.remote import Hub
from memory_plane.surfaces.cli import main
from memory_plane.surfaces.cli.session import Session
from memory_plane.surfaces.mcp_server import build
from memory_plane.testing.hub import HubProcess
from memory_plane.types import Event

if TYPE_CHECKING:
    from memory_plane.testing import InstallPlugin

SECONDS = 60
NOWHERE = "http://127.0.0.1:9"
WIRE = """
from datetime import UTC, datetime
from memory_plane import Plugin, hookimpl
from memory_plane.types import AgentInfo, Event, Ingested, Operation
from uuid import NAMESPACE_URL, uuid5

class ThePlugin(Plugin):
    agents = (AgentInfo(id="wire"),)

    @hookimpl
    def ingest(self, cue):
        if not isinstance(cue, Event):
            return Ingested(cursor="polled")
        text = cue.payload["text"]
        body, at = {"text": text}, datetime(2026, 3, 14, 9, tzinfo=UTC)
        id = str(uuid5(NAMESPACE_URL, text))
        return Ingested(operations=(Operation(id=id, op="thought", agent="wire", created_at=at, body=body),))

    @hookimpl
    def register_tools(self, plane):
        raise AssertionError("no memory here to give to a tool")
"""


def run(*arguments: str) -> Result:
    return CliRunner().invoke(main, arguments)


@pytest.fixture
def away(home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home whose memory is at a hub that does not answer."""
    monkeypatch.setenv("MEMORY_PLANE_HUB_URL", NOWHERE)
    monkeypatch.setenv("MEMORY_PLANE_HUB__TOKEN", "x" * 43)
    return home


@pytest.fixture
def near(
    home: Path, hub: HubProcess, install_plugin: InstallPlugin, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Path:
    """A home whose memory is at the hub of the fixture, with a plugin for the agent `wire`."""
    install_plugin("wire", WIRE)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path / "site-packages" / "memory-plane-wire"))
    monkeypatch.setenv("MEMORY_PLANE_PLUGINS__ENABLED", "wire")
    monkeypatch.setenv("MEMORY_PLANE_HUB_URL", hub.url)
    monkeypatch.setenv("MEMORY_PLANE_HUB__TOKEN", hub.token)
    return home


def said(home: Path, *texts: str) -> None:
    for text in texts:
        spool.put(home, Event(agent="wire", name="said", payload={"text": text}))


def arrived(hub: HubProcess) -> list[str]:
    with Hub(hub.url, hub.token) as there:
        return sorted(one.text for one in there.ask("thoughts", {}))


@pytest.mark.parametrize(
    "command", ["export", "token muse", "token --renew", "rebuild", "import -", "backup", "restore x.db --yes"]
)
def test_what_only_the_memory_itself_can_do_names_its_hub(away: Path, command: str) -> None:
    result = run(*command.split())
    assert (result.exit_code, result.stdout) == (2, "")
    assert NOWHERE in result.stderr
    assert "MEMORY_PLANE_HUB_URL" in result.stderr
    assert not {path.name for path in away.iterdir()} & {"memory.db", "token"}


@pytest.mark.parametrize("command", ["sync", "ingest --spool"])
def test_events_of_hooks_are_sent_to_the_memory(near: Path, hub: HubProcess, command: str) -> None:
    said(near, "Ann likes tea", "Rob likes rye", "Ann likes tea")
    result = run(*command.split(), "--json")
    assert result.exit_code == 0, result.output
    told = json.loads(result.stdout)
    assert told.get("taken_in", told.get("stored")) >= 2
    assert arrived(hub) == ["Ann likes tea", "Rob likes rye"]
    assert (spool.waiting(near), Outbox(near).depth()) == ([], 0)
    assert not (near / "memory.db").exists()


def test_events_wait_in_the_outbox_while_the_hub_is_away(near: Path, hub: HubProcess) -> None:
    said(near, "Ann likes tea")
    hub.kill()
    assert run("ingest", "--spool").exit_code == 0
    assert (spool.waiting(near), Outbox(near).depth()) == ([], 1)
    hub.start()
    assert run("sync").exit_code == 0
    assert arrived(hub) == ["Ann likes tea"]


def test_an_agents_session_sends_what_hooks_leave(near: Path, hub: HubProcess) -> None:
    said(near, "Ann likes tea")
    command = [sys.executable, "-m", "memory_plane", "mcp", "--agent", "wire"]
    deadline, tick = monotonic() + SECONDS, Tick()
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL) as session:
        while not arrived(hub):
            assert session.poll() is None
            assert monotonic() < deadline
            tick.wait(0.05)
        assert session.stdin is not None
        session.stdin.close()
        assert session.wait(SECONDS) == 0
    assert spool.waiting(near) == []
    assert not (near / "memory.db").exists()


def hook(home: Path, event: str) -> str:
    """Run the shim as Claude Code does, and return what is put before it."""
    payload = json.dumps({"session_id": "s-1", "hook_event_name": event})
    command = [sys.executable, "-S", str(Path(shim.__file__)), "claude-code", event, str(home)]
    done = subprocess.run(command, input=payload, capture_output=True, text=True, encoding="utf-8", timeout=SECONDS)
    said: str = json.loads(done.stdout).get("hookSpecificOutput", {}).get("additionalContext", "")
    return said


def test_hooks_give_what_agents_of_other_machines_did_while_a_session_is_open(near: Path, hub: HubProcess) -> None:
    def tell(text: str) -> None:
        with Hub(hub.url, hub.token) as there:
            operation = make_operation("thought", {"text": text, "kind": "handoff", "to": "claude-code"}, agent="muse")
            assert there.store(operation).state == "stored"

    page, deadline, tick = near / "brief" / "claude-code.md", monotonic() + SECONDS, Tick()
    command = [sys.executable, "-m", "memory_plane", "mcp", "--agent", "Claude-Code"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL) as session:
        for event, text in (("SessionStart", "Write to Ann"), ("UserPromptSubmit", "Book the room in Lisbon")):
            tell(text)
            while not page.exists() or text not in page.read_text("utf-8"):
                assert session.poll() is None
                assert monotonic() < deadline
                tick.wait(0.05)
            given = hook(near, event)
            assert text in given
            assert ("Write to Ann" in given) == (event == "SessionStart")
        assert session.stdin is not None
        session.stdin.close()
        assert session.wait(SECONDS) == 0
    assert not (near / "memory.db").exists()


def test_sync_brings_the_pages_of_the_agents_that_are_set_up_and_an_outage_leaves_them(
    near: Path, hub: HubProcess, tmp_path: Path
) -> None:
    copy = tmp_path / "rules" / "pulse.md"
    copy.parent.mkdir()
    edit = {"kind": "copy", "path": str(copy), "page": "PULSE.md", "preface": ""}
    (near / "integrations.json").write_text(json.dumps({"agents": {"claude-code": [], "instinct": [edit]}}), "utf-8")
    with Hub(hub.url, hub.token) as there:
        body = {"text": "Write to Ann", "kind": "handoff", "to": "claude-code"}
        there.store(make_operation("thought", body, agent="muse"))
    assert json.loads(run("sync", "--json").stdout)["pages"] == 3
    before = (near / "brief" / "claude-code.md").read_text("utf-8")
    assert "Write to Ann" in before
    assert "Write to Ann" in copy.read_text("utf-8")
    assert json.loads(run("sync", "--json").stdout).get("pages", 0) <= 1
    hub.kill()
    run("sync")
    assert (near / "brief" / "claude-code.md").read_text("utf-8") == before


def test_text_that_is_taken_in_goes_to_the_memory(near: Path, hub: HubProcess, tmp_path: Path) -> None:
    notes = tmp_path / "notes.md"
    notes.write_text("Ann likes tea\n\nRob likes rye\n", "utf-8")
    for states in ({"stored"}, {"duplicate"}):
        result = run("ingest", "--file", str(notes), "--json")
        assert {one["state"] for one in json.loads(result.stdout)["receipts"]} == states
    hub.kill()
    result = run("ingest", "Zoë likes ale", "--json")
    assert [one["state"] for one in json.loads(result.stdout)["receipts"]] == ["queued"]
    assert not (near / "memory.db").exists()


def test_tools_of_plugins_get_no_empty_memory(near: Path) -> None:
    session = Session()
    build(session.client, "muse", tools=True)
    session.close()
    assert not (near / "memory.db").exists()
