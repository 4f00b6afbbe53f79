"""A text of any length in pieces that each make one memory, and whether a piece was read before."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from uuid import uuid5

from memory_plane.redact import redact
from memory_plane.types import NAMESPACE

_BLANK = re.compile(r"\n\s*\n")
_HEADING = r"(?: {0,3}#{1,6}[ \t][^\n]*(?:\n|\Z)|[^\n]+\n {0,3}(?:={3,}|-{3,})[ \t]*(?:\n|\Z))"
_HEADINGS = re.compile(rf"{_HEADING}+")
"""Headings of Markdown and nothing else."""
_ABOVE = re.compile(rf"(?:{_HEADING}\s*)*")


def paragraphs(text: str) -> list[str]:
    """Return the paragraphs of a text, none of them blank, each below the headings that stand before it.

    Secrets go first: a key has blank lines in it, and a piece of one is not seen as a secret.
    """
    found: list[str] = []
    headings: list[str] = []
    for piece in _BLANK.split(redact(text.replace("\r\n", "\n"))):
        if not (part := piece.strip()):
            continue
        if _HEADINGS.fullmatch(part):
            headings.append(part)
            continue
        found.append("\n\n".join([*headings, part]))
        headings.clear()
    return [*found, *(["\n\n".join(headings)] if headings else [])]


def known(agent: str, source: str, part: str, has: Callable[[str], bool], taken: set[str]) -> tuple[str, bool]:
    """Return the id of a paragraph that an agent reads in a source, and whether it was read there before.

    It was, below the same headings or, since paragraphs move and headings change, below others: then for one paragraph
    of a text only, whose id is `taken` from then on, since the same words below two headings say two things.
    """
    whole = _id(agent, source, part)
    if has(whole):
        return whole, True
    own = _id(agent, source, _ABOVE.sub("", part, count=1) or part)
    if own in taken:
        return whole, False
    taken.add(own)
    return own, own != whole and has(own)


def _id(agent: str, source: str, text: str) -> str:
    return str(uuid5(NAMESPACE, json.dumps([agent, source, text])))
