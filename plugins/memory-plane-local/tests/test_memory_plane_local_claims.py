"""Claims by the shape of a sentence: each case is one kind of wording."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from memory_plane.types import Claim, Memory, Origin
from memory_plane_local.extraction import extract

WRITTEN = datetime(2026, 11, 29, 12, tzinfo=UTC)


def claims(text: str) -> list[Claim]:
    written = datetime(2026, 11, 29, 12, tzinfo=UTC)
    memory = Memory(id="m", agent="muse", kind="thought", text=text, created_at=written, origin="user")
    return list(extract(memory).claims)


def said(text: str) -> set[str]:
    return {f"{c.subject.text} {c.relation} {c.object.text}" for c in claims(text) if c.polarity == "positive"}


def test_where_somebody_works_now_is_no_place_of_the_verb_before() -> None:
    (found,) = (c for c in claims("Bob used to work at Acme and now works at Initech.") if c.object.text == "Initech")
    assert (found.relation, found.polarity) == ("WORKS_AT", "positive")


@pytest.mark.parametrize(
    ("text", "employer"),
    [
        ("Ann met Bob at KubeCon.", None),
        ("I met Bob at Blue Door last week.", None),
        ("I met Bob at Acme Inc.", "Acme Inc"),
        ("I met Bob from Orvalle.", "Orvalle"),
        ("I called Bob at Orvalle.", "Orvalle"),
    ],
)
def test_where_somebody_is_met_is_no_employer(text: str, employer: str | None) -> None:
    assert [c.object.text for c in claims(text) if c.relation == "WORKS_AT"] == ([employer] if employer else [])


@pytest.mark.parametrize(
    ("text", "gone"),
    [
        ("Initech hired Bob from Acme.", True),
        ("We recruited Bob from Acme.", True),
        ("We may hire Bob from Acme.", False),
        ("Initech called Bob from Acme.", False),
        ("Bob joined Acme in 2021 and left last month.", True),
        ("Bob was hired by Acme in 2021. He left in March.", True),
        ("Bob works at Acme. He quit yesterday.", True),
        ("Bob works at Acme. He left at five yesterday.", False),
        ("Bob works at Acme. He left the deck in March.", False),
        ("Bob works at Acme. He quit smoking last month.", False),
        ("Bob works at Acme and never quit.", False),
        ("Bob works at Acme. Zoe quit last month.", False),
        ("Bob works at Acme. He will leave next month.", False),
    ],
)
def test_who_left_left_the_company_of_the_text(text: str, gone: bool) -> None:
    assert any(c.relation == "PREVIOUSLY_WORKED_AT" for c in claims(text)) is gone


@pytest.mark.parametrize(
    ("text", "claim"),
    [
        ("Bob works at Acme.", "Bob WORKS_AT Acme"),
        ("bob works at brightpath", "bob WORKS_AT brightpath"),
        ("Acme hired Bob.", "Bob WORKS_AT Acme"),
        ("Bob joined Acme as a PM.", "Bob WORKS_AT Acme"),
        ("Bob left Acme for Initech.", "Bob WORKS_AT Initech"),
        ("Owen from Graylight called.", "Owen WORKS_AT Graylight"),
        ("The parser was written by Bob.", "Bob BUILDS parser"),
        ("Falcon, which is written in Go, is fast.", "Falcon BUILT_IN Go"),
        ("Falcon is being built by Acme in Rust.", "Falcon USES Rust"),
        ("Using Scala, Brightwater is building FlowCast.", "FlowCast USES Scala"),
        ("Lumen Health is moving its pipelines to Dagster.", "Lumen Health USES Dagster"),
        ("Carol reports to Dave.", "Dave MANAGES Carol"),
        ("Bob mentors Carol.", "Bob MENTOR_OF Carol"),
        ("The Growth team is led by Omar.", "Omar LEADS Growth team"),
        ("Members of the Design team: Chloé and Bob.", "Chloé MEMBER_OF Design team"),
        ("Orbit v2 is blocked by the auth migration.", "Orbit v2 BLOCKED_BY auth migration"),
        ("Apollo depends on Kafka.", "Apollo DEPENDS_ON Kafka"),
        ("Acme is based in Oslo.", "Acme LOCATED_IN Oslo"),
        ("Bob moved from Accra to Oslo.", "Bob LOCATED_IN Oslo"),
        ("Fatou suggested ClickHouse.", "Fatou SUGGESTED ClickHouse"),
        ("Please always use pnpm, never npm.", "me USES pnpm"),
        ("Priya introduced Daniel to Rob.", "Daniel INTRODUCED_TO Rob"),
        ("Bob introduced me to Rob.", "Bob KNOWS Rob"),
        ("Maya merged PR #482.", "Maya CHANGED PR #482"),
        ("Fatima (Go) sits next to Igor (Rust).", "Igor USES Rust"),
        ("Lucía trabaja en Telefónica.", "Lucía WORKS_AT Telefónica"),
        ("Анна работает в Acme.", "Анна WORKS_AT Acme"),
        ("田中さんはソニーで働いています。", "田中 WORKS_AT ソニー"),
        ("李雷在华为工作。", "李雷 WORKS_AT 华为"),
    ],
)
def test_wording_is_understood(text: str, claim: str) -> None:
    assert claim in said(text)


@pytest.mark.parametrize(
    ("text", "claim"),
    [
        ("TechCorp has a CTO called Alice.", "Alice CTO_OF TechCorp"),
        ("Alice, TechCorp's CTO, is here.", "Alice CTO_OF TechCorp"),
        ("The CTO of TechCorp is Alice.", "Alice CTO_OF TechCorp"),
        ("TechCorp, whose CTO is Alice, grows.", "Alice CTO_OF TechCorp"),
        ("Yusuf (CTO, Anchor Robotics) called.", "Yusuf CTO_OF Anchor Robotics"),
        ("As CTO of Tallgrass, Peter leads it.", "Peter CTO_OF Tallgrass"),
        ("Met the head of design at Pixel & Thread, Søren.", "Søren HEAD_OF_DESIGN_OF Pixel & Thread"),
        ("Acme builds Falcon. Their CTO, Ingrid, is here.", "Ingrid CTO_OF Acme"),
        ("Bob is a software engineer at Acme.", "Bob HAS_ROLE software engineer"),
    ],
)
def test_title_is_understood(text: str, claim: str) -> None:
    assert claim in said(text)


def test_she_is_not_taken_up_by_he() -> None:
    text = "Hana founded Kestrel AI. She later hired Omar, and he built the ingestion pipeline in Go."
    assert "Omar BUILDS ingestion pipeline" in said(text)


def test_clause_after_and_has_its_own_subject() -> None:
    assert said("Alice manages Bob, Bob mentors Carol, and Carol reports to Dave.") == {
        "Alice MANAGES Bob",
        "Bob MENTOR_OF Carol",
        "Dave MANAGES Carol",
    }


def test_list_reaches_over_an_oxford_comma_but_not_over_a_denial() -> None:
    assert said("They say Falcon uses Rust, Go, and Redis.") == {
        "Falcon USES Rust",
        "Falcon USES Go",
        "Falcon USES Redis",
    }
    assert said("Falcon uses Rust, and never Redis.") == {"Falcon USES Rust"}


def test_denial_is_kept_as_a_denial() -> None:
    (claim,) = claims("Alice never uses Go.")
    assert (claim.polarity, claim.relation) == ("negative", "USES")


@pytest.mark.parametrize(
    "text",
    [
        "Neither Leo nor Mia uses Docker",
        "No one, not even Carl, uses Perl",
        "Everyone but Abe uses Bash",
        "All except Abe use Bash",
        "It is false that Olga works at Tyrell",
        "It isn't true that Olga works at Tyrell",
        "Someone claims Rita is the CEO of Soylent",
        "Rumor has it that Rita is the CEO of Soylent",
        "In the novel, Kate works at Initech",
        "Kate works at Initech in his dream.",
        "It's wrong to say that Bob works at Acme",
        "Fake news: Jack owns Umbrella Corp",
        "My dream was that Lou leads Hooli",
        "TODO verify: Nick is the CFO of Acme",
        '"Grace leads Umbrella" is a lie',
        "“Grace leads Umbrella” is not true.",
        "Maybe Viktor is the CTO of Nexus Labs.",
    ],
)
def test_what_is_denied_invented_or_hearsay_is_no_claim_that_holds(text: str) -> None:
    assert {claim.polarity for claim in claims(text)} <= {"negative", "hypothetical"}


@pytest.mark.parametrize(
    ("text", "claim"),
    [
        ("Bob works at Acme and nobody uses Perl.", "Bob WORKS_AT Acme"),
        ("Bob works at Acme, but Carol uses Go.", "Carol USES Go"),
        ("Fatima confirmed that Rita is the CEO of Soylent.", "Rita CEO_OF Soylent"),
        ("Neither of us knows Go, but Bob uses Rust.", "Bob USES Rust"),
        ("Viktor is the CTO of Nexus Labs, no one else.", "Viktor CTO_OF Nexus Labs"),
    ],
)
def test_guard_reaches_no_further_than_its_words(text: str, claim: str) -> None:
    assert claim in said(text)


def test_confidence_falls_with_each_guess() -> None:
    (plain,) = claims("Bob uses Redis.")
    (_, guessed) = claims("Bob works at Acme. He uses Zorblax.")
    assert guessed.confidence < plain.confidence


def test_names_of_the_graph_are_known_in_lower_case() -> None:
    memory = Memory(id="m", agent="muse", kind="thought", text="we use zorblax now", created_at=datetime.now(UTC))
    assert "zorblax" in {mention.text for mention in extract(memory, frozenset({"zorblax"})).mentions}


@pytest.mark.parametrize(
    ("kind", "origin", "works"),
    [("milestone", "agent", True), ("observation", "agent", False), ("milestone", "user", False)],
)
def test_agent_works_on_the_project_that_it_files_its_work_under(kind: str, origin: Origin, works: bool) -> None:
    memory = Memory(
        id="m", agent="muse", kind=kind, text="Shipped it.", created_at=WRITTEN, origin=origin, project="herrington.ai"
    )
    found = {(claim.subject.text, claim.relation, claim.object.text) for claim in extract(memory).claims}
    assert (("muse", "WORKING_ON", "herrington.ai") in found) is works


@pytest.mark.parametrize(
    "text",
    [
        "Had Alice joined Acme, Falcon would use Rust.",
        "As soon as Alice joins Acme, Bob will lead Falcon.",
        "~~Alice works at Acme.~~",
        "- [ ] Alice joins Acme",
        "Alice had worked at Acme.",
    ],
)
def test_what_is_not_so_yet_struck_out_or_over_is_not_current(text: str) -> None:
    assert said(text) & {"Alice WORKS_AT Acme", "Bob LEADS Falcon", "Falcon USES Rust"} == set()


@pytest.mark.parametrize(
    ("text", "so"),
    [
        ("met ingrid from northlight today, she is their cto", "ingrid CTO_OF northlight"),
        ("ingrid is the cto of northlight", "ingrid CTO_OF northlight"),
        ("we use redis and postgres for checkout", "checkout USES redis"),
        ("Ingrid works at Hexaline and also works part-time at Volta.", "Ingrid WORKS_AT Volta"),
        ("Ingrid works full time for Volta.", "Ingrid WORKS_AT Volta"),
        ("Ingrid works from home for Volta.", "Ingrid WORKS_AT Volta"),
        ("Ingrid works three days a week at Volta.", "Ingrid WORKS_AT Volta"),
        ("Lund Ltd is a company that uses Kafka.", "Lund Ltd USES Kafka"),
        ("Quillnest is a service that depends on Kafka.", "Quillnest DEPENDS_ON Kafka"),
        ("Quillnest is new. It is a service that depends on Kafka.", "Quillnest DEPENDS_ON Kafka"),
        ("Quillnest, a service that depends on Kafka, is down.", "Quillnest DEPENDS_ON Kafka"),
        ("Petra is an engineer that works at Volta.", "Petra WORKS_AT Volta"),
        ("Ingrid works with Bruno K. at Northlight.", "Bruno K WORKS_AT Northlight"),
        ("Bruno K. (CTO) works at Northlight.", "Bruno K WORKS_AT Northlight"),
        ("Acme Inc.'s CTO is Ana.", "Ana CTO_OF Acme Inc"),
    ],
)
def test_claim_is_read_of_whom_the_sentence_speaks(text: str, so: str) -> None:
    assert so in said(text)


@pytest.mark.parametrize(
    "text",
    [
        "Quillnest is not a service that depends on Kafka.",
        "Quillnest would be a service that depends on Kafka.",
        "Kafka is the broker that Orbit lacks.",
    ],
)
def test_what_something_is_not_depends_on_nothing(text: str) -> None:
    assert said(text) == set()


def test_purpose_is_no_user() -> None:
    assert said("we use redis for caching") == {"me USES redis"}


@pytest.mark.parametrize(
    ("text", "presents"),
    [
        ("Meet Petra, she runs data at Volta.", True),
        ("Everyone, meet Petra – our new designer.", True),
        ("Meet Petra, who runs data at Volta, on Friday.", False),
        ("Meet Petra to discuss Atlas.", False),
        ("TODO: meet Petra, she runs data at Volta", False),
        ("I should meet Petra, she runs data at Volta.", False),
    ],
)
def test_note_presents_somebody_but_plans_no_introduction(text: str, presents: bool) -> None:
    assert ("me INTRODUCED_TO Petra" in said(text)) is presents


def test_event_that_had_happened_still_holds() -> None:
    assert said("Alice had joined Acme in 2020.") == {"Alice WORKS_AT Acme"}
