"""A block of ours in a Markdown file, between two comments that no reader of the page sees."""

from __future__ import annotations

from memory_plane.setup.errors import Broken

BEGIN, END = "<!-- memory-plane: begin -->", "<!-- memory-plane: end -->"


def get(data: bytes) -> str | None:
    """Return the text of the block, None if there is none; raise `Broken` for one that is torn."""
    text = _text(data).replace("\r\n", "\n")
    if BEGIN not in text and END not in text:
        return None
    held, end, _ = text.partition(BEGIN)[2].partition(END)
    if not end or text.count(BEGIN) + text.count(END) != 2:
        raise Broken(f"holds {BEGIN!r} and {END!r} other than once each, in this order")
    return held.strip("\n")


def put(data: bytes, text: str) -> bytes:
    """Set the text of the block, at the end of the file where there is none yet."""
    whole, newline = _text(data), "\r\n" if b"\r\n" in data else "\n"
    block = f"{BEGIN}\n{text.strip()}\n{END}".replace("\n", newline)
    if get(data) is not None:
        before, _, rest = whole.partition(BEGIN)
        return (before + block + rest.partition(END)[2]).encode()
    return (whole + _gap(whole, newline) + block + newline).encode()


def drop(data: bytes) -> bytes:
    """Remove the block with the empty line before it."""
    whole, newline = _text(data), "\r\n" if b"\r\n" in data else "\n"
    before, _, rest = whole.partition(BEGIN)
    after = rest.partition(END)[2].removeprefix(newline)
    if before.endswith(newline * 2):
        before = before.removesuffix(newline)
    return (before + after).encode()


def _gap(whole: str, newline: str) -> str:
    if not whole:
        return ""
    return newline if whole.endswith("\n") else newline * 2


def _text(data: bytes) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError:
        raise Broken("is not UTF-8") from None
