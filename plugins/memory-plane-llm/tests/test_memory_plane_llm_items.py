"""What a model calls open counts as far as the text has it: who, for whom, what and by when."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from memory_plane import Plane
from memory_plane.types import Extraction, Item, Memory
from memory_plane_llm.reading import Reading

MakeMemory = Callable[..., Memory]
MakePlane = Callable[..., Plane]

MONDAY = datetime(2026, 11, 30, 23, 30, tzinfo=UTC)
TEXT = "Count on me for the slides, Rob gets them by Friday. Tom said Sarah owes Acme the audit until 4 December."
NAMES = [
    {"name": "Rob", "type": "Person"},
    {"name": "Sarah", "type": "Person"},
    {"name": "Acme", "type": "Organization"},
]
FRIDAY = datetime(2026, 12, 4, 23, 59, tzinfo=UTC)


def item(**said: Any) -> dict[str, Any]:
    return {"kind": "commitment", "owner": "ME", "to": "Rob", "what": "the slides", "when": "by Friday"} | said


def read(
    memory: Memory, *items: dict[str, Any], found: Extraction | None = None, zone: Any = UTC
) -> tuple[tuple[Item, ...], list[str], Extraction]:
    reading = Reading(memory, found or Extraction(), 0.75, zone)
    said = reading.extraction({"entities": NAMES, "items": list(items)})
    return said.items, list(reading.refused), said


def test_promise_has_owner_recipient_object_and_day(make_memory: MakeMemory) -> None:
    items, refused, said = read(make_memory(TEXT, created_at=MONDAY), item())
    assert items == (Item(kind="commitment", owner="muse", to="Rob", object="the slides", due_at=FRIDAY, start=16),)
    assert refused == []
    (claim,) = said.claims
    assert (claim.subject.text, claim.relation, claim.object.text, claim.object.type) == (
        "muse",
        "COMMITTED_TO",
        "the slides",
        "Commitment",
    )


def test_owner_may_be_named_and_recipient_a_firm(make_memory: MakeMemory) -> None:
    told = item(owner="sarah", to="ACME", what="the  audit", when="until 4 December")
    items, _, _ = read(make_memory(TEXT, created_at=MONDAY), told)
    assert items == (Item(kind="commitment", owner="Sarah", to="Acme", object="the audit", due_at=FRIDAY, start=78),)


@pytest.mark.parametrize(
    ("origin", "owner"), [("agent", ("muse",)), ("user", ("me",)), ("external", ())], ids=["agent", "user", "external"]
)
def test_writer_is_whoever_wrote_it(make_memory: MakeMemory, origin: str, owner: tuple[str, ...]) -> None:
    for said in ("ME", "I", "we"):
        items, refused, _ = read(make_memory(TEXT, created_at=MONDAY, origin=origin), item(owner=said))
        assert tuple(one.owner for one in items) == owner
        assert bool(refused) is (origin == "external")


def test_writer_of_a_message_is_who_sent_it(make_memory: MakeMemory) -> None:
    memory = make_memory(f"iMessage from Eve: {TEXT}", created_at=MONDAY, origin="external")
    items, _, _ = read(memory, item())
    assert [one.owner for one in items] == ["Eve"]


@pytest.mark.parametrize(
    ("said", "why"),
    [
        (item(owner="Zoe"), "a promise that nobody in the text makes"),
        (item(owner="the slides"), "the owner of an item who is nobody in the text"),
        (item(owner=None), "a promise that nobody in the text makes"),
        (item(owner=["ME"]), "a promise that nobody in the text makes"),
        (item(what="the budget"), "an item whose words are not in the text"),
        (item(what=""), "an item whose words are not in the text"),
        (item(what="slide"), "an item whose words are not in the text"),
        (item(what=7), "an item whose words are not in the text"),
        (item(kind="wish"), "an item of no known kind"),
        (item(kind=["commitment"]), "an item of no known kind"),
        ({}, "an item of no known kind"),
    ],
)
def test_item_that_the_text_does_not_have_is_refused_and_said_why(
    make_memory: MakeMemory, said: dict[str, Any], why: str
) -> None:
    items, refused, extraction = read(make_memory(TEXT, created_at=MONDAY), said)
    assert (items, extraction.claims) == ((), ())
    assert why in refused


@pytest.mark.parametrize(
    ("said", "why"),
    [
        ({"when": "by Monday"}, "a due date that is not in the text"),
        ({"when": 5}, "a due date that is not in the text"),
        ({"when": "the slides"}, "a due date that names no day"),
        ({"when": "the slides", "day": "2026-13-45"}, "a due date that names no day"),
        ({"when": "the slides", "day": "2026-11-02"}, "a due date that is past or too far off"),
        ({"when": "the slides", "day": "2099-01-01"}, "a due date that is past or too far off"),
    ],
)
def test_day_that_the_text_does_not_have_is_refused_and_the_item_stands(
    make_memory: MakeMemory, said: dict[str, Any], why: str
) -> None:
    items, refused, _ = read(make_memory(TEXT, created_at=MONDAY), item(**said))
    assert [one.due_at for one in items] == [None]
    assert refused == [why]


def test_recipient_whom_the_text_does_not_have_is_left_out(make_memory: MakeMemory) -> None:
    items, refused, _ = read(make_memory(TEXT, created_at=MONDAY), item(to="Zoe"))
    assert [one.to for one in items] == [None]
    assert refused == ["the to of an item who is nobody in the text"]


def test_day_is_read_by_our_own_reader_and_not_by_the_sums_of_the_model(make_memory: MakeMemory) -> None:
    memory = make_memory(TEXT, created_at=MONDAY)
    items, _, _ = read(memory, item(day="2027-03-01"))
    assert [one.due_at for one in items] == [FRIDAY]
    zone = ZoneInfo("Asia/Tokyo")  # where it is Tuesday already
    items, _, _ = read(make_memory("I send the slides tomorrow", created_at=MONDAY), item(when="tomorrow"), zone=zone)
    assert [one.due_at for one in items] == [datetime(2026, 12, 2, 23, 59, tzinfo=zone)]


def test_day_in_words_that_our_reader_does_not_know_is_the_iso_date(make_memory: MakeMemory) -> None:
    memory = make_memory("我会在星期五之前把幻灯片发给罗伯", created_at=MONDAY)
    told = item(to="罗伯", what="把幻灯片发给罗伯", when="星期五之前", day="2026-12-04")
    reading = Reading(memory, Extraction(), 0.75)
    said = reading.extraction({"entities": [{"name": "罗伯", "type": "Person"}], "items": [told]})
    assert [(one.owner, one.to, one.object, one.due_at) for one in said.items] == [
        ("muse", "罗伯", "把幻灯片发给罗伯", FRIDAY)
    ]
    assert not reading.refused


def test_item_that_rules_found_stays(make_memory: MakeMemory) -> None:
    rules = Item(kind="commitment", owner="muse", to=None, object="slides")
    items, _, said = read(make_memory(TEXT, created_at=MONDAY), item(), found=Extraction(items=(rules,)))
    assert (items, said.claims) == ((), ())


def test_question_and_handoff_need_no_owner(make_memory: MakeMemory) -> None:
    for kind in ("question", "handoff"):
        items, refused, said = read(make_memory(TEXT, created_at=MONDAY), item(kind=kind, owner=None))
        assert [(one.kind, one.owner, one.to) for one in items] == [(kind, None, "Rob")]
        assert refused == []
        assert said.claims == ()


def test_open_item_that_the_model_found_is_open_until_it_is_resolved(make_llm: MakePlane, server: Any) -> None:
    text = "Rob gets the slides out of me before the week is over"
    server.answer = {"entities": NAMES, "items": [item(when="before the week is over", day="2999-01-01")]}
    plane = make_llm(extractor="llm")
    posted = plane.post(text, agent="muse")
    assert plane.items() == []
    plane.ingest()
    (found,) = plane.items()
    assert (found.id, found.kind, found.owner, found.to) == (posted.id, "commitment", "muse", "Rob")
    assert ("muse", "COMMITTED_TO", "the slides", "llm") in {
        (one.source.name, one.relation, one.target.name, one.method) for one in plane.graph().edges
    }
    before = plane.graph(limit=100), plane.items()
    plane.rebuild()
    assert (plane.graph(limit=100), plane.items()) == before
    plane.resolve(posted.id, agent="muse")
    plane.rebuild()
    assert plane.items() == []
