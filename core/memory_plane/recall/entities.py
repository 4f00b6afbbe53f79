"""Nodes by what they are called, or by what is said of them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from sqlalchemy import Connection, bindparam, func, select

from memory_plane import models
from memory_plane.prepared import Prepared
from memory_plane.recall import graph
from memory_plane.store import identities
from memory_plane.store.graph import alias_names
from memory_plane.store.names import folded
from memory_plane.types import Node

MOST = 400
"""How many nodes one search considers."""

OLDEST = 100
"""How many nodes are looked at for whether a memory is from before names were found by other spellings."""

_nodes, _aliases, _mentions = models.graph_nodes, models.aliases, models.mentions
_called = Prepared(
    select(_aliases.c.node)
    .where(_aliases.c.name == bindparam("name"))
    .order_by(_aliases.c.part, _aliases.c.node)
    .limit(MOST)
)
_beginning = Prepared(
    select(_aliases.c.node)
    .where(_aliases.c.name > bindparam("name"), _aliases.c.name < bindparam("end"))
    .order_by(_aliases.c.name, _aliases.c.node)
    .limit(MOST)
)
_named_by = (
    select(_mentions.c.node, models.operations.c.id)
    .join(models.operations, models.operations.c.seq == _mentions.c.seq)
    .where(models.operations.c.id.in_(bindparam("ids", expanding=True)))
)
_meant = Prepared(
    select(_nodes.c.id).join(_mentions, _mentions.c.node == _nodes.c.key).where(_mentions.c.seq == bindparam("seq"))
)
_slugs = select(_nodes.c.slug).where(_nodes.c.key.in_(bindparam("keys", expanding=True)))
_of_one_slug = select(_nodes.c.key).where(_nodes.c.slug.in_(_slugs)).order_by(_nodes.c.key).limit(MOST)
_oldest = select(_nodes.c.key, _nodes.c.id, _nodes.c.type, _nodes.c.name).order_by(_nodes.c.key).limit(OLDEST)
_has = Prepared(
    select(_aliases.c.name).where(
        _aliases.c.name == bindparam("name"),
        _aliases.c.node == bindparam("node"),
        _aliases.c.part == bindparam("part"),
    )
)
_of_kind = Prepared(
    select(_nodes.c.key)
    .where(_nodes.c.type == bindparam("type"))
    .order_by(_nodes.c.founded_at.desc(), _nodes.c.key.desc())
    .limit(MOST)
)
_kinds = select(_nodes.c.key).where(
    _nodes.c.key.in_(bindparam("keys", expanding=True)), func.lower(_nodes.c.type) == bindparam("kind")
)


def called(connection: Connection, words: str) -> list[int]:
    """Return the nodes that are called so, then those of which it is a part, then those whose names begin so."""
    name = folded(words)
    if not name:
        return []
    rows = [*_called.all(connection, name=name), *_beginning.all(connection, name=name, end=f"{name}\U0010ffff")]
    return list(dict.fromkeys(row[0] for row in rows))


def namesakes(connection: Connection, keys: Iterable[int]) -> list[int]:
    """Return the nodes that share a slug but for its number with one of these, themselves among them."""
    return list(connection.execute(_of_one_slug, {"keys": list(keys)}).scalars())


def meant(connection: Connection, rows: Iterable[int]) -> set[tuple[int, str]]:
    """Return the rows of memories with the ids of the nodes that they name."""
    return {(row, node) for row in rows for (node,) in _meant.all(connection, seq=row)}


def named_by(connection: Connection, ids: Sequence[str], words: str = "") -> list[int]:
    """Return the nodes that memories name, in the order of the memories; with `words`, those called by one of them."""
    place = {id: number for number, id in enumerate(ids)}
    rows = connection.execute(_named_by, {"ids": list(ids)}).all() if ids else []
    keys = list(dict.fromkeys(row.node for row in sorted(rows, key=lambda row: (place[row.id], row.node))))[:MOST]
    if not words:
        return keys
    asked = set(folded(words).split())
    nodes = graph.nodes(connection, keys)
    return [key for key in keys if asked & _words(nodes[key])]


def of_kinds(connection: Connection, kinds: Iterable[str]) -> list[int]:
    """Return the nodes of these types, the last found of each first."""
    given = ({"type": kind} for kind in sorted(kinds))
    return [row.key for one in given for row in _of_kind.all(connection, **one)]


def shown(connection: Connection, keys: Iterable[int], kind: str | None, limit: int) -> list[Node]:
    """Return nodes in their order, of one type if that is given."""
    found = list(dict.fromkeys(keys))[:MOST]
    if kind:
        fitting = set(connection.execute(_kinds, {"keys": found, "kind": kind.lower()}).scalars()) if found else set()
        found = [key for key in found if key in fitting]
    nodes = graph.nodes(connection, found[:limit])
    return [nodes[key] for key in found[:limit]]


def unspelt(connection: Connection) -> list[str]:
    """Return names of the oldest nodes that are not found by all spellings that are looked up by now."""
    return [row.name for row in connection.execute(_oldest) if not _is_spelt(connection, row)]


def _is_spelt(connection: Connection, row: Any) -> bool:
    denied = identities.names(connection, row.id)
    return all(
        _has.first(connection, name=name, node=row.key, part=part) is not None
        for name, part in alias_names(row.name, row.type)
        if denied.get(name, True)
    )


def _words(node: Node) -> set[str]:
    return {word for name in (node.name, *node.aliases) for word in folded(name).split()}
