"""What agents' own commands change and tell."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from signal import Signals

from memory_plane.integration import Call, Check, Command
from memory_plane.redact import redact
from memory_plane.setup.errors import Kept

SECONDS = 120.0
"""How long a command of an agent may take: some start a server, or look for an update."""


def is_done(call: Call) -> bool:
    """Tell whether what the call changes is changed already."""
    return not complaint(call)


def complaint(call: Call) -> str:
    """Return "" where the change stands, else why it does not seem so."""
    code, said = _run(call.asks, call.folder, call.environment)
    if code is None:
        return f"{_line(call.asks)!r}: {said}"
    return "" if code == 0 and call.shows in said else "is not done, or no longer"


def can_run(call: Call) -> bool:
    """Tell whether the agent's command is there still."""
    return shutil.which(call.asks[0]) is not None


def are_done(asked: Sequence[Call]) -> list[bool]:
    """Ask of several calls at once: an agent may take seconds to start."""
    with ThreadPoolExecutor(max_workers=max(1, len(asked))) as pool:
        return list(pool.map(is_done, asked))


def do(call: Call) -> None:
    """Make the change and see that it is made; raise `Kept` with what the agent said if it is not."""
    for command in call.do:
        _must(command, call)
    if not is_done(call):
        raise Kept(f"{_line(call.do[-1])!r} ended well, but {_line(call.asks)!r} does not show {call.shows!r}")


def undo(call: Call) -> None:
    """Take the change back, if it is still there; raise `Kept` with what the agent said if that fails."""
    code, said = _run(call.asks, call.folder, call.environment)
    if code is None:
        raise Kept(f"{_line(call.asks)!r} cannot tell what is left to take back: {_last(said)}")
    if code == 0 and call.shows in said:
        for command in call.undo:
            _must(command, call)


def make_room(call: Call) -> None:
    """Take back what stands where a change goes; whether it could be is seen when the change is made."""
    for command in call.undo:
        _run(command, call.folder, call.environment)


def passes(check: Check) -> str:
    """Return "" where the agent shows what it should, else what it said."""
    code, said = _run(check.command, check.folder, None)
    if code == 0 and check.shows in said:
        return ""
    return f"{_line(check.command)!r} does not show {check.shows!r}: {_last(said)}"


def _must(command: Command, call: Call) -> None:
    code, said = _run(command, call.folder, call.environment)
    if code != 0:
        raise Kept(f"{_line(command)!r} failed: {_last(said)}")


def _run(command: Command, folder: Path | None, environment: Mapping[str, str] | None) -> tuple[int | None, str]:
    """Run a command without a terminal; return its exit code, None if it did not end, and all that it said."""
    try:
        process = subprocess.Popen(
            command,
            cwd=folder,
            env={**os.environ, "NO_COLOR": "1", **(environment or {})},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            encoding="utf-8",
            errors="replace",
            start_new_session=True,
        )
    except OSError as error:
        return None, f"it cannot be run: {error.strerror}"
    with process:
        try:
            said, _ = process.communicate(timeout=SECONDS)
        except subprocess.TimeoutExpired:
            _end(process)
            return None, f"it did not end within {SECONDS:g} s"
        except BaseException:
            _end(process)
            raise
    return process.returncode, said


def _end(process: subprocess.Popen[str]) -> None:
    """End a command with all that it started: many agents are a script that starts the real one."""
    for signal in ("SIGTERM", "SIGKILL"):
        with suppress(OSError, subprocess.TimeoutExpired):
            if os.name == "nt":
                process.kill()
            else:
                os.killpg(process.pid, getattr(Signals, signal))
            process.wait(timeout=2)


def _line(command: Command) -> str:
    return redact(" ".join((Path(command[0]).name, *command[1:])))[:200]


def _last(said: str) -> str:
    lines = [line.strip() for line in said.splitlines() if line.strip()]
    return redact(" ".join(lines[-3:]))[-300:] or "it said nothing"
