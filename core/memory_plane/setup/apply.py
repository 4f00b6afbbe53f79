"""Doing what was planned: one agent whole, or not at all; the manifest is written before the files."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from memory_plane.errors import MemoryPlaneError
from memory_plane.integration import Call
from memory_plane.setup import calls, edits, files, plan
from memory_plane.setup.errors import Broken, Kept
from memory_plane.setup.files import Found, digest
from memory_plane.setup.manifest import FileRecord, Manifest, load
from memory_plane.setup.plan import Change, Plan


@contextmanager
def manifest_of(home: Path) -> Iterator[Manifest]:
    """Read the manifest of a home, and let no other setup run meanwhile."""
    from filelock import FileLock, Timeout

    home.mkdir(mode=0o700, parents=True, exist_ok=True)
    try:
        with FileLock(home / ".setup.lock", timeout=0, mode=0o600):
            yield load(home)
    except Timeout:
        raise MemoryPlaneError(f"another setup is at work on {str(home)!r}; wait until it has ended") from None


def setup(planned: Plan, manifest: Manifest) -> None:
    """Tell an agent of Memory Plane as planned; raise `Kept` with everything as it was."""
    touched = [path for call in (*planned.first_undone, *planned.calls) for path in call.touches]
    with _all_or_nothing(manifest) as undo:
        before = [files.look(path) for path in touched]
        manifest.agents[planned.agent] = planned.records
        for change in planned.changes:
            _note(change, manifest)
        manifest.save()
        for change in planned.changes:
            _write(change, manifest, undo)
        for call in planned.first_undone:
            calls.make_room(call)
        for call in planned.calls:
            undo.append(lambda call=call: calls.undo(call))  # type: ignore[misc]
            calls.do(call)
        for found in before:
            _note_touched(found, manifest)
        if not planned.records:
            del manifest.agents[planned.agent]
        manifest.save()


def uninstall(planned: Plan, manifest: Manifest) -> list[str]:
    """Take out what is ours as planned; return what could not be taken back and why."""
    complaints = list(_undo(planned, manifest))
    with _all_or_nothing(manifest) as undo:
        for change in planned.changes:
            _write(change, manifest, undo)
    del manifest.agents[planned.agent]
    used = {str(path.resolve()) for records in manifest.agents.values() for one in records for path in _paths(one.edit)}
    for place in manifest.files.keys() - used:
        _remove_folders(manifest.files.pop(place).folders)
    for change in planned.changes:
        if known := manifest.files.get(str(change.found.place)):
            manifest.files[str(change.found.place)] = replace(known, after=digest(change.after))
    manifest.save()
    return complaints


def _undo(planned: Plan, manifest: Manifest) -> Iterator[str]:
    """Undo the calls, and give the files that they touched their old bytes; yield what could not be done and why."""
    others = {path.resolve() for one in manifest.others(planned.agent).values() for path in _paths(one.edit)}
    touched = dict.fromkeys(path for call in planned.calls for path in call.touches)
    as_left = {path for path in touched if path.resolve() not in others and _is_as_left(path, manifest)}
    for call in planned.calls:
        try:
            calls.undo(call)
        except Kept as error:
            as_left -= set(call.touches)
            yield str(error)
    for path in touched:
        try:
            _put_back(path, manifest, alone=path in as_left)
        except Kept as error:
            yield str(error)


def _note(change: Change, manifest: Manifest) -> None:
    """Keep what a file held before us, for the day when nothing else has changed in it."""
    place, data = str(change.found.place), change.found.data
    known = manifest.files.get(place)
    if known is None:
        before = data
    elif known.after == digest(data):
        before = manifest.kept(known.before)
    else:  # somebody has changed it since: what is ours is not part of what was there before
        records = [one for each in manifest.agents.values() for one in reversed(each)]
        before = plan.without(records, change.path, data)
    manifest.files[place] = FileRecord(manifest.keep(before), digest(change.after), known.folders if known else ())


def _note_touched(found: Found, manifest: Manifest) -> None:
    """Keep what a file held before an agent's command changed it, and what it held then, if nobody else changed it."""
    place, now = str(found.place), files.look(found.place)
    known = manifest.files.get(place)
    if now.data == found.data:
        return
    if known is None:
        manifest.files[place] = FileRecord(manifest.keep(found.data), digest(now.data))
    elif known.after == digest(found.data):
        manifest.files[place] = replace(known, after=digest(now.data))


def _write(change: Change, manifest: Manifest, undo: list[Callable[[], None]]) -> None:
    folders = files.write(change.found, change.after, change.mode)
    written = Found(change.found.place, change.after, change.mode)
    undo.append(lambda: _unwrite(written, change, folders))
    place = str(change.found.place)
    if folders and (known := manifest.files.get(place)):
        manifest.files[place] = replace(known, folders=(*known.folders, *map(str, folders)))


def _unwrite(written: Found, change: Change, folders: Iterable[Path]) -> None:
    files.write(written, change.found.data, change.found.mode)
    _remove_folders(map(str, folders))


def _is_as_left(path: Path, manifest: Manifest) -> bool:
    """Tell whether a file holds the very bytes that the agent's commands left, with what they note there besides."""
    try:
        found = files.look(path)
    except Kept:
        return False
    known = manifest.files.get(str(found.place))
    return known is not None and known.after == digest(found.data)


def _put_back(path: Path, manifest: Manifest, *, alone: bool) -> None:
    """Give a file its old bytes, if only the agent's commands changed it, or it means again what it did."""
    found = files.look(path)
    known = manifest.files.get(str(found.place))
    if known is not None:
        before = manifest.kept(known.before)
        if before != found.data and (alone or edits.same_meaning(path, found.data, before)):
            files.write(found, before, found.mode)


def _paths(edit: object) -> tuple[Path, ...]:
    return edit.touches if isinstance(edit, Call) else (edit.path,)  # type: ignore[attr-defined]


def _remove_folders(folders: Iterable[str]) -> None:
    """Remove the folders that were made for our files, innermost first, where nothing else came into them."""
    for folder in reversed(list(folders)):
        try:
            Path(folder).rmdir()
        except OSError:
            return


@contextmanager
def _all_or_nothing(manifest: Manifest) -> Iterator[list[Callable[[], None]]]:
    """Undo what was done, latest first, if what follows breaks off."""
    agents, known = dict(manifest.agents), dict(manifest.files)
    undo: list[Callable[[], None]] = []
    try:
        yield undo
    except BaseException as error:
        complaints = []
        for step in reversed(undo):
            try:
                step()
            except (Kept, Broken) as failed:
                complaints.append(str(failed))
        if not complaints:
            manifest.agents, manifest.files = agents, known
        manifest.save()
        if complaints and isinstance(error, Kept):
            raise Kept(f"{error}; and it could not be undone: {'; '.join(complaints)}") from None
        raise
