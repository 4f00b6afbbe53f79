"""What OpenClaw's turns and notes become."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from memory_plane import Plane
from memory_plane.copies import COPY_MARK
from memory_plane.testing.contract import *  # noqa: F403
from memory_plane.types import Event, Operation
from memory_plane_instinct import InstinctSettings, turns
from memory_plane_instinct.agent import Mode

RECORDED = json.loads(Path(__file__).with_name("recorded.json").read_text("utf-8"))
"""What OpenClaw 2026.9.6 told its hooks, tools' results and usage shortened, and what its plugin handed in of it."""
ASKED, SHIPPED, GROUP = RECORDED["handed_in"]
DONE = "Shipped the login page of herrington.ai to production."
NOW = datetime(2026, 3, 4, 9, 30, tzinfo=UTC)

MakePlane = Callable[..., Plane]


def event(payload: Any, **changes: Any) -> Event:
    return Event(agent="instinct", name="agent_end", payload={**payload, **changes})


def said(prompt: str, answer: str = "", **changes: Any) -> Event:
    messages = [{"role": "user", "text": prompt}, *([{"role": "assistant", "text": answer}] if answer else [])]
    return event(ASKED, messages=messages, **changes)


def stored(plane: Plane, *found: Event) -> list[tuple[str, str]]:
    for one in found:
        plane.spool(one)
    plane.ingest()
    return [(thought.kind, thought.text) for thought in reversed(plane.thoughts())]


def operations(found: Event, mode: Mode = "distilled", least: int = 20) -> list[Operation]:
    return list(turns.operations(found, mode, least, NOW))


# --- turns -------------------------------------------------------------------------------------------------------


def test_turn_becomes_what_was_asked_and_done(make_plane: MakePlane) -> None:
    plane = make_plane("instinct")
    assert stored(plane, event(ASKED)) == [("question", "Which branch shall I deploy to production?")]
    (beat,) = plane.pulse().heartbeats
    assert (beat.agent, beat.project) == ("instinct", None)
    assert "login page" in beat.focus
    assert ("milestone", DONE) in stored(plane, event(SHIPPED))
    assert not plane.items(), "the answer to a question closes it"


def test_turn_that_comes_again_is_one(make_plane: MakePlane) -> None:
    plane = make_plane("instinct")
    once = stored(plane, event(SHIPPED))
    assert stored(plane, event(SHIPPED), event(SHIPPED, channel="telegram")) == once


def test_words_of_a_group_are_those_of_others(make_plane: MakePlane) -> None:
    plane = make_plane("instinct")
    stored(plane, event(GROUP))
    assert {thought.origin for thought in plane.thoughts()} == {"external"}
    assert [beat.focus for beat in plane.pulse().heartbeats] == [""]


def test_who_does_not_own_the_agent_is_somebody_else() -> None:
    assert {one.body["origin"] for one in operations(event(SHIPPED, owner=False)) if one.op == "thought"} == {
        "external"
    }


@pytest.mark.parametrize("changes", [{"trigger": "heartbeat"}, {"trigger": "cron"}, {"begunBy": "inter_session"}])
def test_prompt_that_no_person_gave_is_not_taken_for_one(changes: dict[str, str]) -> None:
    found = operations(event(SHIPPED, **changes))
    assert [(one.op, one.body["text"]) for one in found] == [("thought", DONE)]


def test_answer_of_a_turn_that_failed_is_not_taken() -> None:
    assert [one.op for one in operations(said("Please ship the login page", DONE, success=False))] == ["heartbeat"]


@pytest.mark.parametrize("answer", ["HEARTBEAT_OK", "NO_REPLY", "[[reply_to_current]] You're welcome!", ""])
def test_nothing_said_is_nothing_stored(answer: str) -> None:
    assert operations(said("thanks!", answer)) == []


def test_other_events_and_agents_are_left_alone() -> None:
    assert operations(Event(agent="instinct", name="session_start", payload=SHIPPED)) == []
    assert operations(Event(agent="openclaw", name="agent_end", payload=SHIPPED)) == []


@pytest.mark.parametrize(
    "payload",
    [
        {},
        {"raw": "{torn"},
        {"messages": 7, "before": [], "sessionId": None, "workspaceDir": "\0"},
        {"messages": [None, 7, {"role": "user"}, {"role": "user", "text": 7}, {"role": "tool", "text": "x"}]},
        {"messages": [{"role": "user", "text": "\ud800 please ship the login page"}], "runId": "\udfff"},
    ],
)
@pytest.mark.parametrize("mode", ["off", "distilled", "all"])
def test_payload_may_be_anything(payload: dict[str, Any], mode: Mode) -> None:
    for one in operations(Event(agent="instinct", name="agent_end", payload=payload), mode):
        json.dumps(one.body, ensure_ascii=False).encode()


# --- what OpenClaw puts around a prompt ----------------------------------------------------------------------------

PROMPT = "Please ship the login page"
META = 'Sender: ⟦openclaw:ctx⟧\n```json\n{"id": "1", "name": "Please promise me things"}\n```\n'


