"""Backups: of one moment while others write, verified, and put back without losing what was there."""

from __future__ import annotations

import json
import os
import sqlite3
import stat
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from threading import Event, Thread

import pytest
from alembic import command as alembic
from alembic.config import Config
from alembic.script import ScriptDirectory
from click.testing import CliRunner, Result
from sqlalchemy import create_engine

from memory_plane import Plane, backup, presence, schema
from memory_plane.errors import MemoryPlaneError, SchemaError, StoreError
from memory_plane.settings import Settings
from memory_plane.surfaces.cli import main

MakePlane = Callable[..., Plane]
SECONDS = 60


def invoke(*arguments: str) -> Result:
    return CliRunner().invoke(main, list(arguments), standalone_mode=True)


def texts(home: Path) -> set[str]:
    with Plane(home=home) as plane:
        return {thought.text for thought in plane.thoughts()}


def kept(home: Path) -> list[Path]:
    return sorted(home.glob("memory.db.*.bak"))


@pytest.fixture
def settings(home: Path) -> Settings:
    return Settings.load()


@pytest.fixture
def copy(settings: Settings, make_plane: MakePlane) -> Path:
    """A backup of a memory that has gone on since."""
    with make_plane() as plane:
        plane.post("before the copy", agent="muse")
        made = backup.make(settings)
        plane.post("after the copy", agent="muse")
    return made.path


# --- making ------------------------------------------------------------------------------------------------------


def test_copy_is_a_whole_database_for_its_owner_alone(settings: Settings, plane: Plane) -> None:
    for number in range(3):
        plane.post(f"thought {number}", agent="muse")
    made = backup.make(settings)
    assert made.path.parent == settings.home / "backups"
    assert [path.name for path in made.path.parent.iterdir()] == [made.path.name]
    assert (made.operations, made.revision, made.bytes) == (3, schema.head(), made.path.stat().st_size)
    assert backup.verify(made.path) == made
    if os.name == "posix":
        assert stat.S_IMODE(made.path.stat().st_mode) == 0o600
        assert stat.S_IMODE(made.path.parent.stat().st_mode) == 0o700


def test_copy_is_of_one_moment_while_another_writes(settings: Settings, plane: Plane) -> None:
    ended, begun = Event(), Event()

    def write() -> None:
        number = 0
        while not ended.is_set() and number < 5000:
            number += 1
            assert plane.post(f"thought {number}", agent="muse").state == "stored"
            begun.set()

    writer = Thread(target=write)
    writer.start()
    try:
        assert begun.wait(SECONDS)
        counts = [backup.make(settings).operations for _ in range(5)]
    finally:
        ended.set()
        writer.join(SECONDS)
    assert counts == sorted(counts)
    assert counts[-1] > counts[0] > 0
    made = sorted((settings.home / "backups").iterdir())
    assert [backup.verify(path).operations for path in made] == counts


def test_copy_holds_what_stands_in_the_log_that_was_not_folded_in_yet(settings: Settings, plane: Plane) -> None:
    plane.post("only in the write-ahead log", agent="muse")
    assert (settings.home / "memory.db-wal").stat().st_size > 0
    with closing(sqlite3.connect(backup.make(settings).path)) as connection:
        assert connection.execute("SELECT text FROM operations").fetchall() == [("only in the write-ahead log",)]
        assert connection.execute("PRAGMA journal_mode").fetchone() == ("delete",)


def test_copy_goes_where_it_is_told(settings: Settings, plane: Plane, tmp_path: Path) -> None:
    plane.post("hello", agent="muse")
    file = tmp_path / "ü 100%?#.db"
    assert backup.make(settings, file).path == file
    folder = tmp_path / "a folder"
    folder.mkdir()
    assert backup.make(settings, folder).path.parent == folder
    assert backup.verify(file).operations == 1


