"""Which known nodes the mentions of a memory may be, with the evidence for each."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass, field
from datetime import datetime

from sqlalchemy import Connection, bindparam, select, text, type_coerce

from memory_plane import models, spellings
from memory_plane.prepared import Prepared
from memory_plane.recall.witnesses import Claimed, shared
from memory_plane.store import identities
from memory_plane.store.names import folded
from memory_plane.types import Candidate, Claim, Memory, Mention, Node, Origin, new_node_id

PER_NAME = 8
"""How many nodes of one name are considered, the youngest first."""
RECENT = 30
"""How many of a node's newest mentions count as evidence."""
SLIPS = 32
"""How many nodes whose names may be a letter off are looked at."""
PART_SCORE = spellings.PART
"""The name score of a first or last name against a whole one."""

_nodes, _aliases, _mentions = models.graph_nodes, models.aliases, models.mentions
_named = Prepared(
    select(*(_nodes.c[name] for name in ("key", "id", "type", "name", "origin", "founded_at")), _aliases.c.part)
    .join(_aliases, _aliases.c.node == _nodes.c.key)
    .where(_aliases.c.name == bindparam("name"))
    .order_by(_aliases.c.part, _nodes.c.key.desc())
    .limit(PER_NAME)
)
_listed = text("SELECT value FROM json_each(:names)").columns(value=_aliases.c.name.type)
_slipped = Prepared(
    select(*(_nodes.c[name] for name in ("key", "id", "type", "name", "origin", "founded_at")))
    .join(_aliases, _aliases.c.node == _nodes.c.key)
    .where(_aliases.c.name.in_(_listed))
    .limit(SLIPS)
)
_whole = Prepared(
    select(_aliases.c.name)
    .where(_aliases.c.node == bindparam("node"), ~_aliases.c.part, _aliases.c.name.contains(" "))
    .order_by(_aliases.c.name)
    .limit(PER_NAME)
)
_lately = Prepared(
    select(_mentions.c.seq, models.operations.c.agent, type_coerce(models.effective(), models.Row).label("at"))
    .join(models.operations, models.operations.c.seq == _mentions.c.seq)
    .where(_mentions.c.node == bindparam("node"))
    .order_by(_mentions.c.seq.desc())
    .limit(RECENT)
)


@dataclass(slots=True)
class Known:
    """A known node, when it got its name, the memories that named it lately, and who wrote them."""

    key: int
    node: Node
    founded_at: datetime
    memories: set[int] = field(default_factory=set)
    agents: set[str] = field(default_factory=set)
    last_seen: datetime | None = None


@dataclass(frozen=True, slots=True)
class Candidates:
    """The candidates for the hooks, the known nodes behind them by id, and the names that were looked up."""

    found: tuple[Candidate, ...] = ()
    known: dict[str, Known] = field(default_factory=dict)
    names: tuple[str, ...] = ()


def candidates(
    connection: Connection,
    memory: Memory,
    mentions: Sequence[Mention],
    claims: Sequence[Claim] = (),
    *,
    but: int | None = None,
) -> Candidates:
    """Look up each mention by its name, and where no node has had it by other spellings, short forms and parts of it.

    The row `but`, which is that of the memory, is no evidence, and a node that it founded has had no name before.
    """
    look = _LookUp(connection, but)
    claimed = Claimed(claims, look.__getitem__)
    own = frozenset(new_node_id(memory.id, one) for one in mentions) if but is not None else frozenset()
    options = [(mention, *option) for mention in mentions for option in _options(mention, look, own)]
    names = {folded(one.text): look[folded(one.text)] for one in mentions}
    found = [
        Candidate(
            mention=mention,
            node=option.node,
            name_score=score,
            shared_neighbours=shared(connection, option, name, names),
            same_agent=memory.agent in option.agents,
            last_seen=option.last_seen,
            given=score == 1 and look.given(option, name),
            agrees=claimed.agrees(connection, option, name, but),
            contradicts=claimed.contradicts(connection, option, name),
        )
        for mention, option, score in options
        for name in (folded(mention.text),)
    ]
    return Candidates(tuple(found), look.known, tuple(look))


def outdated(connection: Connection, asked: Candidates) -> bool:
    """Whether somebody has founded a node of one of these names since they were looked up."""
    rows = (row for name in asked.names for row in _named.all(connection, name=name))
    return any(row.id not in asked.known for row in rows)


