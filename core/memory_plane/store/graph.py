"""The graph tables as a fold of classifications: nodes, aliases, mentions, edges and their evidence.

Each rule gives the same result in any order: a node is named by its earliest mention that is not in words of other
people, or else by its earliest, and by one of a node that was merged into it only where it has no other; an alias
counts its mentions; an edge keeps its most trusted origin, its highest probability, its earliest start and its newest
word on whether it still holds.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, and_, bindparam, delete, func, insert, select, update

from memory_plane import models, spellings
from memory_plane.prepared import Prepared
from memory_plane.store import exclusivity, identities
from memory_plane.store.names import folded
from memory_plane.store.places import place
from memory_plane.types import ORIGINS, Classification, Mention, Origin, Resolution

_nodes, _aliases, _mentions = models.graph_nodes, models.aliases, models.mentions
_edges, _evidence = models.graph_edges, models.graph_evidence
_FOLDED = (
    "probability", "method", "origin", "known_since", "valid_from", "valid_until", "opened_at", "closed_at", "ended",
)  # fmt: skip
_by_id = Prepared(select(_nodes).where(_nodes.c.id == bindparam("id")))
_founded_at = Prepared(select(_nodes.c.founded_at).where(_nodes.c.key == bindparam("node")))
_add_node = Prepared(
    insert(_nodes).returning(_nodes.c.key), "id", "type", "name", "slug", "origin", "founded_at", "joined"
)
_add_mention = Prepared(insert(_mentions))
_in_memory = Prepared(
    select(_mentions.c.start, _mentions.c.end, _mentions.c.node, _nodes.c.id)
    .join(_nodes, _nodes.c.key == _mentions.c.node)
    .where(_mentions.c.seq == bindparam("row"))
)
_named_by = Prepared(
    select(_mentions.c.seq)
    .join(_nodes, _nodes.c.key == _mentions.c.node)
    .join(models.operations, models.operations.c.seq == _mentions.c.seq)
    .where(models.operations.c.id == bindparam("memory"), _nodes.c.id == bindparam("id"))
    .limit(1)
)
_said = (
    select(_edges.c.key)
    .join(_evidence, and_(_evidence.c.edge == _edges.c.key, _evidence.c.seq == bindparam("row")))
    .where(
        _edges.c.source.in_(bindparam("nodes", expanding=True)),
        _edges.c.relation.in_(bindparam("labels", expanding=True)),
        _edges.c.target.in_(bindparam("nodes", expanding=True)),
    )
    .distinct()
)
_edge = Prepared(
    select(_edges).where(
        _edges.c.source == bindparam("from_node"),
        _edges.c.relation == bindparam("label"),
        _edges.c.target == bindparam("to_node"),
    )
)
_add_edge = Prepared(
    insert(_edges).returning(_edges.c.key), *(column.name for column in _edges.c if column is not _edges.c.key)
)
_change_edge = Prepared(update(_edges).where(_edges.c.key == bindparam("which")), *_FOLDED)
_add_word = Prepared(lambda insert: insert(_evidence).on_conflict_do_nothing())
_take_words = Prepared(
    delete(_evidence).where(_evidence.c.edge == bindparam("which"), _evidence.c.seq == bindparam("row"))
)
_this = and_(
    _aliases.c.name == bindparam("alias"), _aliases.c.node == bindparam("key"), _aliases.c.part == bindparam("of")
)
_has_name = Prepared(
    select(_aliases.c.name).where(_aliases.c.name == bindparam("alias"), _aliases.c.node == bindparam("key")).limit(1)
)
_less = Prepared(update(_aliases).where(_this).values(uses=_aliases.c.uses - 1))
_none = Prepared(delete(_aliases).where(_this, _aliases.c.uses <= 0))
_TRUST: dict[Origin, int] = {origin: rank for rank, origin in enumerate(ORIGINS)}
_UNWORDED = re.compile(r"[\W_]+")


@Prepared
def _count_alias(insert: Any) -> Any:
    more = {"uses": _aliases.c.uses + 1}
    return insert(_aliases).on_conflict_do_update(index_elements=["name", "node", "part"], set_=more)


def apply(
    connection: Connection, seq: int, at: datetime, found: Classification, method: str, *, origin: Origin
) -> None:
    """Fold one plugin's classification of the memory in this row.

    A span means what was said of it first, and links join only nodes that the memory names, so that the graph comes
    out the same whatever other memories are there.
    """
    named = _in_memory.all(connection, row=seq)
    meant = {place(row.start, row.end, row.id): row.id for row in named}
    fresh: dict[tuple[int, int, str], Resolution] = {}
    for one in found.resolutions:
        where = place(one.mention.start, one.mention.end, one.node)
        if where not in meant:
            fresh.setdefault(where, one)
    keys = {row.id: row.node for row in named} | _settle_nodes(connection, at, origin, list(fresh.values()))
    _add_mentions(connection, seq, fresh.values(), keys)
    meant |= {where: one.node for where, one in fresh.items()}
    for one in found.resolutions:
        keys.setdefault(one.node, keys[meant[place(one.mention.start, one.mention.end, one.node)]])
    for link in found.links:
        ends = keys.get(link.source), keys.get(link.target)
        if ends[0] is not None and ends[1] is not None and ends[0] != ends[1]:
            word = _Word(method, link.probability, at, link.valid_from, link.valid_until, origin)
            _add_evidence(connection, seq, ends[0], link.relation, ends[1], word)


def remove(connection: Connection, seq: int, found: Sequence[Classification]) -> tuple[list[int], list[int]]:
    """Take a memory, classified so, out of the graph; return the nodes and the edges that `settle` must look after."""
    rows = _in_memory.all(connection, row=seq)
    named = {(row.start, row.end, row.id): row.node for row in rows}
    nodes = sorted({row.node for row in rows})
    labels = sorted({link.relation for one in found for link in one.links})
    edges = list(connection.execute(_said, {"row": seq, "nodes": nodes, "labels": labels}).scalars())
    _take_words.run_all(connection, [{"which": edge, "row": seq} for edge in edges])
    connection.execute(delete(_mentions).where(_mentions.c.seq == seq))
    for one in (resolution for classification in found for resolution in classification.resolutions):
        node = named.pop((one.mention.start, one.mention.end, one.node), None)
        if node is not None:
            _uncount(connection, node, alias_names(one.mention.text, one.mention.type))
    return nodes, edges


def settle(connection: Connection, nodes: Iterable[int], edges: Iterable[int]) -> list[int]:
    """Fold edges by what is left of their evidence, drop nodes that no memory names; return the nodes that are left."""
    sources = {_refold_edge(connection, edge) for edge in sorted(edges)}
    for source in sorted(filter(None, sources)):
        exclusivity.settle(connection, source)
    return [node for node in sorted(nodes) if not _drop_if_unnamed(connection, node)]


def earliest(connection: Connection, node: int) -> Iterator[tuple[int, int, int, str, bool]]:
    """Yield (row, start, end, id, joined) of the mentions that may name a node: all those of its earliest moment.

    Those of a node that was merged into it, and words of other people, count only where there are no others.
    """
    foreign = func.coalesce(models.thoughts.c.origin, models.facts.c.origin) == "external"
    named = (
        select(_mentions.c.seq, _mentions.c.start, _mentions.c.end, _nodes.c.id, _mentions.c.joined)
        .join(models.operations, models.operations.c.seq == _mentions.c.seq)
        .join(_nodes, _nodes.c.key == _mentions.c.node)
        .outerjoin(models.thoughts, models.thoughts.c.seq == _mentions.c.seq)
        .outerjoin(models.facts, models.facts.c.seq == _mentions.c.seq)
        .where(_mentions.c.node == node)
    )
    order = (_mentions.c.joined, foreign, models.effective())
    best = connection.execute(named.with_only_columns(*order).order_by(*order).limit(1)).first()
    if best is not None:
        for row in connection.execute(named.where(*(one == value for one, value in zip(order, best, strict=True)))):
            yield row.seq, row.start, row.end, row.id, row.joined


def founded_at(connection: Connection, node: int) -> datetime | None:
    """Return the moment of the mention that names a node, None where the node is gone."""
    at: datetime | None = _founded_at.scalar(connection, node=node)
    return at


def rename(
    connection: Connection, node: int, mentions: Iterable[tuple[Mention, Origin]], at: datetime, *, joined: bool
) -> None:
    """Name a node anew after one of its mentions was taken away."""
    mention, origin = min(mentions, key=lambda one: _rank(joined, one[1], at, one[0].text, one[0].type))
    _name(connection, node, mention, origin, at, joined)


def slug(type_: str, name: str) -> str:
    """Return the display slug of a name without its number: `person:rob`."""
    words = _UNWORDED.sub("-", unicodedata.normalize("NFKC", name).casefold()).strip("-")
    return f"{type_.casefold()}:{words[:64] or 'x'}"


def alias_names(text: str, type_: str) -> Iterable[tuple[str, bool]]:
    """Yield the folded names under which a mention can be found again; True marks what is not the whole of its name.

    That is what all spellings of it have in common, what is left of it but for a slip, and parts of a person's name.
    """
    whole = folded(text)
    yield whole, False
    if (key := spellings.key(whole)) != whole:
        yield spellings.MARK + key, True
    yield from ((covered, True) for covered in spellings.without_thirds(whole))
    if type_ == "Person":
        words = whole.split()
        if len(words) > 1:
            yield from ((word, True) for word in dict.fromkeys((words[0], words[-1])))


def _settle_nodes(
    connection: Connection, at: datetime, origin: Origin, resolutions: Sequence[Resolution]
) -> dict[str, int]:
    """Make the nodes that are new, rename those whose earliest mention this is; return row numbers by id."""

    def rank(one: Resolution) -> Any:
        return _rank(isinstance(one, identities.Joined), origin, at, one.mention.text, one.mention.type)

    first: dict[str, Resolution] = {}
    for one in resolutions:
        first[one.node] = min(first.get(one.node, one), one, key=rank)
    keys: dict[str, int] = {}
    for id, best in first.items():
        row, joined = _by_id.first(connection, id=id), isinstance(best, identities.Joined)
        if row is None:
            keys[id] = _add_node.scalar(connection, id=id, **_named(best.mention, origin, at, joined))
            count_given(connection, keys[id], id, 1)
            continue
        keys[id] = row.key
        if rank(best) < _rank(row.joined, row.origin, row.founded_at, row.name, row.type):
            _name(connection, row.key, best.mention, origin, at, joined)
    return keys


def _rank(
    joined: bool, origin: Origin, at: datetime, name: str, type_: str
) -> tuple[bool, bool, datetime, int, str, str, int]:
    """Which mention names a node: its own, not of other people, the earliest, longest, first in the alphabet."""
    return (joined, origin == "external", at, -len(name), name, type_, _TRUST[origin])


def _name(connection: Connection, node: int, mention: Mention, origin: Origin, at: datetime, joined: bool) -> None:
    """Name a node; what it may have but one of depends on its type."""
    connection.execute(update(_nodes).where(_nodes.c.key == node).values(**_named(mention, origin, at, joined)))
    exclusivity.settle(connection, node)


def _named(mention: Mention, origin: Origin, at: datetime, joined: bool) -> dict[str, Any]:
    names = {"type": mention.type, "name": mention.text, "slug": slug(mention.type, mention.text)}
    return {**names, "origin": origin, "founded_at": at, "joined": joined}


def _add_mentions(connection: Connection, seq: int, fresh: Iterable[Resolution], keys: Mapping[str, int]) -> None:
    rows, names = [], []
    said: dict[str, dict[str, bool]] = {}
    for one in fresh:
        mention, node = one.mention, keys[one.node]
        joined = isinstance(one, identities.Joined)
        rows.append({"seq": seq, "start": mention.start, "end": mention.end, "node": node, "joined": joined})
        if one.node not in said:
            said[one.node] = identities.names(connection, one.node)
        aliases = [alias for alias in alias_names(mention.text, mention.type) if said[one.node].get(alias[0], True)]
        names += [{"name": name, "node": node, "part": part, "uses": 1} for name, part in aliases]
    _add_mention.run_all(connection, rows)
    _count_alias.run_all(connection, names)


def count_given(connection: Connection, node: int, id: str, step: int) -> None:
    """Count, or no longer count, the names that persons gave a node."""
    given = [name for name, has in identities.names(connection, id).items() if has]
    if step > 0:
        names = [alias for name in given for alias in alias_names(name, "")]
        _count_alias.run_all(
            connection, [{"name": name, "node": node, "part": part, "uses": 1} for name, part in names]
        )
    else:
        _uncount(connection, node, [alias for name in given for alias in alias_names(name, "")])


def key_of(connection: Connection, id: str) -> int | None:
    """Return the row of a node, None where it is not in the graph."""
    row = _by_id.first(connection, id=id)
    return None if row is None else row.key


def names(connection: Connection, memory: str, node: str) -> bool:
    """Whether a memory names a node."""
    return _named_by.first(connection, memory=memory, id=node) is not None


def is_called(connection: Connection, node: str, name: str) -> bool:
    """Whether a node is found by a name, which may be a part of its own."""
    key = key_of(connection, node)
    return _has_name.first(connection, alias=folded(name), key=key) is not None


def _uncount(connection: Connection, node: int, names: Iterable[tuple[str, bool]]) -> None:
    rows = [{"alias": name, "key": node, "of": part} for name, part in names]
    _less.run_all(connection, rows)
    _none.run_all(connection, rows)


def _drop_if_unnamed(connection: Connection, node: int) -> bool:
    """Remove a node that no memory names; so no edge touches it either."""
    named = select(_mentions.c.seq).where(_mentions.c.node == node).limit(1)
    if connection.execute(named).first() is not None:
        return False
    connection.execute(delete(_aliases).where(_aliases.c.node == node))
    connection.execute(delete(_nodes).where(_nodes.c.key == node))
    return True


def _add_evidence(connection: Connection, seq: int, source: int, relation: str, target: int, word: _Word) -> None:
    row = _edge.first(connection, from_node=source, label=relation, to_node=target)
    known = None if row is None else row._asdict()
    values = _folded_edge(known, word)
    if known is None:
        key = _add_edge.scalar(connection, source=source, relation=relation, target=target, **values)
    else:
        key = known["key"]
    new = _add_word.run(connection, edge=key, seq=seq, **{name: getattr(word, name) for name in _Word.__slots__})
    if known is not None and new and any(known[name] != value for name, value in values.items()):
        _change_edge.run(connection, which=key, **values)
    if new and exclusivity.concerns(relation):
        exclusivity.settle(connection, source, relation)


def _refold_edge(connection: Connection, edge: int) -> int | None:
    """Fold an edge anew; return the row of its source where other edges of that depend on it."""
    row = connection.execute(select(_edges.c.source, _edges.c.relation).where(_edges.c.key == edge)).first()
    values: dict[str, Any] | None = None
    for word in _words.all(connection, edge=edge):
        values = _folded_edge(values, _Word(*word))
    if values is None:
        connection.execute(delete(_edges).where(_edges.c.key == edge))
    else:
        _change_edge.run(connection, which=edge, **values)
    return row.source if row is not None and exclusivity.concerns(row.relation) else None


@dataclass(frozen=True, slots=True)
class _Word:
    """What one memory says of an edge."""

    method: str
    probability: float
    at: datetime
    valid_from: datetime | None
    valid_until: datetime | None
    origin: Origin


# In the order of the fields of `_Word`.
_words = Prepared(select(*(_evidence.c[name] for name in _Word.__slots__)).where(_evidence.c.edge == bindparam("edge")))


def as_known(connection: Connection, edge: int, until: datetime) -> dict[str, Any] | None:
    """Return what an edge's row held when only what is said up to `until` had been; None before the first word."""
    values: dict[str, Any] | None = None
    for word in (_Word(*row) for row in _words.all(connection, edge=edge)):
        if word.at <= until:
            values = _folded_edge(values, word)
    return values


