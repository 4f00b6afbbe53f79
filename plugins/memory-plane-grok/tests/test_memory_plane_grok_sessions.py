from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from memory_plane_grok import sessions
from memory_plane_grok.exchanges import Exchange

if TYPE_CHECKING:
    from conftest import Put

SHIPPED = "Shipped the login page of herrington.ai to production.\n\nWe decided to use argon2 for passwords."


def line(kind: str, said: str = "", *, number: int = 1, session: str = "s-1", **more: Any) -> str:
    """Return an update as Grok writes it."""
    update = {"sessionUpdate": kind, "content": {"type": "text", "text": said}, **more}
    meta = {"eventId": f"{session}-{number}", "agentTimestampMs": 1796022845000 + number}
    params = {"sessionId": session, "update": update, "_meta": meta}
    return json.dumps({"timestamp": 1796022845, "method": "session/update", "params": params})


def write(path: Path, *lines: str) -> tuple[Exchange, ...]:
    path.write_text("\n".join(lines), "utf-8")
    return sessions.exchanges(path)


def test_turns_are_what_the_person_and_grok_said_last(put: Put) -> None:
    first, second = sessions.exchanges(put("session"))
    assert first.prompt == "Please ship the login page of herrington.ai"
    assert first.answer.startswith(SHIPPED)  # and not what it said before it used a tool
    assert (second.prompt, second.answer) == ("Yes, on Friday.", "Announced the login page in the newsletter.")
    assert (first.before, second.before) == ("", first.answer)
    assert (first.over, second.over) == (True, True)
    assert first.at == datetime(2026, 11, 30, 7, 31, 17, 134000, UTC)
    assert first.id == "a8663b31-c9ce-4aa6-a132-df242766520e"


def test_fork_tells_what_it_copied_as_its_parents_words(put: Put) -> None:
    parent = sessions.exchanges(put("session"))
    *copied, own = sessions.exchanges(put("fork"))
    assert tuple(copied) == parent
    assert own.session != parent[0].session
    assert (own.prompt, own.before) == ("Take the newsletter back, please", "")


def test_turn_that_was_killed_is_not_over(put: Put) -> None:
    (turn,) = sessions.exchanges(put("killed"))
    assert (turn.prompt, turn.over) == ("Fix the flaky test of the login page", False)


def test_helper_has_no_turns_of_its_own(put: Put, grok: Path) -> None:
    put("sender", "helper")
    turns = {one.key: one.read()[0] for one in sessions.conversations(grok)}
    assert sorted(map(len, turns.values())) == [0, 2]


def test_session_knows_its_folder(put: Put, grok: Path) -> None:
    put("session")
    (conversation,) = sessions.conversations(grok)
    assert conversation.read()[1] == "/home/me/w/herrington.ai"


def test_what_wakes_grok_is_no_prompt(put: Put) -> None:
    _, woken = sessions.exchanges(put("sender"))
    assert woken.prompt == ""
    assert woken.id.startswith("subagent-completed-")


def test_prompt_in_several_blocks_is_one(tmp_path: Path) -> None:
    index: dict[str, Any] = {"_meta": {"promptIndex": 0}}
    (turn,) = write(
        tmp_path / "u.jsonl",
        line("user_message_chunk", "Look at this", **index),
        line("user_message_chunk", "and ship it", **index),
        line("agent_message_chunk", "Shipped", number=3),
        line("hook_execution", number=4),
        line("agent_message_chunk", " it.", number=5),
    )
    assert (turn.prompt, turn.answer, turn.id, turn.over) == ("Look at this\n\nand ship it", "Shipped it.", "", False)


def test_hidden_prompt_is_no_persons(tmp_path: Path) -> None:
    hidden: dict[str, Any] = {"_meta": {"promptIndex": 0, "hideFromScrollback": True}}
    (turn,) = write(tmp_path / "u.jsonl", line("user_message_chunk", "Check the build", **hidden))
    assert turn.prompt == ""


def test_what_is_not_known_or_torn_is_passed_over(tmp_path: Path) -> None:
    odd = [
        "",
        "not json",
        "[1, 2]",
        '"user_message_chunk"',
        '{"params": {"update": {"sessionUpdate": "user_message_chunk"}}}',
        '{"params": {"update": [], "_meta": 7}, "kind": "agent_message_chunk"}',
        line("turn_completed", prompt_id=7),
        line("agent_message_chunk", "nobody asked"),
        line("tool_call", content=None),
        line("a kind of tomorrow", "agent_message_chunk"),
        line("user_message_chunk", "Ship it", _meta=["promptIndex"]),
        line("agent_message_chunk", content=[{"type": "text", "text": "x"}]),
        line("agent_message_chunk", "Shipped it.", number=2)
        .replace('"timestamp": 1796022845, ', "")
        .replace("1796", "x"),
        line("agent_message_chunk", "Shipped it.", number=2),
        line("turn_completed", number=3, prompt_id="p-1"),
        line("agent_message_chunk", "torn")[:-20],
    ]
    (turn,) = write(tmp_path / "u.jsonl", *odd)
    assert (turn.prompt, turn.answer, turn.id, turn.over) == ("Ship it", "Shipped it.", "p-1", True)


def test_only_the_end_of_a_long_session_is_read(tmp_path: Path) -> None:
    old = [line("user_message_chunk", "x" * 5000), line("agent_message_chunk", "y" * 5000)] * 200
    found = write(tmp_path / "u.jsonl", *old, line("user_message_chunk", "Ship it", number=2))
    assert found[-1].prompt == "Ship it"
    assert len(found) < 150


@pytest.mark.parametrize("held", [None, "", "[]", '{"info": 7}', '{"info": {"cwd": ["a"]}, "session_kind": {}}'])
def test_session_without_a_summary_is_told_without_a_project(put: Put, grok: Path, held: str | None) -> None:
    summary = put("session").with_name("summary.json")
    summary.unlink() if held is None else summary.write_text(held, "utf-8")
    (conversation,) = sessions.conversations(grok)
    turns, folder = conversation.read()
    assert (len(turns), folder) == (2, "")


def test_links_are_not_followed(put: Put, grok: Path, tmp_path: Path) -> None:
    session = put("session").parent
    session.rename(tmp_path / "elsewhere")
    session.symlink_to(tmp_path / "elsewhere")
    assert list(sessions.conversations(grok)) == []
    session.unlink()
    session.mkdir()
    (session / "updates.jsonl").symlink_to(tmp_path / "elsewhere" / "updates.jsonl")
    assert [one.read() for one in sessions.conversations(grok)] == [((), "")]


def test_home_without_sessions_has_none(tmp_path: Path) -> None:
    assert list(sessions.conversations(tmp_path / "none")) == []
