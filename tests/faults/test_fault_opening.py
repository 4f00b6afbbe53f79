"""Ten processes open one file at the same moment: missing, empty, old, and newer than this version."""

from __future__ import annotations

import sqlite3
import subprocess
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from alembic import command as alembic
from alembic.config import Config
from alembic.script import ScriptDirectory
from sqlalchemy import create_engine

from memory_plane.plane import Plane
from memory_plane.schema import migrations_dir

Command = Callable[..., subprocess.CompletedProcess[str]]
Start = Callable[..., subprocess.Popen[str]]
COUNT = 10


def missing(store: Path) -> None:
    """Nothing there, not even the folder."""


def empty(store: Path) -> None:
    """A file of no bytes, as `touch` makes it."""
    store.parent.mkdir()
    store.touch()


def old(store: Path) -> None:
    """A file at the first revision there ever was, or before it while there is only one."""
    store.parent.mkdir()
    config = Config()
    config.set_main_option("script_location", str(migrations_dir()).replace("%", "%%"))
    script = ScriptDirectory.from_config(config)
    first = script.get_base()
    assert first is not None
    engine = create_engine(f"sqlite:///{store}")
    with engine.begin() as connection:
        config.attributes["connection"] = connection
        alembic.upgrade(config, first)
        if first == script.get_current_head():
            alembic.downgrade(config, "base")
    engine.dispose()


def open_at_once(start: Start, folder: Path) -> list[str]:
    process = start("openers.py", str(COUNT), str(folder))
    output, _ = process.communicate(timeout=120)
    return output.splitlines()


@pytest.mark.parametrize("prepare", [missing, empty, old])
def test_ten_processes_at_once_all_succeed(
    prepare: Callable[[Path], None], start: Start, command: Command, store: Path, tmp_path: Path
) -> None:
    prepare(store)
    said = open_at_once(start, tmp_path)
    assert [line.split()[0] for line in said] == ["stored"] * COUNT, said
    with closing(sqlite3.connect(store)) as connection:
        assert connection.execute("SELECT count(*), count(DISTINCT id) FROM operations").fetchone() == (COUNT, COUNT)
    checked = command("db", "check")
    assert checked.returncode == 0, checked


def test_newer_file_is_refused_and_left_alone(
    start: Start,
    command: Command,
    store: Path,
    tmp_path: Path,
    refused: Callable[[subprocess.CompletedProcess[str], str], None],
    queued: Callable[[subprocess.CompletedProcess[str], str], None],
) -> None:
    with Plane(home=store.parent) as plane:
        assert plane.post("Daniel uses Go", agent="muse").state == "stored"
    with closing(sqlite3.connect(store)) as connection:
        connection.execute("UPDATE alembic_version SET version_num = '9999'")
        connection.commit()
    before = store.read_bytes()
    said = open_at_once(start, tmp_path)
    assert [line.split()[0] for line in said] == ["SchemaError"] * COUNT, said
    assert all("'9999'" in line for line in said)
    queued(command("post", "Rob uses Rust", "--agent", "muse"), "'9999'")
    for arguments in (("recall", "Daniel"), ("db", "upgrade")):
        refused(command(*arguments), "'9999'")
    assert store.read_bytes() == before
