"""What agents note for themselves: read when it has changed, each point once, within bounds."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from memory_plane import notes
from memory_plane.copies import COPY_MARK
from memory_plane.types import Ingested

FIRST = "The tests need a running Redis on port 6380"
SECOND = "Deployments go through the staging branch first"


def read(folder: Path, cursor: str | None = None) -> Ingested | None:
    found = notes.files(folder, "MEMORY.md", "memory/*.md")
    return notes.read("heron", found, cursor, scope=lambda path: path.parent.name, project=lambda _: "river")


def texts(found: Ingested | None) -> list[str]:
    return [operation.body["text"] for operation in found.operations] if found else []


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    base = tmp_path / "eine Ablage"
    (base / "memory").mkdir(parents=True)
    (base / "MEMORY.md").write_text(f"# Notes\n\n- {FIRST}\n", "utf-8")
    return base


def test_point_is_taken_in_once_and_again_when_its_file_changes(folder: Path) -> None:
    first = read(folder)
    assert texts(first) == [FIRST]
    assert first
    assert first.operations[0].body["project"] == "river"
    assert read(folder, first.cursor) is None
    (folder / "MEMORY.md").write_text(f"- {SECOND}\n- {FIRST}\n- {FIRST}\n", "utf-8")
    os.utime(folder / "MEMORY.md", ns=(1, 1))
    again = read(folder, first.cursor)
    assert texts(again) == [SECOND, FIRST]
    assert again
    assert again.operations[1].id == first.operations[0].id


def test_what_says_nothing_is_left_out(folder: Path) -> None:
    text = (
        f"---\nname: x\n---\n# A heading of many words\n\n- **{FIRST}** <!-- project: path:/w -->\n"
        "- [a link only](x.md)\n- ok\n\n"
        "<!-- a comment\n\nof two paragraphs that say much -->\n\n| a | table of | things |\r\n"
    )
    (folder / "MEMORY.md").write_text(text, "utf-8")
    assert texts(read(folder)) == [FIRST]


def test_page_of_ours_is_never_taken_in(folder: Path) -> None:
    (folder / "memory" / "PULSE.md").write_text(f"{COPY_MARK}\n- {SECOND}\n", "utf-8")
    assert texts(read(folder)) == [FIRST]


def test_file_behind_a_link_is_not_read(folder: Path, tmp_path: Path) -> None:
    secret = tmp_path / "secret.md"
    secret.write_text(f"- {SECOND}\n", "utf-8")
    (folder / "memory" / "link.md").symlink_to(secret)
    (folder / "memory" / "gone.md").symlink_to(tmp_path / "nothing")
    assert texts(read(folder)) == [FIRST]


def test_file_that_is_too_large_is_left_alone(folder: Path) -> None:
    (folder / "MEMORY.md").write_text(f"- {FIRST}\n" * 10_000, "utf-8")
    assert read(folder) is None


def test_much_is_taken_in_look_by_look_and_nothing_is_missed(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(notes, "POINTS", 20)
    for day in range(30):
        lines = [f"- On day {day} this was point number {point}" for point in range(5)]
        (folder / "memory" / f"{day}.md").write_text("\n".join(lines), "utf-8")
    (folder / "MEMORY.md").unlink()
    cursor, found, looks = None, set(), 0
    while answer := read(folder, cursor):
        assert len(answer.operations) <= 25
        cursor, looks = answer.cursor, looks + 1
        found |= set(texts(answer))
    assert (len(found), looks) == (150, 8)
    for path in (folder / "memory").iterdir():
        path.write_text(path.read_text("utf-8") + "\n- And one more point came later\n", "utf-8")
        os.utime(path, ns=(1, 1))
    looks = 0
    while answer := read(folder, cursor):
        cursor, looks = answer.cursor, looks + 1
        assert looks < 20
    assert looks > 1


def test_file_that_is_gone_is_forgotten(folder: Path) -> None:
    first = read(folder)
    assert first
    (folder / "MEMORY.md").unlink()
    gone = read(folder, first.cursor)
    assert gone == Ingested(operations=(), cursor="{}")


@pytest.mark.parametrize("cursor", ["[]", "{", '{"a": "b"}', "null", "7", "[" * 100_000])
def test_any_old_cursor_begins_anew(folder: Path, cursor: str) -> None:
    assert texts(read(folder, cursor)) == [FIRST]
