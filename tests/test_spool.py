"""Events and sources: what agents deliver waits on disk, becomes operations once, and is lost for no failure."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from memory_plane import Plane, Plugin, hookimpl, spool
from memory_plane.errors import StoreError
from memory_plane.types import AgentInfo, Event, Ingested, Mention, Operation, Poll, new_node_id

MakePlane = Callable[..., Plane]

AT = datetime(2026, 3, 14, 9, tzinfo=UTC)
DEEP = b"[" * 100_000
WRONG = (
    b'{"agent": ["x"], "name": "said", "payload": {}}',
    b'{"agent": "wire", "name": 7, "payload": {}}',
    b'{"agent": "wire", "name": "said", "payload": [1]}',
)


def snippets(plane: Plane, query: str) -> list[str]:
    return [hit.snippet for hit in plane.recall(query, limit=50).hits]


class WirePlugin(Plugin):
    """Speaks for an agent whose events and source hold texts."""

    agents = (AgentInfo(id="wire"),)
    source: tuple[str, ...] = ()

    @hookimpl
    def ingest(self, cue: Poll | Event) -> Ingested | None:
        if isinstance(cue, Event):
            return Ingested(operations=tuple(wired(text) for text in cue.payload["texts"]))
        place = int(cue.cursor or 0)
        new = self.source[place:]
        return Ingested(operations=tuple(map(wired, new)), cursor=str(place + len(new))) if new else None


def wired(text: str) -> Operation:
    """An operation as a plugin may make it: not yet checked."""
    return Operation(id=new_node_id(text, Mention(text="", type="", start=0, end=0, confidence=1)), op="thought",
                     agent="wire", created_at=AT, body={"text": text})  # fmt: skip


def test_events_wait_on_disk_and_become_operations_once(make_plane: MakePlane) -> None:
    plane = make_plane(WirePlugin())
    plane.spool(Event(agent="wire", name="said", payload={"texts": ["Ann likes tea", "password=hunter2-Zx81!"]}))
    plane.spool(Event(agent="wire", name="said", payload={"texts": ["Ann likes tea"]}))
    assert plane.status().spooled == 2
    assert all("hunter2" not in path.read_text("utf-8") for path in (plane.home / "spool").iterdir())
    report = plane.ingest()
    assert (report.events, report.stored, report.failures) == (2, 2, ())
    assert plane.status().spooled == 0
    assert snippets(plane, "tea") == ["Ann likes tea"]
    assert plane.ingest().events == 0


def test_half_a_character_in_an_event_is_no_reason_to_lose_it(make_plane: MakePlane) -> None:
    plane = make_plane(WirePlugin())
    plane.spool(Event(agent="wire", name="said", payload={"texts": ["Ann likes tea \ud83d"], "cut": "half \udc00"}))
    assert plane.ingest().stored == 1
    assert snippets(plane, "tea") == ["Ann likes tea ?"]


def test_event_that_its_plugin_fails_on_is_kept(make_plane: MakePlane) -> None:
    plane = make_plane(WirePlugin(), strict=False)
    plane.spool(Event(agent="wire", name="said", payload={"words": []}))
    report = plane.ingest()
    assert report.events == 0
    assert "plugin 'wire' failed in 'ingest'" in report.failures[0]
    assert plane.status().spooled == 1


def test_event_that_its_plugin_never_takes_is_set_aside(make_plane: MakePlane) -> None:
    plane = make_plane(WirePlugin(), strict=False)
    plane.spool(Event(agent="wire", name="said", payload={"words": []}))
    for _ in range(spool.MAX_TRIES):
        assert plane.status().spooled == 1
        plane.ingest()
    assert plane.status().spooled == 0
    assert [path.suffix for path in (plane.home / "spool").iterdir()] == [".bad"]


def test_event_of_an_agent_without_a_plugin_waits_for_it(home: Path, make_plane: MakePlane) -> None:
    with make_plane() as plane:
        plane.spool(Event(agent="wire", name="said", payload={"texts": ["Ann likes tea"]}))
        assert plane.ingest().events == 0
        assert plane.status().spooled == 1
    assert make_plane(WirePlugin()).ingest().stored == 1


def test_event_is_kept_while_the_store_is_locked(make_plane: MakePlane) -> None:
    plane = make_plane(WirePlugin(), timeout=0.05)
    plane.spool(Event(agent="wire", name="said", payload={"texts": ["Ann likes tea"]}))
    with closing(sqlite3.connect(plane.home / "memory.db", isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(StoreError, match="held it locked"):
            plane.ingest()
    assert plane.status().spooled == 1
    assert plane.ingest().stored == 1
    assert snippets(plane, "tea") == ["Ann likes tea"]


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b'{"agent": "wire"}', b"\xff\xfe", DEEP, *WRONG])
def test_file_that_is_no_event_is_set_aside(make_plane: MakePlane, content: bytes) -> None:
    plane = make_plane(WirePlugin())
    plane.spool(Event(agent="wire", name="said", payload={"texts": ["Ann likes tea"]}))
    (plane.home / "spool" / "0.json").write_bytes(content)
    assert plane.ingest().events == 1
    assert [path.name for path in (plane.home / "spool").iterdir()] == ["0.bad"]


def test_folder_in_the_spool_is_no_event(make_plane: MakePlane) -> None:
    plane = make_plane(WirePlugin())
    (plane.home / "spool" / "0.json").mkdir(parents=True)
    plane.spool(Event(agent="wire", name="said", payload={"texts": ["Ann likes tea"]}))
    assert plane.ingest().events == 1
    assert plane.status().spooled == 0


def test_source_is_read_on_from_its_cursor(make_plane: MakePlane) -> None:
    plugin = WirePlugin()
    plane = make_plane(plugin)
    assert plane.ingest().stored == 0
    plugin.source = ("Ann likes tea", "Bob likes milk")
    report = plane.ingest()
    assert (report.polled, report.stored) == (1, 2)
    assert plane.ingest().stored == 0
    plugin.source = (*plugin.source, "Carl likes water")
    assert plane.ingest().stored == 1
    assert snippets(plane, "likes") == ["Carl likes water", "Bob likes milk", "Ann likes tea"]


def test_cursor_stands_still_while_the_store_is_locked(make_plane: MakePlane) -> None:
    plugin = WirePlugin()
    plugin.source = ("Ann likes tea",)
    plane = make_plane(plugin, timeout=0.05)
    with closing(sqlite3.connect(plane.home / "memory.db", isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(StoreError, match="held it locked"):
            plane.ingest()
    assert plane.ingest().stored == 1


def test_operation_that_is_refused_does_not_hold_up_the_others(make_plane: MakePlane) -> None:
    plane = make_plane(WirePlugin())
    plane.spool(Event(agent="wire", name="said", payload={"texts": ["", "Ann likes tea", "x" * 1_000_001]}))
    assert plane.ingest().stored == 1
    assert snippets(plane, "tea") == ["Ann likes tea"]


def test_event_keeps_the_time_at_which_it_came(home: Path) -> None:
    before = datetime.now(UTC)
    path = spool.put(home, Event(agent="muse", name="message", payload={"a": 1}))
    path = path.rename(path.with_name(f"{path.stem}.2.json"))
    ((_, event),) = spool.read(home)
    assert event is not None and event.at is not None
    assert before - timedelta(milliseconds=1) <= event.at <= datetime.now(UTC)
    path.rename(path.with_name("by hand.json"))
    ((_, event),) = spool.read(home)
    assert event is not None and event.at is None
