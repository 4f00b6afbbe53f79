"""Markdown that an agent keeps for itself: each of its points is taken in once, whenever a file has changed."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from uuid import uuid5

from memory_plane.capture import without_ours
from memory_plane.copies import COPY_MARK
from memory_plane.types import NAMESPACE, Ingested, Operation

FILES = 200
"""How many changed files are read at one look."""
POINTS = 500
"""After how many points a look ends; what is left comes with the next."""
LARGEST = 256 * 1024
OF_ONE = 100
"""How many points of one file are taken in."""
TEXT = 600

_BREAK = re.compile(r"\n\s*\n|\n(?=\s*(?:[-*+]|\d+[.)])\s)")
_MARK = re.compile(r"^\s*(?:[-*+]|\d+[.)])\s+|^#+\s*|\*\*|`", re.MULTILINE)
_FRONT_MATTER = re.compile(r"\A---\n.*?\n---\n", re.DOTALL)
_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
_LINK_ONLY = re.compile(r"\[[^\]]*\]\([^)]*\)\W*")

Of = Callable[[Path], str]


def files(root: Path, *patterns: str) -> list[Path]:
    """Return the files below a folder that match; links may lead anywhere and are left out."""
    found = []
    for path in sorted({path for pattern in patterns for path in root.glob(pattern)}):
        try:
            if not path.is_symlink() and path.is_file() and path.stat().st_size <= LARGEST:
                found.append(path)
        except OSError:
            continue
    return found


def read(
    agent: str, paths: Iterable[Path], cursor: str | None, *, scope: Of, project: Callable[[Path], str | None]
) -> Ingested | None:
    """Take in the points of each file that changed since the cursor, which has the time of every file's last change.

    Ids follow from the agent, the `scope` of the file and the point, so that one that moves is not taken in again.
    None: nothing changed. A copy of one of our pages is left out.
    """
    known, found = _times(cursor), _changes(paths)
    operations: list[Operation] = []
    seen = {path: at for path, at in known.items() if path in found}
    changed = [path for path, at in found.items() if known.get(path) != at]
    for path in changed[:FILES]:
        if len(operations) >= POINTS:
            break
        operations += _points_of(agent, Path(path), scope, project)
        seen[path] = found[path]
    return Ingested(operations=tuple(operations), cursor=json.dumps(seen)) if seen != known else None


def _times(cursor: str | None) -> dict[str, int]:
    try:
        held = json.loads(cursor or "{}")
    except (ValueError, RecursionError):
        return {}
    return {path: at for path, at in held.items() if isinstance(at, int)} if isinstance(held, dict) else {}


def _changes(paths: Iterable[Path]) -> dict[str, int]:
    found = {}
    for path in paths:
        try:
            found[str(path)] = path.stat().st_mtime_ns
        except OSError:
            continue
    return found


def _points_of(agent: str, path: Path, scope: Of, project: Callable[[Path], str | None]) -> Iterator[Operation]:
    try:
        text, changed = path.read_text("utf-8-sig", "replace"), path.stat().st_mtime
    except OSError:
        return
    if text.startswith(COPY_MARK):
        return
    where = project(path)
    for point in dict.fromkeys(list(_points(text))[:OF_ONE]):
        body = {"text": point, "kind": "observation", "origin": "agent"} | ({"project": where} if where else {})
        yield Operation(
            id=str(uuid5(NAMESPACE, f"{agent}:note:{scope(path)}:{point}")),
            op="thought",
            agent=agent,
            created_at=datetime.fromtimestamp(changed, UTC),
            body=body,
        )


def _points(text: str) -> Iterator[str]:
    """Yield the paragraphs and list points that say something: no headings, no comments, no bare links."""
    plain = _COMMENT.sub("", without_ours(_FRONT_MATTER.sub("", text.replace("\r\n", "\n"))))
    for piece in _BREAK.split(plain):
        if piece.lstrip().startswith(("#", "```", "|")) and "\n" not in piece.strip():
            continue
        point = " ".join(_MARK.sub("", piece).split())
        if len(point.split()) >= 3 and not _LINK_ONLY.fullmatch(point):
            yield point[:TEXT]
