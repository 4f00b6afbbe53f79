"""Open items and due dates."""

from __future__ import annotations

from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest

from memory_plane.types import Item, Kind, Memory, Origin
from memory_plane_local.dates import due_date
from memory_plane_local.extraction import extract
from memory_plane_local.tokens import tokenize

SUNDAY = datetime(2026, 11, 29, 12, tzinfo=UTC)


def items(text: str) -> list[Item]:
    memory = Memory(id="m", agent="muse", kind="thought", text=text, created_at=SUNDAY, origin="user")
    return list(extract(memory).items)


@pytest.mark.parametrize(
    ("text", "owner", "to", "thing"),
    [
        ("I'll send Rob the deck by Friday.", "me", "Rob", "deck"),
        ("I promised Aisha I'd send the Q3 deck.", "me", "Aisha", "Q3 deck"),
        ("Rob promised to send Daniel an FPGA demo by Friday.", "Rob", "Daniel", "FPGA demo"),
        ("Ravi committed to the FPGA benchmark.", "Ravi", None, "FPGA benchmark"),
        ("Peter promised Nina the contract draft.", "Peter", "Nina", "contract draft"),
        ("Bob needs to review the auth design by Monday.", "Bob", None, "review the auth design"),
        ("We agreed to publish the episode on Sunday.", "me", None, "episode"),
        ("I told Petra I'd bring the projector on Monday.", "me", "Petra", "projector"),
        ("Owen assured Lydia he'd return the kayak.", "Owen", "Lydia", "kayak"),
        ("Noor said she'd get the permit to Ana by Friday.", "Noor", "Ana", "permit"),
        ("Milo needs to rehang the curtains by Friday.", "Milo", None, "rehang the curtains"),
        ("Note to self: order yeast before Sunday", "me", None, "order yeast"),
        ("I told the tenants that I would replace the boiler.", "me", "tenants", "replace the boiler"),
        ("birgit promised the bank to hand in the accounts", "birgit", "bank", "accounts"),
        ("Ling committed to Arno that the scaffolding comes down.", "Ling", "Arno", "scaffolding comes down"),
        ("Tomas has until Friday to file the appeal.", "Tomas", None, "file the appeal"),
        ("Ines is on the hook for the sound check.", "Ines", None, "sound check"),
        ("Paolo is taking care of the catering.", "Paolo", None, "catering"),
        ("Kenji is to hand in the thesis.", "Kenji", None, "thesis"),
        ("Rosa will pay the deposit by Friday.", "Rosa", None, "pay the deposit"),
        ("Rosa will have the report ready by Friday.", "Rosa", None, "report"),
        ("I owe Sofia two concert tickets.", "me", "Sofia", "two concert tickets"),
        ("We owe the printer the final artwork.", "me", "printer", "final artwork"),
        ("gonna send jo the photos tonight", "me", "jo", "photos"),
        ("I'll rerun the load test once it is green.", "me", None, "rerun the load test"),
        ("I'll take the Monday shift.", "me", None, "take the Monday shift"),
        ("I have to ship the amps to Lyon.", "me", None, "amps"),
        ("Remind me on Monday to water the ficus.", "me", None, "water the ficus"),
        ("pls don't forget the visa photos", "me", None, "the visa photos"),
        ("Dan committed to delivering the prototype to Eve.", "Dan", "Eve", "prototype"),
        ("I'll share the deck with Grace.", "me", "Grace", "deck"),
        ("I'll bring the cake for Ana.", "me", "Ana", "cake"),
        ("I'm sending Rob the deck tomorrow.", "me", "Rob", "deck"),
        ("I'll send Ann the list of pupils by Friday.", "me", "Ann", "list of pupils"),
        ("I'll bring 40 kg of stoneware on Monday.", "me", None, "40 kg of stoneware"),
        ("I'll send Ann a copy of Bob's contract.", "me", "Ann", "copy of Bob's contract"),
        ("I owe Ann a set of new brushes.", "me", "Ann", "set of new brushes"),
        ("I'll send Rob the deck of course.", "me", "Rob", "deck"),
        ("Leo will get back to me by Thursday.", "Leo", "me", "get back to me"),
        ("I'm going to write the report for Kim.", "me", "Kim", "report"),
        ("Bob is going to draft the proposal by Monday.", "Bob", None, "proposal"),
        ("Action: Hugo to circulate the minutes.", "Hugo", None, "circulate the minutes"),
        ("Bob: deck by Friday", "Bob", None, "deck"),
        ("Don't forget: dentist on Tuesday at 3pm", "me", None, "dentist"),
        ("Send invoice to ACME by 3/20", "me", None, "Send invoice to ACME"),
        ("Call mom tomorrow", "me", None, "Call mom"),
        ("ETA for the fix is Thursday", "me", None, "fix"),
        ("Farid is sending Lotte the floor plans on Monday.", "Farid", "Lotte", "floor plans"),
        ("i told Henk i will build the stage", "me", "Henk", "stage"),
        ('"I\'ll send the keys", Henk said.', "Henk", None, "keys"),
        ("I'll definitely send Kim the report.", "me", "Kim", "report"),
        ("I have until the 20th to send Kim the report.", "me", "Kim", "report"),
        ("@fern I'll push the fix by tonight", "me", None, "push the fix"),
        ("FYI the invoice for Hill Street is due on the 20th.", "me", None, "invoice for Hill Street"),
        ("thx, will send you the pics tonight", "me", None, "pics"),
        ("I'll fix the crash when a headset is unplugged", "me", None, "fix the crash when a headset is unplugged"),
        ("I'll fix the bug when I have time", "me", None, "fix the bug"),
        ("Ben asked me to send him the slides by Friday", "me", "Ben", "slides"),
        ("Ben wants me to call the bank", "me", "Ben", "call the bank"),
        ("My boss wants me to finish the report by Friday.", "me", "boss", "report"),
        ("The invoice of Acme over 1,240 euros is due on 10 December", "me", None, "invoice of Acme over 1,240 euros"),
        ("Got to renew insurance before the end of the month!", "me", None, "renew insurance"),
        ("Task for Zoe: compare the quotes by Monday", "Zoe", None, "compare the quotes"),
        ("Jill still has to send the deck.", "Jill", None, "deck"),
        ("The landlord promised to fix the heating by Friday.", "landlord", None, "fix the heating"),
        ("Our accountant will file the return by April 15.", "accountant", None, "file the return"),
        ("My brother owes me the rent.", "brother", "me", "rent"),
        ("The deadline for the ICML paper is January 28.", "me", None, "ICML paper"),
        ("Tax return deadline: 31 May", "me", None, "Tax return"),
        ("The deadline to submit the abstract is Friday.", "me", None, "abstract"),
        ("The invoice is due on Friday.", "me", None, "invoice"),
        ("The report has to be with Ann by Friday.", "me", "Ann", "report"),
    ],
)
def test_promise_is_a_commitment(text: str, owner: str, to: str | None, thing: str) -> None:
    (item,) = items(text)
    assert (item.kind, item.owner, item.to, item.object) == ("commitment", owner, to, thing)


