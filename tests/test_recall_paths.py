"""Ways through the graph: short ones first, probable ones before others, round hubs if it can be, and as of a time."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from uuid import UUID

import pytest
from sqlalchemy import Connection, insert

from memory_plane import models
from memory_plane.database import Database
from memory_plane.recall import paths
from memory_plane.recall.holding import Then
from memory_plane.types import Trail

AT = datetime(2026, 3, 14, 9, tzinfo=UTC)
DAY = timedelta(days=1)
NAMES = "abcdefghijklmnopqrstuvwxyz"

Draw = Callable[..., None]


@pytest.fixture
def connection(engine: Database) -> Iterator[Connection]:
    """A transaction that lasts for the test, with a node for each letter."""
    with engine.writing() as connection:
        nodes = [
            {"key": key, "id": str(UUID(int=key)), "type": "Person", "name": name, "slug": f"person:{name}",
             "origin": "agent", "founded_at": AT}
            for key, name in enumerate(NAMES, 1)
        ]  # fmt: skip
        connection.execute(insert(models.graph_nodes), nodes)
        yield connection


@pytest.fixture
def draw(connection: Connection) -> Draw:
    """Give `draw("ab bc", 0.9)`: an edge from a to b and one from b to c."""

    def edges(pairs: str, probability: float = 0.9, **values: object) -> None:
        for pair in pairs.split():
            source, target = tuple(pair)
            row = {"source": key(source), "relation": "KNOWS", "target": key(target), "probability": probability,
                   "method": "local", "origin": "agent", "known_since": AT, "opened_at": AT}  # fmt: skip
            connection.execute(insert(models.graph_edges), {**row, **values})

    return edges


def key(name: str) -> int:
    return NAMES.index(name) + 1


def way(connection: Connection, ends: str, then: Then | None = None, **limits: float) -> str:
    found = trail(connection, ends, then, **limits)
    return "".join(node.name for node in found.nodes)


def trail(connection: Connection, ends: str, then: Then | None = None, **limits: float) -> Trail:
    source, target = tuple(ends)
    given = {"max_hops": int(limits.get("max_hops", 5)), "least": limits.get("least", 0.0)}
    return paths.trail(connection, [key(source)], [key(target)], then or Then.of(AT + DAY), **given)  # type: ignore[arg-type]


def test_way_goes_along_edges_whichever_way_they_point(connection: Connection, draw: Draw) -> None:
    draw("ab cb cd")
    found = trail(connection, "ad")
    assert "".join(node.name for node in found.nodes) == "abcd"
    assert [(edge.source.name, edge.target.name) for edge in found.edges] == [("a", "b"), ("c", "b"), ("c", "d")]
    assert found.probability == pytest.approx(0.729)
    assert found.complete


@pytest.mark.parametrize(("ends", "wanted"), [("af", "abcdef"), ("ag", ""), ("ga", ""), ("fa", "fedcba"), ("aa", "a")])
def test_way_has_five_edges_at_most(connection: Connection, draw: Draw, ends: str, wanted: str) -> None:
    draw("ab bc cd de ef fg")
    assert way(connection, ends) == wanted


@pytest.mark.parametrize(("hops", "wanted"), [(1, ""), (2, ""), (3, "abcd"), (9, "abcd")])
def test_way_has_no_more_edges_than_are_allowed(connection: Connection, draw: Draw, hops: int, wanted: str) -> None:
    draw("ab bc cd")
    assert way(connection, "ad", max_hops=hops) == wanted


def test_nothing_leads_to_what_is_alone(connection: Connection, draw: Draw) -> None:
    draw("ab bc")
    found = trail(connection, "az")
    assert (found.nodes, found.edges, found.probability, found.complete) == ((), (), 0.0, True)


def test_shorter_way_wins_among_equals_and_the_more_probable_of_one_length(connection: Connection, draw: Draw) -> None:
    draw("ab bz ac cd dz")
    assert way(connection, "az") == "abz"
    draw("ae ez", 0.95)
    assert way(connection, "az") == "aez"


def test_improbable_edge_is_gone_round(connection: Connection, draw: Draw) -> None:
    draw("az", 0.1)
    draw("ab bz", 0.95)
    assert way(connection, "az") == "abz"
    assert way(connection, "az", max_hops=1) == "az"


def test_short_way_is_not_lost_behind_a_cheaper_long_one(connection: Connection, draw: Draw) -> None:
    draw("ab bc ce", 1.0)
    draw("ae", 0.05)
    draw("ef fg gz")
    assert way(connection, "az", max_hops=4) == "aefgz"


def test_edges_below_the_least_probability_are_not_seen(connection: Connection, draw: Draw) -> None:
    draw("ab bz", 0.4)
    assert way(connection, "az", least=0.5) == ""
    assert way(connection, "az", least=0.4) == "abz"


def test_what_everybody_is_linked_to_is_gone_through_last(
    connection: Connection, draw: Draw, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(paths, "HUB", 8)
    draw(" ".join(f"{name}h" for name in "abijklmnopz"))
    draw("ac cd dz")
    assert way(connection, "az") == "acdz"
    assert way(connection, "az", max_hops=2) == "ahz"
    assert way(connection, "bi") == "bhi"


def test_way_leads_through_a_hub_where_there_is_no_other(
    connection: Connection, draw: Draw, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(paths, "HUB", 8)
    draw(" ".join(f"{name}h" for name in "bijklmnopy"))
    draw("ab yz")
    assert way(connection, "az") == "abhyz"
    assert way(connection, "hz") == "hyz"
    assert way(connection, "ah") == "abh"


def test_search_that_gave_up_says_so(connection: Connection, draw: Draw, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(paths, "MOST", 3)
    draw("ab ac ad zx zy zw bx")
    assert not trail(connection, "az").complete


def test_way_is_the_one_that_held_at_a_time(connection: Connection, draw: Draw) -> None:
    draw("ab bz", valid_until=AT + 3 * DAY)
    draw("ac cd dz", known_since=AT + 2 * DAY, opened_at=AT + 2 * DAY)
    assert way(connection, "az", Then.of(AT + DAY)) == "abz"
    assert way(connection, "az", Then.of(AT + 4 * DAY)) == "acdz"
    assert way(connection, "az", Then.of(AT - DAY)) == ""


def test_path_is_the_edges_of_the_way(connection: Connection, draw: Draw) -> None:
    draw("ab bz")
    edges = paths.path(connection, key("a"), key("z"), at=AT + DAY)
    assert [edge.target.name for edge in edges] == ["b", "z"]
    assert paths.path(connection, key("a"), key("z"), max_hops=1) == []
