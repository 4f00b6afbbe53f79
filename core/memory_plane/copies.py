"""Pages that stand in agents' own folders: real copies, kept equal to those of the home."""

from __future__ import annotations

import json
import logging
from pathlib import Path

from memory_plane.views import put

logger = logging.getLogger(__name__)

COPY_MARK = "<!-- kept by Memory Plane: what you change here is lost -->"
"""The first line of a copy."""
NAME = "integrations.json"
"""The manifest of what is ours in agents' files."""

_NOTHING = "Nothing new for "
"""How a brief begins that has nothing in it: then nothing is put before the agent."""


class Copies:
    """The copies that the manifest of a home names; it is read again when it has changed."""

    def __init__(self, home: Path) -> None:
        self._home = home
        self._stamp = (0, 0)
        self._copies: tuple[tuple[Path, str, str], ...] = ()

    def write(self) -> None:
        """Bring each copy up to date with its page as it stands on the disk; what cannot be written is logged."""
        self._read()
        for path, page, preface in self._copies:
            try:
                self._write(path, page, preface)
            except (OSError, ValueError) as error:
                logger.warning("the copy %s of %s was not written: %s", path, page, error)

    def _read(self) -> None:
        try:
            found = (self._home / NAME).stat()
            if self._stamp == (stamp := (found.st_mtime_ns, found.st_ino)):
                return
            agents = json.loads((self._home / NAME).read_text("utf-8"))["agents"]
            edits = [edit for edits in agents.values() for edit in edits if edit["kind"] == "copy"]
            self._copies = tuple((Path(one["path"]), str(one["page"]), str(one["preface"])) for one in edits)
            self._stamp = stamp
        except FileNotFoundError:
            self._copies, self._stamp = (), (0, 0)
        except (OSError, ValueError, KeyError, TypeError) as error:
            logger.warning("%s cannot be read: %s", self._home / NAME, error)

    def _write(self, path: Path, page: str, preface: str) -> None:
        """Write where a copy of ours stands, or nothing does and its folder is there still."""
        if not path.parent.is_dir():
            return
        if path.is_symlink():
            raise ValueError("a link stands in its place")
        held = path.read_text("utf-8") if path.exists() else ""
        if held and not held.startswith(COPY_MARK):
            raise ValueError("somebody else's file stands in its place")
        source = self._home / page
        text = source.read_text("utf-8") if source.is_file() else ""
        text = f"{COPY_MARK}\n{preface}{'' if text.startswith(_NOTHING) else text}"
        put(path, text.encode())
