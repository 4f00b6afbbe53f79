"""Communities: nodes that are linked more with each other than with the rest, by the modularity of Newman and Girvan.

Nodes move to the community of their neighbours that gains most, in the order of their ids, until none moves; then
communities move as nodes did, until nothing is gained (the method of Louvain). The same edges give the same ones.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence

from sqlalchemy import Connection

from memory_plane.recall import graph, whole
from memory_plane.recall.holding import Then
from memory_plane.types import Community

MOST = 200_000
"""How many edges are looked at, those known last: a second or two."""
SHOWN = 12
"""How many nodes of a community are told."""
_ROUNDS = 20

Links = dict[int, dict[int, float]]


def communities(connection: Connection, then: Then, *, least: float, limit: int, smallest: int) -> list[Community]:
    """Return the communities of at least so many nodes, the largest first."""
    found = list(whole.links(connection, then, least, MOST))
    links: Links = defaultdict(dict)
    for one, other, probability in found:
        weight = links[one].get(other, 0.0) + probability
        links[one][other] = links[other][one] = weight
    ids = whole.ids(connection, list(links))
    order = sorted(links, key=ids.__getitem__)
    parts = [part for part in partition({key: links[key] for key in order}) if len(part) >= smallest]
    parts.sort(key=lambda part: (-len(part), ids[part[0]]))
    inside = _edges_inside(found, parts[:limit])
    return [_told(connection, part, links, inside[number]) for number, part in enumerate(parts[:limit])]


def partition(links: Mapping[int, Mapping[int, float]]) -> list[list[int]]:
    """Return the communities of a graph, given by the weights of each node's links; the order of nodes decides ties."""
    members = {node: [node] for node in links}
    while True:
        own = _settled(links)
        joined: dict[int, list[int]] = {}
        for node, community in own.items():
            joined.setdefault(community, []).extend(members[node])
        if len(joined) == len(members):
            return list(members.values())
        links, members = _drawn_together(links, own), joined


def _settled(links: Mapping[int, Mapping[int, float]]) -> dict[int, int]:
    """Return the community of each node once no move of a single one gains anything."""
    own = {node: node for node in links}
    degrees = {node: sum(near.values()) for node, near in links.items()}
    total = sum(degrees.values()) or 1.0
    weights = dict(degrees)
    for _ in range(_ROUNDS):
        moved = False
        for node, near in links.items():
            here, degree = own[node], degrees[node]
            gains: dict[int, float] = {here: 0.0}
            for other, weight in near.items():
                if other != node:
                    gains[own[other]] = gains.get(own[other], 0.0) + weight
            weights[here] -= degree
            best = max(gains, key=lambda one: (gains[one] - weights[one] * degree / total, one == here))
            weights[best] += degree
            if best != here:
                own[node], moved = best, True
        if not moved:
            break
    return own


def _drawn_together(links: Mapping[int, Mapping[int, float]], own: Mapping[int, int]) -> Links:
    """Return the graph whose nodes are the communities; what links a community with itself keeps it together."""
    drawn: Links = {community: {} for community in dict.fromkeys(own.values())}
    for node, near in links.items():
        into = drawn[own[node]]
        for other, weight in near.items():
            into[own[other]] = into.get(own[other], 0.0) + weight
    return drawn


def _edges_inside(found: Iterable[tuple[int, int, float]], parts: Sequence[Sequence[int]]) -> Counter[int]:
    place = {node: number for number, part in enumerate(parts) for node in part}
    return Counter(place[one] for one, other, _ in found if one in place and place[one] == place.get(other))


def _told(connection: Connection, part: Sequence[int], links: Links, edges: int) -> Community:
    best = sorted(part, key=lambda node: -sum(links[node].values()))[:SHOWN]
    nodes = graph.nodes(connection, best)
    return Community(size=len(part), edges=edges, nodes=tuple(nodes[key] for key in best))
