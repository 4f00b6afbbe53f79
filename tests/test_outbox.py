from __future__ import annotations

import json
import os
import stat
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from filelock import FileLock
from hypothesis import given, settings
from hypothesis import strategies as st

from memory_plane import letters
from memory_plane.errors import HubBusy, HubUnreachable, Refused, StoreError
from memory_plane.operations import make_operation, record_of
from memory_plane.outbox import MAX_BATCH, MAX_BATCH_BYTES, MAX_TRIES, Flushed, Outbox
from memory_plane.types import Operation, Receipt

MakeOperation = Callable[..., Operation]


class Hub:
    """A hub that keeps what it is sent, once, and refuses what says so."""

    def __init__(self) -> None:
        self.stored: dict[str, Operation] = {}
        self.batches: list[int] = []
        self.is_up = True
        self.poison: set[str] = set()
        self.dies_of_poison = False
        self.error: HubUnreachable = HubUnreachable("the hub cannot answer now (500)")

    def __call__(self, batch: Sequence[Operation]) -> list[Receipt]:
        self.batches.append(len(batch))
        if not self.is_up:
            raise HubUnreachable("no hub answers")
        if self.poison & {operation.id for operation in batch}:
            self.is_up = not self.dies_of_poison
            raise self.error
        return [self._take(operation) for operation in batch]

    def _take(self, operation: Operation) -> Receipt:
        if "refuse" in str(operation.body):
            return Receipt(id=operation.id, state="refused", detail="text: not wanted")
        known = operation.id in self.stored
        self.stored.setdefault(operation.id, operation)
        return Receipt(id=operation.id, state="duplicate" if known else "stored")

    @property
    def texts(self) -> list[str]:
        return [operation.body["text"] for operation in self.stored.values()]


@pytest.fixture
def outbox(home: Path) -> Outbox:
    return Outbox(home, patience=0)


@pytest.fixture
def hub() -> Hub:
    return Hub()


def queue(home: Path) -> Path:
    return home / "outbox.jsonl"


def texts(outbox: Outbox) -> list[str]:
    return [operation.body["text"] for operation in outbox.pending()]


# --- appending and reading ---------------------------------------------------------------------------------------


def test_nothing_waits_at_first_and_asking_leaves_no_file(outbox: Outbox, hub: Hub, home: Path) -> None:
    assert (outbox.depth(), outbox.oldest(), outbox.pending(), outbox.dead()) == (0, None, [], [])
    assert outbox.flush(hub) == Flushed()
    assert outbox.append() == outbox.purge("0b0e7c3e-90a7-4d0e-9a93-8d3f1f6c2a55") == 0
    assert hub.batches == []
    assert list(home.iterdir()) == []


def test_operations_wait_in_the_order_in_which_they_were_queued(
    outbox: Outbox, operation: MakeOperation, home: Path
) -> None:
    made = [operation(text=f"thought {number}", created_at=f"2026-01-0{9 - number}T09:00:00Z") for number in range(4)]
    assert [outbox.append(made[0]), outbox.append(made[1], made[2]), Outbox(home).append(made[3])] == [1, 3, 4]
    assert Outbox(home).pending() == made
    assert outbox.depth() == Outbox(home).depth() == 4
    assert outbox.oldest() == made[0].created_at


def test_every_file_is_for_its_owner_alone(outbox: Outbox, operation: MakeOperation, hub: Hub, home: Path) -> None:
    mask = os.umask(0)
    try:
        outbox.append(operation(), operation(text="refuse me"), operation())
        hub.poison.add(outbox.pending()[2].id)
        for _ in range(3):
            outbox.flush(hub)
    finally:
        os.umask(mask)
    files = {path.name: stat.S_IMODE(path.stat().st_mode) for path in home.iterdir()}
    assert {"outbox.jsonl", "outbox.dead.jsonl", "outbox.lock", "outbox.flush.lock", "outbox.tries.json"} <= set(files)
    assert set(files.values()) == {0o600}


def test_home_is_made_when_it_is_first_needed(home: Path, operation: MakeOperation) -> None:
    outbox = Outbox(home / "not there" / "yet")
    assert outbox.append(operation()) == 1
    assert stat.S_IMODE((home / "not there" / "yet").stat().st_mode) == 0o700


