"""What was decided or recommended, read off the lines that say so: "Decision: …", "We agreed to …", "I recommend …"."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from datetime import datetime

from sqlalchemy import Connection

from memory_plane.ask.sentences import bases
from memory_plane.ask.words import words
from memory_plane.recall import passages
from memory_plane.types import Thought

_LABELS = {"decision": ("decision", "resolution"), "recommendation": ("recommendation",)}
_VERBS = {
    "decision": ("decided", "agreed", "chose", "settled", "opted"),
    "recommendation": ("recommend", "recommended", "advise", "advised"),
}
_OF = r"(?: (?:on|of|about|for) [^:\n]{1,60}| ?\([^)\n]*\))?"
_PART = re.compile(r"\n+|(?<=[.!?;])\s+")
_READ = 40
"""How many of the newest memories with such words are read."""


def decisions(
    connection: Connection, kind: str, about: Sequence[Collection[str]], agents: Collection[str], known: datetime | None
) -> list[Thought]:
    """Return what was decided, or recommended, the newest first: each with the words alone that say so.

    In them stands each word that it is `about`, in one of its forms. Without such words only lines with a label count.
    """
    asked = [*about, (*_LABELS[kind], *_VERBS[kind]), *([tuple(agents)] if agents else [])]
    found = passages.said(connection, asked, _READ, known=known)
    own = (one for _, one in found if one.origin != "external" and (not agents or one.agent in agents))
    return [said for one in own for said in _said(one, kind, about)]


def _said(thought: Thought, kind: str, about: Sequence[Collection[str]]) -> Iterator[Thought]:
    label = rf"(?:(?:final|our|my|the) )?(?:{'|'.join(_LABELS[kind])})s?{_OF}\W{{0,3}}:"
    spoken = rf"(?:(?:we|i)(?: have|'ve|'d)? )?(?:{'|'.join(_VERBS[kind])})\b"
    opening = re.compile(rf"\W*(?:{label}|{spoken})" if about else rf"\W*{label}", re.IGNORECASE)
    for part in _PART.split(thought.text):
        if opening.match(part) and not part.rstrip().endswith("?"):
            holds = frozenset[str]().union(*(bases(word.low) for word in words(part)))
            if all(any(bases(form) & holds for form in forms) for forms in about):
                yield replace(thought, text=part.strip())
