"""Where the words that a model copied stand in the text, if they do."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice

from memory_plane.store.index import UNSPACED

MOST = 64
"""Places of one name that are looked at, and entries that are taken of one answer."""
LONGEST = 300
"""Characters of a name, or of what somebody owes."""

_GLUED = re.compile(f"[{UNSPACED}]")


def places(text: str, words: object) -> Iterator[tuple[int, int]]:
    """Yield where words stand whole, however they are spaced and whatever their case; nothing for what is no text."""
    parts = words.split() if isinstance(words, str) and len(words) <= LONGEST else []
    if parts:
        before = "" if _GLUED.match(parts[0]) else r"(?<!\w)"
        after = "" if _GLUED.match(parts[-1][-1]) else r"(?!\w)"
        pattern = before + r"\s+".join(map(re.escape, parts)) + after
        yield from islice((match.span() for match in re.finditer(pattern, text, re.IGNORECASE)), MOST)


def plain(name: str) -> str:
    """Return a name as it is compared."""
    return " ".join(name.casefold().split())