def test_operation_that_json_cannot_hold_is_refused_and_nothing_of_the_batch_is_queued(
    outbox: Outbox, operation: MakeOperation
) -> None:
    good = operation()
    bad = Operation(id=good.id, op="later", agent="muse", created_at=good.created_at, body={"x": "\ud800"})
    with pytest.raises(Refused, match="JSON"):
        outbox.append(good, bad)
    assert outbox.depth() == 0


def test_reading_needs_no_lock(outbox: Outbox, operation: MakeOperation, home: Path) -> None:
    outbox.append(operation(text="waits"))
    with FileLock(home / "outbox.lock"), FileLock(home / "outbox.flush.lock"):
        assert (outbox.depth(), texts(outbox), outbox.dead()) == (1, ["waits"], [])


def test_lock_that_is_not_given_back_is_told(home: Path, operation: MakeOperation, hub: Hub) -> None:
    outbox = Outbox(home, timeout=0.01)
    outbox.append(operation())
    with FileLock(home / "outbox.lock", is_singleton=False):
        with in_thread(lambda: outbox.append(operation())) as failed:
            pass
        with in_thread(lambda: outbox.flush(hub)) as flushed:
            pass
    assert isinstance(failed[0], StoreError)
    assert "locked for more than 0.01 s" in str(failed[0])
    assert "\n" not in str(failed[0])
    assert (flushed[0].sent, flushed[0].waiting, "locked" in flushed[0].reason) == (0, 1, True)
    assert outbox.append(operation()) == 2


@contextmanager
def in_thread(call: Callable[[], object]) -> Iterator[list]:  # type: ignore[type-arg]
    """Run something beside the test, and give what it returned or raised once the block is left."""
    result: list[object] = []

    def run() -> None:
        try:
            result.append(call())
        except Exception as error:
            result.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    yield result
    thread.join(30)
    assert not thread.is_alive()


# --- flushing ----------------------------------------------------------------------------------------------------


def test_flush_sends_all_in_order_and_leaves_nothing(
    outbox: Outbox, operation: MakeOperation, hub: Hub, home: Path
) -> None:
    made = [operation(created_at=f"2026-01-0{9 - number}T09:00:00Z") for number in range(5)]
    outbox.append(*made)
    assert outbox.flush(hub) == Flushed(sent=5)
    assert list(hub.stored.values()) == made
    assert {path.name for path in home.iterdir()} == {"outbox.lock", "outbox.flush.lock"}


def test_flush_sends_batches_of_bounded_length(outbox: Outbox, operation: MakeOperation, hub: Hub) -> None:
    made = [operation() for _ in range(2 * MAX_BATCH + 3)]
    outbox.append(*made)
    assert outbox.flush(hub).sent == len(made)
    assert hub.batches == [MAX_BATCH, MAX_BATCH, 3]
    assert list(hub.stored.values()) == made


def test_flush_sends_batches_of_bounded_size_and_the_longest_text_alone(outbox: Outbox, hub: Hub) -> None:
    made = [make_operation("thought", {"text": f"{n} " + "ж" * 499_000}, agent="muse") for n in range(7)]
    widest = make_operation("thought", {"text": "x" + "\x01" * 999_999}, agent="muse")
    assert len(letters.write(widest)) > MAX_BATCH_BYTES
    outbox.append(*made, widest, operation := make_operation("thought", {"text": "last"}, agent="muse"))
    assert outbox.flush(hub).waiting == 0
    assert hub.batches == [4, 3, 1, 1]
    assert list(hub.stored.values()) == [*made, widest, operation]


@pytest.mark.parametrize("outage", [HubUnreachable, StoreError])
def test_outage_removes_nothing_and_raises_nothing(
    outbox: Outbox, operation: MakeOperation, outage: type[Exception]
) -> None:
    outbox.append(operation(), operation())

    def send(batch: Sequence[Operation]) -> list[Receipt]:
        raise outage("it is gone")

    assert outbox.flush(send) == Flushed(waiting=2, reason="it is gone")
    assert outbox.depth() == len(outbox.pending()) == 2


def test_outage_after_some_batches_keeps_the_others(outbox: Outbox, operation: MakeOperation, hub: Hub) -> None:
    made = [operation() for _ in range(MAX_BATCH + 2)]
    outbox.append(*made)

    def send(batch: Sequence[Operation]) -> list[Receipt]:
        receipts = hub(batch)
        hub.is_up = False
        return receipts

    assert outbox.flush(send) == Flushed(sent=MAX_BATCH, waiting=2, reason="no hub answers")
    assert outbox.pending() == made[MAX_BATCH:]


