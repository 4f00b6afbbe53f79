"""Pages as files below the home: written whole, only when changed, readable by their owner only."""

from __future__ import annotations

import json
import logging
import os
import stat
import tempfile
import time
from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path, PurePosixPath

from memory_plane.types import View

logger = logging.getLogger(__name__)

SUFFIXES = frozenset({".csv", ".html", ".json", ".md", ".svg", ".txt"})
"""What a page may be: the database, the outbox, the settings and the token are none."""

NOTED = ".pages.json"
"""Where it is noted which pages the plugins gave last."""

LEFT_BEHIND = ".view-tmp"
"""How the name of a page ends while it is written."""
_ABANDONED_AFTER = 60.0


def write_views(home: Path, views: Iterable[View]) -> list[Path]:
    """Write each view below `home` and return the files that changed; one that cannot be written is only logged."""
    written: list[Path] = []
    taken: set[str] = set()
    for view in views:
        try:
            path = _target(home, view, taken)
            if put(path, view.text.encode()):
                written.append(path)
        except (OSError, ValueError, TypeError, AttributeError) as error:
            logger.warning("the page %r was not written: %s", str(getattr(view, "path", view)), error)
    return written


def write_pages(home: Path, views: Sequence[View]) -> list[Path]:
    """Write the pages of plugins like `write_views`, and remove those that they gave before and give no more.

    What was retracted since would stay on such a page.
    """
    before, now = _noted(home), {Path(view.path).as_posix() for view in views}
    if now - before:  # noted first: a crash leaves no page that nobody knows of
        put(home / NOTED, json.dumps(sorted(before | now)).encode())
    written = write_views(home, views)
    for name in before - now:
        _remove(home, name)
    if before != now:
        put(home / NOTED, json.dumps(sorted(now)).encode())
    return written


def _noted(home: Path) -> set[str]:
    with suppress(OSError, ValueError, TypeError):
        return {str(name) for name in json.loads((home / NOTED).read_bytes())}
    return set()


def _remove(home: Path, name: str) -> None:
    path = PurePosixPath(name)
    if path.is_absolute() or ".." in path.parts or path.suffix.lower() not in SUFFIXES:
        return
    folders = [home.joinpath(*path.parts[:depth]) for depth in range(1, len(path.parts))]
    if any(folder.is_symlink() for folder in folders):
        return
    with suppress(OSError):
        home.joinpath(*path.parts).unlink(missing_ok=True)


def _target(home: Path, view: View, taken: set[str]) -> Path:
    """Return where the view goes, its folders made; refuse what is not its own place below the home."""
    path = Path(view.path)
    if path.is_absolute() or not path.parts or ".." in path.parts:
        raise ValueError("its path must lie below the home")
    if path.suffix.lower() not in SUFFIXES or any(part.startswith(".") for part in path.parts):
        raise ValueError(f"a page is no hidden file and ends in one of {', '.join(sorted(SUFFIXES))}")
    if (name := path.as_posix().casefold()) in taken:
        raise ValueError("another page has this path")
    taken.add(name)
    folder = home
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    for part in path.parts[:-1]:
        folder = folder / part
        folder.mkdir(mode=0o700, exist_ok=True)
        if folder.is_symlink():
            raise ValueError(f"{folder} is a link and may lead out of the home")
    return folder / path.name


def put(path: Path, content: bytes) -> bool:
    """Replace a file, whole and for its owner alone; return whether that changed it."""
    if _is_same(path, content):
        return False
    _sweep(path.parent)
    handle, name = tempfile.mkstemp(prefix=f".{path.name[:100]}.", suffix=LEFT_BEHIND, dir=path.parent)
    temporary = Path(name)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    return True


def _is_same(path: Path, content: bytes) -> bool:
    """A link, or a file that others may read, is replaced even when its content is right."""
    try:
        found = path.lstat()
    except FileNotFoundError:
        return False
    private = os.name == "nt" or stat.S_IMODE(found.st_mode) == 0o600
    return stat.S_ISREG(found.st_mode) and private and found.st_size == len(content) and path.read_bytes() == content


def _sweep(folder: Path) -> None:
    """Remove what a writer that was killed left behind."""
    for left in folder.glob(f".*{LEFT_BEHIND}"):
        try:
            if time.time() - left.lstat().st_mtime > _ABANDONED_AFTER:
                left.unlink()
        except OSError:
            continue  # another writer was faster