@pytest.mark.parametrize(
    "text",
    [
        "Rob might promise an FPGA demo.",
        "Ravi never committed to the FPGA benchmark.",
        "Did Rob promise a demo?",
        "It will rain.",
        "I'll be out on Friday.",
        "Bob needs to rest.",
        "If I have time I'll repaint the fence.",
        "I never said I'd fix the roof.",
        "He said he'd love the job.",
        "She would have sent the file.",
        "Hopefully Sam will send the scores.",
        "I had promised Ute a cake, but she cancelled.",
        "I promised Ute a cake but forgot.",
        "Ines is responsible for the sound.",
        "I'll take a nap.",
        "I'm giving a talk on Friday.",
        "Be sure to build relationships.",
        "I doubt Henk will send the keys.",
        "> I'll send the keys by Friday",
        'The text "I promised Rob the deck" is one.',
        "Please order the chairs by Monday.",
        "Tia will get the flowers on Friday.",
        "You promised me a draft by tonight!",
        "Zoe agreed that the quotes are too high.",
        "Zoe committed the fix to main.",
        "Design review on Friday",
        "Call with Bob tomorrow",
        "Release on Friday",
        "Call me tomorrow",
        "Bob is going to sleep.",
        "The deadline was Friday.",
        "We missed the deadline on Friday.",
        "The baby is due in May.",
        "He is due to arrive on Friday.",
        "It must be Friday.",
        "fix(api): retry on 502 so that uploads need to be sent once",
    ],
)
def test_what_binds_nobody_is_no_commitment(text: str) -> None:
    assert [item for item in items(text) if item.kind == "commitment"] == []


