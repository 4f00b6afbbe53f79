"""The hook shim as a real process: one JSON object and exit code 0 whatever comes, and nothing that came is lost."""

from __future__ import annotations

import json
import os
import runpy
import shutil
import stat
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import NAMESPACE_URL, uuid5

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_plane import Plane, Plugin, hookimpl, seen, spool
from memory_plane import hook as shim
from memory_plane.operations import agent_id, make_operation
from memory_plane.redact import rules
from memory_plane.types import AgentInfo, Event, Ingested, Poll

MakePlane = Callable[..., Plane]

HOOK = Path(shim.__file__)
SHIM = (sys.executable, "-S", str(HOOK))
COMMAND = (sys.executable, "-m", "memory_plane", "hook")
STOP = ("claude-code", "Stop")
PATIENT = 30

PAYLOAD = {"session_id": "s-1", "last_assistant_message": 'Zoë said "ok" \\ и 🦩\n\tdone', "stop_hook_active": False}
TYPICAL = json.dumps(PAYLOAD, ensure_ascii=False).encode()
STRANGE = {
    "empty": b"",
    "blank": b" \r\n\t ",
    "broken": TYPICAL[:-9],
    "array": b"[1, 2]",
    "null": b"null",
    "text": b"not JSON at all",
    "two objects": b"{}{}",
    "deep": b"[" * 100_000,
    "binary": bytes(range(256)) * 500,
    "no UTF-8": b'{"a": "\xff\xfe\xc3"}',
    "half characters": b'{"a": "\\ud83d", "b": "\xed\xa0\xbd"}',
    "UTF-16": json.dumps(PAYLOAD).encode("utf-16"),
    "byte order mark": b"\xef\xbb\xbf" + TYPICAL,
    "many digits": b'{"a": %s}' % (b"9" * 5000),
    "50 MB": b'{"session_id": "s-1", "prompt": "' + b"word " * 10_000_000 + b'"}',
}

CASES = runpy.run_path(str(Path(__file__).parent / "benchmarks" / "redaction.py"))
SECRETS = [case for case in json.loads(CASES["CASES"].read_text("utf-8"))["secrets"] if "hard" not in case]
RULES = [rule.name for rule in rules()]
# Known by their beginning; what must be understood first (`my password is …`) is cut when the event is taken in.
FAMILIES = {*RULES[: RULES.index("vendor-token") + 1]} - {"aws-secret-key", "discord-token"}
LATE = "correct-Horse7-battery"

posix = pytest.mark.skipif(os.name == "nt", reason="pipes, limits and terminals of POSIX")


def run(
    *args: str, stdin: bytes | int = b"", program: tuple[str, ...] = SHIM, **options: Any
) -> subprocess.CompletedProcess[bytes]:
    given = {"stdin": stdin} if isinstance(stdin, int) else {"input": stdin}
    return subprocess.run([*program, *args], capture_output=True, timeout=PATIENT, **given, **options)


def in_shell(
    words: str, *args: str, stdin: bytes = TYPICAL, program: tuple[str, ...] = SHIM
) -> subprocess.CompletedProcess[bytes]:
    """Run the shim as the shell has set it up."""
    return run("-c", f'{words}; exec "$0" "$@"', *program, *args, stdin=stdin, program=("sh",))


def answer(result: subprocess.CompletedProcess[bytes]) -> dict[str, Any]:
    """Return the one object that was printed."""
    assert (result.returncode, result.stderr) == (0, b"")
    assert result.stdout.endswith(b"\n")
    found = json.loads(result.stdout)
    assert isinstance(found, dict)
    return found


def events(home: Path) -> list[Event]:
    return [event for _, event in spool.read(home) if event is not None]


def payloads(home: Path) -> list[Any]:
    return [event.payload for event in events(home)]


def contents(home: Path) -> Iterator[tuple[Path, bytes]]:
    for path in home.rglob("*"):
        if path.is_file():
            yield path, path.read_bytes()


def kept(home: Path) -> Iterator[tuple[Path, bytes]]:
    """What was put into the spool."""
    return contents(home / "spool")


def assert_nowhere(home: Path, *canaries: str) -> None:
    for path, content in contents(home):
        for canary in canaries:
            assert canary.encode() not in content, path


def write_brief(home: Path, agent: str, text: str) -> None:
    (home / "brief").mkdir(exist_ok=True)
    (home / "brief" / f"{agent}.md").write_text(text, "utf-8")


