"""Pairs of nodes that plugins took for two though they may be one: what a person is asked to judge."""

from __future__ import annotations

from sqlalchemy import Connection, bindparam, delete

from memory_plane import models
from memory_plane.prepared import Prepared
from memory_plane.types import Classification

_doubts = models.doubts
_put = Prepared(lambda insert: insert(_doubts).on_conflict_do_nothing())
_remove = Prepared(delete(_doubts).where(_doubts.c.seq == bindparam("row")))


def put(connection: Connection, seq: int, found: Classification) -> None:
    """Keep the doubts of a classification: what its mentions mean, and what they may be besides."""
    means = {(one.mention.start, one.mention.end): one.node for one in reversed(found.resolutions)}
    rows = {
        (node, one.node): {"seq": seq, "one": node, "other": one.node, "probability": one.probability}
        for one in found.doubts
        for node in (means.get((one.mention.start, one.mention.end)),)
        if node is not None and node != one.node
    }
    _put.run_all(connection, rows.values())


def remove(connection: Connection, seq: int) -> None:
    """Forget the doubts about what a memory names."""
    _remove.run(connection, row=seq)
