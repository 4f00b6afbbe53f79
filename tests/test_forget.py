"""`forget`: no byte of the text is left in any file, nothing brings it back, and who still reads it is waited for."""

from __future__ import annotations

import json
import random
import socket
import sqlite3
import string
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from datetime import UTC, datetime, timedelta
from itertools import permutations
from pathlib import Path
from typing import Any

import pytest
from filelock import FileLock
from sqlalchemy import event

from memory_plane import Client, Plane, Plugin, database, hookimpl, purge, schema
from memory_plane.outbox import Outbox
from memory_plane.reports import Loss
from memory_plane.types import (
    AgentContext,
    Attention,
    Candidate,
    Classification,
    Event,
    Extraction,
    Item,
    Link,
    Memory,
    Mention,
    Node,
    Operation,
    Resolution,
    Routing,
    Snapshot,
    View,
    new_node_id,
)

MakePlane = Callable[..., Plane]
MakeOperation = Callable[..., Operation]

SECRET = "Zebulon Quartzmann hides the xylophone at Wumbletown"
TRACES = ("zebulon", "quartzmann", "xylophone", "wumbletown")
START = datetime(2026, 1, 5, 9, tzinfo=UTC)
UNKNOWN = "0b5c6b0e-7d53-4c7e-9f2b-2f6f6f0e9a11"


class EverythingPlugin(Plugin):
    """Puts words of the text wherever a plugin may put words: nodes, edges, items, reasons and a page of its own."""

    @hookimpl
    def extract(self, memory: Memory) -> Extraction:
        words = [(word, memory.text.index(word)) for word in ("Zebulon", "Wumbletown", "Alice") if word in memory.text]
        mentions = tuple(
            Mention(text=word, type="Person", start=at, end=at + len(word), confidence=0.9) for word, at in words
        )
        return Extraction(mentions=mentions, items=(Item(kind="commitment", owner=None, to=None, object=memory.text),))

    @hookimpl
    def classify(self, memory: Memory, found: Extraction, candidates: Sequence[Candidate]) -> Classification:
        known = {one.mention: one.node.id for one in candidates}
        ids = [known.get(one, new_node_id(memory.id, one)) for one in found.mentions]
        resolutions = tuple(
            Resolution(mention=one, node=id, probability=0.9) for one, id in zip(found.mentions, ids, strict=True)
        )
        links = tuple(Link(source=ids[0], relation="KNOWS", target=id, probability=0.8) for id in ids[1:])
        return Classification(resolutions=resolutions, links=links)

    @hookimpl
    def route(self, memory: Memory, nodes: Sequence[Node], agents: Sequence[AgentContext]) -> Routing:
        return Routing(attention=tuple(Attention(agent=one.id, score=0.9, reason=memory.text) for one in agents))

    @hookimpl
    def render(self, snapshot: Snapshot) -> Iterator[View]:
        text = "\n".join(thought.text for thought in snapshot.pulse().thoughts)
        yield View(path=Path("dossier", "all.md"), text=text)


def traces(home: Path, words: Sequence[str] = TRACES) -> list[tuple[str, str]]:
    """Read every byte below the home and return (file, word) where a word, or a longer part of one, is left."""
    found = []
    for path in home.rglob("*"):
        content = path.read_bytes().lower() if path.is_file() else b""
        # The index writes what a word shares with the one before it only once: so look for its end as well.
        found += [(path.name, word) for word in words if word.encode() in content or word[3:].encode() in content]
    return found


def fill(plane: Plane, count: int = 40) -> None:
    """Write enough around it that pages of the file are split and words share their beginnings."""
    for number in range(count):
        plane.post(f"Zebra {number} xylograph quartz wumble Alice {number}", agent="muse", kind="decision")


@contextmanager
def reader(plane: Plane) -> Iterator[None]:
    """Another process that reads one moment of the memory, for as long as this lasts."""
    assert plane.database.path is not None
    connection = sqlite3.connect(plane.database.path, isolation_level=None)
    try:
        connection.execute("BEGIN")
        connection.execute("SELECT count(*) FROM operations").fetchone()
        yield
    finally:
        connection.close()


