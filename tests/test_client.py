"""Whatever is up, a write is kept and told honestly, and a read sees the writer's own words."""

from __future__ import annotations

import inspect
import socket
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Event, Thread
from typing import Any

import httpx
import pytest
from pydantic import SecretStr

from memory_plane import Client, Plane, client
from memory_plane.access import agent_token, read_token
from memory_plane.errors import HubUnreachable, Refused, StoreError
from memory_plane.remote import Hub
from memory_plane.settings import ClientSettings, HubSettings, Settings
from memory_plane.surfaces.mcp_server import answer
from memory_plane.surfaces.mcp_tools import CORE, by_name
from memory_plane.testing.hub import HubProcess

SECONDS = 60
PATIENT = ClientSettings(answer=20.0, retry_after=0.0)
READS = [
    "recall",
    "ask",
    "pulse",
    "items",
    "thoughts",
    "held",
    "facts",
    "graph",
    "nodes",
    "found",
    "reviews",
    "preview",
    "get",
    "find",
    "loss",
    "page",
    "status",
    "stats",
]

Open = Callable[..., Client]


@pytest.fixture
def open_client(home: Path) -> Iterator[Open]:
    """Open clients of the home; they are closed at the end."""
    opened: list[Client] = []

    def open_(
        url: str | None = None, token: str | None = None, waits: ClientSettings | None = None, **more: Any
    ) -> Client:
        hub = HubSettings(url=url, token=SecretStr(token) if token else None)
        opened.append(Client(Settings(home=home, hub=hub, client=waits or PATIENT, **more)))
        return opened[-1]

    yield open_
    for one in opened:
        one.close()


def plane_of(hub: HubProcess) -> Plane:
    """Open what the hub has written."""
    return Plane(Settings(home=hub.home))


def texts(plane: Plane, agent: str | None = None) -> list[str]:
    """What was said, by one agent or by all, oldest first."""
    found = reversed(plane.thoughts(limit=500))
    return [thought.text for thought in found if agent in (None, thought.agent)]


# --- nothing but a database --------------------------------------------------------------------------------------


def test_without_a_hub_it_is_the_database(home: Path, open_client: Open) -> None:
    mine = open_client()
    receipt = mine.post("Ann likes tea", agent="muse")
    assert receipt.state == "stored"
    assert mine.post("Ann likes tea", agent="muse", id=receipt.id).state == "duplicate"
    assert mine.thoughts()[0].id == receipt.id
    assert not list(home.glob("outbox*"))


def test_locked_database_queues_and_the_next_call_sends(home: Path, open_client: Open) -> None:
    mine = open_client(timeout=0.1)
    assert mine.post("first", agent="muse").state == "stored"
    with closing(sqlite3.connect(home / "memory.db", isolation_level=None)) as holder:
        holder.execute("BEGIN IMMEDIATE")
        receipt = mine.post("second", agent="muse")
        assert (receipt.state, receipt.detail) == ("queued", "1 waiting")
        assert mine.trouble is not None
        assert "locked" in mine.trouble
        assert [hit.id for hit in mine.recall("second").hits] == [receipt.id]
        assert mine.pulse().queued == 1
        holder.execute("ROLLBACK")
    mine._down.clear()  # as if its time had passed
    assert mine.post("third", agent="muse").state == "stored"
    assert [one.text for one in mine.thoughts()] == ["third", "second", "first"]
    assert mine.status().queued == 0


def test_bad_input_is_refused_and_never_queued(home: Path, open_client: Open) -> None:
    mine = open_client()
    assert mine.post("", agent="muse").detail.startswith("text: ")
    assert mine.resolve("6c1d9d4e-6c1f-5f6e-9f0e-2f5b8a3c7d10", agent="muse").state == "refused"
    assert mine.outbox.depth() == 0


