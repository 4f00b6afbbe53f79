"""JSON of any size, one value at a time: an array, or lines."""

from __future__ import annotations

import json
from codecs import getincrementaldecoder
from collections.abc import Iterator
from typing import IO, Any

from memory_plane.errors import MemoryPlaneError

LARGEST = 64_000_000
"""The most characters of one value; a file may have any number of them."""
_PIECE = 1 << 16
_OF_A_NUMBER = "0123456789.+-eE"  # and nothing, at the end of what was read
_decoder = json.JSONDecoder()


def elements(stream: IO[bytes]) -> Iterator[Any]:
    """Yield the values of an array; raise `MemoryPlaneError` where it is none, cut off, or one of them too large."""
    window = _Window(stream)
    if window.next() != "[":
        raise MemoryPlaneError("it does not hold an array of JSON")
    window.at += 1
    if window.next() == "]":
        return
    while True:
        window.number += 1
        yield window.value()
        match window.next():
            case ",":
                window.at += 1
            case "]":
                return
            case "":
                raise MemoryPlaneError(f"it is cut off after value {window.number}; fetch it again")
            case _:
                raise MemoryPlaneError(f"it is no JSON after value {window.number}")


class _Window:
    """A piece of a text that grows until a value is whole in it."""

    def __init__(self, stream: IO[bytes]) -> None:
        self._stream = stream
        self._decoder = getincrementaldecoder("utf-8-sig")("replace")
        self._text = ""
        self.at = 0
        self.number = 0

    def next(self) -> str:
        """Return the next character that is no space, "" at the end."""
        while True:
            while self.at < len(self._text):
                if not self._text[self.at].isspace():
                    return self._text[self.at]
                self.at += 1
            if not self._grow():
                return ""

    def value(self) -> Any:
        """Return the value that comes next."""
        if not self.next():
            raise MemoryPlaneError(f"it is cut off before value {self.number}; fetch it again")
        while True:
            try:
                value, end = _decoder.raw_decode(self._text, self.at)
            except RecursionError:
                raise MemoryPlaneError(f"value {self.number} is nested too deeply") from None
            except ValueError:
                self._grow_or_fail()
                continue
            goes_on = not isinstance(value, str | list | dict) and self._text[end : end + 1] in _OF_A_NUMBER
            if goes_on and self._grow():
                continue
            self.at = end
            return value

    def _grow_or_fail(self) -> None:
        if len(self._text) - self.at > LARGEST:
            raise MemoryPlaneError(f"value {self.number} is no JSON, or larger than {LARGEST:,} characters")
        if not self._grow():
            raise MemoryPlaneError(f"value {self.number} is cut off, or no JSON; fetch the file again")

    def _grow(self) -> bool:
        """Read as much again as there is left, so that a value of any size is tried a few times only."""
        data = self._stream.read(max(_PIECE, len(self._text) - self.at))
        piece = self._decoder.decode(data, final=not data)
        self._text = self._text[self.at :] + piece
        self.at = 0
        return bool(data or piece)


def document(stream: IO[bytes]) -> Any:
    """Return the one value of a small file, or raise `MemoryPlaneError`."""
    data = stream.read(LARGEST + 1)
    if len(data) > LARGEST:
        raise MemoryPlaneError(f"it is larger than {LARGEST:,} bytes")
    try:
        return json.loads(data.decode("utf-8-sig", "replace"))
    except (ValueError, RecursionError):
        raise MemoryPlaneError("it is no JSON") from None


def lines(stream: IO[bytes]) -> Iterator[Any]:
    """Yield the value of each line; None for one that is torn, too long or no JSON."""
    while line := stream.readline(LARGEST):
        if len(line) == LARGEST and not line.endswith(b"\n"):
            while line and not line.endswith(b"\n"):
                line = stream.readline(LARGEST)
            yield None
        elif not line.isspace():
            yield _value(line)


def _value(line: bytes) -> Any:
    try:
        return json.loads(line.decode("utf-8-sig", "replace"))
    except (ValueError, RecursionError):
        return None