# --- nothing is left ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("op", ["thought", "fact", "heartbeat", "held", "retracted", "long"])
def test_no_byte_of_a_forgotten_text_is_left_in_any_file(make_plane: MakePlane, home: Path, op: str) -> None:
    plane = make_plane(EverythingPlugin())
    fill(plane)
    match op:
        case "fact":
            told = plane.fact("Alice", "friend", SECRET, agent="grok", source=f"heard that {SECRET}")
        case "heartbeat":
            told = plane.heartbeat(agent="grok", focus=SECRET, project="Wumbletown")
        case "long":
            told = plane.post(f"{SECRET} " * 2000, agent="grok")
        case _:
            told = plane.post(SECRET, agent="grok", kind="commitment", to="muse", held=op == "held" or None)
    if op == "retracted":
        plane.retract(told.id, agent="muse", reason=f"{SECRET} is wrong")
    fill(plane)
    plane.render()
    assert traces(home)
    receipt = plane.forget(told.id, agent="muse")
    assert (receipt.state, receipt.detail) == ("stored", "purged here, not in backups that were made before")
    assert traces(home) == []
    assert plane.status().purging == 0
    assert schema.check(plane.database) == []


def test_hundred_scattered_texts_leave_no_byte_of_any_of_their_words(
    make_plane: MakePlane, operation: MakeOperation, home: Path
) -> None:
    plane, drawn = make_plane(), random.Random(7)
    plane.database.close()
    # As SQLite is built elsewhere: what is deleted or moved stays in the bytes until something is written over it.
    event.listen(plane.database.engine, "connect", lambda driver, _: driver.execute("PRAGMA secure_delete = OFF"))
    words = ["qz" + "".join(drawn.choices("bcdfghkm", k=10)) for _ in range(100)]
    usual = ["".join(drawn.choices(string.ascii_lowercase, k=drawn.randint(3, 9))) for _ in range(900)]
    batch = [operation(text=f"{word} {' '.join(drawn.choices(usual, k=drawn.choice([5, 60, 900])))}") for word in words]
    others = [operation(text=" ".join(drawn.choices(usual, k=30))) for _ in range(300)]
    mixed = drawn.sample([*batch, *others], k=400)
    for start in range(0, 400, 20):
        plane.apply_all(mixed[start : start + 20])
    assert len({word for _, word in traces(home, words)}) == 100
    plane.apply_all([operation("forget", target=one.id) for one in batch])
    assert traces(home, words) == []
    assert schema.check(plane.database) == []


def test_what_was_said_about_a_forgotten_memory_goes_with_it(plane: Plane, home: Path) -> None:
    item = plane.post("Who has the key?", agent="grok", kind="question")
    said = [
        plane.assign(item.id, "Zebulon", agent="muse"),
        plane.resolve(item.id, agent="muse", status="answered", note=SECRET),
        plane.retract(item.id, agent="muse", reason=SECRET),
    ]
    plane.forget(item.id, agent="muse")
    assert traces(home) == []
    assert [line for line in plane.export() if item.id not in line] == []
    (kept,) = map(json.loads, plane.export())
    assert kept["op"] == "forget"
    assert [plane.get(one.id)["op"] for one in (item, *said)] == ["forgotten"] * 4  # type: ignore[index]


def test_name_that_others_speak_of_stays_and_is_called_what_they_call_it(make_plane: MakePlane) -> None:
    plane = make_plane(EverythingPlugin())
    first = plane.post("Zebulon knows Alice", agent="grok")
    plane.post("Alice met nobody", agent="grok")
    plane.forget(first.id, agent="muse")
    assert [node.name for node in plane.graph(about="Alice").nodes] == ["Alice"]
    assert plane.graph(about="Zebulon").nodes == ()
    assert plane.graph().edges == ()


def test_value_before_a_forgotten_one_is_current_again(plane: Plane) -> None:
    plane.fact("Ann", "city", "Rome", agent="muse", created_at=START)
    second = plane.fact("Ann", "city", "Wumbletown", agent="muse", created_at=START + timedelta(hours=1))
    plane.forget(second.id, agent="muse")
    assert [(fact.value, fact.superseded_at) for fact in plane.facts(history=True)] == [("Rome", None)]


def test_heartbeat_before_a_forgotten_one_counts_again(plane: Plane) -> None:
    plane.heartbeat(agent="grok", focus="tea", created_at=START)
    second = plane.heartbeat(agent="grok", focus=SECRET, created_at=START + timedelta(hours=1))
    plane.forget(second.id, agent="muse")
    assert [beat.focus for beat in plane.pulse().heartbeats if beat.agent == "grok"] == ["tea"]
    assert dict(plane.status().agents)["grok"] == START