class _LookUp(dict[str, list[tuple[Known, bool]]]):
    """The nodes that have had a name, and whether it is but a part of theirs; each name is looked up once."""

    def __init__(self, connection: Connection, but: int | None) -> None:
        super().__init__()
        self.known: dict[str, Known] = {}
        self._whole: dict[int, list[str]] = {}
        self._connection = connection
        self._but = but

    def __missing__(self, name: str) -> list[tuple[Known, bool]]:
        self[name] = [(self._known(*row), part) for *row, part in _named.all(self._connection, name=name)]
        return self[name]

    def slips(self, name: str) -> list[Known]:
        """Return nodes that a name may mean if a letter of it is wrong."""
        names = list(spellings.slips(name))
        rows = _slipped.all(self._connection, names=json.dumps(names)) if names else []
        return [self._known(*row) for row in rows if spellings.is_slip(name, folded(row.name))]

    def _known(self, key: int, id: str, type_: str, name: str, origin: Origin, founded_at: datetime) -> Known:
        if id not in self.known:
            node = Node(id=id, type=type_, name=name, origin=origin)
            self.known[id] = Known(key, node, founded_at)
        return self.known[id]

    def recall(self, known: Known) -> Known:
        """Fill in who named a node lately, and where; only those that are considered need it."""
        if known.last_seen is None:
            _recall(self._connection, known, self._but)
        return known

    def whole(self, known: Known) -> list[str]:
        """Return the names of several words that a person has had."""
        if known.key not in self._whole:
            self._whole[known.key] = [row.name for row in _whole.all(self._connection, node=known.key)]
        return self._whole[known.key]

    def is_shared(self, name: str, known: Known, whole: Sequence[str]) -> bool:
        """Whether a first or last name is also that of another person than one who is called `whole`."""
        others = (self.whole(one) for one, _ in self[name] if one is not known and one.node.type == "Person")
        return any(theirs and not _closest(whole, theirs) for theirs in others)

    def given(self, known: Known, name: str) -> bool:
        """Whether a person said that a node is called so."""
        return identities.names(self._connection, known.node.id).get(name, False)

    def denied(self, known: Known, name: str) -> bool:
        """Whether a person said that a node is not called so."""
        return not identities.names(self._connection, known.node.id).get(name, True)


def _options(mention: Mention, look: _LookUp, own: Set[str]) -> Iterator[tuple[Known, float]]:
    """Yield the nodes that a mention may be, each once, with how alike the names are.

    Where only one of its `own` memory has had the name, those that are called otherwise may be it too.
    """
    name = folded(mention.text)
    seen: set[str] = set()
    for option, part in look[name]:
        if option.node.id not in seen:
            seen.add(option.node.id)
            yield look.recall(option), PART_SCORE if part or _is_but_part(mention, option, look) else 1.0
    if any(not part and option.node.id not in own for option, part in look[name]) or mention.start == mention.end:
        return
    for option, score in _alike(name, look, person=mention.type == "Person"):
        if score and option.node.id not in seen and not look.denied(option, name):
            seen.add(option.node.id)
            yield look.recall(option), score


def _is_but_part(mention: Mention, option: Known, look: _LookUp) -> bool:
    """Whether a node has been called by a name alone that is a part of its whole name and of that of somebody else."""
    name = folded(mention.text)
    if mention.type != "Person" or " " in name or len(look[name]) == 1 or look.given(option, name):
        return False
    whole = [one for one in look.whole(option) if name in one.split()]
    return bool(whole) and look.is_shared(name, option, whole)


def _alike(name: str, look: _LookUp, *, person: bool) -> Iterator[tuple[Known, float]]:
    """Yield the nodes whose names are spelt otherwise, shorter or longer, or are a letter off."""
    for other in _spellings(name, person=person):
        yield from ((option, _likeness(name, option, other, look, person=person)) for option, _ in look[other])
    yield from ((option, spellings.SLIP) for option in look.slips(name))


def _spellings(name: str, *, person: bool) -> Iterator[str]:
    """Yield the names that a node of this name may have had instead."""
    key = spellings.key(name)
    yield spellings.MARK + key
    if key != name:
        yield key
    if person and (contracted := spellings.contracted(key)) != key:
        yield spellings.MARK + contracted
    yield from spellings.latin(name)
    words = name.split()
    if person and len(words) > 1:
        yield from (words[-1], words[0], *spellings.shorts(words[0]))
    elif person:
        yield from spellings.shorts(name)


def _likeness(name: str, known: Known, other: str, look: _LookUp, *, person: bool) -> float:
    """How alike a name is to that of a node which was found as `other`.

    A name alone that several people have is less, and who has a whole name is nobody of another one.
    """
    if not (person and known.node.type == "Person"):
        return spellings.ALIKE if spellings.key(name) == spellings.key(other.removeprefix(spellings.MARK)) else 0.0
    if " " not in name:
        return spellings.likeness(name, folded(known.node.name))
    if whole := look.whole(known):
        return _closest([name], whole)
    likeness = spellings.likeness(name, folded(known.node.name))
    shared = likeness == spellings.PART and look.is_shared(other, known, [name])
    return spellings.SHORT_ALONE if shared else likeness


def _closest(names: Sequence[str], others: Sequence[str]) -> float:
    """How alike the most alike of some whole names are."""
    return max(spellings.likeness(one, other) for one in names for other in others)


def _recall(connection: Connection, known: Known, but: int | None) -> None:
    rows = [row for row in _lately.all(connection, node=known.key) if row.seq != but]
    known.memories.update(row.seq for row in rows)
    known.agents.update(row.agent for row in rows)
    known.last_seen = models.moment(max((row.at for row in rows), default=None))
