from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from memory_plane import Plane
from memory_plane.errors import Refused
from memory_plane.surfaces.catch_up import catch_up, moment

NOW = datetime(2026, 11, 29, 12, tzinfo=UTC)


def test_the_prompt_holds_what_happened_since(plane: Plane) -> None:
    now = datetime.now(UTC)
    plane.post("An old story", agent="muse", created_at=now - timedelta(days=9))
    plane.post("Fresh news", agent="muse")
    assert "Fresh news" in catch_up(plane, "", now)
    assert "An old story" not in catch_up(plane, "3d", now)
    assert "An old story" in catch_up(plane, "2w", now)


def test_open_items_are_named_whatever_their_age(plane: Plane) -> None:
    now = datetime.now(UTC)
    plane.post("Who owns it?", agent="muse", kind="question", created_at=now - timedelta(days=9))
    assert "Who owns it?" in catch_up(plane, "1h", now)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("24h", NOW - timedelta(days=1)),
        (" 2 W ", NOW - timedelta(weeks=2)),
        ("2026-11-28T10:00:00+02:00", datetime(2026, 11, 28, 8, tzinfo=UTC)),
        ("2026-11-28", datetime(2026, 11, 28).astimezone(UTC)),
    ],
)
def test_a_moment_is_a_span_a_date_or_a_time(text: str, expected: datetime) -> None:
    assert moment(text, NOW) == expected


@pytest.mark.parametrize("text", ["whenever", "24", "0000-00-00", "h", "99999999d"])
def test_other_words_are_refused(text: str) -> None:
    with pytest.raises(Refused, match=f"since: '{text}' is neither"):
        moment(text, NOW)
