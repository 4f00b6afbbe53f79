from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from memory_plane.journal import Journal


@pytest.fixture
def journal(tmp_path: Path) -> Journal:
    return Journal(tmp_path / "Жук queue.jsonl")


def test_lines_come_back_in_their_order_and_are_counted(journal: Journal) -> None:
    assert journal.append([b"one", b"two"]) == 2
    assert journal.append([b"three"]) == 3
    assert list(journal.lines()) == [b"one", b"two", b"three"]
    assert journal.depth() == Journal(journal.path).depth() == 3


def test_nothing_written_is_no_line(journal: Journal) -> None:
    assert journal.depth() == 0
    assert list(journal.lines()) == []
    assert journal.rewrite(lambda line: True) == 0
    assert list(journal.path.parent.iterdir()) == []


def test_file_is_for_its_owner_alone_also_when_it_was_rewritten(journal: Journal) -> None:
    mask = os.umask(0)
    try:
        journal.append([b"one", b"two"])
        before = stat.S_IMODE(journal.path.stat().st_mode)
        journal.rewrite(lambda line: line != b"one")
    finally:
        os.umask(mask)
    assert before == stat.S_IMODE(journal.path.stat().st_mode) == 0o600


def test_torn_end_is_a_line_of_its_own_and_swallows_no_other(journal: Journal) -> None:
    journal.path.write_bytes(b"one\ntw")
    assert journal.depth() == 2
    assert journal.append([b"three"]) == 3
    assert journal.path.read_bytes() == b"one\ntw\nthree\n"


def test_torn_end_survives_a_rewrite_as_a_line(journal: Journal) -> None:
    journal.path.write_bytes(b"one\ntwo\nthr")
    assert journal.rewrite(lambda line: line != b"one") == 1
    assert journal.path.read_bytes() == b"two\nthr\n"
    assert journal.depth() == 2


def test_file_that_holds_nothing_any_more_is_gone_with_all_that_was_beside_it(journal: Journal) -> None:
    journal.append([b"one"])
    assert journal.rewrite(lambda line: False) == 1
    assert list(journal.path.parent.iterdir()) == []


def test_head_stops_at_lines_and_at_bytes_but_gives_one_line_at_least(journal: Journal) -> None:
    journal.append([b"x" * 10, b"y" * 10, b"z" * 10])
    assert journal.head(2, 1_000) == [b"x" * 10, b"y" * 10]
    assert journal.head(9, 22) == [b"x" * 10, b"y" * 10]
    assert journal.head(9, 21) == [b"x" * 10]
    assert journal.head(9, 1) == [b"x" * 10]


@pytest.mark.parametrize("change", ["by_hand", "no_tally", "broken_tally"])
def test_count_is_right_when_the_file_was_changed_by_other_means(journal: Journal, change: str) -> None:
    journal.append([b"one", b"two"])
    tally = journal.path.with_suffix(".count")
    if change == "by_hand":
        journal.path.write_bytes(b"one\ntwo\nthree\n")
    elif change == "no_tally":
        tally.unlink()
    else:
        tally.write_bytes(b"\xff seven")
    assert journal.depth() == len(list(journal.lines()))
    assert journal.append([b"four"]) == len(list(journal.lines())) == journal.depth()


def test_counting_and_appending_read_nothing_of_a_long_file(journal: Journal, monkeypatch: pytest.MonkeyPatch) -> None:
    journal.append([b"x" * 100] * 1_000)
    taken: list[int] = []
    read = os.read

    def counted(descriptor: int, size: int) -> bytes:
        taken.append(size)
        return read(descriptor, size)

    monkeypatch.setattr(os, "read", counted)
    monkeypatch.setattr(Journal, "lines", None)
    assert journal.append([b"y"]) == 1_001
    assert Journal(journal.path).append([b"z"]) == journal.depth() == 1_002
    assert sum(taken) <= 2


