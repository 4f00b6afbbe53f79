"""What agents' own commands change and tell."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from signal import Signals
from typing import Any

from memory_plane.integration import Call, Check, Command, Element, Entry
from memory_plane.redact import redact
from memory_plane.setup import edits, files, formats
from memory_plane.setup.errors import Broken, Kept
from memory_plane.setup.manifest import Record
from memory_plane.setup.pointers import MISSING, get, same

_UNDONE = "is not done, or no longer"

LINE = 200
"""Characters of a command in a message."""

SECONDS = 120.0
"""How long a command of an agent may take: some start a server, or look for an update."""


def is_done(call: Call) -> bool:
    """Tell whether what the call changes is changed already."""
    return not complaint(call)


def complaint(call: Call) -> str:
    """Return "" where the change stands, else why it does not seem so."""
    if call.sets:
        try:
            return "" if all(stands(edit, files.read(edit.path)) for edit in call.sets) else _UNDONE
        except (Broken, Kept) as error:
            return str(error)
    code, said = _run(call.asks, call.folder, call.environment)
    if code is None:
        return f"{_line(call.asks)!r}: {said}"
    return "" if code == 0 and call.shows in said else _UNDONE


def stands(edit: Entry | Element, data: bytes | None) -> bool:
    """Tell whether what a command sets is there; raise `Broken` for a file that cannot be read."""
    return same(held(edit, data), edit.value)


def held(edit: Entry | Element, data: bytes | None) -> Any:
    """Return what stands where a command sets something, `MISSING` for nothing.

    An agent may add to our entry what it holds of its own: that is our entry.
    """
    found = get(formats.meant(edit.path, data or b""), edit.pointer)
    if isinstance(edit, Element):
        elements = found if isinstance(found, list) else ()
        return edit.value if any(same(one, edit.value) for one in elements) else MISSING
    return edit.value if holds(found, edit.value) else found


def can_run(call: Call) -> bool:
    """Tell whether the agent's command is there still."""
    return all(shutil.which(command[0]) is not None for command in call.undo)


def do(call: Call) -> None:
    """Make the change and see that it is made; raise `Kept` with what the agent said if it is not."""
    for command in call.do:
        _must(command, call)
    if not is_done(call):
        missing = f"{_line(call.asks)!r} does not show {call.shows!r}" if not call.sets else "what it sets is not there"
        raise Kept(f"{_line(call.do[-1])!r} ended well, but {missing}")


def undo(call: Call) -> None:
    """Take the change back, if it is still there; raise `Kept` with what the agent said if that fails.

    One that fails does not keep those after it from being run, since a part may be taken back already.
    """
    complaints: list[Kept] = []
    for command in call.undo if is_left(call) else ():
        try:
            _must(command, call)
        except _Hung:
            raise
        except Kept as error:
            complaints.append(error)
    if complaints:
        raise complaints[0]


def is_left(call: Call) -> bool:
    """Tell whether anything is there still that the call has set; raise `Kept` where that cannot be told."""
    if call.sets:
        try:
            return any(stands(edit, files.read(edit.path)) for edit in call.sets)
        except Broken as error:
            raise Kept(f"{call.what}: cannot tell what is left to take back: a file {error}") from None
    code, said = _run(call.asks, call.folder, call.environment)
    if code is None:
        raise Kept(f"{_line(call.asks)!r} cannot tell what is left to take back: {_last(said)}")
    return code == 0 and call.shows in said


def tidied(path: Path, data: bytes | None, before: bytes | None, done: Iterable[Call]) -> bytes | None:
    """Return a file without what agents leave of calls that were undone, which nobody had there before.

    That is what the calls name, and objects and arrays that were made for ours and are empty now.
    """
    try:
        was = formats.meant(path, before or b"")
    except Broken:
        return data
    for edit in (edit for call in done for edit in (*call.leaves, *call.sets) if edit.path == path):
        with suppress(Broken, Kept):
            for depth in range(len(edit.pointer), 0, -1):
                data = _without_rest(replace(edit, pointer=edit.pointer[:depth]), data, was)
    return data


def _without_rest(edit: Entry | Element, data: bytes | None, was: Any) -> bytes | None:
    """Return the content without what stands at the edit's pointer, if it is empty, or all that an entry says."""
    found = get(formats.meant(edit.path, data or b""), edit.pointer)
    is_rest = found in ({}, []) or (isinstance(edit, Entry) and same(found, edit.value))
    if not is_rest or get(was, edit.pointer) is not MISSING:
        return data
    return edits.undone(Record(Entry(path=edit.path, pointer=edit.pointer, value=found)), data)


def make_room(call: Call, *, for_itself: bool) -> None:
    """Take back what stands where a change goes, ours or, where it is for the call itself, somebody else's.

    Whether it could be is seen when the change is made.
    """
    with suppress(Kept):
        if not for_itself and call.sets and not is_left(call):
            return
    for command in call.undo:
        _run(command, call.folder, call.environment)


def passes(check: Check) -> str:
    """Return "" where the agent shows what it should, else what it said."""
    code, said = _run(check.command, check.folder, None)
    if code == 0 and check.shows in said:
        return ""
    return f"{_last(said)} ({_line(check.command)!r} does not show {check.shows!r})"


def holds(found: Any, wanted: Any) -> bool:
    """Tell whether a value says what is wanted, whatever else it says."""
    if isinstance(found, dict) and isinstance(wanted, dict):
        return all(name in found and holds(found[name], value) for name, value in wanted.items())
    return same(found, wanted)


class _Hung(Kept):
    """A command that did not end, or could not be run."""


def _must(command: Command, call: Call) -> None:
    code, said = _run(command, call.folder, call.environment)
    if code != 0:
        raise (_Hung if code is None else Kept)(f"{_line(command)!r} failed: {_last(said)}")


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
    line = redact(" ".join((Path(command[0]).name, *command[1:])))
    return line if len(line) <= LINE else f"{line[: LINE - 1]}…"


def _last(said: str) -> str:
    lines = [line.strip() for line in said.splitlines() if line.strip()]
    return redact(" ".join(lines[-3:]))[-300:] or "it said nothing"