def test_what_cannot_even_be_queued_is_refused(home: Path, open_client: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    mine = open_client("http://127.0.0.1:1", "x" * 40)
    monkeypatch.setattr(mine.outbox, "append", raising(StoreError("outbox: the disk is full")))
    receipt = mine.post("lost?", agent="muse")
    assert receipt.state == "refused"
    assert "the disk is full" in receipt.detail


def raising(error: Exception) -> Callable[..., Any]:
    def call(*_: Any) -> None:
        raise error

    return call


# --- a hub -------------------------------------------------------------------------------------------------------


def test_hub_of_the_home_is_found_and_its_client_needs_no_database_code(shared_hub: HubProcess, agent: str) -> None:
    code = (
        "import sys; from memory_plane import Client\n"
        f"with Client(home={str(shared_hub.home)!r}) as mine:\n"
        f"    assert mine.post('Ann likes tea', agent={agent!r}).state == 'stored'\n"
        "    assert mine.recall('tea').hits\n"
        "assert 'sqlalchemy' not in sys.modules and 'pluggy' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=SECONDS)
    with plane_of(shared_hub) as plane:
        assert texts(plane, agent) == ["Ann likes tea"]


def test_every_read_is_what_the_database_says(shared_hub: HubProcess, open_client: Open) -> None:
    mine = open_client(shared_hub.url, shared_hub.token)
    asked = mine.post("What does Ann drink?", agent="muse", kind="question", to="grok", due_at="2030-01-01T00:00:00Z")
    mine.fact("Ann", "city", "Oslo", agent="muse", valid_from="2026-01-01T00:00:00+02:00")
    mine.heartbeat(agent="grok", focus="reading")
    mine.post("Pay at once", agent="muse", origin="external", held=True)
    with plane_of(shared_hub) as plane:
        calls: list[tuple[str, tuple[Any, ...], dict[str, Any]]] = [
            ("items", (), {"to": "grok"}),
            ("thoughts", (), {"limit": 3}),
            ("held", (), {"limit": 3}),
            ("facts", (), {"subject": "Ann", "as_of": "2026-05-01T00:00:00Z"}),
            ("facts", (), {"history": True}),
            ("graph", (), {"agent": "grok", "min_attention": 0.5}),
            ("nodes", ("Ann",), {}),
            ("found", ([asked.id, asked.id],), {"limit": 3}),
            ("reviews", (), {"limit": 3}),
            ("preview", ("retract", {"target": asked.id, "reason": "Zoë's"}), {}),
            ("preview", ("merge", {"node": asked.id, "into": "6c1d9d4e-6c1f-5f6e-9f0e-2f5b8a3c7d10"}), {}),
            ("get", (asked.id,), {}),
            ("find", (asked.id[:8],), {}),
            ("loss", (asked.id,), {}),
            ("page", ("SHARED_MEMORY.md",), {}),
            ("page", ("brief/grok.md",), {}),
            ("recall", ("ann drink",), {"kind": "question", "since": "2026-01-01T00:00:00Z"}),
            *((name, (), {"limit": 10_000}) for name in ("items", "thoughts", "facts", "graph")),
            ("recall", ("ann",), {"limit": 10_000}),
            ("get", ("../status",), {}),
            ("stats", (), {}),
        ]
        for name, words, filters in calls:
            found, expected = getattr(mine, name)(*words, **filters), getattr(plane, name)(*words, **filters)
            if name == "stats":
                assert found.operations_by_agent == expected.operations_by_agent
            else:
                assert found == expected, name
        pulse = plane.pulse()
        assert (mine.pulse().items, mine.pulse().heartbeats) == (pulse.items, pulse.heartbeats)
        assert mine.status().operations == plane.status().operations
    assert mine.get("6c1d9d4e-6c1f-5f6e-9f0e-2f5b8a3c7d10") is None
    for wrong in (lambda: mine.recall("x", kind="song"), lambda: mine.page("../token"), lambda: mine.page("token")):
        with pytest.raises(Refused):
            wrong()
    for name in ("items", "thoughts", "facts", "graph"):
        for limit in (0, 10_001):
            for memory in (mine, plane):
                with pytest.raises(Refused, match="limit: "):
                    getattr(memory, name)(limit=limit)


def test_hub_refuses_what_makes_no_sense_and_it_is_not_queued(shared_hub: HubProcess, open_client: Open) -> None:
    mine = open_client(shared_hub.url, shared_hub.token)
    receipt = mine.resolve("6c1d9d4e-6c1f-5f6e-9f0e-2f5b8a3c7d10", agent="muse")
    assert receipt.state == "refused"
    assert receipt.detail.startswith("item: ")
    assert mine.outbox.depth() == 0


def test_half_a_character_is_refused_by_a_hub_as_by_a_database(shared_hub: HubProcess, open_client: Open) -> None:
    mine = open_client(shared_hub.url, shared_hub.token)
    mine.recall("\ud800")
    assert not mine.ask("Who works at \ud800?").known
    for read in (lambda: mine.facts(subject="\ud800"), lambda: mine.graph(about="\ud800"), lambda: mine.page("\ud800")):
        with pytest.raises(Refused, match="half a character"):
            read()


@pytest.mark.parametrize(("name", "given"), [("recall", {"query": "tea", "yet_to_come": 2}), ("yet_to_come", {})])
def test_hub_that_is_older_than_who_asks_is_named_as_the_reason(
    shared_hub: HubProcess, name: str, given: dict[str, Any]
) -> None:
    with Hub(shared_hub.url, shared_hub.token) as hub, pytest.raises(Refused, match="older than this command"):
        hub.ask(name, given)
    with Hub(shared_hub.url, shared_hub.token) as hub:
        assert hub.ask("get", {"id": "6c1d9d4e-6c1f-5f6e-9f0e-2f5b8a3c7d10"}) is None
        with pytest.raises(Refused) as refused:
            hub.ask("recall", {"query": "tea", "limit": -1})
    assert "older" not in str(refused.value)


def test_agents_token_writes_as_that_agent_and_says_what_is_not_allowed(
    shared_hub: HubProcess, open_client: Open, agent: str
) -> None:
    mine = open_client(shared_hub.url, agent_token(shared_hub.token, agent))
    kept = mine.post("Ann likes tea", agent=agent)
    assert kept.state == "stored"
    assert mine.recall("tea").hits
    for foreign in (mine.post("Bob likes tea", agent="grok"), mine.forget(kept.id, agent=agent)):
        assert foreign.state == "refused"
        assert "token" in foreign.detail
    assert (mine.outbox.depth(), mine.outbox.dead()) == (0, [])
    assert mine.post("Ann likes coffee", agent=agent).state == "stored"


def test_reads_of_client_and_plane_are_called_alike() -> None:
    for name in READS:
        assert inspect.signature(getattr(Client, name)) == inspect.signature(getattr(Plane, name)), name


# --- the hub goes and comes --------------------------------------------------------------------------------------


def test_hub_reboots_while_an_agent_logs_two_decisions_and_a_fact(
    hub: HubProcess, home: Path, open_client: Open
) -> None:
    mine = open_client(hub.url, hub.token)
    assert mine.post("Before", agent="muse").state == "stored"
    hub.kill()
    said = [
        mine.post("We use PostgreSQL", agent="muse", kind="decision"),
        mine.post("We deploy on Friday", agent="muse", kind="decision"),
        mine.fact("website", "deploy_day", "Friday", agent="muse"),
    ]
    assert [(one.state, one.detail) for one in said] == [("queued", f"{n} waiting") for n in (1, 2, 3)]
    assert [fact.value for fact in mine.facts(subject="website")] == ["Friday"]
    assert [one.text for one in mine.thoughts(limit=2)] == ["We deploy on Friday", "We use PostgreSQL"]
    assert mine.recall("postgresql").hits[0].id == said[0].id
    assert mine.pulse().thoughts[-1].text == "Before"  # from the copy that was made while the hub was up
    hub.start()
    assert mine.flush() == 0
    with plane_of(hub) as plane:
        assert texts(plane) == ["Before", "We use PostgreSQL", "We deploy on Friday"]
        assert [fact.id for fact in plane.facts()] == [said[2].id]
        assert plane.status().operations == 4
    assert not (home / "memory.db").exists()


def test_what_waits_is_sent_without_another_call(
    hub: HubProcess, open_client: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(client, "FLUSH_EVERY", 0.05)
    mine = open_client(hub.url, hub.token)
    hub.stop()
    assert mine.post("later", agent="muse").state == "queued"
    sent = Event()
    flush = mine.flush

    def watched() -> int:
        waiting = flush()
        if not waiting:
            sent.set()
        return waiting

    monkeypatch.setattr(mine, "flush", watched)
    hub.start()
    assert sent.wait(SECONDS)
    with plane_of(hub) as plane:
        assert texts(plane) == ["later"]


def test_open_items_are_changed_by_queued_words(hub: HubProcess, open_client: Open) -> None:
    mine = open_client(hub.url, hub.token)
    kept, done, given, hidden, wrong = (
        mine.post(f"Send {n}", agent="muse", kind="commitment") for n in ("a", "b", "c", "d", "e")
    )
    mine._copied = float("-inf")
    mine.items()
    hub.stop()
    mine.resolve(done.id, agent="muse")
    mine.assign(given.id, "grok", agent="muse")
    mine.snooze(hidden.id, "2099-01-01T00:00:00Z", agent="muse")
    mine.retract(wrong.id, agent="muse")
    mine.pin(given.id, agent="muse")
    assert [(one.id, one.to) for one in mine.items()] == [(given.id, "grok"), (kept.id, None)]
    assert [one.id for one in mine.items(to="grok")] == [given.id]
    assert wrong.id not in [one.id for one in mine.thoughts()]
    assert mine.find(kept.id[:8]) == [kept.id]


def test_items_of_one_memory_are_changed_by_queued_words(
    hub: HubProcess, open_client: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    hub.stop()
    monkeypatch.setenv("MEMORY_PLANE_PLUGINS__ENABLED", "local")
    hub.start()
    mine = open_client(hub.url, hub.token)
    two = [mine.post(f"TODO:\n- {verb} Ann\n- {verb} Bob\n- {verb} Eve", agent="muse").id for verb in ("Call", "Pay")]
    mine._copied = float("-inf")
    first, second, third = (one.id for one in mine.items() if one.memory == two[0])
    hub.stop()
    mine.resolve(first, agent="muse")
    mine.assign(second, "grok", agent="muse")
    mine.snooze(two[1], "2099-01-01T00:00:00Z", agent="muse")
    assert [(one.id, one.to) for one in mine.items()] == [(second, "grok"), (third, None)]
    assert mine.find(f"{third[:8]}.{third.partition('.')[2]}") == [third]
    hub.start()
    mine.flush()
    mine._copied = float("-inf")
    assert [(one.id, one.to) for one in mine.items()] == [(second, "grok"), (third, None)]
    hub.stop()
    mine.retract(two[0], agent="muse")
    assert mine.items() == []


def test_pulse_page_of_a_machine_without_a_database_is_that_of_the_copy_with_what_waits(
    hub: HubProcess, home: Path, open_client: Open
) -> None:
    mine = open_client(hub.url, hub.token)
    mine.post("Ann likes tea", agent="muse")
    hub.kill()
    mine.post("Bob likes milk", agent="grok")
    page = mine.page("PULSE.md")
    assert "Ann likes tea" in page
    assert "Bob likes milk" in page
    assert "Waiting to be stored: 1, " in page
    assert mine.trouble is not None
    assert not (home / "memory.db").exists()


def test_read_that_nothing_can_answer_says_why(open_client: Open) -> None:
    mine = open_client("http://127.0.0.1:1", "x" * 40)
    with pytest.raises(HubUnreachable, match="does not answer"):
        mine.pulse()
    mine.post("something", agent="muse")
    assert mine.pulse().thoughts[0].text == "something"
    with pytest.raises(HubUnreachable):
        mine.graph()


def test_dead_hub_costs_nothing_after_the_first_failure(open_client: Open) -> None:
    with closing(socket.create_server(("127.0.0.1", 0))) as silent:
        silent.settimeout(0)
        mine = open_client(
            f"http://127.0.0.1:{silent.getsockname()[1]}", "x" * 40, ClientSettings(answer=0.05, retry_after=600.0)
        )
        for n in range(5):
            assert mine.post(f"word {n}", agent="muse").state == "queued"
        first, _ = silent.accept()
        first.close()
        with pytest.raises(BlockingIOError):
            silent.accept()


# --- who answers there -------------------------------------------------------------------------------------------


class Stranger(BaseHTTPRequestHandler):
    """Says yes to everything, relays what it can to the true hub, and remembers what it was sent."""

    heard: list[bytes]
    relay: str | None = None

    def do_GET(self) -> None:
        self.answer()

    def do_POST(self) -> None:
        self.answer()

    def answer(self) -> None:
        body = self.rfile.read(int(self.headers.get("content-length", 0)))
        self.heard.append(f"{self.path}\n{self.headers}\n".encode() + body)
        said = b'{"status":"ok","proof":"made up"}'
        if self.relay is not None:
            said = httpx.get(self.relay + self.path, trust_env=False, timeout=SECONDS).content
        self.send_response(200)
        self.send_header("content-length", str(len(said)))
        self.end_headers()
        self.wfile.write(said)

    def log_message(self, *_: Any) -> None:
        """Keep the output of the tests clean."""


@pytest.fixture
def stranger() -> Iterator[tuple[str, type[Stranger]]]:
    handler = type("Handler", (Stranger,), {"heard": []})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    thread = Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}", handler
    server.shutdown()
    server.server_close()
    thread.join(SECONDS)


def test_stranger_on_the_port_hears_neither_token_nor_text(
    stranger: tuple[str, type[Stranger]], open_client: Open
) -> None:
    url, handler = stranger
    token = "a-token-that-nobody-else-should-ever-see"
    mine = open_client(url, token)
    assert mine.post("for our ears only", agent="muse").state == "queued"
    assert mine.trouble is not None
    assert "not our hub" in mine.trouble
    heard = b"".join(handler.heard)
    assert heard
    assert token.encode() not in heard
    assert b"ears" not in heard


def test_stranger_cannot_relay_the_proof_of_the_true_hub(
    stranger: tuple[str, type[Stranger]], shared_hub: HubProcess, open_client: Open
) -> None:
    url, handler = stranger
    handler.relay = shared_hub.url
    mine = open_client(url, shared_hub.token)
    assert mine.post("for our ears only", agent="muse").state == "queued"
    assert b"ears" not in b"".join(handler.heard)


def test_hub_that_does_not_know_our_token_gets_nothing(shared_hub: HubProcess, open_client: Open, agent: str) -> None:
    mine = open_client(shared_hub.url, "x" * 43)
    assert mine.post("not for you", agent=agent).state == "queued"
    with plane_of(shared_hub) as plane:
        assert texts(plane, agent) == []


def test_new_token_of_the_hub_is_picked_up(hub: HubProcess) -> None:
    with Client(Settings(home=hub.home, client=PATIENT)) as mine:
        assert mine.post("one", agent="muse").state == "stored"
        assert read_token(hub.home) == hub.token
        hub.stop()
        (hub.home / "token").unlink()
        hub.start()
        assert mine.post("two", agent="muse").state == "stored"
        assert mine._plane is None


# --- an agent over MCP -------------------------------------------------------------------------------------------


def test_agent_whose_hub_is_away_is_told_that_its_words_wait(home: Path, open_client: Open) -> None:
    mine = open_client("http://127.0.0.1:1", "x" * 40)
    specs = by_name(CORE)
    said = answer(mine, "muse", specs["memory_post_thought"], {"text": "Ann likes tea"}).structured_content
    assert said is not None
    assert (said["state"], said["detail"]) == ("queued", "1 waiting")
    found = answer(mine, "muse", specs["memory_recall"], {"query": "tea"}).structured_content
    assert found is not None
    assert [hit["id"] for hit in found["hits"]] == [said["id"]]
    status = answer(mine, "muse", specs["memory_sync_status"], {}).structured_content
    assert status is not None
    assert (status["queued"], status["dead"]) == (1, 0)
    assert "does not answer" in status["offline"]
    assert not (home / "memory.db").exists()


def test_copy_for_offline_reads_loses_a_forgotten_text_with_the_answer(shared_hub: HubProcess, home: Path) -> None:
    mine = home / "elsewhere"
    settings = Settings.load(home=mine, hub={"url": shared_hub.url, "token": shared_hub.token})
    with Client(settings) as client:
        told = client.post("Zebulon hides the xylophone", agent="grok")
        client._copied = float("-inf")
        client.thoughts()
        assert "Zebulon" in (mine / "local-cache.json").read_text("utf-8")
        assert client.forget(told.id, agent="muse").detail.startswith("purged")
        assert "Zebulon" not in (mine / "local-cache.json").read_text("utf-8")
