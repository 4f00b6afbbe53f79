"""Doing what was planned: one agent whole, or not at all; the manifest is written before the files."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import partial
from itertools import chain
from pathlib import Path

from memory_plane.copies import NAME
from memory_plane.errors import MemoryPlaneError
from memory_plane.integration import Call, Copy, Edit, OwnFile
from memory_plane.setup import calls, edits, files, neighbours, plan
from memory_plane.setup.errors import Broken, Kept
from memory_plane.setup.files import Found, digest
from memory_plane.setup.manifest import FileRecord, Manifest, Record, load
from memory_plane.setup.plan import Change, Plan


@contextmanager
def manifest_of(home: Path) -> Iterator[Manifest]:
    """Read the manifest of a home, and let no other setup run meanwhile."""
    from filelock import FileLock, Timeout

    home.mkdir(mode=0o700, parents=True, exist_ok=True)
    try:
        with FileLock(home / ".setup.lock", timeout=0, mode=0o600):
            manifest = load(home)
            for place in (home / NAME, *map(Path, manifest.files)):
                files.sweep(place)
            yield manifest
    except Timeout:
        raise MemoryPlaneError(f"another setup is at work on {str(home)!r}; wait until it has ended") from None


def setup(planned: Plan, manifest: Manifest) -> None:
    """Tell an agent of Memory Plane as planned; raise `Kept` with everything as it was."""
    touched = [path for call in (*planned.first_undone, *planned.calls) for path in call.touches]
    going = [one for one in manifest.agents.get(planned.agent, ()) if one not in planned.records]
    with _all_or_nothing(manifest) as undo:
        before = [files.look(path) for path in dict.fromkeys(touched)]
        _come_last(planned, going, manifest)
        # What is about to go is noted until it is gone: whoever is killed in between still knows all that is ours.
        manifest.agents[planned.agent] = (*going, *planned.records)
        for change in planned.changes:
            _note(change, manifest)
        for found in before:
            known = FileRecord(manifest.keep(found.data), (digest(found.data),))
            manifest.files.setdefault(str(found.place), known)
        manifest.save()
        neighbours.note(manifest.home, is_in_use=True)
        for change in planned.changes:
            _write(change, undo)
        _run(planned, before, undo, manifest)
        kept = {one.key for one in planned.records}
        for one in going:
            if one.key not in kept:
                _give_back(one)
        manifest.agents[planned.agent] = planned.records
        manifest.leaving.discard(planned.agent)
        _settle(planned.changes, manifest)
        manifest.save()


def uninstall(planned: Plan, manifest: Manifest) -> list[str]:
    """Take out what is ours as planned; return what is not as it was, and why.

    Raise `Kept` where an agent's command failed: what it should have taken back stays noted, with the files of ours
    that it was told of, and all else is out.
    """
    records, known = manifest.agents[planned.agent], dict(manifest.files)
    manifest.leaving.add(planned.agent)
    manifest.save()
    failed, complaints = _undo(planned, manifest)
    staying = tuple(one for one in records if one.edit in failed or _is_named(one.edit, failed))
    changes = _without_whole(planned.changes, staying, manifest.others(planned.agent).values())
    with _all_or_nothing(manifest) as undo:
        for change in changes:
            _write(change, undo)
    manifest.agents[planned.agent] = staying
    if not failed:
        del manifest.agents[planned.agent]
        manifest.leaving.discard(planned.agent)
    used = {_real(path) for records in manifest.agents.values() for one in records for path in _paths(one.edit)}
    left = {place: manifest.files.pop(place) for place in manifest.files.keys() - used}
    complaints += _hand_on([one for one in records if one not in staying], left, changes, manifest)
    for one in left.values():
        files.remove_folders(one.folders)
    # Where somebody else has changed a file, what is left of it is not what we made of it.
    _settle([one for one in changes if _is_noted(one, known)], manifest)
    manifest.save()
    neighbours.note(manifest.home, is_in_use=bool(manifest.agents))
    if failed:
        raise Kept(
            f"{'; '.join(complaints)}; all but that, and our files that it names, is taken out; when it is mended, "
            f"run: memory-plane uninstall {planned.agent}"
        )
    return complaints


def _is_named(edit: Edit, failed: Iterable[Call]) -> bool:
    """Tell whether a file is ours whole, and an agent was told of it, or of its folder, that did not take that back."""
    if not isinstance(edit, OwnFile | Copy):
        return False
    told = {Path(word) for call in failed for command in call.do for word in command}
    return not told.isdisjoint((edit.path, *edit.path.parents))


def _without_whole(changes: Iterable[Change], *staying: Iterable[Record]) -> list[Change]:
    """Return the changes but those of files of ours that stay whole."""
    whole = {_real(one.edit.path) for one in chain(*staying) if isinstance(one.edit, OwnFile | Copy)}
    return [one for one in changes if str(one.found.place) not in whole]


def _is_noted(change: Change, known: Mapping[str, FileRecord]) -> bool:
    place = str(change.found.place)
    return place in known and known[place].is_as_left(change.found.data)


def _come_last(planned: Plan, going: Iterable[Record], manifest: Manifest) -> None:
    """Where another memory had taken over from this one, which now takes over again, tell it that it came first."""
    now = {one.key: (one.before, one.over) for one in planned.records}
    again = [one for one in going if now.get(one.key, (one.before, one.over)) != (one.before, one.over)]
    if not again:
        return
    touched = [files.look(path) for one in again if isinstance(one.edit, Call) for path in one.edit.touches]
    left = {
        place: manifest.files[place]
        for place, data in (
            (str(found.place), found.data) for found in (*(change.found for change in planned.changes), *touched)
        )
        if place in manifest.files and not manifest.files[place].is_as_left(data)
    }
    changes = [
        replace(change, after=_without_ours(change, manifest))
        for change in planned.changes
        if str(change.found.place) in left
    ]
    for complaint in _hand_on(manifest.agents[planned.agent], left, changes, manifest):
        raise Kept(complaint)
    for found in touched:
        if str(found.place) in left:  # what it holds now is what was there before this one
            manifest.files.pop(str(found.place), None)


def _without_ours(change: Change, manifest: Manifest) -> bytes | None:
    records = [one for each in manifest.agents.values() for one in reversed(each)]
    return plan.without(records, change.path, change.found.data)


def _hand_on(
    gone: Sequence[Record], left: Mapping[str, FileRecord], changes: Sequence[Change], manifest: Manifest
) -> Iterator[str]:
    """Tell other memories what was before this one; yield why one could not be told."""
    homes = [home for home in neighbours.others(manifest.home) if (home / NAME).is_file()]
    try:
        renewed = neighbours.without(homes, manifest, gone, left, changes)
    except (Kept, MemoryPlaneError) as error:
        yield f"other memories do not know what was before this one: {error}"
        return
    for home in homes:
        try:
            with manifest_of(home) as other:
                neighbours.inherit(other, gone, left, renewed)
                other.save()
        except MemoryPlaneError as error:
            yield f"the memory in {home} does not know what was before this one: {error}"


def _undo(planned: Plan, manifest: Manifest) -> tuple[list[Call], list[str]]:
    """Undo the calls, and give the files that they touched their old bytes; return what failed, and all complaints."""
    others = {_real(path) for one in manifest.others(planned.agent).values() for path in _paths(one.edit)}
    touched = dict.fromkeys(path for call in planned.calls for path in call.touches)
    as_left = {path for path in touched if _real(path) not in others and _is_as_left(path, manifest)}
    failed, complaints, begun = [], [], frozenset(as_left)
    for call in planned.calls:
        try:
            _undo_call(call, as_left)
            for one in (one for one in manifest.agents[planned.agent] if one.edit == call):
                _give_back(one)
        except Kept as error:
            as_left -= set(call.touches)
            failed += [call] if calls.can_run(call) else []
            complaints.append(str(error))
    done = [call for call in planned.calls if call not in failed]
    for path in touched:
        try:
            found = _put_back(path, done, manifest, alone=path in as_left)
        except Kept as error:
            complaints.append(str(error))
            continue
        if path in begun:  # whatever they did not finish, nobody else has changed it
            place = str(found.place)
            manifest.files[place] = replace(manifest.files[place], after=(digest(found.data),))
    return failed, complaints


def _undo_call(call: Call, as_left: set[Path]) -> None:
    """Undo a call, unless its agent is gone and the old bytes of its files say the same; mend what it spoils."""
    if as_left.issuperset(call.touches) and call.touches and not calls.can_run(call):
        return
    before, complaint = [files.look(path) for path in call.touches], None
    try:
        calls.undo(call)
    except Kept as error:
        complaint = error
    finally:
        _mend(before)
    # A command that has nothing more to take back may fail; where the agent's files tell, they have the last word.
    if complaint and (not call.sets or calls.is_left(call)):
        raise complaint


def _mend(before: Iterable[Found]) -> None:
    """Give files their bytes again that an agent's command has torn or emptied."""
    for found in before:
        now = files.look(found.place)
        if edits.is_lost(found.place, now.data, found.data):
            files.write(now, found.data, found.mode)