def fragments(text: str) -> list[str]:
    """The words of a secret, as far as they say anything; JSON writes a line break in another way."""
    return [word for word in text.replace("\\n", "\n").split() if len(word) > 11]


class HeronPlugin(Plugin):
    """Speaks for an agent whose events say what was said."""

    agents = (AgentInfo(id="heron"),)

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self.seen: list[Any] = []

    @hookimpl
    def ingest(self, cue: Poll | Event) -> Ingested | None:
        if isinstance(cue, Poll):
            return None
        self.seen.append(cue.payload)
        text = cue.payload["text"]
        id = str(uuid5(NAMESPACE_URL, str(text)))
        return Ingested(operations=(make_operation("thought", {"text": text}, agent="heron", id=id),))


# --- whatever comes on stdin -------------------------------------------------------------------------------------


def test_payload_waits_in_the_spool(home: Path) -> None:
    assert answer(run(*STOP, stdin=TYPICAL)) == {}
    (event,) = events(home)
    assert event == Event(agent="claude-code", name="Stop", payload=PAYLOAD, at=event.at)


@pytest.mark.parametrize("stdin", STRANGE.values(), ids=STRANGE)
def test_any_payload_is_answered_and_becomes_an_event(home: Path, stdin: bytes) -> None:
    assert answer(run(*STOP, stdin=stdin)) == {}
    found = [event for _, event in spool.read(home)]
    assert len(found) == bool(stdin.strip())
    for event in found:
        assert event is not None
        assert event.payload


@pytest.mark.parametrize("name", ["empty", "broken", "binary", "50 MB"])
def test_command_answers_any_payload_too(home: Path, name: str) -> None:
    assert answer(run(*STOP, stdin=STRANGE[name], program=COMMAND)) == {}
    assert len(events(home)) == bool(STRANGE[name])


@pytest.mark.parametrize("name", ["UTF-16", "byte order mark"])
def test_encoding_of_another_system_is_read(home: Path, name: str) -> None:
    run(*STOP, stdin=STRANGE[name])
    assert payloads(home) == [PAYLOAD]


def test_what_is_no_object_is_kept_as_text(home: Path) -> None:
    run(*STOP, stdin=b"not JSON at all")
    run(*STOP, stdin=b"[1, 2]")
    assert payloads(home) == [{"raw": "not JSON at all"}, {"raw": "[1, 2]"}]


def test_torn_payload_keeps_the_fields_that_are_whole(home: Path) -> None:
    torn = '{"session_id": "s-1", "usage": {"in": 7}, "last": "Zoë wrote'
    run(*STOP, stdin=torn.encode())
    run(*STOP, stdin=b'{"turn": 4, "step": 12')  # might have been 123
    assert payloads(home) == [
        {"session_id": "s-1", "usage": {"in": 7}, "raw": torn},
        {"turn": 4, "raw": '{"turn": 4, "step": 12'},
    ]


def test_huge_payload_is_cut_to_what_is_useful(home: Path) -> None:
    answer(run(*STOP, stdin=STRANGE["50 MB"]))
    ((path, content),) = kept(home)
    assert len(content) < shim.KEEP + 1000
    (payload,) = payloads(home)
    assert payload["session_id"] == "s-1"
    assert len(payload["raw"]) > shim.KEEP - 10
    assert path.stat().st_size < shim.KEEP + 1000


