"""The outbox under kill -9 at every step, eight writers at once, a full disk and a folder that takes nothing."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType

import pytest

from memory_plane.errors import StoreError
from memory_plane.operations import make_operation
from memory_plane.outbox import Outbox
from memory_plane.types import Operation, Receipt

Start = Callable[..., subprocess.Popen[str]]

LAUNCH = (sys.executable, str(Path(__file__).with_name("launch.py")))
WRITERS, EACH = 8, 40
TORN = '{"agent":"muse","body":{"kind":"thought","origin":"agent","t'


@pytest.fixture(scope="module")
def steps() -> ModuleType:
    """The script that is killed, for its hub and its thoughts."""
    spec = spec_from_file_location("outbox_steps", Path(__file__).with_name("outbox_steps.py"))
    assert spec is not None and spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def killed(start: Start, tmp_path: Path) -> Callable[[str], list[Path]]:
    """Play a scene, killed at each of its steps; return the folders of the runs, of which the last came to its end."""

    def play(scene: str) -> list[Path]:
        runs = tmp_path / "Жук runs"
        runs.mkdir()
        process = start("outbox_steps.py", scene, str(runs))
        output, _ = process.communicate(timeout=300)
        assert process.returncode == 0
        return [runs / str(number) for number in range(1, int(output) + 1)]

    return play


def acknowledged(run: Path) -> list[str]:
    noted = run / "acknowledged"
    return noted.read_text("utf-8").split() if noted.exists() else []


def recover(steps: ModuleType, run: Path, **hub: bool) -> list[str]:
    """Go on in a home as the next process does; return what the hub has then, in the order in which it came."""
    outbox = Outbox(run / "home")
    depth = outbox.append(steps.thought("next"))
    assert depth == outbox.depth() == len((run / "home" / "outbox.jsonl").read_bytes().splitlines())
    known = steps.Hub(run / "hub", **hub)
    flushed = outbox.flush(known)
    assert (flushed.waiting, flushed.reason) == (0, "")
    stored = known.stored()
    assert len({one["id"] for one in stored}) == len(stored)
    return [one["text"] for one in stored]


@pytest.mark.parametrize("scene", ["append", "append_behind"])
def test_append_killed_at_any_step_keeps_what_was_acknowledged(
    killed: Callable[[str], list[Path]], steps: ModuleType, scene: str
) -> None:
    words = ["zero", "one", "two", "three"][scene == "append" :]
    runs = killed(scene)
    assert len(runs) > 20
    for run in runs:
        safe = acknowledged(run)
        arrived = recover(steps, run)
        assert arrived[-1] == "next"
        assert safe == words[: len(safe)]
        # What was on its way when it was killed may have made it, whole.
        assert arrived[:-1] == words[: len(arrived) - 1]
        assert len(safe) <= len(arrived) - 1 <= len(safe) + 2
        assert all(letter.operation is None for letter in Outbox(run / "home").dead())
    assert acknowledged(runs[-1]) == words


def test_flush_killed_at_any_step_loses_nothing_and_doubles_nothing(
    killed: Callable[[str], list[Path]], steps: ModuleType
) -> None:
    runs = killed("flush")
    assert len(runs) > 60
    for run in runs:
        late = ["late"] if "late" in acknowledged(run) else []
        arrived = recover(steps, run)
        assert arrived[:2] == ["one", "three"]
        assert arrived[2:] in (["late", "next"], [*late, "next"])
        dead = Outbox(run / "home").dead()
        assert [letter.operation.body["text"] for letter in dead if letter.operation] == ["refuse"]
        # Set aside: the line that was torn before, and perhaps the one that the kill tore, be it of a dead letter.
        torn = [letter.line for letter in dead if letter.operation is None]
        assert TORN in torn
        assert all(line.startswith(('{"agent":"muse"', '{"at":"20')) for line in torn)
        assert len(torn) <= 2
    assert acknowledged(runs[-1])[-1] == "late"


def test_mending_killed_at_any_step_loses_no_other_line(killed: Callable[[str], list[Path]], steps: ModuleType) -> None:
    runs = killed("mend")
    assert len(runs) > 40
    for run in runs:
        outbox = Outbox(run / "home")
        waiting = [operation.body["text"] for operation in outbox.pending()]
        dead = [letter.operation.body["text"] for letter in outbox.dead() if letter.operation]
        assert "refuse" in waiting + dead
        assert [word for word in waiting if word in ("one", "four")] == ["one", "four"]
        outbox.retry()
        outbox.drop([steps.thought("drop").id])
        outbox.purge(steps.thought("secret").id)
        assert not [path for path in (run / "home").iterdir() if b"secret" in path.read_bytes()]
        assert recover(steps, run, refuses=False) == ["one", "four", "refuse", "next"]
        assert outbox.dead() == []


def test_eight_writers_at_once_while_another_sends(start: Start, store: Path) -> None:
    writers = start("outbox_writers.py", str(WRITERS), str(EACH))
    arrived: list[Operation] = []
    outbox = Outbox(store.parent, timeout=30)

    def send(batch: Sequence[Operation]) -> list[Receipt]:
        arrived.extend(batch)
        return [Receipt(id=operation.id, state="stored") for operation in batch]

    def rounds() -> Iterator[bool]:
        while writers.poll() is None:
            yield False
        yield True

    for _ in rounds():
        flushed = outbox.flush(send)
        assert flushed.reason == ""
    assert writers.communicate()[0].split() == ["done"] * WRITERS
    assert len({operation.id for operation in arrived}) == len(arrived) == WRITERS * EACH
    for writer in range(WRITERS):
        texts = [operation.body["text"] for operation in arrived if operation.agent == f"writer{writer}"]
        assert texts == [f"{writer} {number}" for number in range(EACH)]
    assert outbox.depth() == 0


def test_eight_writers_at_once_leave_a_queue_of_whole_lines(start: Start, store: Path) -> None:
    writers = start("outbox_writers.py", str(WRITERS), str(EACH))
    assert writers.communicate(timeout=120)[0].split() == ["done"] * WRITERS
    outbox = Outbox(store.parent)
    assert outbox.depth() == len(outbox.pending()) == WRITERS * EACH
    assert (store.parent / "outbox.jsonl").read_bytes().count(b"\n") == WRITERS * EACH


def ask(session: subprocess.Popen[str], text: str) -> tuple[int, str, str]:
    """Queue a text through an open session; return what waits, the error, and the id."""
    assert session.stdin is not None and session.stdout is not None
    print(text, file=session.stdin, flush=True)
    depth, error, id = json.loads(session.stdout.readline())
    return depth, error, id


def test_full_disk_is_told_and_what_was_acknowledged_stays_whole(start: Start, store: Path) -> None:
    session = start("outbox_session.py", launcher=(*LAUNCH, "20500"))
    kept: list[str] = []
    for number in range(100):
        depth, error, id = ask(session, f"{number} " + "long " * 200)
        assert depth == len(kept) + (not error)
        if error:
            break
        kept.append(id)
    assert len(kept) > 10
    assert "the disk is full; free some space" in error
    assert str(store.parent / "outbox.jsonl") in error
    assert "\n" not in error
    depth, error, id = ask(session, "short enough for what is left")
    assert (depth, error) == (len(kept) + 1, "")
    session.communicate()
    outbox = Outbox(store.parent)
    assert [operation.id for operation in outbox.pending()] == [*kept, id]
    assert outbox.append(make_operation("thought", {"text": "room again"}, agent="muse")) == len(kept) + 2


def test_folder_that_may_not_be_written_is_told(start: Start, store: Path) -> None:
    Outbox(store.parent).append(make_operation("thought", {"text": "before"}, agent="muse"))
    files = [*store.parent.iterdir(), store.parent]
    for file in files:
        file.chmod(0o555 if file.is_dir() else 0o444)
    try:
        session = start("outbox_session.py", launcher=(*LAUNCH, "plain"))
        depth, error, _ = ask(session, "after")
        session.communicate()
    finally:
        for file in files:
            file.chmod(0o700 if file.is_dir() else 0o600)
    assert depth == 1
    assert "read-only; check the permissions" in error
    assert [operation.body["text"] for operation in Outbox(store.parent).pending()] == ["before"]


def test_home_below_a_file_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("no folder", "utf-8")
    with pytest.raises(StoreError, match=r"outbox\.jsonl.*check the disk and the folder"):
        Outbox(tmp_path / "file" / "plane").append(make_operation("thought", {"text": "x"}, agent="muse"))
