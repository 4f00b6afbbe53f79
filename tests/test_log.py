"""The log files: for their owner alone, bounded, without secrets, and no reason for a command to fail."""

from __future__ import annotations

import logging
import os
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from memory_plane.surfaces.cli.log import Log, LogFile, last_line

posix = pytest.mark.skipif(os.name != "posix", reason="file modes and descriptors of POSIX")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "logs ж" / "hub.log"


@pytest.fixture
def handler(path: Path) -> Iterator[LogFile]:
    """A log of 500 bytes."""
    file = LogFile(path, max_bytes=500)
    yield file
    file.close()


def say(handler: LogFile, text: str) -> None:
    handler.handle(logging.LogRecord("plane", logging.WARNING, __file__, 1, text, None, None))


@posix
def test_log_is_for_its_owner_alone_in_every_generation(handler: LogFile, path: Path) -> None:
    for number in range(40):
        say(handler, f"line {number}")
    files = sorted(path.parent.iterdir())
    assert [file.name for file in files] == ["hub.log", "hub.log.1", "hub.log.2"]
    assert {stat.S_IMODE(file.stat().st_mode) for file in files} == {0o600}
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700


def test_log_never_grows_beyond_its_size(handler: LogFile, path: Path) -> None:
    for number in range(200):
        say(handler, f"line {number}")
    assert all(file.stat().st_size <= 500 for file in path.parent.iterdir())
    assert last_line(path).endswith("line 199")


def test_two_writers_share_one_log(handler: LogFile, path: Path) -> None:
    other = LogFile(path, max_bytes=500)
    for number in range(10):
        say(handler, f"line {2 * number}")
        say(other, f"line {2 * number + 1}")
    other.close()
    written = "".join(file.read_text("utf-8") for file in sorted(path.parent.iterdir(), reverse=True))
    assert [line.rpartition(" ")[2] for line in written.splitlines()] == [str(number) for number in range(20)]


def test_secret_is_cut_out_of_a_line_and_of_its_trace(handler: LogFile, path: Path) -> None:
    try:
        raise ValueError("cannot send Authorization: Bearer abcdefghijklmnopqrstuvwxyz0123456789")
    except ValueError:
        record = logging.LogRecord("plane", 40, __file__, 1, "password=hunter2-Zx81!", None, sys.exc_info())
    handler.handle(record)
    written = path.read_text("utf-8")
    assert "ValueError" in written
    assert "hunter2" not in written
    assert "abcdefghijklmnopqrstuvwxyz" not in written


def test_trace_tells_kind_and_place_of_an_error_but_not_its_words(handler: LogFile, path: Path) -> None:
    words = "-".join(("pelican", "attic"))  # in two pieces, since a trace shows the lines of this file
    try:
        try:
            raise KeyError(words)
        except KeyError as error:
            raise ExceptionGroup(words, [ValueError(words)]) from error
    except ExceptionGroup:
        record = logging.LogRecord("plane", 40, __file__, 1, "a job failed", None, sys.exc_info())
    record.exc_text = f"Traceback that another handler made: {words}"
    handler.handle(record)
    written = path.read_text("utf-8")
    assert all(
        kind in written for kind in ("a job failed", "KeyError", "ExceptionGroup", "ValueError", Path(__file__).name)
    )
    assert words not in written
    assert record.exc_text.endswith(words)


def test_verbose_shows_neither_secrets_nor_what_is_searched(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    log = Log(str(tmp_path), verbose=True)
    try:
        logging.getLogger("httpx").info("HTTP Request: GET /api/recall?q=tea")
        logging.getLogger("plane").info("password=hunter2-Zx81! is wrong")
    finally:
        log.close()
    shown = capsys.readouterr().err
    assert "is wrong" in shown
    for written in (shown, log.path.read_text("utf-8")):
        assert "hunter2" not in written
        assert "tea" not in written


@posix
def test_standard_streams_follow_the_log_into_its_next_file(path: Path) -> None:
    code = f"""if True:
        import logging, os, pathlib
        from memory_plane.surfaces.cli.log import LogFile, open_file
        path = pathlib.Path({str(path)!r})
        os.dup2(open_file(path), 2)
        handler = LogFile(path, max_bytes=100)
        for number in range(4):
            handler.handle(logging.LogRecord("plane", 30, "", 1, "x" * 80, None, None))
        os.write(2, b"from elsewhere\\n")
    """
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)
    assert last_line(path) == "from elsewhere"


def test_log_that_cannot_be_written_fails_nothing(tmp_path: Path) -> None:
    (tmp_path / "memory-plane.log").mkdir()
    log = Log(str(tmp_path), verbose=False)
    logging.getLogger("memory_plane").warning("nowhere to go")
    log.close()
    assert list((tmp_path / "memory-plane.log").iterdir()) == []


def test_last_line_is_the_last_that_says_something(tmp_path: Path) -> None:
    assert last_line(tmp_path / "missing.log") == ""
    (tmp_path / "a.log").write_text("first\n" + "x" * 20_000 + "\nlast ж\n\n", "utf-8")
    assert last_line(tmp_path / "a.log") == "last ж"
