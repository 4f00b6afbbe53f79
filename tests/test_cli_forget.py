"""`memory-plane forget`: it shows what would go, asks a person, and asks nobody in a pipe."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from memory_plane import Plane
from memory_plane.surfaces.cli import main, writing

Run = Callable[..., Result]

SECRET = "Zebulon hides the xylophone"


@pytest.fixture
def run(home: Path) -> Run:
    """Run one command line in the temporary home."""

    def call(*args: str, text: str | None = None) -> Result:
        return CliRunner().invoke(main, ["--home", str(home), *args], input=text)

    return call


@pytest.fixture
def told(home: Path) -> str:
    """An open question and its answer; its id."""
    with Plane(home=home) as plane:
        item = plane.post(SECRET, agent="grok", kind="question")
        plane.resolve(item.id, agent="muse", note="below the stairs")
    return item.id


@pytest.fixture
def at_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have the command believe that a person can answer."""
    monkeypatch.setattr(writing, "_can_ask", lambda: True)


def is_there(home: Path) -> bool:
    return any(SECRET.encode() in path.read_bytes() for path in home.rglob("*") if path.is_file())


def test_dry_run_shows_what_would_go_and_changes_nothing(run: Run, told: str, home: Path) -> None:
    shown = run("forget", told[:8], "--dry-run")
    assert shown.exit_code == 0
    assert SECRET in shown.stdout
    assert "below the stairs" in shown.stdout
    assert "0 derivations, 0 nodes, 0 edges" in shown.stderr
    loss = json.loads(run("forget", told, "--dry-run", "--json").stdout)
    assert [one["op"] for one in loss["operations"]] == ["thought", "resolve"]
    assert is_there(home)


def test_yes_forgets_without_a_question(run: Run, told: str, home: Path) -> None:
    done = run("forget", told[:8], "--yes")
    assert done.exit_code == 0
    assert done.stdout.startswith("stored ")
    assert "purged here, not in backups that were made before" in done.stdout
    assert not is_there(home)
    again = run("forget", told, "--yes")
    assert again.exit_code == 1
    assert again.stderr == f"memory-plane: target: {told} was forgotten; nothing is left of it\n"


def test_it_is_among_the_corrections_too(run: Run, told: str, home: Path) -> None:
    assert SECRET in run("correct", "forget", told[:8], "--dry-run").stdout
    assert run("correct", "forget", told[:8], "--yes").exit_code == 0
    assert not is_there(home)


def test_json_answer_is_the_receipt(run: Run, told: str) -> None:
    assert json.loads(run("forget", told, "--yes", "--json").stdout)["state"] == "stored"


def test_pipe_without_yes_is_a_usage_error(run: Run, told: str, home: Path) -> None:
    refused = run("forget", told)
    assert refused.exit_code == 2
    assert "add --yes, or --dry-run" in refused.stderr
    assert is_there(home)


@pytest.mark.usefixtures("at_terminal")
@pytest.mark.parametrize(("answer", "code", "kept"), [("y\n", 0, False), ("n\n", 1, True), ("\n", 1, True)])
def test_person_is_shown_the_text_and_asked(
    run: Run, told: str, home: Path, answer: str, code: int, kept: bool
) -> None:
    asked = run("forget", told, text=answer)
    assert asked.exit_code == code
    assert SECRET in asked.stdout
    assert "This cannot be undone" in asked.stderr
    assert is_there(home) is kept


@pytest.mark.parametrize("mode", ["--dry-run", "--yes"])
def test_unknown_id_says_so(run: Run, mode: str) -> None:
    unknown = "0b5c6b0e-7d53-4c7e-9f2b-2f6f6f0e9a11"
    refused = run("forget", unknown, mode)
    assert refused.exit_code == 1
    assert refused.stdout == ""
    assert unknown in refused.stderr
