from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import click
import pytest
from click.testing import CliRunner, Result

from memory_plane import types
from memory_plane.surfaces.cli import main
from memory_plane.surfaces.cli.output import plain
from memory_plane.surfaces.cli.session import Session
from memory_plane.surfaces.cli.text import clean, clean_json, one_line

Run = Callable[..., Result]


@pytest.fixture
def run(home: Path) -> Run:
    """Run one command line in the temporary home."""

    def call(*args: str, **kwargs: Any) -> Result:
        return CliRunner().invoke(main, ["--home", str(home), *args], **kwargs)

    return call


@pytest.fixture
def ok(run: Run) -> Callable[..., str]:
    """Run a command line that must succeed; return what it printed."""

    def call(*args: str, **kwargs: Any) -> str:
        result = run(*args, **kwargs)
        assert result.exit_code == 0, result.output
        return result.stdout

    return call


@pytest.fixture
def answer(ok: Callable[..., str]) -> Callable[..., Any]:
    """Run a command line with --json; return the document."""
    return lambda *args, **kwargs: json.loads(ok(*args, "--json", **kwargs))


def assert_one_line(result: Result, code: int, *words: str) -> None:
    assert result.exit_code == code, result.output
    assert result.stdout == ""
    assert result.stderr.startswith("memory-plane: ")
    assert result.stderr.count("\n") == 1
    for word in words:
        assert word in result.stderr


# --- much at once ------------------------------------------------------------------------------------------------


def test_ingest_stores_each_paragraph_as_an_observation(answer: Callable[..., Any]) -> None:
    result = answer("ingest", "Alice leads it.\n\n  \nRob helps.\n")
    assert [receipt["state"] for receipt in result["receipts"]] == ["stored", "stored"]
    assert answer("stats")["thoughts_by_kind"] == {"observation": 2}


def test_ingest_of_a_changed_file_adds_only_what_is_new(tmp_path: Path, ok: Callable[..., str]) -> None:
    file = tmp_path / "notes.md"
    file.write_text("One.\r\n\r\nTwo.")
    assert ok("ingest", "--file", str(file)).startswith("2 stored")
    file.write_text("One.\n\nTwo.\n\nThree.")
    assert ok("ingest", "--file", str(file)).startswith("2 duplicate, 1 stored")


def test_ingest_cuts_a_secret_with_a_blank_line_inside(tmp_path: Path, home: Path, ok: Callable[..., str]) -> None:
    canary = "lQOYBGcanary7Zq" * 4
    block = f"-----BEGIN PGP PRIVATE KEY BLOCK-----\nVersion: 1\n\n{canary}\n=AbCd\n-----END PGP PRIVATE KEY BLOCK-----"
    file = tmp_path / "notes.md"
    file.write_text(f"Before.\n\n{block}\n\nAfter.")
    assert ok("ingest", "--file", str(file)).startswith("3 stored")
    assert not [path for path in home.rglob("*") if path.is_file() and b"canary7Zq" in path.read_bytes()]


def test_ingest_reads_stdin(ok: Callable[..., str]) -> None:
    assert ok("ingest", "-", input="One.\n\nTwo.").startswith("2 stored")


def test_ingest_of_a_file_that_is_no_text_stores_nothing(tmp_path: Path, run: Run, answer: Callable[..., Any]) -> None:
    good, bad = tmp_path / "good.txt", tmp_path / "bad.txt"
    good.write_text("fine")
    bad.write_bytes(b"\xff\xff")
    assert_one_line(run("ingest", "--file", str(good), "--file", str(bad)), 1, "bad.txt", "not UTF-8")
    assert answer("status")["operations"] == 0


def test_ingest_names_the_paragraph_that_was_refused(run: Run) -> None:
    result = run("ingest", "fine\n\n" + "x" * 1_000_001)
    assert result.exit_code == 1
    assert "text, paragraph 2 was refused: text: " in result.stderr
    assert "1 stored, 1 refused" in result.stdout


@pytest.mark.parametrize("args", [[], ["x", "--spool"], ["x", "--file", __file__]])
def test_ingest_wants_one_source(run: Run, args: list[str]) -> None:
    assert_one_line(run("ingest", *args), 2, "one of TEXT, --file and --spool")


def test_ingest_of_the_name_of_a_file_asks_for_its_option(tmp_path: Path, run: Run, ok: Callable[..., str]) -> None:
    notes = tmp_path / "notes.md"
    notes.write_text("Ann leads Orbit.")
    answer = run("ingest", str(notes))
    assert (answer.exit_code, "is a file; read it with --file" in answer.output) == (2, True)
    assert "1 stored" in ok("ingest", str(notes) + "x" * 5000)


def test_ingest_drains_the_spool(answer: Callable[..., Any], ok: Callable[..., str]) -> None:
    assert answer("ingest", "--spool")["events"] == 0
    assert ok("ingest", "--spool").split()[:2] == ["events", "0"]


