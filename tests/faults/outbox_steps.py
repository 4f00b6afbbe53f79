"""Plays a scene of the outbox again and again, each time in a new home, killed one step later than the time before.

outbox_steps.py SCENE FOLDER     prints the number of runs; run N leaves its home in FOLDER/N/home and beside it
                                 `hub`, the operations that the hub has, and `acknowledged`, the words that are safe

A step is a call that changes a file or a lock, the first half of a write, and the hub before and after it stores.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import filelock

from memory_plane import letters
from memory_plane.operations import make_operation
from memory_plane.outbox import Outbox
from memory_plane.types import Operation, Receipt

CALLS = ("open", "fsync", "ftruncate", "replace", "unlink", "mkdir")
MOST = 1_000
_write = os.write


class Steps:
    """Counts steps and dies at the one that was chosen."""

    def __init__(self, last: int) -> None:
        self.left = last

    def __call__(self) -> None:
        """Take a step, perhaps the last one."""
        self.left -= 1
        if self.left == 0:
            os.kill(os.getpid(), signal.SIGKILL)

    def before(self, call: Callable[..., Any]) -> Callable[..., Any]:
        """Make a call a step."""

        def step(*arguments: Any, **named: Any) -> Any:
            self()
            return call(*arguments, **named)

        return step

    def write(self, descriptor: int, data: bytes) -> int:
        """Write in two steps, the first half first: a kill may leave it alone."""
        self()
        half = bytes(data[: len(data) // 2])
        written = _write(descriptor, half) if half else 0
        self()
        return written + _write(descriptor, bytes(data[len(half) :]))


class Hub:
    """Keeps operations in a file, each once; refuses what says so, as long as it does."""

    def __init__(self, path: Path, step: Callable[[], None] = lambda: None, *, refuses: bool = True) -> None:
        self.path = path
        self._step = step
        self._refuses = refuses

    def __call__(self, batch: Sequence[Operation]) -> list[Receipt]:
        """Store a batch, with a step before and after."""
        self._step()
        receipts = [self._take(operation) for operation in batch]
        self._step()
        return receipts

    def _take(self, operation: Operation) -> Receipt:
        if self._refuses and "refuse" in str(operation.body):
            return Receipt(id=operation.id, state="refused", detail="not wanted")
        known = operation.id in [one["id"] for one in self.stored()]
        if not known:
            note(self.path, json.dumps({"id": operation.id, "text": operation.body.get("text")}))
        return Receipt(id=operation.id, state="duplicate" if known else "stored")

    def stored(self) -> list[dict[str, str]]:
        """Return what it has, in the order in which it came."""
        return [json.loads(line) for line in self.path.read_text("utf-8").splitlines()] if self.path.exists() else []


def note(path: Path, line: str) -> None:
    """Add a line to a file in one call that is no step."""
    with path.open("ab", buffering=0) as file:
        file.write(line.encode() + b"\n")


def thought(text: str) -> Operation:
    """Make the thought of this text, always the same one."""
    return make_operation("thought", {"text": text}, agent="muse", created_at="2026-01-05T09:00:00Z")


# --- scenes: `prepare` is safe, `play` is not ------------------------------------------------------------------------


def prepare(home: Path, words: Sequence[str]) -> None:
    """Leave a queue behind, its last line torn."""
    Outbox(home).append(*map(thought, words))
    with (home / "outbox.jsonl").open("ab") as file:
        file.write(letters.write(thought("torn"))[:60])
    for word in words:
        note(home.parent / "acknowledged", word)


def append(home: Path, hub: Hub) -> None:
    """Append to a home that is not there yet."""
    for words in (["one"], ["two", "three"]):
        Outbox(home).append(*map(thought, words))
        for word in words:
            note(home.parent / "acknowledged", word)


def append_behind(home: Path, hub: Hub) -> None:
    """Append to a queue that ends in half a line."""
    append(home, hub)


def flush(home: Path, hub: Hub) -> None:
    """Send a queue with a torn line and one that is refused; then more."""
    outbox = Outbox(home)
    outbox.flush(hub)
    outbox.append(thought("late"))
    note(home.parent / "acknowledged", "late")
    outbox.flush(hub)


def mend(home: Path, hub: Hub) -> None:
    """Retry what was refused, drop one line and forget another."""
    outbox = Outbox(home)
    outbox.retry()
    outbox.drop([thought("drop").id])
    outbox.purge(thought("secret").id)


SCENES: dict[str, tuple[Callable[[Path, Hub], None], Sequence[str]]] = {
    "append": (append, ()),
    "append_behind": (append_behind, ("zero",)),
    "flush": (flush, ("one", "refuse", "three")),
    "mend": (mend, ("one", "drop", "secret", "four")),
}


def run(scene: str, folder: Path, number: int) -> bool:
    """Play a scene up to one step; return whether it came to its end."""
    play, words = SCENES[scene]
    home = folder / "home"
    folder.mkdir()
    if words:
        prepare(home, words)
    if scene == "mend":
        refused = thought("refuse")
        (home / "outbox.dead.jsonl").write_bytes(letters.write_dead("not wanted", refused) + b"\n")
        note(folder / "acknowledged", "refuse")
    child = os.fork()
    if child == 0:
        steps = Steps(number)
        for name in CALLS:
            setattr(os, name, steps.before(getattr(os, name)))
        os.write = steps.write  # type: ignore[assignment]  # its own type takes any buffer
        filelock.BaseFileLock.acquire = steps.before(filelock.BaseFileLock.acquire)  # type: ignore[method-assign]
        filelock.BaseFileLock.release = steps.before(filelock.BaseFileLock.release)  # type: ignore[method-assign]
        play(home, Hub(folder / "hub", steps))
        os._exit(0)
    _, status = os.waitpid(child, 0)
    assert os.WIFSIGNALED(status) or os.WEXITSTATUS(status) == 0, "the scene failed by itself"
    return os.WIFEXITED(status)


def main(scene: str, folder: str) -> None:
    """Play until a run comes to its end."""
    for number in range(1, MOST):
        if run(scene, Path(folder) / str(number), number):
            print(number)
            return
    raise SystemExit(f"no end after {MOST} steps")


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
