"""What is read of the graph: the same methods for `Plane` and `Client`, and what `Plane` answers to each."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any
from uuid import UUID

from memory_plane.errors import Refused
from memory_plane.types import Community, Contradiction, Found, Graph, Node, Trail
from memory_plane.writes import Moment, asked

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from memory_plane.settings import Settings

MOST = 10_000
"""How many entries one read returns at most."""
MOST_HOPS = 10
"""How long a way may be that is asked for."""
HITS = 20
"""How many memories a search of nodes looks at, and how many nodes it returns."""
MEMORIES = 1_000
"""Of how many memories one read tells what is in them."""
SMALLEST = 3
"""How many nodes make a community."""


class GraphReads(ABC):
    """Reads the graph. `as_of` is when it was so, `known_at` when that was known: `as_of` where it is not given.

    `min_confidence` and `max_hops` are those of the settings where they are not given.
    """

    @abstractmethod
    def _read_graph(self, name: str, arguments: Mapping[str, Any]) -> Any:
        """Return what the read of that name answers."""

    def graph(
        self,
        *,
        agent: str | None = None,
        min_attention: float = 0.0,
        about: str | None = None,
        hops: int = 1,
        min_confidence: float | None = None,
        as_of: Moment | None = None,
        known_at: Moment | None = None,
        limit: int = 40,
    ) -> Graph:
        """Return at most `limit` edges: around a node (`about` = name, slug or id; `hops` = how far around), of what
        an agent should care about, or the newest ones; `as_of` shows the graph as it was known and true at a time.
        """
        return self._read_graph("graph", _given(locals()))  # type: ignore[no-any-return]

    def path(
        self,
        source: str,
        target: str,
        *,
        max_hops: int | None = None,
        min_confidence: float | None = None,
        as_of: Moment | None = None,
        known_at: Moment | None = None,
    ) -> Trail:
        """Return how two nodes (name, slug or id) hang together; raise `Refused` for one that is not known."""
        return self._read_graph("path", _given(locals()))  # type: ignore[no-any-return]

    def search(self, text: str, *, kind: str | None = None, meaning: bool = False, limit: int = HITS) -> list[Node]:
        """Return nodes by their names, best first; `kind` = their type; `meaning` = also by what is said of them.

        By meaning a text that names a type ("programming languages") finds the nodes of it.
        """
        return self._read_graph("search", _given(locals()))  # type: ignore[no-any-return]

    def communities(
        self, *, min_confidence: float | None = None, as_of: Moment | None = None, limit: int = 20
    ) -> list[Community]:
        """Return nodes that are linked more with each other than with the rest, the largest groups first.

        It reads up to 200,000 edges, the newest, which takes seconds: for people, not for every turn.
        """
        return self._read_graph("communities", _given(locals()))  # type: ignore[no-any-return]

    def contradictions(self, *, limit: int = 20) -> list[Contradiction]:
        """Return links that cannot both hold though nobody said that one is over, the newest first."""
        return self._read_graph("contradictions", _given(locals()))  # type: ignore[no-any-return]

    def found(self, ids: Sequence[str], *, limit: int = 40) -> Found:
        """Return what is in these memories (at most 1,000): nodes, edges and open items, at most `limit` of each."""
        return self._read_graph("found", _given(locals()))  # type: ignore[no-any-return]

    def visualize(
        self,
        format: str = "mermaid",
        *,
        about: str | None = None,
        hops: int = 1,
        min_confidence: float | None = None,
        as_of: Moment | None = None,
        known_at: Moment | None = None,
        limit: int = 80,
    ) -> Iterator[str]:
        """Yield the graph as lines of `mermaid`, `dot`, `graphml`, `json` or `csv`: all of it, or around a node.

        `hops` and `limit` (edges) bound a neighbourhood; all of it is streamed, whatever its size.
        """
        found = self._read_graph("visualize", _given(locals()))
        return iter(found.removesuffix("\n").split("\n")) if isinstance(found, str) else iter(found)


def graph(
    connection: Connection,
    settings: Settings,
    *,
    agent: str | None = None,
    min_attention: float = 0.0,
    about: str | None = None,
    hops: int = 1,
    limit: int = 40,
    **given: Any,
) -> Graph:
    """See `GraphReads.graph`."""
    from memory_plane.recall import graph, state

    _check("limit", limit, MOST)
    _check("hops", hops, MOST_HOPS)
    if not 0 <= min_attention <= 1:
        raise Refused(f"min_attention: {min_attention:g} is not within 0 to 1")
    least, then = _least(settings, given), _then(settings, given)
    if about is not None:
        keys = graph.find(connection, about)
        return graph.around(connection, keys, then.at, limit, known=then.known, hops=hops, least=least)
    if agent is None:
        return graph.as_of(connection, then, limit, least)
    found = graph.attended(connection, agent, min_attention, then.at, limit, known=then.known, least=least)
    heard = state.attended(connection, agent, minimum=min_attention, limit=limit)
    return Graph(nodes=found.nodes, edges=found.edges, attention=heard)


def path(
    connection: Connection,
    settings: Settings,
    *,
    source: str,
    target: str,
    max_hops: int | None = None,
    **given: Any,
) -> Trail:
    """See `GraphReads.path`."""
    from memory_plane.recall import paths

    hops = settings.max_hops if max_hops is None else max_hops
    _check("max_hops", hops, MOST_HOPS)
    sources, targets = _found(connection, "source", source), _found(connection, "target", target)
    return paths.trail(connection, sources, targets, _then(settings, given), hops, _least(settings, given))


def search(
    connection: Connection,
    settings: Settings,
    *,
    text: str,
    ids: Sequence[str],
    kind: str | None = None,
    meaning: bool = False,
    limit: int = HITS,
) -> list[Node]:
    """See `GraphReads.search`; `ids` are those of the memories that answer the text best."""
    from memory_plane.recall import entities
    from memory_plane.vocabulary.meanings import kinds

    keys = [*entities.called(connection, text), *entities.named_by(connection, ids, text)]
    if meaning:
        of_kind = entities.of_kinds(connection, kinds().get(tuple(text.casefold().split()), ()))
        said = entities.named_by(connection, ids)
        keys += [*(key for key in said if key in of_kind), *of_kind, *said]  # "programming language" is Rust
    return entities.shown(connection, keys, kind, limit)


def communities(connection: Connection, settings: Settings, *, limit: int = 20, **given: Any) -> list[Community]:
    """See `GraphReads.communities`."""
    from memory_plane.recall import communities

    _check("limit", limit, MOST)
    least = _least(settings, given)
    return communities.communities(connection, _then(settings, given), least=least, limit=limit, smallest=SMALLEST)


def contradictions(connection: Connection, settings: Settings, *, limit: int = 20) -> list[Contradiction]:
    """See `GraphReads.contradictions`."""
    from memory_plane.recall import contradictions

    _check("limit", limit, MOST)
    return contradictions.contradictions(connection, limit)


def found(connection: Connection, settings: Settings, *, ids: Sequence[str], limit: int = 40) -> Found:
    """See `GraphReads.found`."""
    from memory_plane.recall import records

    _check("limit", limit, MOST)
    if len(ids) > MEMORIES:
        raise Refused(f"ids: {len(ids):,} are too many; give {MEMORIES:,} at most")
    return records.found(connection, [_id(one) for one in ids], datetime.now(UTC), limit)


def visualize(
    connection: Connection,
    settings: Settings,
    *,
    format: str = "mermaid",
    about: str | None = None,
    hops: int = 1,
    limit: int = 80,
    **given: Any,
) -> Iterator[str]:
    """See `GraphReads.visualize`."""
    from memory_plane.drawings import FORMATS
    from memory_plane.recall import whole

    if format not in FORMATS:
        raise Refused(f"format: {format!r} is unknown; give {', '.join(FORMATS)}")
    least, then = _least(settings, given), _then(settings, given)
    if about is None:
        return FORMATS[format](whole.nodes(connection, then), whole.edges(connection, then, least))
    _found(connection, "about", about)
    shown = graph(connection, settings, about=about, hops=hops, limit=limit, **given)
    return FORMATS[format](shown.nodes, shown.edges)


READS: Mapping[str, Callable[..., Any]] = {
    read.__name__: read for read in (graph, path, search, communities, contradictions, found, visualize)
}


def _given(arguments: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in arguments.items() if name != "self" and value is not None}


def _id(given: str) -> str:
    try:
        return str(UUID(given))
    except ValueError:
        raise Refused(f"ids: is no id (a UUID): {given[:80]!r}") from None


def _found(connection: Connection, name: str, value: str) -> list[int]:
    from memory_plane.recall import graph

    found = graph.find(connection, value)
    if not found:
        raise Refused(f"{name}: nothing in the graph is called {value!r}; look with search")
    return found


def _then(settings: Settings, given: Mapping[str, Any]) -> Any:
    from memory_plane.recall.holding import Then

    at, known = (asked(name, given.get(name), settings.timezone) for name in ("as_of", "known_at"))
    return Then.of(at or known or datetime.now(UTC), known)


def _least(settings: Settings, given: Mapping[str, Any]) -> float:
    least: float = given.get("min_confidence", settings.min_confidence)
    if not 0 <= least <= 1:
        raise Refused(f"min_confidence: {least:g} is not within 0 to 1")
    return least


def _check(name: str, value: int, most: int) -> None:
    if not 1 <= value <= most:
        raise Refused(f"{name}: {value} is too {'small' if value < 1 else 'large'}; give 1 to {most:,}")
