"""Texts of any length in pieces."""

from __future__ import annotations

import pytest

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
