"""What questions are answered from: nodes by name, edges along relations, nodes of a type, promises, doings."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator, Sequence
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from sqlalchemy import BigInteger, BindParameter, Connection, and_, bindparam, select, text, type_coerce

from memory_plane import models
from memory_plane.prepared import Prepared
from memory_plane.recall import graph, holding
from memory_plane.recall.passages import phrase
from memory_plane.store.names import folded
from memory_plane.types import EPOCH, Edge, Origin

PER_NAME = 12
"""How many nodes of one name are considered."""
_MICROSECOND = timedelta(microseconds=1)
MOST = 1_000
"""How many edges, nodes or items one look-up goes through, the newest first where there is an order."""

_ENDS = ("keys", "others")
_nodes, _aliases, _edges = models.graph_nodes, models.aliases, models.graph_edges
_named = Prepared(
    select(_nodes.c.key, _nodes.c.type, _nodes.c.name, _aliases.c.part)
    .join(_aliases, _aliases.c.node == _nodes.c.key)
    .where(_aliases.c.name == bindparam("name"))
    .order_by(_aliases.c.part, _nodes.c.key)
    .limit(PER_NAME)
)
_keys: BindParameter[list[int]] = bindparam("keys", expanding=True)
_some, _others = (text(f"SELECT value FROM json_each(:{name})").columns(value=_nodes.c.key.type) for name in _ENDS)
_labels = text("SELECT value FROM json_each(:relations)").columns(value=_edges.c.relation.type)
_called = Prepared(select(_nodes.c.key, _nodes.c.type, _nodes.c.name).where(_nodes.c.key.in_(_some)))
# Moments stay the numbers that they are: a look-up may find thousands of edges and shows a few.
_moments = (_edges.c.known_since, _edges.c.valid_from, _edges.c.valid_until, _edges.c.opened_at, _edges.c.closed_at)
_source, _target = _nodes.alias("source_node"), _nodes.alias("target_node")
_tie = (_edges.c.key, _edges.c.source, _edges.c.relation, _edges.c.target, _edges.c.probability, _edges.c.origin)
_ends = (_source.c.type.label("source_type"), _target.c.type.label("target_type"))
_all_ties = (
    select(*_tie, *(type_coerce(moment, BigInteger).label(moment.name) for moment in _moments), *_ends)
    .join(_source, _source.c.key == _edges.c.source)
    .join(_target, _target.c.key == _edges.c.target)
    .limit(MOST)
)
_known_by = _edges.c.known_since <= bindparam("known", type_=_edges.c.known_since.type)
_latest = select(_edges.c.key).where(_known_by).order_by(_edges.c.known_since.desc()).limit(MOST)
_PLACES = {
    "from": _edges.c.source.in_(_some),
    "to": _edges.c.target.in_(_some),
    "between": and_(_edges.c.source.in_(_some), _edges.c.target.in_(_others)),
    "lately": _edges.c.key.in_(_latest),
}
_office_for = _edges.c.relation.like("%\\_OF\\_%\\_OF", escape="\\")
_of_relations = {
    name: Prepared(_all_ties.where(place, _edges.c.relation.in_(_labels), _known_by)) for name, place in _PLACES.items()
}
_of_offices = {name: Prepared(_all_ties.where(place, _office_for, _known_by)) for name, place in _PLACES.items()}
_whole = Prepared(select(_edges).where(_edges.c.key.in_(_some)))
_evidence = models.graph_evidence
_told_by = (
    select(models.operations.c.text)
    .join(_evidence, _evidence.c.seq == models.operations.c.seq)
    .where(
        _evidence.c.edge.in_(_keys),
        _evidence.c.at <= bindparam("until", type_=_evidence.c.at.type),
        models.operations.c.text.is_not(None),
    )
    .order_by(_evidence.c.at.desc())
    .limit(graph.EVIDENCE)
)
_listed = text("SELECT value FROM json_each(:names)").columns(value=_aliases.c.name.type)
_known = Prepared(select(_aliases.c.name).where(_aliases.c.name.in_(_listed)).distinct())
_of_type = Prepared(
    select(_nodes.c.key, _nodes.c.type, _nodes.c.name)
    .where(
        _nodes.c.type == bindparam("kind"),
        _nodes.c.founded_at <= bindparam("known", type_=_nodes.c.founded_at.type),
    )
    .order_by(_nodes.c.founded_at.desc())
    .limit(MOST)
)
_spelt_alike = Prepared(
    text(
        "SELECT DISTINCT graph_nodes.name FROM mentions JOIN graph_nodes ON graph_nodes.key = mentions.node"
        " WHERE mentions.seq IN (SELECT rowid FROM memory_fts WHERE memory_fts MATCH :query"
        " ORDER BY rowid DESC LIMIT 40) LIMIT 200"
    )
)


class Called(NamedTuple):
    """A node by its row, its type and its name."""

    key: int
    type: str
    name: str


class Tie(NamedTuple):
    """An edge between two rows; moments are microseconds since 1970."""

    key: int
    source: int
    relation: str
    target: int
    probability: float
    origin: Origin
    known_since: int
    valid_from: int | None
    valid_until: int | None
    opened_at: int | None
    closed_at: int | None
    source_type: str
    target_type: str

    def type_of(self, node: int) -> str:
        """Return the type of the node in a row, if the edge touches it."""
        return self.source_type if node == self.source else self.target_type if node == self.target else ""

    def spoken_of(self, after: int) -> bool:
        """Whether anything was said of it after a time, or another edge took its place at any."""
        superseded = self.valid_until is not None and (self.closed_at is None or (self.opened_at or 0) > self.closed_at)
        return superseded or (self.opened_at or 0) > after or (self.closed_at or 0) > after


def called(connection: Connection, name: str) -> tuple[Called, ...]:
    """Return the nodes of a name; those of which it is but the first or last name only where there are no others."""
    found = _named.all(connection, name=folded(name))
    whole = [row for row in found if not row.part] or found
    return tuple(Called(row.key, row.type, row.name) for row in whole)


def known(connection: Connection, names: Iterable[str]) -> set[str]:
    """Return which of these folded names some node has."""
    return {row.name for row in _known.all(connection, names=json.dumps(list(names)))}


def spelt_alike(connection: Connection, name: str) -> list[str]:
    """Return names of nodes that stand in memories with the words of a name, whatever the accents."""
    query = phrase(name)
    return [row[0] for row in _spelt_alike.all(connection, query=query)] if query else []


def nodes(connection: Connection, keys: Collection[int]) -> dict[int, Called]:
    """Return nodes by their rows."""
    return {row.key: Called._make(row) for row in _called.all(connection, keys=json.dumps(list(keys)))} if keys else {}


def of_type(connection: Connection, types: Collection[str], known: datetime | None = None) -> list[Called]:
    """Return the nodes of some types, those that were `known` by a time, the youngest of each first."""
    by = known or holding.EVER
    return [Called(*row) for kind in sorted(types) for row in _of_type.all(connection, kind=kind, known=by)]


def ties(
    connection: Connection,
    relations: Collection[str],
    *,
    sources: Collection[int] | None = None,
    targets: Collection[int] | None = None,
    known: datetime | None = None,
) -> list[Tie]:
    """Return the edges of these relations from some nodes, to some, or between them; without either, of the newest.

    With a relation that ends with "_" come those of offices for something: HEAD_OF_DESIGN_OF. They are as they were
    `known` at a time, or as they are.
    """
    ends = [list(nodes) for nodes in (sources, targets) if nodes is not None]
    place = "lately" if not ends else "between" if len(ends) == 2 else "to" if sources is None else "from"
    given: dict[str, Any] = {name: json.dumps(nodes) for name, nodes in zip(_ENDS, ends, strict=False)}
    given |= {"relations": json.dumps(sorted(relations)), "known": known or holding.EVER}
    rows = _of_relations[place].all(connection, **given)
    if any(name.endswith("_") for name in relations):
        rows += _of_offices[place].all(connection, **given)
    found = list({row.key: Tie._make(row) for row in rows}.values())
    return found if known is None else list(_as_told(connection, found, known))


def _as_told(connection: Connection, found: Sequence[Tie], known: datetime) -> Iterator[Tie]:
    """Yield edges as they were at a time of knowing."""
    doubtful = {tie.key for tie in found if tie.spoken_of(micros(known))}
    rows = {row.key: row for row in _told(connection, list(doubtful), known)}
    for tie in found:
        if tie.key in rows:
            row = rows[tie.key]
            moments = {one.name: getattr(row, one.name) for one in _moments}
            counted: dict[str, Any] = {name: None if at is None else micros(at) for name, at in moments.items()}
            yield tie._replace(probability=row.probability, origin=row.origin, **counted)
        elif tie.key not in doubtful:
            yield tie


def _told(connection: Connection, keys: Sequence[int], known: datetime | None) -> list[Any]:
    """Return the rows of edges as they are, or as they were at a time of knowing."""
    rows = _whole.all(connection, keys=json.dumps(list(keys))) if keys else []
    return [row for one in rows if (row := holding.told(connection, one, known) if known else one) is not None]


def told(connection: Connection, edges: Sequence[int], known: datetime | None = None) -> list[str]:
    """Return the texts of the newest memories that say one of these edges, or of those that were `known` by a time."""
    given = {"keys": list(edges), "until": known or holding.EVER}
    return list(connection.execute(_told_by, given).scalars()) if edges else []


def micros(moment: datetime) -> int:
    """Return a moment as the store counts it: microseconds since 1970."""
    return (moment - EPOCH) // _MICROSECOND


def edges(connection: Connection, keys: Sequence[int], known: datetime | None = None) -> dict[int, Edge]:
    """Return edges by their rows, with their evidence, as they are or as they were `known` at a time."""
    rows = _told(connection, keys, known)
    return dict(zip((row.key for row in rows), graph.as_edges(connection, rows, known), strict=True))