def test_long_outage_keeps_the_order_and_asks_for_the_hub_with_nothing_each_time(
    outbox: Outbox, operation: MakeOperation, hub: Hub
) -> None:
    made = [operation() for _ in range(30)]
    outbox.append(*made)
    hub.is_up = False
    for _ in range(3 * MAX_TRIES):
        outbox.flush(hub)
    assert hub.batches == [30] + [0] * (3 * MAX_TRIES - 1)
    hub.is_up = True
    assert outbox.flush(hub) == Flushed(sent=30)
    assert list(hub.stored.values()) == made
    assert outbox.dead() == []


def test_crash_between_answer_and_removal_stores_nothing_twice(
    outbox: Outbox, operation: MakeOperation, hub: Hub, home: Path
) -> None:
    made = [operation(), operation()]
    outbox.append(*made)

    def send(batch: Sequence[Operation]) -> list[Receipt]:
        hub(batch)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        outbox.flush(send)
    assert Outbox(home).flush(hub) == Flushed(sent=2)
    assert list(hub.stored.values()) == made


@pytest.mark.parametrize(
    "answer",
    [
        lambda receipts: receipts[:-1],
        lambda receipts: [],
        lambda receipts: [*receipts, receipts[0]],
        lambda receipts: receipts[::-1],
        lambda receipts: [Receipt(id="0b0e7c3e-90a7-4d0e-9a93-8d3f1f6c2a55", state="stored")] * len(receipts),
        lambda receipts: [Receipt(id=receipt.id, state="queued") for receipt in receipts],
    ],
)
def test_answer_that_does_not_fit_is_an_outage(
    outbox: Outbox, operation: MakeOperation, hub: Hub, answer: Callable[[list[Receipt]], list[Receipt]]
) -> None:
    outbox.append(operation(), operation(), operation())
    flushed = outbox.flush(lambda batch: answer(hub(batch)))
    assert (flushed.sent, flushed.refused, flushed.waiting) == (0, 0, 3)
    assert "does not fit" in flushed.reason


def test_what_is_queued_meanwhile_waits_neither_for_the_network_nor_is_it_lost(
    outbox: Outbox, operation: MakeOperation, hub: Hub, home: Path
) -> None:
    outbox.append(operation(text="before"))
    depths: list[int] = []

    def send(batch: Sequence[Operation]) -> list[Receipt]:
        depths.append(Outbox(home, timeout=0).append(operation(text="meanwhile")))
        return hub(batch)

    assert outbox.flush(send) == Flushed(sent=1, waiting=1)
    assert depths == [2]
    assert (hub.texts, texts(outbox)) == (["before"], ["meanwhile"])


def test_second_flusher_leaves_at_once(outbox: Outbox, operation: MakeOperation, hub: Hub, home: Path) -> None:
    outbox.append(operation())
    others: list[Flushed] = []

    def send(batch: Sequence[Operation]) -> list[Receipt]:
        with in_thread(lambda: Outbox(home).flush(hub)) as beside:
            pass
        others.extend([*beside, Outbox(home).flush(hub)])
        return hub(batch)

    began = time.monotonic()
    assert outbox.flush(send) == Flushed(sent=1)
    assert others == [Flushed(waiting=1, busy=True)] * 2
    assert time.monotonic() - began < 5


def test_what_was_dropped_while_a_flush_is_under_way_is_not_sent(
    outbox: Outbox, operation: MakeOperation, hub: Hub, home: Path
) -> None:
    made = [operation() for _ in range(MAX_BATCH + 2)]
    outbox.append(*made)

    def send(batch: Sequence[Operation]) -> list[Receipt]:
        Outbox(home).drop([made[-1].id])
        return hub(batch)

    assert outbox.flush(send) == Flushed(sent=MAX_BATCH + 1)
    assert list(hub.stored.values()) == made[:-1]


# --- what cannot be delivered ------------------------------------------------------------------------------------


