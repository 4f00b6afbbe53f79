"""What no plugin's answer joins: things of different kinds, of other digits, or a letter apart.

A pair may be one all the same: it is left in doubt, and a person says so.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from memory_plane.spellings import SLIP
from memory_plane.types import Candidate, Classification, Memory, Mention, Node, Resolution, new_node_id

GUESS = 0.7
"""The confidence of a name of which nothing but its place in the sentence is known."""
GUESSED = frozenset({"Person", "Project", "Concept"})
"""The types that such a name may turn out to have."""
_FAMILIES = (frozenset({"Tool", "Language", "Project"}), frozenset({"Organization", "Team"}))


def same_kind(mention: Mention, node: Node) -> bool:
    """Return whether a mention may mean a node by the types of both."""
    types = {mention.type, node.type}
    return (
        len(types) == 1
        or any(types <= family for family in _FAMILIES)
        or ("Concept" in types and "Person" not in types)
        or (mention.confidence <= GUESS and types <= GUESSED)
    )


def same_digits(mention: Mention, node: Node) -> bool:
    """Return whether both names have the same digits: GPT-4 is not GPT-5."""
    return _digits(mention.text) == _digits(node.name)


def kept(memory: Memory, found: Classification, candidates: Sequence[Candidate]) -> Classification:
    """Return a plugin's answer with what it may not join taken for what it was before, and noted as a doubt."""
    if not candidates:
        return found
    options = {(one.mention.text, one.node.id): one for one in candidates}
    nodes = {one.node.id: one.node for one in candidates}
    before = {one.mention.start: one.node.id for one in candidates if one.taken}
    resolutions: list[Resolution] = []
    doubts: list[Resolution] = []
    for one in found.resolutions:
        node, option = nodes.get(one.node), options.get((one.mention.text, one.node))
        taken = before.get(one.mention.start)  # a new type for it joins nothing
        likeness = 0.0 if option is None else option.name_score
        if node is None or one.node == taken or _allows(one.mention, node, likeness):
            resolutions.append(one)
            continue
        resolutions.append(replace(one, node=taken or new_node_id(memory.id, one.mention)))
        doubts.append(one)
    if not doubts:
        return found
    now = {one.node for one in resolutions}
    means = {old.node: new.node for old, new in zip(found.resolutions, resolutions, strict=True) if old.node not in now}
    links = (
        replace(link, source=means.get(link.source, link.source), target=means.get(link.target, link.target))
        for link in found.links
    )
    return Classification(
        resolutions=tuple(resolutions),
        links=tuple(link for link in links if link.source != link.target),
        doubts=(*found.doubts, *doubts),
    )


def _allows(mention: Mention, node: Node, likeness: float) -> bool:
    exact = likeness > 0.99
    return likeness != SLIP and same_kind(mention, node) and (exact or same_digits(mention, node))


def _digits(name: str) -> str:
    return "".join(char if char.isdigit() else " " for char in name).strip()
