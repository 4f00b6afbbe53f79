"""Messages of commits, which tell in the imperative what was done: "feat(billing): add dunning to Ledger"."""

from __future__ import annotations

from itertools import takewhile

from memory_plane_local.clauses import Clause
from memory_plane_local.elements import VERB
from memory_plane_local.tables import cues


def read_commit(clause: Clause) -> None:
    """Take the verb behind the head of a commit message for one of the past."""
    tokens = clause.sentence.tokens
    at = len(list(takewhile(lambda token: token.low in ("-", "*", "•"), tokens)))
    if len(tokens) < at + 3 or tokens[at].low not in cues("commit") or tokens[at].shape != "low":
        return
    at += 1
    if tokens[at].low == "(":
        at = next((place + 1 for place in range(at, len(tokens)) if tokens[place].low == ")"), at)
    at += tokens[at].low == "!" if at < len(tokens) else 0
    if at + 1 >= len(tokens) or tokens[at].low != ":":
        return
    place = clause.element_at(at + 1)
    verb = clause.elements[place] if place < len(clause.elements) else None
    if verb is not None and verb.kind == VERB and verb.bare and verb.form == "base":
        verb.form = verb.opening = "past"