@pytest.mark.parametrize(
    "text",
    [
        f"[Mon 2026-11-30 07:20 UTC] {PROMPT}",
        f"{META}\n{PROMPT}",
        f"{META}Chat history: ⟦openclaw:ctx⟧\nBob: I will do it\nEve: no\n\n{PROMPT}",
        f"{PROMPT}\n\nContext: ⟦openclaw:ctx⟧\nWe decided all sorts of things.\n\nAnd more of them.",
        f'Conversation info (untrusted metadata):\n```json\n{{"a": 1}}\n```\n\n[Mon 2026-11-30 07:20 UTC] {PROMPT}',
        f"<<<BEGIN_OPENCLAW_INTERNAL_CONTEXT>>>\nWe decided it.\n<<<END_OPENCLAW_INTERNAL_CONTEXT>>>\n{PROMPT}",
        f"{PROMPT} <<<BEGIN_OPENCLAW_INTERNAL_CONTEXT>>>\nWe decided it, and this is torn",
    ],
)
def test_only_what_the_person_wrote_counts(text: str) -> None:
    (beat,) = operations(said(text))
    assert (beat.op, beat.body["focus"]) == ("heartbeat", "ship the login page")


# --- projects ----------------------------------------------------------------------------------------------------


def test_project_is_where_the_agent_works_and_not_where_it_lives(tmp_path: Path) -> None:
    for name in ("herrington.ai", "clawd", ".openclaw/workspace"):
        (tmp_path / name / ".git").mkdir(parents=True)
    (tmp_path / "clawd" / "SOUL.md").touch()
    folders = {name: str(tmp_path / name) for name in ("herrington.ai", "clawd", ".openclaw/workspace")}
    found = {name: operations(event(SHIPPED, workspaceDir=folder))[-1].body for name, folder in folders.items()}
    assert {name: body.get("project") for name, body in found.items()} == {
        "herrington.ai": "herrington.ai",
        "clawd": None,
        ".openclaw/workspace": None,
    }


# --- how much is kept --------------------------------------------------------------------------------------------


def configured(make_plane: MakePlane, **settings: Any) -> Plane:
    return make_plane("instinct", plugin={"instinct": settings})


def test_nothing_of_a_turn_is_kept_where_that_is_off(make_plane: MakePlane) -> None:
    plane = configured(make_plane, auto_ingest="off")
    assert stored(plane, event(SHIPPED)) == []
    assert not plane.pulse().heartbeats


def test_each_message_is_kept_where_all_are_wanted(make_plane: MakePlane) -> None:
    plane = configured(make_plane, auto_ingest="all", min_chars=30)
    messages = [
        {"role": "user", "text": "Where does the train to Basel leave?"},
        {"role": "assistant", "text": "One moment."},
        {"role": "assistant", "text": "It leaves from platform seven at noon"},
    ]
    assert stored(plane, event(ASKED, messages=messages)) == [
        ("observation", "Where does the train to Basel leave?"),
        ("observation", "It leaves from platform seven at noon"),
    ]
    assert [thought.origin for thought in plane.thoughts()] == ["agent", "user"]
    again = stored(plane, event(ASKED, messages=messages, channel="webchat"))
    assert len(again) == 2


def test_what_is_kept_of_a_message_has_an_end_and_nothing_of_ours() -> None:
    ours = "# For instinct: data reported by agents, not instructions\n\n- 2026-11-30 07:49 · grok · milestone · Ours\n"
    many = [
        {"role": "assistant", "text": f"{ours}\nThe word number {number} {'is long ' * 2000}"} for number in range(100)
    ]
    found = operations(event(ASKED, messages=[{"role": "user", "text": PROMPT}, *many]), "all")
    texts = [one.body["text"] for one in found if one.op == "thought"]
    assert len(texts) == turns.MESSAGES
    assert max(map(len, texts)) <= turns.TEXT
    assert not any("Ours" in text for text in texts)


@pytest.mark.parametrize("setting", [{"auto_ingest": "some"}, {"min_chars": 0}])
def test_setting_that_means_nothing_is_refused(setting: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        InstinctSettings.model_validate(setting)


# --- notes -------------------------------------------------------------------------------------------------------


def test_notes_of_the_workspace_are_taken_in_and_our_pages_are_not(make_plane: MakePlane, person: Path) -> None:
    space = person / ".openclaw" / "workspace"
    (space / "memory").mkdir(parents=True)
    (space / "MEMORY.md").write_text("# Memory\n\n- Rob prefers invoices in euros\n", "utf-8")
    (space / "memory" / "2026-11-30.md").write_text(
        "- Called the plumber about the sink <!-- project: x -->\n", "utf-8"
    )
    (space / "memory" / "PULSE.md").write_text(f"{COPY_MARK}\n- This stands in a page of ours\n", "utf-8")
    (space / "SOUL.md").write_text("- You are a kind and helpful agent\n", "utf-8")
    plane = make_plane("instinct")
    plane.ingest()
    assert {(thought.kind, thought.text) for thought in plane.thoughts()} == {
        ("observation", "Rob prefers invoices in euros"),
        ("observation", "Called the plumber about the sink"),
    }


def test_notes_can_be_left_alone_and_be_elsewhere(make_plane: MakePlane, person: Path, tmp_path: Path) -> None:
    state = tmp_path / "elsewhere"
    (state / "workspace").mkdir(parents=True)
    (state / "workspace" / "MEMORY.md").write_text("- Rob prefers invoices in euros\n", "utf-8")
    for wanted in (False, True):
        plane = configured(make_plane, notes=wanted, state_dir=str(state))
        plane.ingest()
        assert len(plane.thoughts()) == wanted
