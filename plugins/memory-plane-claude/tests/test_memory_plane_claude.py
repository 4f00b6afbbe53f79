from __future__ import annotations

import json
import os
import zipfile
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from memory_plane import Plane
from memory_plane.importers import claude_code
from memory_plane.importers.driver import Source, count, take_in
from memory_plane.importers.files import Files
from memory_plane.integration import Call, Element, Entry
from memory_plane.surfaces.cli import main
from memory_plane.surfaces.cli.session import Session
from memory_plane.testing.contract import *  # noqa: F403
from memory_plane.testing.machines import bare_machine
from memory_plane.types import Event
from memory_plane_claude import events, notes, telling
from memory_plane_claude.transcripts import last_turn

NOW = datetime(2026, 3, 4, 9, 30, tzinfo=UTC)
SHIPPED = "Shipped the login page of herrington.ai to production."

# Captured from 2.1.233, paths shortened.
STOP = {
    "session_id": "5e0e6a0c-8d0f-4c35-9a1b-6f0f0f7c0a11",
    "transcript_path": "",
    "cwd": "/w/herrington.ai",
    "prompt_id": "b4f9f6a2-0000-4000-8000-000000000001",
    "permission_mode": "default",
    "effort": {"level": "high"},
    "hook_event_name": "Stop",
    "stop_hook_active": False,
    "last_assistant_message": f"{SHIPPED}\n\n```js\nconst x = 1\n```",
    "background_tasks": [],
    "session_crons": [],
}
PROMPT = {
    "session_id": STOP["session_id"],
    "cwd": "/w/herrington.ai",
    "prompt_id": STOP["prompt_id"],
    "hook_event_name": "UserPromptSubmit",
    "prompt": "Please ship the login page of herrington.ai today",
}


def record(kind: str, content: Any, **more: Any) -> str:
    """Return a line of a transcript as Claude Code writes it."""
    message = {"role": kind, "content": content}
    base = {"type": kind, "uuid": "u", "parentUuid": None, "sessionId": "s", "timestamp": "2026-03-04T09:00:00.000Z"}
    return json.dumps({**base, "cwd": "/w/herrington.ai", "version": "2.1.332", "message": message, **more})


@pytest.fixture
def projects(tmp_path: Path) -> Path:
    folder = tmp_path / "ein Ort" / "projects"
    (folder / "-w-herrington-ai").mkdir(parents=True)
    return folder


@pytest.fixture
def transcript(projects: Path) -> Path:
    path = projects / "-w-herrington-ai" / "s.jsonl"
    lines = [
        record("user", "What is the plan?"),
        record("assistant", [{"type": "text", "text": "Shall I deploy it on Friday?"}]),
        record("user", "Yes, on Friday. Ship the login page."),
        record("user", "<system-reminder>be good</system-reminder>", isMeta=True),
        record(
            "assistant", [{"type": "thinking", "thinking": "hm"}, {"type": "tool_use", "name": "Bash", "input": {}}]
        ),
        record("user", [{"type": "tool_result", "content": "ok"}]),
        record("assistant", [{"type": "text", "text": "from a side story"}], isSidechain=True),
        '{"type": "file-history-snapshot"}',
        '{"type": "a kind of tomorrow", "message": 7}',
        record("assistant", [{"type": "text", "text": SHIPPED}]),
        '{"type": "user", "message": {"role": "us',
    ]
    path.write_text("\n".join(lines), "utf-8")
    return path


def stored(plane: Plane, *found: Event) -> list[tuple[str, str]]:
    for event in found:
        plane.spool(event)
    plane.ingest()
    return [(thought.kind, thought.text) for thought in plane.thoughts()]


def code(name: str, payload: dict[str, Any]) -> Event:
    return Event(agent="claude-code", name=name, payload=payload)


def imported(plane: Plane, path: Path) -> list[str]:
    with Files(path) as files:
        source = Source(kind=claude_code.KIND, files=files)
        return [one.state for one in take_in(plane, source, count(source), lambda _done, _all: None)]


# --- what hooks deliver ------------------------------------------------------------------------------------------


