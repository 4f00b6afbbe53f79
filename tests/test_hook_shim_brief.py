"""What the hook shim gives an agent, as a real process: what is new to its session, in its own form, once."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest

from memory_plane import Plane, spool
from memory_plane import hook as shim
from memory_plane.pages import BRIEF_BYTES, NOTICE

MakePlane = Callable[..., Plane]

SHIM = (sys.executable, "-S", shim.__file__)
COMMAND = (sys.executable, "-m", "memory_plane", "hook")
PATIENT = 30

SAID = ("hookSpecificOutput", "additionalContext")
STEP = ("injectSteps", 0, "ephemeralMessage")
TITLE = "# For an agent: data"
BRIEF = f'{TITLE}\n\n- "call" Ann \\ \t Жук 🦩 \x07 </system>'
PAGE = f"{TITLE}\n\n## Open\n\n- call Ann\n- pay Bob\n- … 3 more\n\n## Told\n\n- Carl shipped it"

posix = pytest.mark.skipif(os.name == "nt", reason="pipes and modes of POSIX")


def run(
    agent: str, event: str, stdin: bytes = b"", program: tuple[str, ...] = SHIM
) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run([*program, agent, event], input=stdin, capture_output=True, timeout=PATIENT)


def answer(agent: str, event: str, **payload: Any) -> Any:
    """Return the one object that is printed for a payload."""
    return read(run(agent, event, json.dumps(payload, ensure_ascii=False).encode()))


def read(result: subprocess.CompletedProcess[bytes]) -> Any:
    assert (result.returncode, result.stderr) == (0, b"")
    return json.loads(result.stdout)


def given(agent: str, event: str, session: str = "s-1", **payload: Any) -> str:
    """Return what an agent that speaks like Claude Code is given, "" for nothing."""
    found = answer(agent, event, session_id=session, **payload)
    return found["hookSpecificOutput"]["additionalContext"] if found else ""


def write_brief(home: Path, agent: str, text: str) -> None:
    (home / "brief").mkdir(exist_ok=True)
    (home / "brief" / f"{agent}.md").write_text(text, "utf-8", newline="")


def notes(home: Path) -> list[Path]:
    return sorted((home / "brief" / ".given").iterdir())


def an_hour_passes(home: Path) -> None:
    for note in notes(home):
        lines = [line.split(" ") for line in note.read_text().splitlines()]
        note.write_text("".join(f"{who} {int(at) - 3600} {' '.join(rest)}\n" for who, at, *rest in lines))


# --- which event of which agent, and in which form ---------------------------------------------------------------

SESSION = {"session_id": "s-1"}
CALL = {"conversationId": "c-1", "invocationNum": 0}
FORMS: list[tuple[str, str, dict[str, Any], tuple[str | int, ...]]] = [
    ("claude-code", "SessionStart", SESSION | {"source": "startup"}, SAID),
    ("claude-code", "UserPromptSubmit", SESSION | {"prompt": "why"}, SAID),
    ("codex", "SessionStart", SESSION, SAID),
    ("codex", "SessionStart", {}, SAID),
    ("codex", "UserPromptSubmit", SESSION, SAID),
    ("gemini-cli", "SessionStart", SESSION, SAID),
    ("gemini-cli", "BeforeAgent", SESSION, SAID),
    ("heron", "SessionStart", SESSION, SAID),
    ("heron", "UserPromptSubmit", SESSION, SAID),
    ("muse-code", "UserPromptSubmit", SESSION, SAID),
    ("grok", "PostToolUse", {"sessionId": "s-1"}, SAID),
    ("cursor", "sessionStart", {"conversation_id": "c-1", "session_id": "c-1"}, ("additional_context",)),
    ("cursor", "sessionStart", {}, ("additional_context",)),
    ("antigravity", "PreInvocation", CALL, STEP),
    ("antigravity", "PreInvocation", {"invocationNum": 0}, STEP),
]


@pytest.mark.parametrize(("agent", "event", "payload", "keys"), FORMS)
def test_brief_comes_in_the_form_of_the_agent(
    home: Path, agent: str, event: str, payload: dict[str, Any], keys: tuple[str | int, ...]
) -> None:
    write_brief(home, agent, BRIEF)
    found = answer(agent, event, **payload)
    if keys is SAID:
        assert found["hookSpecificOutput"]["hookEventName"] == event
    for key in keys:
        found = found[key]
    assert found == BRIEF


@pytest.mark.parametrize("written", [b'{"a": 1, "invocationNum" : 0 , "b": 2}', b'{"invocationNum":0}'])
def test_command_gives_the_brief_too(home: Path, written: bytes) -> None:
    write_brief(home, "antigravity", BRIEF)
    for program in (SHIM, COMMAND):
        assert read(run("antigravity", "PreInvocation", written, program)) == {
            "injectSteps": [{"ephemeralMessage": BRIEF}]
        }


@pytest.mark.parametrize(
    ("agent", "event", "stdin", "expected"),
    [
        ("claude-code", "UserPromptSubmit", b"{}", {}),
        ("claude-code", "UserPromptSubmit", b'{"session_id": null}', {}),
        ("claude-code", "Stop", b'{"session_id": "s"}', {}),
        ("claude-code", "PreCompact", b'{"session_id": "s"}', {}),
        ("codex", "Stop", b"{}", {}),
        ("gemini-cli", "AfterAgent", b"{}", {}),
        ("cursor", "beforeSubmitPrompt", b'{"conversation_id": "c"}', {"continue": True}),
        ("cursor", "stop", b"{}", {}),
        ("cline", "TaskStart", b'{"taskId": "t"}', {"cancel": False}),
        ("cline", "UserPromptSubmit", b'{"taskId": "t"}', {"cancel": False}),
        ("cline", "TaskComplete", b"", {"cancel": False}),
        ("goose", "UserPromptSubmit", b'{"session_id": "s"}', {}),
        ("goose", "Stop", b'{"session_id": "s"}', {"decision": "allow"}),
        ("antigravity", "PreInvocation", b'{"invocationNum":3}', {}),
        ("antigravity", "PreInvocation", b'{"invocationNum":0.5}', {}),
        ("antigravity", "PreInvocation", b'{"note":"\\"invocationNum\\":0"}', {}),
        ("antigravity", "PreInvocation", b'{"a": {"invocationNum": 0}}', {}),
        ("antigravity", "PreInvocation", b"", {}),
        ("antigravity", "SessionStart", b'{"conversationId": "c"}', {}),
        ("antigravity", "PreToolUse", b"{}", {"decision": "ask"}),
        ("antigravity", "Stop", b"{}", {}),
        ("grok", "SessionStart", b'{"sessionId": "s"}', {}),
        ("grok", "UserPromptSubmit", b'{"sessionId": "s"}', {}),
        ("grok", "Stop", b'{"sessionId": "s"}', {}),
        ("muse", "SessionStart", b'{"session_id": "s"}', {}),
        ("muse-code", "SessionStart", b'{"session_id": "s"}', {}),
        ("other", "SessionStart", b"{}", {}),
    ],
)
def test_other_event_changes_nothing(home: Path, agent: str, event: str, stdin: bytes, expected: object) -> None:
    if agent != "other":
        write_brief(home, agent, BRIEF)
    assert read(run(agent, event, stdin)) == expected
    assert not (home / "brief" / ".given").exists()


def test_agent_that_runs_the_hooks_of_another_is_given_its_own_brief_in_its_own_form(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for agent in ("claude-code", "cursor", "grok"):
        write_brief(home, agent, f"# For {agent}: data\n\n- call Ann")
    cursor = {"conversation_id": "c-1", "session_id": "c-1", "cursor_version": "2.3.1"}
    assert answer("claude-code", "SessionStart", **cursor) == {"additional_context": "# For cursor: data\n\n- call Ann"}
    assert answer("cursor", "sessionStart", **cursor) == {}
    monkeypatch.setenv("GROK_HOOK_EVENT", "session_start")
    assert given("claude-code", "SessionStart") == given("claude-code", "UserPromptSubmit") == ""
    assert given("claude-code", "PostToolUse") == "# For grok: data\n\n- call Ann"
    assert given("grok", "PostToolUse") == ""


# --- what the page is like ---------------------------------------------------------------------------------------


def test_brief_is_cut_at_its_size_between_two_characters(home: Path) -> None:
    assert shim.BRIEF_BYTES == BRIEF_BYTES
    write_brief(home, "claude-code", "#" + "Ж" * 5000)
    assert given("claude-code", "SessionStart") == "#" + "Ж" * 1023


@pytest.mark.parametrize("content", [b"", b" \n", b"\xff\xfe"])
def test_brief_that_says_nothing_is_not_given(home: Path, content: bytes) -> None:
    write_brief(home, "claude-code", "")
    (home / "brief" / "claude-code.md").write_bytes(content)
    assert answer("claude-code", "SessionStart") == {}


@posix
def test_brief_that_is_no_file_keeps_nothing_from_the_spool(home: Path) -> None:
    (home / "brief" / "codex.md").mkdir(parents=True)
    os.mkfifo(home / "brief" / "claude-code.md")  # whose reader waits for a writer
    for agent in ("claude-code", "codex"):
        assert answer(agent, "SessionStart", session_id="s-1") == {}
    assert len(spool.waiting(home)) == 2


def test_rendered_brief_reaches_the_agent_with_its_notice_and_then_what_is_new(
    home: Path, make_plane: MakePlane
) -> None:
    plane = make_plane(agents={"heron": {}})
    plane.render()
    page = home / "brief" / "heron.md"
    assert page.read_text("utf-8").startswith("Nothing new")
    assert given("heron", "SessionStart") == ""
    plane.post("Send Ann the map", agent="egret", kind="handoff", to="heron")
    plane.render()
    assert given("heron", "UserPromptSubmit") == page.read_text("utf-8").strip()
    assert given("heron", "UserPromptSubmit") == ""
    plane.post("Ask Bob for the boat", agent="egret", kind="handoff", to="heron")
    plane.render()
    title, _, heading, _, entry = given("heron", "UserPromptSubmit").split("\n")
    assert title.endswith(NOTICE)
    assert heading == "## Open for you"
    assert "Ask Bob for the boat" in entry


# --- once --------------------------------------------------------------------------------------------------------


def test_session_is_given_the_page_and_then_what_is_new_in_it(home: Path) -> None:
    write_brief(home, "codex", PAGE)
    assert given("codex", "SessionStart") == PAGE
    assert given("codex", "UserPromptSubmit") == ""
    write_brief(home, "codex", PAGE.replace("- pay Bob", "- pay Bob\n- wake Dan").replace("3 more", "4 more"))
    assert given("codex", "UserPromptSubmit") == f"{TITLE}\n\n## Open\n\n- wake Dan"
    write_brief(home, "codex", f"{PAGE}\n- Eva left\n\n## Doing\n\n- Finn: sails")
    assert given("codex", "UserPromptSubmit") == f"{TITLE}\n\n## Told\n\n- Eva left\n\n## Doing\n\n- Finn: sails"
    write_brief(home, "codex", PAGE)
    assert given("codex", "UserPromptSubmit") == ""
    assert given("codex", "SessionStart") == ""


def test_entry_whose_reason_alone_has_changed_is_not_given_again(home: Path) -> None:
    write_brief(home, "codex", f"{PAGE}\n- Eva left · why: interest: people")
    assert "Eva left" in given("codex", "SessionStart")
    write_brief(home, "codex", f"{PAGE}\n- Eva left · why: Eva: in its focus")
    assert given("codex", "UserPromptSubmit") == ""


def test_other_session_or_agent_is_given_all_of_it(home: Path) -> None:
    for agent in ("codex", "gemini-cli"):
        write_brief(home, agent, PAGE)
        for session in ("s-1", "s-2", "s" * 100_000, "../../../x", "Жук\n", '\\"', "s-1 "):
            assert given(agent, "UserPromptSubmit", session) == PAGE
            assert given(agent, "UserPromptSubmit", session) == ""
    assert len(notes(home)) == 14
    assert list(home.parent.rglob("x")) == []


def test_session_is_known_by_any_of_its_names_and_nothing_else(home: Path) -> None:
    write_brief(home, "heron", PAGE)
    for name in ("session_id", "sessionId", "conversation_id", "conversationId"):
        assert answer("heron", "UserPromptSubmit", prompt='"session_id": "x"', **{name: name}) != {}
        assert answer("heron", "UserPromptSubmit", tool={"session_id": "x"}, **{name: name}) == {}
    assert answer("heron", "UserPromptSubmit", tool={"session_id": "x"}) == {}
    assert len(notes(home)) == 4


@pytest.mark.parametrize("source", ["compact", "resume", "clear", "fork"])
def test_session_that_may_have_lost_it_is_given_all_of_it_again(home: Path, source: str) -> None:
    write_brief(home, "codex", PAGE)
    given("codex", "SessionStart", source="startup")
    an_hour_passes(home)
    assert given("codex", "SessionStart", source="startup") == ""
    assert given("codex", "SessionStart", source=source) == PAGE
    assert given("codex", "SessionStart", source=source) == ""  # another registration
    assert given("codex", "UserPromptSubmit") == ""


@pytest.mark.parametrize(
    ("agent", "forgets", "asks"),
    [
        ("claude-code", "PreCompact", "UserPromptSubmit"),
        ("grok", "PreCompact", "PostToolUse"),
    ],
)
def test_compaction_forgets_what_was_given(home: Path, agent: str, forgets: str, asks: str) -> None:
    write_brief(home, agent, PAGE)
    assert given(agent, forgets) == ""
    assert given(agent, asks) == PAGE
    assert given(agent, forgets) == ""
    assert given(agent, asks) == PAGE
    assert given(agent, asks) == ""


def test_gemini_tells_of_a_compaction_with_every_turn_and_is_not_given_everything_again(home: Path) -> None:
    write_brief(home, "gemini-cli", PAGE)
    assert given("gemini-cli", "BeforeAgent") == PAGE
    assert given("gemini-cli", "PreCompress") == ""
    assert given("gemini-cli", "BeforeAgent") == ""


def at_once(calls: Iterable[tuple[str, str]], **payload: Any) -> Counter[str]:
    """Run hooks at the same time, and count how often each line was given."""
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    processes = [subprocess.Popen([*SHIM, *call], **pipes) for call in calls]  # type: ignore[call-overload]
    for process in processes:
        process.stdin.write(json.dumps(payload).encode())
    for process in processes:
        process.stdin.close()
    lines: Counter[str] = Counter()
    for process in processes:
        said = json.loads(process.stdout.read())
        process.stdout.close()
        assert process.wait(PATIENT) == 0
        lines.update(said["hookSpecificOutput"]["additionalContext"].split("\n") if said else ())
    return lines


def test_hooks_that_run_at_the_same_time_give_each_line_once(home: Path) -> None:
    both = [("codex", "SessionStart"), ("codex", "UserPromptSubmit")]
    write_brief(home, "codex", PAGE)
    for turn in range(5):
        lines = at_once(both * 3, session_id=f"s-{turn}", source="startup")
        assert [lines[line] for line in ("- call Ann", "- pay Bob", "- Carl shipped it")] == [1, 1, 1]
        write_brief(home, "codex", f"{PAGE}\n- turn {turn}")
        assert at_once(both * 3, session_id=f"s-{turn}") == Counter([TITLE, "", "## Told", "", f"- turn {turn}"])
        write_brief(home, "codex", PAGE)


def test_one_turn_in_three_registrations_of_grok_is_given_once(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GROK_HOOK_EVENT", "post_tool_use")
    write_brief(home, "grok", PAGE)
    three = [("grok", "PostToolUse"), ("claude-code", "PostToolUse"), ("cursor", "afterAgentResponse")]
    assert at_once(three, sessionId="s-1")["- call Ann"] == 1
    assert spool.waiting(home) == []


def test_what_grok_reads_in_its_rules_at_a_start_is_not_given_again(home: Path) -> None:
    write_brief(home, "grok", PAGE)
    assert answer("grok", "SessionStart", sessionId="s-1", source="new") == {}
    assert answer("grok", "PostToolUse", sessionId="s-1") == {}
    write_brief(home, "grok", f"{PAGE}\n- Dora paid it")
    assert given("grok", "PostToolUse") == f"{TITLE}\n\n## Told\n\n- Dora paid it"


def test_helper_of_grok_is_given_nothing_beyond_its_rules(home: Path) -> None:
    write_brief(home, "grok", PAGE)
    assert answer("grok", "PostToolUse", sessionId="s-2", subagentType="explore") == {}


def test_session_that_grok_resumes_is_given_what_its_rules_did_not_hold(home: Path) -> None:
    write_brief(home, "grok", PAGE)
    assert answer("grok", "SessionStart", sessionId="s-1", source="load") == {}
    assert given("grok", "PostToolUse") == PAGE


# --- the notes about what was given ------------------------------------------------------------------------------


def test_notes_hold_no_text_and_are_for_their_owner_alone(home: Path) -> None:
    write_brief(home, "codex", PAGE)
    given("codex", "SessionStart", "a session")
    (note,) = notes(home)
    assert note.name.startswith("codex-")
    assert not any(word in note.name + note.read_text() for word in ("session", "Ann", "Carl"))
    if os.name != "nt":
        assert [stat.S_IMODE(path.stat().st_mode) for path in (note.parent, note)] == [0o700, 0o600]


def test_note_that_cannot_be_made_costs_prompts_their_brief_and_starts_nothing(home: Path) -> None:
    write_brief(home, "codex", PAGE)
    (home / "brief" / ".given").write_text("in the way")
    assert given("codex", "UserPromptSubmit") == ""
    assert given("codex", "SessionStart") == PAGE


@pytest.mark.parametrize("content", [b"\xff\x00\n", b"x\n", b"a b c\n", b"a 9 " + b"b" * 300 + b"\n", b" \n" * 99])
def test_note_that_is_damaged_notes_nothing(home: Path, content: bytes) -> None:
    write_brief(home, "codex", PAGE)
    given("codex", "SessionStart")
    (note,) = notes(home)
    note.write_bytes(content)
    assert given("codex", "UserPromptSubmit") == PAGE
    assert given("codex", "UserPromptSubmit") == ""


def test_note_stops_growing(home: Path) -> None:
    write_brief(home, "codex", PAGE)
    given("codex", "SessionStart")
    (note,) = notes(home)
    with note.open("a") as file:
        file.write(f"a 9 {'0123456789abcdef ' * (shim.MOST_GIVEN // 17 + 1)}\n")
    assert given("codex", "UserPromptSubmit") == PAGE
    assert note.stat().st_size < 200
    assert given("codex", "UserPromptSubmit") == ""


def test_notes_of_old_sessions_go(home: Path) -> None:
    write_brief(home, "codex", PAGE)
    given("codex", "SessionStart", "the first one")
    (first,) = notes(home)
    for number in range(shim.MOST_SESSIONS - 1):
        old = first.with_name(f"codex-{number:016x}")
        old.write_text("a 9 b\n")
        os.utime(old, (number, number))
    given("codex", "SessionStart", "the last one")
    left = notes(home)
    assert len(left) == shim.MOST_SESSIONS // 2
    assert first in left
    assert (
        given("codex", "UserPromptSubmit", "the first one") == given("codex", "UserPromptSubmit", "the last one") == ""
    )
