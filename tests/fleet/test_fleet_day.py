"""A test day: a fleet of agents takes 200 turns, and its hub is killed, restarted and away meanwhile.

Each turn comes as its agent's real payloads through the real hook shim, a message of others through the webhook. Then
all that was given to anybody, every page and the memory itself are looked at.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from memory_plane import Plane
from memory_plane.pages import BRIEF_BYTES, PULSE_BYTES, SHARED_MEMORY_CHARACTERS, escape
from memory_plane.types import OpenItem

from .day import AGENT_AWAY, AWAY, CUT, FLEET, HUB_AWAY, MESSAGES, REST, SECRET, Turn, events, write
from .fleet import Fleet, Given

SEED = 7
STARTS_ANEW = ("claude-code", "codex", "gemini-cli")
"""Who is given the whole brief again in a session that is resumed."""
KINDS = {
    "promise": "commitment", "private": "commitment", "message": "commitment",
    "question": "question", "attack": "question",
    "handoff": "handoff",
}  # fmt: skip
"""What stays open until somebody closes it."""


@dataclass(frozen=True)
class Day:
    """What is left of a day: what was given to whom, how large pages were and what they say, what the memory holds."""

    turns: list[Turn]
    given: list[Given]
    sizes: list[tuple[int, str, int]]
    pages: dict[str, str]
    operations: list[dict[str, Any]]
    items: list[OpenItem]

    def given_to(self, agent: str) -> list[Given]:
        return [one for one in self.given if one.turn.agent == agent]

    def closed(self) -> list[Turn]:
        return [one.closes for one in self.turns if one.closes is not None]

    def thoughts(self) -> list[dict[str, Any]]:
        return [one for one in self.operations if one["op"] == "thought"]

    def part(self, part: tuple[float, float]) -> range:
        return range(*(int(len(self.turns) * one) for one in part))


def entries(page: str) -> list[str]:
    return [line for line in page.splitlines() if line.startswith("- ") and not line.startswith("- … ")]


def tells(page: str, turn: Turn) -> int:
    """Count how often a page tells what a turn is kept for, as much of it as goes on a line."""
    return page.count(escape(turn.kept)[:100]) if turn.kept else 0


def cut(text: str) -> str:
    """Name all that was cut out alike: who finds a secret calls it its own way."""
    return re.sub(r"\[redacted:[\w-]+\]", CUT, text)


# --- what agents are given -------------------------------------------------------------------------------------------


def every_agent_hears_what_others_did_that_it_cares_for(day: Day) -> None:
    """Whoever takes a turn soon after that is on the pages; now and then newer things have its place already."""
    rests = [number for number, what in events(len(day.turns)).items() if what == "rest"]
    due, missed = 0, []
    for turn in (one for one in day.turns if one.to and one not in day.closed()):
        shown = min(number for number in rests if number > turn.number)
        listens = [one.number for one in day.turns if one.agent == turn.to and shown <= one.number < shown + REST]
        if listens and shown - turn.number <= REST:
            due += 1
            missed += [] if any(tells(one.text, turn) for one in day.given_to(turn.to)) else [turn]
    assert due > len(day.turns) / 4
    assert len(missed) <= due * 0.03, missed
    assert not [one for one in missed if one.sort == "handoff"], missed


def no_agent_is_given_its_own_words(day: Day) -> None:
    for turn in day.turns:
        assert not [one for one in day.given_to(turn.agent) if tells(one.text, turn)], turn


def small_talk_and_what_concerns_nobody_is_given_to_nobody(day: Day) -> None:
    for one in day.given:
        told = one.text.partition("## What the others do")[0]
        assert not re.search(r"welcome|great|Anything else|lol|Understood|nothing \d|plant", told), one


def nothing_is_given_twice_in_a_session(day: Day) -> None:
    for session in {one.turn.session for one in day.given}:
        seen: Counter[str] = Counter()
        for one in (one for one in day.given if one.turn.session == session):
            if one.event == "SessionStart" and one.turn.agent in STARTS_ANEW:
                seen.clear()
            seen.update(entries(one.text))
        assert not [line for line, times in seen.items() if times > 1], session


def no_brief_says_anything_twice(day: Day) -> None:
    for page in [*(one.text for one in day.given), *(day.pages[f"brief/{name}.md"] for name in FLEET)]:
        for turn in day.turns:
            assert tells(page, turn) <= 1, page


def words_of_other_people_are_fenced_wherever_they_stand(day: Day) -> None:
    fence = re.compile(r"⟨external(?:, via muse)?⟩ “[^“”]*”")
    for page in [*(one.text for one in day.given), *day.pages.values()]:
        assert not re.search("iMessage|Ignore all", fence.sub("", page)), page
    assert any(fence.search(one.text) for one in day.given)


def what_is_handed_over_meanwhile_is_given_once_to_who_returns(day: Day) -> None:
    away = day.part(AGENT_AWAY)
    handed = [one for one in day.turns if one.sort == "handoff" and one.about == AWAY and one.number in away]
    assert {one.number in day.part(HUB_AWAY) for one in handed} == {True, False}
    back = next(one for one in day.turns if one.agent == AWAY and one.number >= away.stop)
    for turn in handed:
        told = [one for one in day.given_to(AWAY) if tells(one.text, turn) and one.turn.session == back.session]
        assert [(one.turn.number, one.event) for one in told] == [(back.number, "SessionStart")], turn


def what_is_over_is_in_no_brief_any_more(day: Day) -> None:
    briefs = [page for name, page in day.pages.items() if name.startswith("brief/")]
    for turn in (one for one in day.turns if one.closes is not None):
        assert turn.closes is not None
        assert not [page for page in briefs if tells(page, turn.closes)], turn
        late = [one for one in day.given if one.turn.number > turn.number and tells(one.text, turn.closes)]
        assert turn.sort != "done" or not late, turn


def sizes_stay_within_their_budgets(day: Day) -> None:
    most = {"PULSE.md": PULSE_BYTES, "SHARED_MEMORY.md": SHARED_MEMORY_CHARACTERS}
    assert {number for number, name, _ in day.sizes if name == "PULSE.md"} == {turn.number for turn in day.turns}
    assert not [(number, name) for number, name, size in day.sizes if size > most.get(name, BRIEF_BYTES)]
    assert not [one for one in day.given if len(one.text.encode()) > BRIEF_BYTES]


# --- what the memory holds -------------------------------------------------------------------------------------------


def memory_holds_what_was_said_once_and_nothing_else(day: Day) -> None:
    said = Counter((turn.agent, turn.kept) for turn in day.turns if turn.kept)
    held = Counter((one["agent"], one["body"]["text"]) for one in day.thoughts())
    assert held == said
    assert set(said.values()) == {1}


def words_of_other_people_stay_external(day: Day) -> None:
    origins = {(one["agent"] == MESSAGES, one["body"]["origin"]) for one in day.thoughts()}
    assert origins == {(True, "external"), (False, "agent"), (False, "user")}


def open_is_what_nobody_closed(day: Day) -> None:
    still = [turn for turn in day.turns if turn.sort in KINDS and turn not in day.closed()]
    assert Counter((one.kind, one.text) for one in day.items) == Counter((KINDS[one.sort], one.kept) for one in still)
    assert all(one.due_at for one in day.items if one.kind == "commitment")


def what_every_agent_does_is_known(day: Day) -> None:
    rows = [line.split(" | ") for line in day.pages["PULSE.md"].splitlines() if line.startswith("| ")]
    focus = {row[0].removeprefix("| "): row[1].replace("\\", "").rstrip("…") for row in rows}
    for agent in FLEET:
        silent = ("small talk", "private", "decision")
        told = [one for one in day.turns if one.agent == agent and one.sort not in silent]
        asked = [one.prompt.replace(SECRET, CUT) for one in told if one.sort != "yes" or one is told[-1]]
        assert any(focus[agent] in prompt for prompt in asked[-2:]), agent


CHECKS: tuple[Callable[[Day], None], ...] = (
    every_agent_hears_what_others_did_that_it_cares_for,
    no_agent_is_given_its_own_words,
    small_talk_and_what_concerns_nobody_is_given_to_nobody,
    nothing_is_given_twice_in_a_session,
    no_brief_says_anything_twice,
    words_of_other_people_are_fenced_wherever_they_stand,
    what_is_handed_over_meanwhile_is_given_once_to_who_returns,
    what_is_over_is_in_no_brief_any_more,
    sizes_stay_within_their_budgets,
    memory_holds_what_was_said_once_and_nothing_else,
    words_of_other_people_stay_external,
    open_is_what_nobody_closed,
    what_every_agent_does_is_known,
)


def live(fleet: Fleet, turns: list[Turn]) -> None:
    """Take the turns of a day, with what happens to the hub meanwhile."""
    happens = events(len(turns))
    for turn in turns:
        match happens.get(turn.number):
            case "rest":
                fleet.rest()
            case "stop":
                assert fleet.hub.stop() == (0, "", "")
            case "start":
                fleet.restart()
            case "kill":
                fleet.take(turn, meanwhile=fleet.hub.kill)
                fleet.restart()
                continue
        fleet.take(turn)
    fleet.rest()
    assert fleet.hub.stop() == (0, "", "")


def left(fleet: Fleet, turns: list[Turn], plane: Plane) -> Day:
    """Return what is left of a day in a home."""
    given = [replace(one, text=cut(one.text)) for one in fleet.given]
    pages = {path.relative_to(fleet.home).as_posix(): cut(path.read_text("utf-8")) for path in fleet.home.rglob("*.md")}
    operations = [one for one in map(json.loads, map(cut, plane.export())) if "op" in one]
    return Day(turns, given, fleet.sizes, pages, operations, plane.items(limit=1000))


@pytest.fixture
def fleet(home: Path, empty_database: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Fleet]:
    plugins = {"local", "muse", *(form["plugin"] for form in FLEET.values())}
    monkeypatch.setenv("MEMORY_PLANE_PLUGINS__ENABLED", json.dumps(sorted(plugins)))
    with Fleet(home, empty_database) as fleet:
        yield fleet


def test_fleet_lives_through_a_day(fleet: Fleet, sized: Callable[[int, int], int], subtests: pytest.Subtests) -> None:
    turns = write(sized(200, 1000), SEED)
    live(fleet, turns)
    with Plane(home=fleet.home) as plane:
        day = left(fleet, turns, plane)
        for check in CHECKS:
            with subtests.test(check.__name__.replace("_", " ")):
                check(day)
        with subtests.test("the same day once more adds nothing"):
            before = list(plane.export())
            fleet.replay()
            assert plane.ingest().events == len(fleet.sent)
            assert list(plane.export()) == before
    with subtests.test("no secret is anywhere"):
        files = [path for path in fleet.home.rglob("*") if path.is_file()]
        assert not [path for path in files if SECRET.encode() in path.read_bytes()]
