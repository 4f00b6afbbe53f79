"""Whether Codex runs our hooks, asked of a stand-in for it; tests/clients asks the real one."""

from __future__ import annotations

import os
import shlex
import stat
import sys
from pathlib import Path
from typing import Any

import pytest

from memory_plane.integration import Check, Integration, Machine
from memory_plane.setup import calls
from memory_plane_clients import table, telling

EVENTS = ("SessionStart", "UserPromptSubmit", "Stop")
METHODS = ["initialize", "initialized", "hooks/list"]

pytestmark = pytest.mark.skipif(os.name == "nt", reason="the stand-in is a script that starts by its first line")

LISTENS = """
print("no JSON", "[]", '{"id": 0, "result": {}}', '{"method": "status/changed"}', sep="\\n", flush=True)
asked = [json.loads(sys.stdin.readline()) for _ in METHODS]
assert sys.argv[1:] == ["app-server"] and [one["method"] for one in asked] == METHODS
print(json.dumps({"id": asked[-1]["id"], **ANSWER}), flush=True)
assert not sys.stdin.read()
"""


def machine(home: Path) -> Machine:
    path = {"PATH": str(home / "bin")}
    return Machine(
        home=home, platform="linux", environment=path, plane=home / "p", command=("/mp",), python=sys.executable
    )


def integration(home: Path) -> Integration:
    return telling.integration("codex", table.rows()["codex"], machine(home))


def check(home: Path, codex: str, answer: dict[str, Any]) -> Check:
    """Return our check of trust where Codex is a script that answers so."""
    program = home / "bin" / "codex"
    program.parent.mkdir()
    script = program.with_suffix(".py")
    script.write_text(f"import json, sys\nANSWER = {answer}\nMETHODS = {METHODS}\n{codex}")
    # A first line that names an interpreter has no way to say that there is a space in its path.
    program.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} {shlex.quote(str(script))} "$@"\n')
    program.chmod(stat.S_IRWXU)
    (found,) = [one for one in integration(home).checks if isinstance(one, Check) and one.by_hand]
    return found


@pytest.mark.parametrize(
    ("status", "said"),
    [
        ({}, ""),
        ({"trustStatus": "managed"}, ""),
        ({"trustStatus": "untrusted"}, "3 of 3 hooks wait for your trust"),
        ({"trustStatus": "modified"}, "3 of 3 hooks wait for your trust"),
        ({"enabled": False}, "3 of 3 hooks wait for your trust"),
        ({"command": "a line of before"}, "3 of 3 hooks are not loaded"),
    ],
)
def test_hooks_that_wait_for_trust_are_told_of(tmp_path: Path, status: dict[str, Any], said: str) -> None:
    lines = [machine(tmp_path).hook("codex", event) for event in EVENTS]
    ours = [{"command": line, "enabled": True, "trustStatus": "trusted"} | status for line in lines]
    other = {"command": "other", "enabled": True, "trustStatus": "untrusted"}
    complaint = calls.passes(check(tmp_path, LISTENS, {"result": {"data": [{"cwd": "/", "hooks": [*ours, other]}]}}))
    assert complaint.startswith(said)
    assert bool(said) == bool(complaint)


@pytest.mark.parametrize(
    ("codex", "answer"),
    [(LISTENS, {"error": {"code": -32600, "message": "unknown variant"}}), ("sys.exit(2)", {}), ("", {})],
)
def test_codex_that_cannot_tell_is_no_complaint(tmp_path: Path, codex: str, answer: dict[str, Any]) -> None:
    assert calls.passes(check(tmp_path, codex, answer)) == ""


def test_remedy_is_what_only_the_person_can_do(tmp_path: Path) -> None:
    assert "/hooks" in check(tmp_path, LISTENS, {}).remedy
    assert ["trust" in step for step in integration(tmp_path).steps] == [True]


def test_codex_that_is_not_there_is_not_asked(tmp_path: Path) -> None:
    assert integration(tmp_path).checks == ()
