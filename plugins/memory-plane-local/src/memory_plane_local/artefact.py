"""Files of trained weights: a head of JSON that people can read, packed words, packed numbers of 16 bits."""

from __future__ import annotations

import json
import sys
import zlib
from array import array
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

SCALE = 1000
"""Weights are kept as so many parts of one."""


class Artefact(NamedTuple):
    """What a file holds: its head, its lists of words, its numbers."""

    about: dict[str, Any]
    lists: list[list[str]]
    numbers: array[int]


def read(path: Path) -> Artefact:
    """Read an artefact. Raises OSError or ValueError when it is missing or broken."""
    head, _, packed = path.read_bytes().partition(b"\n\n")
    about = json.loads(head)
    text = zlib.decompress(packed[: about["text"]]).decode()
    numbers = array("h", zlib.decompress(packed[about["text"] :]))
    if sys.byteorder == "big":
        numbers.byteswap()
    return Artefact(about, [part.split("\n") for part in text.split("\0")], numbers)


def write(path: Path, about: Mapping[str, Any], lists: Sequence[Sequence[str]], numbers: Iterable[int]) -> None:
    """Write an artefact that `read` gives back; the same contents make the same file."""
    text = zlib.compress("\0".join("\n".join(part) for part in lists).encode(), 9)
    packed = array("h", numbers)
    if sys.byteorder == "big":
        packed.byteswap()
    head = json.dumps({**about, "text": len(text)}, indent=1)
    path.write_bytes(head.encode() + b"\n\n" + text + zlib.compress(packed.tobytes(), 9))
