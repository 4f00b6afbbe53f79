"""Ask Codex whether it runs our hooks: `python trust.py CODEX LINE...`, as `doctor` does.

Codex runs a hook only after the person has trusted that very line, and passes over all others without a word. Its app
server tells which those are, as it tells its own user interface; nothing here trusts anything.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

TRUSTED = "every hook is trusted"
"""What is said where nothing is left to do; so it is of a Codex that cannot be asked."""

_ASKED = 1
_CLIENT = {"name": "memory-plane", "title": "Memory Plane", "version": "1"}


def main(arguments: Sequence[str]) -> str:
    """Return what Codex says of the hooks that run these lines."""
    program, *lines = arguments
    hooks = _hooks(program)
    if hooks is None:
        return f"{TRUSTED}, or this Codex does not tell"
    if missing := len(set(lines) - {hook.get("command") for hook in hooks}):
        return f"{missing} of {len(lines)} hooks are not loaded"
    waiting = len(set(lines) - {hook.get("command") for hook in hooks if _runs(hook)})
    return f"{waiting} of {len(lines)} hooks wait for your trust" if waiting else TRUSTED


def _runs(hook: Mapping[str, Any]) -> bool:
    return bool(hook.get("enabled")) and hook.get("trustStatus") in ("trusted", "managed")


def _hooks(program: str) -> list[Mapping[str, Any]] | None:
    """Return the hooks that Codex knows in this folder, None if it cannot be asked for them."""
    requests = (
        {"id": 0, "method": "initialize", "params": {"clientInfo": _CLIENT}},
        {"method": "initialized"},
        {"id": _ASKED, "method": "hooks/list", "params": {"cwds": [str(Path.cwd())]}},
    )
    answer: Mapping[str, Any] = {}
    with (
        suppress(OSError),  # it ended without listening
        subprocess.Popen(
            [program, "app-server"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        ) as server,
    ):
        assert server.stdin is not None
        assert server.stdout is not None
        for request in requests:
            server.stdin.write(json.dumps(request).encode() + b"\n")
        server.stdin.flush()
        answer = next(_answers(server.stdout), {})
    found = answer.get("result")
    return None if found is None else [hook for folder in found["data"] for hook in folder["hooks"]]


def _answers(said: Iterable[bytes]) -> Iterator[Mapping[str, Any]]:
    """Yield the answer to what was asked; Codex tells other things in between."""
    for line in said:
        with suppress(ValueError):
            message = json.loads(line)
            if isinstance(message, dict) and message.get("id") == _ASKED:
                yield message


if __name__ == "__main__":
    print(main(sys.argv[1:]))
