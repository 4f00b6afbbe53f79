"""A person with an OpenClaw of which only the command is a stand-in."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

CONFIG = b"""\
// my OpenClaw
{
  agents: { defaults: { model: { primary: 'local/fake' } } },
  memory: { search: { extraPaths: ["/srv/mine", { path: "/srv/notes", pattern: "*.md" }] } }, // two of mine
}
"""


@pytest.fixture
def person(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The home folder of a person who has an OpenClaw, and its command in the PATH."""
    folder = tmp_path / "Mías Ordner"
    (folder / ".openclaw").mkdir(parents=True)
    (folder / ".openclaw" / "openclaw.json").write_bytes(CONFIG)
    (folder / "bin").mkdir()
    program = folder / "bin" / "openclaw"
    program.write_text(
        f'#!/bin/sh\nexec "{sys.executable}" "{Path(__file__).with_name("openclaw.py")}" "$@"\n', "utf-8"
    )
    program.chmod(0o755)
    for name in ("HOME", "OPENCLAW_HOME", "OPENCLAW_PROFILE", "OPENCLAW_CONFIG_PATH", "OPENCLAW_WORKSPACE_DIR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.delenv("OPENCLAW_STATE_DIR", raising=False)
    monkeypatch.setenv("HOME", str(folder))
    monkeypatch.setenv("PATH", str(folder / "bin"))
    return folder
