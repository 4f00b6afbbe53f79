"""What means nearly the same as a question, whatever its words: a bounded look into the cells of the vectors.

The signs of a vector begin with its widest directions, so memories whose signs begin like the question's are near it. A
cell is such a beginning, so long that some hundred memories share it: a small memory is looked through whole, of a
large one the nearest cells are. Signs alone choose; the caller compares the numbers of those chosen.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from heapq import heappop, heappush, nsmallest
from math import log2

from sqlalchemy import Connection, bindparam, text

from memory_plane.prepared import Prepared
from memory_plane.store import vectors

LOOKED_AT = 1_000
"""How many memories' signs are compared for one question."""
IN_CELL = 32
"""About so many memories share a cell."""
CELLS = 64
"""No more cells than this are opened."""
_CELL = Prepared(
    text(
        "SELECT seq, signs FROM vectors WHERE model = :model AND signs >= :low AND signs < :high"
        " ORDER BY signs, seq LIMIT :most"
    ).bindparams(*map(bindparam, ("model", "low", "high", "most")))
)
_LAST = Prepared(text("SELECT max(seq) FROM vectors"))


def nearest(connection: Connection, model: str, vector: Sequence[float], most: int) -> list[int]:
    """Return the memories whose signs are most like the question's, of those that were looked at.

    A sign among the surer half of the question's counts twice, among the surest quarter three times.
    """
    signs = vectors.signs(vector)
    wanted = int.from_bytes(signs, "big")
    sure, surest = _surest(vector, 8 * len(signs))
    found: list[tuple[int, int]] = []
    left = LOOKED_AT
    for low, high in _cells(vector, len(signs), _LAST.scalar(connection) or 0):
        rows = _CELL.all(connection, model=model, low=low, high=high, most=left)
        found += [
            ((apart := int.from_bytes(said, "big") ^ wanted).bit_count()
             + (apart & sure).bit_count() + (apart & surest).bit_count(), -seq)
            for seq, said in rows
        ]  # fmt: skip
        left -= len(rows)
        if left <= 0:
            break
    return [-seq for _, seq in nsmallest(most, found)]


def _surest(vector: Sequence[float], size: int) -> Iterator[int]:
    """Yield the bits of the half of the numbers that is farthest from 0, and of the quarter."""
    sizes = [abs(value) for value in vector]
    places = sorted(range(len(vector)), key=sizes.__getitem__, reverse=True)
    for part in (2, 4):
        yield sum([1 << (size - 1 - place) for place in places[: len(vector) // part]])


def _cells(vector: Sequence[float], size: int, count: int) -> Iterator[tuple[bytes, bytes]]:
    """Yield where cells begin and end, the nearest first."""
    width = 0 if count <= LOOKED_AT else min(int(log2(count / IN_CELL)), len(vector), 24)
    own = int("".join("1" if value > 0 else "0" for value in vector[:width]) or "0", 2)
    rest = 8 * size - width
    for cell in _near(own, [abs(value) for value in vector[:width]]):
        high = (cell + 1) << rest
        last = b"\xff" * (size + 1) if high >> 8 * size else high.to_bytes(size, "big")
        yield (cell << rest).to_bytes(size, "big"), last


def _near(own: int, margins: Sequence[float]) -> Iterator[int]:
    """Yield the beginning of the signs, then those with the least certain signs turned, by how much was turned."""
    order = sorted(range(len(margins)), key=margins.__getitem__)
    bits = [1 << (len(margins) - 1 - place) for place in order]
    costs = [margins[place] for place in order]
    yield own
    heap = [(costs[0], 0, bits[0])] if bits else []
    for _ in range(CELLS - 1):
        if not heap:
            return
        cost, last, turned = heappop(heap)
        yield own ^ turned
        if last + 1 < len(bits):  # turn the next one too, or instead
            heappush(heap, (cost + costs[last + 1], last + 1, turned | bits[last + 1]))
            heappush(heap, (cost + costs[last + 1] - costs[last], last + 1, (turned ^ bits[last]) | bits[last + 1]))
