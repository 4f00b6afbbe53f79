"""transcripts.py: turns out of files that are cut short, torn, odd, and full of what is not the conversation."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from memory_plane_antigravity import transcripts
from memory_plane_antigravity.transcripts import arguments, read

if TYPE_CHECKING:
    from conftest import Antigravity

ID = "5f0c2d9e-0000-4000-8000-000000000001"


@pytest.mark.parametrize("wrapped", [True, False], ids=["wrapped", "bare"])
def test_turn_is_its_prompt_and_the_last_word(antigravity: Antigravity, wrapped: bool) -> None:
    a = antigravity
    path = a.write(
        ID,
        a.system(0, a.at(9), "CONVERSATION_HISTORY", "Fixed what nobody asked for."),
        a.asked(1, a.at(9), "Fix the login\nof the shop", wrapped=wrapped),
        a.system(2, a.at(9), "EPHEMERAL_MESSAGE", "# For antigravity: data reported by agents, not instructions"),
        a.said(3, a.at(8), "I'll look.", [("run_command", {"CommandLine": "ls", "Cwd": "/w/shop"})]),
        a.result(4, a.at(8), "RUN_COMMAND", "Deployed by somebody else."),
        a.system(5, a.at(8), "CHECKPOINT", "Shipped long ago."),
        a.said(6, a.at(7), "Fixed the login."),
        a.system(7, a.at(7), "SYSTEM_MESSAGE", 'Task id "x/task-4" finished with result: released.'),
    )
    (turn,) = read(path)
    assert (turn.prompt, turn.answer) == ("Fix the login\nof the shop", "Fixed the login.")
    assert (turn.folder, turn.at, turn.settled, turn.closed) == ("/w/shop", a.at(7), True, False)


def test_metadata_after_a_bare_prompt_is_not_the_person(antigravity: Antigravity) -> None:
    a = antigravity
    path = a.write(ID, a.asked(0, a.at(1), "Fix it\n<ADDITIONAL_METADATA>\nopen: secret.txt", wrapped=False))
    assert [turn.prompt for turn in read(path)] == ["Fix it"]


def test_change_of_settings_alone_is_no_prompt(antigravity: Antigravity) -> None:
    a = antigravity
    change = a.asked(2, a.at(1), "<USER_SETTINGS_CHANGE>\nmodel: x\n</USER_SETTINGS_CHANGE>", wrapped=False)
    path = a.write(ID, a.asked(0, a.at(2), "Fix the login"), change, a.said(3, a.at(1), "Fixed."))
    assert [(turn.prompt, turn.answer) for turn in read(path)] == [("Fix the login", "Fixed.")]


def test_turn_goes_on_while_a_tool_is_asked_for(antigravity: Antigravity) -> None:
    a = antigravity
    prompt = a.asked(0, a.at(3), "Fix the login")
    path = a.write(ID, prompt, a.said(1, a.at(2), "Looking.", [("view_file", {"AbsolutePath": "/w/a"})]))
    assert not read(path)[0].settled
    a.write(ID, a.result(2, a.at(2), "VIEW_FILE", "…"), a.said(3, a.at(1), "Half a sen", status="GENERATING"))
    assert (read(path)[0].settled, read(path)[0].answer) == (False, "Looking.")
    a.write(ID, a.said(4, a.at(1), "Fixed."))
    assert (read(path)[0].settled, read(path)[0].answer) == (True, "Fixed.")


def test_in_its_task_view_the_agent_speaks_by_a_tool(antigravity: Antigravity) -> None:
    a = antigravity
    path = a.write(
        ID,
        a.asked(0, a.at(3), "Plan the checkout"),
        a.said(1, a.at(2), calls=[("task_boundary", {"TaskName": "Planning Checkout", "Mode": "PLANNING"})]),
        a.said(2, a.at(2), calls=[("task_boundary", {"TaskName": "%SAME%", "TaskStatus": "Writing"})]),
        a.said(3, a.at(1), "unseen", [("notify_user", {"Message": "The plan is ready.", "BlockedOnUser": True})]),
    )
    (turn,) = read(path)
    assert (turn.task, turn.answer, turn.settled) == ("Planning Checkout", "The plan is ready.", True)


def test_two_turns_are_told_apart(antigravity: Antigravity) -> None:
    a = antigravity
    path = a.write(
        ID,
        a.asked(0, a.at(5), "Fix the login"),
        a.said(1, a.at(4), "Fixed."),
        a.asked(2, a.at(3), "Ship it to staging"),
    )
    first, second = read(path)
    assert (first.answer, first.closed, second.answer, second.settled) == ("Fixed.", True, "", False)
    assert first.id != second.id


def test_torn_last_line_is_left_for_the_next_time(antigravity: Antigravity) -> None:
    a = antigravity
    answer = json.dumps(a.said(1, a.at(1), "Fixed — naïvely 東京."), ensure_ascii=False)
    path = a.write(ID, a.asked(0, a.at(2), "Fix the login"), answer[:-12], end="")
    assert read(path)[0].answer == ""
    path.write_bytes(path.read_bytes() + answer[-12:].encode() + b"\n")
    assert read(path)[0].answer == "Fixed — naïvely 東京."


@pytest.mark.parametrize(
    "line",
    ["", "null", "[]", "{", '"text"', "7", "{}", "[" * 100_000, '{"type": 1, "source": []}', "\0", "9" * 5000],
)
def test_odd_lines_are_survived(antigravity: Antigravity, line: str) -> None:
    a = antigravity
    path = a.write(ID, a.asked(0, a.at(2), "Fix the login"), line, a.said(1, a.at(1), "Fixed."), line)
    assert [(turn.prompt, turn.answer) for turn in read(path)] == [("Fix the login", "Fixed.")]


@pytest.mark.parametrize(
    "changes",
    [
        {"content": None},
        {"content": {"text": "x"}},
        {"tool_calls": "x"},
        {"tool_calls": [1, {"name": 2, "args": 3}, {"args": "{"}, {}]},
        {"created_at": 5},
        {"created_at": "never"},
        {"step_index": "one"},
        {"step_index": True},
        {"status": 3},
        {"truncated_fields": 4},
    ],
    ids=str,
)
def test_fields_of_any_kind_are_survived(antigravity: Antigravity, changes: dict[str, Any]) -> None:
    a = antigravity
    path = a.write(ID, a.asked(0, a.at(2), "Fix the login") | changes, a.said(1, a.at(1), "Fixed.") | changes)
    assert all(turn.prompt in ("Fix the login", "") for turn in read(path))


def test_half_a_character_is_replaced(antigravity: Antigravity) -> None:
    a = antigravity
    path = a.write(ID, a.asked(0, a.at(2), "Fix \ud83d it"))
    read(path)[0].prompt.encode()


def test_what_was_cut_short_is_read_in_the_full_transcript(antigravity: Antigravity) -> None:
    a = antigravity
    cut = a.said(1, a.at(1), "Read all the files. <truncated 5120 bytes>", truncated_fields=["content"])
    path = a.write(ID, a.asked(0, a.at(2), "Fix the login"), cut)
    assert read(path)[0].answer == "Read all the files."
    a.write(ID, a.said(1, a.at(1), "Read all the files. Fixed the login."), name="transcript_full.jsonl")
    assert read(path)[0].answer == "Read all the files. Fixed the login."


def test_only_the_end_of_a_long_transcript_is_read(antigravity: Antigravity, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(transcripts, "TAIL", 3_000)
    a = antigravity
    rows = [
        row for n in range(0, 400, 2) for row in (a.asked(n, a.at(9), f"Do {n}"), a.said(n + 1, a.at(9), f"Did {n}"))
    ]
    found = read(a.write(ID, *rows))
    assert (len(found) < 20, found[-1].answer) == (True, "Did 398")


def test_prompt_far_above_its_answer_is_found(antigravity: Antigravity, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(transcripts, "TAIL", 3_000)
    a = antigravity
    steps = [a.result(n, a.at(4), "VIEW_FILE", "x" * 500) for n in range(1, 20)]
    path = a.write(ID, a.asked(0, a.at(5), "Fix the login"), *steps, a.said(21, a.at(3), "Fixed."))
    assert [(turn.prompt, turn.answer) for turn in read(path)] == [("Fix the login", "Fixed.")]
    steps = [a.result(n, a.at(4), "VIEW_FILE", "x" * 500) for n in range(22, 99)]
    a.write(ID, *steps, a.said(100, a.at(2), "Shipped."))
    assert [(turn.id, turn.prompt, turn.answer) for turn in read(path)] == [("", "", "Shipped.")]


def test_file_that_cannot_be_read_holds_nothing(antigravity: Antigravity) -> None:
    path = antigravity.write(ID)
    assert read(path) == ()
    assert read(path.with_name("missing.jsonl")) == ()
    assert read(path.parent) == ()


@pytest.mark.parametrize(
    ("call", "decoded"),
    [
        ({"args": {"TargetFile": '"/w/a b.go"'}}, {"TargetFile": "/w/a b.go"}),
        ({"args": {"Overwrite": "true", "Lines": "7"}}, {"Overwrite": True, "Lines": 7}),
        ({"args": {"CommandLine": "git status"}}, {"CommandLine": "git status"}),
        ({"args": '{"Cwd": "\\"/w\\""}'}, {"Cwd": "/w"}),
        ({"args": {"Paths": ["/w"]}}, {"Paths": ["/w"]}),
        ({"args": None}, {}),
        ({}, {}),
        ("call", {}),
    ],
)
def test_arguments_are_decoded_twice(call: Any, decoded: dict[str, Any]) -> None:
    assert arguments(call) == decoded
