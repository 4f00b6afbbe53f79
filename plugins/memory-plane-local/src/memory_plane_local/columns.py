"""Tables of tasks, row by row: "| Task | Owner | Due |"."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from memory_plane.types import Item
from memory_plane_local.clauses import Clause
from memory_plane_local.dates import due_date
from memory_plane_local.deals import Deal, bind, each, undertaking
from memory_plane_local.elements import NAME, PRONOUN
from memory_plane_local.guards import HYPOTHETICAL
from memory_plane_local.name import Name
from memory_plane_local.particulars import kinds
from memory_plane_local.relations import Reader
from memory_plane_local.tables import cues
from memory_plane_local.tokens import Token

_STRENGTH = 0.85
_Cell = tuple[int, int]
"""The tokens that a cell begins and ends at."""


class Columns:
    """The table that is open: what each of its columns holds."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader
        self._kinds: list[str] = []

    def read(self, clause: Clause) -> list[Item] | None:
        """Return what a row says is to be done, None for what is no row of a table of tasks."""
        tokens = clause.sentence.tokens
        if tokens[0].low != "|":
            self._kinds = []
            return None
        cells = list(_cells(tokens))
        if not self._kinds:
            found = [kinds("column").get(_text(tokens, cell), "") for cell in cells]
            self._kinds = found if "task" in found and "owner" in found else []
            return [] if self._kinds else None
        clause.flags |= HYPOTHETICAL
        row: dict[str, _Cell] = {}
        for kind, cell in zip(self._kinds, cells, strict=False):
            row.setdefault(kind, cell)
        return self._row(clause, row)

    def _row(self, clause: Clause, row: dict[str, _Cell]) -> list[Item]:
        tokens = clause.sentence.tokens
        begin, end = row.get("task", (0, 0))
        state = [token.low for token in tokens[slice(*row.get("state", (0, 0)))]]
        if begin == end or all(token.shape == "mark" for token in tokens[begin:end]) or _over(state):
            return []
        owners = list(self._people(clause, row["owner"])) if "owner" in row else []
        due = due_date(tokens[slice(*row.get("due", (0, 0)))], clause.written)
        if not owners:
            return []
        return each(bind(self._reader, owners, Deal(undertaking(clause, begin, end)), _STRENGTH, due), owners)

    def _people(self, clause: Clause, cell: _Cell) -> Iterator[Name]:
        """Who is named in a cell; what no list knows is taken for a person."""
        for element in clause.elements:
            if cell[0] > element.begin or element.end > cell[1]:
                continue
            if element.kind == PRONOUN and element.low in ("me", "us"):
                yield from self._reader.discourse.resolve(element.low)[0]
            elif element.kind == NAME:
                for name in element.names:
                    name.options = name.options or ("Person",)
                    if name.options[0] in ("Person", "Agent", "Team"):
                        yield name


def _cells(tokens: Sequence[Token]) -> Iterator[_Cell]:
    """Where the cells of a row stand."""
    begin = 1
    for at in range(1, len(tokens)):
        if tokens[at].low == "|":
            yield begin, at
            begin = at + 1
    if begin < len(tokens):
        yield begin, len(tokens)


def _text(tokens: Sequence[Token], cell: _Cell) -> str:
    return " ".join(token.low for token in tokens[slice(*cell)] if token.low not in ("*", "_"))


def _over(state: Sequence[str]) -> bool:
    """Whether the state of a task is that nothing is left to do."""
    return (
        bool(state)
        and not {"not", "n't"} & set(state)
        and any(low in cues("over") or low in cues("ticked") for low in state)
    )
