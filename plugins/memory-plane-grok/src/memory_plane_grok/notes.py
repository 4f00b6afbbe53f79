"""What Grok Build notes for itself, in Markdown: its memory of all projects, of each, and by topic."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, datetime
from itertools import groupby, islice
from pathlib import Path
from uuid import uuid5

from memory_plane import prose
from memory_plane.capture import without_ours
from memory_plane.types import NAMESPACE, Operation
from memory_plane_grok.sessions import AGENT

PLACES = (
    "memory/MEMORY.md",
    "memory/*/MEMORY.md",
    "memory-v2/topics/*.md",
    "memory-v2/*/topics/*.md",
    "memory-v2/*/*/topics/*.md",
)
"""Where notes are below Grok's folder; the logs of sessions beside them are not read."""
FILES = 100
"""How many changed files are read at one look."""
LARGEST = 256 * 1024
POINTS = 100
"""How many points of one file are taken in."""
TEXT = 600

_FRONT_MATTER = re.compile(r"\A---\n.*?\n---\n", re.DOTALL)


def read(home: Path, known: dict[str, int]) -> list[Operation]:
    """Return the points of each note that changed since it was `known`, and note when it was changed."""
    found = _files(home)
    changed = [name for name, at in found.items() if known.get(name) != at][:FILES]
    for name in known.keys() - found.keys():
        del known[name]
    known |= {name: found[name] for name in changed}
    return [operation for name in changed for operation in islice(_points(home, name), POINTS)]


def _files(home: Path) -> dict[str, int]:
    """Return the notes with the time of their last change; links may lead anywhere and are left out."""
    found: dict[str, int] = {}
    for path in sorted(path for place in PLACES for path in home.glob(place)):
        try:
            linked = any(one.is_symlink() for one in (path, *path.parents[: len(path.relative_to(home).parts) - 1]))
            if not linked and path.is_file() and path.stat().st_size <= LARGEST:
                found[path.relative_to(home).as_posix()] = path.stat().st_mtime_ns
        except OSError:
            continue
    return found


def _points(home: Path, name: str) -> Iterator[Operation]:
    """Yield a note's paragraphs and points of lists as observations; headings, quotes and code say nothing."""
    try:
        text, changed = (home / name).read_text("utf-8", "replace"), (home / name).stat().st_mtime
    except OSError:
        return
    text = prose.without(_FRONT_MATTER.sub("", text.replace("\r\n", "\n")), "<!--", "-->")
    for _, said in groupby(prose.sentences(without_ours(text)), key=lambda sentence: sentence.paragraph):
        point = " ".join(sentence.text for sentence in said)[:TEXT]
        if len(point.split()) >= 3:
            yield Operation(
                id=str(uuid5(NAMESPACE, f"{AGENT}:note:{name}:{point}")),
                op="thought",
                agent=AGENT,
                created_at=datetime.fromtimestamp(changed, UTC),
                body={"text": point, "kind": "observation", "origin": "agent"},
            )
