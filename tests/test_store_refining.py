"""What a deferred plugin says takes the place of what was said at once, whichever came first."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import timedelta
from itertools import permutations

import pytest
from sqlalchemy import Connection

from memory_plane.database import Database
from memory_plane.recall import graph as reading
from memory_plane.store import derivations, log, operations
from memory_plane.store.codec import Derivation
from memory_plane.types import Classification, Edge, Link, Mention, Operation, Resolution, new_node_id

MakeOperation = Callable[..., Operation]
Say = Callable[..., Derivation]

TEXT = "Ann met Acme"
OTHER = "1c6d7c1f-8e64-4d8f-a03c-3a7a7a1fab22"


def mention(name: str, type_: str = "Person") -> Mention:
    start = TEXT.index(name)
    return Mention(text=name, type=type_, start=start, end=start + len(name), confidence=0.9)


ANN, ACME = mention("Ann"), mention("Acme")


@pytest.fixture
def thought(engine: Database, operation: MakeOperation) -> Operation:
    """A thought in the first row."""
    written = operation(text=TEXT)
    with engine.writing() as connection:
        operations.append(connection, written, written.created_at)
    return written


def answer(thought: Operation, probability: float | None, *, plugin: str = "local", rank: int = 0) -> Derivation:
    """Say that both are new persons, and that Ann knows the other with some probability."""
    ids = {one: new_node_id(thought.id, one) for one in (ANN, ACME)}
    link = Link(source=ids[ANN], relation="KNOWS", target=ids[ACME], probability=probability or 0)
    return Derivation(
        plugin=plugin,
        version="1",
        rank=rank,
        classification=Classification(
            resolutions=tuple(Resolution(mention=one, node=id, probability=1) for one, id in ids.items()),
            links=() if probability is None else (link,),
        ),
    )


def edges_in_any_order(engine: Database, answers: Sequence[Derivation]) -> Sequence[Edge]:
    """Record the answers in each order; the edges are always the same, and gone with their thought."""
    found = []
    for order in permutations(answers):
        with pytest.raises(ZeroDivisionError), engine.writing() as connection:
            for one in order:
                _record(connection, one)
            found.append(_edges(connection))
            derivations.remove_all(connection, 1)
            assert _edges(connection) == ()
            assert connection.exec_driver_sql("SELECT count(*) FROM aliases").scalar_one() == 0
            raise ZeroDivisionError  # undo, for the next order
    assert all(edges == found[0] for edges in found)
    return found[0]


def _record(connection: Connection, one: Derivation) -> None:
    memory = log.memory(connection, 1)
    assert memory is not None
    derivations.record(connection, 1, *memory, [one])


def _edges(connection: Connection) -> Sequence[Edge]:
    memory = log.memory(connection, 1)
    assert memory is not None
    return reading.newest(connection, memory[1] + timedelta(days=1), 50)


@pytest.mark.parametrize("probability", [0.3, 0.99])
def test_probability_of_an_edge_is_that_of_who_was_asked_last(
    engine: Database, thought: Operation, probability: float
) -> None:
    (edge,) = edges_in_any_order(engine, [answer(thought, 0.9), answer(thought, probability, plugin="jev", rank=1)])
    assert (edge.probability, edge.method) == (probability, "jev")


def test_edge_that_is_denied_later_is_not_there(engine: Database, thought: Operation) -> None:
    answers = [answer(thought, 0.9), answer(thought, 0, plugin="jev", rank=1)]
    assert edges_in_any_order(engine, answers) == ()


def test_edge_of_which_nothing_was_said_later_stays(engine: Database, thought: Operation) -> None:
    (edge,) = edges_in_any_order(engine, [answer(thought, 0.9), answer(thought, None, plugin="jev", rank=1)])
    assert (edge.probability, edge.method) == (0.9, "local")


def test_of_two_deferred_words_on_an_edge_the_likelier_counts(engine: Database, thought: Operation) -> None:
    answers = [answer(thought, one, plugin=name, rank=1) for name, one in (("jev", 0.6), ("llm", 0.7))]
    (edge,) = edges_in_any_order(engine, [answer(thought, 0.9), *answers])
    assert (edge.probability, edge.method) == (0.7, "llm")


def test_type_of_a_node_is_refined_and_the_node_stays_the_same(engine: Database, thought: Operation) -> None:
    better = Resolution(mention=mention("Acme", "Organization"), node=new_node_id(thought.id, ACME), probability=0.9)
    retyped = Derivation(plugin="jev", version="1", rank=1, classification=Classification(resolutions=(better,)))
    (edge,) = edges_in_any_order(engine, [answer(thought, 0.9), retyped])
    assert (edge.target.id, edge.target.type, edge.source.type) == (better.node, "Organization", "Person")
    assert (edge.probability, edge.method) == (0.9, "local")


def test_edge_of_a_node_that_is_another_one_moves_with_it(
    engine: Database, operation: MakeOperation, thought: Operation
) -> None:
    other = Resolution(mention=ACME, node=OTHER, probability=0.9)
    joined = Derivation(plugin="jev", version="1", rank=1, classification=Classification(resolutions=(other,)))
    denied = Link(source=new_node_id(thought.id, ANN), relation="KNOWS", target=OTHER, probability=0)
    (edge,) = edges_in_any_order(engine, [answer(thought, 0.9), joined])
    assert edge.target.id == OTHER
    both = (Resolution(mention=ANN, node=denied.source, probability=1), other)
    refused = Derivation(
        plugin="jev", version="1", rank=1, classification=Classification(resolutions=both, links=(denied,))
    )
    assert edges_in_any_order(engine, [answer(thought, 0.9), refused]) == ()
