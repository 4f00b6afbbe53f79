"""Server-sent events, over a real server: a test client would wait for the end of a stream that has none."""

from __future__ import annotations

import json
import socket
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from queue import Queue
from threading import Thread
from time import monotonic, time
from typing import TYPE_CHECKING, Any

import httpx
import pytest
import uvicorn

from memory_plane import Plane
from memory_plane.access import agent_token, session
from memory_plane.surfaces import events
from memory_plane.surfaces.api import create_app

if TYPE_CHECKING:
    from memory_plane.testing import MakePlane

SECONDS = 30
TOKEN = "t" * 43
TRUSTED = {"authorization": f"Bearer {TOKEN}"}

Event = dict[str, Any]
Stream = Iterator[Event]


class Live:
    """A hub on a port of its own, and what is needed to end it."""

    def __init__(self, plane: Plane, token: str | Callable[[], str | None] = TOKEN) -> None:
        self.listener = socket.create_server(("127.0.0.1", 0))
        port = self.listener.getsockname()[1]
        self.app = create_app(plane, token=token, port=port)
        config = uvicorn.Config(self.app, log_config=None, ws="none", timeout_graceful_shutdown=SECONDS)
        self.server = uvicorn.Server(config)
        self.thread = Thread(target=self.server.run, kwargs={"sockets": [self.listener]})
        self.http = httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=SECONDS, trust_env=False)

    def __enter__(self) -> Live:
        self.thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.end()
        self.http.close()
        self.listener.close()
        assert not self.thread.is_alive()

    def end(self) -> None:
        self.server.should_exit = True
        self.app.state.end_streams()
        self.thread.join(SECONDS)

    @contextmanager
    def events(self, path: str = "/api/events", **headers: str) -> Iterator[Stream]:
        with self.http.stream("GET", path, headers={**TRUSTED, **headers}) as answer:
            assert answer.status_code == 200
            assert answer.headers["content-type"].startswith("text/event-stream")
            yield _events(answer)


def _events(answer: httpx.Response) -> Stream:
    event: Event = {}
    for line in answer.iter_lines():
        name, _, value = line.partition(": ")
        if line:
            event[name or "comment"] = json.loads(value) if name == "data" else value
        elif event:
            yield event
            event = {}


@pytest.fixture
def hub(plane: Plane) -> Iterator[Live]:
    with Live(plane) as live:
        yield live


def test_each_operation_is_told_without_its_text(hub: Live, plane: Plane) -> None:
    with hub.events() as stream:
        ready = next(stream)
        assert (ready["event"], ready["data"]) == ("ready", {"store": plane.store_id})
        posted = plane.post("the pelican is in the attic", agent="muse", kind="question", project="secret plan")
        told = next(stream)
        assert (told["event"], told["id"]) == ("operation", posted.id)
        assert set(told["data"]) == {"id", "op", "agent", "created_at", "kind", "target"}
        assert told["data"] | {"created_at": ""} == {
            "id": posted.id,
            "op": "thought",
            "agent": "muse",
            "created_at": "",
            "kind": "question",
            "target": None,
        }
        resolved = plane.resolve(posted.id, agent="grok", note="it flew away")
        told = next(stream)
        assert (told["id"], told["data"]["op"], told["data"]["target"]) == (resolved.id, "resolve", posted.id)
        assert "pelican" not in str(told)


@contextmanager
def calls(hub: Live) -> Iterator[Stream]:
    cookie = session(TOKEN, int(time()) + SECONDS)
    with hub.events("/live", authorization="", cookie=f"memory_plane_{hub.http.base_url.port}={cookie}") as stream:
        yield stream


def test_page_is_called_to_look_anew_when_the_memory_changes(hub: Live, plane: Plane, make_plane: MakePlane) -> None:
    other = make_plane()
    with calls(hub) as stream:
        assert next(stream) == {"data": {}}
        plane.post("the pelican is in the attic", agent="muse")
        assert next(stream) == {"data": {}}
        other.post("the pelican flew away", agent="grok")
        assert next(stream) == {"data": {}}


def test_many_writes_are_few_calls_and_the_last_of_them_is_not_lost(hub: Live, plane: Plane) -> None:
    heard: Queue[float] = Queue()

    def listen(stream: Stream) -> None:
        with suppress(httpx.HTTPError):  # the hub ends
            for _ in stream:
                heard.put(monotonic())

    with calls(hub) as stream:
        reader = Thread(target=listen, args=(stream,))
        reader.start()
        began = heard.get(timeout=SECONDS)
        for number in range(100):
            plane.post(f"pelican {number}", agent="muse")
        last, times = monotonic(), [began]
        while times[-1] < last:  # a call after the last write shows all of them
            times.append(heard.get(timeout=SECONDS))
        hub.app.state.end_streams()
        reader.join(SECONDS)
    assert len(times) <= (times[-1] - began) / events.PAUSE + 2


