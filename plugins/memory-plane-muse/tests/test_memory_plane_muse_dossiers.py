"""A folder of dossiers: its keys are facts, its tasks open items; what changes is said, what goes is taken back."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from memory_plane_muse import ledger
from memory_plane_muse.dossiers import AT_ONCE, Folder, parse
from memory_plane_muse.polling import Cursor

if TYPE_CHECKING:
    from memory_plane import Plane

AT = datetime(2026, 11, 30, 12, tzinfo=UTC)
ROB = """---
name: Rob Zebra
role: CTO of The Zebra
emails: [rob@zebra.example, r.zebra@example.com]
phone: +1 555 123 4567
met: 2026-10-01
vegan: yes
links:
  github: robz
  site: zebra.example
tags: [friend]
---
# Rob

Likes FPGA boards.

- [ ] send Rob the benchmark by Friday
- [x] buy tickets
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "Dossiers Ж"
    folder.mkdir()
    return folder


@pytest.fixture
def muse(make_plane: Callable[..., Plane], folder: Path) -> Plane:
    return make_plane("muse", plugin={"muse": {"dossiers": str(folder)}})


def write(path: Path, text: str, day: int) -> None:
    """Write a file as of a day of November."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, "utf-8")
    at = datetime(2026, 11, day, tzinfo=UTC).timestamp()
    os.utime(path, (at, at))


def facts(plane: Plane) -> dict[str, str]:
    return {f"{fact.subject} {fact.key}": fact.value for fact in plane.facts()}


def test_dossier_is_read_as_it_is_written() -> None:
    found = parse(ROB, "rob", AT)
    assert found is not None
    assert (found.name, dict(found.facts)) == (
        "Rob Zebra",
        {
            "role": "CTO of The Zebra",
            "emails": "rob@zebra.example, r.zebra@example.com",
            "phone": "+1 555 123 4567",
            "met": "2026-10-01",
            "vegan": "yes",
            "links": "github: robz, site: zebra.example",
            "notes": "Likes FPGA boards.",
        },
    )
    assert (found.tasks, found.done) == (("send Rob the benchmark by Friday",), frozenset({"buy tickets"}))
    assert found.addresses == ("+1 555 123 4567", "rob@zebra.example", "r.zebra@example.com")


@pytest.mark.parametrize(
    ("text", "name", "known"),
    [
        ("", "file", {}),
        ("# Ann Lee\n\nA friend.", "Ann Lee", {"notes": "A friend."}),
        ("---\r\nname: Bo\r\n---\r\n", "Bo", {}),
        ("\ufeff---\nrole: x\n---\n", "file", {"role": "x"}),
        ("---\nname: [\n---\nnotes", "file", {"notes": "notes"}),
        ("---\n- a\n- b\n---\n", "file", {}),
        ("---\nname: Ann\nrole: &a [*a, b]\n---\n", "file", {}),
        ("---\nname: Ann\n? [x]\n: y\n---\n", "file", {}),
        ("---\nname: Ann", "file", {"notes": "---\nname: Ann"}),
        ("---\nPlays In: !!python/object:os.system x\nname: Ann\n---\n", "Ann", {"plays_in": "x"}),
    ],
)  # fmt: skip
def test_files_of_any_shape_are_read(text: str, name: str, known: dict[str, str]) -> None:
    found = parse(text, "file", AT)
    assert found is not None
    assert (found.name, dict(found.facts)) == (name, known)


def test_page_of_ours_is_no_dossier() -> None:
    assert parse("# Rob: data reported by agents, not instructions\n\n## Facts\n- x", "rob", AT) is None


def test_front_that_would_grow_without_end_stays_small() -> None:
    bomb = "---\na: &a [x, x, x, x, x, x, x, x, x]\n"
    bomb += "".join(
        f"{name}: &{name} [{', '.join([f'*{before}'] * 9)}]\n"
        for before, name in zip("abcdefgh", "bcdefghi", strict=True)
    )
    found = parse(bomb + "name: Ann\n---\n", "file", AT)
    assert found is not None
    assert all(len(value) <= 500 for value in found.facts.values())


# --- what it becomes ---------------------------------------------------------------------------------------------


def test_keys_and_notes_become_facts_and_open_tasks_items(muse: Plane, folder: Path) -> None:
    write(folder / "friends" / "rob.md", ROB, 10)
    muse.ingest()
    assert facts(muse)["Rob Zebra role"] == "CTO of The Zebra"
    assert facts(muse)["Rob Zebra notes"] == "Likes FPGA boards."
    (role,) = muse.facts(subject="Rob Zebra", key="role")
    assert (role.origin, role.source, role.agent) == ("external", "dossier friends/rob.md", "muse")
    assert role.created_at == datetime(2026, 11, 10, tzinfo=UTC)
    (item,) = muse.items()
    assert (item.text, item.owner, item.to) == (
        "send Rob the benchmark by Friday (dossier of Rob Zebra)",
        "me",
        "Rob Zebra",
    )
    assert item.due_at is not None
    assert item.due_at.astimezone().strftime("%a %d") == "Fri 13"


def test_person_may_say_that_the_words_are_their_own(make_plane: Callable[..., Plane], folder: Path) -> None:
    write(folder / "rob.md", ROB, 10)
    plane = make_plane("muse", plugin={"muse": {"dossiers": str(folder), "dossiers_origin": "user"}})
    plane.ingest()
    assert {fact.origin for fact in plane.facts()} == {"user"}


def test_only_what_changes_is_said_again(muse: Plane, folder: Path) -> None:
    write(folder / "rob.md", ROB, 10)
    muse.ingest()
    assert muse.ingest().stored == 0
    write(folder / "rob.md", ROB, 11)
    assert muse.ingest().stored == 0
    write(folder / "rob.md", ROB.replace("CTO of The Zebra", "CEO of Lion"), 12)
    assert muse.ingest().stored == 1
    assert facts(muse)["Rob Zebra role"] == "CEO of Lion"


def test_value_that_comes_back_counts_again(muse: Plane, folder: Path) -> None:
    for day, role in ((10, "CTO"), (11, "CEO"), (12, "CTO")):
        write(folder / "rob.md", ROB.replace("CTO of The Zebra", role), day)
        muse.ingest()
    assert facts(muse)["Rob Zebra role"] == "CTO"


def test_what_is_gone_is_taken_back(muse: Plane, folder: Path) -> None:
    write(folder / "rob.md", ROB, 10)
    write(folder / "ann.md", "---\nname: Ann\nrole: CEO\n---\n", 10)
    muse.ingest()
    write(folder / "rob.md", ROB.replace("role: CTO of The Zebra\n", ""), 11)
    muse.ingest()
    assert "Rob Zebra role" not in facts(muse)
    (folder / "rob.md").unlink()
    muse.ingest()
    assert facts(muse) == {"Ann role": "CEO"}
    assert muse.items() == []


def test_task_that_is_ticked_is_done_and_one_that_is_gone_is_dropped(muse: Plane, folder: Path) -> None:
    write(folder / "rob.md", ROB + "- [ ] call Rob\n", 10)
    muse.ingest()
    ids = {item.text.partition(" (")[0]: item.id for item in muse.items()}
    write(folder / "rob.md", ROB.replace("[ ]", "[x]"), 11)
    muse.ingest()
    assert muse.items() == []
    records = [json.loads(line) for line in muse.export()]
    closed = {one["body"]["item"]: one["body"]["status"] for one in records if one.get("op") == "resolve"}
    assert closed == {ids["send Rob the benchmark by Friday"]: "done", ids["call Rob"]: "dropped"}


def test_folder_that_is_away_takes_nothing_back(muse: Plane, folder: Path) -> None:
    write(folder / "rob.md", ROB, 10)
    muse.ingest()
    (folder / "rob.md").rename(folder.parent / "rob.md")
    muse.ingest()
    folder.rmdir()
    muse.ingest()
    assert "Rob Zebra role" in facts(muse)


def test_hidden_files_links_and_other_files_are_passed_over(muse: Plane, folder: Path, tmp_path: Path) -> None:
    write(tmp_path / "outside.md", ROB, 10)
    (folder / "link.md").symlink_to(tmp_path / "outside.md")
    write(folder / ".trash" / "rob.md", ROB, 10)
    write(folder / ".rob.md", ROB, 10)
    write(folder / "rob.txt", ROB, 10)
    (folder / "folder.md").mkdir()
    (folder / "bytes.md").write_bytes(b"\xff\xfe\x00")
    muse.ingest()
    assert not [name for name in facts(muse) if name.startswith("Rob")]


def test_many_files_are_read_in_portions_and_none_is_taken_for_gone(folder: Path) -> None:
    for number in range(AT_ONCE + 20):
        write(folder / f"p{number}.md", f"---\nname: P{number}\nrole: x\n---\n", 10)
    known: ledger.Known = {}
    first = Folder(folder)
    counts = []
    for _ in range(3):
        first.look()
        counts.append(len(list(ledger.changes(first, known, "external"))))
    assert counts == [AT_ONCE, 20, 0]
    again = Folder(folder)
    again.look()
    assert list(ledger.changes(again, known, "external")) == []


@pytest.mark.parametrize("value", [None, 5, [], {"f": 5}, {"f": {"fact:x": 5, "fact:y": ["a"], "fact:z": [1, 2]}}])
def test_ledger_of_any_content_is_survived(value: Any) -> None:
    assert all(not entries for entries in ledger.read(value).values())


@pytest.mark.parametrize(
    "text", ["", "{", "5", '{"version": 2}', '{"version": 1, "row": "x", "sent": -1, "state": []}']
)
def test_cursor_of_any_content_is_a_fresh_start(text: str) -> None:
    assert Cursor.read(text).written() == Cursor().written()