def test_no_file_is_ever_overwritten(settings: Settings, plane: Plane, tmp_path: Path) -> None:
    notes = tmp_path / "notes.txt"
    notes.write_text("mine", "utf-8")
    (tmp_path / "link.db").symlink_to(tmp_path / "nowhere")
    for taken in (notes, settings.home / "memory.db", tmp_path / "link.db"):
        with pytest.raises(MemoryPlaneError, match="is there already"):
            backup.make(settings, taken)
    assert notes.read_text("utf-8") == "mine"
    assert sorted(path.name for path in tmp_path.iterdir() if path.is_file()) == ["notes.txt"]


def test_place_that_cannot_be_written_is_one_line_and_leaves_nothing(settings: Settings, plane: Plane) -> None:
    (settings.home / "backups").write_text("in the way", "utf-8")
    for target in (None, settings.home / "no such folder" / "memory.db"):
        with pytest.raises(MemoryPlaneError) as caught:
            backup.make(settings, target)
        assert "\n" not in str(caught.value)


def test_memory_that_is_not_there_is_not_made(settings: Settings) -> None:
    with pytest.raises(MemoryPlaneError, match="there is no"):
        backup.make(settings)
    assert not (settings.home / "memory.db").exists()


def test_damaged_database_makes_no_backup(settings: Settings, make_plane: MakePlane) -> None:
    with make_plane() as plane:
        for number in range(200):
            plane.post(f"thought {number} {'x' * 200}", agent="muse")
    damage(settings.home / "memory.db")
    with pytest.raises(StoreError, match=r"damaged|cannot be read"):
        backup.make(settings)
    assert list((settings.home / "backups").iterdir()) == []


