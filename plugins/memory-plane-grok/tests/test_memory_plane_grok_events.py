from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from memory_plane.types import Event, Operation
from memory_plane_grok import events

if TYPE_CHECKING:
    from conftest import Hook, Put

NOW = datetime(2026, 12, 1, 9, 30, tzinfo=UTC)
SHIPPED = "Shipped the login page of herrington.ai to production."


def taken(grok: Path, *found: Event) -> list[Operation]:
    return [one for event in found for one in events.operations(event, grok / "sessions", now=NOW)]


def told(operations: list[Operation]) -> list[tuple[str, str]]:
    """Return each operation once: what it is and what it says."""
    once = {one.id: one for one in reversed(operations)}.values()
    return sorted((one.body.get("kind", one.op), one.body.get("text") or one.body.get("focus", "")) for one in once)


ONE_TURN = [
    ("decision", "We decided to use argon2 for passwords."),
    ("heartbeat", "ship the login page of herrington.ai"),
    ("milestone", SHIPPED),
    ("question", "Shall I announce it on Friday?"),
]


def test_prompt_becomes_the_focus_at_once(grok: Path, hook: Hook) -> None:
    (beat,) = taken(grok, hook("asked"))
    assert (beat.op, beat.agent, beat.body["project"]) == ("heartbeat", "grok", "herrington.ai")
    assert beat.body["focus"] == "ship the login page of herrington.ai"


def test_end_of_a_turn_becomes_what_was_done(grok: Path, hook: Hook, put: Put) -> None:
    put("session")
    assert told(taken(grok, hook("stopped"))) == ONE_TURN


def test_end_of_a_turn_is_told_by_its_event_where_the_session_cannot_be_read(grok: Path, hook: Hook) -> None:
    (*_, milestone, _) = told(taken(grok, hook("stopped")))
    assert milestone == ("milestone", SHIPPED)


def test_end_of_a_session_holds_no_message_and_is_told_by_its_last_turn(grok: Path, hook: Hook, put: Put) -> None:
    path = put("session")
    lines = path.read_text("utf-8").splitlines(keepends=True)
    path.write_text("".join(lines[:14]), "utf-8")  # as it was before the session was resumed
    assert told(taken(grok, hook("stopped at the end"))) == ONE_TURN


def test_turn_of_three_registrations_is_one_turn(grok: Path, hook: Hook, put: Put) -> None:
    put("session")
    of_claude = {
        "hookEventName": None,
        "sessionId": None,
        "promptId": None,
        "prompt_id": hook("stopped").payload["promptId"],
    }
    of_claude |= {
        "lastAssistantMessage": None,
        "last_assistant_message": hook("stopped").payload["lastAssistantMessage"],
    }
    of_claude |= {"transcriptPath": None}
    found = taken(grok, hook("asked"), hook("stopped"), hook("stopped"), hook("stopped", **of_claude), hook("asked"))
    assert told(found) == ONE_TURN


def test_answer_to_a_question_closes_it(grok: Path, hook: Hook, put: Put) -> None:
    put("session")
    asked = taken(grok, hook("stopped"))
    (question,) = [one for one in asked if one.body.get("kind") == "question"]
    answered = taken(grok, hook("answered"))
    assert ("resolve", question.id) in [(one.op, one.body.get("item")) for one in answered]


def test_late_event_is_told_by_its_own_turn_and_not_by_the_last(grok: Path, hook: Hook, put: Put) -> None:
    put("session")  # it was resumed since
    assert told(taken(grok, hook("stopped", lastAssistantMessage=None))) == ONE_TURN


def test_message_that_was_cut_short_is_taken_from_the_session(grok: Path, hook: Hook, put: Put) -> None:
    put("session")
    assert told(taken(grok, hook("stopped", lastAssistantMessage="Shipped the… [+99 chars]"))) == ONE_TURN


@pytest.mark.parametrize("name", ["helper asked", "helper stopped"])
def test_helpers_are_left_to_who_sent_them(grok: Path, hook: Hook, put: Put, name: str) -> None:
    put("sender", "helper")
    assert taken(grok, hook(name)) == []
    assert taken(grok, hook(name, hook_event_name="Stop")) == []


def test_what_wakes_grok_is_no_prompt_and_its_answer_counts(grok: Path, hook: Hook, put: Put) -> None:
    put("sender", "helper")
    assert taken(grok, hook("woken")) == []
    assert told(taken(grok, hook("woken stopped"))) == [("decision", "We decided to use Postgres for everything.")]


@pytest.mark.parametrize("name", ["started", "worked", "ended", "resumed"])
def test_other_events_say_nothing(grok: Path, hook: Hook, put: Put, name: str) -> None:
    put("session")
    assert taken(grok, hook(name)) == []


def test_small_talk_stores_nothing(grok: Path, hook: Hook) -> None:
    chat = hook(
        "stopped", lastAssistantMessage="You're welcome! Anything else?", transcriptPath=None, transcript_path=None
    )
    assert taken(grok, hook("asked", prompt="thanks!"), chat) == []


def test_file_that_is_no_session_of_grok_is_not_read(grok: Path, hook: Hook, put: Put, tmp_path: Path) -> None:
    path = put("session")
    secret = tmp_path / "updates.jsonl"
    path.rename(secret)
    path.symlink_to(secret)
    other = path.with_name("mcp_credentials.json")
    other.write_text(secret.read_text("utf-8"), "utf-8")
    places: list[Any] = [
        secret,
        path,
        other,
        path.parent,
        f"{path.parent}/../../../x/updates.jsonl",
        "\0",
        "~",
        7,
        ["a"],
    ]
    for place in places:
        named = str(place) if isinstance(place, Path) else place
        found = hook("stopped at the end", transcriptPath=named, transcript_path=None)
        assert taken(grok, found) == [], place


def test_event_of_the_bot_says_nothing(grok: Path, hook: Hook) -> None:
    event = hook("asked")
    assert taken(grok, Event(agent="grokbot", name=event.name, payload=event.payload)) == []
