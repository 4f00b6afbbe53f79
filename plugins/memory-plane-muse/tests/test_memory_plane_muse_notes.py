"""What messages become: thoughts with the right owner and origin; edits, unsent messages, answers."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from memory_plane.operations import make_operation
from memory_plane.types import Operation
from memory_plane_muse.message import Message
from memory_plane_muse.names import Names, key_of
from memory_plane_muse.notes import ASKED, SEEN, Asked, Notes, State

AT = datetime(2026, 11, 30, 15, tzinfo=UTC)
SARAH = "+1 (555) 123-4567"


def message(text: str, minute: float = 0, *, guid: str | None = None, **more: Any) -> Message:
    usual: dict[str, Any] = {"mine": False, "other": SARAH, "chat": "iMessage;-;+15551234567"}
    at = AT + timedelta(minutes=minute)
    return Message(guid=guid or f"{text}@{minute}", text=text, at=at, **usual | more)


class Taker:
    """Takes messages in portions, as polls do."""

    def __init__(self) -> None:
        self.state, self.told = State(), dict[str, int]()
        self.names = Names()
        self.names.learn(SARAH, "Sarah Lee")

    def take(self, *messages: Message, whole: bool = True) -> list[Operation]:
        found = Notes(self.names, self.told).take(messages, self.state, whole=whole)
        self.state = State.read(json.loads(json.dumps(self.state.written())))
        return [
            make_operation(one.op, one.body, agent=one.agent, created_at=one.created_at, id=one.id) for one in found
        ]

    def webhook(self, *messages: Message) -> list[Operation]:
        return list(Notes(self.names, self.told).take(messages, State(), whole=False))


@pytest.fixture
def taker() -> Taker:
    return Taker()


def brief(operations: list[Operation]) -> list[tuple[Any, ...]]:
    return [(one.op, one.body.get("kind"), one.body.get("text", one.body.get("status"))) for one in operations]


# --- one message -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("said", "wanted"),
    [
        (
            message("Daniel <> Rob, you both like FPGAs"),
            {"kind": "handoff", "to": "me", "origin": "external",
             "text": "iMessage from Sarah Lee: Daniel <> Rob, you both like FPGAs"},
        ),
        (
            message("I'll send you the deck by Friday"),
            {"kind": "commitment", "owner": "Sarah Lee", "to": "me", "origin": "external",
             "text": "iMessage from Sarah Lee: I'll send you the deck by Friday"},
        ),
        (
            message("Can you review the lease before Thursday?"),
            {"kind": "question", "to": "me", "origin": "external"},
        ),
        (message("I just joined Acme"), {"kind": "observation", "origin": "external"}),
        (
            message("I'll send you the deck by Friday", mine=True),
            {"kind": "commitment", "owner": "me", "to": "Sarah Lee", "origin": "user",
             "text": "iMessage to Sarah Lee: I'll send you the deck by Friday"},
        ),
        (message("Rob, meet Daniel!", mine=True), {"kind": "observation", "origin": "user"}),
        (
            message("Can you review the lease before Thursday?", mine=True),
            {"kind": "question", "to": "Sarah Lee", "origin": "user"},
        ),
        (
            message("I'll get the tickets by Saturday", group=True, title="Climb “high”", chat="g"),
            {"kind": "commitment", "owner": "Sarah Lee", "origin": "external",
             "text": "iMessage from Sarah Lee in “Climb 'high'”: I'll get the tickets by Saturday"},
        ),
        (
            message("I'll get the tickets by Saturday", group=True, mine=True, other="", chat="g"),
            {"kind": "commitment", "owner": "me", "origin": "user",
             "text": "iMessage in “a group”: I'll get the tickets by Saturday"},
        ),
        (
            message("meet Daniel, he runs infra", other="+44 20 7946 0000"),
            {"kind": "handoff", "to": "me", "text": "iMessage from +44 20 7946 0000: meet Daniel, he runs infra"},
        ),
        (
            message("meet Daniel, he runs infra", other=""),
            {"kind": "handoff", "to": "me", "text": "iMessage: meet Daniel, he runs infra"},
        ),
    ],
)  # fmt: skip
def test_message_becomes_one_thought_of_the_right_origin(taker: Taker, said: Message, wanted: dict[str, Any]) -> None:
    (made,) = taker.take(said)
    assert (made.op, made.agent, made.created_at) == ("thought", "muse", AT)
    assert {name: made.body.get(name) for name in wanted} == wanted
    assert {"to", "owner"} & made.body.keys() == {"to", "owner"} & wanted.keys()


def test_promise_is_due_on_the_day_it_names(taker: Taker) -> None:
    (made,) = taker.take(message("I'll send you the deck by Friday"))
    assert datetime.fromisoformat(made.body["due_at"]).astimezone().strftime("%a %H:%M") == "Fri 23:59"


def test_small_talk_stores_nothing(taker: Taker) -> None:
    assert taker.take(*(message(text) for text in ("lol", "see you tomorrow", "How are you?", "", "👍"))) == []


def test_same_message_has_the_same_id_whoever_brings_it(taker: Taker) -> None:
    said = message("I'll send you the deck by Friday", guid="A")
    assert [one.id for one in Taker().webhook(said)] == [one.id for one in taker.take(said)]


def test_names_that_would_end_the_head_of_a_note_do_not(taker: Taker) -> None:
    taker.names.learn("mum@example.com", "  Mum: “the\nbest” \x00 ")
    (made,) = taker.take(message("meet Daniel, he runs infra", other="MUM@example.com"))
    assert made.body["text"] == "iMessage from Mum the best: meet Daniel, he runs infra"


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("+1 (555) 123-4567", "5551234567", True),
        ("Ann@Example.com", "ann@example.com", True),
        ("+15551234567", "+15551234568", False),
        ("55123", "155123", False),
    ],
)
def test_addresses_are_told_apart_as_people_write_them(one: str, other: str, same: bool) -> None:
    assert (key_of(one) == key_of(other)) is same


@pytest.mark.parametrize("other", ["32665", "AMAZON", "urn:biz:1f0e4b1c-7e0b-4b6e-8a55-123456789012"])
def test_what_a_program_writes_is_nothing(taker: Taker, other: str) -> None:
    assert taker.take(message("Please confirm your appointment by Friday", other=other)) == []


def test_text_message_is_called_what_it_is(taker: Taker) -> None:
    (made,) = taker.take(message("meet Daniel, he runs infra", chat="SMS;-;+15551234567"))
    assert made.body["text"] == "SMS from Sarah Lee: meet Daniel, he runs infra"


# --- what changes later ------------------------------------------------------------------------------------------


def test_unsent_message_is_taken_back(taker: Taker) -> None:
    (made,) = taker.take(message("I'll send you the deck by Friday", guid="A"))
    (gone,) = taker.take(message("", guid="A", retracted=True))
    assert (gone.op, gone.body["target"]) == ("retract", made.id)
    assert taker.take(message("", guid="A", retracted=True)) == []


def test_unsent_small_talk_takes_nothing_back(taker: Taker) -> None:
    taker.take(message("lol", guid="A"))
    assert taker.take(message("", guid="A", retracted=True)) == []


def test_edited_message_replaces_what_it_said(taker: Taker) -> None:
    (first,) = taker.take(message("I'll send you the deck by Friday", guid="A"))
    for edit, text in ((1_796_000_000_000, "I'll send it by Monday"), (1_796_000_001_000, "I'll send it on Tuesday")):
        back, second = taker.take(message(text, guid="A", edited=edit))
        assert (back.op, back.body["target"]) == ("retract", first.id)
        assert second.body["text"].endswith(text)
        first = second
    assert taker.take(message("I'll send it on Tuesday", guid="A", edited=1_796_000_001_000)) == []


def test_message_edited_to_small_talk_is_taken_back_only(taker: Taker) -> None:
    taker.take(message("I'll send you the deck by Friday", guid="A"))
    assert [one.op for one in taker.take(message("never mind", guid="A", edited=5))] == ["retract"]


def test_edit_takes_back_what_a_webhook_brought_before_the_first_poll(taker: Taker) -> None:
    (made,) = taker.webhook(message("I'll send you the deck by Friday", guid="A"))
    back, _ = taker.take(message("I'll send you the deck by Monday", guid="A", edited=1_796_000_000_000))
    assert (back.op, back.body["target"]) == ("retract", made.id)


def test_unsent_message_that_a_webhook_brought_is_taken_back_by_the_webhook(taker: Taker) -> None:
    (made,) = taker.webhook(message("I'll send you the deck by Friday", guid="A"))
    (gone,) = taker.webhook(message("", guid="A", retracted=True))
    assert gone.body["target"] == made.id


# --- questions ---------------------------------------------------------------------------------------------------

LUNCH = "Are you free for lunch tomorrow?"


def test_question_is_answered_by_the_next_word_of_the_other_side(taker: Taker) -> None:
    (asked,) = taker.take(message(LUNCH))
    assert taker.take(message("?", 1), message("hello?", 2)) == []
    (answered,) = taker.take(message("sure", 3, mine=True))
    assert (answered.op, answered.body) == ("resolve", {"item": asked.id, "status": "answered"})
    assert taker.take(message("great", 4), message("bye", 5, mine=True)) == []


def test_question_that_is_answered_at_once_is_nothing(taker: Taker) -> None:
    assert taker.take(message(LUNCH), message("yes!", 1, mine=True)) == []


def test_own_question_is_answered_by_the_other_and_not_in_another_conversation(taker: Taker) -> None:
    (asked,) = taker.take(message(LUNCH, mine=True))
    assert taker.take(message("hi", 1, chat="another")) == []
    assert [one.body["item"] for one in taker.take(message("yes", 2))] == [asked.id]


def test_message_from_before_a_question_is_no_answer(taker: Taker) -> None:
    taker.take(message(LUNCH, 10))
    assert taker.take(message("hello", 5, mine=True)) == []


def test_request_stays_open_when_it_is_answered(taker: Taker) -> None:
    assert brief(taker.take(message("Can you review the lease before Thursday?"), message("sure", 1, mine=True))) == [
        ("thought", "question", "iMessage from Sarah Lee: Can you review the lease before Thursday?")
    ]


def test_webhook_leaves_plain_questions_to_the_poll_that_sees_their_answers(taker: Taker) -> None:
    assert taker.webhook(message(LUNCH)) == []
    assert len(taker.webhook(message("Can you review the lease before Thursday?"))) == 1


# --- the cursor --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "value",
    [
        None,
        5,
        "x",
        [],
        {},
        {"seen": 5, "asked": []},
        {"seen": {"a": "b", "c": None}, "asked": {"x": [1, 2, 3], "y": "z"}},
    ],
)
def test_state_of_any_content_is_a_fresh_start(value: Any) -> None:
    assert State.read(value) == State()


def test_state_is_bounded_and_keeps_the_newest() -> None:
    state = State(
        {f"g{number}": 0 for number in range(1000)}, {f"c{number}": Asked("x", True, 1) for number in range(999)}
    )
    kept = State.read(json.loads(json.dumps(state.written())))
    assert (len(kept.seen), len(kept.asked)) == (SEEN, ASKED)
    assert ("g999" in kept.seen, "c998" in kept.asked) == (True, True)
