"""The text in an `attributedBody` of Messages: a typedstream, read no further than to its string."""

from __future__ import annotations

_HEADER = b"\x04\x0bstreamtyped"
_LENGTHS = {0x81: 2, 0x82: 4}
"""How many bytes of length follow such a first byte; any other is the length itself."""


def text_of(blob: object) -> str | None:
    """Return the text of a typedstream, None for anything else and for one that is cut short."""
    if not isinstance(blob, bytes) or not blob.startswith(_HEADER):
        return None
    name = blob.find(b"NSString")
    mark = blob.find(b"+", name) if name >= 0 else -1
    if mark < 0 or mark + 1 >= len(blob):
        return None
    start = mark + 2
    length = blob[mark + 1]
    if width := _LENGTHS.get(length):
        length = int.from_bytes(blob[start : start + width], "little")
        start += width
    text = blob[start : start + length]
    return text.decode(errors="replace") if len(text) == length else None
