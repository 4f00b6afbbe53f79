from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from memory_plane.access import agent_of, ensure_token, opens, read_token, token_path
from memory_plane.surfaces.cli import main


def run(*arguments: str) -> Result:
    return CliRunner().invoke(main, ["token", *arguments])


@pytest.mark.parametrize("agent", ["muse", "Muse", "агент"])
def test_token_is_printed_alone_for_a_pipe(home: Path, agent: str) -> None:
    result = run(agent)
    assert (result.exit_code, result.stderr) == (0, "")
    (token,) = result.stdout.splitlines()
    assert agent_of(token) == agent.lower()
    assert opens(ensure_token(home), token)


def test_token_as_json(home: Path) -> None:
    assert json.loads(run("muse", "--json").stdout) == {"agent": "muse", "token": run("muse").stdout.strip()}


def test_renewing_ends_the_old_tokens_and_shows_none(home: Path) -> None:
    old, of_muse = ensure_token(home), run("muse").stdout.strip()
    result = run("--renew")
    assert result.exit_code == 0
    new = read_token(home)
    assert new is not None
    assert not opens(new, old)
    assert not opens(new, of_muse)
    assert str(token_path(home)) in result.stdout
    assert new not in result.output
    assert json.loads(run("--renew", "--json").stdout) == {"file": str(token_path(home))}


@pytest.mark.parametrize("arguments", [(), ("muse", "--renew"), ("two words",), ("",), ("x" * 65,)])
def test_wrong_usage_is_told(home: Path, arguments: tuple[str, ...]) -> None:
    result = run(*arguments)
    assert result.exit_code == 2
    assert result.stderr.count("\n") == 1
    assert not token_path(home).exists()


def test_home_that_cannot_be_written_is_told(home: Path) -> None:
    (home / "token").mkdir()
    result = run("--renew")
    assert result.exit_code == 1
    assert result.stderr.startswith("memory-plane: cannot write a new token into ")
