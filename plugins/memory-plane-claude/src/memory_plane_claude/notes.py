"""Claude Code's auto memory: Markdown that it keeps for itself, one folder a project."""

from __future__ import annotations

from pathlib import Path

from memory_plane import notes
from memory_plane.capture import project_of
from memory_plane.types import Ingested
from memory_plane_claude.telling import CODE
from memory_plane_claude.transcripts import folder_of


def read(projects: Path, cursor: str | None) -> Ingested | None:
    """Take in the notes of each file that changed since the cursor."""
    return notes.read(
        CODE,
        notes.files(projects, "*/memory/*.md"),
        cursor,
        scope=lambda path: path.parents[1].name,
        project=lambda path: project_of(folder_of(path.parents[1])),
    )
