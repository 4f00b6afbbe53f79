"""What is denied and what only looks so, what is set right, supposed, joked or written as code: one case a wording."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from memory_plane.types import Memory
from memory_plane_local.extraction import extract

WRITTEN = datetime(2026, 11, 29, 12, tzinfo=UTC)


def told(text: str) -> dict[str, str]:
    """Return the polarity of each claim of a text."""
    memory = Memory(id="m", agent="muse", kind="thought", text=text, created_at=WRITTEN, origin="user")
    return {f"{c.subject.text} {c.relation} {c.object.text}": c.polarity for c in extract(memory).claims}


def held(text: str) -> set[str]:
    """Return what a text says to be so now."""
    return {claim for claim, polarity in told(text).items() if polarity == "positive"}


@pytest.mark.parametrize(
    ("text", "denied", "so"),
    [
        ("Alice does not work at Acme but at Globex.", "Alice WORKS_AT Acme", "Alice WORKS_AT Globex"),
        ("Bruno doesn't work at Initech, but for Vandelay.", "Bruno WORKS_AT Initech", "Bruno WORKS_AT Vandelay"),
        ("Alice is not the CTO of Acme but of Globex.", "Alice CTO_OF Acme", "Alice CTO_OF Globex"),
        ("Alice is not the CTO but the CEO of Acme.", "Alice HAS_ROLE CTO", "Alice CEO_OF Acme"),
        ("Falcon doesn't use Redis but Valkey.", "Falcon USES Redis", "Falcon USES Valkey"),
        ("Falcon is not written in Go but in Rust.", "Falcon BUILT_IN Go", "Falcon BUILT_IN Rust"),
        ("Falcon was not built by Alice but by Otto.", "Alice BUILDS Falcon", "Otto BUILDS Falcon"),
        ("Dana works at Acme but not at Globex.", "Dana WORKS_AT Globex", "Dana WORKS_AT Acme"),
        ("We use Postgres, not MySQL.", "me USES MySQL", "me USES Postgres"),
    ],
)
def test_but_sets_what_holds_against_what_does_not(text: str, denied: str, so: str) -> None:
    found = told(text)
    assert (found.get(denied), found.get(so)) == ("negative", "positive")


@pytest.mark.parametrize(
    "text",
    [
        "Alice does not use Redis but Bob does.",
        "Alice doesn't like Rust but tolerates it.",
        "Alice is neither the CTO nor the CEO of Acme.",
        "Alice is neither at Acme nor leading Falcon.",
        "Bob neither uses Go nor works at Acme.",
        "Alice never used to work at Acme.",
        "Falcon has not started using Redis.",
        "There is some doubt that Bob works at Acme.",
        "Falcon is not yet using Redis.",
    ],
)
def test_what_is_denied_makes_nothing_so(text: str) -> None:
    assert not {claim for claim, polarity in told(text).items() if polarity in ("positive", "past")}


@pytest.mark.parametrize(
    ("text", "so"),
    [
        ("Falcon never stopped using Redis.", {"Falcon USES Redis"}),
        ("Falcon hasn't stopped using Redis.", {"Falcon USES Redis"}),
        ("Bob has not quit using Go.", {"Bob USES Go"}),
        ("Bob won't stop using Go.", {"Bob USES Go"}),
        ("Bob never ceased to use Go.", {"Bob USES Go"}),
        ("There is no doubt that Alice works at Acme.", {"Alice WORKS_AT Acme"}),
        ("There's no denying that Falcon uses Redis.", {"Falcon USES Redis"}),
        ("I don't doubt that Alice works at Acme.", {"Alice WORKS_AT Acme"}),
        ("Nobody doubts that Bob works at Acme.", {"Bob WORKS_AT Acme"}),
        ("Undoubtedly Alice works at Acme.", {"Alice WORKS_AT Acme"}),
        ("Alice is not only the CTO of Acme but also its founder.", {"Alice CTO_OF Acme", "Alice FOUNDER_OF Acme"}),
        ("Alice is the CTO of Acme and its founder.", {"Alice CTO_OF Acme", "Alice FOUNDER_OF Acme"}),
        ("Alice doesn't just use Rust.", {"Alice USES Rust"}),
        ("Alice uses not only Rust but also Go.", {"Alice USES Rust", "Alice USES Go"}),
        ("Not only does Alice lead Falcon, she also mentors Bob.", {"Alice LEADS Falcon", "Alice MENTOR_OF Bob"}),
    ],
)
def test_what_only_looks_denied_is_so(text: str, so: set[str]) -> None:
    assert held(text) == so


def test_what_ceased_is_over() -> None:
    assert told("Bob ceased to use Go.") == {"Bob USES Go": "past"}
