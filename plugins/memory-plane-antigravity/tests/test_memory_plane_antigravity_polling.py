"""polling.py: what reaches the memory although no hook and no tool was called."""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any
from uuid import UUID

import pytest

from memory_plane.types import Operation
from memory_plane_antigravity import places, polling, summaries

if TYPE_CHECKING:
    from conftest import Antigravity

ID = "5f0c2d9e-0000-4000-8000-000000000001"
OTHER = "5f0c2d9e-0000-4000-8000-000000000002"
DAY = timedelta(days=1)


class Poller:
    """Polls with the cursor of the last time, at `now` or later."""

    def __init__(self, antigravity: Antigravity, recent: timedelta = DAY) -> None:
        self.antigravity, self.recent, self.cursor = antigravity, recent, ""

    def operations(self, later: float = 0) -> tuple[Operation, ...]:
        now = self.antigravity.now + timedelta(minutes=later)
        found = polling.poll(self.antigravity.home, self.cursor or None, now, self.recent)
        self.cursor = found.cursor or self.cursor if found else self.cursor
        return found.operations if found else ()

    def told(self, later: float = 0) -> list[tuple[str, ...]]:
        """Return a heartbeat as focus, project and status, a thought as its kind and text."""
        shown = ("focus", "project", "status"), ("kind", "text")
        found = self.operations(later)
        return [tuple(str(one.body.get(name)) for name in shown[one.op == "thought"]) for one in found]


def turn(
    a: Antigravity, id: str, at: float, task: str = "login", *, step: int = 0, app: str = "antigravity-cli"
) -> None:
    """Write a whole turn that ended so many minutes ago; the file is as old."""
    prompt = a.asked(step, a.at(at + 1), f"Fix the {task} bug")
    path = a.write(id, prompt, a.said(step + 1, a.at(at), f"Fixed the {task} bug."), app=app)
    touched(path, a.at(at))


def touched(path: Any, at: datetime) -> None:
    os.utime(path, (at.timestamp(), at.timestamp()))


def numbered(number: int) -> str:
    return str(UUID(int=number))


# --- what is told ------------------------------------------------------------------------------------------------


def test_turn_reaches_the_memory_without_any_hook(antigravity: Antigravity) -> None:
    a = antigravity
    turn(a, ID, 5)
    a.summarize(ID, title="Shop rewrite", workspace_uris=["file:///w/web%20shop"], last_modified_time=a.stamp(a.at(5)))
    poller = Poller(a)
    assert poller.told() == [
        ("Shop rewrite: Fix the login bug", "web shop", "idle"),
        ("milestone", "Fixed the login bug."),
    ]
    assert poller.told() == []


@pytest.mark.parametrize("schema", ["early", "usual", "late"])
@pytest.mark.parametrize("app", places.APPS)
def test_every_app_and_every_version_is_read(antigravity: Antigravity, app: str, schema: str) -> None:
    antigravity.summarize(
        ID, app=app, schema=schema, title="Shop rewrite", preview="Fix the login bug", workspace_uris=["/w/shop"]
    )
    assert Poller(antigravity).told() == [("Shop rewrite: Fix the login bug", "shop", "idle")]


def test_conversation_that_the_database_forgot_is_one(antigravity: Antigravity) -> None:
    turn(antigravity, ID, 5)
    assert Poller(antigravity).told() == [("Fix the login bug", "None", "idle"), ("milestone", "Fixed the login bug.")]


def test_only_what_is_new_is_told(antigravity: Antigravity) -> None:
    poller = Poller(antigravity)
    turn(antigravity, ID, 9)
    poller.told()
    turn(antigravity, OTHER, 7, "search")
    turn(antigravity, ID, 5, "checkout", step=2)
    assert [one[-1] for one in poller.told() if one[0] == "milestone"] == [
        "Fixed the search bug.",
        "Fixed the checkout bug.",
    ]


def test_turn_that_goes_on_is_told_as_such_and_then_as_over(antigravity: Antigravity) -> None:
    a, poller = antigravity, Poller(antigravity)
    a.write(ID, a.asked(0, a.at(3), "Fix the login bug"))
    a.summarize(ID, not_fully_idle=1, last_modified_time=a.stamp(a.at(3)))
    assert poller.told() == [("Fix the login bug", "None", "working")]
    a.write(ID, a.said(1, a.at(2), "Fixed the login bug."))
    assert [one[-1] for one in poller.told()] == ["working"], "the database says that it still runs"
    a.summarize(ID, not_fully_idle=0, last_modified_time=a.stamp(a.at(2)))
    assert [one[-1] for one in poller.told()] == ["idle", "Fixed the login bug."]


