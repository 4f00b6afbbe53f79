"""The command line as a real process: what it imports, prints, and leaves as exit code."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path
from shutil import copy

import pytest

PLANE = (sys.executable, "-m", "memory_plane")
HEAVY = {
    "alembic",
    "httpx",
    "mcp",
    "pluggy",
    "pydantic",
    "pydantic_settings",
    "rich",
    "sqlalchemy",
    "starlette",
    "uvicorn",
}
COMPLETE = {"_MEMORY_PLANE_COMPLETE": "zsh_complete", "COMP_WORDS": "memory-plane re", "COMP_CWORD": "1"}

posix = pytest.mark.skipif(os.name == "nt", reason="pipes, signals and terminals of POSIX")


def run(*args: str, stdin: str = "") -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONIOENCODING": "utf-8"}
    return subprocess.run(
        [*PLANE, *args], env=environment, input=stdin, capture_output=True, text=True, encoding="utf-8", timeout=60
    )


def imported(*args: str, env: dict[str, str] | None = None, check: bool = True) -> set[str]:
    """Return the names of all modules that one command line imports."""
    environment = {**os.environ, **(env or {})}
    command = [sys.executable, "-X", "importtime", "-m", "memory_plane", *args]
    result = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60, check=check)
    lines = (line for line in result.stderr.splitlines() if line.startswith("import time:"))
    return {line.rsplit("|", 1)[1].strip() for line in lines}


@pytest.fixture
def memory(home: Path, empty_database: Path) -> None:
    """Give the home a memory that is empty: to make one takes as long as half a command."""
    copy(empty_database, home / "memory.db")


ONE_BY_ONE = """
import sys
from memory_plane.entry import main

for line in sys.argv[1:]:
    sys.argv = ["memory-plane", *line.split()]
    try:
        main()
    except SystemExit:
        pass
