from __future__ import annotations

import json
import os
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from memory_plane import Plane
from memory_plane.types import Ingested, Operation
from memory_plane_grok import events, polling, sessions

if TYPE_CHECKING:
    from conftest import Hook, Put

THEN = datetime(2026, 11, 30, 7, 31, 26, tzinfo=UTC)
"""Just after the recorded turns."""
DAY = timedelta(days=1)


def poll(grok: Path, cursor: str | None = None, now: datetime = THEN, recent: timedelta = DAY) -> Ingested | None:
    return polling.poll([sessions.conversations(grok)], None, cursor, now, recent)


def found(answer: Ingested | None) -> tuple[Operation, ...]:
    return answer.operations if answer else ()


def texts(answer: Ingested | None) -> set[str]:
    return {one.body["text"] for one in found(answer) if one.op == "thought"}


def test_turns_are_told_without_any_hook(grok: Path, put: Put) -> None:
    put("session", at=THEN)
    answer = poll(grok)
    assert texts(answer) == {
        "Shipped the login page of herrington.ai to production.",
        "We decided to use argon2 for passwords.",
        "Shall I announce it on Friday?",
    }
    assert {one.body.get("project") for one in found(answer) if one.op == "thought"} == {"herrington.ai"}


def test_nothing_new_is_nothing(grok: Path, put: Put) -> None:
    put("session", "fork", "sender", "helper", at=THEN)
    answer = poll(grok)
    assert answer is not None
    assert poll(grok, answer.cursor, THEN + timedelta(seconds=30)) is None


def test_hooks_and_polls_that_see_the_same_turn_tell_it_with_the_same_ids(grok: Path, put: Put, hook: Hook) -> None:
    put("session", "fork", at=THEN)
    heard = [hook(name) for name in ("asked", "stopped", "answered", "forked", "stopped at the end")]
    of_hooks = {one.id for event in heard for one in events.operations(event, sessions.folder(grok), now=THEN)}
    assert {one.id for one in found(poll(grok))} == of_hooks


def test_fork_adds_nothing_of_what_it_copied(grok: Path, put: Put) -> None:
    put("session", at=THEN)
    before = poll(grok)
    assert before is not None
    put("fork", at=THEN)
    assert texts(poll(grok, before.cursor)) - texts(before) == {"Reverted the newsletter."}


def test_helper_is_not_told(grok: Path, put: Put) -> None:
    put("sender", "helper", at=THEN)
    assert texts(poll(grok)) == {"I have sent a helper."}


def test_turn_that_goes_on_tells_its_focus_and_is_over_after_ten_minutes(grok: Path, put: Put) -> None:
    put("killed", at=THEN)
    begun = poll(grok)
    assert begun is not None
    assert [one.op for one in begun.operations] == ["heartbeat"]
    assert poll(grok, begun.cursor, THEN + timedelta(minutes=9)) is None
    later = poll(grok, begun.cursor, THEN + timedelta(minutes=11))
    assert later is not None
    assert poll(grok, later.cursor, THEN + timedelta(minutes=30)) is None


def test_turn_that_ends_after_a_poll_is_told_then(grok: Path, put: Put) -> None:
    path = put("session")
    whole = path.read_text("utf-8")
    path.write_text("".join(whole.splitlines(keepends=True)[:8]), "utf-8")
    os.utime(path, (THEN.timestamp(), THEN.timestamp()))
    begun = poll(grok)
    assert begun is not None
    assert not texts(begun)
    path.write_text(whole, "utf-8")
    assert len(texts(poll(grok, begun.cursor))) == 3


def test_first_look_goes_back_as_far_as_is_set(grok: Path, put: Put) -> None:
    put("session", at=THEN)
    assert not found(poll(grok, now=THEN + timedelta(hours=25)))
    assert found(poll(grok, now=THEN + timedelta(hours=25), recent=timedelta(hours=1_000_000)))
    assert not found(poll(grok, recent=timedelta(0)))


@pytest.mark.parametrize(
    "cursor",
    [
        "", "{", "[]", "7", "null", '{"version": 2, "floor": 1}', '{"version": 1}', '{"version": 1, "floor": "x"}',
        '{"version": 1, "floor": 9e30}', '{"version": 1, "floor": 99999999999999999}',
        '{"version": 1, "floor": 0, "seen": [], "notes": 7}', '{"version": 1, "floor": 0, "seen": {"grok/x": [1]}}',
        '{"version": 1, "floor": 0, "seen": {"grok/x": [1, null, "a"]}, "notes": {"a": "b"}}',
    ],
)  # fmt: skip
def test_any_old_cursor_is_survived(grok: Path, put: Put, cursor: str) -> None:
    put("session", at=THEN)
    answer = poll(grok, cursor)
    assert len(texts(answer)) == 3
    assert answer is not None
    assert poll(grok, answer.cursor) is None


def test_many_sessions_are_told_over_several_polls_and_none_is_left_out(grok: Path, put: Put) -> None:
    path = put("session")
    text = path.read_text("utf-8")
    count = 3 * polling.MOST_CONVERSATIONS + polling.REMEMBERED
    for number in range(count):
        session = path.parent.parent / f"s-{number}"
        session.mkdir()
        (session / "updates.jsonl").write_text(
            text.replace("01a22b5d-7c6f-7a62-92de-665fc6b49288", f"s-{number}"), "utf-8"
        )
        at = (THEN - timedelta(seconds=count - number)).timestamp()
        os.utime(session / "updates.jsonl", (at, at))
    ids: set[str] = set()
    cursor: str | None = None
    for _ in range(20):
        answer = poll(grok, cursor)
        if answer is None:
            break
        assert len(answer.operations) < polling.MOST_OPERATIONS + 20
        ids |= {one.id for one in answer.operations if one.op == "thought"}
        cursor = answer.cursor
    else:
        pytest.fail("it does not come to an end")
    assert len(ids) == 3 * (count + 1)
    assert len(json.loads(cursor or "{}")["seen"]) <= polling.REMEMBERED


def test_plane_takes_it_in_and_adds_nothing_a_second_time(
    make_plane: Callable[..., Plane], grok: Path, put: Put, hook: Hook
) -> None:
    put("session")
    settings: dict[str, Any] = {"home": str(grok), "recent_hours": 1_000_000}
    plane = make_plane("grok", plugin={"grok": settings})
    plane.ingest()
    kinds = sorted(thought.kind for thought in plane.thoughts())
    assert kinds == ["decision", "milestone", "question"]
    assert not plane.items()  # the person answered it
    for name in ("asked", "stopped", "stopped", "answered", "stopped at the end"):
        plane.spool(hook(name))
    plane.ingest()
    assert sorted(thought.kind for thought in plane.thoughts()) == kinds
