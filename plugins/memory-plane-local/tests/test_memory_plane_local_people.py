"""Of whom something is said: pronouns, people who act together, who moves where, and who follows whom."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from memory_plane.types import Memory
from memory_plane_local.extraction import extract

WRITTEN = datetime(2026, 11, 29, 12, tzinfo=UTC)


def said(text: str) -> set[str]:
    """Return what a text says to be so now."""
    memory = Memory(id="m", agent="muse", kind="thought", text=text, created_at=WRITTEN, origin="user")
    claims = (claim for claim in extract(memory).claims if claim.polarity == "positive")
    return {f"{claim.subject.text} {claim.relation} {claim.object.text}" for claim in claims}


@pytest.mark.parametrize(
    ("text", "claim"),
    [
        ("Gina met Hugo. He hired her.", "Hugo HIRED Gina"),
        ("Hugo met Gina. She hired him.", "Gina HIRED Hugo"),
        ("Ottilie met Bruno. He hired her.", "Bruno HIRED Ottilie"),
        ("Ottoline met Bruno. She hired him.", "Ottoline HIRED Bruno"),
        ("Ann mentors Bob. He works at Acme.", "Bob WORKS_AT Acme"),
        ("Maria knows Luca. He works at Globex.", "Luca WORKS_AT Globex"),
        ("Emma hired Liam. He reports to her.", "Emma MANAGES Liam"),
        ("Robin met Kim. He leads Falcon.", "Robin LEADS Falcon"),
        ("Andrea joined Acme. He leads Falcon.", "Andrea LEADS Falcon"),
        ("Marc joined Acme. She leads Falcon.", "Marc LEADS Falcon"),
        ("Bob met Tom. He hired him.", "Bob HIRED Tom"),
    ],
)
def test_given_name_tells_who_he_and_she_are(text: str, claim: str) -> None:
    assert claim in said(text)


def test_a_given_name_that_is_short_for_a_month_is_part_of_a_name() -> None:
    assert said("Jan Nowak works at Acme.") == {"Jan Nowak WORKS_AT Acme"}
    assert said("Jan works at Acme.") == {"Jan WORKS_AT Acme"}
    assert said("Jan 5: Bob works at Acme.") == {"Bob WORKS_AT Acme"}


def test_he_is_none_of_two_people_who_were_named_together() -> None:
    assert said("Bob and Carl are friends. He works at Acme.") == set()
    assert "Tim LEADS Falcon" in said("Bob and Tim work at Acme. Tim is the CTO. He leads Falcon.")
    assert "Anna WORKS_AT Acme" in said("Bob and Anna are friends. She works at Acme.")


@pytest.mark.parametrize(
    ("text", "claim"),
    [
        ("Bob moved to Globex.", "Bob WORKS_AT Globex"),
        ("Bob moved over to Initech.", "Bob WORKS_AT Initech"),
        ("I moved to Globex.", "me WORKS_AT Globex"),
        ("Bob moved to Tilbury.", "Bob LOCATED_IN Tilbury"),
        ("Bob moved to the Platform team.", "Bob MEMBER_OF Platform team"),
        ("Bob moved to Vim.", "Bob USES Vim"),
        ("We moved to Postgres.", "me USES Postgres"),
        ("We moved to Stripe.", "me USES Stripe"),
        ("Falcon moved to Postgres.", "Falcon USES Postgres"),
    ],
)
def test_what_a_person_moves_to_is_no_tool_unless_known_for_one(text: str, claim: str) -> None:
    assert said(text) == {claim}


@pytest.mark.parametrize(
    ("text", "claims"),
    [
        ("Larkspur, formerly Tidewater, hired Bob.", {"Bob WORKS_AT Larkspur"}),
        ("Larkspur, formerly known as Tidewater, hired Bob.", {"Bob WORKS_AT Larkspur"}),
        ("Larkspur (ex Tidewater) hired Bob.", {"Bob WORKS_AT Larkspur"}),
        (
            "Larkspur, renamed from Tidewater, hired Bob. Ann works at Tidewater.",
            {"Bob WORKS_AT Larkspur", "Ann WORKS_AT Larkspur"},
        ),
        ("Tidewater, now Larkspur, hired Bob.", {"Bob WORKS_AT Larkspur"}),
        ("Tidewater is now called Larkspur. Bob works at Tidewater.", {"Bob WORKS_AT Larkspur"}),
        ("Tidewater was renamed to Larkspur. Bob works at Tidewater.", {"Bob WORKS_AT Larkspur"}),
        ("Larkspur used to be called Tidewater. Bob works at Tidewater.", {"Bob WORKS_AT Larkspur"}),
        ("Nimbus (formerly Atlas) uses Redis.", {"Nimbus USES Redis"}),
        ("Robert, also known as Bob, leads Falcon.", {"Robert LEADS Falcon"}),
    ],
)
def test_former_name_is_another_name_for_the_same(text: str, claims: set[str]) -> None:
    assert said(text) == claims


def test_what_a_person_formerly_was_with_is_an_employer() -> None:
    assert said("Ana, formerly Tidewater, joined Acme.") == {"Ana PREVIOUSLY_WORKED_AT Tidewater", "Ana WORKS_AT Acme"}


@pytest.mark.parametrize(
    ("text", "so"),
    [
        ("Olaf used to work with Nadia at Acme.", {"Olaf PREVIOUSLY_WORKED_AT Acme"}),
        ("Olaf used to work alongside Nadia and Ben at Acme.", {"Olaf PREVIOUSLY_WORKED_AT Acme"}),
        ("Olaf worked with Nadia at Acme until 2020.", {"Olaf PREVIOUSLY_WORKED_AT Acme"}),
        ("Olaf used to sit beside Nadia at Acme.", set()),
        ("Olaf used to work with Nadia from Acme.", {"Nadia WORKS_AT Acme"}),
    ],
)
def test_what_was_done_together_once_ends_no_job_of_the_other(text: str, so: set[str]) -> None:
    for before, told in (("", set()), ("Nadia works at Acme. ", {"Nadia WORKS_AT Acme"})):
        memory = Memory(id="m", agent="muse", kind="thought", text=before + text, created_at=WRITTEN, origin="user")
        claims = extract(memory).claims
        assert {f"{one.subject.text} {one.relation} {one.object.text}" for one in claims} == told | so


def test_who_used_to_work_together_is_there_no_longer() -> None:
    memory = Memory(
        id="m",
        agent="muse",
        kind="thought",
        text="I used to work with Ann at Hexatron.",
        created_at=WRITTEN,
        origin="user",
    )
    claims = {(claim.subject.text, claim.relation, claim.polarity) for claim in extract(memory).claims}
    assert claims == {("me", "PREVIOUSLY_WORKED_AT", "past")}  # of Ann it tells nothing that is over
    assert said("I work with Ann at Hexatron.") == {"Ann WORKS_AT Hexatron"}


@pytest.mark.parametrize(
    ("text", "claims"),
    [
        ("Clementine and her husband Jules run a bakery called Pain Doré.", {"Clementine", "Jules"}),
        ("Priya and her colleague Dan run Orbit.", {"Priya", "Dan"}),
        ("Tom, Lars and I run Orbit.", {"Tom", "Lars", "me"}),
        ("Alice and Bob lead Falcon.", {"Alice", "Bob"}),
    ],
)
def test_people_told_by_each_other_act_together(text: str, claims: set[str]) -> None:
    assert {claim.split()[0] for claim in said(text) if " LEADS " in claim} == claims


@pytest.mark.parametrize(
    ("text", "claims"),
    [
        ("Tobias no longer maintains libfoo; Freya took it over.", {"Freya SUPPORTS libfoo"}),
        ("Bob led Falcon until May. Ann took over.", {"Ann LEADS Falcon"}),
        ("Ann took over Falcon from Bob.", {"Ann LEADS Falcon"}),
        ("Ann took Falcon over.", {"Ann LEADS Falcon"}),
        ("Bob is no longer the CTO of Acme. Ann replaced him.", {"Ann CTO_OF Acme"}),
        ("Bob no longer leads Falcon. Ann never took over.", set()),
        ("Bob no longer leads Falcon, Ann does.", {"Ann LEADS Falcon"}),
        ("Ann replaced Bob as CTO of Acme.", {"Ann CTO_OF Acme"}),
        ("Bob was replaced by Ann as CTO of Acme.", {"Ann CTO_OF Acme"}),
        ("Ann may replace Bob as CTO of Acme.", set()),
        ("Bob leads Falcon. Ann took over.", {"Bob LEADS Falcon"}),
        ("She maintains order.", set()),
    ],
)
def test_who_takes_over_does_what_another_one_did(text: str, claims: set[str]) -> None:
    assert said(text) == claims


@pytest.mark.parametrize(
    ("text", "claims"),
    [
        ("Nadia got promoted to VP of sales.", {"Nadia HAS_ROLE VP of sales"}),
        ("Nadia was promoted to CTO of Acme.", {"Nadia CTO_OF Acme"}),
        ("Nadia was appointed CTO of Acme.", {"Nadia CTO_OF Acme"}),
        ("Nadia was named head of design at Acme.", {"Nadia HEAD_OF_DESIGN_OF Acme"}),
        ("Acme promoted Nadia to CTO.", {"Nadia CTO_OF Acme"}),
        ("got promoted to engineer at Zomato", {"me WORKS_AT Zomato", "me HAS_ROLE engineer"}),
        ("Nadia will be promoted to CTO of Acme.", set()),
        ("Nadia was not promoted to CTO of Acme.", set()),
    ],
)
def test_who_is_promoted_holds_the_title_since(text: str, claims: set[str]) -> None:
    assert said(text) == claims


@pytest.mark.parametrize(
    ("text", "claim"),
    [
        ("Ottoline hired Bruno.", "Ottoline HIRED Bruno"),
        ("Isolde recruited Tom.", "Isolde HIRED Tom"),
        ("Stripe hired Bruno.", "Bruno WORKS_AT Stripe"),
        ("Redline hired Bruno.", "Bruno WORKS_AT Redline"),
    ],
)
def test_somebody_who_hires_is_no_company(text: str, claim: str) -> None:
    assert said(text) == {claim}


@pytest.mark.parametrize(
    ("text", "claims"),
    [
        ("We dropped Postgres in Nimbus and use SQLite now.", {"Nimbus USES SQLite"}),
        ("We ditched Redis in favour of Valkey.", {"me USES Valkey"}),
        ("Orbit dropped Redis and uses Valkey now.", {"Orbit USES Valkey"}),
        ("keep SQLite for the desktop app, drop Realm", {"desktop app USES SQLite"}),
        ("Keep Redis for now.", set()),
        ("Bob scrapped the plan.", set()),
        ("We won't drop Redis.", set()),
    ],
)
def test_what_is_dropped_is_used_no_longer(text: str, claims: set[str]) -> None:
    assert said(text) == claims


@pytest.mark.parametrize("text", ["Ann works at Acme, and so does Bob.", "Ann works at Acme, as does Bob."])
def test_so_does_another_one(text: str) -> None:
    assert said(text) == {"Ann WORKS_AT Acme", "Bob WORKS_AT Acme"}


@pytest.mark.parametrize(
    ("text", "employer"),
    [
        ("It is for the Maritime Centre in Falmouth. Its curator, Jan Roe, wants it.", "Maritime Centre"),
        ("The museum in Falmouth called. Its curator, Jan Roe, wants it.", None),
        ("Its curator, Jan Roe, is from Hull.", None),
        ("Ada Roe works at Acme and is from Hull.", "Acme"),
        ("Ada Roe is from Graylight.", "Graylight"),
    ],
)
def test_place_of_a_place_and_of_birth_is_no_employer(text: str, employer: str | None) -> None:
    works = [claim.partition(" WORKS_AT ")[2] for claim in said(text) if "WORKS_AT" in claim]
    assert works == ([employer] if employer else [])


def test_head_of_a_field_without_a_list_is_one_there_too() -> None:
    text = "Ada is our contact at the Harbour Museum; she is the head of visitor experience there."
    assert "Ada HEAD_OF_VISITOR_EXPERIENCE_OF Harbour Museum" in said(text)


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("Ann works at St Michael's Hospital.", "WORKS_AT St Michael's Hospital"),
        ("Ann lives in St Ives.", "LOCATED_IN St Ives"),
        ("Ann lives in St. Ives.", "LOCATED_IN St. Ives"),
        ("Ann lives in Mt. Vernon.", "LOCATED_IN Mt. Vernon"),
        ("Ann lives in Ft. Worth.", "LOCATED_IN Ft. Worth"),
        ("Ann works at Ste. Anne Clinic.", "WORKS_AT Ste. Anne Clinic"),
        ("Mr Okoro leads Acme.", ""),
    ],
)
def test_place_that_begins_with_a_word_cut_short_is_one_name(text: str, place: str) -> None:
    assert said(text) == {f"Ann {place}" if place else "Okoro LEADS Acme"}


@pytest.mark.parametrize(
    ("text", "used"),
    [
        (
            "Orbit is our tour app. Its backend is in Elixir, it keeps tours in Postgres, "
            "and the app itself is written in Flutter.",
            {"Elixir", "Postgres", "Flutter"},
        ),
        ("Orbit's backend is in Elixir.", {"Elixir"}),
        ("The backend of Orbit is in Elixir.", {"Elixir"}),
        ("The backend is in Elixir.", set()),
        ("Bob said the database is Postgres. Orbit works.", set()),
    ],
)
def test_parts_of_a_thing_are_made_of_what_it_uses(text: str, used: set[str]) -> None:
    assert said(text) == {f"Orbit USES {tool}" for tool in used}


def test_word_that_stresses_a_name_parts_it_not_from_its_verb() -> None:
    assert said("Ann herself leads Orbit.") == {"Ann LEADS Orbit"}