print("names", *sys.modules)
"""


def imported_by_all(*lines: str, env: dict[str, str] | None = None) -> set[str]:
    """Return the names of all packages that a process has imported which runs these command lines one by one."""
    environment = {**os.environ, **(env or {})}
    command = [sys.executable, "-c", ONE_BY_ONE, *lines]
    result = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60, check=True)
    return {name.split(".")[0] for name in result.stdout.rpartition("names ")[2].split()}


@pytest.mark.parametrize(
    "args", [["--help"], ["--version"], ["post", "--help"], ["recall", "--help"], ["completion", "zsh"]]
)
def test_help_imports_click_alone(home: Path, args: list[str]) -> None:
    names = {name.split(".")[0] for name in imported(*args)}
    assert "click" in names
    assert not names & HEAVY


def test_shell_completion_imports_click_alone_and_no_command(home: Path) -> None:
    names = imported(env=COMPLETE)
    assert not {name.split(".")[0] for name in names} & HEAVY
    assert not {name for name in names if name.endswith((".writing", ".reading", ".admin"))}


@pytest.mark.usefixtures("memory")
def test_command_on_a_store_at_head_imports_neither_alembic_nor_rich() -> None:
    names = imported_by_all("post second", "recall second", "status")
    assert {"sqlalchemy", "pydantic"} <= names
    assert not names & {"alembic", "rich", "mcp", "starlette", "uvicorn", "httpx"}


@pytest.mark.usefixtures("memory")
def test_command_that_only_reads_loads_neither_a_plugin_nor_pydantic() -> None:
    lines = ("pulse", "status", "items", "facts", "graph", "get 00000000")
    names = imported_by_all(*lines, env={"MEMORY_PLANE_PLUGINS__ENABLED": ""})
    assert "sqlalchemy" in names
    assert not names & {"pydantic", "pydantic_settings", "pluggy", "memory_plane_local"}


@pytest.mark.usefixtures("memory")
def test_garbage_of_a_command_is_left_to_the_end_of_its_process() -> None:
    code = (
        "import atexit, gc, sys; atexit.register(lambda: print(gc.get_freeze_count() > 1000, gc.isenabled()));"
        "from memory_plane.entry import main; sys.argv = ['memory-plane', 'status', '--json']; main()"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    assert result.stdout.splitlines()[-1] == "True True"


@pytest.mark.usefixtures("memory")
def test_stdout_holds_the_result_and_nothing_else() -> None:
    result = run("--verbose", "post", "héllo", "--json")
    assert result.returncode == 0
    assert json.loads(result.stdout)["state"] == "stored"


def test_exit_codes(home: Path) -> None:
    assert run("status").returncode == 0
    assert run("post", " ").returncode == 1
    assert run("post").returncode == 2
    (home / "config.toml").write_text("timeout = -1\n")
    failed = run("status")
    assert failed.returncode == 2
    assert failed.stderr.count("\n") == 1
    assert "timeout" in failed.stderr
    assert "config.toml" in failed.stderr


def test_store_that_cannot_be_opened_leaves_no_trace_on_the_terminal(home: Path) -> None:
    (home / "memory.db").mkdir()
    for args in (("status",), ("recall", "x"), ("export",), ("rebuild",)):
        result = run(*args)
        assert (result.returncode, result.stdout) == (1, ""), args
        assert result.stderr.count("\n") == 1, result.stderr
        assert "Traceback" not in result.stderr


def test_write_that_the_store_cannot_take_now_is_queued_and_says_why(home: Path) -> None:
    (home / "memory.db").mkdir()
    queued = run("post", "kept all the same")
    assert queued.returncode == 0, queued.stderr
    assert re.fullmatch(r"queued [0-9a-f-]{36} 1 waiting\n", queued.stdout)
    assert queued.stderr.count("\n") == 1
    assert "offline: " in queued.stderr
    assert "cannot be opened" in queued.stderr
    (home / "memory.db").rmdir()
    assert run("recall", "kept").returncode == 0
    assert "kept all the same" in run("recall", "kept").stdout
    assert run("outbox", "list").stdout == ""


@posix
@pytest.mark.usefixtures("memory")
def test_reader_that_goes_away_is_no_event() -> None:
    run("ingest", "-", stdin="\n\n".join(f"paragraph {number} {'x' * 2000}" for number in range(100)))
    process = subprocess.Popen([*PLANE, "export"], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.readline()
    process.stdout.close()
    assert process.stderr.read() == b""
    assert process.wait(60) == 141
    process.stderr.close()


@posix
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
@pytest.mark.usefixtures("memory")
@pytest.mark.parametrize("verbose", [(), ("--verbose",)])
def test_log_that_cannot_be_written_fails_no_command(home: Path, verbose: tuple[str, ...]) -> None:
    (home / "memory-plane.log").symlink_to("/dev/full")
    (home / "PULSE.md").mkdir()
    result = run(*verbose, "post", "kept all the same", "--json")
    assert result.returncode == 0
    assert json.loads(result.stdout)["state"] == "stored"
    assert "Traceback" not in result.stderr
    assert "Logging error" not in result.stderr


@posix
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
@pytest.mark.usefixtures("memory")
def test_output_that_cannot_be_written_is_one_line() -> None:
    with Path("/dev/full").open("w") as full:
        command = [*PLANE, "post", "kept all the same"]
        result = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, timeout=60)
    assert result.returncode == 1
    assert result.stderr.count("\n") == 1
    assert "kept all the same" in run("recall", "kept").stdout


@posix
def test_ctrl_c_ends_quietly_with_130(home: Path) -> None:
    process = subprocess.Popen(
        [*PLANE, "post", "-"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stdin is not None
    process.stdin.write(b"x" * 400_000)  # more than a pipe holds: once it is written, the command is reading
    process.stdin.flush()
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert out == b""
    assert err.strip() == b""


@posix
@pytest.mark.usefixtures("memory")
@pytest.mark.parametrize(("columns", "before"), [(200, "  "), (60, "\r\n    ")])
def test_terminal_gets_a_table_that_no_memory_can_disturb(columns: int, before: str) -> None:
    import pty

    run("post", "a [red]zebra[/red] \x1b[31m :smile:", "--kind", "question")
    leader, follower = pty.openpty()
    environment = {**os.environ, "TERM": "xterm", "COLUMNS": str(columns)}
    process = subprocess.Popen([*PLANE, "items"], env=environment, stdin=follower, stdout=follower, stderr=follower)
    assert process.wait(60) == 0
    os.close(follower)
    shown = os.read(leader, 65536).decode()
    os.close(leader)
    assert f"{before}a [red]zebra[/red] \\x1b[31m :smile:" in shown
    assert "\x1b[31m" not in shown
    assert "\x1b[1m" in shown