def _folded_edge(known: Mapping[Any, Any] | None, word: _Word) -> dict[str, Any]:
    """Add one word to what an edge's row holds; other people's count only as long as nobody else spoke of it."""
    opened, closing = (word.at, None) if word.valid_until is None else (None, (word.at, word.valid_until))
    best, since, start = (word.probability, word.method), word.at, word.valid_from
    origin = word.origin
    if known is not None:
        foreign = word.origin == "external", known["origin"] == "external"
        origin = min(origin, known["origin"], key=_TRUST.__getitem__)
        best = max(best, (known["probability"], known["method"]))
        since = min(since, known["known_since"])
        if foreign == (True, False):
            opened, closing, start = None, None, None
        if foreign != (False, True):
            start = min(filter(None, (start, known["valid_from"])), default=None)
            opened = max(filter(None, (opened, known["opened_at"])), default=None)
            before = (known["closed_at"], known["ended"]) if known["closed_at"] is not None else None
            closing = max(filter(None, (closing, before)), default=None)
    closed_at, ended = closing or (None, None)
    over = closed_at is not None and (opened is None or opened <= closed_at)
    return {
        "probability": best[0],
        "method": best[1],
        "origin": origin,
        "known_since": since,
        "valid_from": start,
        "valid_until": ended if over else None,
        "opened_at": opened,
        "closed_at": closed_at,
        "ended": ended,
    }
