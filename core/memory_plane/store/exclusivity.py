"""Relations of which somebody has one at a time: who is said to work somewhere else works no more where it was before.

Which are such is data (`exclusive.tsv`). Of two that are dated the one that began later ends the other, else the one
that was said later; two of one memory stand beside each other. Words of other people end nothing that you or an agent
said: both stand. The end is a fold of what is there, in any order, and stands where the edge's own end would.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import UTC, datetime
from functools import cache, lru_cache
from typing import Any, NamedTuple

from sqlalchemy import Connection, Text, bindparam, or_, select, text, update

from memory_plane import models
from memory_plane.prepared import Prepared
from memory_plane.vocabulary.meanings import Way, exclusive, including

WORDS = 30
"""How many of the newest words on an edge tell when it was so."""
NOW = datetime(9999, 1, 1, tzinfo=UTC)

_nodes, _edges, _evidence = models.graph_nodes, models.graph_edges, models.graph_evidence
_whose = _nodes.alias("source_node")
_group = Prepared(
    select(_edges, _nodes.c.type.label("target_type"), _whose.c.type.label("source_type"))
    .join(_nodes, _nodes.c.key == _edges.c.target)
    .join(_whose, _whose.c.key == _edges.c.source)
    .where(
        _edges.c.source == bindparam("node"),
        _edges.c.relation.in_(text("SELECT value FROM json_each(:relations)").columns(value=Text).bindparams()),
    )
)
_end = Prepared(update(_edges).where(_edges.c.key == bindparam("which")), "valid_until")
_words = Prepared(
    select(_evidence.c.at, _evidence.c.valid_from)
    .where(
        _evidence.c.edge == bindparam("edge"),
        _evidence.c.valid_until.is_(None),
        _evidence.c.at <= bindparam("known", type_=_evidence.c.at.type),
        or_(_evidence.c.origin != "external", bindparam("foreign")),
    )
    .order_by(_evidence.c.at.desc())
    .limit(WORDS)
)


class _Held(NamedTuple):
    """An edge that nothing said of it ends: when it was said to hold, the newest first, and since when, where dated."""

    key: int
    target: int
    said: tuple[datetime, ...]
    began: datetime | None

    def before(self, other: _Held) -> bool:
        """Whether another edge takes the place of this one."""
        if self.target == other.target:
            return False
        if self.began is not None and other.began is not None:
            return self.began < other.began
        return self.said[0] < other.said[0]

    def end_by(self, other: _Held) -> datetime:
        """When another edge took its place: when that began, or when it was said first after this was."""
        if other.began is not None and (self.began or self.said[0]) < other.began:
            return other.began
        return min((at for at in other.said if at > self.said[0]), default=other.said[0])


@lru_cache(maxsize=4096)
def concerns(relation: str) -> bool:
    """Whether edges of a relation may end each other."""
    return any(relation in _targets(one) for one in exclusive())


def settle(connection: Connection, source: int, said: str | None = None) -> None:
    """Write the ends of the exclusive edges of a node anew, all of them or those that one relation has to do with."""
    for relation, type_ in exclusive().items():
        if said is not None and said not in _targets(relation):
            continue
        rows = _rows(connection, source, relation)
        of_type = [row for row in rows if row.source_type == type_]
        ends = _ends(connection, of_type, {row.key for row in of_type if own_end(row) is None}, NOW)
        for row in rows:
            until = ends.get(row.key, own_end(row))
            if until != row.valid_until:
                _end.run(connection, which=row.key, valid_until=until)


def end_known(
    connection: Connection, row: Any, known: datetime, as_known: Callable[[Any], Mapping[str, Any] | None]
) -> datetime | None:
    """Return when another edge had taken the place of one, as it was known at a time; None if none had."""
    for relation in exclusive():
        if row.relation not in _targets(relation):
            continue
        rows = _rows(connection, row.source, relation)
        open_ = {one.key for one in rows if _was_open(as_known(one))}
        if end := _ends(connection, rows, open_, known).get(row.key):
            return end
    return None


def relations() -> tuple[str, ...]:
    """Return the exclusive relations."""
    return tuple(exclusive())


def rivals(connection: Connection, source: int, relation: str) -> list[tuple[Any, Any]]:
    """Return (the edge that stands, one that nobody said to be over and that cannot hold beside it) of a node."""
    rows = _rows(connection, source, relation)
    rows = [row for row in rows if row.source_type == exclusive()[relation] and own_end(row) is None]
    trusted = [row for row in rows if row.origin != "external"]
    standing = [row for row in trusted or rows if row.valid_until is None]
    against = [row for row in rows if row not in standing]
    return [
        (best, row) for row in against for best in standing[:1] if row.target not in {one.target for one in standing}
    ]


def own_end(row: Any) -> datetime | None:
    """Return when an edge ended by what is said of itself."""
    over = row.closed_at is not None and (row.opened_at is None or row.opened_at <= row.closed_at)
    end: datetime | None = row.ended if over else None
    return end


def _was_open(values: Mapping[str, Any] | None) -> bool:
    return values is not None and values["valid_until"] is None


@cache
def _targets(relation: str) -> dict[str, frozenset[str] | None]:
    """The relations that say the same as one, with the types of target that they do for."""
    return {way.relation: way.targets for way in including(Way(relation, forward=True)) if way.forward}


@cache
def listed(relation: str) -> str:
    """Return as JSON the relations that say the same as an exclusive one."""
    return json.dumps(list(_targets(relation)))


def _rows(connection: Connection, source: int, relation: str) -> list[Any]:
    wanted = _targets(relation)
    rows = _group.all(connection, node=source, relations=listed(relation))
    return [row for row in rows if wanted[row.relation] is None or row.target_type in (wanted[row.relation] or ())]


def _ends(connection: Connection, rows: Sequence[Any], open_: Collection[int], known: datetime) -> dict[int, datetime]:
    """Return the ends of those `open_` edges of which a later one took the place, also one that is over itself."""
    rivals = rows
    if any(row.origin != "external" for row in rivals if row.key in open_):
        rivals = [row for row in rivals if row.origin != "external"]
    if not open_ or len({row.target for row in rivals}) < 2:
        return {}
    held = [one for row in rivals if (one := _held(connection, row, known)) is not None]
    ends: dict[int, datetime] = {}
    for one in held:
        later = [one.end_by(other) for other in held if one.before(other)]
        if one.key in open_ and later:
            ends[one.key] = min(later)
    return ends


def _held(connection: Connection, row: Any, known: datetime) -> _Held | None:
    words = _words.all(connection, edge=row.key, known=known, foreign=row.origin == "external")
    if not words:
        return None
    dated = [word.valid_from for word in words if word.valid_from is not None]
    return _Held(
        row.key, row.target, tuple(word.at for word in words), max(dated) if len(dated) == len(words) else None
    )