def test_turn_that_went_quiet_is_over(antigravity: Antigravity) -> None:
    a, poller = antigravity, Poller(antigravity)
    path = a.write(ID, a.asked(0, a.at(3), "Fix the login bug"), a.said(1, a.at(3), "Looking.", [("view_file", {})]))
    touched(path, a.at(3))
    a.summarize(ID, not_fully_idle=1, last_modified_time=a.stamp(a.at(3)))
    (working,) = poller.operations()
    assert poller.told(later=5) == []
    (idle,) = poller.operations(later=8)
    assert (working.body["status"], idle.body["status"]) == ("working", "idle")
    assert working.created_at < idle.created_at
    assert poller.told(later=30) == []


def test_focus_of_a_long_turn_stays_fresh_at_a_small_price(antigravity: Antigravity) -> None:
    a, poller, told = antigravity, Poller(antigravity), dict[str, datetime]()
    a.write(ID, a.asked(0, a.at(90), "Fix the login bug"))
    for minute in range(1, 90):
        a.write(ID, a.said(minute, a.at(90 - minute), calls=[("view_file", {})]))
        for one in poller.operations():
            told.setdefault(one.id, one.created_at)
        assert a.at(90 - minute) - max(told.values()) < timedelta(minutes=15)
    assert len(told) <= 8


def test_title_that_comes_later_is_told(antigravity: Antigravity) -> None:
    a, poller = antigravity, Poller(antigravity)
    turn(a, ID, 5)
    a.summarize(ID, last_modified_time=a.stamp(a.at(5)))
    before, _ = poller.operations()
    a.summarize(ID, title="Shop rewrite", last_modified_time=a.stamp(a.at(5)))
    after, _ = poller.operations()
    assert (before.body["focus"], after.body["focus"]) == ("Fix the login bug", "Shop rewrite: Fix the login bug")
    assert before.created_at < after.created_at


def test_cancelled_turn_is_over_with_the_next_prompt(antigravity: Antigravity) -> None:
    a, poller = antigravity, Poller(antigravity)
    cancelled = a.said(1, a.at(3), "Fixed the login bug.", [("run_command", {"CommandLine": "make test"})])
    a.write(ID, a.asked(0, a.at(3), "Fix the login bug"), cancelled)
    assert [one[-1] for one in poller.told()] == ["working"]
    a.write(ID, a.asked(2, a.at(2), "Fix the search bug"))
    assert [one[-1] for one in poller.told()] == ["idle", "Fixed the login bug.", "working"]


def test_killed_turn_is_over(antigravity: Antigravity) -> None:
    a = antigravity
    killed = a.said(1, a.at(3), "Fixed the login bug.", [("run_command", {"CommandLine": "make test"})])
    a.write(ID, a.asked(0, a.at(3), "Fix the login bug"), killed)
    a.summarize(ID, killed=1, not_fully_idle=1)
    assert [one[-1] for one in Poller(a).told()] == ["stopped", "Fixed the login bug."]


def test_state_in_which_it_ended_is_told(antigravity: Antigravity) -> None:
    turn(antigravity, ID, 5)
    antigravity.summarize(ID, killed=1, not_fully_idle=1)
    turn(antigravity, OTHER, 5)
    antigravity.summarize(OTHER, status="CASCADE_RUN_STATUS_ERROR")
    assert {one[-1] for one in Poller(antigravity).told() if one[0] != "milestone"} == {"stopped", "failed"}


def test_turn_after_going_back_is_another_one(antigravity: Antigravity) -> None:
    a, poller = antigravity, Poller(antigravity)
    turn(a, ID, 9)
    first = poller.operations()
    turn(a, ID, 5, "checkout")
    second = poller.operations()
    assert len(second) >= 2
    assert not {one.id for one in first if one.op == "heartbeat"} & {one.id for one in second}


def test_helpers_of_other_conversations_are_not_told(antigravity: Antigravity) -> None:
    turn(antigravity, ID, 5)
    antigravity.summarize(ID, parent_conversation_id=OTHER, nesting_depth=1)
    assert Poller(antigravity).told() == []


# --- how much is told --------------------------------------------------------------------------------------------


def test_first_poll_tells_what_is_recent(antigravity: Antigravity) -> None:
    a = antigravity
    turn(a, ID, 60 * 25, "old")
    turn(a, OTHER, 60 * 23, "recent")
    a.summarize(numbered(7), title="Years ago", last_modified_time="2024-01-05 10:00:00+00:00")
    assert [one[-1] for one in Poller(a).told()] == ["idle", "Fixed the recent bug."]
    everything = Poller(a, recent=timedelta(days=40_000)).told()
    assert [one[-1] for one in everything if one[0] == "milestone"] == ["Fixed the old bug.", "Fixed the recent bug."]
    assert ("Years ago", "None", "idle") in everything
    assert Poller(a, recent=timedelta(0)).told() == []


def test_old_conversation_that_is_taken_up_again_brings_no_old_turns(antigravity: Antigravity) -> None:
    a, poller = antigravity, Poller(antigravity)
    turn(a, ID, 60 * 24 * 90, "old")
    assert poller.told() == []
    turn(a, ID, 1, "new", step=2)
    assert [one[-1] for one in poller.told()] == ["idle", "Fixed the new bug."]


