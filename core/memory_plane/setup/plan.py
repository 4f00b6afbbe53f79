"""What `setup` and `uninstall` would do, worked out before anything is done."""

from __future__ import annotations

import difflib
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from memory_plane.integration import Call, Integration, OwnFile
from memory_plane.redact import redact
from memory_plane.setup import calls, edits, files
from memory_plane.setup.errors import Broken, Kept
from memory_plane.setup.files import Found
from memory_plane.setup.manifest import Manifest, Record, key
from memory_plane.setup.pointers import MISSING


@dataclass(frozen=True, slots=True)
class Change:
    """One file: `found` is what must still be there when it is written; `after` None removes it."""

    path: Path
    found: Found
    after: bytes | None
    mode: int

    def diff(self) -> str:
        """Return the change as a unified diff: secrets are cut, otherwise no two contents look the same."""
        before, after = self.found.data, self.after
        one, other = ("/dev/null" if data is None else str(self.path).replace("\n", "\\n") for data in (before, after))
        lines = list(difflib.unified_diff(_lines(before), _lines(after), one, other, lineterm=""))
        text = redact("\n".join(lines or [f"--- {one}", f"+++ {other}"]))
        return "".join(one if one in "\n\t" else _SIGNS.get(one) or _visible(one) for one in text)


_SIGNS = {"\r": "␍", "␍": "⟦240D⟧", "⟦": "⟦27E6⟧"}
"""How a diff shows the end of a line of Windows, and the signs that it shows other things by."""


def _lines(data: bytes | None) -> list[str]:
    """Split at line feeds alone; what comes after the last says so."""
    *lines, rest = (data or b"").decode("utf-8", "surrogateescape").split("\n")
    return [*lines, f"{rest}\n\\ No newline at end of file"] if rest else lines


def _visible(one: str) -> str:
    return one if one.isprintable() else f"⟦{ord(one):02X}⟧"


@dataclass(frozen=True, slots=True)
class Plan:
    """What happens for one agent: all of it or, where anything is `refused`, nothing.

    `first_undone` are calls of earlier, or somebody else's that are taken over, which make room for `calls`; `foretold`
    is about what the `calls` will change.
    """

    agent: str
    name: str
    changes: tuple[Change, ...] = ()
    calls: tuple[Call, ...] = ()
    foretold: tuple[Change, ...] = ()
    first_undone: tuple[Call, ...] = ()
    records: tuple[Record, ...] = ()
    refused: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def is_idle(self) -> bool:
        """Tell whether there is nothing to do."""
        return not self.changes and not self.calls and not self.first_undone

    def touched(self) -> list[Found]:
        """Return the files that its commands change as they are now, without those that cannot be read."""
        held = []
        for path in dict.fromkeys(path for call in (*self.first_undone, *self.calls) for path in call.touches):
            with suppress(Kept):
                held.append(Found(path, files.read(path), 0o600))
        return held


@dataclass(slots=True)
class Desk:
    """The files as they will be after what is planned so far: agents may share one."""

    found: dict[Path, Found] = field(default_factory=dict)
    held: dict[Path, bytes | None] = field(default_factory=dict)

    def look(self, path: Path) -> Found:
        """Return a file as it will be then; raise `Kept` for one that is not ours to change."""
        found = self.found.get(path)
        if found is None:
            found = self.found[path] = files.look(path)
            self.held.setdefault(found.place, found.data)
        return Found(found.place, self.held[found.place], found.mode)


class _Draft:
    """The changes of one agent; they reach the desk when all of them are possible."""

    def __init__(self, desk: Desk) -> None:
        self.desk = desk
        self.begun: dict[Path, Found] = {}
        self.paths: dict[Path, Path] = {}
        self.held: dict[Path, bytes | None] = {}
        self.modes: dict[Path, int] = {}

    def read(self, path: Path) -> bytes | None:
        found = self.desk.look(path)
        self.paths.setdefault(found.place, path)
        self.begun.setdefault(found.place, found)
        return self.held.setdefault(found.place, found.data)

    def write(self, path: Path, data: bytes | None, mode: int | None = None) -> None:
        place = self.desk.look(path).place
        self.held[place] = data
        if mode is not None:
            self.modes[place] = mode

    def changes(self) -> tuple[Change, ...]:
        """Return what changes, and tell the desk."""
        self.desk.held |= self.held
        return tuple(
            Change(self.paths[place], found, self.held[place], self.modes.get(place, found.mode))
            for place, found in self.begun.items()
            if self.held[place] != found.data
        )


