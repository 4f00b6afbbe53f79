"""Notes in Markdown: an Obsidian vault, any other folder of notes, or one note.

A note becomes one memory, or one a heading where it is long; its properties become facts about it. Tags and names that
it links to stay in the text, where search and the graph find them.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from datetime import datetime, timedelta, tzinfo
from functools import partial
from pathlib import PurePosixPath
from typing import Any

from memory_plane.copies import COPY_MARK
from memory_plane.echoes import is_page, without_ours
from memory_plane.importers.files import Files
from memory_plane.importers.graph_facts import key_of
from memory_plane.importers.item import Entry, Kind, Skipped, fact, short, thought
from memory_plane.importers.sections import sections, titled
from memory_plane.importers.times import moment
from memory_plane.types import Operation

AGENT = "user"
LARGEST = 5_000_000
"""The most bytes of a note."""
PROPERTIES = 20
"""How many properties of a note become facts."""

_NOTES = (".md", ".markdown")
_FRONT = re.compile(r"---[ \t]*\n(.*?)(?:^|\n)(?:---|\.\.\.)[ \t]*(?:\n|\Z)", re.DOTALL | re.MULTILINE)
_LONGEST_FRONT = 65_536
_LINK = re.compile(r"\[\[([^\[\]|#^]*)(?:[#^][^\[\]|]*)?(?:\|([^\[\]]*))?\]\]")
_UNSEEN = re.compile(r"!\[\[[^\[\]]*\]\]|%%.*?%%|<!--.*?-->", re.DOTALL)
_DAY = re.compile(r"\d{4}-\d{2}-\d{2}")
_TIMES = ("date", "created", "created_at", "creation date")
_PLUMBING = {*_TIMES, "tags", "tag", "aliases", "alias", "cssclass", "cssclasses", "publish", "permalink", "title"}
_PLUMBING |= {"id", "uid", "uuid", "updated", "updated_at", "modified", "banner", "icon", "cover", "position"}
_PLUMBING |= {"linter-yaml-title-alias", "kanban-plugin", "excalidraw-plugin"}
"""Properties that say how a note is shown or kept, and nothing about its subject."""


def found(files: Files) -> bool:
    """Whether there are notes."""
    return any(map(_is_note, files.names))


def entries(files: Files, zone: tzinfo | None) -> Iterator[Entry]:
    """Yield the notes, but for those that only are there to be copied."""
    templates = _templates(files)
    for name in filter(_is_note, files.names):
        if not (templates and name.startswith(f"{templates}/")):
            yield Entry(name, partial(_operations, files, name, zone))


def _is_note(name: str) -> bool:
    return name.lower().endswith(_NOTES)


def _templates(files: Files) -> str:
    """Return the folder that Obsidian takes its templates from, "" where there is none."""
    with suppress(OSError, ValueError), files.open(".obsidian/templates.json") as stream:
        settings = json.loads(stream.read(LARGEST))
        folder = settings.get("folder") if isinstance(settings, dict) else None
        return folder.strip("/") if isinstance(folder, str) else ""
    return ""


def _operations(files: Files, name: str, zone: tzinfo | None) -> tuple[Operation, ...]:
    whole = _read(files, name)
    if whole.startswith(COPY_MARK) or is_page(whole):  # what others said would be taken for the person's own words
        raise Skipped("it is a page of Memory Plane")
    properties, text = _parts(without_ours(whole))
    title, changed = PurePosixPath(name).stem, files.changed(name)
    at = _written(title, properties, zone) or changed
    made = [
        thought(
            AGENT,
            ["markdown", name, heading, piece],
            titled(title, heading, piece),
            at=at + timedelta(microseconds=number),  # the order of the text stays the order of time
            origin="user",
            source=short(name),
            thread=short(name),
        )
        for number, (heading, piece) in enumerate(sections(_below(title, _plain(text)) + _labels(properties)))
    ]
    made += [
        fact(AGENT, title, key_of(key), value, at=changed, origin="user", source=short(name))
        for key, value in _facts(properties)
    ]
    if not made:
        raise Skipped("it is empty")
    return tuple(made)


def _read(files: Files, name: str) -> str:
    with files.open(name) as stream:
        data = stream.read(LARGEST + 1)
    if len(data) > LARGEST:
        raise Skipped(f"it is larger than {LARGEST:,} bytes")
    encoding = "utf-16" if data.startswith((b"\xff\xfe", b"\xfe\xff")) else "utf-8-sig"
    try:
        return data.decode(encoding).replace("\r\n", "\n")
    except UnicodeDecodeError:
        raise Skipped("it is not UTF-8 text") from None


def _parts(text: str) -> tuple[Mapping[str, Any], str]:
    """Return the properties of a note and the text below them; what is no YAML is left out."""
    front = _FRONT.match(text, 0, _LONGEST_FRONT)
    if front is None:
        return {}, text
    import yaml

    try:  # as text: a `yes` stays a yes, and a date is for us to read
        properties = yaml.load(front[1], Loader=yaml.BaseLoader)
    except (yaml.YAMLError, RecursionError):
        properties = None
    return properties if isinstance(properties, dict) else {}, text[front.end() :]


def _written(title: str, properties: Mapping[str, Any], zone: tzinfo | None) -> datetime | None:
    """Return the day of a daily note, or what a property says."""
    day = _DAY.match(title)
    said = {str(key).lower(): value for key, value in properties.items()}
    values = [day[0]] if day else [said.get(name) for name in _TIMES]
    return next(filter(None, (moment(value, zone) for value in values)), None)


def _plain(text: str) -> str:
    """Return a text with links as the words that one sees, and without what one does not see."""
    return _LINK.sub(lambda link: link[2] or link[1], _UNSEEN.sub("", text)).strip()


def _below(title: str, text: str) -> str:
    """Return a text without a first heading that only says its title again."""
    first, _, rest = text.partition("\n")
    return rest.lstrip() if first.lstrip("#").strip() == title else text


def _labels(properties: Mapping[str, Any]) -> str:
    """Return tags and other names as text below a note."""
    tags = [f"#{tag.lstrip('#')}" for key in ("tags", "tag") for tag in _values(properties.get(key), split=True)]
    names = [name for key in ("aliases", "alias") for name in _values(properties.get(key))]
    also = f"\n\nAlso called {', '.join(names)}." if names else ""
    return also + (f"\n\n{' '.join(tags)}" if tags else "")


def _facts(properties: Mapping[str, Any]) -> list[tuple[str, str]]:
    said = [
        (str(key), ", ".join(_values(value))) for key, value in properties.items() if str(key).lower() not in _PLUMBING
    ]
    return [(key, value) for key, value in said if key.strip() and value][:PROPERTIES]


def _values(value: Any, *, split: bool = False) -> list[str]:
    """Return the texts of a property: one, or those of a list; of nested ones none."""
    values = value if isinstance(value, list) else [value]
    texts = [_plain(one) for one in values if isinstance(one, str)]
    return [text for one in texts for text in (re.split(r"[,\s]+", one) if split else [one]) if text]


KIND = Kind(
    name="markdown",
    looks_for="*.md, as in an Obsidian vault",
    found=found,
    entries=entries,
)
