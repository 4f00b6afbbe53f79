"""Thoughts that hold words, each in one of its forms: looked up by the rarest word, or else among the newest."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, bindparam, select, text

from memory_plane import models
from memory_plane.prepared import Prepared
from memory_plane.recall import holding, state
from memory_plane.store import index
from memory_plane.types import Thought

_WORD = re.compile(r"\w+")
COMMON = 1_000
"""Of words that all stand in more memories than this the newest `LATELY` are looked through."""
LATELY = 5_000

_log, _thoughts = models.operations, models.thoughts
_COUNT = Prepared(
    text("SELECT count(*) FROM (SELECT 1 FROM memory_fts WHERE memory_fts MATCH :query LIMIT :most)").bindparams(
        bindparam("query"), bindparam("most")
    )
)
_LAST = Prepared(text("SELECT max(seq) FROM operations"))
_matching = text(
    "SELECT rowid FROM memory_fts WHERE memory_fts MATCH :query AND rowid > :after ORDER BY rowid DESC LIMIT :most"
).columns(rowid=_thoughts.c.seq.type)
_rows = Prepared(_matching)
_said = Prepared(
    select(_log.c.id, _thoughts.c.agent, _thoughts.c.kind, _log.c.text, _thoughts.c.at, _thoughts.c.origin)
    .add_columns(_thoughts.c.project, _thoughts.c.pinned, _log.c.seq)
    .join(_log, _log.c.seq == _thoughts.c.seq)
    .where(
        _thoughts.c.seq.in_(_matching),
        _thoughts.c.visible,
        _thoughts.c.at <= bindparam("known", type_=_thoughts.c.at.type),
    )
    .order_by(_thoughts.c.at.desc(), _log.c.id.desc())
)


def said(
    connection: Connection,
    words: Sequence[Collection[str]],
    limit: int,
    *,
    kind: str | None = None,
    known: datetime | None = None,
) -> list[tuple[int, Thought]]:
    """Return the newest thoughts that hold one form of each word, of a kind if that is given, with their rows."""
    given = _query(connection, words, kind) | {"most": limit, "known": known or holding.EVER}
    return [(row.seq, state.as_thought(row)) for row in _said.all(connection, **given)] if given["query"] else []


def rows(connection: Connection, words: Sequence[Collection[str]], limit: int) -> list[int]:
    """Return the rows of the newest memories that hold one form of each word."""
    given = _query(connection, words, None) | {"most": limit}
    return [row.rowid for row in _rows.all(connection, **given)] if given["query"] else []


def _query(connection: Connection, words: Sequence[Collection[str]], kind: str | None) -> dict[str, Any]:
    asked = [" OR ".join(found for form in forms if (found := phrase(form))) for forms in words]
    asked = [f"({any_of})" for any_of in asked if any_of]
    rare = any(_COUNT.scalar(connection, query=one, most=COMMON) < COMMON for one in asked)
    after = 0 if rare else (_LAST.scalar(connection) or 0) - LATELY
    tags = [index.tag("kind", kind)] if kind is not None and asked else []
    return {"query": " AND ".join([*asked, *tags]), "after": after}


def phrase(words: str) -> str:
    """Return words as the index is asked for them, side by side; "" where there are none. No sign of theirs is left."""
    found = _WORD.findall(index.spaced(words))
    return f'"{" ".join(found)}"' if found else ""
