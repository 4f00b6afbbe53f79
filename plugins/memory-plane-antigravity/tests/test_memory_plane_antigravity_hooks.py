"""hooks.py and places.py: what a hook tells of, and which files a payload can make us read."""

from __future__ import annotations

import os
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from memory_plane.types import Event, Operation
from memory_plane_antigravity import hooks, places, polling, summaries

if TYPE_CHECKING:
    from conftest import Antigravity

ID = "5f0c2d9e-0000-4000-8000-000000000001"


def heard(a: Antigravity, event: Event) -> tuple[Operation, ...]:
    found = hooks.take(a.home, event, a.now)
    return found.operations if found else ()


def told(operations: tuple[Operation, ...]) -> list[tuple[str, ...]]:
    """Return a heartbeat as focus, project and status, a thought as its kind and text."""
    shown = ("focus", "project", "status"), ("kind", "text")
    return [tuple(str(one.body.get(name)) for name in shown[one.op == "thought"]) for one in operations]


def turn(a: Antigravity, answer: str = "Fixed the login bug.", prompt: str = "Fix the login bug") -> Path:
    return a.write(ID, a.asked(0, a.at(5), prompt), a.said(1, a.at(4), answer))


# --- Stop --------------------------------------------------------------------------------------------------------


def test_stop_tells_of_the_turn_that_ended(antigravity: Antigravity) -> None:
    a = antigravity
    turn(a)
    found = heard(a, a.event("Stop", ID))
    assert told(found) == [("Fix the login bug", "shop", "idle"), ("milestone", "Fixed the login bug.")]
    assert {one.agent for one in found} == {"antigravity"}
    assert [one.created_at - a.at(4) < timedelta(seconds=1) for one in found] == [True, True]


PAYLOADS: dict[str, dict[str, Any]] = {  # what was seen to come with every event, and what may be left out
    "bare": {"modelName": None, "artifactDirectoryPath": None},
    "1.2.7": {},
    "several folders": {"workspacePaths": ["/w/shop", "/w/docs"]},
}


@pytest.mark.parametrize("form", PAYLOADS)
def test_stop_of_every_form_tells_of_its_turn(antigravity: Antigravity, form: str) -> None:
    turn(antigravity)
    event = antigravity.event("Stop", ID, **PAYLOADS[form])
    sent = replace(event, payload={name: value for name, value in event.payload.items() if value is not None})
    assert told(heard(antigravity, sent))[0] == ("Fix the login bug", "shop", "idle")


def test_same_stop_twice_has_the_same_ids(antigravity: Antigravity) -> None:
    turn(antigravity)
    assert heard(antigravity, antigravity.event("Stop", ID)) == heard(antigravity, antigravity.event("Stop", ID))


@pytest.mark.parametrize("app", places.APPS)
def test_hook_and_poll_have_the_same_ids(antigravity: Antigravity, app: str) -> None:
    a = antigravity
    a.write(ID, a.asked(0, a.at(5), "Fix the login bug"), a.said(1, a.at(4), "Fixed the login bug."), app=app)
    a.summarize(ID, app=app, title="Login", workspace_uris=["file:///w/shop"])
    polled = polling.poll(a.home, None, a.now, timedelta(days=1))
    assert polled is not None
    assert [one.id for one in polled.operations] == [one.id for one in heard(a, a.event("Stop", ID, app=app))]
    assert len(polled.operations) == 2


def test_title_of_the_conversation_comes_before_the_prompt(antigravity: Antigravity) -> None:
    a = antigravity
    turn(a)
    a.summarize(ID, title="Shop rewrite")
    assert told(heard(a, a.event("Stop", ID)))[0][0] == "Shop rewrite: Fix the login bug"
    a.summarize(ID, title="Fix the login")
    assert told(heard(a, a.event("Stop", ID)))[0][0] == "Fix the login bug"


def test_task_of_the_turn_comes_before_the_title(antigravity: Antigravity) -> None:
    a = antigravity
    a.write(ID, a.asked(0, a.at(5), "Fix the login bug"))
    a.write(ID, a.said(1, a.at(4), "It is fine.", [("task_boundary", {"TaskName": "Verifying Login"})]))
    a.summarize(ID, title="Shop rewrite")
    assert told(heard(a, a.event("PreInvocation", ID)))[0][0] == "Verifying Login: Fix the login bug"


def test_same_prompt_again_is_another_turn(antigravity: Antigravity) -> None:
    a = antigravity
    turn(a, "It is fine.", "Run all the tests")
    (first,) = heard(a, a.event("Stop", ID))
    a.write(ID, a.asked(2, a.at(3), "Run all the tests"), a.said(3, a.at(2), "It is fine."))
    (second,) = heard(a, a.event("Stop", ID))
    assert first.body == second.body
    assert first.id != second.id


def test_prompt_closes_the_question_before_it(antigravity: Antigravity) -> None:
    a = antigravity
    turn(a, "Should I rename the login table to sessions?")
    (question,) = (one for one in heard(a, a.event("Stop", ID)) if one.op == "thought")
    a.write(ID, a.asked(2, a.at(3), "Yes, rename it and keep the old columns"))
    (answered,) = (one for one in heard(a, a.event("PreInvocation", ID)) if one.op == "resolve")
    assert question.body["kind"] == "question"
    assert answered.body["item"] == question.id


