from __future__ import annotations

import logging
import os
import stat
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from memory_plane.types import View
from memory_plane.views import NOTED, write_pages, write_views

POSIX = pytest.mark.skipif(sys.platform == "win32", reason="file modes and links of POSIX")


def view(path: str, text: str = "text") -> View:
    return View(path=Path(path), text=text)


def files(home: Path) -> set[str]:
    return {path.relative_to(home).as_posix() for path in home.rglob("*") if not path.is_dir()}


def test_views_are_written_below_the_home(tmp_path: Path) -> None:
    home = tmp_path / "new" / "home"
    written = write_views(home, [view("PULSE.md", "é\n"), view("brief/grok.md"), view("a/b/c.json")])
    assert written == [home / "PULSE.md", home / "brief" / "grok.md", home / "a" / "b" / "c.json"]
    assert (home / "PULSE.md").read_bytes() == "é\n".encode()
    assert files(home) == {"PULSE.md", "brief/grok.md", "a/b/c.json"}


def test_only_what_changed_is_written(tmp_path: Path) -> None:
    write_views(tmp_path, [view("a.md", "one"), view("b.md", "same")])
    before = (tmp_path / "b.md").stat()
    assert write_views(tmp_path, [view("a.md", "two"), view("b.md", "same")]) == [tmp_path / "a.md"]
    assert (tmp_path / "a.md").read_text("utf-8") == "two"
    assert (tmp_path / "b.md").stat().st_ino == before.st_ino


@POSIX
def test_files_and_folders_are_private(tmp_path: Path) -> None:
    home = tmp_path / "home"
    before = os.umask(0)
    try:
        write_views(home, [view("brief/grok.md")])
    finally:
        os.umask(before)
    modes = [stat.S_IMODE(path.stat().st_mode) for path in (home, home / "brief", home / "brief" / "grok.md")]
    assert modes == [0o700, 0o700, 0o600]


@POSIX
def test_a_file_that_others_may_read_is_made_private(tmp_path: Path) -> None:
    write_views(tmp_path, [view("a.md")])
    (tmp_path / "a.md").chmod(0o644)
    assert write_views(tmp_path, [view("a.md")]) == [tmp_path / "a.md"]
    assert stat.S_IMODE((tmp_path / "a.md").stat().st_mode) == 0o600


@pytest.mark.parametrize(
    "path",
    ["../out.md", "a/../../out.md", "a/../b.md", "/tmp/out.md", "", ".", "a\0b.md", ".hidden.md", ".git/a.md", "brief"],
)
def test_a_path_that_is_not_its_own_is_refused(tmp_path: Path, path: str, caplog: pytest.LogCaptureFixture) -> None:
    home = tmp_path / "home"
    assert write_views(home, [view(path), view("good.md")]) == [home / "good.md"]
    assert files(tmp_path) == {"home/good.md"}
    assert "was not written" in caplog.text


