"""Where OpenClaw keeps its state, its configuration and the workspaces of its agents."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import json5

from memory_plane.integration import Machine

VARIABLES = (
    "OPENCLAW_HOME",
    "OPENCLAW_STATE_DIR",
    "OPENCLAW_CONFIG_PATH",
    "OPENCLAW_PROFILE",
    "OPENCLAW_WORKSPACE_DIR",
)
"""What moves it."""
LARGEST = 1024 * 1024
WORKSPACES = 16

_VARIABLE = re.compile(r"\$\{([A-Z_][A-Z0-9_]*)\}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Places:
    """`workspaces` are those of all agents, first that of the main one; none of it need be there."""

    state: Path
    config: Path
    workspaces: tuple[Path, ...]


def find(machine: Machine, state: Path | None = None) -> Places:
    """Return where OpenClaw keeps what, as it finds it itself; `state` is its folder, if it is known."""
    look = _Look(machine, state)
    config = look.named("OPENCLAW_CONFIG_PATH") or look.state / "openclaw.json"
    workspaces = list(dict.fromkeys(look.workspaces(_read(config))))
    return Places(state=look.state, config=config, workspaces=tuple(workspaces[:WORKSPACES]))


def moved(machine: Machine, state: Path | None = None) -> dict[str, str]:
    """Return the variables that move OpenClaw: its commands are to mean the same one later."""
    named = {name: machine.environment[name] for name in VARIABLES if machine.environment.get(name, "").strip()}
    return named | ({"OPENCLAW_STATE_DIR": str(state)} if state else {})


class _Look:
    def __init__(self, machine: Machine, state: Path | None) -> None:
        self.environment = machine.environment
        self.home = machine.folder("OPENCLAW_HOME", "")
        self.moved = state or self.named("OPENCLAW_STATE_DIR")
        older, newer = self.home / ".clawdbot", self.home / ".openclaw"
        self.state = self.moved or (older if older.is_dir() and not newer.exists() else newer)

    def named(self, variable: str) -> Path | None:
        value = self.environment.get(variable, "").strip()
        return self._path(value) if value else None

    def workspaces(self, config: Mapping[str, Any]) -> Iterator[Path]:
        """Yield the workspace of each agent: a sole one inherits the default, several have one each below it."""
        agents = _object(config, "agents")
        base = self._set(_object(agents, "defaults").get("workspace"))
        roster = dict(sorted(_roster(agents), key=lambda one: one[0] != "main")) or {"main": {}}
        for name, entry in roster.items():
            if own := self._set(entry.get("workspace")):
                yield own
            elif len(roster) == 1 or entry.get("default") is True:
                yield base or self._default()
            else:
                yield base / name if base else self.state / f"workspace-{name}"

    def _default(self) -> Path:
        if named := self.named("OPENCLAW_WORKSPACE_DIR"):
            return named
        profile = self.environment.get("OPENCLAW_PROFILE", "").strip()
        if not self.moved and profile and profile.lower() != "default":
            return self.home / f".openclaw-{profile}" / "workspace"
        return (self.moved or self.home / ".openclaw") / "workspace"

    def _set(self, value: object) -> Path | None:
        if not isinstance(value, str) or not value.strip():
            return None
        return self._path(_VARIABLE.sub(lambda found: self.environment.get(found[1], found[0]), value.strip()))

    def _path(self, value: str) -> Path:
        return self.home / value[1:].lstrip("/\\") if value.startswith("~") else self.home / value


def _roster(agents: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield the agents by their ids, from the object of today or the list of old."""
    entries = agents.get("entries")
    if isinstance(entries, dict):
        yield from ((name, entry) for name, entry in entries.items() if isinstance(entry, dict))
        return
    for entry in agents.get("list") or () if isinstance(agents.get("list"), list) else ():
        if isinstance(entry, dict) and isinstance(entry.get("id"), str):
            yield entry["id"], entry


def _object(value: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    held = value.get(name)
    return held if isinstance(held, dict) else {}


def _read(config: Path) -> Mapping[str, Any]:
    """Return what the configuration says, {} for one that is not there or cannot be read."""
    try:
        text = config.read_text("utf-8-sig") if config.stat().st_size <= LARGEST else ""
    except (OSError, ValueError):
        return {}
    for load in (json.loads, json5.loads):
        try:
            held = load(text)
        except (ValueError, RecursionError):
            continue
        return held if isinstance(held, dict) else {}
    return {}
