"""A text of any length in pieces that each make one memory, and the id of a piece that is read again."""

from __future__ import annotations

import json
import re
from uuid import uuid5

from memory_plane.redact import redact
from memory_plane.types import NAMESPACE

_BLANK = re.compile(r"\n\s*\n")
_HEADINGS = re.compile(r"(?: {0,3}#{1,6}[ \t][^\n]*(?:\n|\Z)|[^\n]+\n {0,3}(?:={3,}|-{3,})[ \t]*(?:\n|\Z))+")
"""Headings of Markdown and nothing else."""


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


def id_of(agent: str, source: str, text: str) -> str:
    """Return the id of what an agent reads in a source, the same whenever it reads that again."""
    return str(uuid5(NAMESPACE, json.dumps([agent, source, text])))