def test_refused_operation_is_a_dead_letter_and_never_sent_again(
    outbox: Outbox, operation: MakeOperation, hub: Hub
) -> None:
    made = [operation(text="one"), operation(text="refuse me"), operation(text="three")]
    outbox.append(*made)
    assert outbox.flush(hub) == Flushed(sent=2, refused=1)
    assert outbox.flush(hub) == Flushed()
    (letter,) = outbox.dead()
    assert (letter.id, letter.reason, letter.operation) == (made[1].id, "text: not wanted", made[1])
    assert hub.texts == ["one", "three"]


def test_refused_operation_stays_in_the_queue_while_no_dead_letter_can_be_written(
    outbox: Outbox, operation: MakeOperation, hub: Hub, home: Path
) -> None:
    (home / "outbox.dead.jsonl").mkdir()
    outbox.append(operation(text="refuse me"))
    flushed = outbox.flush(hub)
    assert flushed.waiting == 1
    assert str(queue(home)) in flushed.reason
    (home / "outbox.dead.jsonl").rmdir()
    assert outbox.flush(hub) == Flushed(refused=1)
    assert len(outbox.dead()) == 1


@pytest.mark.parametrize(
    ("garbage", "kept"),
    [(b'{"agent":"muse","body":{"text":"cut o', 1), (b"\xff\x00\xfe", 1), (b"[]\n{}", 2), (b"\n \r\n\n", 0)],
)
def test_lines_that_cannot_be_read_are_set_aside_and_hold_nothing_up(
    outbox: Outbox, operation: MakeOperation, hub: Hub, home: Path, garbage: bytes, kept: int
) -> None:
    outbox.append(operation(text="before"))
    with queue(home).open("ab") as file:
        file.write(garbage)
    assert texts(outbox) == ["before"]
    outbox.append(operation(text="after"))
    assert texts(outbox) == ["before", "after"]
    assert outbox.flush(hub).sent == 2
    assert hub.texts == ["before", "after"]
    assert [letter.operation for letter in outbox.dead()] == [None] * kept
    assert all("cannot be read" in letter.reason for letter in outbox.dead())
    assert not queue(home).exists()


def test_torn_line_at_the_very_end_is_set_aside_too(outbox: Outbox, hub: Hub, home: Path) -> None:
    queue(home).write_bytes(b'{"agent":"mu')
    assert outbox.depth() == 1
    assert outbox.flush(hub) == Flushed()
    assert [letter.line for letter in outbox.dead()] == ['{"agent":"mu']
    assert hub.batches == []


def test_more_unreadable_lines_than_a_batch_hold_nothing_up(
    outbox: Outbox, operation: MakeOperation, hub: Hub, home: Path
) -> None:
    queue(home).write_bytes(b"".join(b"garbage %d\n" % number for number in range(2 * MAX_BATCH + 1)))
    outbox.append(operation(text="after"))
    assert outbox.flush(hub) == Flushed(sent=1)
    assert len(outbox.dead()) == 2 * MAX_BATCH + 1


def test_damaged_operation_says_what_is_wrong_with_it(
    outbox: Outbox, operation: MakeOperation, hub: Hub, home: Path
) -> None:
    made = operation()
    record = record_of(made) | {"body": {}}
    queue(home).write_text(json.dumps(record) + "\n", "utf-8")
    outbox.flush(hub)
    (letter,) = outbox.dead()
    assert (letter.id, letter.reason) == (made.id, "cannot be read: text: missing")
    assert json.loads(letter.line) == record


def test_retried_letters_go_to_the_end_of_the_queue(outbox: Outbox, operation: MakeOperation, hub: Hub) -> None:
    made = [operation(text=f"refuse {number}") for number in range(3)]
    outbox.append(*made)
    outbox.flush(hub)
    outbox.append(operation(text="waits"))
    assert outbox.retry([made[1].id, "no such id"]) == [made[1].id]
    assert texts(outbox) == ["waits", "refuse 1"]
    assert [letter.id for letter in outbox.dead()] == [made[0].id, made[2].id]
    assert outbox.retry() == [made[0].id, made[2].id]
    assert texts(outbox) == ["waits", "refuse 1", "refuse 0", "refuse 2"]
    assert outbox.dead() == []


def test_letter_that_cannot_be_read_is_not_retried_and_stays(outbox: Outbox, hub: Hub, home: Path) -> None:
    queue(home).write_bytes(b"garbage\n")
    outbox.flush(hub)
    assert outbox.retry() == []
    assert len(outbox.dead()) == 1
    assert not queue(home).exists()