@pytest.mark.parametrize("name", ["memory.db", "outbox.jsonl", "config.toml", "token", "memory.db-wal", "hook.py"])
def test_what_is_no_page_cannot_be_overwritten(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text("precious", "utf-8")
    assert write_views(tmp_path, [view(name, "gone")]) == []
    assert (tmp_path / name).read_text("utf-8") == "precious"


@POSIX
def test_a_linked_folder_is_refused(tmp_path: Path) -> None:
    home, outside = tmp_path / "home", tmp_path / "outside"
    home.mkdir()
    outside.mkdir()
    (home / "brief").symlink_to(outside)
    (home / "torn").symlink_to(tmp_path / "nowhere")
    assert write_views(home, [view("brief/grok.md"), view("brief/a/b.md"), view("torn/x.md")]) == []
    assert files(outside) == set()


@POSIX
def test_a_linked_page_is_replaced_and_its_target_stays(tmp_path: Path) -> None:
    home, outside = tmp_path / "home", tmp_path / "outside.md"
    home.mkdir()
    outside.write_text("text", "utf-8")
    (home / "PULSE.md").symlink_to(outside)
    assert write_views(home, [view("PULSE.md", "text")]) == [home / "PULSE.md"]
    assert not (home / "PULSE.md").is_symlink()
    assert outside.read_text("utf-8") == "text"


@POSIX
def test_the_home_itself_may_be_a_link(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "home").symlink_to(tmp_path / "real")
    assert write_views(tmp_path / "home", [view("a.md")]) == [tmp_path / "home" / "a.md"]


def test_the_first_view_of_a_path_wins(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    assert write_views(tmp_path, [view("PULSE.md", "ours"), view("pulse.md", "theirs")]) == [tmp_path / "PULSE.md"]
    assert files(tmp_path) == {"PULSE.md"}
    assert "another page has this path" in caplog.text


def test_a_bad_view_never_blocks_the_others(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    (tmp_path / "folder.md").mkdir()
    (tmp_path / "file.md").write_text("x", "utf-8")
    wrong: list[Any] = [
        view("folder.md"),
        view("file.md/below.md"),
        view("surrogate.md", "\ud800"),
        View(path=None, text="x"),  # type: ignore[arg-type]
        View(path=Path("number.md"), text=7),  # type: ignore[arg-type]
        "no view",
        view("x" * 300 + ".md"),
    ]
    with caplog.at_level(logging.WARNING):
        assert write_views(tmp_path, [*wrong, view("good.md")]) == [tmp_path / "good.md"]
    assert len(caplog.records) == len(wrong)
    assert files(tmp_path) == {"good.md", "file.md"}


def test_nothing_is_left_when_a_write_fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_views(tmp_path, [view("a.md", "old")])

    def full(self: Path, target: Path) -> Path:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", full)
    assert write_views(tmp_path, [view("a.md", "new")]) == []
    assert (tmp_path / "a.md").read_text("utf-8") == "old"
    assert files(tmp_path) == {"a.md"}


def test_what_a_killed_writer_left_is_swept_away(tmp_path: Path) -> None:
    old, fresh = tmp_path / ".a.md.1.view-tmp", tmp_path / ".a.md.2.view-tmp"
    old.write_text("torn", "utf-8")
    fresh.write_text("at work", "utf-8")
    os.utime(old, (0, 0))
    write_views(tmp_path, [view("a.md")])
    assert files(tmp_path) == {"a.md", fresh.name}


WRITE_OFTEN = """
import sys
from pathlib import Path
from memory_plane.types import View
from memory_plane.views import write_views

home, sign = sys.argv[1:]
for count in range(60):
    write_views(Path(home), [View(path=Path("brief/PULSE.md"), text=sign * (20_000 + count))])
"""


def test_two_processes_never_leave_a_torn_page_or_a_temporary_file(tmp_path: Path) -> None:
    writers = [subprocess.Popen([sys.executable, "-c", WRITE_OFTEN, str(tmp_path), sign]) for sign in "ab"]
    torn: list[int] = []
    stop = threading.Event()

    def read() -> None:
        while not stop.is_set():
            try:
                text = (tmp_path / "brief" / "PULSE.md").read_text("utf-8")
            except FileNotFoundError:
                continue
            if len(set(text)) != 1 or len(text) < 20_000:
                torn.append(len(text))

    reader = threading.Thread(target=read)
    reader.start()
    for writer in writers:
        writer.wait(120)
    stop.set()
    reader.join()
    assert [writer.returncode for writer in writers] == [0, 0]
    assert torn == []
    assert files(tmp_path) == {"brief/PULSE.md"}


# --- pages that are given no more --------------------------------------------------------------------------------


def test_pages_given_no_more_are_removed_and_no_other_file(tmp_path: Path) -> None:
    write_pages(tmp_path, [view("a/one.md"), view("a/two.md")])
    (tmp_path / "a" / "mine.md").write_text("mine", "utf-8")
    assert write_pages(tmp_path, [view("a/two.md"), view("three.md")]) == [tmp_path / "three.md"]
    assert files(tmp_path) == {"a/two.md", "a/mine.md", "three.md", NOTED}
    write_pages(tmp_path, [])
    assert files(tmp_path) == {"a/mine.md", NOTED}


@pytest.mark.parametrize("noted", ["", "{", "5", "[1, null]", '["../../out.md", "/etc/out.md", "memory.db", ""]'])
def test_a_note_of_any_content_removes_nothing_else(tmp_path: Path, noted: str) -> None:
    home = tmp_path / "in" / "home"
    home.mkdir(parents=True)
    for path in (tmp_path / "out.md", home / "memory.db", home / "config.toml"):
        path.write_text("kept", "utf-8")
    (home / NOTED).write_text(noted, "utf-8")
    write_pages(home, [view("a.md")])
    assert files(tmp_path) == {"out.md", "in/home/memory.db", "in/home/config.toml", "in/home/a.md", f"in/home/{NOTED}"}


@POSIX
def test_a_page_behind_a_link_is_not_removed(tmp_path: Path) -> None:
    home, outside = tmp_path / "home", tmp_path / "outside"
    home.mkdir()
    write_pages(home, [view("a/one.md")])
    (home / "a").rename(outside)
    (home / "a").symlink_to(outside)
    write_pages(home, [])
    assert (outside / "one.md").exists()
