"""Where Antigravity keeps what it writes: below `.gemini` of the home, on every platform alike."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

AGENT = "antigravity"

APPS = ("antigravity", "antigravity-ide", "antigravity-cli")
"""The folders of the desktop app, the IDE and `agy`."""

TRANSCRIPTS = ("transcript.jsonl", "transcript_full.jsonl")
"""The files of a conversation's turns: the first may be cut short, the second is missing in older versions."""

_LOGS = (".system_generated", "logs")
_ID = re.compile(r"[0-9A-Za-z][0-9A-Za-z_-]{5,79}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Conversation:
    """A conversation with its app's folder; `transcript` is None unless it is there, and no link."""

    app: Path
    id: str
    transcript: Path | None


def shared(home: Path) -> Path:
    """Return the folder of what all three apps read."""
    return home / ".gemini" / "config"


def apps(home: Path) -> tuple[Path, ...]:
    """Return the folders of the apps that have run here."""
    return tuple(folder for name in APPS if (folder := home / ".gemini" / name).is_dir())


def summaries(app: Path) -> Path | None:
    """Return the database of an app's conversations, None if there is none, or only a link to one."""
    return _inside(app, app / "conversation_summaries.db")


def conversation(app: Path, id: str) -> Conversation | None:
    """Return an app's conversation by its id, None for what cannot be one."""
    if not _ID.fullmatch(id):
        return None
    logs = app.joinpath("brain", id, *_LOGS)
    found = (_inside(app, logs / name) for name in TRANSCRIPTS)
    return Conversation(app=app, id=id, transcript=next((path for path in found if path), None))


def named(home: Path, transcript: str) -> Conversation | None:
    """Return the conversation whose transcript a hook named; None for any other file, and for one that is not there."""
    path = _resolved(Path(transcript))
    for app in apps(home):
        brain = (_resolved(app) or app) / "brain"
        parts = path.relative_to(brain).parts if path is not None and path.is_relative_to(brain) else ()
        if len(parts) == 4 and parts[1:3] == _LOGS and parts[3] in TRANSCRIPTS:
            return conversation(app, parts[0])
    return None


def transcripts(app: Path) -> Iterator[tuple[str, int]]:
    """Yield the id of each conversation that has a transcript, and when that was last written to, in nanoseconds."""
    try:
        folders = list(os.scandir(app / "brain"))
    except OSError:
        return
    for folder in folders:
        for name in TRANSCRIPTS:
            try:
                written = os.stat(os.path.join(folder.path, *_LOGS, name)).st_mtime_ns  # noqa: PTH116, PTH118 - of many
            except OSError:
                continue
            yield folder.name, written
            break


def _inside(app: Path, path: Path) -> Path | None:
    """Return the path, None unless it is a plain file that no link below the app's folder leads to."""
    real, folder = _resolved(path), _resolved(app)
    return real if real and folder and real == folder / path.relative_to(app) and real.is_file() else None


def _resolved(path: Path) -> Path | None:
    try:
        return path.resolve(strict=True)
    except (OSError, ValueError, RuntimeError):  # not there; a NUL in it; links that go round
        return None
