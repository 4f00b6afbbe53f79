"""What a model may cost in a day holds for all processes of a home, and over restarts."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from memory_plane.errors import ModelUnavailable
from memory_plane.spending import FILE, Spending

NOON = datetime(2026, 11, 30, 12, tzinfo=UTC)


@pytest.mark.parametrize("kept", [True, False])
def test_nothing_is_reserved_beyond_the_cap(tmp_path: Path, kept: bool) -> None:
    spending = Spending(tmp_path / "jev" if kept else None, 100, clock=lambda: NOON)
    spending.reserve(60)
    with pytest.raises(ModelUnavailable, match="has used its 100 tokens of today") as caught:
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
    with pytest.raises(ModelUnavailable):
        Spending(tmp_path, 100, clock=lambda: NOON).reserve(1)
    assert Spending(tmp_path, 100, clock=lambda: NOON + timedelta(days=1)).today() in (0, 100)


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