def setups(integrations: Iterable[Integration], manifest: Manifest, *, take_over: bool = False) -> list[Plan]:
    """Plan how each agent is told of Memory Plane; agents may share files and what is written there."""
    desk, then, plans = Desk(), Manifest(manifest.home, dict(manifest.agents), manifest.files), []
    for integration in integrations:
        planned = _setup(integration, then, desk, take_over=take_over)
        if not planned.refused:
            then.agents[planned.agent] = planned.records
        plans.append(planned)
    return plans


def uninstalls(names: Mapping[str, str], manifest: Manifest) -> list[Plan]:
    """Plan how what is ours is taken out of the files of agents, and only that; `names` are by agent."""
    desk, then, plans = Desk(), Manifest(manifest.home, dict(manifest.agents), manifest.files), []
    for agent, name in names.items():
        planned = _uninstall(agent, name, then, desk)
        if not planned.refused:
            del then.agents[agent]
        plans.append(planned)
    return plans


def _setup(integration: Integration, manifest: Manifest, desk: Desk, *, take_over: bool) -> Plan:
    draft, own = _Draft(desk), manifest.agents.get(integration.agent, ())
    others = manifest.others(integration.agent)
    wanted = {key(edit) for edit in integration.edits}
    stale = [one for one in own if one.key not in wanted and one.key not in others]
    notes = list(_take_back((one for one in reversed(stale) if not isinstance(one.edit, Call)), draft))
    known = (*own, *others.values())
    records, told, refused = _of_files(integration, known, draft, take_over)
    notes += told
    if refused:
        return Plan(integration.agent, integration.name, refused=tuple(refused), records=own)
    wishes = [_wish(edit, own, draft, take_over) for edit in integration.edits if isinstance(edit, Call)]
    refused = [one.refused for one in wishes if one.refused]
    if refused:
        return Plan(integration.agent, integration.name, refused=tuple(refused), records=own)
    notes += [f"{one.call.what} is done already; uninstall leaves it" for one in wishes if not one.is_ours]
    missing = tuple(one.call for one in wishes if one.is_missing)
    gone = (one.edit for one in stale if isinstance(one.edit, Call))
    return Plan(
        integration.agent,
        integration.name,
        changes=draft.changes(),
        calls=missing,
        first_undone=(*gone, *(call for one in wishes if one.is_missing for call in one.room)),
        foretold=tuple(_foretold(missing, draft)),
        records=(*records, *(one.record for one in wishes if one.is_ours)),
        notes=tuple(dict.fromkeys(notes)),
    )


def _of_files(
    integration: Integration, known: Sequence[Record], draft: _Draft, take_over: bool
) -> tuple[list[Record], list[str], list[str]]:
    """Make the edits of files in the draft; return what is ours of them, notes, and what is refused."""
    records: list[Record] = []
    notes, refused = [], []
    for edit in (edit for edit in integration.edits if not isinstance(edit, Call)):
        ours = [one for one in known if one.key == key(edit)]
        try:
            data, record = edits.made(edit, draft.read(edit.path), ours, take_over=take_over)
        except (Broken, Kept) as error:
            refused.append(_about(edit.path, error))
            continue
        draft.write(edit.path, data, 0o700 if isinstance(edit, OwnFile) and edit.executable else None)
        records += [record] if record else []
        notes += [] if record else [f"{edit.path}: what we would write stands there already; uninstall leaves it"]
    return records, notes, refused


def _about(path: Path, error: Exception) -> str:
    return str(error) if str(path) in str(error) else f"{path}: {error}"


@dataclass(frozen=True, slots=True)
class _Wish:
    """A call that an agent wants: what is noted of it, whether it is to be made, and what makes room for it."""

    call: Call
    record: Record
    is_missing: bool = False
    is_ours: bool = True
    room: tuple[Call, ...] = ()
    refused: str = ""


