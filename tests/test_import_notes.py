"""Notes in Markdown: an Obsidian vault, another folder, or one note."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, tzinfo
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_plane import Plane
from memory_plane.copies import COPY_MARK
from memory_plane.importers import markdown
from memory_plane.types import Operation

LaidOut = Callable[[Path, Mapping[str, Any]], Path]
Zipped = Callable[..., Path]
MakePlane = Callable[..., Plane]
Read = Callable[..., dict[str, tuple[Operation, ...] | str]]

CHANGED = datetime(2026, 11, 3, 10, tzinfo=UTC)


def texts(operations: Any) -> list[str]:
    return [one.body["text"] for one in operations if one.op == "thought"]


def facts(operations: Any) -> dict[str, str]:
    assert {one.body["subject"] for one in operations if one.op == "fact"} <= {"Ann"}
    return {one.body["key"]: one.body["value"] for one in operations if one.op == "fact"}


@pytest.fixture(scope="session")
def notes(read: Read) -> Read:
    """Give `notes(path, zone)`: what each note becomes, or why it does not; all were changed at one time."""

    def notes(path: Path, zone: tzinfo = UTC) -> dict[str, tuple[Operation, ...] | str]:
        for file in path.rglob("*") if path.is_dir() else [path]:
            os.utime(file, (CHANGED.timestamp(),) * 2)
        return read(markdown.KIND, path, zone)

    return notes


@pytest.fixture(scope="session")
def note(notes: Read) -> Callable[..., Any]:
    """Give `note(folder, content, name, zone=zone)`: what one note becomes, or why it does not."""

    def note(tmp_path: Path, content: str | bytes, name: str = "Ann.md", **options: Any) -> Any:
        (tmp_path / name).write_bytes(content if isinstance(content, bytes) else content.encode())
        (operations,) = notes(tmp_path / name, **options).values()
        return operations

    return note


def test_vault_is_its_notes(tmp_path: Path, laid_out: LaidOut, notes: Read) -> None:
    vault = laid_out(
        tmp_path / "My vault é",
        {
            ".obsidian/app.json": {},
            ".obsidian/templates.json": {"folder": "Templates/", "dateFormat": "YYYY-MM-DD"},
            ".trash/Old.md": "gone",
            "Templates/Person.md": "{{title}}",
            "Заметки/林さん.md": "Likes tea.",
            "Board.canvas": "{}",
            "image.png": b"\x89PNG",
            "Long.MARKDOWN": "Also a note.",
        },
    )
    assert list(notes(vault)) == ["Long.MARKDOWN", "Заметки/林さん.md"]


def test_note_is_one_memory_of_the_person(tmp_path: Path, note: Callable[..., Any]) -> None:
    (operation,) = note(tmp_path, "# Ann\n\nLeads the [[Platform Team|platform team]] at [[TechCorp#About]].\n")
    assert operation.body == {
        "kind": "observation",
        "text": "Ann:\n\nLeads the platform team at TechCorp.",
        "origin": "user",
        "source": "Ann.md",
        "thread": "Ann.md",
    }
    assert (operation.agent, operation.created_at) == ("user", CHANGED)


def test_long_note_is_cut_by_heading_and_keeps_its_order(tmp_path: Path, note: Callable[..., Any]) -> None:
    body = "word " * 200
    operations = note(tmp_path, f"Before {body}\n\n## One\n\n{body}\n\n### Two\n\n{body}")
    assert [text.partition(":")[0] for text in texts(operations)] == ["Ann", "Ann › One", "Ann › One › Two"]
    times = [one.created_at for one in operations]
    assert times == sorted(set(times))
    assert len({one.id for one in operations}) == 3


def test_properties_are_facts_and_tags_are_text(tmp_path: Path, note: Callable[..., Any]) -> None:
    front = (
        "---\nrole: CTO\ncompany: '[[TechCorp]]'\nlivesIn: Porto\nactive: yes\nsince: 2024-01-02\nteams: [Web, Data]\n"
        "tags: [person, '#work/core']\naliases:\n  - Annie\ncssclasses: wide\nnested: {a: 1}\nempty:\n---\n"
    )
    operations = note(tmp_path, front + "Likes tea. #drinks")
    assert facts(operations) == {
        "role": "CTO", "company": "TechCorp", "lives in": "Porto", "active": "yes", "since": "2024-01-02",
        "teams": "Web, Data",
    }  # fmt: skip
    assert texts(operations) == ["Ann:\n\nLikes tea. #drinks\n\nAlso called Annie.\n\n#person #work/core"]


def test_tags_of_one_line_are_told_apart(tmp_path: Path, note: Callable[..., Any]) -> None:
    assert texts(note(tmp_path, "---\ntags: person, work\n---\nTea"))[0].endswith("#person #work")


def test_properties_that_are_no_yaml_cost_the_properties(tmp_path: Path, note: Callable[..., Any]) -> None:
    for front in ("---\na: {{date}}: b\n---\n", "---\n- a\n- b\n---\n", "---\n\t x\n---\n", "---\n---\n"):
        assert texts(note(tmp_path, f"{front}Likes tea.")) == ["Ann:\n\nLikes tea."]


def test_yaml_that_multiplies_itself_stays_small(tmp_path: Path, note: Callable[..., Any]) -> None:
    lines = ["a0: &a0 [x, x]", *(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 30))]
    operations = note(tmp_path, "---\n" + "\n".join(lines) + "\n---\nLikes tea.")
    assert texts(operations) == ["Ann:\n\nLikes tea."]
    assert facts(operations) == {"a0": "x, x"}


def test_line_across_a_note_is_no_front_matter(tmp_path: Path, note: Callable[..., Any]) -> None:
    assert texts(note(tmp_path, "---\nLikes tea.")) == ["Ann:\n\n---\nLikes tea."]
    assert texts(note(tmp_path, "Likes tea.\n\n---\nx: y\n---\n")) == ["Ann:\n\nLikes tea.\n\n---\nx: y\n---"]


def test_what_one_does_not_see_is_left_out(tmp_path: Path, note: Callable[..., Any]) -> None:
    text = "Likes tea.![[photo.png]] %%not this%%<!-- nor\nthat -->And [[cake]]."
    assert texts(note(tmp_path, text)) == ["Ann:\n\nLikes tea. And cake."]


@pytest.mark.parametrize(
    ("name", "front", "at"),
    [
        ("2026-03-14.md", "", datetime(2026, 3, 13, 18, 30, tzinfo=UTC)),
        ("2026-03-14 Met Ann.md", "---\ndate: 2020-01-01\n---\n", datetime(2026, 3, 13, 18, 30, tzinfo=UTC)),
        ("Ann.md", "---\ncreated: 2025-02-01T12:00:00Z\n---\n", datetime(2025, 2, 1, 12, tzinfo=UTC)),
        ("Ann.md", "---\nDate: 2025-02-01 12:00\n---\n", datetime(2025, 2, 1, 6, 30, tzinfo=UTC)),
        ("Ann.md", "---\ncreated: someday\n---\n", CHANGED),
        ("2026-99-99.md", "", CHANGED),
    ],
)
def test_note_is_of_the_day_that_it_tells_in_the_persons_zone(
    tmp_path: Path, name: str, front: str, at: datetime, note: Callable[..., Any]
) -> None:
    (operation,) = note(tmp_path, front + "Met Bob.", name, zone=ZoneInfo("Asia/Kolkata"))
    assert operation.created_at == at


def test_property_holds_from_when_the_note_was_changed_whatever_its_day(
    tmp_path: Path, note: Callable[..., Any]
) -> None:
    operations = note(tmp_path, "---\ncreated: 2020-01-01\nrole: CTO\n---\nTea")
    assert [one.created_at for one in operations if one.op == "fact"] == [CHANGED]


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "it is empty"),
        (b"---\ntags:\n---\n\n", "it is empty"),
        (b"caf\xe9", "it is not UTF-8 text"),
        (b"x" * 5_000_001, "it is larger than 5,000,000 bytes"),
    ],
)
def test_note_that_is_none_is_skipped(tmp_path: Path, content: bytes, reason: str, note: Callable[..., Any]) -> None:
    assert note(tmp_path, content) == reason


def test_pages_of_ours_are_no_words_of_the_person(make_plane: MakePlane, tmp_path: Path, notes: Read) -> None:
    plane = make_plane()
    plane.post("I'll send you the deck by Friday", agent="muse", kind="commitment", origin="external", to="grok")
    plane.fact("Ann", "city", "Bern", agent="muse", origin="external")
    for name in ("PULSE.md", "SHARED_MEMORY.md", "brief/grok.md"):
        page = plane.page(name)
        assert "external" in page or name == "brief/grok.md"
        (tmp_path / Path(name).name).write_text(page, "utf-8")
        (tmp_path / f"copy of {Path(name).name}").write_text(f"{COPY_MARK}\n{page}", "utf-8")
    read = notes(tmp_path)
    assert len(read) == 6
    assert set(read.values()) == {"it is a page of Memory Plane"}


def test_what_we_wrote_into_a_note_is_left_out_of_it(tmp_path: Path, note: Callable[..., Any]) -> None:
    ours = "<!-- memory-plane: begin -->\nCall memory_get_pulse.\n<!-- memory-plane: end -->"
    quoted = "- 2026-11-30 13:34 · muse · commitment · ⟨external⟩ “I'll send you the deck”"
    made = note(tmp_path, f"Never deploy on Fridays.\n\n{ours}\n\n{quoted}\n")
    assert texts(made) == ["Ann:\n\nNever deploy on Fridays."]


def test_note_of_windows_is_read(tmp_path: Path, note: Callable[..., Any]) -> None:
    assert texts(note(tmp_path, "\ufeff---\r\nrole: CTO\r\n---\r\nLikes\r\ntea".encode())) == ["Ann:\n\nLikes\ntea"]
    assert texts(note(tmp_path, "Likes tea".encode("utf-16"))) == ["Ann:\n\nLikes tea"]


def test_vault_in_a_zip_is_read_as_the_folder_is(
    tmp_path: Path, laid_out: LaidOut, zipped: Zipped, notes: Read
) -> None:
    files = {"Ann.md": "Likes tea.", "x/Bob.md": "Likes cake.", ".obsidian/templates.json": {"folder": "x"}}
    in_folder, in_zip = notes(laid_out(tmp_path / "vault", files)), notes(zipped(tmp_path / "vault.zip", files))
    assert [texts(one) for one in in_folder.values()] == [["Ann:\n\nLikes tea."]]
    assert [texts(one) for one in in_zip.values()] == [["Ann:\n\nLikes tea."], ["Bob:\n\nLikes cake."]]


@given(st.text(max_size=200))
def test_any_text_is_read(tmp_path_factory: pytest.TempPathFactory, note: Callable[..., Any], text: str) -> None:
    folder = tmp_path_factory.mktemp("notes")
    note(folder, text.encode("utf-8", "replace"))
    note(folder, f"---\n{text}\n---\n".encode("utf-8", "replace"))