def test_letter_that_is_refused_again_is_there_once_with_its_latest_reason(
    outbox: Outbox, operation: MakeOperation, hub: Hub
) -> None:
    made = operation(text="refuse me")
    outbox.append(made)
    outbox.flush(hub)
    first = outbox.dead()[0]
    outbox.append(made)
    outbox.flush(hub)
    (second,) = outbox.dead()
    assert first.at is not None and second.at is not None
    assert second.at > first.at


def test_dropped_operations_and_letters_are_gone(
    outbox: Outbox, operation: MakeOperation, hub: Hub, home: Path
) -> None:
    dead, torn = operation(text="refuse me"), b"garbage"
    outbox.append(dead)
    with queue(home).open("ab") as file:
        file.write(torn)
    outbox.flush(hub)
    waiting, other = operation(), operation()
    outbox.append(waiting, other)
    ids = [waiting.id, letters.id_of(torn), dead.id]
    assert outbox.drop([*ids, "no such id"]) == ids
    assert outbox.dead() == []
    assert outbox.pending() == [other]
    assert outbox.drop(ids) == []


# --- the line to blame -------------------------------------------------------------------------------------------


def flush_until_empty(outbox: Outbox, hub: Hub, limit: int) -> int:
    """Flush, the hub being started again each time, until nothing waits; return how often."""
    for number in range(1, limit + 1):
        hub.is_up = True
        if outbox.flush(hub).waiting == 0:
            return number
    raise AssertionError(f"{outbox.depth()} wait after {limit} flushes")


@pytest.mark.parametrize("dies", [False, True])
@pytest.mark.parametrize("place", [0, 1, 5, 20, 34])
def test_line_that_makes_the_hub_fail_for_ever_ends_as_a_dead_letter_and_the_rest_arrives(
    outbox: Outbox, operation: MakeOperation, hub: Hub, place: int, dies: bool
) -> None:
    made = [operation() for _ in range(40)]
    outbox.append(*made)
    hub.poison, hub.dies_of_poison = {made[place].id}, dies
    assert flush_until_empty(outbox, hub, 20) <= 2 + place.bit_length() + 4 + MAX_TRIES
    (letter,) = outbox.dead()
    assert (letter.id, letter.operation) == (made[place].id, made[place])
    assert f"failed {MAX_TRIES} times while others did not: the hub cannot answer now" in letter.reason
    assert set(hub.stored) == {one.id for one in made} - hub.poison


def test_only_what_a_bad_line_holds_up_may_overtake_it(outbox: Outbox, operation: MakeOperation, hub: Hub) -> None:
    made = [operation() for _ in range(40)]
    outbox.append(*made)
    hub.poison = {made[7].id}
    flush_until_empty(outbox, hub, 20)
    arrived = list(hub.stored.values())
    assert arrived[:7] == made[:7]
    assert len([one for one in arrived[7:] if one in made[8:]]) == 32


@pytest.mark.parametrize("dies", [False, True])
def test_bad_lines_side_by_side_are_found_one_after_the_other(
    outbox: Outbox, operation: MakeOperation, hub: Hub, dies: bool
) -> None:
    made = [operation() for _ in range(30)]
    outbox.append(*made)
    hub.poison, hub.dies_of_poison = {one.id for one in made[3:6]}, dies
    flush_until_empty(outbox, hub, 60)
    assert {letter.id for letter in outbox.dead()} == hub.poison
    assert set(hub.stored) == {one.id for one in made} - hub.poison


def test_while_every_line_fails_none_is_to_blame_and_the_order_stays(
    outbox: Outbox, operation: MakeOperation, hub: Hub
) -> None:
    made = [operation() for _ in range(6)]
    outbox.append(*made)
    hub.poison = {one.id for one in made}
    for _ in range(4 * MAX_TRIES):
        assert outbox.flush(hub).waiting == 6
    assert outbox.dead() == []
    hub.poison = set()
    assert outbox.flush(hub) == Flushed(sent=6)
    assert list(hub.stored.values()) == made


def test_bad_line_alone_in_the_queue_waits_until_there_is_another_to_compare(
    outbox: Outbox, operation: MakeOperation, hub: Hub
) -> None:
    bad, good = operation(), operation()
    outbox.append(bad)
    hub.poison = {bad.id}
    for _ in range(3 * MAX_TRIES):
        assert outbox.flush(hub).waiting == 1
    assert outbox.dead() == []
    outbox.append(good)
    for _ in range(2 * MAX_TRIES):
        outbox.append(operation())
        outbox.flush(hub)
    assert outbox.depth() == 0
    assert [letter.id for letter in outbox.dead()] == [bad.id]
    assert good.id in hub.stored
    assert len(hub.stored) == 1 + 2 * MAX_TRIES


