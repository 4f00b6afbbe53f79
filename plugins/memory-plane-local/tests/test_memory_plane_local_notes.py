"""Claims in the structures of notes: what is left out, told before, beside or instead of a whole sentence."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from memory_plane.types import Extraction, Memory
from memory_plane_local.extraction import extract

WRITTEN = datetime(2026, 11, 29, 12, tzinfo=UTC)


def read(text: str) -> Extraction:
    return extract(Memory(id="m", agent="muse", kind="thought", text=text, created_at=WRITTEN, origin="user"))


def types(text: str) -> dict[str, str]:
    return {mention.text: mention.type for mention in read(text).mentions}


def said(text: str) -> set[str]:
    claims = read(text).claims
    return {
        f"{claim.subject.text} {claim.relation} {claim.object.text}"
        for claim in claims
        if claim.polarity in ("positive", "past")
    }


@pytest.mark.parametrize(
    ("text", "claims"),
    [
        ("The API is written in Kotlin, the frontend in Svelte.", {"API BUILT_IN Kotlin", "frontend USES Svelte"}),
        ("Our crawler runs on AWS and the site on Netlify.", {"crawler USES AWS", "site USES Netlify"}),
        ("Ana works at Stripe, Bo at Meta.", {"Ana WORKS_AT Stripe", "Bo WORKS_AT Meta"}),
        ("Atlas depends on Redis and on Kafka.", {"Atlas DEPENDS_ON Redis", "Atlas DEPENDS_ON Kafka"}),
        ("Marta founded Kelpworks with Bo.", {"Marta FOUNDER_OF Kelpworks", "Bo FOUNDER_OF Kelpworks"}),
        ("Together with Bo, Marta founded Kelpworks.", {"Marta FOUNDER_OF Kelpworks", "Bo FOUNDER_OF Kelpworks"}),
    ],
)
def test_a_verb_that_is_left_out_is_the_one_before(text: str, claims: set[str]) -> None:
    assert said(text) == claims


def test_until_belongs_to_the_verb_before_it() -> None:
    assert said("Diego, who wrote the parser in Elixir, is away until Monday.") == {
        "Diego BUILDS parser",
        "parser USES Elixir",
    }


@pytest.mark.parametrize(
    ("text", "claims"),
    [
        ("The tool Mia built, Sievert, is down.", {"Mia BUILDS Sievert"}),
        ("Loomwise is a startup Ana Brandt founded in 2019.", {"Ana Brandt FOUNDER_OF Loomwise"}),
        ("Kettle, which Ana founded, is based in Oslo.", {"Ana FOUNDER_OF Kettle", "Kettle LOCATED_IN Oslo"}),
        ("the parser that Lena wrote depends on libuv", {"Lena BUILDS parser", "parser DEPENDS_ON libuv"}),
        (
            "The parser Bob wrote in Rust is maintained by Carla.",
            {"Bob BUILDS parser", "parser USES Rust", "Carla SUPPORTS parser"},
        ),
        ("Ana, whom Bo mentors, joined Stripe.", {"Bo MENTOR_OF Ana", "Ana WORKS_AT Stripe"}),
    ],
)
def test_a_relative_clause_tells_who_did_it_to_its_head(text: str, claims: set[str]) -> None:
    assert said(text) == claims


@pytest.mark.parametrize(
    "text", ["The city Ana lives in is Oslo.", "The team Ana says hi to is big.", "It is the only thing I love."]
)
def test_a_relative_clause_states_nothing_of_what_has_another_type(text: str) -> None:
    assert said(text) == set()


@pytest.mark.parametrize(
    ("text", "claims"),
    [
        ("Clara's dog Biscuit is old.", {"Clara OWNS Biscuit"}),
        ("Bob lives in Graz with his cat Pixel.", {"Bob LOCATED_IN Graz", "Bob OWNS Pixel"}),
        ("Asked Carla about Tom's startup, Inkwell.", {"Tom OWNS Inkwell"}),
        ("Tom's company, Kettle, is in Oslo.", {"Tom WORKS_AT Kettle", "Kettle LOCATED_IN Oslo"}),
        ("Google's app Kite Buddy is new.", {"Google BUILDS Kite Buddy"}),
        ("Ana saw the dog Rex.", set()),
        ("Ana sold her boat, Tom bought it.", set()),
    ],
)
def test_a_named_thing_of_somebody_is_theirs(text: str, claims: set[str]) -> None:
    assert said(text) == claims


@pytest.mark.parametrize(
    ("text", "name", "kind"),
    [
        ("Lark is a stationery shop in Ghent.", "Lark", "Organization"),
        ("Had a call with Quillfield, whose CTO is Bob.", "Quillfield", "Organization"),
        ("Meet Loomwise, a startup in Oslo.", "Loomwise", "Organization"),
        ("Rook, our chess app, is slow.", "Rook", "Project"),
        ("They have a farm called Green Acre.", "Green Acre", "Organization"),
        ("Bob works at the bakery Krume.", "Krume", "Organization"),
        ("a guy called Zed Bell came by", "Zed Bell", "Person"),
    ],
)
def test_what_is_told_of_a_name_is_its_type(text: str, name: str, kind: str) -> None:
    assert types(text)[name] == kind


def test_who_is_named_between_commas_does_what_follows() -> None:
    assert said("Acme's CTO, Mia Stern, lives in Graz.") == {"Mia Stern CTO_OF Acme", "Mia Stern LOCATED_IN Graz"}


@pytest.mark.parametrize(
    ("text", "claims"),
    [
        ("Met Tom Bell (Initech, head of ops) today.", {"me KNOWS Tom Bell", "Tom Bell HEAD_OF_OPS_OF Initech"}),
        (
            "Attendees: Sofia Marin (Lumen), Bob Ek (Initech), Carla",
            {"Sofia Marin WORKS_AT Lumen", "Bob Ek WORKS_AT Initech"},
        ),
        (
            "| Who | Where |\n| Ana Bell | Initech | CTO |\n| Bob Ek | Acme | CFO |",
            {"Ana Bell CTO_OF Initech", "Bob Ek CFO_OF Acme"},
        ),
        ("See you.\n\nCarla Holt\nHead of Data, Initech\nOslo", {"Carla Holt HEAD_OF_DATA_OF Initech"}),
        ("Bob Krall · Product Lead · Wexel GmbH · Vienna", {"Bob Krall LEAD_OF Wexel GmbH"}),
        ("Ana Bell / Initech / sales", {"Ana Bell WORKS_AT Initech"}),
        ("- Bob: engineer, Cobalt", {"Bob WORKS_AT Cobalt", "Bob HAS_ROLE engineer"}),
        ("Bob – Oslo – sales", set()),
        ("Ana / Bob / Carla", set()),
        ("Elizabeth (Liz) and Mona (Berlin)", set()),
        ("Bob (Initech?) may come", set()),
        ("Alice (Backend), Bob (Legal), Tom (LGTM)", set()),
    ],
)
def test_a_line_without_a_verb_tells_who_works_where(text: str, claims: set[str]) -> None:
    assert said(text) == claims


@pytest.mark.parametrize(
    ("text", "people"),
    [
        ("Rita, Paolo and Jun all work at Acme.", {"Rita", "Paolo", "Jun"}),
        ("May and Mark drove home.", {"May", "Mark"}),
        ("Will told Grace that it rains.", {"Will", "Grace"}),
        ("Ming said hello.", {"Ming"}),
        ("Sales in May, June and August grew.", set()),
        ("Due Jun 5 and Jul 3.", set()),
    ],
)
def test_a_word_among_people_or_that_acts_is_a_name(text: str, people: set[str]) -> None:
    assert {name for name, kind in types(text).items() if kind == "Person"} == people


@pytest.mark.parametrize(
    "name", ["Ben & Jerry's", "Tom & Bob's", "McDonald's", "O'Reilly", "AT&T", "Tony's Chocolonely"]
)
def test_a_company_keeps_the_signs_in_its_name(name: str) -> None:
    assert said(f"Grace works at {name}.") == {f"Grace WORKS_AT {name}"}


@pytest.mark.parametrize(
    ("text", "claim"), [("Hope Bell joined Acme.", "Hope Bell WORKS_AT Acme"), ("Will uses Rust.", "Will USES Rust")]
)
def test_a_name_that_is_a_word_denies_and_supposes_nothing(text: str, claim: str) -> None:
    assert said(text) == {claim}
    assert not read(text).items


@pytest.mark.parametrize(
    ("text", "claims"),
    [
        ("Ana and Bob live in Oslo. They use Rust.", {"Ana USES Rust", "Bob USES Rust"}),
        ("Ana and Bob founded Kettle. They use Rust.", {"Kettle USES Rust"}),
        ("Ana and Bob are at Stripe. Both use Rust.", {"Ana USES Rust", "Bob USES Rust"}),
        (
            "Neither Ana nor Bob works at Acme any more; both left for Initech.",
            {
                "Ana PREVIOUSLY_WORKED_AT Acme",
                "Bob PREVIOUSLY_WORKED_AT Acme",
                "Ana WORKS_AT Initech",
                "Bob WORKS_AT Initech",
            },
        ),
        ("All use Rust.", set()),
    ],
)
def test_they_and_both_are_those_who_were_the_subject(text: str, claims: set[str]) -> None:
    assert claims <= said(text)
    assert {claim for claim in said(text) if "USES" in claim} == {claim for claim in claims if "USES" in claim}


@pytest.mark.parametrize(
    ("text", "claims"),
    [
        ("Stripe's Dublin office hired Carla.", {"Stripe LOCATED_IN Dublin", "Carla WORKS_AT Stripe"}),
        ("Lark is a shop in Ghent.", {"Lark LOCATED_IN Ghent"}),
        ("Bob joined Bright Harbor.", {"Bob WORKS_AT Bright Harbor"}),
        ("Prof. Bob Ek of Acme Research called.", {"Bob Ek WORKS_AT Acme Research"}),
        ("Yara told me: “we use Figma for it all”", {"Yara USES Figma"}),
    ],
)
def test_a_place_or_a_company_belongs_to_the_name_before_it(text: str, claims: set[str]) -> None:
    assert said(text) == claims


@pytest.mark.parametrize(
    ("text", "claims"),
    [
        ("Carla called. She's left Figma.", {"Carla PREVIOUSLY_WORKED_AT Figma"}),
        ("Carla's joined Acme.", {"Carla WORKS_AT Acme"}),
        ("Carla's moved to Oslo.", {"Carla LOCATED_IN Oslo"}),
        ("Carla's hired by Acme.", {"Carla WORKS_AT Acme"}),
    ],
)
def test_a_short_has_is_told_from_is(text: str, claims: set[str]) -> None:
    assert said(text) == claims


@pytest.mark.parametrize(
    ("text", "claims"),
    [
        ("The team at Acme uses Elm.", {"Acme USES Elm"}),
        ("Bob runs a bakery, Sesame, in Lille.", {"Bob LEADS Sesame"}),
        ("Met Bob Ek (Backend, Python).", {"me KNOWS Bob Ek", "Bob Ek USES Python"}),
        ("Atlas (owner: Carla) is late.", {"Carla OWNS Atlas"}),
    ],
)
def test_what_stands_beside_a_name_is_said_of_it(text: str, claims: set[str]) -> None:
    assert claims <= said(text)


def test_an_old_boss_works_there_no_longer() -> None:
    assert "Bob PREVIOUSLY_WORKED_AT Acme" in said("My old boss at Acme, Bob, plays chess.")


@pytest.mark.parametrize(
    ("text", "claims"),
    [
        ("Having left Adobe, Carla joined Acme.", {"Carla PREVIOUSLY_WORKED_AT Adobe", "Carla WORKS_AT Acme"}),
        ("After three years at Adobe, Carla joined Acme.", {"Carla PREVIOUSLY_WORKED_AT Adobe", "Carla WORKS_AT Acme"}),
        ("Formerly at Adobe, Carla now works for Acme.", {"Carla PREVIOUSLY_WORKED_AT Adobe", "Carla WORKS_AT Acme"}),
    ],
)
def test_what_was_before_is_told_of_the_subject_behind_it(text: str, claims: set[str]) -> None:
    assert said(text) == claims


@pytest.mark.parametrize(
    ("text", "claims"),
    [
        (
            "Tom, Bob and I founded Granite.",
            {"Tom FOUNDER_OF Granite", "Bob FOUNDER_OF Granite", "me FOUNDER_OF Granite"},
        ),
        ("Me and Tom use Rust.", {"me USES Rust", "Tom USES Rust"}),
        ("I met Tom and I use Rust.", {"me KNOWS Tom", "me USES Rust"}),
        ("The founders of Granite are Tom and Bob.", {"Tom FOUNDER_OF Granite", "Bob FOUNDER_OF Granite"}),
        ("Tom and Bob are both engineers at Acme.", {"Tom WORKS_AT Acme", "Bob WORKS_AT Acme"}),
    ],
)
def test_several_people_do_and_are_the_same(text: str, claims: set[str]) -> None:
    assert {claim for claim in said(text) if "HAS_ROLE" not in claim} == claims


def test_what_somebody_maintains_is_no_employer() -> None:
    assert "Bob SUPPORTS Pelican" in said("Pelican's maintainer is Bob.")


def test_a_company_among_former_employees_worked_nowhere() -> None:
    assert "Granite PREVIOUSLY_WORKED_AT Google" not in said("Granite was founded by Tom and Bob, both ex-Google.")


def test_most_of_a_thing_is_the_thing() -> None:
    assert said("Bob wrote most of the parser.") == {"Bob BUILDS parser"}