def test_small_talk_leaves_the_title(antigravity: Antigravity) -> None:
    a = antigravity
    turn(a, "You're welcome!", "thanks")
    assert told(heard(a, a.event("Stop", ID))) == []
    a.summarize(ID, title="Shop rewrite")
    assert told(heard(a, a.event("Stop", ID))) == [("Shop rewrite", "shop", "idle")]


@pytest.mark.parametrize("workspaces", [[], None, "x", [None], ["/home/me"]], ids=str)
def test_project_is_found_elsewhere_where_the_payload_names_none(antigravity: Antigravity, workspaces: Any) -> None:
    a = antigravity
    a.write(ID, a.asked(0, a.at(5), "Fix the login bug"))
    a.write(ID, a.said(1, a.at(5), "", [("run_command", {"Cwd": "/w/backend"})]), a.said(2, a.at(4), "It is fine."))
    event = a.event("Stop", ID, workspacePaths=workspaces)
    assert told(heard(a, event)) == [("Fix the login bug", "backend", "idle")]
    a.summarize(ID, workspace_uris=["file:///w/web%20shop"])
    assert told(heard(a, event)) == [("Fix the login bug", "web shop", "idle")]


def test_turn_whose_helpers_still_run_goes_on(antigravity: Antigravity) -> None:
    a = antigravity
    turn(a)
    assert told(heard(a, a.event("Stop", ID, fullyIdle=False))) == [("Fix the login bug", "shop", "working")]


def test_stop_heard_late_tells_of_the_turn_before(antigravity: Antigravity) -> None:
    a = antigravity
    turn(a)
    a.write(ID, a.asked(2, a.at(3), "Ship it to staging"))
    a.write(ID, a.said(3, a.at(2), "I'll deploy it.", [("run_command", {"CommandLine": "make"})]))
    assert told(heard(a, replace(a.event("Stop", ID), at=a.at(3.5)))) == [
        ("Fix the login bug", "shop", "idle"),
        ("milestone", "Fixed the login bug."),
    ]


def test_stop_tells_of_the_turn_that_ended_in_the_second_in_which_the_next_one_began(antigravity: Antigravity) -> None:
    a = antigravity
    turn(a)
    a.write(ID, a.asked(2, a.at(4), "Ship it to staging"))
    assert told(heard(a, replace(a.event("Stop", ID), at=a.at(4)))) == [
        ("Fix the login bug", "shop", "idle"),
        ("milestone", "Fixed the login bug."),
        ("Ship it to staging", "shop", "working"),
    ]


def test_each_stop_heard_late_tells_of_its_own_turn(antigravity: Antigravity) -> None:
    a = antigravity
    for number in range(4):
        asked, done = a.at(9 - 2 * number), a.at(8 - 2 * number)
        a.write(
            ID, a.asked(2 * number, asked, f"Fix bug {number}"), a.said(2 * number + 1, done, f"Fixed bug {number}.")
        )
    told_of = [told(heard(a, replace(a.event("Stop", ID), at=a.at(8 - 2 * number))))[1] for number in range(4)]
    assert told_of == [("milestone", f"Fixed bug {number}.") for number in range(4)]


def test_cancelled_turn_brings_no_old_one_along(antigravity: Antigravity) -> None:
    a = antigravity
    a.write(ID, a.asked(0, a.at(9e5), "Fix the login bug"), a.said(1, a.at(9e5), "Fixed the login bug."))
    a.write(ID, a.asked(2, a.at(3), "Ship it to staging"))
    assert told(heard(a, a.event("Stop", ID))) == [("Ship it to staging", "shop", "working")]


def test_stop_without_a_transcript_tells_what_the_database_has(antigravity: Antigravity) -> None:
    a = antigravity
    a.summarize(
        ID, title="Shop rewrite", preview="Fix the login bug\nWe decided to use trigrams", workspace_uris=["/w/shop"]
    )
    event = a.event("Stop", ID, workspacePaths=[])
    assert told(heard(a, event)) == [("Shop rewrite: Fix the login bug", "shop", "idle")]


def test_helper_of_another_conversation_is_not_told(antigravity: Antigravity) -> None:
    a = antigravity
    turn(a)
    a.summarize(ID, nesting_depth=1)
    assert heard(a, a.event("Stop", ID)) == ()


def test_locked_database_leaves_the_turn_to_a_poll(antigravity: Antigravity, monkeypatch: pytest.MonkeyPatch) -> None:
    turn(antigravity)
    monkeypatch.setattr(summaries, "read", lambda app, id=None: None)
    assert heard(antigravity, antigravity.event("Stop", ID)) == ()