def test_agent_can_write_all_it_has_to_say(home: Path) -> None:
    process = subprocess.Popen([*SHIM, *STOP], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert process.stdin is not None
    for _ in range(100):
        process.stdin.write(b"x" * 100_000)  # raises if nobody reads on
    process.communicate(timeout=PATIENT)
    assert process.returncode == 0


@posix
@pytest.mark.parametrize("program", [SHIM, COMMAND], ids=["file", "command"])
def test_pipe_that_never_ends_is_left(home: Path, program: tuple[str, ...]) -> None:
    process = subprocess.Popen([*program, *STOP], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    with process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(TYPICAL)
        process.stdin.flush()
        assert json.loads(process.stdout.read()) == {}
        assert process.wait(PATIENT) == 0
    assert payloads(home) == [PAYLOAD]


@posix
@pytest.mark.parametrize("device", ["/dev/zero", "/dev/null"])
def test_device_on_stdin_is_no_payload(home: Path, device: str) -> None:
    descriptor = os.open(device, os.O_RDONLY)
    assert answer(run(*STOP, stdin=descriptor)) == {}
    os.close(descriptor)
    assert events(home) == []


@posix
def test_terminal_on_stdin_is_not_waited_for(home: Path) -> None:
    leader, follower = os.openpty()
    assert answer(run(*STOP, stdin=follower)) == {}
    os.close(leader)
    os.close(follower)
    assert not (home / "spool").exists()


@posix
@pytest.mark.parametrize("program", [SHIM, COMMAND], ids=["file", "command"])
def test_closed_stdin_is_an_empty_one(home: Path, program: tuple[str, ...]) -> None:
    assert answer(in_shell("exec 0<&-", *STOP, program=program)) == {}
    assert not (home / "spool").exists()


# --- wherever the answer goes ------------------------------------------------------------------------------------


@posix
@pytest.mark.parametrize("stdout", ["1>&-", "1>/dev/full", "0<&- 1>&- 2>&-"])
@pytest.mark.parametrize("program", [SHIM, COMMAND], ids=["file", "command"])
def test_stdout_that_takes_nothing_is_no_failure(home: Path, stdout: str, program: tuple[str, ...]) -> None:
    if "/dev/full" in stdout and not Path("/dev/full").exists():
        pytest.skip("needs /dev/full")
    result = in_shell(f"exec {stdout}", *STOP, program=program)
    assert (result.returncode, result.stdout, result.stderr) == (0, b"", b"")
    assert payloads(home) == ([] if "0<&-" in stdout else [PAYLOAD])


@posix
def test_reader_that_has_gone_is_no_failure(home: Path) -> None:
    process = subprocess.Popen([*SHIM, *STOP], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert process.stdout is not None
    process.stdout.close()
    process.stdout = None
    _, err = process.communicate(TYPICAL, timeout=PATIENT)
    assert (process.returncode, err) == (0, b"")
    assert payloads(home) == [PAYLOAD]


@posix
def test_reader_that_does_not_read_is_left(home: Path) -> None:
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    with pytest.raises(BlockingIOError):
        while True:
            os.write(writing, b" " * 65536)
    os.set_blocking(writing, True)
    process = subprocess.Popen([*SHIM, *STOP], stdin=subprocess.PIPE, stdout=writing)
    process.communicate(TYPICAL, timeout=PATIENT)
    assert process.returncode == 0
    os.close(reading)
    os.close(writing)


# --- whatever the disk is like -----------------------------------------------------------------------------------


def test_files_are_for_their_owner_alone(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    new = home / "new" / "home"
    monkeypatch.setenv("MEMORY_PLANE_HOME", str(new))
    run(*STOP, stdin=TYPICAL)
    (path,) = (new / "spool").iterdir()
    if os.name != "nt":
        modes = [stat.S_IMODE(place.stat().st_mode) for place in (new, new / "spool", path)]
        assert modes == [0o700, 0o700, 0o600]


@pytest.mark.parametrize("program", [SHIM, COMMAND], ids=["file", "command"])
def test_home_that_cannot_be_is_no_failure(
    home: Path, monkeypatch: pytest.MonkeyPatch, program: tuple[str, ...]
) -> None:
    (home / "file").write_text("in the way")
    monkeypatch.setenv("MEMORY_PLANE_HOME", str(home / "file" / "home"))
    assert answer(run("claude-code", "SessionStart", stdin=TYPICAL, program=program)) == {}


@posix
@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may write everywhere")
def test_read_only_home_still_gives_its_brief(home: Path) -> None:
    write_brief(home, "claude-code", "# For claude-code\n\n- call Ann")
    home.chmod(0o500)
    assert "call Ann" in answer(run("claude-code", "SessionStart", stdin=TYPICAL))["hookSpecificOutput"].values()
    home.chmod(0o700)
    assert not (home / "spool").exists()


def test_spool_that_is_a_file_keeps_nobody_from_the_brief(home: Path) -> None:
    write_brief(home, "claude-code", "# For claude-code")
    (home / "spool").write_text("in the way")
    assert "hookSpecificOutput" in answer(run("claude-code", "SessionStart", stdin=TYPICAL))


@posix
def test_full_disk_leaves_nothing_half_written(home: Path) -> None:
    assert answer(in_shell("ulimit -f 0", *STOP)) == {}
    assert list((home / "spool").iterdir()) == []
    assert answer(in_shell("ulimit -f 1", *STOP, stdin=b'{"a": "%s"}' % (b"x" * 100_000))) == {}
    assert list((home / "spool").iterdir()) == []


def test_spool_that_nobody_empties_stops_growing(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shim, "MOST_WAITING", 3)
    (home / "spool").mkdir()
    (home / "spool" / "0.bad").touch()
    for _ in range(5):
        shim._spool(str(home), "heron", "said", "{}")
    assert len(spool.waiting(home)) == 3
    spool.done(spool.waiting(home)[0])
    shim._spool(str(home), "heron", "said", "{}")
    assert len(spool.waiting(home)) == 3


def test_twenty_at_once_are_all_kept(home: Path) -> None:
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    processes = [subprocess.Popen([*SHIM, *STOP], **pipes) for _ in range(20)]  # type: ignore[call-overload]
    for number, process in enumerate(processes):
        process.stdin.write(b'{"number": %d}' % number)
        process.stdin.close()
    for process in processes:
        assert process.wait(PATIENT) == 0
        assert (process.stdout.read(), process.stderr.read()) == (b"{}\n", b"")
        process.stdout.close()
        process.stderr.close()
    assert sorted(payload["number"] for payload in payloads(home)) == list(range(20))
    assert not list(home.rglob("*.part"))


@posix
def test_killed_shim_leaves_an_event_whole_or_not_at_all(home: Path) -> None:
    stdin = json.dumps({"text": "word " * 200_000}).encode()
    begun = time.perf_counter()
    run(*STOP, stdin=stdin)
    usual = time.perf_counter() - begun
    for step in range(16):
        process = subprocess.Popen([*SHIM, *STOP], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL)
        assert process.stdin is not None
        process.stdin.write(stdin)
        process.stdin.close()
        time.sleep(usual * step / 16)
        process.kill()
        process.wait(PATIENT)
    assert all(payload == json.loads(stdin) for payload in payloads(home))
    assert all(event is not None for _, event in spool.read(home))


def test_what_a_killed_writer_left_is_swept_up(home: Path) -> None:
    folder = home / "spool"
    folder.mkdir()
    for name in ("old.part", "young.part"):
        (folder / name).write_bytes(TYPICAL)
    os.utime(folder / "old.part", (1, 1))
    assert list(spool.read(home)) == []
    assert [path.name for path in folder.iterdir()] == ["young.part"]


# --- who speaks --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "args",
    [
        (),
        ("claude-code",),
        ("claude-code", ""),
        ("", "Stop"),
        ("..", "Stop"),
        ("../../etc/passwd", "Stop"),
        ("a/b", "SessionStart"),
        ("a\\b", "Stop"),
        (".hidden", "Stop"),
        ("two words", "Stop"),
        ("x" * 65, "Stop"),
        ("--help", "Stop"),
    ],
)
def test_what_is_no_agent_is_answered_and_writes_nothing(home: Path, args: tuple[str, ...]) -> None:
    (home.parent / "secret.md").write_text("not for agents")
    assert answer(run(*args, stdin=TYPICAL)) == {}
    assert list(home.iterdir()) == []


@pytest.mark.parametrize("args", [(), ("one",), ("../x", "Stop"), ("--no-such-option", "-x")])
def test_command_never_fails_on_its_arguments(home: Path, args: tuple[str, ...]) -> None:
    assert answer(run(*args, stdin=TYPICAL, program=COMMAND)) == {}


def test_command_works_beside_broken_settings(home: Path) -> None:
    (home / "config.toml").write_text("this is no TOML")
    (home / "memory.db").mkdir()
    assert answer(run(*STOP, stdin=TYPICAL, program=COMMAND)) == {}
    assert payloads(home) == [PAYLOAD]


@given(st.text(max_size=70) | st.from_regex(r"\s?\w[\w.-]{0,66}", fullmatch=True))
def test_agents_are_spelt_as_in_operations(name: str) -> None:
    assert shim._agent(name) == (agent_id(name) or "")


def test_agent_nobody_knows_waits_for_its_plugin(home: Path) -> None:
    assert answer(run(" Жук-7 ", "SessionStart", stdin=TYPICAL)) == {}
    (event,) = events(home)
    assert event.agent == "жук-7"


@pytest.mark.parametrize(
    ("registered", "name"),
    [
        (("claude-code", "Stop"), "Stop"),
        (("cursor", "stop"), "Stop"),
        (("cursor", "beforeSubmitPrompt"), "UserPromptSubmit"),
        (("grok", "SessionEnd"), "SessionEnd"),
    ],
)
def test_hooks_of_others_that_grok_runs_are_those_of_grok(
    home: Path, monkeypatch: pytest.MonkeyPatch, registered: tuple[str, str], name: str
) -> None:
    monkeypatch.setenv("GROK_HOOK_EVENT", "stop")
    assert answer(run(*registered, stdin=TYPICAL)) == {}
    assert [(event.agent, event.name) for event in events(home)] == [("grok", name)]


def test_agent_that_grok_starts_is_itself(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GROK_SESSION_ID", "s-7")  # which the shell of a tool of Grok inherits
    monkeypatch.setenv("GROK_AGENT", "1")
    run(*STOP, stdin=TYPICAL)
    assert [event.agent for event in events(home)] == ["claude-code"]


@pytest.mark.parametrize(
    ("event", "name", "said"),
    [("Stop", "stop", {}), ("UserPromptSubmit", "beforeSubmitPrompt", {"continue": True}), ("preCompact",) * 2 + ({},)],
)
def test_hooks_of_claude_that_cursor_runs_are_those_of_cursor(
    home: Path, event: str, name: str, said: dict[str, Any]
) -> None:
    stdin = json.dumps({"conversation_id": "c-1", "prompt": "why", "cursor_version": "2.3.1"}).encode()
    assert answer(run("claude-code", event, stdin=stdin)) == said
    assert [(event.agent, event.name) for event in events(home)] == [("cursor", name)]


def test_text_about_cursor_makes_nobody_cursor(home: Path) -> None:
    said = {"prompt": 'set "cursor_version": "2"', "tool_input": {"cursor_version": "2"}, "a": ["cursor_version"]}
    run("claude-code", "UserPromptSubmit", stdin=json.dumps(said).encode())
    assert [event.agent for event in events(home)] == ["claude-code"]


def test_nothing_is_kept_of_what_comes_with_every_step(home: Path) -> None:
    run("antigravity", "PreInvocation", stdin=b'{"conversationId": "c", "invocationNum": 1}')
    run("grok", "PostToolUse", stdin=b'{"sessionId": "s", "toolResult": {"output": "a lot"}}')
    assert not (home / "spool").exists()
    run("antigravity", "PreInvocation", stdin=b'{"conversationId": "c", "invocationNum": 0}')
    run("heron", "PreInvocation", stdin=b"no JSON at all")
    assert [event.agent for event in events(home)] == ["antigravity", "heron"]


# --- when an agent was last heard --------------------------------------------------------------------------------


def test_hook_leaves_word_that_it_ran(home: Path) -> None:
    assert seen.last(home, "claude-code") == seen.Seen()
    begun = datetime.now(UTC)
    run(*STOP, stdin=b"")
    found = seen.last(home, "claude-code")
    assert found.hook is not None
    assert abs(found.hook - begun) < timedelta(seconds=PATIENT)
    assert (found.event, found.mcp) == ("Stop", None)
    run("claude-code", "SessionEnd", stdin=TYPICAL)
    assert seen.last(home, "claude-code").event == "SessionEnd"
    if os.name != "nt":
        modes = [stat.S_IMODE(path.stat().st_mode) for path in (home / "seen", home / "seen" / "claude-code.hook")]
        assert modes == [0o700, 0o600]


def test_hook_that_another_agent_runs_is_its_own_sign_of_life(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GROK_HOOK_EVENT", "stop")
    run(*STOP, stdin=TYPICAL)
    assert seen.last(home, "claude-code") == seen.Seen()
    assert seen.last(home, "grok").event == "Stop"


@posix
def test_word_that_cannot_be_left_costs_nothing_else(home: Path) -> None:
    (home / "seen").mkdir()
    os.mkfifo(home / "seen" / "claude-code.hook")  # whose writer waits for a reader
    (home / "seen" / "codex.hook").mkdir()
    for agent in ("claude-code", "codex"):
        assert answer(run(agent, "Stop", stdin=TYPICAL)) == {}
        assert seen.last(home, agent) == seen.Seen()
    assert payloads(home) == [PAYLOAD, PAYLOAD]


# --- where the home is -------------------------------------------------------------------------------------------


def test_home_is_the_usual_one_unless_said_otherwise(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("MEMORY_PLANE_HOME")
    run(*STOP, stdin=TYPICAL)
    assert payloads(home) == [PAYLOAD]
    monkeypatch.setenv("MEMORY_PLANE_HOME", "~/other")
    run(*STOP, stdin=TYPICAL)
    assert payloads(home.parent / "other") == [PAYLOAD]
    run(*STOP, str(home / "third"), stdin=TYPICAL)
    assert payloads(home / "third") == [PAYLOAD]


def test_third_argument_that_is_no_absolute_path_is_no_home(home: Path, tmp_path: Path) -> None:
    run(*STOP, '{"type": "agent-turn-complete"}', stdin=TYPICAL, cwd=tmp_path)
    assert payloads(home) == [PAYLOAD]
    assert list(tmp_path.iterdir()) == [home.parent]


def test_command_takes_the_home_of_the_command_line(home: Path, tmp_path: Path) -> None:
    command = (*COMMAND[:-1], "--home", "elsewhere", "hook")
    answer(run(*STOP, stdin=TYPICAL, program=command, cwd=tmp_path))
    assert payloads(tmp_path / "elsewhere") == [PAYLOAD]


# --- the file alone ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("flags", [("-S",), ("-I", "-S"), ("-I",), ("-S", "-W", "error", "-X", "dev")])
def test_copied_file_needs_nothing_of_ours(home: Path, tmp_path: Path, flags: tuple[str, ...]) -> None:
    folder = tmp_path / "Папка with spaces"
    folder.mkdir()
    shutil.copy(HOOK, folder / "hook.py")
    for name in ("types.py", "re.py", "json.py"):
        (folder / name).write_text("raise SystemExit('not the one of the standard library')")
    program = (sys.executable, *flags, str(folder / "hook.py"))
    write_brief(home, "claude-code", "# For claude-code\n\n- call Ann")
    assert "hookSpecificOutput" in answer(run("claude-code", "SessionStart", stdin=TYPICAL, program=program, cwd=home))
    assert payloads(home) == [PAYLOAD]


def test_nothing_is_imported_that_costs_time(home: Path) -> None:
    def imported(*args: str) -> set[str]:
        result = run(*args, stdin=TYPICAL, program=(sys.executable, "-S", "-X", "importtime"))
        return {line.rsplit(b"|", 1)[1].strip().decode() for line in result.stderr.splitlines() if b"|" in line}

    assert imported(str(HOOK), *STOP) - imported("-c", "import os, time") <= {"pwd"}


# --- secrets -----------------------------------------------------------------------------------------------------


def secret_texts(*families: str) -> dict[str, list[str]]:
    """Return texts with the fragments of the secrets in them."""
    cases = [CASES["secrets"](case["text"]) for case in SECRETS if not families or case["rule"] in families]
    return {text: [piece for secret in found for piece in fragments(secret)] for text, _, found in cases}


@pytest.mark.parametrize(
    "wrap", [lambda text: {"a": text}, lambda text: {"a": json.dumps({"b": text})}], ids=["", "nested"]
)
def test_tokens_and_keys_never_reach_the_disk(home: Path, wrap: Callable[[str], object]) -> None:
    texts = secret_texts(*FAMILIES)
    assert len(texts) > 40
    for ascii_only in (True, False):
        run(*STOP, stdin=json.dumps([wrap(text) for text in texts], ensure_ascii=ascii_only).encode())
    assert len(list((home / "spool").iterdir())) == 2
    for text, canaries in texts.items():
        assert canaries, text
        assert_nowhere(home, *canaries)
    for path, content in kept(home):
        record = json.loads(content)
        assert len(json.loads(record["payload"])) == len(texts), path  # what was cut tore nothing else


def test_token_in_what_is_no_json_is_cut_too(home: Path) -> None:
    texts = secret_texts(*FAMILIES)
    run(*STOP, stdin="\n".join(texts).encode())
    run(*STOP, stdin="\n".join(texts).encode("utf-16-le"))
    assert_nowhere(home, *(canary for canaries in texts.values() for canary in canaries))


def test_key_in_a_list_of_lines_is_cut_out_of_it(home: Path) -> None:
    lines = ["-----BEGIN " + "PRIVATE KEY-----", "+" + "Ab1/" * 16, "-" + "Cd2/" * 16, "-----END " + "PRIVATE KEY-----"]
    for indent in (None, 2):
        run(*STOP, stdin=json.dumps({"lines": ["before", *lines], "next": "(stays)"}, indent=indent).encode())
    assert_nowhere(home, "Ab1/Ab1/", "Cd2/Cd2/")
    cut = {"lines": ["before", "[redacted:private-key]", lines[-1]], "next": "(stays)"}
    assert payloads(home) == [cut, cut]


def test_key_without_an_end_takes_only_itself(home: Path) -> None:
    begin = "-----BEGIN RSA " + "PRIVATE KEY-----"
    body = "\n".join(["Ab1/" * 16] * 30)
    run(*STOP, stdin=json.dumps({"tool": f'echo "{begin}\n{body}', "next": "(stays)"}).encode())
    run(*STOP, stdin=json.dumps({"tool": f"{begin} (see the manual)", "next": "(stays)"}).encode())
    assert_nowhere(home, "Ab1/Ab1/")
    first, second = payloads(home)
    assert (first["tool"], first["next"]) == ('echo "[redacted:private-key]', "(stays)")
    assert (second["tool"], second["next"]) == (f"{begin} (see the manual)", "(stays)")


@pytest.mark.parametrize(
    "text",
    [
        "the task-management-system-of-2024 needs disk-space-monitoring-v2",
        "-----BEGIN CERTIFICATE-----\nMIIDdzCCAl+gAwIBAgIEAgAAuTANBgkqhkiG9w0BAQUFADBa\n-----END CERTIFICATE-----",
        "Bearer tokens are kept in the keychain; eyJ begins a JWT, sk- a key",
        "https://hooks.slack.com/ and npm_config_registry=https://registry.example.org",
    ],
)
def test_harmless_text_stays_as_it_is(home: Path, text: str) -> None:
    run(*STOP, stdin=json.dumps({"text": text}).encode())
    (content,) = (content for _, content in kept(home))
    assert json.loads(json.loads(content)["payload"]) == {"text": text}


PLAIN = st.text() | st.integers() | st.booleans() | st.none()


@given(
    st.dictionaries(st.text(), PLAIN | st.lists(PLAIN) | st.dictionaries(st.text(), PLAIN)),
    st.booleans(),
    st.sampled_from([None, 1]),
)
def test_fields_are_read_without_parsing(said: dict[str, Any], ascii_only: bool, indent: int | None) -> None:
    found = shim._fields(json.dumps(said, ensure_ascii=ascii_only, indent=indent))
    for name, value in said.items():
        written = json.dumps(name, ensure_ascii=ascii_only)[1:-1]
        if isinstance(value, str):
            assert json.loads(f'"{found[written]}"', strict=False) == value
        elif not isinstance(value, list | dict):
            assert json.loads(found[written]) == value
    assert len(found) <= len(said)


@pytest.mark.parametrize(
    "text", ["", "{", '{"', '{"a', '{"a"', '{"a":', '{"a":}', "}{", '["a", "b"]', '{"a" "b"', "{:1}", '"']
)
def test_fields_of_what_is_torn_are_those_before_the_tear(text: str) -> None:
    assert shim._fields(text) in ({}, {"a": "b"})
    assert shim._fields('{"id": "7", "n": 0, ' + text[1:]).items() >= {"id": "7", "n": "0"}.items()


@pytest.mark.parametrize("piece", ['"', '\\"', '"a":', '{"a":[', "\\", '"a":"b",', '"\\\\'])
def test_fields_of_the_worst_payload_take_no_time(piece: str) -> None:
    begun = time.perf_counter()
    shim._fields("{" + piece * (shim.KEEP // len(piece)))
    assert time.perf_counter() - begun < 1


@pytest.mark.parametrize(
    "piece", ["sk-", "sk-a1", "-----BEGIN PRIVATE KEY", "eyJaaaaaaaaaaaaaaaaaaa ", '\\"', ":AA", "\\u00e9SK"]
)
def test_time_grows_with_the_length_only(piece: str) -> None:
    begun = time.perf_counter()
    shim._without_secrets(piece * (300_000 // len(piece)))
    assert time.perf_counter() - begun < 2


def test_everything_else_is_cut_before_a_plugin_sees_it(home: Path, make_plane: MakePlane) -> None:
    texts = secret_texts()
    plugin = HeronPlugin()
    plane = make_plane(plugin)
    run("heron", "said", stdin=json.dumps({"text": "\n\n".join(texts), "password": LATE}).encode())
    report = plane.ingest()
    assert (report.events, report.stored) == (1, 1)
    plane.render()
    plane.close()
    assert LATE not in str(plugin.seen)
    assert_nowhere(home, LATE, *(canary for canaries in texts.values() for canary in canaries))


SECRETIVE = json.dumps({"note": f"my password is {LATE}", "password": LATE}).encode()


@pytest.mark.parametrize("stdin", [SECRETIVE, SECRETIVE[:-1], b"password: " + LATE.encode()])
def test_event_that_is_tried_again_and_set_aside_holds_no_secret(
    home: Path, make_plane: MakePlane, stdin: bytes
) -> None:
    plane = make_plane(HeronPlugin(), strict=False)
    run("heron", "said", stdin=stdin)
    for _ in range(spool.MAX_TRIES):
        assert plane.status().spooled == 1
        assert plane.ingest().events == 0
        assert_nowhere(home, LATE)
    assert [path.suffix for path in (home / "spool").iterdir()] == [".bad"]


def test_event_that_waits_for_its_plugin_is_cut_at_the_first_look(home: Path, make_plane: MakePlane) -> None:
    with make_plane() as plane:
        run("heron", "said", stdin=json.dumps({"text": "Ann likes tea", "password": LATE}).encode())
        assert plane.ingest().events == 0
        assert plane.status().spooled == 1
        assert_nowhere(home, LATE)
    assert make_plane(HeronPlugin()).ingest().stored == 1


@pytest.mark.parametrize(
    "content",
    [
        b'{"agent": 7, "name": "said", "payload": {"password": "%s"}}' % LATE.encode(),
        b'["my password is %s"' % LATE.encode(),
        b"\xff my password is %s" % LATE.encode(),
        b"[" * 100_000 + b"password=" + LATE.encode(),
    ],
)
def test_file_that_is_no_event_is_set_aside_without_its_secrets(
    home: Path, make_plane: MakePlane, content: bytes
) -> None:
    plane = make_plane(HeronPlugin())
    (home / "spool").mkdir()
    (home / "spool" / "0.json").write_bytes(content)
    assert plane.ingest().events == 0
    assert [path.name for path in (home / "spool").iterdir()] == ["0.bad"]
    assert_nowhere(home, LATE)


# --- into the memory ---------------------------------------------------------------------------------------------


def test_spooled_events_become_operations_once(home: Path, make_plane: MakePlane) -> None:
    plugin = HeronPlugin()
    plane = make_plane(plugin)
    for text in ("Ann likes tea", "Жук 🦩 likes milk", "Ann likes tea"):
        run("heron", "said", stdin=json.dumps({"text": text}).encode())
    report = plane.ingest()
    assert (report.events, report.stored, report.failures) == (3, 2, ())
    assert {thought.text for thought in plane.thoughts()} == {"Ann likes tea", "Жук 🦩 likes milk"}
    assert plane.status().spooled == 0
    assert list((home / "spool").iterdir()) == []


def test_events_are_taken_in_the_order_in_which_they_came(home: Path, make_plane: MakePlane) -> None:
    plugin = HeronPlugin()
    for number in range(5):
        run("heron", "said", stdin=json.dumps({"text": f"said {number}"}).encode())
    make_plane(plugin).ingest()
    assert [payload["text"] for payload in plugin.seen] == [f"said {number}" for number in range(5)]


def test_event_is_taken_in_where_it_cannot_be_written_again(
    home: Path, make_plane: MakePlane, monkeypatch: pytest.MonkeyPatch
) -> None:
    run("heron", "said", stdin=b'{"text": "Ann likes tea"}')
    (path,) = (home / "spool").iterdir()
    path.with_suffix(".part").mkdir()  # as on a disk that is full: nothing can be written beside it
    plane = make_plane(HeronPlugin())
    assert plane.ingest().stored == 1
    assert not path.exists()


def test_file_that_cannot_be_set_aside_stays(home: Path, make_plane: MakePlane) -> None:
    (home / "spool" / "0.part").mkdir(parents=True)
    (home / "spool" / "0.json").write_bytes(b"no event")
    plane = make_plane(HeronPlugin())
    assert plane.ingest().events == 0
    assert plane.status().spooled == 1


def test_event_that_another_process_took_is_no_failure(home: Path) -> None:
    run("heron", "said", stdin=b'{"text": "Ann likes tea"}')
    (path,) = spool.waiting(home)
    for act in (spool.done, spool.done, spool.failed, spool.set_aside):
        act(path)
    assert list((home / "spool").iterdir()) == []
