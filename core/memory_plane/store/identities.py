"""What persons have said of nodes, as folds read it: which node a memory means, and which names a node has.

Answers of plugins name nodes as they were known when they were asked. `seen` puts the nodes in their place that they
are by now; the answers themselves stay as they are, so that whatever was said of nodes can be taken back.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from uuid import UUID, uuid5

from sqlalchemy import Connection, bindparam, select

from memory_plane import models
from memory_plane.prepared import Prepared
from memory_plane.store import apartness
from memory_plane.store.codec import Derivation
from memory_plane.types import NAMESPACE, Classification, Resolution

_same, _apart = models.same_nodes, models.kept_apart
_parted, _said = models.parted_nodes, models.node_names
_any_same = Prepared(select(_same.c.node).limit(1))
_any_apart = Prepared(select(_apart.c.one).limit(1))
_foes = Prepared(select(_apart.c.other).where(_apart.c.one == bindparam("id")))
_any_name = Prepared(select(_said.c.seq).limit(1))
_stands = Prepared(select(_same.c.representative).where(_same.c.node == bindparam("id")))
_members = Prepared(select(_same.c.node).where(_same.c.representative == bindparam("id")))
_partings = Prepared(
    select(_parted.c.node, _parted.c.founded)
    .join(models.operations, models.operations.c.seq == _parted.c.seq)
    .where(_parted.c.memory == bindparam("memory"))
    .order_by(models.effective(), models.operations.c.id)
)
_names = Prepared(
    select(_said.c.name, _said.c.denied, models.effective(), models.operations.c.id)
    .join(models.operations, models.operations.c.seq == _said.c.seq)
    .where(_said.c.node == bindparam("id"))
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Joined(Resolution):
    """What is called a node that a person merged into this one: it gives this one no name while another does."""


def founded_by(split: str) -> str:
    """Return the id of the node that the operation `split` takes out of another."""
    return str(uuid5(NAMESPACE, f"split:{UUID(split)}"))


def representative(connection: Connection, id: str) -> str:
    """Return the node that stands for this one, which is itself unless it was merged into another."""
    found: str | None = _stands.scalar(connection, id=id)
    return found or id


def members(connection: Connection, id: str) -> list[str]:
    """Return the nodes that a representative stands for, itself among them."""
    return [row.node for row in _members.all(connection, id=id)] or [id]


def seen(connection: Connection, memory: str, answers: Iterable[Derivation]) -> list[Derivation]:
    """Return the answers about a memory with the nodes that they mean by now."""
    given = list(answers)
    if not any(one.classification is not None for one in given):
        return given
    if _any_apart.first(connection) is not None:
        given = apartness.kept(memory, given, Foes(connection).are_distinct)
    partings = _partings.all(connection, memory=memory)
    if not partings and _any_same.first(connection) is None:
        return given
    meant = _Meant(connection, [(row.node, row.founded) for row in partings])
    return [
        one if one.classification is None else replace(one, classification=meant.of(one.classification))
        for one in given
    ]


def names(connection: Connection, id: str) -> dict[str, bool]:
    """Return the folded names that persons gave (True) or denied (False) the node that a representative is."""
    if _any_name.first(connection) is None:
        return {}
    words = [
        (at, op, name, denied)
        for node in members(connection, id)
        for name, denied, at, op in _names.all(connection, id=node)
    ]
    return {name: not denied for _, _, name, denied in sorted(words)}


class Foes(dict[str, set[str]]):
    """By the node that stands for another those that it is not, read when they are asked for."""

    def __init__(self, connection: Connection) -> None:
        super().__init__()
        self._connection = connection
        self._stands: dict[str, str] = {}

    def __missing__(self, id: str) -> set[str]:
        self[id] = {row.other for row in _foes.all(self._connection, id=id)}
        return self[id]

    def are_distinct(self, one: str, other: str) -> bool:
        """Whether two nodes, with all that each stands for, hold two that are not one."""
        foes = self[self._representative(one)]
        return bool(foes) and self._representative(other) in foes

    def _representative(self, id: str) -> str:
        if id not in self._stands:
            self._stands[id] = representative(self._connection, id)
        return self._stands[id]


class _Meant:
    """The node that each id means in one memory."""

    def __init__(self, connection: Connection, partings: Sequence[tuple[str, str]]) -> None:
        self._connection = connection
        self._partings = partings
        self._known: dict[str, tuple[str, str]] = {}

    def of(self, found: Classification) -> Classification:
        """Return a classification with the nodes that it means."""
        return replace(
            found,
            resolutions=tuple(map(self._resolution, found.resolutions)),
            links=tuple(
                replace(link, source=self._node(link.source), target=self._node(link.target)) for link in found.links
            ),
        )

    def _resolution(self, one: Resolution) -> Resolution:
        own, node = self._means(one.node)
        joined = Joined(mention=one.mention, node=node, probability=one.probability)
        return replace(one, node=node) if own == node else joined

    def _node(self, id: str) -> str:
        return self._means(id)[1]

    def _means(self, id: str) -> tuple[str, str]:
        """Return the node that an id means by what was split, and the one that stands for that."""
        if id not in self._known:
            own = id
            for node, founded in self._partings:
                if representative(self._connection, own) == representative(self._connection, node):
                    own = founded
            self._known[id] = own, representative(self._connection, own)
        return self._known[id]
