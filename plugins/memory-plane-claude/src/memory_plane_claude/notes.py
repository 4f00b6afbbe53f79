"""Claude Code's auto memory: Markdown that it keeps for itself, one folder a project."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from uuid import uuid5

from memory_plane.capture import project_of, without_ours
from memory_plane.types import NAMESPACE, Ingested, Operation
from memory_plane_claude.telling import CODE
from memory_plane_claude.transcripts import folder_of

FILES = 200
"""How many changed files are read at one look."""
LARGEST = 256 * 1024
NOTES = 100
"""How many notes of one file are taken in."""
TEXT = 600

_BREAK = re.compile(r"\n\s*\n|\n(?=\s*(?:[-*+]|\d+[.)])\s)")
_MARK = re.compile(r"^\s*(?:[-*+]|\d+[.)])\s+|^#+\s*|\*\*|`", re.MULTILINE)
_FRONT_MATTER = re.compile(r"\A---\n.*?\n---\n", re.DOTALL)
_LINK_ONLY = re.compile(r"\[[^\]]*\]\([^)]*\)\W*")


def read(projects: Path, cursor: str | None) -> Ingested | None:
    """Take in the notes of each file that changed since the cursor, which has the time of every file's last change."""
    known, found = _times(cursor), _files(projects)
    changed = [path for path, at in found.items() if known.get(str(path)) != at][:FILES]
    if not changed and known.keys() == {str(path) for path in found}:
        return None
    operations = tuple(operation for path in changed for operation in _notes(path))
    seen = {str(path): at for path, at in found.items() if str(path) in known or path in changed}
    return Ingested(operations=operations, cursor=json.dumps(seen | {str(path): found[path] for path in changed}))


def _times(cursor: str | None) -> dict[str, int]:
    try:
        held = json.loads(cursor or "{}")
    except ValueError:
        return {}
    return {path: at for path, at in held.items() if isinstance(at, int)} if isinstance(held, dict) else {}


def _files(projects: Path) -> dict[Path, int]:
    """Return the notes with the time of their last change; links may lead anywhere and are left out."""
    found: dict[Path, int] = {}
    for path in sorted(projects.glob("*/memory/*.md")):
        try:
            if not path.is_symlink() and path.is_file() and path.stat().st_size <= LARGEST:
                found[path] = path.stat().st_mtime_ns
        except OSError:
            continue
    return found


def _notes(path: Path) -> Iterator[Operation]:
    try:
        text, changed = path.read_text("utf-8", "replace"), path.stat().st_mtime
    except OSError:
        return
    project = project_of(folder_of(path.parents[1]))
    for note in list(_points(text))[:NOTES]:
        body = {"text": note, "kind": "observation", "origin": "agent"} | ({"project": project} if project else {})
        yield Operation(
            id=str(uuid5(NAMESPACE, f"{CODE}:note:{path.parent.parent.name}:{note}")),
            op="thought",
            agent=CODE,
            created_at=datetime.fromtimestamp(changed, UTC),
            body=body,
        )


def _points(text: str) -> Iterator[str]:
    """Yield the paragraphs and list points of a note that say something: no headings, no bare links."""
    for piece in _BREAK.split(without_ours(_FRONT_MATTER.sub("", text.replace("\r\n", "\n")))):
        if piece.lstrip().startswith(("#", "```", "|", "<!--")) and "\n" not in piece.strip():
            continue
        point = " ".join(_MARK.sub("", piece).split())
        if len(point.split()) >= 3 and not _LINK_ONLY.fullmatch(point):
            yield point[:TEXT]
