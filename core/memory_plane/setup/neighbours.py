"""Other memories of the same person in the same files: who leaves tells who came later what was there before."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from memory_plane.integration import Call, Machine
from memory_plane.setup import calls, edits
from memory_plane.setup.errors import Kept
from memory_plane.setup.files import digest, missing_folders, remove_folders
from memory_plane.setup.files import replace as write_file
from memory_plane.setup.manifest import FileRecord, Manifest, Record, key
from memory_plane.setup.plan import Change
from memory_plane.setup.pointers import MISSING


def note(home: Path, *, is_in_use: bool) -> None:
    """List a home that has something in agents' files, or take it off the list; raise `Kept` if that fails."""
    place = _place(home)
    homes, folders = _listed(place)
    wished = [*(one for one in homes if one != str(home)), *([str(home)] if is_in_use else [])]
    if sorted(wished) == sorted(homes):
        return
    try:
        if not wished:
            place.unlink(missing_ok=True)
            remove_folders(folders)
            return
        folders = folders or [str(folder) for folder in missing_folders(place)]
        place.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        write_file(place, (json.dumps({"homes": wished, "folders": folders}, indent=2) + "\n").encode(), 0o600)
    except OSError as error:
        raise Kept(f"{place}: cannot be written: {error.strerror}") from None


def others(home: Path) -> list[Path]:
    """Return the other homes that have something in agents' files."""
    return [Path(one) for one in _listed(_place(home))[0] if one != str(home)]


def inherit(
    heir: Manifest, leaving: Manifest, gone: Sequence[Record], left: Mapping[str, FileRecord], changes: Iterable[Change]
) -> None:
    """Tell a memory what stood where one that leaves was before it, in each file in which it came right after."""
    for agent, own in heir.agents.items():
        heir.agents[agent] = tuple(_without(one, gone) for one in own)
    written = {str(change.found.place): change for change in changes}
    for place, known in left.items():
        held = heir.files.get(place)
        if held is None or held.before not in known.after:
            continue
        change, after = written.get(place), held.after
        if change is not None and held.is_as_left(change.found.data):
            after = (digest(change.after),)
        before = heir.keep(leaving.kept(known.before))
        heir.files[place] = FileRecord(before, after, tuple(dict.fromkeys((*known.folders, *held.folders))))


def _without(record: Record, gone: Iterable[Record]) -> Record:
    """Return a record that gives back what stood there before those that are gone, instead of what they had set."""
    for one in gone:
        if isinstance(one.edit, Call):
            over = [each for each in record.over if not _is_of(each, one.edit)]
            if len(over) < len(record.over):
                record = replace(record, over=(*over, *one.over))
        elif one.key == record.key and record.before is not MISSING and record.before == edits.wanted(one.edit):
            record = replace(record, before=one.before, made=one.made)
    return record


def _is_of(taken: Record, call: Call) -> bool:
    return any(key(edit) == taken.key and calls.holds(taken.before, edit.value) for edit in call.sets)


def _place(home: Path) -> Path:
    return Machine.here(home).settings() / "memory-plane" / "homes.json"


def _listed(place: Path) -> tuple[list[str], list[str]]:
    try:
        held = json.loads(place.read_text("utf-8"))
        return [str(one) for one in held["homes"]], [str(one) for one in held["folders"]]
    except (OSError, ValueError, KeyError, TypeError):
        return [], []
