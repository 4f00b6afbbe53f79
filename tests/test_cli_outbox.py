from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from memory_plane import letters
from memory_plane.operations import record_of
from memory_plane.outbox import Outbox
from memory_plane.surfaces.cli import main
from memory_plane.types import Operation, Receipt

MakeOperation = Callable[..., Operation]


@pytest.fixture
def run(home: Path) -> Callable[..., Result]:
    """Run one `memory-plane outbox` in the temporary home."""
    return lambda *args: CliRunner().invoke(main, ["--home", str(home), "outbox", *args])


@pytest.fixture
def outbox(home: Path) -> Outbox:
    return Outbox(home)


def refuse(batch: Sequence[Operation]) -> list[Receipt]:
    return [Receipt(id=operation.id, state="refused", detail="text: not wanted") for operation in batch]


def bury(outbox: Outbox, *operations: Operation) -> None:
    outbox.append(*operations)
    outbox.flush(refuse)


def bury_garbage(outbox: Outbox, text: bytes) -> str:
    (outbox.home / "outbox.jsonl").write_bytes(text + b"\n")
    outbox.flush(refuse)
    return letters.id_of(text)


def test_empty_outbox_says_so_and_makes_no_home(run: Callable[..., Result], tmp_path: Path) -> None:
    home = tmp_path / "not there"
    result = CliRunner().invoke(main, ["--home", str(home), "outbox", "list"])
    assert (result.exit_code, result.stdout, result.stderr) == (0, "", "nothing waits\n")
    assert not home.exists()
    assert run("list", "--dead").stderr == "no dead letters\n"
    assert run("list", "--json").stdout == "[]\n"
    assert run("retry", "--all").stderr == "no dead letters\n"


def test_status_of_a_hub_that_is_away_tells_what_waits(
    home: Path, outbox: Outbox, operation: MakeOperation, monkeypatch: pytest.MonkeyPatch
) -> None:
    outbox.append(operation(text="one"), operation(text="two"))
    monkeypatch.setenv("MEMORY_PLANE_HUB_URL", "http://127.0.0.1:1")
    monkeypatch.setenv("MEMORY_PLANE_HUB__TOKEN", "x" * 40)
    result = CliRunner().invoke(main, ["--home", str(home), "status"])
    assert result.exit_code == 1
    assert result.stderr.endswith("; 2 writes wait: memory-plane outbox list\n")


def test_list_shows_what_waits_in_its_order(
    run: Callable[..., Result], outbox: Outbox, operation: MakeOperation
) -> None:
    old = datetime.now(UTC) - timedelta(hours=3, minutes=5)
    made = [
        operation(text="Ask Rob\nfor \x1b[31mthe invoice " + "x" * 100, kind="question", created_at=old),
        operation("fact", subject="Rob", key="role", value="CTO", agent="grok", created_at=old + timedelta(hours=3)),
        operation("heartbeat", focus="Writing", created_at=datetime.now(UTC) + timedelta(days=1)),
    ]
    outbox.append(*made)
    head, *rows = run("list").stdout.splitlines()
    assert head.split() == ["ID", "AGENT", "KIND", "AGE", "WORDS"]
    assert [row.split()[:5] for row in rows] == [
        [made[0].id, "muse", "question", "3", "h"],
        [made[1].id, "grok", "fact", "5", "min"],
        [made[2].id, "muse", "heartbeat", "0", "s"],
    ]
    assert r"Ask Rob for \x1b[31mthe invoice x" in rows[0]
    assert rows[0].endswith("…")
    assert rows[1].endswith("Rob role: CTO")
    assert rows[2].endswith("Writing")


def test_list_as_json_is_the_exported_form(
    run: Callable[..., Result], outbox: Outbox, operation: MakeOperation
) -> None:
    made = [operation(), operation()]
    outbox.append(*made)
    assert json.loads(run("list", "--json").stdout) == [record_of(one) for one in made]


def test_list_is_bounded_and_tells_what_it_leaves_out(
    run: Callable[..., Result], outbox: Outbox, operation: MakeOperation
) -> None:
    bury(outbox, operation())
    outbox.append(*(operation() for _ in range(4)))
    with (outbox.home / "outbox.jsonl").open("ab") as file:
        file.write(b"torn")
    result = run("list", "--limit", "3")
    assert len(result.stdout.splitlines()) == 1 + 3
    assert result.stderr.splitlines() == [
        "memory-plane: 1 more are not shown; see: --limit",
        "memory-plane: 1 more cannot be read and will be set aside as dead letters when the others are sent",
        "memory-plane: 1 more cannot be delivered; see: memory-plane outbox list --dead",
    ]


def test_dead_letters_are_listed_with_their_reasons(
    run: Callable[..., Result], outbox: Outbox, operation: MakeOperation
) -> None:
    made = operation(text="Not for the hub")
    bury(outbox, made)
    torn = bury_garbage(outbox, b'{"agent":"mu')
    rows = run("list", "--dead").stdout.splitlines()[1:]
    assert made.id in rows[0] and "text: not wanted" in rows[0] and "Not for the hub" in rows[0]
    assert torn in rows[1] and "cannot be read" in rows[1] and '{"agent":"mu' in rows[1]
    first, second = json.loads(run("list", "--dead", "--json").stdout)
    assert first == {
        "id": made.id, "at": first["at"], "reason": "text: not wanted", "operation": record_of(made)
    }  # fmt: skip
    assert datetime.fromisoformat(first["at"]) <= datetime.now(UTC)
    assert (second["id"], second["line"]) == (torn, '{"agent":"mu')


