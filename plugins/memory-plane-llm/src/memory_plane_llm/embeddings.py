"""The wire format of embeddings: texts to vectors of length 1, each model's and size's apart."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from itertools import islice
from math import hypot
from typing import Any

from memory_plane.redact import redact
from memory_plane.remote_model import RemoteModel, Unusable
from memory_plane.types import Vectors

PATH = "/embeddings"
TEXT = 8_000
"""Characters of a text that are sent."""
BATCH = 32
"""Texts in one request: a server without a graphics card is to answer one within its deadline."""
WIDEST = 8_192
"""Numbers in a vector."""

_NOTHING = "."  # servers refuse an empty text
_LARGEST = 1e6


def embed(remote: RemoteModel, model: str, texts: Sequence[str]) -> Vectors:
    """Return a vector a text; raise `ModelUnavailable`. The name tells the size too: a server may change it."""
    rows = [row for batch in _batches(texts) for row in remote.ask(PATH, question(model, batch), partial(_read, batch))]
    sizes = {len(row) for row in rows}
    if len(sizes) > 1:
        raise Unusable(f"vectors of {len(sizes)} sizes")
    return Vectors(model=f"{model}/{min(sizes, default=0)}", rows=tuple(rows))


def question(model: str, texts: Sequence[str]) -> dict[str, Any]:
    """Return the request about these texts."""
    return {
        "model": model,
        "input": [redact(text[:TEXT]).strip() or _NOTHING for text in texts],
        "encoding_format": "float",
    }


def _batches(texts: Sequence[str]) -> Iterator[list[str]]:
    left = iter(texts)
    while batch := list(islice(left, BATCH)):
        yield batch


def _read(texts: Sequence[str], said: Any) -> list[tuple[float, ...]]:
    """Return the rows in the order of the texts, by their `index`; raise `Unusable` unless each has its own."""
    listed = said.get("data") if isinstance(said, dict) else None
    if not isinstance(listed, list) or len(listed) != len(texts):
        raise Unusable("it has not one vector a text")
    rows: dict[Any, tuple[float, ...]] = {}
    for at, entry in enumerate(listed):
        if not isinstance(entry, dict):
            raise Unusable("a vector is no object")
        rows[entry.get("index", at)] = _row(entry.get("embedding"))
    if set(rows) != set(range(len(texts))) or len({len(row) for row in rows.values()}) != 1:
        raise Unusable("its vectors are not numbered by the texts, or of several sizes")
    return [rows[at] for at in range(len(texts))]


def _row(numbers: Any) -> tuple[float, ...]:
    if not isinstance(numbers, list) or not 0 < len(numbers) <= WIDEST or not all(map(_is_number, numbers)):
        raise Unusable("a vector holds what is no number, or too many")
    length = hypot(*numbers)
    if not length:
        raise Unusable("a vector is all zeros")
    return tuple(number / length for number in numbers)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and -_LARGEST <= value <= _LARGEST