def test_what_we_injected_is_not_taken_in_again(antigravity: Antigravity) -> None:
    a = antigravity
    a.write(ID, a.asked(0, a.at(5), "Look into the login"))
    a.write(
        ID, a.system(1, a.at(5), "EPHEMERAL_MESSAGE", "Deployed v2.3 to staging."), a.said(2, a.at(4), "It is fine.")
    )
    assert told(heard(a, a.event("Stop", ID))) == [("Look into the login", "shop", "idle")]


# --- PreInvocation -----------------------------------------------------------------------------------------------


def test_first_model_call_tells_what_the_turn_is_about(antigravity: Antigravity) -> None:
    a = antigravity
    a.write(ID, a.asked(0, a.at(0), "Fix the login bug"))
    assert told(heard(a, a.event("PreInvocation", ID))) == [("Fix the login bug", "shop", "working")]


def test_word_that_the_turn_ended_is_the_later_one(antigravity: Antigravity) -> None:
    a = antigravity
    a.write(ID, a.asked(0, a.at(3), "Fix the login bug"))
    (working,) = heard(a, a.event("PreInvocation", ID))
    a.write(ID, a.said(1, a.at(3), "It is fine."))
    (idle,) = heard(a, a.event("Stop", ID))
    assert (working.body["status"], idle.body["status"]) == ("working", "idle")
    assert working.created_at < idle.created_at


@pytest.mark.parametrize("number", [1, 2, None, "0", False, 0.5])
def test_other_model_calls_tell_nothing(antigravity: Antigravity, number: Any) -> None:
    turn(antigravity)
    assert heard(antigravity, antigravity.event("PreInvocation", ID, invocationNum=number)) == ()


def test_first_model_call_heard_late_leaves_what_came_of_the_turn_to_its_stop(antigravity: Antigravity) -> None:
    turn(antigravity)
    assert told(heard(antigravity, antigravity.event("PreInvocation", ID))) == [
        ("Fix the login bug", "shop", "working")
    ]


# --- which files -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "payload",
    [
        {},
        {"raw": "{"},
        {"transcriptPath": None, "conversationId": 7},
        {"transcriptPath": "\0", "conversationId": "\0"},
        {"transcriptPath": "x" * 100_000, "conversationId": "../../x"},
        {"transcriptPath": "/", "conversationId": "."},
        {"transcriptPath": "", "conversationId": ""},
    ],
    ids=lambda payload: str(payload)[:40],
)
@pytest.mark.parametrize("name", ["Stop", "PreInvocation", "PostToolUse"])
def test_payloads_of_any_kind_are_survived(antigravity: Antigravity, name: str, payload: dict[str, Any]) -> None:
    turn(antigravity)
    event = Event(agent="antigravity", name=name, payload=payload | {"invocationNum": 0})
    assert heard(antigravity, event) == ()


def test_conversation_is_found_by_its_id_where_the_path_is_torn_off(antigravity: Antigravity) -> None:
    turn(antigravity)
    event = Event(agent="antigravity", name="Stop", payload={"conversationId": ID, "raw": "{"})
    assert told(heard(antigravity, event))[0][0] == "Fix the login bug"


def test_no_file_outside_the_apps_is_read(antigravity: Antigravity, tmp_path: Path) -> None:
    a = antigravity
    inside = turn(a)
    outside = tmp_path.joinpath("brain", ID, ".system_generated", "logs", "transcript.jsonl")
    outside.parent.mkdir(parents=True)
    inside.rename(outside)
    for path in (outside, a.app() / ".." / ".." / os.path.relpath(outside, a.home), "file://" + str(outside)):
        event = a.event("Stop", "another-conversation", transcriptPath=str(path))
        assert heard(a, event) == ()


@pytest.mark.parametrize("file", ["oauth_creds.json", "brain/x.jsonl", "brain/a-b-c-d/.system_generated/logs/y.jsonl"])
def test_no_other_file_of_an_app_is_read(antigravity: Antigravity, file: str) -> None:
    a = antigravity
    path = a.app() / file
    path.parent.mkdir(parents=True, exist_ok=True)
    turn(a).rename(path)
    assert places.named(a.home, str(path)) is None


@pytest.mark.parametrize("step", range(1, 6))
def test_no_link_is_followed(antigravity: Antigravity, tmp_path: Path, step: int) -> None:
    a = antigravity
    path = turn(a)
    linked = path if step == 1 else path.parents[step - 2]
    linked.rename(tmp_path / "elsewhere")
    linked.symlink_to(tmp_path / "elsewhere")
    assert heard(a, a.event("Stop", ID)) == ()


def test_folder_of_all_apps_may_be_a_link(antigravity: Antigravity, tmp_path: Path) -> None:
    a = antigravity
    turn(a)
    (a.home / ".gemini").rename(tmp_path / "dotfiles")
    (a.home / ".gemini").symlink_to(tmp_path / "dotfiles")
    assert len(heard(a, a.event("Stop", ID))) == 2


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no named pipes")
def test_pipe_in_place_of_a_transcript_is_not_waited_for(antigravity: Antigravity) -> None:
    a = antigravity
    path = turn(a)
    path.unlink()
    os.mkfifo(path)
    assert heard(a, a.event("Stop", ID)) == ()
