"""The table of formats, `agents.toml`, read once."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from memory_plane.integration import Machine

Row = Mapping[str, Any]
"""What the table says of one agent."""

_FOLDERS = {"APPDATA": "AppData/Roaming", "XDG_CONFIG_HOME": ".config"}
"""Where the folder of a variable is while nothing sets it."""


@cache
def rows() -> Mapping[str, Row]:
    """Return the table, by the agents' ids."""
    return tomllib.loads(resource("agents.toml"))


def resource(name: str) -> str:
    """Return the text of a file that comes with this package."""
    return files("memory_plane_clients").joinpath(name).read_text("utf-8")


def folder(row: Row, machine: Machine) -> Path:
    """Return the folder of an agent's settings."""
    place = row["folder"]
    if not isinstance(place, str):
        place = place.get(machine.platform, place["linux"])
    default = _place(place, machine)
    variable = row.get("folder_variable")
    return machine.folder(variable, str(default)) if variable else default


def file(name: str | list[str], base: Path, machine: Machine) -> Path:
    """Return the place of a file: of several names the first that is there, else the last."""
    names = [name] if isinstance(name, str) else name
    places = [_place(each, machine) if each[0] in "~$" else base / each for each in names]
    return next((place for place in places if place.exists()), places[-1])


def fields(row: Row, payload: Mapping[str, Any], wanted: Mapping[str, str | list[str]]) -> dict[str, str]:
    """Return the texts that stand at dotted paths of a payload, "" for what is none; of a list its first."""
    return {name: _first(payload, paths) for name, paths in {**row.get("fields", {}), **wanted}.items()}


def spoken(row: Row, answer: str) -> str:
    """Return what the agent said last of an answer that tells all its steps."""
    said = row.get("said")
    return re.sub(said["without"], "", answer.rpartition(said["last"])[2], flags=re.MULTILINE) if said else answer


def _first(payload: Mapping[str, Any], paths: str | list[str]) -> str:
    """Return the first text that stands at one of the paths."""
    return next(filter(None, (_text(payload, path) for path in ([paths] if isinstance(paths, str) else paths))), "")


def _text(payload: Mapping[str, Any], path: str) -> str:
    value: Any = payload
    for key in path.split("."):
        value = value.get(key) if isinstance(value, Mapping) else None
    value = next(iter(value), "") if isinstance(value, list) else value
    return value if isinstance(value, str) else ""


def _place(place: str, machine: Machine) -> Path:
    start, _, rest = place.partition("/")
    if start == "~":
        return machine.home / rest
    if start == "$SETTINGS":
        return machine.settings() / rest
    variable = start.removeprefix("$")
    return machine.folder(variable, _FOLDERS[variable]) / rest


def filled(value: Any, words: Mapping[str, Any]) -> Any:
    """Return the value with what stands in braces filled in."""
    if isinstance(value, Mapping):
        return {name: filled(inner, words) for name, inner in value.items()}
    if isinstance(value, list):
        return [filled(inner, words) for inner in value]
    return words.get(value, value) if isinstance(value, str) else value
