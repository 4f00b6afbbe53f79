"""Who stands beside whom in a conversation: the thoughts of one thread in the order of their time."""

from __future__ import annotations

import json
from collections.abc import Iterable
from datetime import timedelta

from sqlalchemy import Connection, bindparam, text

from memory_plane.prepared import Prepared

GAP = timedelta(hours=1)
"""After a longer silence a conversation is another one."""
_MICROSECOND = timedelta(microseconds=1)
_BESIDE = (
    "(SELECT n.seq FROM thoughts AS n WHERE n.thread IS t.thread AND n.visible AND (n.at, n.seq) {than} (t.at, t.seq)"
    " AND n.at {within} ORDER BY n.at {way}, n.seq {way} LIMIT 1 OFFSET {nth})"
)
_PLACES = [
    _BESIDE.format(than=than, within=within, way=way, nth=nth)
    for than, within, way, nths in (
        ("<", ">= t.at - :gap", "DESC", (1, 0)),
        (">", "<= t.at + :gap", "ASC", (0, 1)),
    )
    for nth in nths
]
_AROUND = Prepared(
    text(
        f"SELECT t.seq, {', '.join(_PLACES)} FROM json_each(:rows) AS c JOIN thoughts AS t ON t.seq = c.value"
    ).bindparams(bindparam("rows"), bindparam("gap"))
)

Around = tuple[int | None, int | None, int | None, int | None]


def around(connection: Connection, rows: Iterable[int]) -> dict[int, Around]:
    """Return the two thoughts before and the two after each, in order, None where the conversation has none."""
    found = _AROUND.all(connection, rows=json.dumps(list(rows)), gap=GAP // _MICROSECOND)
    return {row[0]: tuple(row[1:]) for row in found}
