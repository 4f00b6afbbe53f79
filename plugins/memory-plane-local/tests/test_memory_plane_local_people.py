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
    assert claims == {(who, "PREVIOUSLY_WORKED_AT", "past") for who in ("me", "Ann")}
    assert said("I work with Ann at Hexatron.") == {"Ann WORKS_AT Hexatron"}
