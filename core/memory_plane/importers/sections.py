"""A Markdown text in pieces that each make one memory: whole if it is short, else by heading, else by paragraph."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from memory_plane.redact import redact

LONGEST = 2_000
"""The most characters of a piece: about what a hit of recall can show."""

_HEADING = re.compile(r"(#{1,6})[ \t]+(.*?)[ \t]*#*")
_BOLD = re.compile(r"\*\*([^*\n]{1,80}?):?\*\*:?")
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_BLANK = re.compile(r"\n\s*\n")


class Section(NamedTuple):
    """A piece, and the headings that it stands below, joined by ` › `."""

    heading: str
    text: str


def sections(text: str, *, longest: int = LONGEST, bold: bool = False) -> list[Section]:
    """Return the pieces of a text, none of them empty; `bold`: a line all in bold is a heading too.

    Secrets go first: a key has blank lines in it, and a piece of one is not seen as a secret.
    """
    text = redact(text.replace("\r\n", "\n")).strip()
    if len(text) <= longest and not bold:
        return [Section("", text)] if text else []
    return [
        Section(heading, piece) for heading, body in _by_heading(text, bold) for piece in _pieces(body.strip(), longest)
    ]


def titled(title: str, heading: str, text: str) -> str:
    """Return a piece below the title of its text and the headings that it stands below."""
    return f"{' › '.join(filter(None, (title, heading)))}:\n\n{text}"


def _by_heading(text: str, bold: bool) -> Iterator[tuple[str, str]]:
    path: list[tuple[int, str]] = []
    body: list[str] = []
    fence = ""
    for line in text.split("\n"):
        if mark := _FENCE.match(line):
            if not fence:
                fence = mark[1]
            elif mark[1].startswith(fence):
                fence = ""
        found = None if fence else _heading(line, bold)
        if found is None:
            body.append(line)
            continue
        yield " › ".join(title for _, title in path), "\n".join(body)
        body = []
        path = [*(known for known in path if known[0] < found[0]), found]
    yield " › ".join(title for _, title in path), "\n".join(body)


def _heading(line: str, bold: bool) -> tuple[int, str] | None:
    if found := _HEADING.fullmatch(line):
        return len(found[1]), found[2]
    if bold and (found := _BOLD.fullmatch(line.strip())):
        return 7, found[1]
    return None


def _pieces(text: str, longest: int) -> Iterator[str]:
    """Fill pieces with whole paragraphs; one that is too long is cut between words."""
    piece = ""
    for paragraph in filter(None, _BLANK.split(text)):
        for part in _cut(paragraph.strip("\n"), longest):
            if piece and len(piece) + len(part) + 2 > longest:
                yield piece
                piece = ""
            piece = f"{piece}\n\n{part}" if piece else part
    if piece.strip():
        yield piece


def _cut(paragraph: str, longest: int) -> Iterator[str]:
    while len(paragraph) > longest:
        at = max(paragraph.rfind("\n", 1, longest), paragraph.rfind(" ", 1, longest))
        at = at if at > 0 else longest
        yield paragraph[:at]
        paragraph = paragraph[at:].lstrip()
    if paragraph.strip():
        yield paragraph
