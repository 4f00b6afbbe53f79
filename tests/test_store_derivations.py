"""Derivations: answers are kept as given, read back the same, and folded while their memory is visible."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from itertools import permutations

import pytest
from sqlalchemy import Connection

from memory_plane.database import Database
from memory_plane.recall import state
from memory_plane.store import derivations, log, operations
from memory_plane.store.codec import Derivation, decode, encode
from memory_plane.types import (
    Attention,
    Claim,
    Classification,
    Extraction,
    Item,
    Link,
    Memory,
    Mention,
    Operation,
    Resolution,
    Routing,
    new_node_id,
)

MakeOperation = Callable[..., Operation]

AT = datetime(2026, 3, 14, 9, 30, 1, 5, tzinfo=UTC)
ID, OTHER = "0b5c6b0e-7d53-4c7e-9f2b-2f6f6f0e9a11", "1c6d7c1f-8e64-4d8f-a03c-3a7a7a1fab22"
MEMORY = Memory(id=ID, agent="muse", kind="thought", text="Anna 👍 met “Bob” in 東京", created_at=AT)
ANNA = Mention(text="Anna", type="Person", start=0, end=4, confidence=0.9)
BOB = Mention(text="Bob", type="Person", start=12, end=15, confidence=1)
THERE = Mention(text="東京", type="Place", start=20, end=22, confidence=0.25)
IMPLIED = Mention(text="Carl", type="Person", start=0, end=0, confidence=0.5)
PLAIN = Claim(subject=ANNA, relation="MET", object=BOB, start=0, end=15, confidence=0.75)
PAST = Claim(subject=ANNA, relation="LEFT", object=THERE, start=0, end=22, confidence=1, polarity="past",
             valid_from=AT, valid_until=AT)  # fmt: skip
OPEN = Claim(subject=BOB, relation="IN", object=THERE, start=0, end=22, confidence=1, valid_until=AT)
ANSWERS = [
    {},
    {"extraction": Extraction()},
    {"extraction": Extraction(mentions=(ANNA, BOB, THERE, IMPLIED))},
    {"extraction": Extraction(mentions=(ANNA, BOB), claims=(PLAIN, PAST, OPEN))},
    {"extraction": Extraction(mentions=(BOB,), claims=(PLAIN,))},
    {"extraction": Extraction(items=(Item(kind="question", owner=None, to=None, object="where"),
                                     Item(kind="handoff", owner="Anna", to="Bob", object="tea", due_at=AT)))},
    {"classification": Classification()},
    {"classification": Classification(
        resolutions=(Resolution(mention=ANNA, node=new_node_id(ID, ANNA), probability=1),
                     Resolution(mention=BOB, node=OTHER, probability=0.5),
                     Resolution(mention=THERE, node=new_node_id(ID, THERE), probability=0.5),
                     Resolution(mention=IMPLIED, node=new_node_id(ID, ANNA), probability=1)),
        links=(Link(source=new_node_id(ID, ANNA), relation="MET", target=OTHER, probability=0.5),
               Link(source=ID, relation="IN", target=OTHER, probability=1, valid_from=AT, valid_until=AT),
               Link(source=OTHER, relation="IN", target=ID, probability=1, valid_until=AT)))},
    {"routing": Routing()},
    {"routing": Routing(attention=(Attention(agent="grok", score=0.5, reason="Anna"),))},
    {"extraction": Extraction(mentions=(ANNA,)), "routing": Routing(),
     "classification": Classification(resolutions=(Resolution(mention=BOB, node=OTHER, probability=0.1),))},
]  # fmt: skip


@pytest.mark.parametrize("answer", ANSWERS, ids=[str(number) for number in range(len(ANSWERS))])
def test_answer_is_read_back_as_it_was_given(answer: dict[str, object]) -> None:
    given = Derivation(plugin="local", version="1.2", rank=1, **answer)  # type: ignore[arg-type]
    assert decode(MEMORY, encode(MEMORY, given), plugin="local", version="1.2", rank=1) == given


def test_text_is_not_stored_twice() -> None:
    assert "Anna" not in encode(
        MEMORY, Derivation(plugin="local", version="1", extraction=Extraction(mentions=(ANNA,)))
    )


# --- the store ---------------------------------------------------------------------------------------------------


def heard(score: float, reason: str = "tea", *, plugin: str = "local", rank: int = 0) -> Derivation:
    routing = Routing(attention=(Attention(agent="grok", score=score, reason=reason),))
    return Derivation(plugin=plugin, version="1", rank=rank, routing=routing)


def record(connection: Connection, *answers: Derivation) -> None:
    memory = log.memory(connection, 1)
    assert memory is not None
    derivations.record(connection, 1, *memory, answers)


def attended(connection: Connection) -> list[tuple[float | None, str]]:
    return [(one.attention, one.reason) for one in state.attended(connection, "grok", minimum=0, limit=9)]


@pytest.fixture
def thought(engine: Database, operation: MakeOperation) -> Operation:
    """A thought in the first row."""
    written = operation(text="Ann likes tea")
    with engine.writing() as connection:
        operations.append(connection, written, written.created_at)
    return written


def test_highest_score_of_the_last_asked_counts_in_any_order(engine: Database, thought: Operation) -> None:
    answers = [heard(1.0, plugin="a"), heard(0.9, "milk", plugin="b", rank=1), heard(0.9, "water", plugin="c", rank=1)]
    for order in permutations(answers):
        with pytest.raises(ZeroDivisionError), engine.writing() as connection:
            for answer in order:
                record(connection, answer)
            assert attended(connection) == [(0.9, "milk")]
            raise ZeroDivisionError  # undo, for the next order


def test_answer_of_a_newer_version_takes_the_place_of_the_older(engine: Database, thought: Operation) -> None:
    with engine.writing() as connection:
        record(connection, heard(0.9), heard(0.3, plugin="jev"))
        record(connection, replace(heard(0.5), version="2"))
        assert attended(connection) == [(0.5, "tea")]
        assert derivations.count(connection) == 2


def test_of_two_answers_of_one_version_the_same_one_counts_in_any_order(engine: Database, thought: Operation) -> None:
    for order in permutations([heard(0.9, "milk"), heard(0.5)]):
        with pytest.raises(ZeroDivisionError), engine.writing() as connection:
            for answer in order:
                record(connection, answer)
            assert attended(connection) == [(0.9, "milk")]
            raise ZeroDivisionError  # undo, for the next order


def test_recording_twice_changes_nothing(engine: Database, thought: Operation) -> None:
    with engine.writing() as connection:
        for _ in range(2):
            record(connection, heard(0.5), heard(0.3, plugin="jev", rank=1))
            assert attended(connection) == [(0.3, "tea")]
            assert [row[:3] for row in derivations.answers(connection, 1)] == [("local", "1", 0), ("jev", "1", 1)]


def test_answers_about_a_hidden_memory_are_kept_and_not_used(
    engine: Database, operation: MakeOperation, thought: Operation
) -> None:
    with engine.writing() as connection:
        retract = operation("retract", target=thought.id)
        operations.append(connection, retract, retract.created_at)
        record(connection, heard(0.5))
        assert attended(connection) == []
        assert derivations.count(connection) == 1


def test_retraction_takes_the_attention_away(engine: Database, operation: MakeOperation, thought: Operation) -> None:
    with engine.writing() as connection:
        record(connection, heard(0.5))
        retract = operation("retract", target=thought.id)
        operations.append(connection, retract, retract.created_at)
        assert attended(connection) == []
        assert connection.exec_driver_sql("SELECT count(*) FROM attention").scalar() == 0


def test_inline_answers_can_be_discarded(engine: Database, thought: Operation) -> None:
    with engine.writing() as connection:
        record(connection, heard(0.5), heard(0.3, plugin="jev", rank=1))
        derivations.discard(connection, 1)
        assert [row[0] for row in derivations.answers(connection, 1)] == ["jev"]


def test_row_without_a_memory_has_no_derivations(engine: Database) -> None:
    with engine.writing() as connection:
        assert derivations.apply_all(connection, 7) == 0
        derivations.remove_all(connection, 7)
