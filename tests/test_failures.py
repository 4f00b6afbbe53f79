from __future__ import annotations

import stat
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from memory_plane.failures import KEPT, Failure, FailureLog, Failures, places


@pytest.fixture
def log(tmp_path: Path) -> FailureLog:
    return FailureLog(tmp_path / "failures.jsonl")


def failure(plugin: str = "muse", error: str = "gave list", ago: timedelta = timedelta()) -> Failure:
    return Failure(plugin, "extract", error, datetime.now(UTC) - ago)


def test_failure_reads_as_one_sentence() -> None:
    assert str(failure()) == "plugin 'muse' failed in 'extract' and was skipped: gave list"
    missing = Failure("jevv", "choose", "enabled but not installed", datetime.now(UTC))
    assert str(missing) == "plugin 'jevv' is enabled but not installed"


def test_latest_failure_of_each_plugin_is_kept(log: FailureLog) -> None:
    birds, muse = failure("birds", "é\n"), failure("muse", "second")
    for one in (failure("muse", "first"), birds, muse):
        log.add(one)
    assert log.latest() == {"birds": birds, "muse": muse}


def test_state_that_ends_by_itself_is_told_until_then(log: FailureLog) -> None:
    now = datetime.now(UTC)
    lasting, over = (
        Failure(name, "classify", "cap", now, now + timedelta(hours=h)) for name, h in (("jev", 1), ("llm", -1))
    )
    for one in (lasting, over):
        log.add(one)
    assert log.latest() == {"jev": lasting}
    assert str(lasting) == "plugin 'jev': cap"


def test_old_failures_are_forgotten(log: FailureLog) -> None:
    log.add(failure(ago=KEPT + timedelta(seconds=1)))
    assert log.latest() == {}


def test_file_is_for_the_owner_alone(log: FailureLog) -> None:
    log.add(failure())
    assert stat.S_IMODE(log.path.stat().st_mode) == 0o600


def test_file_does_not_grow_without_bound(log: FailureLog) -> None:
    for _ in range(1000):
        log.add(failure(error="x" * 300))
    assert log.path.stat().st_size < 110_000
    assert "muse" in log.latest()


@pytest.mark.parametrize("line", [b"{", b"7", b"\xff", b"{}", b'{"plugin": "x", "at": "now"}'])
def test_line_that_cannot_be_read_is_passed_over(log: FailureLog, line: bytes) -> None:
    log.add(failure())
    with log.path.open("ab") as file:
        file.write(line + b"\n")
    assert list(log.latest()) == ["muse"]


def test_home_that_is_not_there_is_no_failure_more(tmp_path: Path) -> None:
    log = FailureLog(tmp_path / "nowhere" / "failures.jsonl")
    log.add(failure())
    assert log.latest() == {}


def test_errors_that_lie_behind_each_other_in_a_circle_are_told_to_an_end() -> None:
    one, two = ValueError("x"), KeyError("y")
    one.__cause__, two.__cause__ = two, one
    assert places(one).count("ValueError at") <= 10


def test_failure_that_another_process_saw_is_forgotten_by_who_succeeds_after_it(tmp_path: Path) -> None:
    one, other = (Failures(FailureLog(tmp_path / "failures.jsonl")) for _ in range(2))
    one.forget("jev", ("extract",))
    other.add(Failure("jev", "extract", "away", datetime.now(UTC)))
    assert set(one.latest()) == {"jev"}
    one.forget("jev", ("embed",))  # who embeds well may extract badly
    assert set(one.latest()) == {"jev"}
    one.forget("jev", ("extract",))
    assert one.latest() == {}