def _give_back(record: Record) -> None:
    """Put back what an agent's command took over, where nothing stands in its place."""
    for one in record.over:
        path = one.edit.path  # type: ignore[union-attr]
        found = files.look(path)
        try:
            after = edits.put_back(one, found.data)
        except Broken as error:
            raise Kept(f"{path}: {error}") from None
        if after != found.data:
            files.write(found, after, found.mode)


def _note(change: Change, manifest: Manifest) -> None:
    """Keep what a file held before us, for the day when nothing else has changed in it, and what it may hold now."""
    place, data = str(change.found.place), change.found.data
    known = manifest.files.get(place)
    kept = known.before if known else manifest.keep(data)
    if known and not known.is_as_left(data):
        # Somebody has changed it since: what is ours is not part of what was there before.
        kept = manifest.keep(_without_ours(change, manifest))
    made = (*(known.folders if known else ()), *map(str, files.missing_folders(change.found.place)))
    manifest.files[place] = FileRecord(kept, (digest(data), digest(change.after)), tuple(dict.fromkeys(made)))


def _settle(changes: Iterable[Change], manifest: Manifest) -> None:
    """Note that the changes are made."""
    for change in changes:
        if known := manifest.files.get(place := str(change.found.place)):
            manifest.files[place] = replace(known, after=(digest(change.after),))


