"""The page of health: who was heard, what failed, what waits, what leaves the machine; each wrong line has a cure."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from threading import Event as Flag

import pytest
from starlette.testclient import TestClient

from memory_plane import Plane, Plugin, hookimpl, seen
from memory_plane.integration import Call, Check, Integration, Machine
from memory_plane.operations import make_operation
from memory_plane.outbox import Outbox
from memory_plane.setup.doctor import examine
from memory_plane.setup.finding import Finding
from memory_plane.setup.manifest import Manifest
from memory_plane.spending import FILE
from memory_plane.surfaces.web.doctor import Looks
from memory_plane.types import AgentInfo, Event, Extraction, Memory

PAGE = sys.modules[Looks.__module__]
SignIn = Callable[[Plane], TestClient]
MakePlane = Callable[..., Plane]


class SendsPlugin(Plugin):
    """Sends something, and fails."""

    sends = "redacted text, to <b>models.example</b>"
    agents = (AgentInfo(id="grok"), AgentInfo(id="zed"))

    @hookimpl
    def extract(self, memory: Memory, found: Extraction) -> Extraction | None:
        raise ValueError("the <i>model</i> is away")


class StartsPlugin(Plugin):
    """Speaks for an agent of which only its own program knows whether it is told of the memory."""

    agents = (AgentInfo(id="grok"),)

    def __init__(self, trace: Path) -> None:
        super().__init__()
        self._command = (sys.executable, "-c", f"open({str(trace)!r}, 'w').close(); print('x')")

    @hookimpl
    def integrate(self, machine: Machine) -> Iterator[Integration]:
        call = Call(what="x", do=(self._command,), undo=(self._command,), asks=self._command, shows="x")
        check = Check(what="x", command=self._command, shows="x", remedy="x", harmless=True)
        yield Integration(agent="grok", name="Grok", found="here", edits=(call,), checks=(check,))


@pytest.fixture(autouse=True)
def patience(monkeypatch: pytest.MonkeyPatch) -> None:
    """Wait for a look however busy the machine is."""
    monkeypatch.setattr(PAGE, "PATIENCE", 60)


@pytest.fixture
def browser(plane: Plane, signed_in: SignIn) -> TestClient:
    return signed_in(plane)


def again(browser: TestClient) -> str:
    """Press the button of the page; return what it shows then."""
    answer = browser.post("/doctor", headers={"content-type": "application/x-www-form-urlencoded"})
    assert answer.status_code == 200
    return answer.text


def row(page: str, name: str) -> str:
    """Return the row of a table, or of a list of fields, that begins with a name."""
    rows: list[str] = re.findall(r"<tr>.*?</tr>|<div><dt>.*?</div>", page, re.S)
    return next(one for one in rows if re.search(rf">{re.escape(name)}\b", one))


def test_agent_is_shown_with_what_was_heard_of_it(plane: Plane, browser: TestClient) -> None:
    plane.post("hello", agent="grok")
    seen.over_mcp(plane.home, "grok")
    (plane.home / seen.FOLDER / "grok.hook").write_text("SessionStart", "utf-8")
    told = row(browser.get("/doctor").text, "grok")
    assert "SessionStart" in told
    assert told.count("<time") == 3
    assert "never" not in told


def test_failed_plugin_is_named_with_its_agents_and_a_remedy(make_plane: MakePlane, signed_in: SignIn) -> None:
    plane = make_plane(SendsPlugin(), strict=False)
    plane.post("hello", agent="grok")
    page = signed_in(plane).get("/doctor").text
    for name in ("grok", "sends"):
        assert "the &lt;i&gt;model&lt;/i&gt; is away" in row(page, name)
    assert "plugins.enabled" in row(page, "sends")
    assert "Never heard: zed" not in page  # its plugin fails: it stands in the table
    assert "<i>model" not in page


def test_what_leaves_the_machine_is_told_with_what_it_costs(make_plane: MakePlane, signed_in: SignIn) -> None:
    plane = make_plane(SendsPlugin(), strict=False)
    folder = plane.home / "plugins" / "sends"
    folder.mkdir(parents=True)
    today = datetime.now(UTC).date().isoformat()
    (folder / FILE).write_text(json.dumps({"day": today, "tokens": 1234, "cap": 2000000}), "utf-8")
    page = signed_in(plane).get("/doctor").text
    assert "sends redacted text, to &lt;b&gt;models.example&lt;/b&gt;" in page
    assert "1,234 of 2,000,000 tokens today" in page


def test_nothing_leaves_where_no_plugin_sends(browser: TestClient) -> None:
    assert "no plugin that sends anything is enabled" in browser.get("/doctor").text


def test_outbox_and_spool_are_told_with_their_remedies(plane: Plane, browser: TestClient) -> None:
    assert "nothing" in row(browser.get("/doctor").text, "outbox")
    Outbox(plane.home).append(make_operation("thought", {"text": "later"}, agent="grok"))
    plane.spool(Event(agent="grok", name="Stop", payload={}))
    page = browser.get("/doctor").text
    assert "memory-plane sync" in row(page, "outbox")
    assert "1 event:" in row(page, "spool")
    assert "bytes" in page.partition('id="disk"')[2]


def test_wrong_thing_has_its_remedy(plane: Plane, browser: TestClient) -> None:
    plane.home.chmod(0o755)
    page = browser.get("/doctor").text
    wrong = page.partition('id="complaints"')[2].partition("</ul>")[0]
    assert f"others may read {plane.home}" in wrong
    assert "chmod 700" in wrong
    plane.home.chmod(0o700)
    assert "chmod" in browser.get("/doctor").text  # the last look, until another is asked for
    assert "chmod" not in again(browser)


def test_pulse_tells_what_the_last_look_found_wrong(plane: Plane, browser: TestClient) -> None:
    plane.home.chmod(0o755)
    browser.get("/doctor")
    pulse = browser.get("/").text
    assert 'outbox. <a class="warn" href="/doctor">1 thing is wrong</a>: <bdi>others may read' in pulse
    plane.home.chmod(0o700)
    again(browser)
    assert "Nothing is wrong." in browser.get("/").text


def test_pulse_waits_for_no_look(plane: Plane, signed_in: SignIn, monkeypatch: pytest.MonkeyPatch) -> None:
    end = Flag()
    monkeypatch.setattr(PAGE.setup, "examine", lambda *_, **__: [end.wait(20)][:0])
    browser = signed_in(plane)
    assert "Looking for what is wrong…" in browser.get("/").text
    end.set()
    browser.get("/doctor")
    assert "Looking for what is wrong…" not in browser.get("/").text


def test_hub_starts_no_program_of_an_agent(make_plane: MakePlane, signed_in: SignIn, tmp_path: Path) -> None:
    trace = tmp_path / "started"
    plane = make_plane(StartsPlugin(trace))
    Manifest(plane.home, agents={"grok": ()}).save()
    assert "Grok is connected" in signed_in(plane).get("/doctor").text
    assert not trace.exists()
    list(examine(plane.settings, plane.plugins))
    assert trace.exists()


def test_slow_look_does_not_hold_the_page(plane: Plane, signed_in: SignIn, monkeypatch: pytest.MonkeyPatch) -> None:
    end = Flag()

    def slow(*_: object, **__: object) -> list[Finding]:
        end.wait(20)
        return [Finding(what="hub", state="wrong", detail="it is slow", remedy="wait")]

    monkeypatch.setattr(PAGE, "PATIENCE", 0.01)
    monkeypatch.setattr(PAGE.setup, "examine", slow)
    browser = signed_in(plane)
    page = browser.get("/doctor").text
    assert "Looking…" in page
    assert 'hx-trigger="every 2s"' in page
    end.set()
    monkeypatch.setattr(PAGE, "PATIENCE", 60)
    page = browser.get("/doctor").text
    assert "it is slow" in page
    assert "Looking…" not in page


def test_one_look_at_a_time_and_the_last_one_is_kept() -> None:
    started, end = list[int](), Flag()

    def look() -> list[Finding]:
        started.append(1)
        end.wait(20)
        return []

    looks = Looks(look)
    for _ in range(3):
        looks.start()
    assert looks.last(0) is None
    end.set()
    first = looks.last(20)
    assert first is not None
    assert looks.last(0) == first
    assert len(started) == 1
