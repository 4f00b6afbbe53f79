"""What a model may cost in a day holds for all processes of a home, and over restarts."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import pytest

from memory_plane.errors import CapReached, ModelUnavailable
from memory_plane.spending import FILE, Spending

NOON = datetime(2026, 11, 30, 12, tzinfo=UTC)


@pytest.mark.parametrize("kept", [True, False])
def test_nothing_is_reserved_beyond_the_cap(tmp_path: Path, kept: bool) -> None:
    spending = Spending(tmp_path / "jev" if kept else None, 100, clock=lambda: NOON)
    spending.reserve(60)
    used_up = r"^cap of 100 tokens a day \(daily_tokens\) used up, local answers until 2026-12-01 00:00 UTC$"
    with pytest.raises(CapReached, match=used_up) as caught:
        spending.reserve(41)
    assert caught.value.until == datetime(2026, 12, 1, tzinfo=UTC)
    assert not caught.value.blames
    spending.settle(60, 10)
    spending.reserve(90)
    assert spending.today() == 100


def test_count_survives_a_restart_and_ends_with_the_day(tmp_path: Path) -> None:
    Spending(tmp_path, 100, clock=lambda: NOON).reserve(100)
    with pytest.raises(ModelUnavailable):
        Spending(tmp_path, 100, clock=lambda: NOON).reserve(1)
    tomorrow = Spending(tmp_path, 100, clock=lambda: NOON + timedelta(hours=12))
    assert tomorrow.today() == 0
    tomorrow.reserve(100)


def test_cap_of_nothing_forbids_everything(tmp_path: Path) -> None:
    with pytest.raises(ModelUnavailable):
        Spending(tmp_path, 0).reserve(1)


@pytest.mark.parametrize("text", ["", "{", "[]", '{"day": 1}', '{"day": "2026-11-30", "tokens": "x"}'])
def test_count_that_cannot_be_read_is_taken_for_spent(tmp_path: Path, text: str) -> None:
    (tmp_path / FILE).write_text(text, "utf-8")
    os.utime(tmp_path / FILE, (NOON.timestamp(), NOON.timestamp()))
    with pytest.raises(ModelUnavailable):
        Spending(tmp_path, 100, clock=lambda: NOON).reserve(1)
    tomorrow = Spending(tmp_path, 100, clock=lambda: NOON + timedelta(days=1))
    assert tomorrow.today() == 0
    tomorrow.reserve(100)


def test_what_cannot_be_counted_is_not_spent_and_nobody_is_to_blame(tmp_path: Path) -> None:
    (tmp_path / "plugins").write_text("a file where a folder belongs", "utf-8")
    spending = Spending(tmp_path / "plugins" / "jev", 100, clock=lambda: NOON)
    with pytest.raises(ModelUnavailable, match="tokens cannot be counted") as caught:
        spending.reserve(10)
    assert not caught.value.blames
    assert NOON < caught.value.until < NOON + timedelta(minutes=1)
    spending.settle(10, 4)


@pytest.mark.parametrize("zone", [timezone(timedelta(hours=14)), UTC, timezone(-timedelta(hours=12))])
def test_day_is_that_of_utc_in_every_zone_also_for_a_request_over_midnight(tmp_path: Path, zone: timezone) -> None:
    now = datetime(2026, 11, 30, 23, 59, 59, tzinfo=UTC).astimezone(zone)
    spending = Spending(tmp_path, 100, clock=lambda: now)
    spending.reserve(90)
    with pytest.raises(ModelUnavailable) as caught:
        spending.reserve(20)
    assert caught.value.until == datetime(2026, 12, 1, tzinfo=UTC)
    now += timedelta(seconds=2)
    spending.settle(90, 95)  # what it cost beyond the guess is of the new day, never less than nothing
    assert spending.today() == 5
    spending.settle(90, 10)
    assert spending.today() == 0
    spending.reserve(100)


def test_writers_at_once_lose_no_token(tmp_path: Path) -> None:
    def spend(_: int) -> None:
        Spending(tmp_path, 1000, clock=lambda: NOON).reserve(10)

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(spend, range(40)))
    assert Spending(tmp_path, 1000, clock=lambda: NOON).today() == 400


def test_file_is_its_owners_alone(tmp_path: Path) -> None:
    folder = tmp_path / "plugins" / "jev"
    Spending(folder, 100).reserve(1)
    assert [path.stat().st_mode & 0o077 for path in (folder / FILE, folder, folder.parent)] == [0, 0, 0]
