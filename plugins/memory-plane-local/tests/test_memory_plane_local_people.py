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
