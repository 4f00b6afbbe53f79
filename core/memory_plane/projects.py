"""Which project a folder is, by its name; a repository counts as one, its worktrees too."""

from __future__ import annotations

import os
import re
from pathlib import Path, PurePath, PurePosixPath, PureWindowsPath
from urllib.parse import unquote, urlsplit

LONGEST = 255
"""The longest name, in characters."""
_DRIVE = re.compile(r"/?[A-Za-z]:(?:[/\\]|$)|\\\\")
_URI = re.compile(r"[a-z][a-z0-9+.-]+://?", re.IGNORECASE)
_HOMES = ("home", "users")
_TEMPORARY = ("tmp", "temp")
_NO_PROJECT = frozenset(
    ("desktop", "documents", "downloads", "root", "tmp", "temp", "private", "var", "mnt", "volumes")
)
_WORKTREE = re.compile(r"gitdir:\s*(.{1,4000})[/\\]\.git[/\\]worktrees[/\\]")


def project_of(folder: str) -> str | None:
    """Return the name of the project in a folder or `file:` URI; None for a home, a root or a temporary folder."""
    path = _path(folder.strip())
    if path is None or _nobodys(path):
        return None
    root = _repository(path)
    if root is not None and not _nobodys(root):
        return root.name[:LONGEST]
    return None if _hidden(path) else path.name[:LONGEST]


def _path(folder: str) -> PurePath | None:
    """Read the path of any system, whichever this one is; None for what is no absolute path."""
    if _URI.match(folder):
        try:
            folder = unquote(urlsplit(folder).path)
        except ValueError:
            return None
    if "\x00" in folder:
        return None
    if _DRIVE.match(folder):
        return PureWindowsPath(folder.removeprefix("/"))
    return PurePosixPath(os.path.normpath(folder)) if folder.startswith("/") else None


def _nobodys(path: PurePath) -> bool:
    """Whether the folder is a person's home, holds homes, is temporary or the root of a disk."""
    name, above = path.name.lower(), path.parent.name.lower()
    if not name or above in _HOMES or str(path) == _home():
        return True
    if name in _NO_PROJECT or name in _HOMES:
        in_home = path.parent.parent.name.lower() in _HOMES or str(path.parent) == _home()
        return in_home or len(path.parts) <= 3 or name in _TEMPORARY
    return above in (*_TEMPORARY, "t") and name.startswith("tmp")


def _home() -> str:
    return os.path.expanduser("~")  # noqa: PTH111 - Path.home() raises for an account without a home


def _hidden(path: PurePath) -> bool:
    """Whether an agent or the system keeps the folder, not the person: `~/.openclaw/workspace`."""
    return any(part.startswith(".") for part in path.parts)


def _repository(path: PurePath) -> Path | None:
    """Return the repository that the folder is in, for a worktree the one that it belongs to; None if there is none."""
    if isinstance(path, PureWindowsPath) != (os.name == "nt"):
        return None
    for folder in (Path(path), *Path(path).parents):
        mark = folder / ".git"
        try:
            if str(folder) == _home() or not mark.exists():
                continue
            return folder if mark.is_dir() else _owner(mark) or folder
        except OSError:
            return None
    return None


def _owner(mark: Path) -> Path | None:
    with mark.open(encoding="utf-8", errors="replace") as file:
        found = _WORKTREE.match(file.read(4_200))
    return Path(found[1]) if found else None
