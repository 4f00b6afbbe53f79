"""What was said of each dossier, kept in the cursor, so that only what changes is said again, or taken back."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any
from uuid import uuid5

from memory_plane.types import NAMESPACE, Operation, Origin
from memory_plane_muse.agents import ME, MUSE
from memory_plane_muse.dossiers import Dossier, Folder
from memory_plane_muse.due import due_in

Known = dict[str, dict[str, list[Any]]]
"""By file and entry: what stood there, in short, and when it was written, in milliseconds since 1970."""


@dataclass(frozen=True, slots=True)
class _Entry:
    op: str
    body: dict[str, Any]

    @property
    def digest(self) -> str:
        said = (self.body.get("subject", ""), self.body.get("value") or self.body.get("text"))
        return hashlib.sha256("\n".join(map(str, said)).encode()).hexdigest()[:12]


def read(value: Any) -> Known:
    """Read what a cursor holds; anything else is nothing."""
    if not isinstance(value, dict):
        return {}
    files = {file: entries for file, entries in value.items() if isinstance(entries, dict)}
    return {file: {name: one for name, one in entries.items() if _is_mark(one)} for file, entries in files.items()}


def changes(folder: Folder, known: Known, origin: Origin) -> Iterator[Operation]:
    """Yield what differs from what is known, and bring that up to date.

    A folder that has become empty as a whole is taken for one that is away, and nothing for gone.
    """
    for file, dossier in folder.dossiers.items():
        entries = _entries(file, dossier, origin)
        yield from _said(file, dossier, entries, known.setdefault(file, {}))
        yield from _gone(file, {*entries}, known[file], dossier.done, dossier.at)
    for file in known.keys() - folder.dossiers.keys() - folder.pending if folder.files else ():
        yield from _gone(file, set(), known.pop(file), frozenset(), datetime.now(UTC))


def _entries(file: str, dossier: Dossier, origin: Origin) -> dict[str, _Entry]:
    usual: dict[str, Any] = {"origin": origin, "source": f"dossier {file}"[:500]}
    found = {
        f"fact:{key}": _Entry("fact", {"subject": dossier.name, "key": key, "value": value, **usual})
        for key, value in dossier.facts.items()
    }
    for task in dossier.tasks:
        body = {"text": f"{task} (dossier of {dossier.name})", "kind": "commitment", "owner": ME, "to": dossier.name}
        due = due_in(task, dossier.at)
        found[_task(task)] = _Entry("thought", {**body, **usual, **({"due_at": due} if due else {})})
    return found


def _said(file: str, dossier: Dossier, entries: dict[str, _Entry], known: dict[str, list[Any]]) -> Iterator[Operation]:
    for name, entry in entries.items():
        digest = entry.digest
        if known.get(name, [""])[0] == digest:
            continue
        at = int(dossier.at.timestamp() * 1000)
        known[name] = [digest, at]
        id = _id(file, name, digest, at)
        yield Operation(id=id, op=entry.op, agent=MUSE, created_at=dossier.at, body=entry.body)


def _gone(
    file: str, entries: set[str], known: dict[str, list[Any]], done: frozenset[str], at: datetime
) -> Iterator[Operation]:
    finished = {_task(task) for task in done}
    for name in known.keys() - entries:
        target = _id(file, name, *known.pop(name))
        op, body = "retract", {"target": target}
        if name.startswith("task:"):
            op, body = "resolve", {"item": target, "status": "done" if name in finished else "dropped"}
        id = str(uuid5(NAMESPACE, f"{MUSE}:gone:{target}"))
        yield Operation(id=id, op=op, agent=MUSE, created_at=at, body=body)


def _task(words: str) -> str:
    return f"task:{hashlib.sha256(words.encode()).hexdigest()[:12]}"


def _id(file: str, name: str, digest: str, at: int) -> str:
    return str(uuid5(NAMESPACE, f"{MUSE}:dossier:{file}:{name}:{digest}:{at}"))


def _is_mark(value: Any) -> bool:
    return isinstance(value, list) and len(value) == 2 and isinstance(value[0], str) and isinstance(value[1], int)
