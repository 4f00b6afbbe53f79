"""Age lowers rank, by time alone, down to a bound; what is pinned or a fact keeps its own."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import pytest

from memory_plane import Plane
from memory_plane.recall import fading

NOW = datetime.now(UTC)
OLD = NOW - timedelta(days=400)


@pytest.fixture
def plane(make_plane: Callable[..., Plane]) -> Plane:
    return make_plane(recall={"decay": 0.5})


def found(plane: Plane, query: str) -> list[str]:
    return [hit.snippet for hit in plane.recall(query).hits]


@pytest.mark.parametrize(("days", "left"), [(-5, 1), (0, 1), (180, 0.5), (360, 0.25), (600, 0.1), (10_000, 0.1)])
def test_half_is_left_after_half_a_year_and_never_less_than_a_tenth(days: int, left: float) -> None:
    assert fading.left(timedelta(days=days)) == pytest.approx(left, abs=0.005)


def test_of_two_that_fit_alike_the_younger_comes_first(plane: Plane) -> None:
    plane.post("red kites", agent="muse", project="a", created_at=NOW)
    plane.post("red kites!", agent="muse", project="b", created_at=OLD)
    assert found(plane, "red kites") == ["red kites", "red kites!"]
    assert plane.recall("red kites", explain=True).hits[1].why["age"] < 0  # type: ignore[index]


def test_asking_often_makes_nothing_fade(plane: Plane) -> None:
    plane.post("red kites", agent="muse", created_at=OLD)
    scores = {round(plane.recall("red kites").hits[0].score, 3) for _ in range(5)}
    assert len(scores) == 1


def test_pinned_memory_does_not_fade(plane: Plane) -> None:
    plane.post("red kites", agent="muse", project="a", created_at=NOW - timedelta(days=200))
    pinned = plane.post("red kites!", agent="muse", project="b", created_at=OLD)
    plane.pin(pinned.id, agent="muse")
    assert found(plane, "red kites") == ["red kites!", "red kites"]


def test_fact_does_not_fade(plane: Plane) -> None:
    plane.fact("kites", "colour", "red", agent="muse", created_at=OLD)
    assert "age" not in plane.recall("kites colour", explain=True).hits[0].why  # type: ignore[operator]


def test_weight_of_nothing_lets_nothing_fade(make_plane: Callable[..., Plane]) -> None:
    plane = make_plane(recall={"decay": 0})
    plane.post("red kites", agent="muse", project="a", created_at=NOW)
    plane.post("red kites!", agent="muse", project="b", created_at=OLD)
    assert found(plane, "red kites") == ["red kites!", "red kites"]
