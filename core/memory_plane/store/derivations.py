"""Derivations: record what plugins answered, fold it into graph, items and attention, and take it out again."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, bindparam, delete, func, or_, select, tuple_

from memory_plane import models
from memory_plane.prepared import Prepared
from memory_plane.store import attention, cursors, doubts, graph, identities, items, log
from memory_plane.store.codec import Derivation, decode, decode_attention, encode
from memory_plane.store.places import Place
from memory_plane.store.refining import refined
from memory_plane.types import Memory, Mention, Origin

_derivations = models.derivations
_visible = {
    table: Prepared(select(table.c.visible).where(table.c.seq == bindparam("row")))
    for table in (models.thoughts, models.facts)
}
_last_change = Prepared(select(func.max(_derivations.c.changed)))
_CHANGE = "late answers"  # no plugin has a space in its name
_of_memory = Prepared(
    select(_derivations.c.plugin, _derivations.c.version, _derivations.c.rank, _derivations.c.answer)
    .where(_derivations.c.seq == bindparam("row"))
    .order_by(_derivations.c.rank, _derivations.c.plugin)
)


@Prepared
def _put(insert: Any) -> Any:
    statement = insert(_derivations)
    newer = {name: statement.excluded[name] for name in ("version", "answer", "received_from", "changed")}
    theirs, ours = (tuple_(columns.version, columns.answer) for columns in (statement.excluded, _derivations.c))
    return statement.on_conflict_do_update(index_elements=["seq", "rank", "plugin"], set_=newer, where=theirs > ours)


def record(
    connection: Connection,
    seq: int,
    memory: Memory,
    at: datetime,
    derivations: Iterable[Derivation],
    *,
    peer: str | None = None,
    late: bool = False,
) -> None:
    """Keep new derivations, and fold them while the memory is visible: in one order, whichever came first.

    `peer` is the store that gave them; those that come `late`, after their memory was passed on, are numbered.
    """
    shown = _shown(connection, seq, memory)
    if shown is None:  # it was forgotten while its plugins thought
        return
    known = shown and any(answers(connection, seq))
    if known:
        remove_all(connection, seq)
    new = sorted(derivations, key=lambda one: (one.rank, one.plugin))
    for derivation in new:
        keep(connection, seq, memory, derivation, peer=peer, late=late)
    if known:
        apply_all(connection, seq)
    elif shown:
        fold(connection, seq, memory, at, new)


def heed(connection: Connection, agent: str, late: Iterable[tuple[int, Memory, Derivation]]) -> None:
    """Keep late answers that are of one agent's attention alone, and fold nothing else of the memories anew."""
    number = latest_change(connection)
    for seq, memory, answer in late:
        if not visible(connection, seq, memory):
            continue
        number += 1
        _keep(connection, seq, memory, answer, None, number)
        attention.take_scored(connection, seq, [agent])
        stored = [
            decode_attention(text, plugin=plugin, version=version, rank=rank)
            for plugin, version, rank, text in answers(connection, seq)
        ]
        routings = [one.routing for one in refined(stored) if one.routing is not None]
        attention.put(connection, seq, (one for said in routings for one in said.attention if one.agent == agent))
    cursors.put(connection, _CHANGE, str(number))


def visible(connection: Connection, seq: int, memory: Memory) -> bool:
    """Whether a memory was neither retracted nor forgotten nor is held back."""
    return bool(_shown(connection, seq, memory))


def _shown(connection: Connection, seq: int, memory: Memory) -> bool | None:
    """Whether a memory is visible, None where it is not there any more."""
    table = models.facts if memory.kind == "fact" else models.thoughts
    shown: bool | None = _visible[table].scalar(connection, row=seq)
    return shown


def keep(
    connection: Connection,
    seq: int,
    memory: Memory,
    derivation: Derivation,
    *,
    peer: str | None = None,
    late: bool = False,
) -> None:
    """Store one answer; of two that a plugin gave on two machines, the greater one counts on both."""
    _keep(connection, seq, memory, derivation, peer, _number(connection) if late else None)


def _keep(
    connection: Connection, seq: int, memory: Memory, derivation: Derivation, peer: str | None, number: int | None
) -> None:
    _put.run(
        connection,
        seq=seq,
        rank=derivation.rank,
        plugin=derivation.plugin,
        version=derivation.version,
        answer=encode(memory, derivation),
        received_from=peer,
        changed=number,
    )


def latest_change(connection: Connection) -> int:
    """Return the number of the latest late answer, also of one that is not here any more."""
    return max(int(cursors.get(connection, _CHANGE) or 0), _last_change.scalar(connection) or 0)


