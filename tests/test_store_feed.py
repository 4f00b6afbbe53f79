"""What one memory tells another: in portions that the other takes, and nothing is passed over."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from memory_plane import Plane, Plugin, hookimpl
from memory_plane.remote import Hub
from memory_plane.reports import Changes
from memory_plane.settings import Settings
from memory_plane.store import feed
from memory_plane.surfaces.limits import MAX_SYNC_BODY
from memory_plane.sync import exchange
from memory_plane.testing.hub import HubProcess
from memory_plane.types import Extraction, Memory, Mention

MakePlane = Callable[..., Plane]


class LaterPlugin(Plugin):
    """Answers from the queue that the first three letters are a person."""

    deferred = True

    @hookimpl
    def extract(self, memory: Memory) -> Extraction:
        found = Mention(text=memory.text[:3], type="Person", start=0, end=3, confidence=0.9)
        return Extraction(mentions=(found,))


def all_changes(plane: Plane, since: str | None = None, *, peer: str | None = None, limit: int = 500) -> list[Changes]:
    """Read from a position to the end."""
    answers: list[Changes] = []
    for _ in range(1_000):
        answers.append(plane.changes(since, peer=peer, limit=limit))
        since = answers[-1].cursor
        if not answers[-1].more:
            return answers
    raise AssertionError("it never ends")


def size(found: Changes) -> int:
    whole: dict[str, Any] = {"operations": list(found.operations), "derivations": list(found.derivations)}
    return len(json.dumps(whole, ensure_ascii=False).encode())


@pytest.mark.parametrize("letter", ["a", "я", "語", '"', "\n"])
def test_every_portion_fits_into_a_request_whatever_is_written(
    plane: Plane, letter: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(feed, "MAX_BYTES", feed.MAX_BYTES // 100)
    made = [plane.post(f"{number} {letter * 1_500}.", agent="muse").id for number in range(60)]
    portions = all_changes(plane)
    assert max(map(size, portions)) <= MAX_SYNC_BODY // 100
    assert [one["id"] for portion in portions for one in portion.operations] == made


def test_long_texts_of_any_script_reach_a_hub(plane: Plane, hub: HubProcess) -> None:
    texts = [f"{number} {letter * (300_000 // len(letter.encode()))}" for number in range(6) for letter in "語яa"]
    assert sum(len(text.encode()) for text in texts) > MAX_SYNC_BODY
    for text in texts:
        plane.post(text, agent="muse")
    with Hub(hub.url, hub.token, answer=60) as there:
        assert exchange(plane, there).pushed == len(texts)
        assert exchange(plane, there).pushed == 0


def test_memory_whose_derivations_fit_into_no_request_arrives_without_them(plane: Plane, hub: HubProcess) -> None:
    plane.post("Ann likes tea", agent="muse")
    (record,) = plane.changes().operations
    large = {"memory": record["id"], "plugin": "large", "version": "1", "rank": 0, "answer": "x" * MAX_SYNC_BODY}
    with Hub(hub.url, hub.token, answer=60) as there:
        (receipt,) = there.merge([record], [large])
        assert (receipt.id, receipt.state) == (record["id"], "stored")


def test_late_answers_come_in_portions_too(make_plane: MakePlane, monkeypatch: pytest.MonkeyPatch) -> None:
    plane = make_plane(LaterPlugin())
    for number in range(6):
        plane.post(f"Ann {number}", agent="muse")
    told = plane.changes().cursor
    assert plane.work_queue() == 6
    monkeypatch.setattr(feed, "MAX_BYTES", 300)
    portions = all_changes(plane, told)
    assert 2 <= len(portions) <= 6
    assert sum(len(portion.derivations) for portion in portions) == 6
    assert plane.changes(portions[-1].cursor) == Changes(
        operations=(), derivations=(), cursor=portions[-1].cursor, more=False
    )


def test_late_answer_about_what_the_peer_said_reaches_it_behind_a_backlog(
    make_plane: MakePlane, tmp_path: Path
) -> None:
    mine = make_plane(LaterPlugin())
    for number in range(4):
        mine.post(f"Bob {number}", agent="muse")
    with Plane(Settings(home=tmp_path / "peer")) as theirs:
        said = theirs.post("Ann likes tea", agent="grok")
        mine.merge(theirs.changes().operations, peer=theirs.store_id)
        mine.work_queue()
        portions = all_changes(mine, peer=theirs.store_id, limit=2)
    assert said.id not in {one["id"] for portion in portions for one in portion.operations}
    assert said.id in {one["memory"] for portion in portions for one in portion.derivations}


def test_late_answer_is_heard_also_when_the_one_before_was_forgotten(make_plane: MakePlane) -> None:
    plane = make_plane(LaterPlugin())
    first, second = (plane.post(f"{name} likes tea", agent="muse") for name in ("Ann", "Bob"))
    plane.changes()
    plane.work_queue()
    plane.forget(second.id, agent="muse")
    heard = plane.changes().cursor
    plane.forget(first.id, agent="muse")
    third = plane.post("Cid likes tea", agent="muse")
    told = plane.changes(heard).cursor  # it is a position of this memory still
    plane.work_queue()
    assert [one["memory"] for one in plane.changes(told).derivations] == [third.id]


@pytest.mark.parametrize("stamp", ["2026-01-01T00:00:00", "0001-01-01T00:00:00Z", "1969-12-31T00:00:00Z"])
def test_stamp_that_is_no_moment_is_refused(plane: Plane, make_operation_record: Any, stamp: str) -> None:
    (receipt,) = plane.merge([make_operation_record(effective_at=stamp)])
    assert receipt.state == "refused"
    assert receipt.detail.startswith("effective_at: ")


@pytest.fixture
def make_operation_record() -> Callable[..., dict[str, Any]]:
    def make(**more: Any) -> dict[str, Any]:
        body = {"text": "Ann likes tea"}
        return {"id": None, "op": "thought", "agent": "muse", "created_at": "2026-03-01T00:00:00Z", "body": body} | more

    return make


def test_three_machines_in_a_line_hear_each_other(plane: Plane, tmp_path: Path) -> None:
    with Plane(Settings(home=tmp_path / "middle")) as middle, Plane(Settings(home=tmp_path / "far")) as far:
        kept, gone = (plane.post(text, agent="muse").id for text in ("Ann likes tea", "a secret"))
        for _ in range(2):
            exchange(plane, middle)
            exchange(middle, far)
            plane.forget(gone, agent="muse")
        exchange(plane, middle)
        exchange(middle, far)
        assert list(plane.export()) == list(middle.export()) == list(far.export())
        assert far.get(kept) is not None
        assert far.recall("secret").hits == ()
