"""The current state: thoughts, attention and the agents that a scorer is told of."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import Connection

from memory_plane.database import Database
from memory_plane.recall import attention, open_items, state, stats
from memory_plane.recall.candidates import Known
from memory_plane.store import derivations, log, operations
from memory_plane.store.codec import Derivation
from memory_plane.types import AgentContext, Attention, Memory, Node, Operation, Routing

MakeOperation = Callable[..., Operation]
Write = Callable[..., int]

AT = datetime(2026, 3, 14, 9, tzinfo=UTC)
HOUR = timedelta(hours=1)


@pytest.fixture
def connection(engine: Database) -> Iterator[Connection]:
    """A transaction that lasts for the test."""
    with engine.writing() as connection:
        yield connection


@pytest.fixture
def write(connection: Connection, operation: MakeOperation) -> Write:
    """Give `write(op, hour=…, **body)`: an operation so many hours after nine; its row."""

    def append(op: str = "thought", *, hour: float = 0, agent: str = "muse", **body: object) -> int:
        made = operation(op, agent=agent, created_at=AT + hour * HOUR, **body)
        return operations.append(connection, made, made.created_at).seq

    return append


def route(connection: Connection, seq: int, score: float) -> None:
    memory = log.memory(connection, seq)
    assert memory is not None
    routing = Routing(attention=(Attention(agent="grok", score=score, reason=f"scored {score}"),))
    derivations.record(connection, seq, *memory, [Derivation(plugin="local", version="1", routing=routing)])


def test_newest_thoughts_come_first_whatever_came_first(connection: Connection, write: Write) -> None:
    for hour in (2, 1, 3):
        write(text=f"thought {hour}", hour=hour)
    assert [one.text for one in state.thoughts(connection, 2)] == ["thought 3", "thought 2"]


def test_attention_comes_with_its_score_and_reason(connection: Connection, write: Write) -> None:
    for number, score in enumerate((0.9, 0.5, 0.2)):
        route(connection, write(text=f"thought {number}", hour=number), score)
    write(text="nobody's")
    heard = state.attended(connection, "grok", minimum=0.5, limit=9)
    assert [(one.text, one.attention, one.reason) for one in heard] == [
        ("thought 1", 0.5, "scored 0.5"), ("thought 0", 0.9, "scored 0.9"),
    ]  # fmt: skip
    assert [one.text for one in state.attended(connection, "grok", minimum=0, limit=1)] == ["thought 2"]
    assert [one.text for one in state.attended(connection, "grok", minimum=0, limit=9, since=AT + HOUR)] == [
        "thought 2", "thought 1",
    ]  # fmt: skip
    assert state.attended(connection, "muse", minimum=0, limit=9) == ()


def test_snoozed_items_are_away_until_their_time(
    connection: Connection, write: Write, operation: MakeOperation
) -> None:
    thought = operation(text="Tea?", kind="question")
    operations.append(connection, thought, thought.created_at)
    write("snooze", item=thought.id, until=AT + HOUR)
    assert open_items.listed(connection, AT) == ()
    assert len(open_items.listed(connection, AT + HOUR)) == 1


def test_facts_are_told_newest_first_and_only_while_current(connection: Connection, write: Write) -> None:
    write("fact", subject="Ann", key="city", value="Rome", hour=0)
    write("fact", subject="Bob", key="city", value="Bern", hour=1)
    write("fact", subject="Ann", key="city", value="Oslo", hour=2)
    assert [fact.value for fact in state.facts(connection)] == ["Oslo", "Bern"]
    assert [fact.value for fact in state.facts(connection, history=True)] == ["Oslo", "Bern", "Rome"]
    assert [fact.value for fact in state.facts(connection, key="CITY", limit=1)] == ["Oslo"]


def test_old_thoughts_that_are_taken_in_late_are_no_news(connection: Connection, write: Write) -> None:
    for number, hour in ((0, 9), (1, 8), (2, -9000)):
        route(connection, write(text=f"thought {number}", hour=hour), 0.9)
    assert [one.text for one in state.attended(connection, "grok", minimum=0.5, limit=2)] == ["thought 0", "thought 1"]


def test_scorer_is_told_of_every_agent_but_the_author(connection: Connection, write: Write) -> None:
    write("heartbeat", agent="grok", focus="the Rust parser")
    write(agent="claude", text="milk?", kind="question", to="grok")
    write(agent="claude", text="tea", kind="commitment", to="grok")
    memory = Memory(id="", agent="muse", kind="thought", text="Rust", created_at=AT)
    rust, ann = Node(id="1", type="Tool", name="Rust"), Node(id="2", type="Person", name="Ann")
    known = {"1": Known(1, rust, AT, agents={"claude"}), "2": Known(2, ann, AT, agents={"claude", "muse"})}
    told = attention.contexts(connection, memory, [rust, ann], known, {"jev": ("chips",), "muse": ("tea",)})
    assert told == [
        AgentContext(id="claude", written=frozenset({"1", "2"})),
        AgentContext(id="grok", focus="the Rust parser", open_items=2),
        AgentContext(id="jev", interests=("chips",)),
    ]


def test_counts_are_told_by_name_the_most_first(connection: Connection, write: Write) -> None:
    write(agent="grok")
    write(agent="muse", kind="decision")
    write(agent="muse")
    assert list(stats.operations_by_agent(connection).items()) == [("muse", 2), ("grok", 1)]
    assert list(stats.thoughts_by_kind(connection).items()) == [("thought", 2), ("decision", 1)]
    assert stats.nodes_by_type(connection) == stats.edges_by_relation(connection) == {}


def test_held_memories_are_found_without_looking_at_the_others(connection: Connection, write: Write) -> None:
    write(text="seen"), write(text="hidden", held=True)
    asked: list[str] = []
    driver = connection.connection.driver_connection
    assert driver is not None
    driver.set_trace_callback(asked.append)
    held = state.held(connection, 10)
    driver.set_trace_callback(None)
    assert [memory.text for memory in held] == ["hidden"]
    plan = " ".join(row[-1] for row in driver.execute(f"EXPLAIN QUERY PLAN {asked[0]}"))
    assert "ix_thoughts_hidden" in plan
    assert "ix_facts_hidden" in plan
