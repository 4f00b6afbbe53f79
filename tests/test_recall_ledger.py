"""Facts by subject: the pages have each fact that holds now, once; a history has every value, the newest first."""

from __future__ import annotations

import random
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import pytest

from memory_plane import Plane
from memory_plane.recall import ledger
from memory_plane.types import Fact

BEGIN = datetime(2026, 1, 5, 9, tzinfo=UTC)
NAMES = ("Ann", "ANN", "Anna", "Ann Lee", "Żaneta", "100%", "_", "王伟", "Bob")


@pytest.fixture(scope="module")
def facts(open_plane: Callable[[], Plane]) -> Plane:
    """A memory of many facts, some of them over, replaced or taken back; nobody changes it."""
    plane = open_plane()
    chance = random.Random(7)
    for number in range(120):
        subject, key = chance.choice(NAMES), f"k{chance.randrange(6)}"
        at = BEGIN + timedelta(hours=number)
        over = at + timedelta(minutes=1) if chance.random() < 0.2 else None
        id = plane.fact(subject, key, f"v{number}", agent="muse", created_at=at, valid_until=over).id
        if chance.random() < 0.2:
            plane.retract(id, agent="user")
    return plane


def pages(plane: Plane, beginning: str, limit: int) -> list[Fact]:
    """Return the facts of all pages."""
    found, after = list[Fact](), None
    while True:
        with plane.database.reading() as connection:
            page = ledger.current(connection, beginning, after, limit)
        assert len(page.facts) <= limit
        found += page.facts
        after = page.after
        if after is None:
            return found


@pytest.mark.parametrize("limit", [1, 3, 7, 200])
@pytest.mark.parametrize("beginning", ["", "ann", "Ż", "1", "_", "zzz"])
def test_pages_have_each_fact_that_holds_once(facts: Plane, beginning: str, limit: int) -> None:
    expected = [fact for fact in facts.facts() if fact.subject.casefold().startswith(beginning.casefold())]
    found = pages(facts, beginning, limit)
    assert {fact.id for fact in found} == {fact.id for fact in expected}
    assert len(found) == len(expected)
    assert [(fact.subject.casefold(), fact.key) for fact in found] == sorted(
        (fact.subject.casefold(), fact.key) for fact in found
    )


def test_facts_of_one_subject_are_not_those_of_longer_names(facts: Plane) -> None:
    with facts.database.reading() as connection:
        found = ledger.of_subject(connection, "aNN", 40).facts
    assert {fact.id for fact in found} == {fact.id for fact in facts.facts(subject="Ann")}
    assert found


def test_page_ends_where_it_has_looked_at_enough(facts: Plane, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = pages(facts, "", 7)
    monkeypatch.setattr(ledger, "LOOKED_AT", 2)
    assert pages(facts, "", 7) == whole


def test_history_has_every_value_once_the_newest_first(facts: Plane) -> None:
    with facts.database.reading() as connection:
        values = ledger.history(connection, "Ann", "K1", None, 200)
        first = ledger.history(connection, "ann", "k1", None, 2)
        rest = ledger.history(connection, "ann", "k1", first[-1].fact.id, 200)
    assert values == (*first, *rest)
    assert [value.fact.created_at for value in values] == sorted((one.fact.created_at for one in values), reverse=True)
    visible = [value.fact for value in values if value.visible]
    assert visible == facts.facts(subject="Ann", key="k1", history=True)
    assert len(visible) < len(values)