def test_interrupted_write_leaves_the_lines_that_were_there(journal: Journal, monkeypatch: pytest.MonkeyPatch) -> None:
    journal.append([b"one"])
    write = os.write

    def interrupted(descriptor: int, data: bytes) -> int:
        write(descriptor, bytes(data[:2]))
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "write", interrupted)
    with pytest.raises(KeyboardInterrupt):
        journal.append([b"two"])
    monkeypatch.undo()
    assert journal.path.read_bytes() == b"one\n"
    assert journal.append([b"three"]) == 2


def test_write_in_pieces_is_whole_in_the_end(journal: Journal, monkeypatch: pytest.MonkeyPatch) -> None:
    write = os.write
    monkeypatch.setattr(os, "write", lambda descriptor, data: write(descriptor, bytes(data[:3])))
    journal.append([b"a line of some length", b"another"])
    journal.rewrite(lambda line: line != b"another")
    assert journal.path.read_bytes() == b"a line of some length\n"


def test_failed_rewrite_leaves_all_as_it_was(journal: Journal, monkeypatch: pytest.MonkeyPatch) -> None:
    journal.append([b"one", b"two"])

    def full(descriptor: int, data: bytes) -> int:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "write", full)
    with pytest.raises(OSError, match="space"):
        journal.rewrite(lambda line: line != b"one")
    monkeypatch.undo()
    assert journal.path.read_bytes() == b"one\ntwo\n"
    assert not list(journal.path.parent.glob("*.part"))
    assert journal.depth() == 2


def test_long_file_is_rewritten_in_blocks(journal: Journal, monkeypatch: pytest.MonkeyPatch) -> None:
    lines = [b"%d " % number + b"x" * 1_000 for number in range(3_000)]
    journal.append(lines)
    longest = 0
    write = os.write

    def measured(descriptor: int, data: bytes) -> int:
        nonlocal longest
        longest = max(longest, len(data))
        return write(descriptor, data)

    monkeypatch.setattr(os, "write", measured)
    assert journal.rewrite(lambda line: not line.startswith(b"7 ")) == 1
    assert list(journal.lines()) == [line for line in lines if not line.startswith(b"7 ")]
    assert longest < 1_100_000


@pytest.fixture
def disk(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, int]]:
    """What reaches the disk, and for which inode, in its order."""
    seen: list[tuple[str, int]] = []
    write, fsync, replace = os.write, os.fsync, os.replace

    def written(descriptor: int, data: bytes) -> int:
        seen.append(("write", os.fstat(descriptor).st_ino))
        return write(descriptor, data)

    def synced(descriptor: int) -> None:
        seen.append(("fsync", os.fstat(descriptor).st_ino))
        fsync(descriptor)

    def replaced(source: Path, target: Path) -> None:
        seen.append(("replace", Path(source).stat().st_ino))
        replace(source, target)

    monkeypatch.setattr(os, "write", written)
    monkeypatch.setattr(os, "fsync", synced)
    monkeypatch.setattr(os, "replace", replaced)
    return seen


def test_folder_then_lines_are_on_disk_before_append_returns(journal: Journal, disk: list[tuple[str, int]]) -> None:
    journal.append([b"one"])
    file, folder = journal.path.stat().st_ino, journal.path.parent.stat().st_ino
    assert disk[:3] == [("fsync", folder), ("write", file), ("fsync", file)]
    disk.clear()
    journal.append([b"two"])
    assert disk[:2] == [("write", file), ("fsync", file)]
    disk.clear()
    # Another process cannot know whether the one that made the file lived long enough to sync the folder.
    Journal(journal.path).append([b"three"])
    assert disk[:3] == [("fsync", folder), ("write", file), ("fsync", file)]


def test_rest_is_on_disk_before_it_takes_the_place_of_the_whole(journal: Journal, disk: list[tuple[str, int]]) -> None:
    journal.append([b"one", b"two"])
    disk.clear()
    journal.rewrite(lambda line: line != b"one")
    file, folder = journal.path.stat().st_ino, journal.path.parent.stat().st_ino
    assert disk[:4] == [("write", file), ("fsync", file), ("replace", file), ("fsync", folder)]