def test_end_of_a_turn_becomes_what_was_done(make_plane: Callable[..., Plane]) -> None:
    plane = make_plane("claude")
    assert stored(plane, code("Stop", STOP)) == [("milestone", SHIPPED)]
    assert [thought.project for thought in plane.thoughts()] == ["herrington.ai"]


@pytest.mark.parametrize("known", [{"promptId": STOP["prompt_id"]}, {}], ids=["with ids", "of an older version"])
def test_import_of_a_session_that_its_hooks_told_adds_nothing(
    make_plane: Callable[..., Plane], projects: Path, known: dict[str, str]
) -> None:
    plane, session = make_plane("claude"), {"sessionId": STOP["session_id"]}
    path = projects / "-w-herrington-ai" / "told.jsonl"
    turn = record("user", PROMPT["prompt"], **session, **known), record("assistant", SHIPPED, **session)
    path.write_text("\n".join(turn), "utf-8")
    ids = {} if known else {"prompt_id": ""}
    assert stored(plane, code("UserPromptSubmit", PROMPT | ids), code("Stop", STOP | ids)) == [("milestone", SHIPPED)]
    assert imported(plane, path) == ["already there"]
    assert [thought.text for thought in plane.thoughts()] == [SHIPPED]


def test_import_and_hook_give_no_two_operations_one_id(projects: Path) -> None:
    path = projects / "-w-herrington-ai" / "told.jsonl"
    path.write_text(record("user", PROMPT["prompt"], sessionId=STOP["session_id"], promptId=STOP["prompt_id"]), "utf-8")
    told = {one.id: one.op for one in events.operations(code("UserPromptSubmit", PROMPT), projects, now=NOW)}
    with Files(path) as files:
        (entry,) = claude_code.KIND.entries(files, None)
        assert told
        assert all(told.get(one.id, one.op) == one.op for one in entry.operations())


def test_import_of_a_session_that_no_hook_told_says_what_it_was_about(
    make_plane: Callable[..., Plane], transcript: Path
) -> None:
    plane = make_plane("claude")
    assert imported(plane, transcript) == ["imported"]
    assert imported(plane, transcript) == ["already there"]
    assert "What is the plan?" in {thought.text for thought in plane.thoughts()}


@pytest.mark.parametrize("odd", [7, None, ["x"], {"a": 1}], ids=str)
def test_session_with_ids_of_any_kind_is_imported(
    make_plane: Callable[..., Plane], projects: Path, odd: object
) -> None:
    path = projects / "-w-herrington-ai" / "odd.jsonl"
    path.write_text(record("user", PROMPT["prompt"], promptId=odd), "utf-8")
    assert imported(make_plane("claude"), path) == ["imported"]


def test_prompt_becomes_the_focus_at_once(make_plane: Callable[..., Plane]) -> None:
    plane = make_plane("claude")
    assert stored(plane, code("UserPromptSubmit", PROMPT)) == []
    (beat,) = plane.pulse().heartbeats
    assert (beat.agent, beat.project) == ("claude-code", "herrington.ai")
    assert "login page" in beat.focus


def test_turn_that_comes_several_times_is_one(make_plane: Callable[..., Plane], transcript: Path) -> None:
    plane = make_plane("claude")
    again = {**STOP, "stop_hook_active": True}
    stored(plane, code("Stop", STOP), code("Stop", again), code("PreCompact", STOP), code("SessionEnd", STOP))
    assert len(plane.thoughts()) == 1


@pytest.mark.parametrize("source", ["system", "loop_wakeup", "schedule_wakeup", "poll_event"])
def test_prompt_that_no_person_gave_is_not_taken_for_one(make_plane: Callable[..., Plane], source: str) -> None:
    plane = make_plane("claude")
    stored(plane, code("UserPromptSubmit", {**PROMPT, "source": source}))
    assert not plane.pulse().heartbeats


def test_small_talk_stores_nothing(make_plane: Callable[..., Plane]) -> None:
    plane = make_plane("claude")
    chat = {**STOP, "last_assistant_message": "You're welcome! Anything else?"}
    assert stored(plane, code("UserPromptSubmit", {**PROMPT, "prompt": "thanks!"}), code("Stop", chat)) == []
    assert not plane.pulse().heartbeats