def _number(connection: Connection) -> int:
    """Give out the next number; none is given out twice, since a peer would take the second for the first."""
    number = latest_change(connection) + 1
    cursors.put(connection, _CHANGE, str(number))
    return number


def fold(connection: Connection, seq: int, memory: Memory, at: datetime, answers: Sequence[Derivation]) -> None:
    """Bring the derived tables up to date with all answers about one memory."""
    for answer in refined(identities.seen(connection, memory.id, answers)):
        if answer.classification is not None:
            graph.apply(connection, seq, at, answer.classification, answer.plugin, origin=memory.origin)
            doubts.put(connection, seq, answer.classification)
        if answer.routing is not None:
            attention.put(connection, seq, answer.routing.attention)
    for answer in answers:
        if answer.extraction is not None:
            items.open_derived(connection, seq, memory, answer.extraction.items, answer.plugin)


def apply_all(connection: Connection, seq: int) -> int:
    """Fold every stored derivation of a memory; return how many there are."""
    found = log.memory(connection, seq)
    if found is None:
        return 0
    memory, at = found
    stored = list(read(connection, seq, memory))
    fold(connection, seq, memory, at, stored)
    return len(stored)


def remove_all(connection: Connection, *seqs: int) -> None:
    """Take what was derived of memories out of graph, items and attention; the answers stay for the record."""
    nodes, edges, moments = set[int](), set[int](), set[datetime]()
    for seq in seqs:
        found = log.memory(connection, seq)
        if found is not None:
            touched = _remove(connection, seq, found[0])
            nodes.update(touched[0])
            edges.update(touched[1])
            moments.add(found[1])
    settled = _Settled(connection)
    for node in graph.settle(connection, nodes, edges):
        if graph.founded_at(connection, node) in moments:
            _rename(connection, node, settled)


def _remove(connection: Connection, seq: int, memory: Memory) -> tuple[list[int], list[int]]:
    """Take out what was derived of a memory; return the nodes that it named and the edges that it spoke of."""
    stored = list(read(connection, seq, memory))
    seen = refined(identities.seen(connection, memory.id, stored))
    touched = graph.remove(connection, seq, [one.classification for one in seen if one.classification is not None])
    doubts.remove(connection, seq)
    items.remove_derived(connection, seq)
    heard = {one.agent for answer in stored if answer.routing is not None for one in answer.routing.attention}
    attention.take_scored(connection, seq, heard)
    return touched


def read(connection: Connection, seq: int, memory: Memory) -> Iterator[Derivation]:
    """Yield the stored derivations of a memory, inline ones first."""
    for plugin, version, rank, answer in _of_memory.all(connection, row=seq):
        yield decode(memory, answer, plugin=plugin, version=version, rank=rank)


def answers(connection: Connection, seq: int) -> Iterator[tuple[str, str, int, str]]:
    """Yield (plugin, version, rank, answer as stored) of a memory."""
    yield from _of_memory.all(connection, row=seq)


def count(connection: Connection) -> int:
    """Return the number of stored derivations."""
    return connection.execute(select(func.count()).select_from(_derivations)).scalar_one()


def discard(connection: Connection, seq: int) -> None:
    """Forget the inline answers about a memory, also those for one agent, so that its plugins can be asked again."""
    inline = or_(_derivations.c.rank == 0, _derivations.c.plugin.contains(" "))
    connection.execute(delete(_derivations).where(_derivations.c.seq == seq, inline))


class _Settled(dict[int, tuple[dict[Place, Mention], Origin, datetime]]):
    """The mentions of each memory by place, its origin and its time; read once: many nodes may have one memory left."""

    def __init__(self, connection: Connection) -> None:
        super().__init__()
        self._connection = connection

    def __missing__(self, seq: int) -> tuple[dict[Place, Mention], Origin, datetime]:
        found = log.memory(self._connection, seq)
        assert found is not None
        places: dict[Place, Mention] = {}
        stored = read(self._connection, seq, found[0])
        for answer in refined(identities.seen(self._connection, found[0].id, stored)):
            for one in answer.classification.resolutions if answer.classification else ():
                places.setdefault((one.mention.start, one.mention.end, one.node), one.mention)
        self[seq] = places, found[0].origin, found[1]
        return self[seq]


def _rename(connection: Connection, node: int, settled: _Settled) -> None:
    """Name a node by the earliest of the mentions that are left."""
    mentions: list[tuple[Mention, Origin]] = []
    moment, joined = None, False
    for seq, start, end, id, merged in graph.earliest(connection, node):
        joined, (places, origin, moment) = merged, settled[seq]
        if (start, end, id) in places:
            mentions.append((places[start, end, id], origin))
    if mentions and moment is not None:
        graph.rename(connection, node, mentions, moment, joined=joined)