@pytest.mark.parametrize(
    ("text", "things"),
    [
        ("I'll send Rob the deck by Friday and call Ann on Monday.", {"deck": 4, "call Ann": 30}),
        ("I'll review the PR, update the docs and then deploy the hub by Friday.",
         {"review the PR": 4, "update the docs": 4, "deploy the hub": 4}),
        ("I promised to send Ann the draft and to call Bob by Friday.", {"draft": 4, "call Bob": 4}),
        ("I need to renew the passport, book the flights and call mum.",
         {"renew the passport": None, "book the flights": None, "call mum": None}),
        ("I'll send the deck to Rob and Ann.", {"deck": None}),
        ("I'll prepare the slides and Ann will present them.", {"slides": None}),
        ("I'll review the docs and plan.", {"review the docs": None}),
        ("I'll send the deck because Rob will call Ann and sign the lease.", {"deck": None}),
        ("TODO:\n- Email Bob\n- Pay Eve", {"Email Bob": None, "Pay Eve": None}),
        ("TODO:\n- Pay Eve", {"Pay Eve": None}),
    ],
)  # fmt: skip
def test_all_that_one_sentence_or_list_says_is_to_be_done(text: str, things: dict[str, int | None]) -> None:
    found = items(text)
    assert {item.object: item.due_at and item.due_at.day for item in found} == things
    assert {item.owner for item in found} == {"me"}
    assert all(text.startswith(item.object, item.start) for item in found)


def test_receiver_of_one_thing_is_not_that_of_another() -> None:
    found = items("Alice will send the deck by Friday, review the contract and set up a call with Bob.")
    assert [(item.object, item.to) for item in found] == [
        ("deck", None), ("review the contract", None), ("set up a call with Bob", "Bob"),
    ]  # fmt: skip


def test_question_to_somebody_and_handover() -> None:
    assert [item.kind for item in items("Can you review PR #12?")] == ["question"]
    assert [item.kind for item in items("Why is Jenkins down again?")] == []
    assert [item.to for item in items("Grok takes it from here.")] == ["Grok"]
    assert items("She handed the ferry story over to Rob on Tuesday.") == []
    (handed,) = items("Handing over the invoice parser to @codex.")
    assert (handed.kind, handed.to) == ("handoff", "codex")


def test_commitment_is_a_mention_and_a_claim_too() -> None:
    text = "I'll send Rob the deck"
    memory = Memory(id="m", agent="muse", kind="thought", text=text, created_at=SUNDAY, origin="user")
    found = extract(memory)
    assert [(claim.relation, claim.object.type) for claim in found.claims] == [("COMMITTED_TO", "Commitment")]


@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("On Friday I'll call Henk.", "2026-12-04"),
        ("Next week Henk will send us the bill.", "2026-12-04"),
        ("On Friday Henk promised me the bill.", None),
        ("On Friday I told Henk I'd bring the van.", None),
    ],
)
def test_day_before_all_the_rest_is_that_of_what_is_to_come(text: str, day: str | None) -> None:
    (item,) = items(text)
    assert (item.due_at.date().isoformat() if item.due_at else None) == day


@pytest.mark.parametrize(
    "text",
    ["Rina, please book the hall by Friday.", "Rina please book the hall by Friday", "Rina: pls book it by Friday"],
)
def test_who_is_asked_by_name_has_it_by_the_day(text: str) -> None:
    (item,) = items(text)
    assert (item.kind, item.to, item.due_at and item.due_at.date().isoformat()) == ("handoff", "Rina", "2026-12-04")


