"""Relations that no rule reads but the scorer takes for likely, in sentences that say how things are now."""

from __future__ import annotations

from itertools import permutations

from memory_plane_local import scorer
from memory_plane_local.clauses import Clause
from memory_plane_local.drafts import Draft, fit, settle
from memory_plane_local.elements import NAME
from memory_plane_local.name import Name
from memory_plane_local.relation_features import spots
from memory_plane_local.relations import Reader
from memory_plane_local.tables import cues

_LEAST, _MOST_NAMES = 0.85, 6
_CLAIMS = {
    "WORKS_AT": ("WORKS_AT", "Person", "Organization"),
    "CEO_OF": ("CEO_OF", "Person", "Organization"),
    "FOUNDED": ("FOUNDER_OF", "Person", "Organization"),
    "LOCATED_IN": ("LOCATED_IN", "Organization", "Place"),
}


def read_likely(reader: Reader, clause: Clause) -> None:
    """Draft what is likely of two names of a sentence of which the rules say nothing."""
    names = [name for element in clause.elements if element.kind == NAME for name in element.names if name.span[1]]
    tokens = clause.sentence.tokens
    if (
        not 1 < len(names) <= _MOST_NAMES
        or clause.flags
        or any(clause.onwards)
        or any(token.low in cues("bygone") for token in tokens)
    ):
        return
    places = {token.start: at for at, token in enumerate(tokens)}
    owners = {places[name.start]: name for name in names if name.start in places}
    types = {name.type for name in owners.values()}
    if not ("Organization" in types or {"Place", "Concept"} <= types):
        return
    drafts = reader.drafts.found.values()
    told = {frozenset((id(draft.subject), id(draft.object))) for draft in drafts}
    taken = {(draft.relation, id(draft.object)) for draft in drafts}
    asked = {
        (begin, end)
        for (begin, one), (end, other) in permutations(owners.items(), 2)
        if frozenset((id(one), id(other))) not in told and _can_be(one, other)
    }
    if not asked:
        return
    found = spots(tokens, list(owners.values()))
    for said in scorer.score([token.low for token in tokens], found, _LEAST, asked):
        one, other = owners[said.subject.begin], owners[said.object.begin]
        if said.relation not in _CLAIMS:
            continue
        relation, kind, target = _CLAIMS[said.relation]
        if (relation, id(other)) not in taken and fit(one, (kind,)) and fit(other, (target,)):
            settle(one, kind)
            settle(other, target)
            reader.drafts.add(Draft(one, relation, other, "positive", *clause.span(), round(said.probability, 3)))


def _can_be(one: Name, other: Name) -> bool:
    """Whether any of the relations can be between two names, by their types."""
    return any(fit(one, (kind,)) and fit(other, (target,)) for _, kind, target in _CLAIMS.values())