def test_export_gives_the_same_lines_to_stdout_and_file(tmp_path: Path, ok: Callable[..., str]) -> None:
    ok("post", "é 日本 \x9b")
    ok("fact", "website", "host", "example.org")
    file = tmp_path / "memory.jsonl"
    assert ok("export", "--output", str(file)) == ""
    assert file.read_text("utf-8") == ok("export")
    assert all(isinstance(json.loads(line), dict) for line in file.read_text("utf-8").splitlines())
    assert file.stat().st_mode & 0o777 == 0o600
    assert list(tmp_path.glob(".memory*")) == []


def test_export_to_a_place_that_cannot_be_written_is_one_line(tmp_path: Path, run: Run) -> None:
    assert_one_line(run("export", "--output", str(tmp_path / "no" / "x.jsonl")), 1, "cannot write", "No such file")


def test_rebuild_changes_nothing(answer: Callable[..., Any], ok: Callable[..., str]) -> None:
    ok("post", "Alice Moreau leads the website project.")
    assert answer("rebuild")["changed"] == []
    ok("rebuild", "--rederive")


# --- health ------------------------------------------------------------------------------------------------------


def test_database_is_sound_and_at_head(answer: Callable[..., Any], ok: Callable[..., str]) -> None:
    ok("post", "one")
    assert answer("db", "check") == {"sound": True, "complaints": []}
    assert ok("db", "check") == "the database is sound\n"
    revision = answer("db", "revision")
    assert revision["current"] == revision["head"]
    assert answer("db", "upgrade")["current"] == revision["head"]


def test_database_that_is_not_there_is_not_made_by_looking(home: Path, run: Run, answer: Callable[..., Any]) -> None:
    assert answer("db", "revision")["current"] is None
    assert_one_line(run("db", "check"), 1, "memory.db", "memory-plane db upgrade")
    assert not (home / "memory.db").exists()


def test_upgrade_makes_a_database(home: Path, ok: Callable[..., str]) -> None:
    ok("db", "upgrade")
    assert (home / "memory.db").exists()


def test_damaged_index_is_told_and_exits_1(home: Path, run: Run, ok: Callable[..., str]) -> None:
    import sqlite3
    from contextlib import closing

    ok("post", "one")
    with closing(sqlite3.connect(home / "memory.db")) as connection:
        connection.execute("DELETE FROM thoughts")
        connection.commit()
    result = run("db", "check")
    assert result.exit_code == 1
    assert "thought" in result.stdout
    assert json.loads(run("db", "check", "--json").stdout)["sound"] is False


@pytest.mark.parametrize("args", [["status"], ["recall", "x"], ["pulse"], ["export"], ["db", "check"]])
def test_file_that_is_no_database_is_one_line(home: Path, run: Run, args: list[str]) -> None:
    (home / "memory.db").write_bytes(b"this is not a database file, it is a letter to a friend" * 100)
    assert_one_line(run(*args), 1, "memory.db")


def test_plugins_are_listed_with_a_broken_store(home: Path, answer: Callable[..., Any], ok: Callable[..., str]) -> None:
    (home / "memory.db").write_bytes(b"nonsense" * 1000)
    assert isinstance(answer("plugins"), list)
    ok("plugins")


@pytest.mark.parametrize(
    ("text", "words"),
    [("timeout = 'soon'\n", ("timeout",)), ("timeuot = 1\n", ("timeuot", "timeout")), ("= 3\n", ("TOML",))],
)
def test_wrong_configuration_is_one_line_with_file_and_key(
    home: Path, run: Run, text: str, words: tuple[str, ...]
) -> None:
    (home / "config.toml").write_text(text)
    for command in ("status", "plugins", "pulse"):
        assert_one_line(run(command), 2, "config.toml", *words)
    assert_one_line(run("post", "x"), 2, "config.toml", *words)


def test_named_configuration_must_exist(tmp_path: Path, run: Run) -> None:
    missing = str(tmp_path / "missing.toml")
    assert_one_line(run("status", env={"MEMORY_PLANE_CONFIG": missing}), 2, missing, "MEMORY_PLANE_CONFIG")


# --- plugins' commands -------------------------------------------------------------------------------------------


def session_with(commands: dict[str, list[click.Command]]) -> Session:
    session = Session()
    manager = SimpleNamespace(commands=lambda: commands, close=lambda: None)
    session.__dict__["plugins"] = manager
    return session


def test_command_of_a_plugin_is_found_below_its_name() -> None:
    @click.command()
    @click.argument("name")
    def dossier(name: str) -> None:
        """Print a dossier."""
        click.echo(f"about {name}")

    session = session_with({"muse": [dossier]})
    assert CliRunner().invoke(main, ["muse", "dossier", "Rob"], obj=session).stdout == "about Rob\n"
    assert (
        "dossier  Print a dossier."
        in CliRunner().invoke(main, ["muse", "--help"], obj=session_with({"muse": [dossier]})).stdout
    )


def test_crash_in_a_command_is_one_line_and_its_trace_is_in_the_log(home: Path) -> None:
    @click.command()
    def crash() -> None:
        raise KeyError("bo\x1bo")

    session = session_with({"muse": [crash]})
    result = CliRunner().invoke(main, ["--home", str(home), "muse", "crash"], obj=session)
    log = home / "memory-plane.log"
    assert_one_line(result, 1, "unexpected KeyError", str(log))
    assert "Traceback" in log.read_text()
    assert log.stat().st_mode & 0o777 == 0o600


