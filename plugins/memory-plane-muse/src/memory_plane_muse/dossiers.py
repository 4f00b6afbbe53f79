"""A folder of dossiers: a Markdown file a person, YAML in front. Keys and notes are facts, its tasks open items."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import yaml

from memory_plane.capture import without_ours
from memory_plane.pages import NOTICE

FILES, AT_ONCE = 500, 50
"""How many files are watched, and how many that changed are read at a time."""

_LARGEST = 256 * 1024
_KEYS, _TASKS, _ITEMS = 40, 40, 20
_VALUE, _NOTES, _LONGEST_FRONT = 500, 4_000, 20_000
_FRONT = re.compile(r"\A\ufeff?---[ \t]*\n(.*?)\n(?:---|\.\.\.)[ \t]*(?:\n|\Z)", re.DOTALL)
_HEADING = re.compile(r"^#[ \t]+(.+?)[ \t]*#*$", re.MULTILINE)
_TASK = re.compile(r"^[ \t]*[-*+] \[([ xX])\] +(\S.*)$", re.MULTILINE)
_NAMES = ("name", "full_name", "fullname", "title")
_ADDRESSES = ("phone", "phones", "mobile", "tel", "email", "emails", "mail", "handle", "handles", "imessage")
_APART = frozenset({*_NAMES, "tags", "type", "cssclasses"})

Stamp = tuple[int, int]
"""Modification time in nanoseconds, and size."""


@dataclass(frozen=True, slots=True)
class Dossier:
    """What one file says of one person: facts by key, tasks, those of them that are done, numbers and addresses."""

    name: str
    at: datetime
    facts: Mapping[str, str]
    tasks: tuple[str, ...] = ()
    done: frozenset[str] = frozenset()
    addresses: tuple[str, ...] = ()


class Folder:
    """One folder of dossiers, by their paths in it; `look` reads again what has changed."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._stamps: dict[str, Stamp] = {}
        self.dossiers: dict[str, Dossier] = {}
        self.files: frozenset[str] = frozenset()

    def look(self) -> None:
        """Read what has changed, a bounded number of files at a time."""
        seen = dict(_files(self._folder))
        self.files = frozenset(seen)
        for gone in self._stamps.keys() - seen.keys():
            del self._stamps[gone]
            self.dossiers.pop(gone, None)
        changed = [file for file, stamp in seen.items() if self._stamps.get(file) != stamp]
        for file in changed[:AT_ONCE]:
            self._stamps[file] = seen[file]
            dossier = _read(self._folder / file, seen[file])
            if dossier is None:
                self.dossiers.pop(file, None)
            else:
                self.dossiers[file] = dossier

    @property
    def pending(self) -> frozenset[str]:
        """The files that have not been read yet, of which nothing can be said."""
        return self.files - self._stamps.keys()


def parse(text: str, stem: str, at: datetime) -> Dossier | None:
    """Read a dossier, or None for a page of ours; a file without a name is named by its heading or `stem`."""
    text = text.replace("\r\n", "\n")
    if NOTICE in text[:2_000]:
        return None
    front = _FRONT.match(text)
    body = without_ours(text[front.end() :] if front else text)
    given = _front(front[1]) if front else {}
    heading = _HEADING.search(body)
    name = next((given[key] for key in _NAMES if given.get(key)), None) or (heading[1] if heading else stem)
    tasks = [(mark, " ".join(words.split())[:_VALUE]) for mark, words in _TASK.findall(body)[:_TASKS]]
    facts = {key: value[:_VALUE] for key, value in given.items() if key not in _APART and value}
    notes = _TASK.sub("", _HEADING.sub("", body, count=1)).strip()[:_NOTES].strip()
    return Dossier(
        name=" ".join(name.split())[:200] or stem,
        at=at,
        facts=facts | ({"notes": notes} if notes else {}),
        tasks=tuple(words for mark, words in tasks if mark == " "),
        done=frozenset(words for mark, words in tasks if mark != " "),
        addresses=tuple(one.strip() for key in _ADDRESSES for one in given.get(key, "").split(",") if one.strip()),
    )


def _files(folder: Path) -> Iterator[tuple[str, Stamp]]:
    count = 0
    for place, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(names):
            path = Path(place, name)
            if path.suffix.lower() != ".md" or name.startswith(".") or path.is_symlink():
                continue
            try:
                found = path.stat()
            except OSError:  # it was moved away a moment ago
                continue
            yield path.relative_to(folder).as_posix(), (found.st_mtime_ns, found.st_size)
            count += 1
            if count == FILES:
                return


def _read(path: Path, stamp: Stamp) -> Dossier | None:
    if stamp[1] > _LARGEST:
        return None
    now = datetime.now(UTC)
    try:
        at = datetime.fromtimestamp(stamp[0] / 1e9, UTC) if stamp[0] > 0 else now
        return parse(path.read_text("utf-8", errors="replace"), path.stem.replace("_", " "), min(at, now))
    except (OSError, OverflowError, ValueError):
        return None


def _front(text: str) -> dict[str, str]:
    """Read what stands in front: each key with its value as text, a list with commas; {} for what is no YAML."""
    try:
        # This loader makes nothing but texts, lists and dicts; it is slow, so it gets no more than a person writes.
        found = yaml.load(text, Loader=yaml.BaseLoader) if len(text) <= _LONGEST_FRONT else None
    except (yaml.YAMLError, RecursionError, ValueError):
        return {}
    if not isinstance(found, dict):
        return {}
    pairs = [(_key(key), _value(value)) for key, value in list(found.items())[:_KEYS] if isinstance(key, str)]
    return {key: value for key, value in pairs if key}


def _key(key: str) -> str:
    return re.sub(r"[\s-]+", "_", key.strip().lower())[:60]


def _value(value: Any, *, deep: bool = True) -> str:
    if isinstance(value, str):
        return " ".join(value.split())
    if not deep:
        return ""
    if isinstance(value, list):
        return _joined(_value(one, deep=isinstance(one, dict)) for one in value[:_ITEMS])
    if isinstance(value, dict):
        return _joined(
            f"{key}: {said}" for key, one in list(value.items())[:_ITEMS] if (said := _value(one, deep=False))
        )
    return ""


def _joined(parts: Iterable[str]) -> str:
    return ", ".join(part[:_VALUE] for part in parts if part)
