"""The command line as tests of it run it: in this process, in a temporary home."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from memory_plane.surfaces.cli import main

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


@pytest.fixture
def assert_one_line() -> Callable[..., None]:
    """Check that a command line failed with this exit code and one line on stderr that has these words."""

    def check(result: Result, code: int, *words: str) -> None:
        assert result.exit_code == code, result.output
        assert result.stdout == ""
        assert result.stderr.startswith("memory-plane: ")
        assert result.stderr.count("\n") == 1
        for word in words:
            assert word in result.stderr

    return check
