"""How near the nodes of a memory are to what each agent does and owes: by links of the graph, two at most."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Mapping
from functools import lru_cache
from itertools import islice
from typing import NamedTuple

from sqlalchemy import Connection, bindparam, select, text, union_all

from memory_plane import models
from memory_plane.prepared import Prepared
from memory_plane.store.names import folded
from memory_plane.types import Node

LONGEST, WORDS = 4, 40
"""How many words a name in a focus may have, and how many of a focus are looked up."""
OWED = 10
"""How many open items of one agent tell what it owes."""
CONCERNS = 12
"""How many nodes an agent may be concerned with."""
WRITER = "me"
"""How the person is called in the graph."""
HUB = 40
"""A node with more links than this is near to everything and tells nothing."""
NAMED = 8
"""How many nodes of a memory are gone out from."""
FOCUS, ITEM = "in its focus", "in an item open for it"

_nodes, _edges = models.graph_nodes, models.graph_edges
_WORD = re.compile(r"\w+(?:[-.'’&+#@/]\w+)*[+#]*")
_called = Prepared(
    text(
        "SELECT a.name, n.key, n.name, n.origin FROM json_each(:names) AS j JOIN aliases AS a ON a.name = j.value"
        " AND NOT a.part JOIN graph_nodes AS n ON n.key = a.node WHERE n.type NOT IN ('Commitment', 'Role', 'Place')"
        " ORDER BY n.key DESC LIMIT 200"
    ).bindparams(bindparam("names"))
)
_owed = Prepared(
    text(
        "SELECT DISTINCT m.seq, n.key, n.name, n.origin FROM json_each(:seqs) AS j"
        " JOIN mentions AS m ON m.seq = j.value JOIN graph_nodes AS n ON n.key = m.node"
        " WHERE n.type NOT IN ('Commitment', 'Role') LIMIT 400"
    ).bindparams(bindparam("seqs"))
)
# A place is near to all that is in it, and whoever writes to all that is written.
_TELLING = (_nodes.c.type != "Place", _nodes.c.type != "Role", _nodes.c.name != WRITER, _edges.c.valid_until.is_(None))
_linked = Prepared(
    union_all(
        *(
            select(near)
            .select_from(_edges)
            .join(_nodes, _nodes.c.key == near)
            .where(_edges.c.key.in_(select(_edges.c.key).where(far == bindparam("node")).limit(HUB + 1)), *_TELLING)
            for near, far in ((_edges.c.target, _edges.c.source), (_edges.c.source, _edges.c.target))
        )
    )
)


class Concern(NamedTuple):
    """A node that an agent is concerned with, and why; `name` is empty where only other people call it so."""

    name: str
    why: str

    @property
    def words(self) -> str:
        """Say it after "linked to"."""
        return f"{self.name}, {self.why}" if self.name else self.why.removeprefix("in ")


class Near(NamedTuple):
    """How many links lead to a node from what an agent is concerned with, and the way in words."""

    hops: int
    way: str


def concerns(
    connection: Connection, focus: Mapping[str, str], owed: Mapping[str, Collection[int]]
) -> dict[str, dict[int, Concern]]:
    """Return what each agent is concerned with: nodes that its focus names, and its open items (given by rows)."""
    names = _listed(frozenset(filter(None, focus.values())))
    known: dict[str, list[tuple[int, Concern]]] = {}
    for alias, key, name, origin in _called.all(connection, names=names) if names else ():
        known.setdefault(alias, []).append((key, Concern("" if origin == "external" else name, FOCUS)))
    found = {
        agent: dict([one for name in _names(words) if name in known for one in known[name]][:CONCERNS])
        for agent, words in focus.items()
        if known and words
    }
    whose = {seq: agent for agent, seqs in owed.items() for seq in list(seqs)[:OWED]}
    for seq, key, name, origin in _owed.all(connection, seqs=json.dumps(list(whose))) if whose else ():
        own = found.setdefault(whose[seq], {})
        if len(own) < CONCERNS:
            own.setdefault(key, Concern("" if origin == "external" else name, ITEM))
    return {agent: own for agent, own in found.items() if own}


class Nearness:
    """Tells how near nodes are to concerns; every node is gone out from once."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._links: dict[int, frozenset[int]] = {}

    def of(self, nodes: Mapping[int, Node], own: Mapping[int, Concern]) -> dict[str, Near]:
        """Return how near those of the nodes, given by their rows, are, by ids, that are two links from a concern."""
        found = {node.id: Near(0, own[key].why) for key, node in nodes.items() if key in own}
        for key, node in islice(nodes.items(), NAMED if own else 0):
            if key not in own and node.type != "Place" and node.name != WRITER and (near := self._linked(key, own)):
                found[node.id] = near
        return found

    def _linked(self, key: int, own: Mapping[int, Concern]) -> Near | None:
        links = self._around(key)
        for concern, why in own.items():
            if concern in links:
                return Near(1, f"linked to {why.words}")
        for concern, why in own.items():
            if links and any(map(self._around, links & self._around(concern))):
                return Near(2, f"two links from {why.words}")
        return None

    def _around(self, key: int) -> frozenset[int]:
        """The nodes that are linked to one; none for a hub."""
        if key not in self._links:
            found = {row[0] for row in _linked.all(self._connection, node=key)}
            self._links[key] = frozenset(found if len(found) <= HUB else ())
        return self._links[key]


@lru_cache(maxsize=256)
def _names(focus: str) -> tuple[str, ...]:
    """What may be a name in a focus: up to four words in a row, the longest first."""
    words = _WORD.findall(focus)[:WORDS]
    return tuple(
        dict.fromkeys(
            folded(" ".join(words[at : at + length]))
            for length in range(min(LONGEST, len(words)), 0, -1)
            for at in range(len(words) - length + 1)
        )
    )


@lru_cache(maxsize=256)
def _listed(focus: frozenset[str]) -> str:
    names = {name for words in focus for name in _names(words)}
    return json.dumps(sorted(names)) if names else ""


def says(focus: str, name: str) -> bool:
    """Whether a focus has a name as words of its own."""
    return folded(name) in _names(focus)
