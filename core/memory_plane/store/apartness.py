"""Joins by plugins that a person's word undoes: a name taken for a node means what else it may, if that is another.

What else a name may mean is the node that it would have founded, and what plugins of lower ranks took it for: those a
person has seen, and may have said of them that they are not the node.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import chain

from memory_plane.store.codec import Derivation
from memory_plane.store.names import folded
from memory_plane.store.places import Place, place
from memory_plane.types import Classification, Link, Mention, Resolution, new_node_id

Distinct = Callable[[str, str], bool]
"""Whether two nodes are known not to be one."""


def kept(memory: str, answers: Sequence[Derivation], distinct: Distinct) -> list[Derivation]:
    """Return the answers about a memory, where no name means a node that it was said not to be."""
    heard: dict[Place, list[str]] = {}
    told: dict[tuple[int, str], Derivation] = {}
    for one in sorted(answers, key=lambda one: (-one.rank, one.plugin), reverse=True):
        found = one.classification
        told[one.rank, one.plugin] = (
            one if found is None else replace(one, classification=_kept(memory, found, heard, distinct))
        )
    return [told[one.rank, one.plugin] for one in answers]


def _kept(memory: str, found: Classification, heard: dict[Place, list[str]], distinct: Distinct) -> Classification:
    resolutions = tuple(_meant(one, heard, own, distinct) for one, own in _owned(memory, found))
    if resolutions == found.resolutions:
        return found
    now = {one.node for one in resolutions}
    means = {old.node: new.node for old, new in zip(found.resolutions, resolutions, strict=True) if old.node not in now}
    links = tuple(_between(means, link) for link in found.links)
    return replace(found, resolutions=resolutions, links=links)


def _owned(memory: str, found: Classification) -> Iterator[tuple[Resolution, tuple[str, str]]]:
    """Yield each name with the nodes that it would have founded, where it stands and where its text stands first."""
    first: dict[str, Mention] = {}
    for one in found.resolutions:
        mention = first.setdefault(folded(one.mention.text), one.mention)
        yield one, (new_node_id(memory, one.mention), new_node_id(memory, mention))


def _meant(one: Resolution, heard: dict[Place, list[str]], own: tuple[str, str], distinct: Distinct) -> Resolution:
    before = heard.setdefault(place(one.mention.start, one.mention.end, one.node), [])
    node = next(
        (other for other in chain(reversed(before), own) if other != one.node and distinct(one.node, other)), one.node
    )
    before.append(node)
    return one if node == one.node else replace(one, node=node)


def _between(means: dict[str, str], link: Link) -> Link:
    return replace(link, source=means.get(link.source, link.source), target=means.get(link.target, link.target))
