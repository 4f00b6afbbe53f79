"""What is ours in agents' files, written down in `integrations.json` of the home: never in the files themselves."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from memory_plane.copies import NAME
from memory_plane.errors import MemoryPlaneError
from memory_plane.integration import Block, Call, Copy, Edit, Element, Entry, OwnFile
from memory_plane.setup.errors import Kept
from memory_plane.setup.files import digest
from memory_plane.setup.files import replace as write_file
from memory_plane.setup.pointers import MISSING

VERSION = 1
BACKUPS = "agents-before"
"""The folder with the first content of each file that was changed, by its SHA-256."""

_KINDS: Mapping[str, type[Any]] = {
    "entry": Entry,
    "element": Element,
    "block": Block,
    "file": OwnFile,
    "copy": Copy,
    "call": Call,
}


@dataclass(frozen=True, slots=True)
class Record:
    """An edit that was made: `made` containers are ours too, `before` is what the entry held, if it was taken over.

    `over` are the entries that a command of the agent took over, each with what it held.
    """

    edit: Edit
    made: int = 0
    before: Any = MISSING
    over: tuple[Record, ...] = ()

    @property
    def key(self) -> tuple[Any, ...]:
        """Return what tells this edit from others, whatever it sets."""
        return key(self.edit)


@dataclass(frozen=True, slots=True)
class FileRecord:
    """A file that was changed: the digests of its content before the first and after the last edit, "" for no file.

    `after` are two while an edit is made: whoever is killed meanwhile may leave one or the other.
    """

    before: str
    after: tuple[str, ...]
    folders: tuple[str, ...] = ()

    def is_as_left(self, data: bytes | None) -> bool:
        """Tell whether nobody else has changed the content since."""
        return digest(data) in self.after


@dataclass(slots=True)
class Manifest:
    """Which edits each agent has, the files they are in, and the agents whose uninstall did not come to its end."""

    home: Path
    agents: dict[str, tuple[Record, ...]] = field(default_factory=dict)
    files: dict[str, FileRecord] = field(default_factory=dict)
    leaving: set[str] = field(default_factory=set)

    def others(self, agent: str) -> dict[tuple[Any, ...], Record]:
        """Return the edits of all agents but one, by their keys."""
        return {one.key: one for name, records in self.agents.items() if name != agent for one in records}

    def keep(self, data: bytes | None) -> str:
        """Keep the content of a file that will be changed; return its digest. Raise `Kept` if that fails."""
        name = digest(data)
        if data is not None and not (place := self.home / BACKUPS / name).exists():
            _write(place, data)
        return name

    def kept(self, name: str) -> bytes | None:
        """Return the content with a digest, None for no file; raise `Kept` if it is gone, or is another."""
        if not name:
            return None
        place = self.home / BACKUPS / name
        try:
            data = place.read_bytes()
        except OSError as error:
            raise Kept(f"{place}: cannot be read: {error.strerror}") from None
        if digest(data) != name:
            raise Kept(f"{place}: has been changed, and cannot be put back")
        return data

    def save(self) -> None:
        """Write the manifest, and drop the copies that nothing needs any more; raise `Kept` if that fails."""
        agents = {name: [_plain(one) for one in records] for name, records in self.agents.items()}
        files = {
            path: {"before": one.before, "after": list(one.after), "folders": list(one.folders)}
            for path, one in self.files.items()
        }
        held = {"version": VERSION, "agents": agents, "files": files, "leaving": sorted(self.leaving & agents.keys())}
        text = json.dumps(held, indent=2) + "\n"
        if self.agents or self.files:
            _write(self.home / NAME, text.encode())
        else:
            (self.home / NAME).unlink(missing_ok=True)
        needed = {one.before for one in self.files.values()}
        for place in (self.home / BACKUPS).glob("*"):
            if place.name not in needed:
                place.unlink(missing_ok=True)


def _write(place: Path, data: bytes) -> None:
    try:
        place.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        write_file(place, data, 0o600)
    except OSError as error:
        raise Kept(f"{place}: cannot be written: {error.strerror}") from None


def load(home: Path) -> Manifest:
    """Read the manifest of a home; raise `MemoryPlaneError` for one that is broken."""
    place = home / NAME
    try:
        held = json.loads(place.read_text("utf-8"))
        is_ours = held["version"] == VERSION
        agents = {name: tuple(map(_record, records)) for name, records in held["agents"].items()} if is_ours else {}
        files = {path: _file_record(one) for path, one in held["files"].items()} if is_ours else {}
        leaving = set(held.get("leaving", ()))
    except FileNotFoundError:
        return Manifest(home)
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise MemoryPlaneError(f"{place}: cannot be read ({error}); move it away, then run setup again") from None
    if not is_ours:
        raise MemoryPlaneError(f"{place}: was written by another version of Memory Plane; use that one, or update")
    return Manifest(home, agents, files, leaving)


def key(edit: Edit) -> tuple[Any, ...]:
    """Return what tells an edit from others, whatever it sets."""
    kind = type(edit).__name__
    match edit:
        case Entry():
            return kind, edit.path, edit.pointer
        case Element():
            return kind, edit.path, edit.pointer, json.dumps(edit.value, sort_keys=True)
        case Call():
            return kind, edit.what
        case _:
            return kind, edit.path


def _plain(record: Record) -> dict[str, Any]:
    held = _plain_edit(record.edit)
    if record.over:
        held["over"] = [_plain(one) for one in record.over]
    if record.made:
        held["made"] = record.made
    if record.before is not MISSING:
        held["before"] = record.before
    return held


def _plain_edit(edit: Edit) -> dict[str, Any]:
    kind = next(name for name, each in _KINDS.items() if isinstance(edit, each))
    return {"kind": kind} | {one.name: _json(getattr(edit, one.name)) for one in fields(edit)}


def _json(value: Any) -> Any:
    if isinstance(value, Entry | Element):
        return _plain_edit(value)
    if isinstance(value, Path):
        return str(value)
    return [_json(each) for each in value] if isinstance(value, tuple) else value


def _record(held: Mapping[str, Any]) -> Record:
    over = tuple(map(_record, held.get("over", ())))
    return Record(_edit(held), held.get("made", 0), held.get("before", MISSING), over)


def _edit(held: Mapping[str, Any]) -> Any:
    kind = _KINDS[held["kind"]]
    return kind(**{one.name: _read(one.name, held[one.name]) for one in fields(kind) if one.name in held})


def _file_record(held: Mapping[str, Any]) -> FileRecord:
    return FileRecord(str(held["before"]), tuple(held["after"]), tuple(held["folders"]))


def _read(name: str, value: Any) -> Any:
    if name in ("path", "folder"):
        return None if value is None else Path(value)
    if name == "touches":
        return tuple(map(Path, value))
    if name in ("sets", "leaves"):
        return tuple(map(_edit, value))
    if name in ("pointer", "asks", "reads"):
        return tuple(value)
    return tuple(map(tuple, value)) if name in ("do", "undo") else value
