"""Everyday sentences: tasks, decisions, handovers, and what must yield nothing."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from memory_plane.types import Extraction, Memory
from memory_plane_local.extraction import extract

MONDAY = datetime(2026, 11, 30, 12, tzinfo=UTC)


def found(text: str) -> Extraction:
    return extract(Memory(id="m", agent="muse", kind="thought", text=text, created_at=MONDAY, origin="user"))


def held(text: str) -> set[str]:
    """The claims that hold now, commitments aside."""
    claims = found(text).claims
    return {
        f"{claim.subject.text} {claim.relation} {claim.object.text}"
        for claim in claims
        if claim.polarity == "positive" and claim.relation != "COMMITTED_TO"
    }


@pytest.mark.parametrize(
    ("text", "thing", "day"),
    [
        ("Remind me to call the dentist tomorrow.", "call the dentist", "2026-12-01"),
        ("don't let me forget the cake", "the cake", ""),
        ("Need to ask Omar whether the grant covers travel", "ask Omar whether the grant covers travel", ""),
        ("TODO: pay Acme's invoice for November by Dec 10", "pay Acme's invoice for November", "2026-12-10"),
        ("- [ ] reply to the landlord", "reply to the landlord", ""),
        ("I still have to update the changelog.", "update the changelog", ""),
    ],
)
def test_what_a_writer_notes_down_to_do_is_a_commitment(text: str, thing: str, day: str) -> None:
    (item,) = found(text).items
    assert (item.kind, item.owner, item.object) == ("commitment", "me", thing)
    assert (str(item.due_at.date()) if item.due_at else "") == day


@pytest.mark.parametrize(
    "text",
    [
        "I need to rest.",
        "I must admit the demo was good.",
        "You need to call Omar.",
        "I had to call Omar.",
        "I need to cancel the trip if it rains.",
        "todo list for the garden",
        "[x] book flights to Nairobi",
        "Remind me, what was that cafe called?",
        "Don't forget who you are.",
    ],
)
def test_what_only_sounds_like_a_task_is_none(text: str) -> None:
    assert found(text).items == ()


def test_what_is_still_to_be_done_does_not_hold_yet() -> None:
    assert held("- [ ] migrate Atlas from Redis to Valkey") == set()


def test_task_gives_something_to_somebody_like_a_promise() -> None:
    (item,) = found("Remind me to send Ana the contract by Friday.").items
    assert (item.object, item.to) == ("contract", "Ana")


def test_question_has_the_day_it_names() -> None:
    (item,) = found("Can you review PR #482 by Friday?").items
    assert item.due_at is not None and str(item.due_at.date()) == "2026-12-04"


@pytest.mark.parametrize(
    ("text", "claims"),
    [
        ("We decided to use SQLite for Nexus.", {"Nexus USES SQLite"}),
        ("We agreed to use SQLite for Nexus.", {"Nexus USES SQLite"}),
        ("Let's go with Postgres for the parser.", {"parser USES Postgres"}),
        ("picked htmx over React for Tidepool", {"Tidepool USES htmx"}),
        ("Decision: Kafka for the event bus.", {"event bus USES Kafka"}),
        ("Decision: we'll go with Stripe for payments in Orbit.", {"Orbit USES Stripe"}),
        ("Let's go with SQLite for the link cache in Tansy.", {"link cache USES SQLite", "Tansy USES SQLite"}),
        ("Still waiting on legal for the contract.", {"me BLOCKED_BY legal"}),
        ("We use Zoom for CI and Terraform for infra", {"me USES Zoom", "me USES Terraform"}),
        ("We use Redis for the cache and Kafka for the bus.", {"cache USES Redis", "bus USES Kafka"}),
        ("Switched the API from Flask to FastAPI.", {"API USES FastAPI"}),
        ("Swapped Redis for Valkey in Orbit.", {"Orbit USES Valkey"}),
    ],
)
def test_what_is_chosen_for_a_thing_is_used_by_it(text: str, claims: set[str]) -> None:
    assert held(text) == claims


@pytest.mark.parametrize(
    "text",
    [
        "We didn't decide to use Kafka for Nexus.",
        "Let's not use Kafka for Nexus.",
        "We could go with Kafka for Nexus.",
        "Should we use Kafka for Nexus?",
        "Idea: Kafka for the event bus",
        "Let's go with the flow.",
        'He said "Lumen is written in Java", which is wrong.',
    ],
)
def test_what_is_not_decided_is_used_by_nothing(text: str) -> None:
    assert held(text) == set()


def test_former_employer_may_stand_beside_a_name() -> None:
    assert held("Wei Zhang, formerly of Tencent, leads research at Kimi.") == {
        "Wei Zhang PREVIOUSLY_WORKED_AT Tencent",
        "Wei Zhang WORKS_AT Kimi",
    }


@pytest.mark.parametrize(
    ("text", "to"),
    [
        ("Handed the deploy over to Codex.", "Codex"),
        ("Tests are green, passing this on to Muse.", "Muse"),
        ("Assigned the ticket to Codex.", "Codex"),
        ("over to you, Grok: the numbers need a second look", "Grok"),
        ("Gemini, your turn.", "Gemini"),
        ("@codex please take the deploy", "codex"),
    ],
)
def test_work_that_is_passed_on_is_a_handoff(text: str, to: str) -> None:
    (item,) = found(text).items
    assert (item.kind, item.to) == ("handoff", to)


@pytest.mark.parametrize(
    "text",
    [
        "I didn't hand it over to Codex.",
        "Handed the keys to Sam yesterday.",
        "He passed the ball to Leo.",
        "Ana handed the shop over to Magnus in May.",
        "I passed your message on to Claude's team.",
        "Handed in my thesis!",
    ],
)
def test_what_is_merely_given_is_no_handoff(text: str) -> None:
    assert found(text).items == ()


def test_promised_thing_ends_where_its_time_begins() -> None:
    (item,) = found("Nadia will send us the term sheet next week.").items
    assert item.object == "term sheet"


def test_somebody_is_got_something() -> None:
    (item,) = found("I'll get Dana the signed lease by Thursday.").items
    assert (item.object, item.to) == ("signed lease", "Dana")
    assert found("Rob will get a raise in May.").items == ()


@pytest.mark.parametrize(
    ("text", "claims"),
    [
        ("The Falcon project is blocked by the export license.", {"Falcon BLOCKED_BY export license"}),
        ("Project Falcon is led by Ingrid Solberg.", {"Ingrid Solberg LEADS Falcon"}),
        ("Team Orion uses Linear.", {"Orion USES Linear"}),
        ("The Orion team uses Linear.", {"Orion USES Linear"}),
        ("The Compiler team uses Linear.", {"Compiler team USES Linear"}),
        ("The Zebra's founder is Rob Chen.", {"Rob Chen FOUNDER_OF The Zebra"}),
    ],
)
def test_words_that_only_say_what_a_thing_is_are_no_part_of_its_name(text: str, claims: set[str]) -> None:
    assert held(text) == claims


@pytest.mark.parametrize(
    ("text", "claims"),
    [
        ("atlas depends on redis", {"atlas DEPENDS_ON redis"}),
        ("zephyr is written in rust", {"zephyr BUILT_IN rust"}),
        ("everyone uses slack", set()),
        ("mum needs python lessons", set()),
        ("lunch depends on the weather", set()),
    ],
)
def test_small_word_before_a_technical_verb_is_a_thing(text: str, claims: set[str]) -> None:
    assert held(text) == claims


@pytest.mark.parametrize(
    ("text", "claims"),
    [
        ("Sam owns the onboarding flow.", {"Sam OWNS onboarding flow"}),
        ("Kai, who runs data at Figma, sent the numbers.", {"Kai WORKS_AT Figma"}),
        ("Ines heads design at Kakao.", {"Ines WORKS_AT Kakao"}),
        ("Yusuf is on the parser.", {"Yusuf WORKING_ON parser"}),
        ("Rafael Ortiz, formerly at Initech, is our new CFO.",
         {"Rafael Ortiz PREVIOUSLY_WORKED_AT Initech", "Rafael Ortiz HAS_ROLE CFO"}),
    ],
)  # fmt: skip
def test_people_and_what_they_have_in_charge(text: str, claims: set[str]) -> None:
    assert held(text) == claims


def test_people_are_given_tasks_one_after_the_other() -> None:
    items = found("Action items: Yara to draft the brief, Otto to book the venue by Thursday").items
    told = [(item.owner, item.object, item.due_at.day if item.due_at else None) for item in items]
    assert told == [("Yara", "brief", None), ("Otto", "book the venue", 3)]


@pytest.mark.parametrize(
    "text", ["Ana to Ben: hi there", "Otto: thanks", "Will Smith called Ana.", "Reminder: standup moved to ten"]
)
def test_names_before_a_colon_are_given_nothing_to_do(text: str) -> None:
    assert found(text).items == ()


@pytest.mark.parametrize(
    ("text", "claims"),
    [
        ("Migrating Atlas to Postgres this week.", {"Atlas USES Postgres"}),
        ("Sticking with Postgres for Atlas.", {"Atlas USES Postgres"}),
        ("Elif is no longer at Getir.", set()),
        ("Ownership of the billing page moves to Chen.", set()),
    ],
)
def test_moves_are_read_by_what_moves(text: str, claims: set[str]) -> None:
    assert held(text) == claims


def test_task_without_its_subject_is_the_writers() -> None:
    (item,) = found("Will send the invoice tomorrow.").items
    assert (item.owner, item.object) == ("me", "invoice")


@pytest.mark.parametrize(
    ("text", "claims"),
    [
        ("Otto: I moved to Porto. We use Kafka.", {"Otto LOCATED_IN Porto", "Otto USES Kafka"}),
        ("[10:31] Otto: I moved to Porto", {"Otto LOCATED_IN Porto"}),
        ("Otto (10:31): I moved to Porto", {"Otto LOCATED_IN Porto"}),
        ("Otto: I moved to Porto\nI moved to Lisbon", {"Otto LOCATED_IN Porto", "me LOCATED_IN Lisbon"}),
        ('Ines said: "I moved to Porto"', {"Ines LOCATED_IN Porto"}),
        ('"I moved to Porto," said Ines.', {"Ines LOCATED_IN Porto"}),
        ('He said: "I moved to Porto"', set()),
        ("Update: I moved to Porto", {"me LOCATED_IN Porto"}),
    ],
)
def test_i_is_who_speaks(text: str, claims: set[str]) -> None:
    assert held(text) == claims


@pytest.mark.parametrize(
    ("text", "claims"),
    [
        ("For Atlas we picked Postgres.", {"Atlas USES Postgres"}),
        ("Going with Kafka for Atlas was a mistake.", set()),
        ("Had we picked Kafka for Atlas, it would be slow.", set()),
        ("Using Scala, Brightwater is building FlowCast.", {"Brightwater BUILDS FlowCast", "FlowCast USES Scala"}),
    ],
)
def test_choice_is_read_by_how_its_sentence_begins(text: str, claims: set[str]) -> None:
    assert held(text) == claims


@pytest.mark.parametrize(
    ("text", "claims"),
    [
        ("Lumen is a CLI written in Rust", {"Lumen BUILT_IN Rust"}),
        ("Meeting with Acme on Thursday at 10", set()),
        ("Baraka joined the payments team", {"Baraka MEMBER_OF payments team"}),
        ("had lunch with Amara and Ben", {"me KNOWS Amara", "me KNOWS Ben"}),
        ("Baraka works with Efua.", set()),
        ("Ben's joining Acme.", set()),
        ("Ben is leaving Acme.", set()),
        ("Ben leaves the team by Friday.", set()),
        ("Ben moves to Berlin before Christmas.", set()),
        ("Ben left Acme before Christmas.", {"Ben PREVIOUSLY_WORKED_AT Acme"}),
        ("The service depends on Kafka.", set()),
        ("The Rust service depends on Kafka.", set()),
        ("Ben joined the band.", set()),
        ("The app uses Redis.", set()),
        ("The billing service uses Redis.", {"billing service USES Redis"}),
        ("Orbit uses Go. The service depends on Kafka.", {"Orbit USES Go", "Orbit DEPENDS_ON Kafka"}),
    ],
)
def test_what_people_do_together_and_plan_is_not_overdone(text: str, claims: set[str]) -> None:
    assert held(text) == claims


def test_somebody_spoken_to_and_asked_takes_over() -> None:
    (item,) = found("Codex, please fix the flaky test by Friday.").items
    assert (item.kind, item.to) == ("handoff", "Codex")
    assert found("Codex, nice work.").items == ()


def test_comment_in_code_is_a_task_of_its_writer_unless_it_names_another() -> None:
    assert [item.object for item in found("# TODO: handle empty input").items] == ["handle empty input"]
    assert found("TODO(sam): fix the flaky test").items == ()


@pytest.mark.parametrize(
    ("text", "claim"),
    [
        ("Nina is the head of logistics at Borealis Freight.", "Nina HEAD_OF_LOGISTICS_OF Borealis Freight"),
        ("Head of people ops at Acme is Jo.", "Jo HEAD_OF_PEOPLE_OPS_OF Acme"),
        ("Nina became head of data at Lumen Health last year.", "Nina HEAD_OF_DATA_OF Lumen Health"),
        ("Ravi became CEO of Acme in 2024.", "Ravi CEO_OF Acme"),
        ("Nina is the head of Orion.", "Nina HEAD_OF Orion"),
    ],
)
def test_office_has_its_field_and_holds_since_somebody_came_to_it(text: str, claim: str) -> None:
    assert held(text) == {claim}


@pytest.mark.parametrize(
    ("text", "thing", "day"),
    [
        ("I'll send Rob the Q3 deck by Friday.", "Q3 deck", "2026-12-04"),
        ("I'll send the May report by Monday.", "May report", "2026-11-30"),
        ("I'll review the Monday report by Friday.", "review the Monday report", "2026-12-04"),
        ("I'll send the deck before the Monday meeting.", "deck", "2026-11-30"),
        ("I'll send the Q3 numbers Friday morning.", "Q3 numbers", "2026-12-04"),
        ("I'll book the venue by Friday.", "book the venue", "2026-12-04"),
    ],
)
def test_day_that_tells_of_a_thing_is_not_when_it_is_due(text: str, thing: str, day: str) -> None:
    (item,) = found(text).items
    assert item.object == thing
    assert item.due_at is not None
    assert item.due_at.date().isoformat() == day


@pytest.mark.parametrize(
    ("text", "to"),
    [("Handoff to grok: check the FPGA benchmark.", "grok"), ("The handoff to Grok was done yesterday.", None)],
)
def test_note_that_is_headed_as_a_handoff_is_one(text: str, to: str | None) -> None:
    assert [item.to for item in found(text).items] == ([to] if to else [])


@pytest.mark.parametrize(
    ("text", "claims"),
    [
        ("Tom's manager is Lee Wong.", {"Lee Wong MANAGES Tom"}),
        ("Ann Lee is Tom's boss.", {"Ann Lee MANAGES Tom"}),
        ("My manager is Lee Wong.", {"Lee Wong MANAGES me"}),
        ("Ann is not Tom's boss.", set()),
        ("Tom's lawyer is Ann Lee.", set()),
        ("Acme's CTO is Ann Lee.", {"Ann Lee CTO_OF Acme"}),
    ],
)
def test_title_that_a_person_has_of_a_person_names_no_company(text: str, claims: set[str]) -> None:
    assert held(text) == claims


@pytest.mark.parametrize(
    ("text", "sure"),
    [
        ("I heard that Vera works at Hooli.", False),
        ("Apparently Vera is the CTO of Hooli.", False),
        ("Heard back from Vera, who works at Hooli.", True),
        ("Vera works at Hooli.", True),
    ],
)
def test_what_was_only_heard_is_less_sure(text: str, sure: bool) -> None:
    (claim,) = found(text).claims
    assert (claim.confidence > 0.8) == sure
    assert claim.confidence > 0.5