def test_copied_files_are_not_news(antigravity: Antigravity) -> None:
    a = antigravity
    for number in range(5):
        turn(a, numbered(number), 60 * 24 * 90)
        touched(a.write(numbered(number), end=""), a.now)
    poller = Poller(a)
    assert poller.told() == []
    a.summarize(numbered(3), title="Shop rewrite")
    assert poller.told() == [], "looked at, but nothing was asked"


def test_much_at_once_comes_in_portions_and_all_of_it_once(antigravity: Antigravity) -> None:
    a, poller, told, cursors = antigravity, Poller(antigravity), [], []
    for number in range(100):
        turn(a, numbered(number), 200 - number, f"task{number}")
    for _ in range(8):
        found = poller.operations()
        assert len(found) <= 2 * polling.MOST_CONVERSATIONS
        told += [one.body["text"] for one in found if one.op == "thought"]
        cursors.append(len(poller.cursor))
    assert told == [f"Fixed the task{number} bug." for number in range(100)]
    assert max(cursors) < 4_000
    turn(a, numbered(0), 1, "more", step=2)
    assert [one[-1] for one in poller.told()] == ["idle", "Fixed the more bug."]


def test_long_conversations_leave_the_rest_to_the_next_poll(
    antigravity: Antigravity, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(polling, "MOST_OPERATIONS", 10)
    a, poller = antigravity, Poller(antigravity)
    for number in range(3):
        for step in range(0, 20, 2):
            turn(a, numbered(number), 90 - step - number, f"task{number}x{step}", step=step)
    assert [len({one[1] for one in poller.told() if one[0] == "milestone"}) for _ in range(4)] == [10, 10, 10, 0]


def test_very_long_conversation_comes_in_portions_too(antigravity: Antigravity) -> None:
    a, poller = antigravity, Poller(antigravity)
    for step in range(0, 240, 2):
        a.write(
            ID,
            a.asked(step, a.at(500 - step), f"Fix bug {step}"),
            a.said(step + 1, a.at(500 - step), f"Fixed bug {step}."),
        )
    told = [[one[1] for one in poller.told() if one[0] == "milestone"] for _ in range(4)]
    assert [len(each) for each in told] == [50, 50, 20, 0]
    assert [text for each in told for text in each] == [f"Fixed bug {step}." for step in range(0, 240, 2)]


def test_locked_database_is_read_the_next_time(antigravity: Antigravity, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(summaries, "_PATIENCE", 0.01)
    a, poller = antigravity, Poller(antigravity)
    turn(a, ID, 5)
    a.summarize(ID, nesting_depth=1)
    turn(a, OTHER, 5, app="antigravity-ide")
    with closing(sqlite3.connect(a.database(), isolation_level=None)) as writer:
        writer.execute("PRAGMA locking_mode = EXCLUSIVE")
        writer.execute("PRAGMA journal_mode = DELETE")
        writer.execute("BEGIN EXCLUSIVE")
        assert len(poller.told()) == 2, "the other app is read"
    assert poller.told() == [], "and the helper still known as one"
    a.summarize(ID, nesting_depth=0)
    assert len(poller.told()) == 2


@pytest.mark.parametrize(
    "cursor",
    [
        "",
        "7",
        "null",
        "[" * 5_000,
        '{"version": 1}',
        '{"version": 1, "floor": "x", "seen": {}}',
        '{"version": 1, "floor": 1, "seen": []}',
        '{"version": 1, "floor": 1, "seen": {"x": [1, 2]}}',
        '{"version": 1, "floor": 1, "seen": {"x": [1, 2, null]}}',
        '{"version": 1, "floor": 1e300, "seen": {}}',
        '{"version": 1, "floor": 99999999999999999999999, "seen": {}}',
        '{"version": 9, "floor": 1, "seen": {}}',
    ],
)
def test_cursors_of_any_kind_are_survived(antigravity: Antigravity, cursor: str) -> None:
    turn(antigravity, ID, 5)
    poller = Poller(antigravity)
    poller.cursor = cursor
    assert len(poller.told()) == 2
    assert poller.told() == []


def test_nothing_is_said_where_antigravity_never_ran(antigravity: Antigravity) -> None:
    assert polling.poll(antigravity.home, None, antigravity.now, DAY) is None


@pytest.mark.parametrize("name", ["..", "x", "a b c d e f", "проект-один", "x" * 200])
def test_folders_that_are_no_conversations_are_left_alone(antigravity: Antigravity, name: str) -> None:
    turn(antigravity, name, 5)
    antigravity.summarize(name)
    assert Poller(antigravity).told() == []


def test_cursor_says_nothing_of_what_was_said(antigravity: Antigravity) -> None:
    poller = Poller(antigravity)
    turn(antigravity, ID, 5)
    antigravity.summarize(ID, title="Shop rewrite")
    poller.operations()
    values: Sequence[int] = json.loads(poller.cursor)["seen"][f"antigravity-cli/{ID}"]
    assert all(isinstance(value, int) for value in values)