def test_what_another_process_writes_is_told(hub: Live, make_plane: MakePlane) -> None:
    other = make_plane()
    with hub.events() as stream:
        next(stream)
        posted = other.post("hello", agent="muse")
        assert next(stream)["id"] == posted.id


def test_a_stream_goes_on_where_it_was_left(hub: Live, plane: Plane) -> None:
    ids = [plane.post(f"thought {n}", agent="muse").id for n in range(5)]
    with hub.events(**{"last-event-id": ids[1]}) as stream:
        assert next(stream)["id"] == ids[1]
        assert [next(stream)["id"] for _ in range(3)] == ids[2:]
    with hub.events(f"/api/events?since={ids[3].upper()}") as stream:
        assert [next(stream)["id"].lower() for _ in range(2)] == ids[3:]
    with hub.events(f"/api/events?since={ids[0]}", **{"last-event-id": ids[3]}) as stream:
        assert [next(stream)["id"] for _ in range(2)] == ids[3:]


def test_everything_is_told_from_the_start_in_the_order_of_writing(hub: Live, plane: Plane) -> None:
    with hub.events() as stream:
        assert next(stream)["id"] == events.START
    ids = [plane.post(f"thought {n}", agent="muse").id for n in range(events.BATCH + 10)]
    with hub.events(**{"last-event-id": events.START}) as stream:
        assert next(stream)["event"] == "ready"
        assert [next(stream)["id"] for _ in ids] == ids


@pytest.mark.parametrize("position", ["6c1d9d4e-6c1f-5f6e-9f0e-2f5b8a3c7d10", "17", "x", "1.0", "-", "a" * 2000])
def test_an_unknown_position_has_the_reader_begin_anew(hub: Live, plane: Plane, position: str) -> None:
    before = plane.post("before", agent="muse")
    with hub.events(**{"last-event-id": position}) as stream:
        reset = next(stream)
        assert (reset["event"], reset["id"]) == ("reset", before.id)
        after = plane.post("after", agent="muse")
        assert next(stream)["id"] == after.id


def test_silence_is_broken_by_a_comment(hub: Live, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(events, "KEEP_ALIVE", 0.05)
    with hub.events() as stream:
        next(stream)
        assert next(stream) == {"comment": "still here"}


def test_streams_are_bounded_and_a_closed_one_makes_room(
    hub: Live, plane: Plane, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(events, "STREAMS", 3)
    with ExitStack() as opened:
        streams = [opened.enter_context(hub.events()) for _ in range(3)]
        assert [next(stream)["event"] for stream in streams] == ["ready"] * 3
        refused = hub.http.get("/api/events", headers=TRUSTED)
        assert (refused.status_code, refused.headers["retry-after"]) == (503, "5")
        assert hub.http.get("/api/pulse", headers=TRUSTED).status_code == 200
    for _ in range(1000):  # the server hears of a client that left between two requests
        if hub.http.get("/health").is_success and hub.app.state.open_streams() == 0:
            break
    with hub.events() as stream:
        assert next(stream)["event"] == "ready"


def test_open_streams_do_not_hold_the_hub(plane: Plane) -> None:
    with Live(plane) as hub, hub.events() as stream:
        next(stream)
        began = monotonic()
        hub.end()
        assert not hub.thread.is_alive()
        assert monotonic() - began < SECONDS / 2
        assert list(stream) == []


def test_a_renewed_token_ends_the_streams_of_the_old_one(plane: Plane) -> None:
    now = [TOKEN]
    with Live(plane, lambda: now[0]) as hub, hub.events() as stream:
        next(stream)
        now[0] = "n" * 43
        plane.post("after", agent="muse")
        assert len(list(stream)) <= 1


def test_an_agents_own_token_opens_a_stream(hub: Live) -> None:
    headers = {"authorization": f"Bearer {agent_token(TOKEN, 'muse')}"}
    with hub.http.stream("GET", "/api/events", headers=headers) as answer:
        assert next(_events(answer))["event"] == "ready"


def test_a_memory_that_cannot_be_read_is_told(hub: Live, home: Path, plane: Plane) -> None:
    plane.close()
    (home / "memory.db").write_bytes(b"no database at all" * 100)
    for name in ("memory.db-wal", "memory.db-shm"):
        (home / name).unlink(missing_ok=True)
    answer = hub.http.get("/api/events", headers=TRUSTED)
    assert (answer.status_code, answer.headers["retry-after"]) == (503, "5")