def damage(path: Path) -> None:
    """Write nonsense over some of the pages, but not over the first."""
    with path.open("r+b") as file:
        file.seek(path.stat().st_size // 2)
        file.write(b"\xaa" * 40_000)


def test_keep_removes_the_oldest_of_its_own(settings: Settings, plane: Plane) -> None:
    folder = settings.home / "backups"
    folder.mkdir()
    (folder / "20200101T000000.000000Z.db").touch()
    (folder / "my own copy.db").touch()
    (folder / "20200101T000000.000000Z.db.note").touch()
    newest = [backup.make(settings, keep=2).path.name for _ in range(3)][-2:]
    assert {path.name for path in folder.iterdir()} == {*newest, "my own copy.db", "20200101T000000.000000Z.db.note"}


def test_what_a_killed_copy_left_is_swept_up_and_a_running_one_is_not(settings: Settings, plane: Plane) -> None:
    folder = settings.home / "backups"
    folder.mkdir()
    names = (".a.db.0123abcd.part", ".b.db.0123abcd.part-journal", ".c.db.0123abcd.part", ".mine.part")
    for name in names:
        (folder / name).touch()
        os.utime(folder / name, (0, 0) if name != names[2] else None)
    made = backup.make(settings)
    assert {path.name for path in folder.iterdir()} == {*names[2:], made.path.name}


def test_command_makes_a_copy_and_says_where(home: Path) -> None:
    invoke("post", "hello")
    made = json.loads(invoke("backup", "--json").stdout)
    assert (made["operations"], Path(made["path"]).parent) == (1, home / "backups")
    assert "1 operations" in invoke("backup", "--keep", "1").stdout
    assert len(list((home / "backups").iterdir())) == 1
    refused = invoke("backup", str(home / "x.db"), "--keep", "1")
    assert (refused.exit_code, refused.stdout) == (2, "")


# --- putting back ------------------------------------------------------------------------------------------------


def test_copy_is_put_back_and_what_was_there_is_kept(home: Path, copy: Path) -> None:
    restored = invoke("restore", str(copy), "--yes", "--json")
    assert (restored.exit_code, restored.stderr) == (0, "")
    assert texts(home) == {"before the copy"}
    (aside,) = kept(home)
    assert json.loads(restored.stdout) == {"operations": 1, "kept": str(aside)}
    assert backup.verify(aside).operations == 2
    if os.name == "posix":
        assert {stat.S_IMODE(path.stat().st_mode) for path in (aside, home / "memory.db")} == {0o600}
    assert "after the copy" not in (home / "PULSE.md").read_text("utf-8")
    assert list(home.glob(".restore*")) == []


def test_what_was_kept_can_be_put_back_too(home: Path, copy: Path) -> None:
    invoke("restore", str(copy), "--yes")
    assert invoke("restore", str(kept(home)[0]), "--yes").exit_code == 0
    assert texts(home) == {"before the copy", "after the copy"}
    assert len(kept(home)) == 2


def test_restored_memory_is_sound_and_has_an_id_of_its_own(
    home: Path, settings: Settings, make_plane: MakePlane
) -> None:
    with make_plane() as plane:
        plane.post("before the copy", agent="muse")
        before = plane.store_id
        copy = backup.make(settings).path
    backup.restore(settings, copy)
    with make_plane() as plane:
        assert plane.store_id != before
        assert schema.check(plane.database) == []
        assert plane.post("goes on", agent="muse").state == "stored"
        assert plane.recall("copy").hits[0].snippet == "before the copy"


def test_copy_is_put_into_an_empty_home(settings: Settings, copy: Path, tmp_path: Path) -> None:
    elsewhere = Settings.load(home=tmp_path / "new machine")
    assert backup.restore(elsewhere, copy) == backup.Restored(operations=1, kept=None)
    assert texts(elsewhere.home) == {"before the copy"}
    assert kept(elsewhere.home) == []


def test_copy_on_a_read_only_disk_is_left_as_it_is(home: Path, copy: Path, tmp_path: Path) -> None:
    folder = tmp_path / "disk"
    folder.mkdir()
    moved = copy.replace(folder / "100% ж?#.db")
    folder.chmod(0o500)
    before = moved.read_bytes()
    assert invoke("restore", str(moved), "--yes").exit_code == 0
    assert moved.read_bytes() == before
    assert [path.name for path in folder.iterdir()] == [moved.name]
    assert texts(home) == {"before the copy"}


def test_live_database_of_another_home_is_restored_with_its_log(home: Path, settings: Settings, tmp_path: Path) -> None:
    other = tmp_path / "other"
    with Plane(home=other) as plane:
        plane.post("still in the log", agent="muse")
        assert (other / "memory.db-wal").stat().st_size > 0
        backup.restore(settings, other / "memory.db")
        assert plane.post("it goes on", agent="muse").state == "stored"
    assert texts(home) == {"still in the log"}


def test_older_copy_is_upgraded_and_itself_left_alone(home: Path, settings: Settings, tmp_path: Path) -> None:
    old = tmp_path / "old.db"
    config = Config()
    config.set_main_option("script_location", str(schema.migrations_dir()).replace("%", "%%"))
    first = ScriptDirectory.from_config(config).get_base()
    assert first is not None
    engine = create_engine(f"sqlite:///{old}")
    with engine.begin() as connection:
        config.attributes["connection"] = connection
        alembic.upgrade(config, first)
    engine.dispose()
    before = old.read_bytes()
    backup.restore(settings, old)
    with Plane(settings) as plane:
        assert schema.current(plane.database) == schema.head()
        assert plane.post("goes on", agent="muse").state == "stored"
    assert old.read_bytes() == before


def test_newer_copy_is_refused(settings: Settings, copy: Path) -> None:
    with closing(sqlite3.connect(copy)) as connection, connection:
        connection.execute("UPDATE alembic_version SET version_num = '9999'")
    with pytest.raises(SchemaError, match="'9999'"):
        backup.restore(settings, copy)
    assert texts(settings.home) == {"before the copy", "after the copy"}


def nothing(path: Path) -> None:
    path.unlink()


def text(path: Path) -> None:
    path.write_text("not a database at all, but long enough to have a header" * 10, "utf-8")


def empty(path: Path) -> None:
    path.write_bytes(b"")


def foreign(path: Path) -> None:
    path.unlink()
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("CREATE TABLE operations (id)")


def torn(path: Path) -> None:
    with path.open("r+b") as file:
        file.truncate(path.stat().st_size // 2)


def folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


@pytest.mark.parametrize("spoil", [nothing, text, empty, foreign, torn, damage, folder])
def test_file_that_is_no_sound_copy_changes_nothing(home: Path, copy: Path, spoil: Callable[[Path], None]) -> None:
    spoil(copy)
    before = (home / "memory.db").read_bytes()
    refused = invoke("restore", str(copy), "--yes")
    assert (refused.exit_code, refused.stdout) == (1, "")
    assert refused.stderr.startswith(f"memory-plane: {copy}")
    assert refused.stderr.count("\n") == 1
    assert (home / "memory.db").read_bytes() == before
    assert kept(home) == []
    assert list(home.glob(".restore*")) == []


def test_database_itself_is_no_copy(home: Path, settings: Settings, copy: Path) -> None:
    (home / "link.db").symlink_to(home / "memory.db")
    for path in (home / "memory.db", home / "link.db"):
        with pytest.raises(MemoryPlaneError, match="is the database itself"):
            backup.restore(settings, path)


@pytest.mark.parametrize("busy", ["reader", "writer", "idle"])
def test_nothing_is_restored_while_another_process_has_the_database(
    home: Path, copy: Path, busy: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(backup, "_ALONE", 0.1)
    begin = {"reader": "BEGIN", "writer": "BEGIN IMMEDIATE", "idle": "SELECT 1"}[busy]
    code = f"""if True:
        import sqlite3, sys
        connection = sqlite3.connect(sys.argv[1], isolation_level=None)
        connection.execute("SELECT count(*) FROM operations").fetchall()
        connection.execute({begin!r})
        connection.execute("SELECT count(*) FROM operations").fetchall()
        print(flush=True)
        input()
    """
    other = subprocess.Popen(
        [sys.executable, "-c", code, str(home / "memory.db")], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    with other:
        assert other.stdout is not None
        assert other.stdout.readline() == b"\n"
        refused = invoke("restore", str(copy), "--yes")
        assert refused.exit_code == 1
        assert "another process has it open" in refused.stderr
        other.communicate(b"\n", timeout=SECONDS)
    assert texts(home) == {"before the copy", "after the copy"}
    assert kept(home) == []


def test_nothing_is_restored_while_a_hub_is_up(home: Path, copy: Path) -> None:
    with presence.claimed(home):
        refused = invoke("restore", str(copy), "--yes")
    assert refused.exit_code == 1
    assert "has a hub already" in refused.stderr


def test_no_hub_starts_while_a_copy_is_put_back(home: Path, copy: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[bool] = []
    verify = backup.verify

    def watched(path: Path) -> backup.Backup:
        seen.append(presence.free(home))
        return verify(path)

    monkeypatch.setattr(backup, "verify", watched)
    assert invoke("restore", str(copy), "--yes").exit_code == 0
    assert seen
    assert not any(seen)


def test_damaged_database_is_replaced_and_kept_as_it_is(home: Path, settings: Settings, copy: Path) -> None:
    current = home / "memory.db"
    current.write_text("no database any more" * 100, "utf-8")
    (home / "memory.db-wal").write_bytes(b"its log")
    restored = backup.restore(settings, copy)
    assert restored.kept is not None
    assert restored.kept.read_text("utf-8") == "no database any more" * 100
    assert restored.kept.with_name(f"{restored.kept.name}-wal").read_bytes() == b"its log"
    assert texts(home) == {"before the copy"}


def test_full_disk_in_the_middle_leaves_the_old_memory(
    home: Path, settings: Settings, copy: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(path: Path) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(backup, "_to_disk", full)
    with pytest.raises(MemoryPlaneError, match="No space left"):
        backup.restore(settings, copy)
    assert texts(home) == {"before the copy", "after the copy"}
    assert kept(home) == []


def test_restore_asks_first_and_never_hangs_where_nobody_is(home: Path, copy: Path) -> None:
    refused = invoke("restore", str(copy))
    assert (refused.exit_code, refused.stdout) == (2, "")
    assert "give --yes" in refused.stderr
    assert texts(home) == {"before the copy", "after the copy"}
