"""The full-text index: what is put into it, and putting in and taking out.

The index keeps no text of its own (FTS5 `content=''`), since the text stands in `operations` once. Taking a row out
needs exactly what was put in, so `document()` may only use what never changes: the text, agent, kind, project and date.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from hashlib import blake2s
from unicodedata import normalize

from sqlalchemy import Connection, text

from memory_plane.prepared import Prepared

_PUT = Prepared(text("INSERT INTO memory_fts(rowid, text) VALUES (:seq, :text)"))
_TAKE = Prepared(text("INSERT INTO memory_fts(memory_fts, rowid, text) VALUES ('delete', :seq, :text)"))
_COMPACT = text("INSERT INTO memory_fts(memory_fts) VALUES ('optimize')")
_CLEAR = text("INSERT INTO memory_fts(memory_fts) VALUES ('delete-all')")

UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff"
    "\U00020000-\U0003ffff\ue000-\uf8ff\U000f0000-\U0010ffff"
)
"""Scripts whose words stand without spaces, and the icons of private use that stand glued to words: each character
becomes a word, and a word of theirs a phrase."""
_MONTHS = (
    "January February March April May June July August September October November December".split()  # noqa: SIM905
)


@dataclass(frozen=True, slots=True)
class Document:
    """What the index is given of one memory."""

    seq: int
    text: str


def document(seq: int, words: str, *, agent: str, kind: str, project: str | None, at: datetime) -> Document:
    """Make the indexed form of a memory: unspaced scripts taken apart, its date written out, its filters as words."""
    parts = [agent, date(at), tag("agent", agent), tag("kind", kind)]
    if project is not None:
        parts += [project, tag("project", project)]
    return Document(seq, spaced(" ".join([*parts, words])))


def date(at: datetime) -> str:
    """Write a date as people ask for it: `14 March 2026 2026-03-14`."""
    year, month, day = at.year, at.month, at.day  # strftime("%B") would follow the locale
    return f"{day} {_MONTHS[month - 1]} {year} {year}-{month:02}-{day:02}"


def spaced(words: str) -> str:
    """Write letters in their one usual form, and set each character of an unspaced script apart."""
    return words if words.isascii() else _unspaced().sub(r" \1 ", normalize("NFKC", words))


@cache
def _unspaced() -> re.Pattern[str]:
    """Compiled only where it is needed: so many characters take milliseconds, at every start of a command."""
    return re.compile(f"([{UNSPACED}])")


def tag(name: str, value: str) -> str:
    """Make one word that stands for `name = value` and for nothing a person would write."""
    return f"zz{name}{blake2s(value.casefold().encode(), digest_size=5).hexdigest()}"


def put(connection: Connection, entry: Document) -> None:
    """Add a memory to the index."""
    _PUT.run(connection, seq=entry.seq, text=entry.text)


def take(connection: Connection, entry: Document) -> None:
    """Remove a memory from the index; `entry` must equal what was put in."""
    _TAKE.run(connection, seq=entry.seq, text=entry.text)


def compact(connection: Connection) -> None:
    """Let go of the words of what was taken out: until then the index notes only that they are out."""
    connection.execute(_COMPACT)


def clear(connection: Connection) -> None:
    """Empty the index."""
    connection.execute(_CLEAR)
