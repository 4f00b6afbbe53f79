from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any
from uuid import uuid4

import click
import pytest
from click.testing import CliRunner, Result

from memory_plane import types
from memory_plane.surfaces.cli import main, options

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


# --- the table of commands ---------------------------------------------------------------------------------------


def test_short_help_in_the_table_is_the_help_of_the_command() -> None:
    with click.Context(main) as context:
        for section in main.sections:
            for name, text in section.commands.items():
                command = main.get_command(context, name)
                assert command is not None
                assert command.name == name
                assert text.endswith(".")


def test_words_spelt_out_for_the_sake_of_speed_are_those_of_the_types() -> None:
    assert options.KINDS == types.KINDS
    assert options.ORIGINS == types.ORIGINS


def test_unknown_command_is_a_usage_failure_with_the_name_that_was_meant(run: Run) -> None:
    assert_one_line(run("pots"), 2, "'pots'", "did you mean 'post'?")


def test_missing_argument_says_where_the_help_is(run: Run) -> None:
    assert_one_line(run("post"), 2, "TEXT", "memory-plane post --help")


def test_version(run: Run) -> None:
    assert run("--version").stdout == "memory-plane 0.1.0\n"


def test_completion_answers_from_the_table(run: Run) -> None:
    asked = {"_MEMORY_PLANE_COMPLETE": "bash_complete", "COMP_WORDS": "memory-plane re", "COMP_CWORD": "1"}
    result = CliRunner().invoke(main, [], prog_name="memory-plane", env=asked)
    words = ["resolve", "retract", "release", "recall", "rebuild", "restore"]
    assert result.stdout.split() == [f"plain,{word}" for word in words]


def test_completion_of_an_unknown_command_does_not_look_for_plugins() -> None:
    words = {"_MEMORY_PLANE_COMPLETE": "bash_complete", "COMP_WORDS": "memory-plane muse d", "COMP_CWORD": "2"}
    result = CliRunner().invoke(main, [], prog_name="memory-plane", env=words)
    assert (result.exit_code, result.output.strip()) == (0, "")


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_script_names_the_program(run: Run, shell: str) -> None:
    script = run("completion", shell).stdout
    assert "_MEMORY_PLANE_COMPLETE" in script
    assert "memory-plane" in script


# --- writes ------------------------------------------------------------------------------------------------------


def test_post_prints_a_receipt_that_can_be_looked_up(ok: Callable[..., str], answer: Callable[..., Any]) -> None:
    state, id = ok("post", "The release is out", "--kind", "milestone", "--project", "website").split()
    record = answer("get", id[:8])
    assert state == "stored"
    assert record["id"] == id
    assert record["body"]["text"] == "The release is out"
    assert record["body"]["kind"] == "milestone"


def test_post_with_json_prints_id_state_and_detail(answer: Callable[..., Any]) -> None:
    receipt = answer("post", "hello")
    assert list(receipt) == ["id", "state", "detail"]
    assert receipt["state"] == "stored"


def test_post_reads_stdin(ok: Callable[..., str], answer: Callable[..., Any]) -> None:
    id = ok("post", "-", input="from a pipe: é 日本\n").split()[1]
    assert answer("get", id)["body"]["text"] == "from a pipe: é 日本"


def test_post_refuses_bytes_that_are_no_text(run: Run) -> None:
    assert_one_line(run("post", "-", input=b"\xff\xfe\x00"), 1, "text: stdin is not UTF-8")


def test_refused_write_is_one_line_that_begins_with_the_field(run: Run) -> None:
    assert_one_line(run("post", "   "), 1, "memory-plane: text: ")


def test_refused_write_prints_its_receipt_as_json_too(run: Run) -> None:
    result = run("post", "   ", "--json")
    assert result.exit_code == 1
    assert json.loads(result.stdout)["state"] == "refused"


def test_second_write_with_one_id_is_a_duplicate(ok: Callable[..., str]) -> None:
    id = str(uuid4())
    again = ("post", "once", "--id", id, "--created-at", "2026-11-03T10:00Z")
    assert ok(*again).split()[:2] == ["stored", id]
    assert ok(*again).split()[:2] == ["duplicate", id]


