"""What the exports of ChatGPT and claude.ai have in common: conversations in one or more arrays of JSON."""

from __future__ import annotations

import re
from collections.abc import Generator, Mapping
from contextlib import closing, suppress
from typing import Any

from memory_plane.errors import MemoryPlaneError
from memory_plane.importers.documents import document, elements
from memory_plane.importers.files import Files
from memory_plane.importers.item import short

_CONVERSATIONS = re.compile(r"(?:[^/]+/){0,2}conversations(?:-\d+)?\.json")
_LABEL = 80


def conversation_files(files: Files) -> list[str]:
    """Return the names of the files with conversations; a file that is given alone may have any name."""
    return [name for name in files.names if _CONVERSATIONS.fullmatch(name) or (files.alone and name.endswith(".json"))]


def records(files: Files, name: str) -> Generator[Any]:
    """Yield the values of an array, with the file's name in what is raised."""
    try:
        with files.open(name) as stream:
            yield from elements(stream)
    except MemoryPlaneError as error:
        raise MemoryPlaneError(f"{name}: {error}") from None


def small(files: Files, name: str) -> Any:
    """Return the value of a small file, with its name in what is raised."""
    try:
        with files.open(name) as stream:
            return document(stream)
    except MemoryPlaneError as error:
        raise MemoryPlaneError(f"{name}: {error}") from None


def starts_with(files: Files, name: str, key: str) -> bool:
    """Whether a file holds an array whose first value is an object with this key."""
    with suppress(MemoryPlaneError), closing(records(files, name)) as found:
        first = next(found, None)
        return isinstance(first, Mapping) and key in first
    return False


def label(record: Any, *keys: str) -> str:
    """Return the first of these that a record has a name in, to show it by."""
    names = (record.get(key) for key in keys) if isinstance(record, Mapping) else iter(())
    return next((short(name, _LABEL) for name in names if isinstance(name, str) and name.strip()), "without a name")