def test_desktop_has_no_hooks(make_plane: Callable[..., Plane]) -> None:
    plane = make_plane("claude")
    assert stored(plane, Event(agent="claude-desktop", name="Stop", payload=STOP)) == []


def test_answer_to_a_question_closes_it(
    make_plane: Callable[..., Plane], transcript: Path, projects: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plane = make_plane("claude", plugin={"claude": {"config_dir": str(projects.parent)}})
    asked = {**STOP, "last_assistant_message": "Shall I deploy it on Friday?", "prompt_id": "1"}
    stored(plane, code("Stop", asked))
    assert [item.kind for item in plane.items()] == ["question"]
    stored(plane, code("Stop", {**STOP, "transcript_path": str(transcript), "prompt_id": "2"}))
    assert not plane.items()


# --- transcripts -------------------------------------------------------------------------------------------------


def test_last_turn_is_what_person_and_claude_said(transcript: Path, projects: Path) -> None:
    turn = last_turn(transcript, projects)
    assert (turn.prompt, turn.answer) == ("Yes, on Friday. Ship the login page.", SHIPPED)
    assert turn.before == "Shall I deploy it on Friday?"
    assert (turn.folder, turn.at) == ("/w/herrington.ai", datetime(2026, 3, 4, 9, tzinfo=UTC))


def test_turn_that_is_heard_late_is_found_by_what_was_said(transcript: Path, projects: Path) -> None:
    later = [record("user", "And the docs?"), record("assistant", [{"type": "text", "text": "Wrote them."}])]
    transcript.write_text("\n".join([*transcript.read_text("utf-8").splitlines()[:-1], *later]), "utf-8")
    turn = last_turn(transcript, projects, SHIPPED)
    assert (turn.prompt, turn.before) == ("Yes, on Friday. Ship the login page.", "Shall I deploy it on Friday?")
    assert last_turn(transcript, projects, "Not written yet.").prompt == "And the docs?"


def test_transcript_without_its_message_is_read_for_it(transcript: Path, projects: Path) -> None:
    payload = {"session_id": "s", "transcript_path": str(transcript)}
    found = events.operations(code("Stop", payload), projects, now=NOW)
    assert SHIPPED in [operation.body.get("text") for operation in found]


def test_file_that_is_no_transcript_of_claude_is_not_read(transcript: Path, projects: Path, tmp_path: Path) -> None:
    secret = tmp_path / "secret.jsonl"
    secret.write_text(transcript.read_text("utf-8"), "utf-8")
    (projects / "link.jsonl").symlink_to(secret)
    for path in (
        secret,
        projects / "link.jsonl",
        projects / ".." / ".." / "secret.jsonl",
        projects / "none.jsonl",
        projects,
    ):
        assert last_turn(path, projects).answer == ""


def test_only_the_end_of_a_long_transcript_is_read(transcript: Path, projects: Path) -> None:
    old = record("assistant", [{"type": "text", "text": "x" * 1000}])
    transcript.write_text(f"{old}\n" * 5000 + transcript.read_text("utf-8"), "utf-8")
    assert last_turn(transcript, projects).answer == SHIPPED


# --- notes -------------------------------------------------------------------------------------------------------


@pytest.fixture
def note(projects: Path, transcript: Path) -> Path:
    path = projects / "-w-herrington-ai" / "memory" / "MEMORY.md"
    path.parent.mkdir()
    path.write_text("# Notes\n\n- The tests need a running Redis on port 6380\n- [details](redis.md)\n- ok\n", "utf-8")
    return path


def test_note_is_taken_in_once_and_again_when_it_changes(projects: Path, note: Path) -> None:
    found = notes.read(projects, None)
    assert found is not None
    (operation,) = found.operations
    assert operation.body["text"] == "The tests need a running Redis on port 6380"
    assert operation.body["project"] == "herrington.ai"
    assert notes.read(projects, found.cursor) is None
    note.write_text(f"{note.read_text('utf-8')}- Deployments go through the staging branch first\n", "utf-8")
    os.utime(note, ns=(1, 1))
    more = notes.read(projects, found.cursor)
    assert more is not None
    assert [one.id == operation.id for one in more.operations] == [True, False]


def test_notes_can_be_left_alone(make_plane: Callable[..., Plane], projects: Path, note: Path) -> None:
    for wanted in (False, True):
        plane = make_plane("claude", plugin={"claude": {"config_dir": str(projects.parent), "notes": wanted}})
        plane.ingest()
        assert len(plane.thoughts()) == wanted


def test_note_behind_a_link_is_not_read(projects: Path, note: Path, tmp_path: Path) -> None:
    secret = tmp_path / "secret.md"
    note.rename(secret)
    note.symlink_to(secret)
    assert notes.read(projects, None) is None


@pytest.mark.parametrize("cursor", ["[]", "{", '{"a": "b"}', "null", "7"])
def test_any_old_cursor_begins_anew(projects: Path, note: Path, cursor: str) -> None:
    found = notes.read(projects, cursor)
    assert found is not None
    assert len(found.operations) == 1


# --- how they are told -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("platform", "environment", "expected"),
    [
        ("darwin", {}, "Library/Application Support/Claude/claude_desktop_config.json"),
        ("linux", {}, ".config/Claude/claude_desktop_config.json"),
        ("win32", {}, "AppData/Roaming/Claude/claude_desktop_config.json"),
        ("win32", {"APPDATA": "~/Roaming"}, "Roaming/Claude/claude_desktop_config.json"),
    ],
)
def test_configuration_of_desktop_is_where_the_system_has_it(
    tmp_path: Path, platform: str, environment: dict[str, str], expected: str
) -> None:
    assert telling.desktop_config(bare_machine(tmp_path, platform, **environment)) == tmp_path / expected


