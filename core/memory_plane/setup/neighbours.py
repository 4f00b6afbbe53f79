"""Other memories of the same person in the same files: who leaves tells who came later what was there before."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from memory_plane.errors import MemoryPlaneError
from memory_plane.integration import Call, Machine
from memory_plane.setup import calls, edits, plan
from memory_plane.setup.errors import Kept
from memory_plane.setup.files import digest, missing_folders, remove_folders
from memory_plane.setup.files import replace as write_file
from memory_plane.setup.manifest import FileRecord, Manifest, Record, key, load
from memory_plane.setup.plan import Change
from memory_plane.setup.pointers import MISSING

Renewed = Mapping[str, Mapping[str, bytes | None]]
"""By the place of a file and the digest of a content what that content is to be from now on, None for no file."""


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


def without(
    homes: Iterable[Path],
    leaving: Manifest,
    gone: Sequence[Record],
    left: Mapping[str, FileRecord],
    changes: Sequence[Change],
) -> Renewed:
    """Return what each content of a file that a memory knows of is without one that leaves, by place and digest."""
    renewed: dict[str, dict[str, bytes | None]] = {}
    for place, known in left.items():
        renewed[place] = dict.fromkeys(known.after, leaving.kept(known.before))
    for home in homes:
        with suppress(MemoryPlaneError):  # it is told of when that memory is to be told
            for place, name, data in _held(load(home)):
                if place in left and name not in renewed[place]:
                    renewed[place][name] = _taken_out(gone, place, data)
    for change in changes:
        renewed.setdefault(str(change.found.place), {})[digest(change.found.data)] = change.after
    return {place: {name: data for name, data in contents.items() if name} for place, contents in renewed.items()}


def inherit(heir: Manifest, gone: Sequence[Record], left: Mapping[str, FileRecord], renewed: Renewed) -> None:
    """Tell a memory what stood where one that leaves was before it, in each file in which it came later."""
    for agent, own in heir.agents.items():
        heir.agents[agent] = tuple(_without(one, gone) for one in own)
    for place, contents in renewed.items():
        if held := heir.files.get(place):
            folders = left[place].folders if place in left and held.before in left[place].after else ()
            heir.files[place] = FileRecord(
                heir.keep(contents[held.before]) if held.before in contents else held.before,
                tuple(digest(contents[one]) if one in contents else one for one in held.after),
                tuple(dict.fromkeys((*folders, *held.folders))),
            )


def _held(memory: Manifest) -> Iterator[tuple[str, str, bytes | None]]:
    """Yield what each file of a memory held before it, by place and digest, without those whose copy is lost."""
    for place, known in memory.files.items():
        with suppress(Kept):
            yield place, known.before, memory.kept(known.before)


def _taken_out(gone: Iterable[Record], place: str, data: bytes | None) -> bytes | None:
    paths = (one.edit.path for one in gone if not isinstance(one.edit, Call))
    for path in dict.fromkeys(path for path in paths if os.path.realpath(path) == place):
        data = plan.without(reversed(tuple(gone)), path, data)
    return data


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
