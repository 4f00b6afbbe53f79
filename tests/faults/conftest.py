"""Real processes for the fault tests: the command line under bad conditions, and the scripts beside this file."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

SCRIPTS = Path(__file__).parent
SECONDS = 60

Command = Callable[..., subprocess.CompletedProcess[str]]
Start = Callable[..., subprocess.Popen[str]]


@pytest.fixture
def environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """What the processes see: a home that does not exist yet, and nothing of the tester's own settings."""
    for name in [name for name in os.environ if name.startswith("MEMORY_PLANE_")]:
        monkeypatch.delenv(name)
    return {**os.environ, "HOME": str(tmp_path), "MEMORY_PLANE_HOME": str(tmp_path / "plane")}


@pytest.fixture
def store(environment: dict[str, str]) -> Path:
    """The file that the processes will write."""
    return Path(environment["MEMORY_PLANE_HOME"]) / "memory.db"


@pytest.fixture
def command(environment: dict[str, str]) -> Command:
    """Run `memory-plane` with some arguments, perhaps through a launcher, and wait for its end."""

    def run(
        *arguments: str, launcher: tuple[str, ...] = (), text: str = "", **changes: str
    ) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [*launcher, sys.executable, "-m", "memory_plane", *arguments],
            env=environment | changes, input=text, capture_output=True, text=True, timeout=SECONDS, check=False,
        )  # fmt: skip

    return run


@pytest.fixture
def start(environment: dict[str, str]) -> Iterator[Start]:
    """Start a script of this folder with pipes for its input and output; it is gone when the test ends."""
    running: list[subprocess.Popen[str]] = []

    def begin(script: str, *arguments: str, launcher: tuple[str, ...] = ()) -> subprocess.Popen[str]:
        process = subprocess.Popen(
            [*launcher, sys.executable, SCRIPTS / script, *arguments],
            env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        )  # fmt: skip
        running.append(process)
        return process

    yield begin
    for process in running:
        process.kill()
        process.communicate(timeout=SECONDS)


@pytest.fixture
def refused() -> Callable[[subprocess.CompletedProcess[str], str], None]:
    """Check that a command said no in one clear line: exit code 1, the reason, no trace."""

    def check(done: subprocess.CompletedProcess[str], reason: str) -> None:
        assert done.returncode == 1, done
        assert "Traceback" not in done.stdout + done.stderr
        (line,) = done.stderr.splitlines()
        assert reason in line

    return check


@pytest.fixture
def queued() -> Callable[[subprocess.CompletedProcess[str], str], None]:
    """Check that a command kept a write for later and said in one clear line why."""

    def check(done: subprocess.CompletedProcess[str], reason: str) -> None:
        assert done.returncode == 0, done
        assert done.stdout.startswith("queued ")
        (line,) = done.stderr.splitlines()
        assert reason in line

    return check