@pytest.mark.parametrize(
    ("words", "day"),
    [
        ("by Friday", "2026-12-04"),
        ("by next Friday", "2026-12-11"),
        ("tomorrow", "2026-11-30"),
        ("before 2026-12-24", "2026-12-24"),
        ("on May 12", "2027-05-12"),
        ("by 3rd December", "2026-12-03"),
        ("in two weeks", "2026-12-13"),
        ("by end of month", "2026-11-30"),
    ],
)
def test_due_date_is_the_end_of_the_day_named(words: str, day: str) -> None:
    due = due_date(tokenize(words), SUNDAY)
    assert due is not None
    assert due.isoformat() == f"{day}T23:59:00+00:00"


@pytest.mark.parametrize(
    ("task", "to"), [("Send Rob the deck", "Rob"), ("Mail Ann the deck", "Ann"), ("Call Ann", None)]
)
def test_verb_behind_a_check_box_is_no_part_of_a_name(task: str, to: str | None) -> None:
    text = f"- [ ] {task}"
    found = extract(Memory(id="m", agent="muse", kind="thought", text=text, created_at=SUNDAY, origin="user"))
    assert [item.to for item in found.items] == [to]
    assert {name.text for name in found.mentions if name.type == "Person"} == {"me", task.split()[1]}


@pytest.mark.parametrize("words", ["with Friday's help", "by the way", "in Paris", "by 99 May", "on the sun deck"])
def test_other_words_are_no_date(words: str) -> None:
    assert due_date(tokenize(words), SUNDAY) is None


@pytest.mark.parametrize(
    ("kind", "text", "due"),
    [
        ("commitment", "I'll water the plants of the neighbours by Friday.", "2026-12-04"),
        ("commitment", "I'll water the plants.", None),
        ("thought", "Water for the plants of the neighbours by Friday.", None),
    ],
)
def test_declared_commitment_is_due_when_it_says_whatever_is_promised(kind: Kind, text: str, due: str | None) -> None:
    memory = Memory(id="m", agent="muse", kind=kind, text=text, created_at=SUNDAY)
    found = [item.due_at.date().isoformat() for item in extract(memory).items[:1] if item.due_at]
    assert found == ([due] if due else [])


def test_day_ends_where_the_writer_is() -> None:
    text = "I'll send Rob the deck tomorrow"
    late = datetime(2026, 11, 29, 23, 30, tzinfo=UTC)
    memory = Memory(id="m", agent="muse", kind="thought", text=text, created_at=late)
    (here,) = extract(memory).items
    (there,) = extract(memory, zone=ZoneInfo("Asia/Singapore")).items
    assert here.due_at == datetime(2026, 11, 30, 23, 59, tzinfo=UTC)
    assert there.due_at == datetime(2026, 12, 1, 15, 59, tzinfo=UTC)


def test_what_is_lent_until_a_day_is_not_due_on_it() -> None:
    for text in ("I'll lend Ann six beacons until 31 January.", "Can you lend us six beacons until 31 January?"):
        assert [item.due_at for item in items(text)] == [None]
    assert items("I have until Friday to file the appeal.")[0].due_at is not None


@pytest.mark.parametrize(
    "text",
    [
        "Ben asked me to send him the slides, and I sent them.",
        "Ben didn't ask me to send him the slides.",
        "Did Ben ask me to send him the slides?",
        "Ben asked me to be quiet.",
    ],
)
def test_what_one_was_asked_and_does_not_owe_is_no_item(text: str) -> None:
    assert [item for item in items(text) if item.kind == "commitment"] == []


@pytest.mark.parametrize(
    ("text", "origin", "to"),
    [
        ("Emil: can you book the room by Friday?", "external", None),
        ("Emil: Ana, can you book the room by Friday?", "external", "Ana"),
        ("[10:31] Emil: can you book the room by Friday?", "user", None),
        ("Emil: can you book the room by Friday?\nAna: sure, I'll do it.", "user", None),
        ("Emil: can you book the room by Friday?", "user", "Emil"),
    ],
)
def test_speaker_of_a_conversation_asks_and_is_not_asked(text: str, origin: Origin, to: str | None) -> None:
    memory = Memory(id="m", agent="muse", kind="thought", text=text, created_at=SUNDAY, origin=origin)
    asked = [item for item in extract(memory).items if item.kind == "question"]
    assert [(item.owner, item.to) for item in asked] == [(None, to)]
    assert "can you book the room" in asked[0].object
    assert ("Emil:" in asked[0].object) == (to == "Emil")
