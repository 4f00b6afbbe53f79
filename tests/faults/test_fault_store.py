"""A store that cannot be written: a write waits in the outbox, or is refused where that cannot be written either.

The reason is one clear line, and nothing is half-written.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing
from functools import partial
from pathlib import Path

import pytest

from memory_plane.database import Database
from memory_plane.errors import StoreError
from memory_plane.plane import Plane
from memory_plane.schema import check

Command = Callable[..., subprocess.CompletedProcess[str]]
Start = Callable[..., subprocess.Popen[str]]
Refused = Callable[[subprocess.CompletedProcess[str], str], None]
Queued = Callable[[subprocess.CompletedProcess[str], str], None]

LAUNCH = (sys.executable, str(Path(__file__).with_name("launch.py")))
# A new mount namespace: the small disk is gone with the process, and nobody else ever sees it.
MOUNT = 'mount -t tmpfs -o size=2m tmpfs "$0" && out=$1 && shift && "$@"; cp -a "$0"/. "$out"'
SMALL_DISK = ("unshare", "-rm", "sh", "-c", MOUNT)


def operations(store: Path) -> int:
    with closing(sqlite3.connect(store)) as connection:
        count: int = connection.execute("SELECT count(*) FROM operations").fetchone()[0]
        return count


def ask(session: subprocess.Popen[str], text: str) -> list[str]:
    """Post through an open session; return the state, detail and id of the receipt."""
    assert session.stdin is not None and session.stdout is not None
    print(text, file=session.stdin, flush=True)
    receipt: list[str] = json.loads(session.stdout.readline())
    return receipt


def sound(store: Path) -> bool:
    database = Database(f"sqlite:///{store}")
    try:
        return check(database) == []
    finally:
        database.close()


@pytest.fixture
def written(store: Path) -> Path:
    """A store that holds one thought already."""
    with Plane(home=store.parent) as plane:
        assert plane.post("Daniel uses Go", agent="muse").state == "stored"
    return store


@pytest.fixture
def locked_away(written: Path) -> Iterator[Path]:
    """A store whose file, log and folder may be read but not written."""
    files = [*written.parent.rglob("*"), written.parent]
    before = {file: file.stat().st_mode for file in files}
    for file in files:
        file.chmod(0o555 if file.is_dir() else 0o444)
    yield written
    for file, mode in before.items():
        file.chmod(mode)


def test_read_only_store_refuses_a_write(locked_away: Path, command: Command, refused: Refused) -> None:
    refused(command("post", "Rob uses Rust", "--agent", "muse", launcher=(*LAUNCH, "plain")), "read-only")
    assert operations(locked_away) == 1


def test_read_only_file_in_a_writable_folder_lets_a_write_wait(written: Path, command: Command, queued: Queued) -> None:
    written.chmod(0o444)
    queued(command("post", "Rob uses Rust", "--agent", "muse", launcher=(*LAUNCH, "plain")), "read-only")
    written.chmod(0o600)
    assert operations(written) == 1
    assert sound(written)
    assert "Rob uses Rust" in command("recall", "Rust").stdout
    assert operations(written) == 2


@pytest.mark.parametrize("arguments", [("recall", "Daniel"), ("status",)])
def test_read_only_store_never_shows_a_trace(locked_away: Path, command: Command, arguments: tuple[str, ...]) -> None:
    done = command(*arguments, launcher=(*LAUNCH, "plain"))
    assert done.returncode in (0, 1)
    assert "Traceback" not in done.stdout + done.stderr
    assert len(done.stderr.splitlines()) <= done.returncode


def test_home_that_cannot_be_made_is_refused(tmp_path: Path, command: Command, refused: Refused) -> None:
    (tmp_path / "sealed").mkdir(mode=0o555)
    home = str(tmp_path / "sealed" / "plane")
    arguments = ("post", "Rob uses Rust", "--agent", "muse")
    refused(command(*arguments, launcher=(*LAUNCH, "plain"), MEMORY_PLANE_HOME=home), home)


def test_home_below_a_file_is_a_wrong_setting(tmp_path: Path, command: Command) -> None:
    (tmp_path / "file").write_text("no folder", "utf-8")
    home = str(tmp_path / "file" / "plane")
    done = command("post", "Rob uses Rust", "--agent", "muse", MEMORY_PLANE_HOME=home)
    assert done.returncode == 2
    (line,) = done.stderr.splitlines()
    assert home in line


def test_disk_that_takes_no_more_refuses_a_write(written: Path, command: Command, refused: Refused) -> None:
    limit = written.stat().st_size + 50_000
    done = command("post", "-", "--agent", "muse", text="long " * 100_000, launcher=(*LAUNCH, str(limit)))
    refused(done, "disk")
    assert operations(written) == 1
    assert sound(written)


def test_full_disk_refuses_writes_until_there_is_room(start: Start, store: Path, tmp_path: Path) -> None:
    small, copy = store.parent, tmp_path / "copy"
    small.mkdir()
    copy.mkdir()
    launcher = (*SMALL_DISK, str(small), str(copy))
    if shutil.which("unshare") is None or subprocess.run([*launcher, "true"], check=False).returncode != 0:
        pytest.skip("no small disk can be mounted here; the test of a limited file size stands in for it")
    session = start("session.py", launcher=launcher)
    kept: list[str] = []
    for number in range(200):
        state, detail, id = ask(session, f"note {number} " + os.urandom(10_000).hex())
        if state != "stored":
            break
        kept.append(id)
    assert kept
    assert (state, "full" in detail) == ("refused", True), detail
    assert ask(session, "x" * 100_000)[0] == "refused"
    session.communicate()
    assert operations(copy / "memory.db") == len(kept)
    assert sound(copy / "memory.db")
    with Plane(home=copy) as plane:
        assert plane.post("There is room again", agent="muse").state == "stored"


def garbage(store: Path, begin: int, end: int) -> None:
    with store.open("r+b") as file:
        file.seek(begin)
        file.write(b"\xa5" * (end - begin))


def test_damaged_header_is_told(written: Path, command: Command, refused: Refused, queued: Queued) -> None:
    garbage(written, 0, 100)
    before = written.read_bytes()
    queued(command("post", "Rob uses Rust", "--agent", "muse"), "no database")
    refused(command("recall", "Daniel"), "no database")
    refused(command("db", "check"), "no database")
    assert written.read_bytes() == before


def test_damaged_pages_are_told(written: Path, command: Command, refused: Refused, queued: Queued) -> None:
    garbage(written, 4096, written.stat().st_size)
    queued(command("post", "Rob uses Rust", "--agent", "muse"), "damaged")
    refused(command("recall", "Daniel"), "damaged")
    assert command("db", "check").returncode == 1


def test_every_damaged_page_leaves_a_clear_answer(written: Path) -> None:
    whole = written.read_bytes()
    for begin in range(4096, len(whole), 4096):
        written.write_bytes(whole)
        garbage(written, begin, begin + 4096)
        with contextlib.suppress(StoreError), Plane(home=written.parent) as plane:
            assert plane.post("Rob uses Rust", agent="muse").state in ("stored", "refused")
            for read in (partial(plane.recall, "Daniel"), plane.pulse, plane.graph, plane.status):
                with contextlib.suppress(StoreError):
                    read()
        for log in written.parent.glob("memory.db-*"):
            log.unlink()


def test_store_locked_by_another_writer_lets_a_write_wait(
    written: Path, command: Command, start: Start, queued: Queued
) -> None:
    holder = start("holder.py", str(written))
    assert holder.stdout is not None and holder.stdout.readline() == "held\n"
    queued(command("post", "Rob uses Rust", "--agent", "muse", MEMORY_PLANE_TIMEOUT="0.2"), "locked")
    assert "Daniel" in command("recall", "Daniel", MEMORY_PLANE_TIMEOUT="0.2").stdout
    holder.communicate()
    assert operations(written) == 1
    assert command("post", "Ann uses Zig", "--agent", "muse").stdout.startswith("stored ")
    assert operations(written) == 3


@pytest.mark.parametrize("gone", ["file", "folder"])
def test_store_deleted_underneath_refuses_a_write(store: Path, start: Start, gone: str) -> None:
    session = start("session.py")
    assert ask(session, "Daniel uses Go")[0] == "stored"
    if gone == "folder":
        shutil.rmtree(store.parent)
    else:
        for file in store.parent.glob("memory.db*"):
            file.unlink()
    state, detail, _ = ask(session, "Rob uses Rust")
    assert state == "refused"
    assert "deleted" in detail
    session.communicate()
    with Plane(home=store.parent) as plane:
        assert plane.post("Ann uses Zig", agent="muse").state == "stored"
    assert operations(store) == 1
    assert sound(store)


def test_store_replaced_underneath_refuses_a_write(store: Path, start: Start, tmp_path: Path) -> None:
    session = start("session.py")
    assert ask(session, "Daniel uses Go")[0] == "stored"
    shutil.copy(store, tmp_path / "other.db")
    (tmp_path / "other.db").replace(store)
    state, detail, _ = ask(session, "Rob uses Rust")
    assert (state, "replaced" in detail) == ("refused", True)
