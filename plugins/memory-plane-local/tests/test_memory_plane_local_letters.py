"""Messages that begin with who sent them: "I" is the sender, and "meet Daniel" is said to the reader."""

from __future__ import annotations

import time
from datetime import UTC, datetime
from typing import Any

import pytest

from memory_plane.types import Extraction, Memory
from memory_plane_local.extraction import extract

WRITTEN = datetime(2026, 11, 30, 12, tzinfo=UTC)


def read(text: str, origin: Any = "external") -> Extraction:
    return extract(
        Memory(
            id="00000000-0000-5000-8000-000000000001",
            agent="muse",
            kind="observation",
            text=text,
            created_at=WRITTEN,
            origin=origin,
        )
    )


def said(text: str, origin: str = "external") -> set[str]:
    claims = read(text, origin).claims
    return {f"{c.subject.text} {c.relation} {c.object.text}" for c in claims if c.polarity == "positive"}


@pytest.mark.parametrize(
    ("text", "claims"),
    [
        ("I started at Acme last week", {"Sarah Lee WORKS_AT Acme"}),
        ("I'm moving to Berlin", {"Sarah Lee LOCATED_IN Berlin"}),
        ("I'll send you the deck by Friday", {"Sarah Lee COMMITTED_TO deck"}),
        ("Daniel <> Rob! You both like FPGAs", {"Daniel INTRODUCED_TO Rob"}),
        ("Rob, meet Daniel. Daniel runs infra at Acme.", {"Rob INTRODUCED_TO Daniel", "Daniel WORKS_AT Acme"}),
        ("meet Daniel, he runs infra at Acme", {"me INTRODUCED_TO Daniel", "Daniel WORKS_AT Acme"}),
        ("Hey! Meet my friend Daniel", {"me INTRODUCED_TO Daniel"}),
        ("wanted to introduce you to Daniel Kim", {"me INTRODUCED_TO Daniel Kim"}),
    ],
)
def test_sender_of_a_message_is_i_and_its_reader_is_you(text: str, claims: set[str]) -> None:
    assert said(f"iMessage from Sarah Lee: {text}") == claims


@pytest.mark.parametrize(
    "text",
    [
        "let's meet Friday",
        "should I introduce you to Daniel?",
        "I can't introduce you to Daniel",
        "I'll introduce you to Daniel some day",
        "if you meet Daniel, say hi",
        "meet me at the corner",
    ],
)
def test_what_is_no_introduction_makes_none(text: str) -> None:
    assert not [claim for claim in said(f"iMessage from Sarah Lee: {text}") if "INTRODUCED_TO" in claim]


def test_a_number_is_a_person_too() -> None:
    found = read("iMessage from +15551234567: I'll send you the deck by Friday")
    (item,) = found.items
    assert (item.owner, item.kind, item.due_at) == (
        "+15551234567",
        "commitment",
        datetime(2026, 12, 4, 23, 59, tzinfo=UTC),
    )


def test_he_is_somebody_of_the_message_and_never_its_sender() -> None:
    assert "Sarah Lee WORKS_AT Acme" not in said("iMessage from Sarah Lee: Rob, meet Daniel. He runs infra at Acme.")


def test_to_a_group_nobody_is_the_reader() -> None:
    text = "iMessage from Sarah Lee in “Climbers”: meet Daniel, he runs infra at Acme"
    assert said(text) == {"Daniel WORKS_AT Acme"}


def test_own_messages_are_those_of_me_to_the_person_named() -> None:
    assert said("iMessage to Rob: meet Daniel", "user") == {"Rob INTRODUCED_TO Daniel"}
    assert said("iMessage to Rob: I'll send you the deck", "user") == {"me COMMITTED_TO deck"}


def test_a_head_within_the_text_changes_nothing() -> None:
    assert said("iMessage from Eve: iMessage from Bob: I work at Acme") == {"Eve WORKS_AT Acme"}
    assert said("see iMessage from Bob: I work at Acme") == set()


def test_an_agent_that_quotes_a_message_stays_who_it_is() -> None:
    assert said("iMessage from Bob: I work at Acme", "agent") == said("I work at Acme", "agent")


@pytest.mark.parametrize("unit", ["meet ", "meet Daniel? ", "introduce you to ", "iMessage from ", "\n"])
def test_long_messages_take_no_time(unit: str) -> None:
    began = time.process_time()
    read("iMessage from Sarah Lee: " + unit * (100_000 // len(unit)) + "\n- Eve")
    assert time.process_time() - began < 5


@pytest.mark.parametrize(
    ("owner", "told"),
    [
        (None, ("muse", "Agent")),
        ("user", ("me", "Person")),
        ("Nina Okafor", ("Nina Okafor", "Person")),
        ("grok", ("grok", "Agent")),
    ],
)
def test_i_in_a_declared_commitment_is_its_owner(owner: str | None, told: tuple[str, str]) -> None:
    memory = Memory(
        id="m", agent="muse", kind="commitment", text="I promised Rob the deck", created_at=WRITTEN, owner=owner
    )
    (claim,) = extract(memory).claims
    assert (claim.subject.text, claim.subject.type) == told


def test_owner_of_a_question_is_not_who_asks_it() -> None:
    memory = Memory(id="m", agent="muse", kind="question", text="I use Rust", created_at=WRITTEN, owner="grok")
    (claim,) = extract(memory).claims
    assert claim.subject.text == "muse"


@pytest.mark.parametrize(
    ("text", "owner", "to"),
    [
        ("Hi Rob,\n\nI'll send the quote by Tuesday.\n\nBest,\nAlice", "Alice", "Rob"),
        ("Dear Ms Okafor,\nI will forward the quote to Dr. Stein.\nKind regards,\nJulian Bach", "Julian Bach", "Stein"),
        ("Hello Sam! I'll send you the quote.\n- Beth", "Beth", "Sam"),
        ("Hi all,\nI'll send the quote.\nthanks, Alice", "Alice", None),
        ("Hi Rob, I'll send the quote.", "me", "Rob"),
        ("I'll send the quote.\n\nBest of luck", "me", None),
    ],
)
def test_letter_is_to_whom_it_greets_by_who_signs_it(text: str, owner: str, to: str | None) -> None:
    (item,) = read(text, "user").items
    assert (item.owner, item.object, item.to) == (owner, "quote", to)