def _wish(call: Call, own: Sequence[Record], draft: _Draft, take_over: bool) -> _Wish:
    """Look where a call sets something; nothing of the agent's is run where its files tell."""
    ours = [one for one in own if one.key == key(call)]
    earlier = [one.edit for one in ours if isinstance(one.edit, Call) and one.edit != call]
    over = {one.key: one for record in ours for one in record.over}
    taken: list[Record] = []
    try:
        for edit in call.sets:
            data = draft.read(edit.path)
            edits.check_read(edit, data)
            known = [one for each in ours for one in each.edit.sets if key(one) == key(edit)]  # type: ignore[union-attr]
            if not any(calls.stands(one, data) for one in (edit, *known)):
                edits.check_free(edit, found := calls.held(edit, data), take_over=take_over)
                taken += [Record(edit, before=found)] if found is not MISSING else []
    except (Broken, Kept) as error:
        return _Wish(call, Record(call), refused=_about(edit.path, error))
    over |= {one.key: one for one in taken}
    is_done = all(calls.stands(edit, draft.read(edit.path)) for edit in call.sets) if call.sets else calls.is_done(call)
    is_missing = bool(earlier) or not is_done
    makes_room = bool(taken) or (take_over and not ours and not call.sets)
    return _Wish(
        call,
        Record(call, over=tuple(over.values())),
        is_missing=is_missing,
        is_ours=is_missing or bool(ours),
        room=(*earlier, *([call] if makes_room else [])),
    )


def _foretold(missing: Iterable[Call], draft: _Draft) -> Iterator[Change]:
    """Yield about what the agent's commands will change; a file that cannot be edited by us is left out."""
    held: dict[Path, bytes | None] = {}
    for edit in (edit for call in missing for edit in call.sets):
        with suppress(Broken):
            held[edit.path] = edits.foretold(edit, held.get(edit.path, draft.read(edit.path)))
    for path, after in held.items():
        found = draft.desk.look(path)
        yield Change(path, Found(found.place, draft.read(path), found.mode), after, found.mode)


def _uninstall(agent: str, name: str, manifest: Manifest, desk: Desk) -> Plan:
    draft = _Draft(desk)
    others = manifest.others(agent)
    own = [one for one in reversed(manifest.agents.get(agent, ())) if one.key not in others]
    in_files = [one for one in own if not isinstance(one.edit, Call)]
    try:
        notes = tuple(_take_back(in_files, draft))
        still = {os.path.realpath(one.edit.path) for one in others.values() if not isinstance(one.edit, Call)}
        for place, path in draft.paths.items():
            if str(place) not in still:
                draft.held[place] = _as_before(path, draft.begun[place], draft.held[place], manifest)
    except (Broken, Kept) as error:
        return Plan(agent, name, refused=(str(error),), records=manifest.agents.get(agent, ()))
    told = tuple(one.edit for one in own if isinstance(one.edit, Call))
    return Plan(agent, name, draft.changes(), told, notes=notes)


def without(records: Iterable[Record], path: Path, data: bytes | None) -> bytes | None:
    """Return the content of a file without these edits, as far as they are still what was written."""
    for record in records:
        if not isinstance(record.edit, Call) and record.edit.path == path:
            try:
                data = edits.undone(record, data)
            except (Broken, Kept):
                continue
    return data


def _take_back(records: Iterable[Record], draft: _Draft) -> Iterator[str]:
    """Take edits out of the draft; yield what is left because it was changed since.

    Of several with one key, which an update that was killed leaves, one stands.
    """
    done: set[tuple[object, ...]] = set()
    left: dict[tuple[object, ...], str] = {}
    for record in records:
        path = record.edit.path  # type: ignore[union-attr]
        if record.key in done:
            continue
        try:
            draft.write(path, edits.undone(record, draft.read(path)))
            done.add(record.key)
        except Broken as error:
            raise Broken(f"{path}: {error}") from None
        except Kept as error:
            if str(path) in str(error):
                raise
            left[record.key] = f"{path}: {error}"
    yield from (told for one, told in left.items() if one not in done)


def _as_before(path: Path, found: Found, data: bytes | None, manifest: Manifest) -> bytes | None:
    """Return the very bytes that a file had before us, where nothing else has changed in it."""
    kept = manifest.files.get(str(found.place))
    if kept is None or (data is None and kept.before):
        return data
    try:
        before = manifest.kept(kept.before)
    except Kept:  # its copy is lost: what is ours is out, all else is as it is
        return data
    if kept.is_as_left(found.data) or edits.adds_nothing(path, data, before):
        return before
    if before is None and data is not None and not data.strip():
        return None
    empty = before is None and edits.adds_nothing(path, data, b"{}")
    return None if empty else data
