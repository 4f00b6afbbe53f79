"""docs/operations.md: every `sh` block runs, in order and in one home."""

from __future__ import annotations

import os
import re
import shlex
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from memory_plane.surfaces import background

PAGE = Path(__file__).parents[1] / "docs" / "operations.md"
BLOCKS = re.findall(r"^```sh\n(.*?)^```$", PAGE.read_text("utf-8"), re.DOTALL | re.MULTILINE)


@pytest.mark.skipif(os.name != "posix", reason="a shell of POSIX")
def test_every_block_runs(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    command = tmp_path / "bin" / "memory-plane"
    command.parent.mkdir()
    command.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -m memory_plane "$@"\n', "utf-8")
    command.chmod(0o755)
    monkeypatch.setenv("PATH", f"{command.parent}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("MEMORY_PLANE_HUB__PORT", str(free_port()))
    said = []
    try:
        for block in BLOCKS:
            done = subprocess.run(["sh", "-ec", block], cwd=tmp_path, capture_output=True, text=True, timeout=300)
            assert (done.returncode, done.stderr) == (0, ""), (block, done)
            said.append(done.stdout)
    finally:
        background.stop(home)
    assert "the hub is up at" in said[0]
    assert "restored 1 operations" in said[2]
    assert "duplicate    1" in said[3]
    assert "the database is sound" in said[-1]


def free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])