def test_retry_puts_the_named_letters_back(
    run: Callable[..., Result], outbox: Outbox, operation: MakeOperation
) -> None:
    made = [operation(text=f"letter {number}") for number in range(3)]
    bury(outbox, *made)
    result = run("retry", made[1].id[:8].upper(), made[0].id, made[1].id)
    assert result.stdout.splitlines() == [f"queued {made[0].id} letter 0", f"queued {made[1].id} letter 1"]
    assert outbox.pending() == made[:2]
    assert [letter.id for letter in outbox.dead()] == [made[2].id]


def test_retry_of_all_leaves_what_cannot_be_read_and_fails(
    run: Callable[..., Result], outbox: Outbox, operation: MakeOperation
) -> None:
    made = operation()
    bury(outbox, made)
    torn = bury_garbage(outbox, b"garbage")
    result = run("retry", "--all", "--json")
    assert (result.exit_code, json.loads(result.stdout)) == (1, {"queued": [made.id], "unreadable": [torn]})
    assert f"memory-plane outbox drop {torn}" in result.stderr
    assert outbox.pending() == [made]
    assert [letter.id for letter in outbox.dead()] == [torn]


def test_drop_says_what_is_gone(run: Callable[..., Result], outbox: Outbox, operation: MakeOperation) -> None:
    torn, dead = bury_garbage(outbox, b"garbage"), operation(text="dead")
    bury(outbox, dead)
    waiting, kept = operation(text="waits"), operation(text="kept")
    outbox.append(waiting, kept)
    result = run("drop", dead.id, waiting.id[:6], torn)
    assert sorted(result.stdout.splitlines()) == sorted(
        [f"dropped {waiting.id} waits", f"dropped {dead.id} dead", f"dropped {torn} a line that cannot be read"]
    )
    assert (outbox.pending(), outbox.dead()) == ([kept], [])
    assert json.loads(run("drop", kept.id, "--json").stdout) == [record_of(kept)]
    assert outbox.depth() == 0


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (("retry",), 2, "either ids or --all"),
        (("retry", "0b0e7c", "--all"), 2, "either ids or --all"),
        (("retry", "0b0e7c"), 1, "no dead letter has an id that begins with '0b0e7c'"),
        (("drop",), 2, "ID"),
        (("drop", "0b0e7c"), 1, "nothing in the outbox has an id that begins with '0b0e7c'"),
        (("drop", "0b"), 2, "at least 6 characters"),
        (("drop", ""), 2, "at least 6 characters"),
    ],
)
def test_wrong_use_is_one_line(run: Callable[..., Result], arguments: tuple[str, ...], code: int, words: str) -> None:
    result = run(*arguments)
    assert (result.exit_code, result.stdout, result.stderr.count("\n")) == (code, "", 1)
    assert words in result.stderr


def test_one_wrong_id_and_nothing_is_dropped(
    run: Callable[..., Result], outbox: Outbox, operation: MakeOperation
) -> None:
    made = operation()
    outbox.append(made)
    assert run("drop", made.id, "0b0e7c").exit_code == 1
    assert outbox.pending() == [made]


def test_beginning_of_two_ids_names_both(run: Callable[..., Result], outbox: Outbox, operation: MakeOperation) -> None:
    ids = [f"0b0e7c3e-90a7-4d0e-9a93-8d3f1f6c2a5{digit}" for digit in "12"]
    outbox.append(*(operation(id=id) for id in ids))
    result = run("drop", "0b0e7c3e")
    assert result.exit_code == 1
    assert all(id in result.stderr for id in ids)
    assert outbox.depth() == 2


def test_commands_work_with_a_broken_store_and_load_no_database(
    home: Path, outbox: Outbox, operation: MakeOperation
) -> None:
    (home / "memory.db").write_bytes(b"no database at all")
    made = operation()
    bury(outbox, made)
    for arguments in (["list", "--dead"], ["retry", "--all"], ["list"], ["drop", made.id]):
        command = [sys.executable, "-X", "importtime", "-m", "memory_plane", "outbox", *arguments]
        done = subprocess.run(command, env={**os.environ}, capture_output=True, text=True, timeout=60, check=True)
        assert made.id in done.stdout
        loaded = {line.rsplit("|", 1)[1].strip().split(".")[0] for line in done.stderr.splitlines() if "|" in line}
        assert {"memory_plane", "click"} <= loaded
        assert not loaded & {"sqlalchemy", "alembic", "httpx", "fastapi", "pluggy"}
    assert (home / "memory.db").read_bytes() == b"no database at all"


def test_outbox_that_cannot_be_written_is_told_in_one_line(
    run: Callable[..., Result], outbox: Outbox, operation: MakeOperation
) -> None:
    made = operation()
    bury(outbox, made)
    (outbox.home / "outbox.jsonl").mkdir()
    result: Any = run("retry", "--all")
    assert (result.exit_code, result.stdout, result.stderr.count("\n")) == (1, "", 1)
    assert "outbox.jsonl" in result.stderr
    assert [letter.id for letter in outbox.dead()] == [made.id]
