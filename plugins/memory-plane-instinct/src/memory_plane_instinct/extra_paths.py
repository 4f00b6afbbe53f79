"""Add a folder to those that OpenClaw's memory search reads, or take it out, by its own command: all others stay."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence

PATHS = "memory.search.extraPaths"
SECONDS = 100


def main(arguments: Sequence[str]) -> int:
    """Run `PROGRAM add|remove FOLDER`; return the exit code of OpenClaw."""
    program, act, folder = arguments
    held = _held(program)
    others = [path for path in held or () if path != folder]
    wished = [*others, folder] if act == "add" else others
    if wished == held or (not wished and held is None):
        return 0
    if not wished:
        return _run(program, "config", "unset", PATHS).returncode
    unchanged = ("--expect-current-absent",) if held is None else ("--expect-current-json", json.dumps(held))
    done = _run(program, "config", "set", PATHS, json.dumps(wished), "--strict-json", *unchanged)
    sys.stderr.write(done.stderr)
    return done.returncode


def _held(program: str) -> list[object] | None:
    """Return what is set, None for nothing."""
    done = _run(program, "config", "get", PATHS, "--json")
    try:
        held = json.loads(done.stdout) if done.returncode == 0 else None
    except ValueError:
        return None
    return held if isinstance(held, list) else None


def _run(*command: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command, stdin=subprocess.DEVNULL, capture_output=True, encoding="utf-8", errors="replace", timeout=SECONDS,
        check=False,
    )  # fmt: skip


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
