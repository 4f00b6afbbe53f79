"""Databases of other programs, which are looked at and left as they are."""

from __future__ import annotations

from pathlib import Path

_VERSIONS, _WRITE_AHEAD = slice(18, 20), b"\x02\x02"


def read_only(path: Path) -> str:
    """Return the URI under which SQLite reads a file and leaves nothing beside it.

    A database that writes ahead gets a log and an index of it from any reader that finds none. Where there is no log
    all is in the file and nobody has it open, so that it can be read without. See https://sqlite.org/wal.html#readonly.
    """
    with path.open("rb") as file:
        writes_ahead = file.read(20)[_VERSIONS] == _WRITE_AHEAD
    at_rest = writes_ahead and not path.with_name(f"{path.name}-wal").exists()
    return f"{path.absolute().as_uri()}?{'immutable=1' if at_rest else 'mode=ro'}"