def _run(planned: Plan, before: Sequence[Found], undo: list[Callable[[], None]], manifest: Manifest) -> None:
    """Run the agent's commands, and note what they left in the files that nobody else had changed before."""
    left = {found.place: digest(found.data) for found in before}
    undo.append(lambda: _take_back(planned, before, left))
    for call in planned.first_undone:
        calls.make_room(call, for_itself=call in planned.calls)
        left.update((place, digest(files.look(place).data)) for place in left)
    for call in planned.calls:
        calls.do(call)
        left.update((place, digest(files.look(place).data)) for place in left)
    for found in before:
        known = manifest.files[str(found.place)]
        if known.is_as_left(found.data):
            manifest.files[str(found.place)] = replace(known, after=(left[found.place],))


def _take_back(planned: Plan, before: Iterable[Found], left: Mapping[Path, str]) -> None:
    """Undo calls, and give each file that they touched its bytes again, unless somebody else has written there."""
    as_left = {place for place, seen in left.items() if digest(files.look(place).data) == seen}
    _mend(before)
    giving = [partial(_give_back, one) for one in planned.records]
    complaints = list(_undone([*giving, *(partial(calls.undo, call) for call in planned.calls)]))
    for found in before:
        now = files.look(found.place)
        if found.place in as_left or _says_no_more(now, found):
            files.write(now, found.data, found.mode)
    if complaints:
        raise Kept("; ".join(complaints))


def _says_no_more(now: Found, before: Found) -> bool:
    """Tell whether nothing is lost with what a file holds now: it means the same, or is torn, or was not there."""
    place, data = now.place, before.data
    return data is None or edits.is_lost(place, now.data, data) or edits.same_meaning(place, now.data, data)


def _write(change: Change, undo: list[Callable[[], None]]) -> None:
    folders = files.write(change.found, change.after, change.mode)
    written = Found(change.found.place, change.after, change.mode)
    undo.append(lambda: _unwrite(written, change, folders))


def _unwrite(written: Found, change: Change, folders: Iterable[Path]) -> None:
    files.write(written, change.found.data, change.found.mode)
    files.remove_folders(folders)


def _is_as_left(path: Path, manifest: Manifest) -> bool:
    """Tell whether a file holds the very bytes that the agent's commands left, with what they note there besides."""
    try:
        found = files.look(path)
    except Kept:
        return False
    known = manifest.files.get(str(found.place))
    return known is not None and known.is_as_left(found.data)


def _put_back(path: Path, done: Iterable[Call], manifest: Manifest, *, alone: bool) -> Found:
    """Give a file its old bytes, if only the agent's commands changed it, or it means again what it did.

    Otherwise take out what agents leave there of ours. Return the file as it is then.
    """
    found = files.look(path)
    known = manifest.files.get(str(found.place))
    if known is None:
        return found
    before = manifest.kept(known.before)
    after = calls.tidied(path, found.data, before, done)
    if alone or edits.adds_nothing(path, after, before):
        after = before
    if after != found.data:
        files.write(found, after, found.mode)
    return replace(found, data=after)


def _real(path: Path) -> str:
    return os.path.realpath(path)


def _paths(edit: object) -> tuple[Path, ...]:
    return edit.touches if isinstance(edit, Call) else (edit.path,)  # type: ignore[attr-defined]


@contextmanager
def _all_or_nothing(manifest: Manifest) -> Iterator[list[Callable[[], None]]]:
    """Undo what was done, latest first, if what follows breaks off."""
    agents, known = dict(manifest.agents), dict(manifest.files)
    undo: list[Callable[[], None]] = []
    try:
        yield undo
    except BaseException as error:
        complaints = list(_undone(undo))
        if not complaints:
            manifest.agents, manifest.files = agents, known
        with suppress(Kept):  # then that of before stands, which knows more
            manifest.save()
            neighbours.note(manifest.home, is_in_use=bool(manifest.agents))
        if complaints and isinstance(error, Kept):
            raise Kept(f"{error}; and it could not be undone: {'; '.join(complaints)}") from None
        raise


def _undone(undo: Sequence[Callable[[], None]]) -> Iterator[str]:
    """Undo what was done, latest first; yield what could not be."""
    for step in reversed(undo):
        try:
            step()
        except Kept as error:
            yield str(error)
