"""Other words in the place of an entry's: what an open item stays, and what history keeps."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from itertools import permutations

import pytest
from sqlalchemy import select

from memory_plane import Plane, models
from memory_plane.database import Database
from memory_plane.operations import giving_way
from memory_plane.store import log, operations
from memory_plane.types import Operation

WEDNESDAY = datetime(2026, 11, 25, 9, tzinfo=UTC)
MONDAY = datetime(2026, 11, 30, 9, tzinfo=UTC)


@pytest.fixture
def memory(make_plane: Callable[..., Plane]) -> Plane:
    """A memory that reads promises."""
    return make_plane("local", timezone="UTC")


def promised(memory: Plane, old: str, new: str) -> list[tuple[str, str | None, str | None, str]]:
    """Return the open items after a promise of Wednesday was given other words on Monday."""
    written = memory.post(old, agent="user", origin="user", created_at=WEDNESDAY).id
    assert len(memory.items()) == 1
    assert memory.supersede(written, new, agent="user", created_at=MONDAY).state == "stored"
    return [(one.kind, one.owner, one.to, f"{one.due_at:%d %b}" if one.due_at else "") for one in memory.items()]


@pytest.mark.parametrize(
    ("new", "to", "due"),
    [
        ("I promised Leona Varga of Brightwater Capital the deck by Friday.", "Leona Varga", "27 Nov"),
        ("That deck, by Friday.", "Leona Varga", "27 Nov"),
        ("The deck.", "Leona Varga", "27 Nov"),
        ("I promised Leona Varga the deck by Thursday.", "Leona Varga", "03 Dec"),
        ("I promised Tomasz Wilk the deck by Friday.", "Tomasz Wilk", "27 Nov"),
    ],
)
def test_item_read_in_the_old_words_stays_but_for_what_the_new_ones_say(
    memory: Plane, new: str, to: str, due: str
) -> None:
    if not new.startswith("I"):
        new = f"I owe {new[0].lower()}{new[1:]}"
    assert promised(memory, "I promised Leona Varga the deck by Friday.", new) == [("commitment", "me", to, due)]


def test_item_that_the_new_words_deny_is_none_any_more(memory: Plane) -> None:
    assert promised(memory, "I promised Leona Varga the deck.", "I never promised Leona Varga the deck.") == []


@pytest.mark.parametrize(
    ("old", "new", "owner"),
    [
        ("I promised Leona Varga the deck.", "Tomasz Wilk will send Leona Varga the deck.", "Tomasz Wilk"),
        ("Tomasz Wilk will send Leona Varga the deck.", "Ann Lee will send Leona Varga the deck.", "Ann Lee"),
        ("I promised Leona Varga the deck.", "Send Leona Varga of Brightwater Capital that deck.", "user"),
    ],
)
def test_item_that_the_new_words_give_to_another_is_theirs(memory: Plane, old: str, new: str, owner: str) -> None:
    assert [one[:3] for one in promised(memory, old, new)] == [("commitment", owner, "Leona Varga")]


def test_day_of_a_declared_item_counts_from_the_time_of_the_old_words(memory: Plane) -> None:
    written = memory.post("Send the deck by Friday", agent="muse", kind="commitment", created_at=WEDNESDAY).id
    memory.supersede(written, "Send the whole deck by Friday", agent="muse", created_at=MONDAY)
    assert [f"{one.due_at:%d %b}" for one in memory.items() if one.due_at] == ["27 Nov"]


def test_value_that_was_put_right_stays_in_the_history_and_holds_at_no_time(memory: Plane) -> None:
    first = memory.fact("Ann", "city", "Rome", agent="muse", created_at=WEDNESDAY).id
    memory.supersede(first, "Oslo", agent="user", created_at=MONDAY)
    taken_back = memory.fact("Ann", "city", "Bern", agent="muse", created_at=MONDAY).id
    memory.retract(taken_back, agent="user", reason="It was the other Ann")
    found = [(one.value, one.superseded_at) for one in memory.facts(subject="Ann", history=True)]
    assert found == [("Oslo", None), ("Rome", MONDAY)]
    assert [one.value for one in memory.facts(subject="Ann")] == ["Oslo"]
    assert memory.facts(subject="Ann", as_of=WEDNESDAY) == []
    memory.forget(first, agent="user")
    assert [one.value for one in memory.facts(history=True)] == ["Oslo"]


def test_history_does_not_show_what_was_held_back_when_it_was_put_right(memory: Plane) -> None:
    held = memory.fact("Ann", "city", "Rome", agent="muse", held=True).id
    new = memory.supersede(held, "Oslo", agent="user").id
    memory.release(new, agent="user")
    assert [one.value for one in memory.facts(history=True)] == ["Oslo"]


def test_taking_new_words_back_brings_the_old_ones_back(memory: Plane) -> None:
    first = memory.post("Ann works at Acme", agent="muse").id
    second = memory.supersede(first, "Ann works at Globex", agent="user").id
    third = memory.supersede(second, "Ann works at Initech", agent="user").id

    def told() -> tuple[list[str], list[str]]:
        return [one.text for one in memory.thoughts()], [edge.target.name for edge in memory.graph().edges]

    assert told() == (["Ann works at Initech"], ["Initech"])
    tried = memory.preview("retract", {"target": third})
    assert f"thought {second}: Ann works at Globex" in tried.new
    memory.retract(third, agent="user")
    assert memory.get(second)["state"]["retracted"] is False  # type: ignore[index]
    assert told() == (["Ann works at Globex"], ["Globex"])
    memory.retract(second, agent="user")
    assert told() == (["Ann works at Acme"], ["Acme"])
    memory.retract(first, agent="user")
    assert told() == ([], [])


def test_taking_a_new_value_back_brings_the_old_one_back(memory: Plane) -> None:
    first = memory.fact("Ann", "city", "Rome", agent="muse").id
    second = memory.supersede(first, "Oslo", agent="user").id
    memory.retract(second, agent="user")
    assert [(one.value, one.superseded_at) for one in memory.facts(history=True)] == [("Rome", None)]


def test_order_in_which_new_words_and_their_end_come_does_not_matter(
    engine: Database, operation: Callable[..., Operation]
) -> None:
    old, new = operation(text="Tea"), operation(text="Milk")
    reason = f"superseded by {new.id}"
    visible = select(models.thoughts.c.seq).where(models.thoughts.c.visible)
    said = [
        old,
        new,
        operation("retract", target=old.id, reason=reason, id=giving_way(new.id)),
        operation("retract", target=new.id),
    ]
    for order in permutations(said):
        with pytest.raises(ZeroDivisionError), engine.writing() as connection:
            for one in order:
                operations.append(connection, one, one.created_at)
            shown = [log.at(connection, row).body["text"] for row in connection.scalars(visible)]
            assert shown == ["Tea"]
            raise ZeroDivisionError  # undo, for the next order


def test_whoever_the_new_words_name_as_the_old_ones_did_stays_one(memory: Plane) -> None:
    memory.post("Rowena likes Rust.", agent="notes", created_at=WEDNESDAY)
    written = memory.post("Rowena works at Halcyon.", agent="notes", created_at=WEDNESDAY).id
    memory.supersede(written, "Rowena works at Hexforge.", agent="user", created_at=MONDAY)
    assert [node.name for node in memory.nodes("Rowena")] == ["Rowena"]
    assert memory.ask("Where does Rowena work?").text == "Hexforge"


def test_items_that_the_new_words_have_again_stay_as_they_were(memory: Plane) -> None:
    written = memory.post("TODO:\n- Call Ann\n- Pay the rent\n- Water the plants", agent="user").id
    call, pay, _ = memory.items()
    memory.resolve(call.id, agent="user")
    memory.snooze(pay.id, MONDAY + timedelta(days=3650), agent="user")
    assert memory.supersede(call.id, "Call Eve", agent="user").state == "refused"
    new = memory.supersede(written, "TODO:\n- Water the plants\n- Pay the rent\n- Call Ann\n- Call Eve", agent="user")
    assert [one.text for one in memory.items()] == ["Water the plants", "Call Eve"]
    record = memory.get(new.id)
    assert record is not None
    assert [one["status"] for one in record["state"]["items"].values()] == ["open", "open", "done", "open"]