def test_page_of_an_agent_that_nobody_speaks_of_any_more_is_made_anew(plane: Plane, home: Path) -> None:
    told = plane.post(SECRET, agent="grok", kind="question", to="stranger")
    plane.render()
    assert "Zebulon" in (home / "brief" / "stranger.md").read_text("utf-8")
    plane.forget(told.id, agent="muse")
    assert (home / "brief" / "stranger.md").read_text("utf-8").startswith("Nothing new")
    assert traces(home) == []


def test_half_written_page_of_a_killed_process_goes(plane: Plane, home: Path) -> None:
    told = plane.post(SECRET, agent="grok")
    (home / "brief").mkdir(exist_ok=True)
    for folder in (home, home / "brief"):
        (folder / ".PULSE.md.abc.view-tmp").write_text(SECRET[:30], "utf-8")
    plane.forget(told.id, agent="muse")
    assert traces(home) == []


# --- other files of the home -------------------------------------------------------------------------------------


@pytest.mark.parametrize("text", [SECRET, 'He said "Wumbletown\u00e9", \U0001f511\nand left', "Wumbletown"])
def test_waiting_event_loses_the_text_and_keeps_the_rest(plane: Plane, home: Path, text: str) -> None:
    told = plane.post(text, agent="grok")
    plane.spool(Event(agent="nobody", name="Stop", payload={"prompt": text, "raw": json.dumps({"a": text}), "b": "x"}))
    shim = home / "spool" / "00000000000000000001-abc.json"
    shim.write_text(json.dumps({"agent": "nobody", "name": "Stop", "payload": json.dumps({"p": text, "q": 1})}))
    bad = home / "spool" / "00000000000000000002-abc.bad"
    bad.write_bytes(b"\xff\x00" + json.dumps(text).encode() + b" torn")
    plane.forget(told.id, agent="muse")
    assert traces(home, ["wumbletown"]) == []
    events = [json.loads(path.read_bytes()) for path in sorted((home / "spool").glob("*.json"))]
    assert json.loads(events[0]["payload"])["q"] == 1
    assert events[1]["payload"]["b"] == "x"
    assert set(json.loads(events[1]["payload"]["raw"])["a"]) == {"*"}
    assert bad.read_bytes().endswith(b" torn")


def test_short_text_is_no_reason_to_cut_words_that_hold_it(plane: Plane, home: Path) -> None:
    told = plane.post("tea", agent="grok")
    plane.spool(Event(agent="nobody", name="Stop", payload={"prompt": "a steam engine", "whole": "tea"}))
    plane.forget(told.id, agent="muse")
    (event,) = (home / "spool").glob("*.json")
    assert json.loads(event.read_bytes())["payload"] == {"prompt": "a steam engine", "whole": "***"}


def test_log_in_which_a_plugin_repeated_the_text_loses_it(plane: Plane, home: Path) -> None:
    told = plane.post(SECRET, agent="grok")
    lines = f"before\nplugin 'x' failed: cannot parse {SECRET!r}\nafter\n"
    for name in ("memory-plane.log", "memory-plane.log.1", "failures.jsonl"):
        (home / name).write_text(lines, "utf-8")
    plane.forget(told.id, agent="muse")
    assert traces(home) == []
    assert (home / "memory-plane.log").read_text("utf-8") == lines.replace(SECRET, "*" * len(SECRET))


def test_link_out_of_the_home_is_not_followed(plane: Plane, home: Path, tmp_path: Path) -> None:
    outside = tmp_path / "diary.md"
    outside.write_text(SECRET, "utf-8")
    (home / "diary.md").symlink_to(outside)
    told = plane.post(SECRET, agent="grok")
    plane.forget(told.id, agent="muse")
    assert outside.read_text("utf-8") == SECRET


def test_queued_copy_and_dead_letter_go(plane: Plane, operation: MakeOperation, home: Path) -> None:
    told, other = operation(text=SECRET), operation(text="Ann likes tea")
    plane.apply(told)
    outbox = Outbox(home)
    outbox.append(told, operation("retract", target=told.id, reason=SECRET), other)
    plane.forget(told.id, agent="muse")
    assert traces(home) == []
    assert outbox.pending() == [other]