def test_tries_that_follow_each_other_too_fast_count_as_one(home: Path, operation: MakeOperation, hub: Hub) -> None:
    outbox = Outbox(home, patience=3_600)
    made = [operation() for _ in range(3 * MAX_TRIES)]
    outbox.append(*made)
    hub.poison = {made[0].id}
    for _ in range(2 * MAX_TRIES):
        outbox.flush(hub)
    assert outbox.dead() == []
    assert len(hub.stored) == 1
    hub.poison = set()
    assert outbox.flush(hub).waiting == 0


def test_agent_that_wrote_too_much_for_now_gets_no_dead_letter(
    outbox: Outbox, operation: MakeOperation, hub: Hub
) -> None:
    made = [operation() for _ in range(5 * MAX_TRIES)]
    outbox.append(*made)
    hub.poison, hub.error = {made[0].id}, HubBusy("the hub cannot answer now (429)")
    for _ in range(5 * MAX_TRIES):
        outbox.flush(hub)
    assert (outbox.dead(), outbox.pending()[0]) == ([], made[0])
    hub.poison = set()
    assert flush_until_empty(outbox, hub, 2)
    assert set(hub.stored) == {one.id for one in made}


def test_one_agent_sends_its_own_and_leaves_the_rest_as_it_was(
    outbox: Outbox, operation: MakeOperation, hub: Hub, home: Path
) -> None:
    made = [operation(agent=("muse", "grok", "grok")[number % 3]) for number in range(9)]
    outbox.append(*made)
    assert outbox.flush(hub, "muse") == Flushed(sent=3)
    assert outbox.flush(hub, "claude") == Flushed()
    assert list(hub.stored.values()) == made[::3]
    assert outbox.pending() == [one for one in made if one.agent == "grok"]
    with queue(home).open("ab") as file:
        file.write(b"torn\n")
    assert outbox.flush(hub, "grok") == Flushed(sent=6)
    assert (outbox.depth(), len(outbox.dead())) == (0, 1)


