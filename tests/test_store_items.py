"""Open items: declared by the writer or found by a plugin, and what became of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from sqlalchemy import Connection

from memory_plane.database import Database
from memory_plane.errors import Refused
from memory_plane.recall import open_items
from memory_plane.store import corrections, derivations, items, log, operations
from memory_plane.store.codec import Derivation
from memory_plane.types import Extraction, Item, OpenItem, Operation

MakeOperation = Callable[..., Operation]

DUE = datetime(2026, 3, 14, 9, tzinfo=UTC)
LATER = DUE + timedelta(days=400)
TEA = Item(kind="commitment", owner="Ann", to="Bob", object="bring tea", due_at=DUE)
ID = "6c1d9d4e-6c1f-5f6e-9f0e-2f5b8a3c7d10"
MILK = Item(kind="question", owner=None, to="Carl", object="milk?")


def append(connection: Connection, *batch: Operation) -> None:
    for operation in batch:
        operations.append(connection, operation, operation.created_at)


def derive(connection: Connection, seq: int, plugin: str, *found: Item, rank: int = 0) -> None:
    memory = log.memory(connection, seq)
    assert memory is not None
    answer = Derivation(plugin=plugin, version="1", rank=rank, extraction=Extraction(items=found))
    derivations.record(connection, seq, *memory, [answer])


def opened(connection: Connection, **filters: Any) -> Sequence[OpenItem]:
    return open_items.listed(connection, DUE, **filters)


def told(item: OpenItem) -> tuple[object, ...]:
    return (item.kind, item.text, item.owner, item.to, item.due_at)


def test_declared_item_has_what_was_written(engine: Database, operation: MakeOperation) -> None:
    with engine.writing() as connection:
        append(connection, operation(text="Tea", kind="commitment", to="grok", due_at=DUE))
        append(connection, operation(text="Tea?", kind="question"), operation(text="just tea"))
        assert [told(item) for item in opened(connection)] == [
            ("commitment", "Tea", "muse", "grok", DUE), ("question", "Tea?", None, None, None),
        ]  # fmt: skip
        assert [items.opened(connection, seq, ID)["item"] for seq in (1, 2, 3, 4)] == [
            "commitment", "question", None, None,
        ]  # fmt: skip


def test_found_items_are_opened(engine: Database, operation: MakeOperation) -> None:
    with engine.writing() as connection:
        append(connection, operation(text="Ann will bring tea to Bob. Carl, milk?"))
        derive(connection, 1, "local", TEA, MILK, TEA)
        derive(connection, 1, "other", replace(TEA, object="tea"), rank=1)
        assert [told(item) for item in opened(connection)] == [
            ("commitment", "bring tea", "Ann", "Bob", DUE), ("question", "milk?", None, "Carl", None),
        ]  # fmt: skip


def test_items_of_one_text_are_told_apart_by_where_they_begin(engine: Database, operation: MakeOperation) -> None:
    thought = operation(text="Ann will bring tea to Bob. Carl, milk?")
    tea, milk = replace(TEA, start=9), replace(MILK, start=33)
    with engine.writing() as connection:
        append(connection, thought, operation("resolve", item=f"{thought.id}.33"))
        derive(connection, 1, "local", tea, milk)
        assert [(item.id, item.memory) for item in opened(connection)] == [(f"{thought.id}.9", thought.id)]
        derive(connection, 1, "local", replace(MILK, object="cream?", start=3), tea, milk)
        assert [item.text for item in opened(connection)] == ["bring tea", "cream?"]
        append(connection, operation("assign", item=f"{thought.id}.3", to="Dora"))
        assert [item.to for item in opened(connection)] == ["Bob", "Dora"]
        append(connection, operation("resolve", item=thought.id))
        assert opened(connection) == ()


def test_items_without_a_place_are_where_their_words_are(engine: Database, operation: MakeOperation) -> None:
    thought = operation(text="Ann will bring tea to Bob, and Eve, too. Carl, milk?")
    found = (TEA, replace(TEA, owner="Eve"), MILK, replace(MILK, object="Is there any milk?"))
    with engine.writing() as connection:
        append(connection, thought, operation("resolve", item=f"{thought.id}.47"))
        derive(connection, 1, "local", *found)
        assert [item.id.partition(".")[2] for item in opened(connection)] == ["9", "10", "0"]


def test_what_is_said_of_an_item_is_refused_where_none_begins(engine: Database, operation: MakeOperation) -> None:
    thought = operation(text="Ann will bring tea to Bob. Carl, milk?")
    with engine.writing() as connection:
        append(connection, thought)
        derive(connection, 1, "local", TEA, MILK)
        wrong = corrections.refusal(connection, operation("snooze", item=f"{thought.id}.7", until=DUE))
        assert wrong == f"item: {thought.id} has no item at 7, but at 9, 33"
        assert corrections.refusal(connection, operation("snooze", item=f"{thought.id}.33", until=DUE)) is None
        with pytest.raises(Refused, match=f"target: is one of several open items; give .* {thought.id}"):
            operation("retract", target=f"{thought.id}.1")


def test_closing_one_of_many_items_costs_no_more_than_one_of_few(engine: Database, operation: MakeOperation) -> None:
    costs = []
    with engine.writing() as connection:
        driver: Any = connection.connection.driver_connection
        for seq, many in ((1, 3), (4, 60)):
            thought = operation(text="milk? " * many)
            append(connection, thought)
            derive(connection, seq, "local", *(replace(MILK, object=f"{n}?", start=n) for n in range(1, many + 1)))
            refused = corrections.refusal(connection, operation("resolve", item=f"{thought.id}.99"))
            assert refused is not None and len(refused) < 200
            statements: list[str] = []
            driver.set_trace_callback(statements.append)
            append(connection, operation("resolve", item=f"{thought.id}.2"))
            driver.set_trace_callback(None)
            costs.append(len(statements))
            assert open_items.total(connection, DUE) == many - 1
            append(connection, operation("resolve", item=thought.id))
            assert opened(connection) == ()
    assert costs[0] == costs[1]


def test_declared_list_is_several_items(engine: Database, operation: MakeOperation) -> None:
    thought = operation(text="For Bob: tea, cake. Milk?", kind="commitment", owner="Eve")
    cake = replace(TEA, object="cake", due_at=None, start=14)
    with engine.writing() as connection:
        append(connection, thought)
        derive(connection, 1, "local", replace(TEA, start=9), MILK, cake)
        derive(connection, 1, "other", cake)
        assert [told(item) for item in opened(connection)] == [
            ("commitment", "bring tea", "Eve", "Bob", DUE), ("commitment", "cake", "Ann", "Bob", None),
        ]  # fmt: skip
        derivations.remove_all(connection, 1)
        assert [(item.id, item.text) for item in opened(connection)] == [(thought.id, thought.body["text"])]


def test_each_item_of_a_declared_list_is_for_whom_and_by_when_it_was_declared(
    engine: Database, operation: MakeOperation
) -> None:
    plain = replace(TEA, to=None, due_at=None)
    with engine.writing() as connection:
        append(connection, operation(text="tea, cake, pie for Bob", kind="commitment", to="grok", due_at=LATER))
        derive(connection, 1, "local", plain, replace(plain, object="cake"), replace(TEA, object="pie", start=11))
        assert [(item.to, item.due_at) for item in opened(connection)] == [
            ("Bob", DUE), ("grok", LATER), ("grok", LATER),
        ]  # fmt: skip


def test_found_item_only_fills_what_a_declared_one_left_open(engine: Database, operation: MakeOperation) -> None:
    with engine.writing() as connection:
        append(
            connection, operation(text="Tea?", kind="question"), operation(text="Milk?", kind="question", due_at=LATER)
        )
        derive(connection, 1, "local", TEA)
        derive(connection, 2, "local", TEA)
        assert [told(item) for item in opened(connection)] == [
            ("question", "Tea?", None, None, DUE), ("question", "Milk?", None, None, LATER),
        ]  # fmt: skip


def test_found_item_says_to_whom_a_declared_one_of_its_kind_is(engine: Database, operation: MakeOperation) -> None:
    promise = operation(text="I'll bring Bob tea", kind="commitment")
    handed = operation(text="I'll bring Bob tea", kind="commitment", to="grok")
    with engine.writing() as connection:
        append(connection, promise, handed)
        derive(connection, 1, "local", replace(TEA, owner="muse"))
        derive(connection, 2, "local", replace(TEA, owner="muse"))
        assert {(item.text, item.owner, item.to) for item in opened(connection)} == {
            (promise.body["text"], "muse", "Bob"), (handed.body["text"], "muse", "grok"),
        }  # fmt: skip
        append(connection, operation("assign", item=promise.id, to="ann"))
        derivations.remove_all(connection, 1)
        assert {item.to for item in opened(connection)} == {"ann", "grok"}


@pytest.mark.parametrize("kind", ["question", "thought"])
def test_retracted_memory_keeps_nothing_that_plugins_found(
    engine: Database, operation: MakeOperation, kind: str
) -> None:
    thought = operation(text="Tea", kind=kind)
    with engine.writing() as connection:
        append(connection, thought)
        derive(connection, 1, "local", TEA)
        append(connection, operation("retract", target=thought.id))
        assert opened(connection) == ()
        assert open_items.total(connection, DUE) == 0
        assert items.opened(connection, 1, thought.id)["item"] == ("question" if kind == "question" else None)


@pytest.mark.parametrize("first", ["alpha", "zeta"])
def test_answers_count_in_one_order_whichever_came_first(
    engine: Database, operation: MakeOperation, first: str
) -> None:
    answers = {"alpha": TEA, "zeta": MILK}
    with engine.writing() as connection:
        append(connection, operation(text="Tea"))
        for plugin in sorted(answers, reverse=first == "zeta"):
            derive(connection, 1, plugin, answers[plugin], rank=1)
        assert [item.text for item in opened(connection)] == ["bring tea"]
        derive(connection, 1, "inline", MILK)
        assert [item.text for item in opened(connection)] == ["milk?"]


def test_answer_that_replaces_another_takes_it_back(engine: Database, operation: MakeOperation) -> None:
    with engine.writing() as connection:
        append(connection, operation(text="Tea"))
        derive(connection, 1, "local", TEA)
        derive(connection, 1, "local")
        assert opened(connection) == ()


@pytest.mark.parametrize("late", [True, False])
def test_what_was_said_of_an_item_holds_before_and_after_it_is_found(
    engine: Database, operation: MakeOperation, late: bool
) -> None:
    thought = operation(text="Ann will bring tea to Bob")
    assign = operation("assign", item=thought.id, to="Dora")
    snooze = operation("snooze", item=thought.id, until=DUE - timedelta(days=1))
    with engine.writing() as connection:
        append(connection, thought, *([] if late else [assign, snooze]))
        derive(connection, 1, "local", TEA)
        append(connection, *([assign, snooze] if late else []))
        (item,) = opened(connection)
        assert (item.to, item.snoozed_until) == ("Dora", DUE - timedelta(days=1))
        append(connection, operation("resolve", item=thought.id))
        assert opened(connection) == ()


def test_a_commitment_is_owed_by_its_author_or_by_whom_the_author_names(
    engine: Database, operation: MakeOperation
) -> None:
    with engine.writing() as connection:
        append(connection, operation(text="Tea", kind="commitment"))
        append(connection, operation(text="Tea for Bob", kind="commitment", owner="Ann", to="Bob"))
        append(connection, operation(text="Milk?", kind="question", owner="Ann"))
        assert [item.owner for item in opened(connection)] == ["muse", "Ann", "Ann"]


def test_whom_the_text_names_owes_a_declared_commitment_that_names_nobody(
    engine: Database, operation: MakeOperation
) -> None:
    named = operation(text="Ann will bring tea to Bob, says Eve", kind="commitment", owner="Eve")
    with engine.writing() as connection:
        append(connection, operation(text="Ann will bring tea to Bob", kind="commitment"), named)
        for seq in (1, 2):
            derive(connection, seq, "local", TEA)
            derive(connection, seq, "other", replace(TEA, owner="Zoe"))
        assert {item.owner for item in opened(connection)} == {"Ann", "Eve"}
        derivations.remove_all(connection, 1)
        assert {item.owner for item in opened(connection)} == {"muse", "Eve"}


def test_due_items_come_first_then_the_oldest(engine: Database, operation: MakeOperation) -> None:
    with engine.writing() as connection:
        for text, due_at in (("none", None), ("later", LATER), ("also none", None), ("due", DUE)):
            append(connection, operation(text=text, kind="handoff", due_at=due_at))
        assert [item.text for item in opened(connection)] == ["due", "later", "none", "also none"]
        assert [item.text for item in opened(connection, limit=1)] == ["due"]
        assert open_items.total(connection, DUE) == 4


def test_long_list_hides_nothing_that_came_after_it(engine: Database, operation: MakeOperation) -> None:
    todos = [replace(MILK, object=f"milk {place}", start=place) for place in range(1, 30)]
    with engine.writing() as connection:
        append(connection, operation(text="m" * 40), operation(text="Tea?", kind="question"))
        derive(connection, 1, "local", *todos, replace(MILK, object="cream", due_at=DUE, start=35))
        shown = [item.text for item in opened(connection, limit=10)]
        assert shown == ["cream", *(f"milk {place}" for place in range(1, 8)), "Tea?", "milk 8"]
        assert len(opened(connection, limit=50)) == 31


def test_item_in_a_fact_is_told_by_nobody(engine: Database, operation: MakeOperation) -> None:
    with engine.writing() as connection:
        append(connection, operation("fact", subject="Ann", key="plan", value="tea"))
        derive(connection, 1, "local", TEA)
        assert opened(connection) == ()
        assert open_items.total(connection, DUE) == 0
