"""Views of the graph: around a node, for an agent, or what is newest; bounded, and as of any time."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from sqlalchemy import Connection

from memory_plane.database import Database
from memory_plane.recall import graph
from memory_plane.recall.holding import Then
from memory_plane.store import derivations, log, operations
from memory_plane.store.codec import Derivation
from memory_plane.types import Attention, Classification, Edge, Link, Mention, Operation, Resolution, Routing

MakeOperation = Callable[..., Operation]
Say = Callable[..., None]

AT = datetime(2026, 3, 14, 9, tzinfo=UTC)
HOUR = timedelta(hours=1)
IDS = {name: f"0b5c6b0e-7d53-4c7e-9f2b-00000000000{place}" for place, name in enumerate(("Ann", "Bob", "Carl", "Rust"))}


@pytest.fixture
def connection(engine: Database) -> Iterator[Connection]:
    """A transaction that lasts for the test."""
    with engine.writing() as connection:
        yield connection


@pytest.fixture
def say(connection: Connection, operation: MakeOperation) -> Say:
    """Give `say("Ann KNOWS Bob", hour)`: a thought so many hours after nine, and its edge."""

    def write(words: str, hour: float = 0, *, grok: float | None = None, **link: Any) -> None:
        thought = operation(text=words, created_at=AT + hour * HOUR)
        seq = operations.append(connection, thought, thought.created_at).seq
        memory = log.memory(connection, seq)
        assert memory is not None
        source, relation, target = words.split()
        places = {source: 0, target: words.index(target)}
        resolutions = tuple(
            Resolution(mention=Mention(text=name, type="Tool" if name == "Rust" else "Person", start=start,
                                       end=start + len(name), confidence=1), node=IDS[name], probability=1)
            for name, start in places.items()
        )  # fmt: skip
        edge = Link(source=IDS[source], relation=relation, target=IDS[target], **{"probability": 0.5} | link)
        attention = (Attention(agent="grok", score=grok, reason="asked"),) if grok is not None else ()
        answer = Derivation(
            plugin="local",
            version="1",
            classification=Classification(resolutions=resolutions, links=(edge,)),
            routing=Routing(attention=attention),
        )
        derivations.record(connection, seq, *memory, [answer])

    return write


def told(edges: tuple[Edge, ...]) -> list[str]:
    return [f"{edge.source.name} {edge.relation} {edge.target.name}" for edge in edges]


@pytest.mark.parametrize("name", ["Ann", "ann", "ANN", "node:person:ann", IDS["Ann"], IDS["Ann"].upper()])
def test_node_is_found_by_name_slug_and_id(connection: Connection, say: Say, name: str) -> None:
    say("Ann KNOWS Bob")
    (key,) = graph.find(connection, name)
    assert graph.nodes(connection, [key])[key].name == "Ann"


@pytest.mark.parametrize("name", ["", "Nobody", "node:", "node:person:nobody", "node:person:ann-2", "node:person:ann-x",
                                  "0b5c6b0e-7d53-4c7e-9f2b-2f6f6f0e9a99", "\x00", "%"])  # fmt: skip
def test_unknown_name_is_no_node(connection: Connection, say: Say, name: str) -> None:
    say("Ann KNOWS Bob")
    assert graph.find(connection, name) == []


def test_most_probable_edges_around_a_node_come_first(connection: Connection, say: Say) -> None:
    say("Ann KNOWS Bob", probability=0.4)
    say("Carl KNOWS Ann", probability=0.9)
    say("Carl USES Rust", probability=1)
    found = graph.around(connection, graph.find(connection, "Ann"), AT + HOUR, 10)
    assert told(found.edges) == ["Carl KNOWS Ann", "Ann KNOWS Bob"]
    assert {node.name for node in found.nodes} == {"Ann", "Bob", "Carl"}
    bounded = graph.around(connection, graph.find(connection, "Ann"), AT + HOUR, 1)
    assert told(bounded.edges) == ["Carl KNOWS Ann"]


def test_node_without_edges_is_there_alone(connection: Connection, say: Say) -> None:
    say("Ann KNOWS Bob", valid_until=AT)
    found = graph.around(connection, graph.find(connection, "Ann"), AT + HOUR, 10)
    assert ([node.name for node in found.nodes], found.edges) == (["Ann"], ())


def test_nothing_is_around_nothing(connection: Connection, say: Say) -> None:
    say("Ann KNOWS Bob")
    found = graph.around(connection, [], AT + HOUR, 10)
    assert (found.nodes, found.edges) == ((), ())


def test_newest_edges_come_first(connection: Connection, say: Say) -> None:
    say("Ann KNOWS Bob", 1)
    say("Carl USES Rust", 3)
    say("Ann USES Rust", 2)
    say("Bob USES Rust", 9)
    assert told(graph.newest(connection, AT + 5 * HOUR, 2)) == ["Carl USES Rust", "Ann USES Rust"]


@pytest.mark.parametrize(("hour", "holds"), [(-1, False), (0, False), (2, False), (3, True), (4, True), (5, False)])
def test_edge_holds_while_it_is_known_and_true(connection: Connection, say: Say, hour: int, holds: bool) -> None:
    say("Ann KNOWS Bob", 2, valid_from=AT + 3 * HOUR, valid_until=AT + 5 * HOUR)
    assert bool(graph.newest(connection, AT + hour * HOUR, 9)) == holds


@pytest.mark.parametrize(("true", "known", "holds"), [(1, 4, True), (3, 4, True), (3, 6, False), (1, 6, True),
                                                      (6, 6, False), (-1, 6, False)])  # fmt: skip
def test_edge_is_as_it_was_known_then(connection: Connection, say: Say, true: int, known: int, holds: bool) -> None:
    say("Ann KNOWS Bob", 0)
    say("Ann KNOWS Bob", 5, valid_until=AT + 2 * HOUR)
    ann = graph.find(connection, "Ann")
    found = graph.around(connection, ann, AT + true * HOUR, 9, known=AT + known * HOUR)
    assert bool(found.edges) == holds
    assert bool(graph.as_of(connection, Then(AT + true * HOUR, AT + known * HOUR), 9).edges) == holds


def test_edge_is_as_probable_as_it_was_then(connection: Connection, say: Say) -> None:
    say("Ann KNOWS Bob", 0, probability=0.4)
    say("Ann KNOWS Bob", 5, probability=0.9)
    early, late = (graph.as_of(connection, Then.of(AT + hour * HOUR), 9, 0.3).edges for hour in (1, 6))
    assert [(edge.probability, len(edge.evidence)) for edge in (*early, *late)] == [(0.4, 1), (0.9, 2)]
    assert graph.as_of(connection, Then.of(AT + HOUR), 9, 0.5).edges == ()


def test_neighbourhood_widens_by_hops(connection: Connection, say: Say) -> None:
    say("Ann KNOWS Bob", probability=0.4)
    say("Bob KNOWS Carl", probability=0.9)
    say("Carl USES Rust", probability=0.8)
    ann = graph.find(connection, "Ann")
    found = [told(graph.around(connection, ann, AT + HOUR, 9, hops=hops).edges) for hops in (1, 2, 3, 4)]
    assert [len(edges) for edges in found] == [1, 2, 3, 3]
    assert found[2] == ["Ann KNOWS Bob", "Bob KNOWS Carl", "Carl USES Rust"]
    assert told(graph.around(connection, ann, AT + HOUR, 2, hops=3).edges) == found[1]
    assert graph.around(connection, ann, AT + HOUR, 9, hops=3, least=0.5).edges == ()


def test_agent_sees_what_it_should_care_about(connection: Connection, say: Say) -> None:
    say("Ann KNOWS Bob", grok=0.9)
    say("Carl USES Rust", grok=0.4)
    say("Ann USES Rust")
    found = graph.attended(connection, "grok", 0.5, AT + HOUR, 9)
    assert told(found.edges) == ["Ann KNOWS Bob"]
    everything = graph.attended(connection, "grok", 0.0, AT + HOUR, 9)
    assert set(told(everything.edges)) == {"Ann KNOWS Bob", "Carl USES Rust", "Ann USES Rust"}
    assert graph.attended(connection, "muse", 0.0, AT + HOUR, 9).nodes == ()


def test_names_that_a_node_had_are_its_aliases(connection: Connection, say: Say) -> None:
    say("Ann KNOWS Bob")
    (node,) = graph.nodes(connection, graph.find(connection, "Rust") or graph.find(connection, "Bob")).values()
    assert (node.id, node.slug, node.aliases) == (IDS["Bob"], "node:person:bob", ())