@pytest.mark.parametrize(
    ("extra", "env", "agent", "origin"),
    [
        ([], {}, "user", "user"),
        (["--agent", "muse"], {}, "muse", "agent"),
        ([], {"MEMORY_PLANE_AGENT": "muse"}, "muse", "agent"),
        (["--agent", "grok"], {"MEMORY_PLANE_AGENT": "muse"}, "grok", "agent"),
        (["--agent", "muse", "--origin", "external"], {}, "muse", "external"),
    ],
)
def test_writer_is_the_person_unless_an_agent_is_named(
    answer: Callable[..., Any], extra: list[str], env: dict[str, str], agent: str, origin: str
) -> None:
    record = answer("get", answer("post", "who am I", *extra, env=env)["id"])
    assert (record["agent"], record["body"]["origin"]) == (agent, origin)


def test_day_of_a_deadline_ends_in_the_zone_of_the_settings(home: Path, answer: Callable[..., Any]) -> None:
    (home / "config.toml").write_text('timezone = "Asia/Tokyo"\n')
    id = answer("post", "Send the invoice", "--kind", "commitment", "--due", "2026-12-01")["id"]
    assert [item["due_at"] for item in answer("items") if item["id"] == id] == ["2026-12-01T14:59:59.999999Z"]


def test_time_that_cannot_be_read_is_a_usage_failure(run: Run) -> None:
    assert_one_line(run("post", "x", "--due", "soon"), 2, "--due", "'soon'")


def test_fact_is_listed_and_its_history_kept(answer: Callable[..., Any], ok: Callable[..., str]) -> None:
    ok("fact", "Alice Moreau", "role", "CTO", "--created-at", "2026-10-01", "--confidence", "0.5")
    ok("fact", "Alice Moreau", "role", "CEO")
    assert [fact["value"] for fact in answer("facts", "Alice Moreau")] == ["CEO"]
    assert {fact["value"] for fact in answer("facts", "Alice Moreau", "--history")} == {"CEO", "CTO"}
    assert ok("facts", "Alice Moreau").splitlines()[1].split()[1:5] == ["Alice", "Moreau", "role", "CEO"]


def test_heartbeat_is_in_the_pulse(answer: Callable[..., Any], ok: Callable[..., str]) -> None:
    ok("heartbeat", "Writing the notes", "--agent", "muse", "--project", "website")
    beat = answer("pulse")["heartbeats"][0]
    assert (beat["agent"], beat["focus"], beat["project"]) == ("muse", "Writing the notes", "website")
    assert "Writing the notes" in ok("pulse")


def test_item_is_assigned_snoozed_and_resolved_by_the_beginning_of_its_id(
    answer: Callable[..., Any], ok: Callable[..., str]
) -> None:
    id = answer("post", "Send Rob the logo", "--kind", "commitment")["id"]
    assert ok("assign", id[:6], "Alice") == f"handed to Alice: {id}: Send Rob the logo\n"
    assert answer("items", "--to", "Alice")[0]["id"] == id
    assert re.fullmatch(
        rf"put off until \d{{4}}-\d\d-\d\d \d\d:\d\d: {id}: Send Rob the logo\n", ok("snooze", id[:8], "in 3 days")
    )
    assert ok("resolve", id[:13].upper(), "--note", "sent") == f"closed {id}: Send Rob the logo\n"
    assert answer("items") == []


