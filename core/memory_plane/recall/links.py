"""One hop through the graph: memories that share a rarely named node with the best ones, or with the question itself.

A question and one of its answers need not share a word: who asks for Ann's manager finds that it is Priya, and what is
known of Priya stands in memories that name neither Ann nor a manager.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping

from sqlalchemy import Connection, bindparam, text

from memory_plane.prepared import Prepared
from memory_plane.store.names import folded

RARE = 5
"""A node that more memories name links nothing."""
LONGEST, WORDS = 3, 40
"""How many words of a question a name may have, and how many are looked at."""
_WORD = re.compile(r"\w+(?:[-.'’&+#@/]\w+)*[+#]*")
_ASKED = Prepared(
    text(
        "SELECT DISTINCT a.node FROM json_each(:names) AS j JOIN aliases AS a ON a.name = j.value AND NOT a.part"
    ).bindparams(bindparam("names"))
)
_NAMED = Prepared(
    text(
        "SELECT DISTINCT m.node, m.seq FROM json_each(:rows) AS j JOIN mentions AS m ON m.seq = j.value"
        " JOIN graph_nodes AS n ON n.key = m.node WHERE n.type NOT IN ('Commitment', 'Role') AND n.name != 'me'"
    ).bindparams(bindparam("rows"))
)
_NAMING = Prepared(
    text("SELECT DISTINCT seq FROM mentions WHERE node = :node LIMIT :most").bindparams(
        bindparam("node"), bindparam("most")
    )
)


def lent(connection: Connection, best: Mapping[int, float], query: str) -> dict[int, float]:
    """Return what the best memories lend to each that names one of their rare nodes; the question lends 1."""
    given: dict[int, dict[int, float]] = {node: {0: 1.0} for node in _asked(connection, query)}
    for node, row in _NAMED.all(connection, rows=json.dumps(list(best))):
        given.setdefault(node, {})[row] = best[row]
    found: dict[int, float] = {}
    for node, lenders in given.items():
        naming = [row for (row,) in _NAMING.all(connection, node=node, most=RARE + 1)]
        for row in naming if len(naming) <= RARE else ():
            most = max((score for lender, score in lenders.items() if lender != row), default=0.0)
            found[row] = max(found.get(row, 0.0), most)
    return found


def _asked(connection: Connection, query: str) -> list[int]:
    """Return the nodes that a question calls by a whole name of theirs."""
    words = [word[0] for word in _WORD.finditer(query)][:WORDS]
    names = {
        folded(" ".join(words[at : at + many])) for many in range(1, LONGEST + 1) for at in range(len(words) - many + 1)
    }
    return [node for (node,) in _ASKED.all(connection, names=json.dumps(sorted(names)))] if names else []
