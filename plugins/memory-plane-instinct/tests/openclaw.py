"""A stand-in for OpenClaw's command: it knows what `setup` asks of it, and writes its file anew each time."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

import json5

CONFIG = Path(os.environ.get("OPENCLAW_STATE_DIR") or Path.home() / ".openclaw") / "openclaw.json"


def run(arguments: list[str]) -> str:
    """Do what is asked and return what is printed; exit with 1 for what is not there."""
    held: dict[str, Any] = json5.loads(CONFIG.read_text("utf-8")) if CONFIG.exists() else {}
    match arguments:
        case ["plugins", "install", "--link", folder, "--force", "--accept-capabilities"]:
            name = json.loads(Path(folder, "openclaw.plugin.json").read_text("utf-8"))["id"]
            paths = _get(held, ["plugins", "load", "paths"]) or []
            _set(held, ["plugins", "load", "paths"], [*paths, folder])
            _set(held, ["plugins", "entries", name, "enabled"], True)
        case ["plugins", "uninstall", name, "--force"]:
            held["plugins"].pop("load", None)
            held["plugins"]["entries"][name] = {"enabled": False}
        case ["plugins", "inspect", name, "--runtime", "--json"]:
            allowed = _get(held, ["plugins", "entries", name, "hooks", "allowConversationAccess"])
            return json.dumps({"typedHooks": [{"name": "before_prompt_build"}] if allowed else []}, indent=2)
        case ["mcp", "doctor", name, "--probe"]:
            return f"- {name}: {'ok' if _get(held, ['mcp', 'servers', name]) else 'missing'}"
        case ["mcp", "set", name, server]:
            _set(held, ["mcp", "servers", name], json.loads(server))
        case ["mcp", "unset", name]:
            _unset(held, ["mcp", "servers", name])
        case ["config", "get", path, "--json"]:
            if (value := _get(held, path.split("."))) is None:
                sys.exit(1)
            return json.dumps(value, ensure_ascii=False, indent=2)
        case ["config", "set", path, value, "--strict-json", *expected]:
            now = _get(held, path.split("."))
            if expected and now != (json.loads(expected[1]) if len(expected) == 2 else None):
                sys.exit("the conditional write did not match")
            _set(held, path.split("."), json.loads(value))
        case ["config", "unset", path]:
            _unset(held, path.split("."))
        case _:
            sys.exit(f"unknown: {arguments}")
    held.setdefault("meta", {})["lastTouchedVersion"] = "2026.9.6"
    CONFIG.write_text(json.dumps(held, ensure_ascii=False, indent=2), "utf-8")
    return "done"


def _get(held: Any, path: list[str]) -> Any:
    for name in path:
        held = held.get(name) if isinstance(held, dict) else None
    return held


def _set(held: Any, path: list[str], value: Any) -> None:
    for name in path[:-1]:
        held = held.setdefault(name, {})
    held[path[-1]] = value


def _unset(held: Any, path: list[str]) -> None:
    holder = _get(held, path[:-1])
    if not isinstance(holder, dict) or path[-1] not in holder:
        sys.exit(1)
    del holder[path[-1]]


if __name__ == "__main__":
    print(run(sys.argv[1:]))