def test_each_item_of_a_list_is_closed_by_itself(
    answer: Callable[..., Any], ok: Callable[..., str], run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MEMORY_PLANE_PLUGINS__ENABLED", "local")
    id = answer("post", "TODO:\n- [ ] Ann: send Rob the deck\n- [ ] Fix the login bug\n- [x] Tag the release")["id"]
    deck, bug = (one["id"] for one in answer("items"))
    assert [deck.partition(".")[0], bug.partition(".")[0]] == [id, id]
    short = f"{id[:8]}.{bug.partition('.')[2]}"
    assert ok("resolve", short) == f"closed {bug}: Fix the login bug\n"
    assert [one["id"] for one in answer("items")] == [deck]
    assert re.search(f"{bug} +done +commitment", ok("get", id))
    assert "deck" in ok("resolve", deck)
    assert answer("items") == []
    assert_one_line(run("resolve", f"{id}.7"), 1, "has no item at 7, but at")
    assert_one_line(run("correct", "retract", deck), 1, "one of several open items")


def test_beginning_of_an_id_must_be_long_enough_known_and_unique(run: Run, ok: Callable[..., str]) -> None:
    ids = [f"abcdef0{n}-0000-4000-8000-000000000000" for n in range(2)]
    for id in ids:
        ok("post", "twin", "--kind", "question", "--id", id)
    assert_one_line(run("resolve", "abcde"), 2, "at least 6 characters")
    assert_one_line(run("resolve", "abcdef"), 1, *ids)
    assert_one_line(run("resolve", "999999"), 1, "'999999'")
    assert ok("resolve", "abcdef01").startswith("closed abcdef01")


def test_memory_is_pinned_retracted_and_gone_from_recall(answer: Callable[..., Any], ok: Callable[..., str]) -> None:
    id = answer("post", "The zebra lives in Lyon")["id"]
    ok("pin", id)
    ok("pin", id, "--off")
    assert [hit["id"] for hit in answer("recall", "zebra")["hits"]] == [id]
    ok("retract", id, "--reason", "it was a horse")
    assert answer("recall", "zebra")["hits"] == []


def test_release_of_a_memory_is_stored(answer: Callable[..., Any], ok: Callable[..., str]) -> None:
    id = answer("post", "held back", "--origin", "external")["id"]
    assert ok("release", id).startswith("stored")


# --- reads -------------------------------------------------------------------------------------------------------


def test_what_is_held_back_is_listed_until_it_is_released(answer: Callable[..., Any], ok: Callable[..., str]) -> None:
    thought = ok("post", "Pay Acme today", "--held", "--origin", "external").split()[1]
    ok("fact", "Acme", "invoice", "4711", "--held")
    assert {(one["kind"], one["text"]) for one in answer("held")} == {
        ("thought", "Pay Acme today"),
        ("fact", "Acme invoice: 4711"),
    }
    assert "Pay Acme today" in ok("held")
    assert answer("facts") == []
    ok("release", thought[:8])
    assert [one["kind"] for one in answer("held")] == ["fact"]


def test_recall_filters_by_agent_and_time(answer: Callable[..., Any]) -> None:
    old = answer("post", "zebra one", "--agent", "muse", "--created-at", "2026-01-05")["id"]
    new = answer("post", "zebra two", "--agent", "grok")["id"]

    def found(*more: str) -> list[str]:
        return [hit["id"] for hit in answer("recall", "zebra", *more)["hits"]]

    assert set(found()) == {old, new}
    assert found("--agent", "muse") == [old]
    assert found("--since", "yesterday") == [new]
    assert found("--until", "2026-01-05") == [old]
    assert found("--until", "2026-01-04") == []


def test_recall_of_nothing_says_so_on_stderr_and_succeeds(run: Run) -> None:
    result = run("recall", "nothing of the kind")
    assert (result.exit_code, result.stdout, result.stderr) == (0, "", "nothing found\n")


@pytest.mark.parametrize("query", ["'", '"', "*", "a AND", "(", "🙂", "-", "x" * 5000, "\udcff"])
def test_recall_takes_any_query(run: Run, query: str) -> None:
    assert run("recall", "--", query).exit_code == 0


def test_graph_is_printed_and_given_as_json(answer: Callable[..., Any], ok: Callable[..., str], run: Run) -> None:
    ok("post", "Alice Moreau leads the website project.")
    assert set(answer("graph")) == {"nodes", "edges", "attention"}
    ok("graph")
    assert_one_line(run("graph", "--about", "Alice Moreau"), 1, "nothing in the graph is called 'Alice Moreau'")


@pytest.mark.parametrize("command", ["pulse", "graph", "facts", "items", "status", "stats", "plugins"])
def test_new_home_can_be_read(answer: Callable[..., Any], ok: Callable[..., str], command: str) -> None:
    answer(command)
    ok(command)


def test_get_prints_the_fields_below_each_other(ok: Callable[..., str]) -> None:
    id = ok("post", "A thought\nof two lines").split()[1]
    lines = dict(line.split(maxsplit=1) for line in ok("get", id).splitlines() if " " in line)
    assert lines["id"] == id
    assert lines["text"] == "A thought of two lines"


def test_get_of_an_unknown_id_fails(run: Run) -> None:
    assert_one_line(run("get", str(uuid4())), 1, "no operation has the id")


def test_status_counts_what_was_written(answer: Callable[..., Any], ok: Callable[..., str]) -> None:
    ok("post", "one", "--agent", "muse")
    found = answer("status")
    assert (found["operations"], found["thoughts"]) == (1, 1)
    assert "muse" in ok("status")