def test_claude_code_moves_with_its_variable(tmp_path: Path) -> None:
    here, moved = bare_machine(tmp_path), bare_machine(tmp_path, CLAUDE_CONFIG_DIR=str(tmp_path / "c"))
    assert (telling.config_dir(here), telling.state_file(here)) == (tmp_path / ".claude", tmp_path / ".claude.json")
    assert (telling.config_dir(moved), telling.state_file(moved)) == (tmp_path / "c", tmp_path / "c" / ".claude.json")


def test_hooks_are_those_that_hold_up_no_tool(tmp_path: Path) -> None:
    (tmp_path / ".claude").mkdir()
    integration = telling.claude_code(bare_machine(tmp_path))
    hooks = {edit.pointer[1]: edit.value for edit in integration.edits if isinstance(edit, Element)}
    assert set(hooks) == {"SessionStart", "UserPromptSubmit", "Stop", "PreCompact", "SessionEnd"}
    (handler,) = hooks["Stop"]["hooks"]
    assert handler["command"].endswith(f"claude-code Stop {tmp_path / 'p'}")
    assert any(isinstance(edit, Entry) and edit.path == tmp_path / ".claude.json" for edit in integration.edits)


def test_server_is_added_by_the_command_of_claude_where_there_is_one(tmp_path: Path) -> None:
    program = tmp_path / "bin" / "claude"
    program.parent.mkdir()
    program.touch(0o700)
    integration = telling.claude_code(bare_machine(tmp_path, PATH=str(program.parent)))
    (call,) = [edit for edit in integration.edits if isinstance(edit, Call)]
    assert call.do == (
        (str(program), "mcp", "add", "--scope", "user", "memory-plane", "--", "/mp", "mcp", "--agent", "claude-code"),
    )
    assert integration.found == str(program)


def test_bundle_has_a_manifest_and_the_same_bytes_each_time(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MEMORY_PLANE_PLUGINS__ENABLED", '["claude"]')
    path = tmp_path / "a bundle.mcpb"
    result = CliRunner().invoke(main, ["claude", "bundle", str(path)], obj=Session(str(home)))
    assert result.exit_code == 0, result.output
    first = path.read_bytes()
    with zipfile.ZipFile(path) as archive:
        manifest = json.loads(archive.read("manifest.json"))
        assert manifest["server"]["entry_point"] in archive.namelist()
        compile(archive.read("server/main.py"), "main.py", "exec")
    assert manifest["server"]["mcp_config"]["args"][-3:] == ["mcp", "--agent", "claude-desktop"]
    CliRunner().invoke(main, ["claude", "bundle", str(path)], obj=Session(str(home)))
    assert path.read_bytes() == first
