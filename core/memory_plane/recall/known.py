"""Names of the graph that stand in a text, in whatever case, for extractors to read with."""

from __future__ import annotations

import json
import re
from itertools import islice

from sqlalchemy import Connection, bindparam, text

from memory_plane.prepared import Prepared
from memory_plane.store.names import folded
from memory_plane.types import Extraction, Mention

WORDS = 400
"""How many words of a text are looked up."""
LONGEST = 4
"""How many words a name may have."""
CONFIDENCE = 0.9

_WORD = re.compile(r"\w+(?:[-.'’&+#@/]\w+)*[+#]*")
_FOUND = Prepared(
    text(
        "SELECT a.name, n.type FROM json_each(:names) AS j JOIN aliases AS a ON a.name = j.value AND NOT a.part"
        " JOIN graph_nodes AS n ON n.key = a.node WHERE n.type NOT IN ('Commitment', 'Role')"
        " ORDER BY a.name, n.key DESC"
    ).bindparams(bindparam("names"))
)


def known_names(connection: Connection, said: str) -> Extraction:
    """Return as mentions what the first words of a text have in common with the names of the graph."""
    words = [(word.start(), word.end(), folded(word[0])) for word in islice(_WORD.finditer(said), WORDS)]
    places: dict[str, list[tuple[int, int]]] = {}
    for at, (start, end, name) in enumerate(words):
        places.setdefault(name, []).append((start, end))
        for begin, stop, word in words[at + 1 : at + LONGEST]:
            if not said[end:begin].isspace():
                break
            end, name = stop, f"{name} {word}"
            places.setdefault(name, []).append((start, end))
    if not places:
        return Extraction()
    types = {name: kind for name, kind in _FOUND.all(connection, names=json.dumps(list(places)))}
    return Extraction(
        mentions=tuple(
            Mention(text=said[start:end], type=types[name], start=start, end=end, confidence=CONFIDENCE)
            for name, spans in places.items()
            if name in types
            for start, end in spans
        )
    )