def test_crash_without_a_home_is_one_line_still(tmp_path: Path) -> None:
    @click.command()
    def crash() -> None:
        raise RuntimeError("oh\nno")

    session = session_with({"muse": [crash]})
    result = CliRunner().invoke(main, ["--home", str(tmp_path / "no"), "muse", "crash"], obj=session)
    assert_one_line(result, 1, "oh no")


def test_verbose_shows_log_lines_without_traces(home: Path, run: Run) -> None:
    result = run("--verbose", "post", "hello")
    assert result.exit_code == 0
    assert "Traceback" not in result.stderr


# --- text --------------------------------------------------------------------------------------------------------

HOSTILE = "red \x1b[31m\x1b]0;title\x07 back\x08\rspace \x9b2J\u202eevil [bold]x[/bold] :smile:\nrow"


def test_control_characters_are_spelt_out_and_markup_is_text(ok: Callable[..., str]) -> None:
    ok("post", HOSTILE, "--kind", "question")
    for command in (["items"], ["recall", "evil"], ["pulse"], ["graph"]):
        shown = ok(*command)
        assert not any(char in shown for char in "\x1b\x07\x08\r\x9b\u202e"), command
    assert "\\x1b[31m" in ok("items")
    assert "[bold]x[/bold] :smile: row" in ok("items")


def test_json_keeps_the_text_exactly_but_escapes_what_a_terminal_would_obey(
    ok: Callable[..., str], answer: Callable[..., Any]
) -> None:
    id = answer("post", HOSTILE)["id"]
    shown = ok("get", id, "--json")
    assert json.loads(shown)["body"]["text"] == HOSTILE
    assert not any(char in shown for char in "\x1b\x07\x08\r\x9b\u202e")


def test_clean_keeps_every_script_and_joiner() -> None:
    text = "Ünïcödé\t日本語\nעברית \u200f नमस्ते 👩\u200d👩\u200d👧"
    assert clean(text) == text
    assert clean("\ud800") == "\\ud800"
    assert one_line(" a\n\t b\u2028c ") == "a b\\u2028c"
    assert json.loads(clean_json(json.dumps("a\x7f\u2028\ud800", ensure_ascii=False))) == "a\x7f\u2028\ud800"


def test_plain_writes_times_in_utc_and_dataclasses_as_objects() -> None:
    at = datetime(2026, 11, 3, 12, tzinfo=UTC) + timedelta(microseconds=5)
    beat = types.Heartbeat(agent="muse", focus="x", project=None, status="active", at=at, stale=False)
    assert plain((beat, Path("/x"), {"a": {1}})) == [
        {
            "agent": "muse",
            "focus": "x",
            "project": None,
            "status": "active",
            "at": "2026-11-03T12:00:00.000005Z",
            "stale": False,
        },
        "/x",
        {"a": [1]},
    ]


def test_log_moves_aside_before_it_grows_without_end(home: Path, run: Run) -> None:
    log = home / "memory-plane.log"
    log.write_text("x" * 1_000_001)
    assert run("plugins", env={"MEMORY_PLANE_PLUGINS__ENABLED": '["missing"]'}).exit_code == 0
    assert "missing" in log.read_text()
    assert log.stat().st_size < 10_000
    assert log.with_suffix(".log.1").stat().st_size == 1_000_001


def test_plugin_that_is_missing_is_listed_and_no_failure_of_the_command(run: Run) -> None:
    result = run("plugins", env={"MEMORY_PLANE_PLUGINS__ENABLED": '["missing"]'})
    assert result.exit_code == 0
    assert "failed" in result.stdout
    assert "'missing' is enabled but not installed" in result.stdout
    assert "Traceback" not in result.stderr


def test_command_of_a_plugin_that_does_not_run_says_why(run: Run) -> None:
    result = run("missing", "status", env={"MEMORY_PLANE_PLUGINS__ENABLED": '["missing"]'})
    assert result.exit_code == 2
    assert "plugin 'missing' is enabled but not installed" in result.stderr
    assert "no command and no plugin is called 'mising'" in run("mising").stderr


# --- no answer ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("question", "why"),
    [("Who works at Acme?", "nothing says so"), ("Why was it so?", "not every word was understood")],
)
def test_question_without_an_answer_is_told_why_and_how_to_search(run: Run, question: str, why: str) -> None:
    run("post", "Ann works at Globex")
    told = run("ask", question)
    assert told.stdout == "I don't know\n"
    assert told.stderr == f"{why}; to search instead: memory-plane recall '{question}'\n"
    assert (told.exit_code, run("ask", question, "--json").stderr) == (0, "")


@pytest.mark.parametrize("group", ["correct", "db", "graph", "outbox", "service"])
def test_help_of_a_group_says_of_each_command_a_whole_sentence(ok: Callable[..., str], group: str) -> None:
    assert "..." not in ok(group, "--help").partition("Commands:")[2]
