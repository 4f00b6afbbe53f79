"""What memories mean, as one model has it: a row of numbers, and the signs of these, by which near ones are found.

A sign is one bit, the widest direction first, so that what begins alike lies together in the index: a table of cells
whose size is chosen when it is asked. Rows of two models are never compared.
"""

from __future__ import annotations

import struct
from array import array
from collections.abc import Sequence
from math import sqrt
from operator import mul
from typing import Any

from sqlalchemy import Connection, bindparam, delete, or_, select

from memory_plane import models
from memory_plane.operations import FORGOTTEN
from memory_plane.prepared import Prepared
from memory_plane.store import cursors

_vectors, _log = models.vectors, models.operations
WHOLE = 10_000
"""What a number of length 1 at most is multiplied by before it is rounded."""
_SCALE = struct.Struct("<d")
_PLACE = "vectors of {}"  # no plugin has a space in its name
_is_there = Prepared(select(_log.c.op).where(_log.c.seq == bindparam("seq"), _log.c.op != FORGOTTEN))
_next = Prepared(
    select(_log.c.seq, _vectors.c.model)
    .join(_vectors, _vectors.c.seq == _log.c.seq, isouter=True)
    .where(_log.c.seq > bindparam("after"), or_(_log.c.op == "thought", _log.c.op == "fact"))
    .order_by(_log.c.seq)
    .limit(bindparam("most"))
)


@Prepared
def _put(insert: Any) -> Any:
    new = insert(_vectors)
    values = {name: new.excluded[name] for name in ("model", "signs", "row")}
    return new.on_conflict_do_update(index_elements=["seq"], set_=values)


_add = Prepared(lambda insert: insert(_vectors).on_conflict_do_nothing())


def put(connection: Connection, seq: int, model: str, row: Sequence[float]) -> None:
    """Keep what a memory means, in place of what another model said; nothing of one that was forgotten meanwhile."""
    _keep(_put, connection, seq, model, row)


def add(connection: Connection, seq: int, model: str, row: Sequence[float]) -> None:
    """Keep what a memory means unless a model has said it: the rounds may have come first, and do not come again."""
    _keep(_add, connection, seq, model, row)


def _keep(statement: Prepared, connection: Connection, seq: int, model: str, row: Sequence[float]) -> None:
    if _is_there.first(connection, seq=seq) is not None:
        statement.run(connection, seq=seq, model=model, signs=signs(row), row=packed(row))


def clear(connection: Connection) -> None:
    """Forget what every memory means, so that it is asked anew."""
    connection.execute(delete(_vectors))
    connection.execute(delete(models.cursors).where(models.cursors.c.plugin.like(_PLACE.format("%"))))


def following(connection: Connection, model: str, most: int) -> list[tuple[int, bool]]:
    """Return the next memories that were not looked at for this model yet, and whether each has its vector."""
    after = int(cursors.get(connection, _PLACE.format(model)) or 0)
    return [(row.seq, row.model == model) for row in _next.all(connection, after=after, most=most)]


def done(connection: Connection, model: str, upto: int) -> None:
    """Note that the memories up to a row were looked at."""
    cursors.put(connection, _PLACE.format(model), str(upto))


def signs(row: Sequence[float]) -> bytes:
    """Return one bit a number, set where it is above zero, the first number's bit first."""
    size = (len(row) + 7) // 8
    bits = "".join(["1" if value > 0 else "0" for value in row])
    return int(bits.ljust(8 * size, "0"), 2).to_bytes(size, "big")


def packed(row: Sequence[float]) -> bytes:
    """Return a row in one byte a number, after the factor that they are to be multiplied by."""
    most = max(map(abs, row)) or 1.0
    return _SCALE.pack(most / 127) + array("b", [round(value / most * 127) for value in row]).tobytes()


def likeness(query: Sequence[int], row: bytes) -> float:
    """Return the inner product of a query in `whole` numbers and a packed row: the cosine, less if it says little."""
    return float(_SCALE.unpack_from(row)[0] / WHOLE * sum(map(mul, query, array("b", row[_SCALE.size :]))))


def whole(row: Sequence[float]) -> tuple[int, ...]:
    """Return a row of length 1 in whole numbers, whose sums cost half as much."""
    return tuple([round(value * WHOLE) for value in row])


def unit(row: Sequence[float]) -> tuple[float, ...]:
    """Return a row of length 1, or of zeros."""
    length = sqrt(sum(value * value for value in row)) or 1.0
    return tuple(value / length for value in row)