def test_text_that_waits_for_a_hub_that_is_away_leaves_the_queue_at_once(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with closing(socket.create_server(("127.0.0.1", 0))) as free:
        port = free.getsockname()[1]
    monkeypatch.setenv("MEMORY_PLANE_HUB_URL", f"http://127.0.0.1:{port}")
    monkeypatch.setenv("MEMORY_PLANE_HUB__TOKEN", "away")
    with Client(home=home) as client:
        told, other = client.post(SECRET, agent="grok"), client.post("Ann likes tea", agent="muse")
        receipt = client.forget(told.id, agent="muse")
        assert (receipt.state, receipt.detail) == ("queued", "2 waiting")
        assert [one.op for one in client.outbox.pending()] == ["thought", "forget"]
        assert client.outbox.pending()[0].id == other.id
        assert traces(home) == []


def test_copies_of_the_database_are_named(plane: Plane, home: Path) -> None:
    told = plane.post(SECRET, agent="grok")
    (home / "memory.db.0001.bak").write_bytes(b"")
    said = plane.forget(told.id, agent="muse").detail
    assert said == "purged here, not in backups that were made before; memory.db.0001.bak in the home may hold it"


# --- while somebody reads it -------------------------------------------------------------------------------------


def test_reader_of_the_old_text_keeps_the_purge_pending_until_a_later_write(
    plane: Plane, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(purge, "WAIT", 0.01)
    monkeypatch.setattr(purge, "RETRY", 0.0)
    told = plane.post(SECRET, agent="grok")
    with reader(plane):
        receipt = plane.forget(told.id, agent="muse")
        assert receipt.state == "stored"
        assert receipt.detail == "pending: a reader still holds the old text; it goes when that one is done"
        assert plane.recall("Zebulon").hits == ()
        assert "Zebulon" not in (home / "local-cache.json").read_text("utf-8")
        plane.post("Ann likes tea", agent="muse")
        assert plane.status().purging == 1
        assert {name for name, _ in traces(home)} <= {"memory.db", "memory.db-wal"}
    plane.post("Bob likes milk", agent="muse")
    assert plane.status().purging == 0
    assert traces(home) == []


@pytest.mark.parametrize("step", ["write", "ingest"])
def test_next_process_goes_on_with_what_is_pending(
    make_plane: MakePlane, home: Path, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    monkeypatch.setattr(purge, "WAIT", 0.01)
    plane = make_plane()
    told = plane.post(SECRET, agent="grok")
    with reader(plane):
        plane.forget(told.id, agent="muse")
    assert traces(home)
    later = make_plane()
    later.post("Ann likes tea", agent="muse") if step == "write" else later.ingest()
    assert later.status().purging == 0
    assert traces(home) == []


def test_page_that_cannot_be_written_keeps_the_purge_pending(make_plane: MakePlane, home: Path) -> None:
    plane = make_plane(timeout=0.1)
    told = plane.post(SECRET, agent="grok")
    plane.render()
    with FileLock(home / ".pages.lock"):
        assert plane.forget(told.id, agent="muse").detail.startswith("pending: the pages cannot be written: ")
        assert plane.status().purging == 1
    make_plane().ingest()
    assert traces(home) == []


def test_large_file_is_rewritten_by_way_of_the_disk(
    plane: Plane, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(database, "_FITS_INTO_MEMORY", 0)
    told = plane.post(f"{SECRET} " * 5000, agent="grok")
    before = plane.database.size()
    plane.forget(told.id, agent="muse")
    assert traces(tmp_path) == []
    assert plane.database.size() < before / 2


# --- nothing brings it back --------------------------------------------------------------------------------------


def tombstones(plane: Plane) -> list[tuple[Any, ...]]:
    with plane.database.reading() as connection:
        rows = connection.exec_driver_sql("SELECT hex(id), op, target, text, body FROM operations ORDER BY id").all()
    return [tuple(row) for row in rows]


@pytest.mark.parametrize("order", list(permutations(range(4))))
def test_log_is_the_same_whatever_comes_first(
    make_plane: MakePlane, operation: MakeOperation, home: Path, order: tuple[int, ...]
) -> None:
    told = operation(text=SECRET, kind="question", created_at=START, id=UNKNOWN)
    retract = operation("retract", target=UNKNOWN, reason=SECRET, created_at=START + timedelta(hours=1))
    resolve = operation("resolve", item=UNKNOWN, note=SECRET, created_at=START + timedelta(hours=2))
    forget = operation("forget", target=UNKNOWN, created_at=START + timedelta(hours=3))
    history = (told, retract, resolve, forget)
    plane = make_plane()
    for place in order:
        plane.apply(history[place])
    receipts = plane.apply_all(history)
    assert [receipt.state for receipt in receipts] == ["duplicate"] * 4
    assert traces(home) == []
    assert sorted(row[1] for row in tombstones(plane)) == ["forget", "forgotten", "forgotten", "forgotten"]
    assert {row[2:] for row in tombstones(plane) if row[1] == "forgotten"} == {(None, None, "{}")}
    assert [json.loads(line)["id"] for line in plane.export()] == [forget.id]
    assert schema.check(plane.database) == []


def test_replay_and_other_content_under_the_id_are_not_stored(plane: Plane, home: Path) -> None:
    told = plane.post(SECRET, agent="grok", created_at=START)
    plane.forget(told.id, agent="muse")
    detail = "it was forgotten: its text is not stored again"
    again = plane.post(SECRET, agent="grok", created_at=START)
    other = plane.post("Wumbletown is elsewhere", agent="muse", id=told.id)
    assert [(one.state, one.id, one.detail) for one in (again, other)] == [("duplicate", told.id, detail)] * 2
    assert traces(home) == []


def test_old_export_and_rebuild_bring_nothing_back(make_plane: MakePlane, home: Path) -> None:
    plane = make_plane(EverythingPlugin())
    told = plane.post(SECRET, agent="grok", kind="commitment", to="muse")
    plane.post("Alice likes tea", agent="muse")
    records = [json.loads(line) for line in plane.export()]
    plane.forget(told.id, agent="muse")
    after = list(plane.export())
    plane.merge([one for one in records if "op" in one], [one for one in records if "op" not in one])
    assert list(plane.export()) == after
    plane.rebuild()
    assert list(plane.export()) == after
    plane.rebuild(rederive=True)
    plane.ingest()
    assert [line for line in plane.export() if '"op":' in line] == [line for line in after if '"op":' in line]
    assert traces(home) == []


def test_sync_forgets_on_the_other_machine_and_tells_nobody_the_text(
    make_plane: MakePlane, home: Path, tmp_path: Path
) -> None:
    here = make_plane(EverythingPlugin())
    there, third = (make_plane(EverythingPlugin(), home=tmp_path / name) for name in ("there", "third"))
    told = here.post(SECRET, agent="grok")
    first = here.changes(None)
    there.merge(first.operations, first.derivations, peer=here.store_id)
    assert traces(tmp_path / "there")
    here.forget(told.id, agent="muse")
    second = here.changes(first.cursor)
    there.merge(second.operations, second.derivations, peer=here.store_id)
    whole = here.changes(None)
    third.merge(whole.operations, whole.derivations, peer=here.store_id)
    assert [operation["op"] for operation in whole.operations] == ["forget"]
    assert traces(tmp_path) == []
    assert list(here.export()) == list(there.export()) == list(third.export())


class SlowPlugin(EverythingPlugin):
    """Has its memory forgotten by another writer while it thinks."""

    other: Plane | None = None

    @hookimpl
    def extract(self, memory: Memory) -> Extraction:
        if self.other is not None:
            self.other.forget(memory.id, agent="muse")
        return super().extract(memory)


def test_answer_that_comes_after_the_memory_was_forgotten_is_not_kept(make_plane: MakePlane, home: Path) -> None:
    slow = SlowPlugin()
    plane = make_plane(slow)
    slow.other = make_plane()
    told = plane.post(SECRET, agent="grok")
    assert plane.get(told.id) == {**(plane.get(told.id) or {}), "op": "forgotten", "body": {}}
    plane.render()
    assert traces(home) == []
    assert schema.check(plane.database) == []


def test_memory_forgotten_while_plugins_are_asked_anew_is_passed_over(make_plane: MakePlane, home: Path) -> None:
    slow = SlowPlugin()
    plane = make_plane(slow)
    plane.post(SECRET, agent="grok")
    slow.other = make_plane()
    plane.rebuild(rederive=True)
    assert list(plane.recall("Zebulon").hits) == []
    assert traces(home) == []


def test_what_is_said_of_a_forgotten_memory_is_refused_here_and_dropped_from_afar(
    plane: Plane, operation: MakeOperation, home: Path
) -> None:
    told = plane.post("Who has the key?", agent="grok", kind="question")
    plane.forget(told.id, agent="muse")
    for receipt in (plane.pin(told.id, agent="muse"), plane.resolve(told.id, agent="muse", note=SECRET)):
        assert receipt.state == "refused"
        assert receipt.detail.endswith(f"{told.id} was forgotten; nothing is left of it")
    late = operation("resolve", item=told.id, note=SECRET)
    assert plane.apply(late).state == "duplicate"
    assert plane.apply(operation("release", target=told.id)).state == "duplicate"
    assert traces(home) == []
    assert plane.items() == []


# --- what cannot be forgotten ------------------------------------------------------------------------------------


def test_only_what_is_here_and_holds_a_text_of_its_own_can_be_forgotten(plane: Plane) -> None:
    item = plane.post("Who has the key?", agent="grok", kind="question")
    note = plane.resolve(item.id, agent="muse", note="Ann")
    forget = plane.forget(item.id, agent="muse")
    assert plane.forget(UNKNOWN, agent="muse").detail == f"target: nothing here has the id {UNKNOWN}"
    for id, op in ((note.id, "forgotten"), (forget.id, "forget")):
        said = plane.forget(id, agent="muse").detail
        assert said == (
            f"target: {id} was forgotten; nothing is left of it"
            if op == "forgotten"
            else f"target: {id} is a 'forget' operation; give the id of a thought, fact or heartbeat"
        )
    assert "reason: unknown field" in plane.write("forget", {"target": item.id, "reason": "x"}, agent="muse").detail


def test_word_to_forget_a_correction_or_another_such_word_changes_nothing(
    plane: Plane, operation: MakeOperation
) -> None:
    item = operation(text="Who has the key?", kind="question")
    resolve = operation("resolve", item=item.id, note="Ann")
    plane.apply_all([item, resolve, operation("forget", target=resolve.id)])
    assert plane.items() == []
    assert "Ann" in json.dumps(plane.get(resolve.id))
    first = operation("forget", target=item.id)
    plane.apply_all([first, operation("forget", target=first.id)])
    assert sorted(json.loads(line)["op"] for line in plane.export()) == ["forget"] * 3


def test_nobody_can_write_a_tombstone(plane: Plane) -> None:
    record = {"id": UNKNOWN, "op": "forgotten", "agent": "muse", "created_at": "2026-01-05T09:00:00Z", "body": {"a": 1}}
    (receipt,) = plane.merge([record])
    assert (receipt.state, receipt.detail[:16]) == ("refused", "op: 'forgotten' ")
    assert plane.get(UNKNOWN) is None


# --- before it is done -------------------------------------------------------------------------------------------


def test_loss_counts_what_would_go_and_no_more(make_plane: MakePlane) -> None:
    plane = make_plane(EverythingPlugin())
    plane.post("Alice likes tea", agent="muse")
    told = plane.post("Zebulon of Wumbletown met Alice", agent="grok", kind="question")
    plane.resolve(told.id, agent="muse", note="yes")
    loss = plane.loss(told.id)
    assert ([one.op for one in loss.operations], loss.derivations, loss.nodes, loss.edges) == (
        ["thought", "resolve"], 1, 2, 2,
    )  # fmt: skip
    assert plane.loss(UNKNOWN) == plane.loss("no id") == Loss()
    before = (plane.status().nodes, plane.status().edges)
    plane.forget(told.id, agent="muse")
    assert (plane.status().nodes, plane.status().edges) == (before[0] - loss.nodes, before[1] - loss.edges)


def test_refused_forget_masks_nothing(plane: Plane, home: Path) -> None:
    (home / "notes.md").write_text(SECRET, "utf-8")
    plane.forget(UNKNOWN, agent="muse")
    assert (home / "notes.md").read_text("utf-8") == SECRET


def test_queue_that_holds_the_text_and_the_word_to_forget_it_is_sent_whole(
    plane: Plane, operation: MakeOperation, home: Path
) -> None:
    told, other = operation(text=SECRET), operation(text="Ann likes tea")
    outbox = Outbox(home)
    outbox.append(told, operation("forget", target=told.id), operation("pin", target=told.id), other)
    flushed = outbox.flush(lambda batch: plane.apply_all(batch))
    assert (flushed.sent, flushed.refused, flushed.waiting) == (4, 0, 0)
    assert sorted(json.loads(line)["op"] for line in plane.export()) == ["forget", "thought"]
    assert traces(home) == []