def test_what_waits_is_read_once_however_often_it_is_asked_for(
    outbox: Outbox, operation: MakeOperation, hub: Hub, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[bytes] = []

    def counted(line: bytes, once: Callable[[bytes], Operation] = letters.read) -> Operation:
        read.append(line)
        return once(line)

    monkeypatch.setattr(letters, "read", counted)
    made = [operation() for _ in range(5)]
    outbox.append(*made[:3])
    assert outbox.pending() == outbox.pending() == made[:3]
    outbox.append(*made[3:])
    outbox.drop([made[0].id])
    assert outbox.pending() == made[1:]
    assert len(read) == len(set(read)) == 5


def test_hub_that_recovers_in_time_takes_the_line_that_was_suspected(
    outbox: Outbox, operation: MakeOperation, hub: Hub
) -> None:
    made = [operation() for _ in range(10)]
    outbox.append(*made)
    hub.poison = {made[0].id}
    for _ in range(MAX_TRIES):
        outbox.flush(hub)
    hub.poison = set()
    assert outbox.flush(hub).waiting == 0
    assert outbox.dead() == []
    assert len(hub.stored) == 10


@pytest.mark.parametrize(
    "content", [b"", b"{", b"[]", b'{"id": "x"}', b'{"id":"x","times":"y","tries":0,"tried_at":0}']
)
def test_broken_note_of_the_last_stop_is_none(
    outbox: Outbox, operation: MakeOperation, hub: Hub, home: Path, content: bytes
) -> None:
    (home / "outbox.tries.json").write_bytes(content)
    outbox.append(operation())
    assert outbox.flush(hub) == Flushed(sent=1)


# --- forgetting --------------------------------------------------------------------------------------------------


def test_purge_leaves_no_byte_of_an_operation_and_what_was_said_about_it(
    outbox: Outbox, operation: MakeOperation, hub: Hub, home: Path
) -> None:
    target = operation(text="xyzzy refuse")
    outbox.append(target, operation(text="kept and refuse"))
    outbox.flush(hub)
    forget = Operation(
        id=operation().id, op="forget", agent="muse", created_at=target.created_at, body={"target": target.id}
    )
    others = [operation(text="kept"), operation("retract", target=operation().id, reason="kept too")]
    said = [operation("resolve", item=target.id, note="xyzzy"), operation("retract", target=target.id, reason="xyzzy")]
    outbox.append(target, *others, *said, forget)
    with queue(home).open("ab") as file:
        file.write(letters.write(target)[:90])
    for name in ("outbox.part", "outbox.dead.part"):
        (home / name).write_bytes(letters.write(target))
    assert outbox.purge(target.id) == 5
    assert not [path.name for path in home.iterdir() if b"xyzzy" in path.read_bytes()]
    assert outbox.pending() == [*others, forget]
    assert [letter.operation.body["text"] for letter in outbox.dead() if letter.operation] == ["kept and refuse"]
    assert outbox.depth() == 3


def test_purge_of_what_is_not_there_changes_nothing(outbox: Outbox, operation: MakeOperation, home: Path) -> None:
    outbox.append(operation())
    before = queue(home).read_bytes()
    assert outbox.purge("0b0e7c3e-90a7-4d0e-9a93-8d3f1f6c2a55") == 0
    assert queue(home).read_bytes() == before


# --- any order of events -----------------------------------------------------------------------------------------


class Killed(BaseException):
    """The process is gone."""


EVENTS = st.one_of(
    st.tuples(st.just("append"), st.lists(st.sampled_from(["take", "refuse"]), min_size=1, max_size=3)),
    st.tuples(st.just("flush"), st.sampled_from(["up", "down", "full", "nonsense", "killed before", "killed after"])),
    st.tuples(st.just("tear"), st.integers(0, 120)),
    st.tuples(st.just("retry"), st.none()),
)


def play(outbox: Outbox, hub: Hub, mode: str) -> None:
    """Flush once under a condition."""

    def send(batch: Sequence[Operation]) -> list[Receipt]:
        if mode == "killed before":
            raise Killed
        if mode in ("down", "full"):
            raise {"down": HubUnreachable, "full": StoreError}[mode](mode)
        if mode == "nonsense":
            return [Receipt(id=operation.id, state="queued") for operation in batch]
        receipts = hub(batch)
        if mode == "killed after":
            raise Killed
        return receipts

    try:
        flushed = outbox.flush(send)
    except Killed:
        return
    assert (flushed.reason == "") == (mode == "up" or flushed == Flushed()) or not outbox.pending()


@settings(max_examples=80, deadline=None)
@given(events=st.lists(EVENTS, max_size=25))
def test_whatever_happens_what_was_acknowledged_arrives_once_and_in_order(
    events: list[tuple[str, list[str] | str | int | None]],
) -> None:
    acknowledged: list[Operation] = []
    hub = Hub()
    with TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        # The fault tests kill for real; here thousands of events need no disk to wait for.
        patch.setattr(os, "fsync", lambda descriptor: None)
        outbox = Outbox(Path(folder), patience=0)
        for number, (event, value) in enumerate(events):
            if event == "append" and isinstance(value, list):
                batch = [
                    make_operation("thought", {"text": f"{word} {number}.{place}"}, agent="muse")
                    for place, word in enumerate(value)
                ]
                depth = outbox.append(*batch)
                acknowledged += batch
                assert depth == outbox.depth() == Outbox(Path(folder)).depth()
            elif event == "flush" and isinstance(value, str):
                play(outbox, hub, value)
            elif event == "tear" and isinstance(value, int):
                torn = letters.write(make_operation("thought", {"text": f"torn {number}"}, agent="muse"))[: value - 121]
                with queue(Path(folder)).open("ab") as file:
                    file.write(torn)
            else:
                outbox.retry()
            outbox = Outbox(Path(folder), patience=0)
        outbox.flush(hub)
        assert (outbox.depth(), outbox.pending()) == (0, [])
        dead = {letter.id for letter in outbox.dead() if letter.operation}
        left = sorted(path.name for path in Path(folder).iterdir() if path.suffix in (".part", ".count"))
    wanted = [one for one in acknowledged if "take" in one.body["text"]]
    assert list(hub.stored.values()) == wanted
    assert dead == {one.id for one in acknowledged if "refuse" in one.body["text"]}
    assert left in ([], ["outbox.dead.count"])
