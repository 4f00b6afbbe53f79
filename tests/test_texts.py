"""Texts of any length in pieces."""

from __future__ import annotations

import pytest

from memory_plane import Plane
from memory_plane.texts import paragraphs


@pytest.mark.parametrize(
    ("text", "pieces"),
    [
        ("One.\n\nTwo.", ["One.", "Two."]),
        ("# Notes\n\n## 3. Tidepool\n\nIt is slow.\n\nWhy?", ["# Notes\n\n## 3. Tidepool\n\nIt is slow.", "Why?"]),
        ("# Notes\n## Tidepool\n\nIt is slow.", ["# Notes\n## Tidepool\n\nIt is slow."]),
        ("Tidepool\n========\n\nIt is slow.", ["Tidepool\n========\n\nIt is slow."]),
        ("## Tidepool\nIt is slow.\n\nWhy?", ["## Tidepool\nIt is slow.", "Why?"]),
        ("It is slow.\n\n## Tidepool\n", ["It is slow.", "## Tidepool"]),
        ("#tag\n\nIt is slow.", ["#tag", "It is slow."]),
        (" \n\n ", []),
    ],
)
def test_paragraph_has_the_headings_before_it(text: str, pieces: list[str]) -> None:
    assert paragraphs(text) == pieces


ALICE, BOB = "## Alice\n\nWorks at Acme.", "## Bob\n\nWorks at Acme."


@pytest.mark.parametrize(
    ("before", "after", "new"),
    [
        ("One.\n\nTwo.", "Two.\n\nOne.", 0),
        ("One.\n\nTwo.", "One.\n\nThree.\n\nTwo.", 1),
        ("One.", "# Title\n\nOne.", 0),
        ("# Title\n\n## Part\n\nOne.", "## Other part\n\nOne.", 0),
        ("## Part\nOne.", "One.", 0),
        ("One.\n\n# Title", "One.\n\n# Title", 0),
        (f"{ALICE}\n\n{BOB}", f"{BOB}\n\n{ALICE}", 0),
        (ALICE, f"{ALICE}\n\n{BOB}", 1),
        ("Works at Acme.", f"{ALICE}\n\n{BOB}", 1),
    ],
    ids=[
        "moved",
        "between",
        "below a heading",
        "another heading",
        "no heading",
        "no text",
        "swapped",
        "twice",
        "split",
    ],
)
def test_only_what_is_new_of_a_text_that_is_read_again_is_stored(
    plane: Plane, before: str, after: str, new: int
) -> None:
    first = plane.ingest_text(before, agent="muse", source="notes.md")
    assert {one.state for one in first} == {"stored"}
    for stored in (new, 0):
        again = plane.ingest_text(after, agent="muse", source="notes.md")
        assert [one.state for one in again].count("stored") == stored
