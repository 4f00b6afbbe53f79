"""Lists of what is to be done: which lines are open items, whose, and until when."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from memory_plane.types import Memory
from memory_plane_local.extraction import extract

MONDAY = datetime(2026, 11, 30, 12, tzinfo=UTC)


def listed(text: str) -> list[tuple[str | None, str, str]]:
    memory = Memory(id="m", agent="muse", kind="thought", text=text, created_at=MONDAY, origin="user")
    found = extract(memory).items
    return [(item.owner, item.object, str(item.due_at.date()) if item.due_at else "") for item in found]


@pytest.mark.parametrize(
    "heading", ["TODO:", "## Next steps", "Action items for Monday:", "**Follow-ups**", "Tasks (web)"]
)
@pytest.mark.parametrize("bullet", ["- ", "* ", "• ", "1. ", "2) ", "[ ] ", "- [ ] ", "☐ "])
def test_line_below_a_heading_is_an_item(heading: str, bullet: str) -> None:
    assert listed(f"{heading}\n{bullet}water the ficus by Friday") == [("me", "water the ficus", "2026-12-04")]


@pytest.mark.parametrize(
    ("line", "item"),
    [
        ("@zed: update the register by Fri", ("zed", "update the register", "2026-12-04")),
        ("Carla: update the register", ("Carla", "update the register", "")),
        ("Carla – update the register, due 12/3", ("Carla", "update the register", "2026-12-03")),
        ("Carla -> update the register", ("Carla", "update the register", "")),
        ("Carla to update the register", ("Carla", "update the register", "")),
        ("Carla will update the register", ("Carla", "update the register", "")),
        ("(Carla) update the register", ("Carla", "update the register", "")),
        ("[Carla] update the register [2026-12-02]", ("Carla", "update the register", "2026-12-02")),
        ("Owner: Carla – update the register", ("Carla", "update the register", "")),
        ("update the register (Carla)", ("Carla", "update the register", "")),
        ("update the register @zed by Friday", ("zed", "update the register", "2026-12-04")),
        ("update the register – Carla", ("Carla", "update the register", "")),
        ("**Carla**: update the register", ("Carla", "update the register", "")),
        ("me: update the register", ("me", "update the register", "")),
        ("update the register – Carla – by Friday", ("Carla", "update the register", "2026-12-04")),
        ("update the register, owner: Carla", ("Carla", "update the register", "")),
        ("update the register (Stripe)", ("me", "update the register (Stripe)", "")),
        ("send the plan to Ruth", ("me", "plan", "")),
        ("Mr. Okoro: update the register", ("Okoro", "update the register", "")),
        ("[ ] Prof. Ana Silva – update the register", ("Ana Silva", "update the register", "")),
        ("update the register (Dr. Lee)", ("Lee", "update the register", "")),
        ("update the register (me)", ("me", "update the register", "")),
        ("Carla checks the register by Friday", ("Carla", "checks the register", "2026-12-04")),
        ("I write to the council this week", ("me", "write to the council", "2026-12-04")),
        ("pay Bob 1,240 euros", ("me", "pay Bob 1,240 euros", "")),
    ],
)
def test_line_names_its_owner_and_its_day(line: str, item: tuple[str, str, str]) -> None:
    assert listed(f"Action items\n- {line}") == [item]


@pytest.mark.parametrize(
    "line",
    [
        "[x] feed the cat",
        "[X] I'll feed the cat",
        "✅ feed the cat",
        "feed the cat ✔",
        "feed the cat (done)",
        "~~feed the cat~~",
    ],
)
def test_what_is_ticked_is_done(line: str) -> None:
    assert listed(f"TODO:\n- {line}\n- mop the floor") == [("me", "mop the floor", "")]


@pytest.mark.parametrize(
    "text",
    [
        "Groceries\n- two lemons",
        "TODO:\n- none",
        "TODO:\n- is the boiler ours?",
        "TODO:\nThe parser is slow.",
        "TODO:\n- We met on Monday",
        "Next steps are unclear.",
        "Merge branch 'todo-list' into main",
    ],
)
def test_what_only_looks_like_a_list_has_no_items(text: str) -> None:
    assert listed(text) == []


@pytest.mark.parametrize("heading", ["TODO for Carla:", "Action items (Carla)"])
def test_heading_names_whose_list_it_is(heading: str) -> None:
    assert listed(f"{heading}\n- feed the cat\n- Bob: mop the floor") == [
        ("Carla", "feed the cat", ""),
        ("Bob", "mop the floor", ""),
    ]


@pytest.mark.parametrize(
    "line", ["[Carla] feed the cat by Friday", "@Carla feed the cat by Friday", "feed the cat by Friday [Carla]"]
)
def test_line_with_a_mark_and_a_day_needs_no_heading(line: str) -> None:
    assert listed(f"- {line}") == [("Carla", "feed the cat", "2026-12-04")]


def test_list_ends_with_its_bullets() -> None:
    text = "TODO:\n- feed the cat\n\nLunch was good.\n- two lemons"
    assert [thing for _, thing, _ in listed(text)] == ["feed the cat"]


def test_speaker_is_whose_a_promise_in_minutes_is() -> None:
    text = "Bob: I'll draft the appeal by Monday.\nAna: I can't make it.\nBob: and I'll tell the clerk."
    assert listed(text) == [("Bob", "appeal", "2026-11-30"), ("Bob", "tell the clerk", "")]


def owing(text: str) -> list[tuple[str, str]]:
    memory = Memory(id="m", agent="muse", kind="thought", text=text, created_at=MONDAY, origin="user")
    claims = [claim for claim in extract(memory).claims if claim.relation == "COMMITTED_TO"]
    return [(claim.subject.text, claim.object.text) for claim in claims]


@pytest.mark.parametrize(
    "line",
    [
        "Leila and Omar: mop the floor",
        "Leila, Omar: mop the floor",
        "Leila/Omar: mop the floor",
        "Leila & Omar – mop the floor",
        "Leila + Omar to mop the floor",
        "mop the floor (Leila, Omar)",
        "mop the floor – Leila and Omar",
    ],
)
def test_line_of_two_owners_is_an_item_of_each(line: str) -> None:
    assert listed(f"Actions\n- {line}") == [("Leila", "mop the floor", ""), ("Omar", "mop the floor", "")]
    assert owing(f"Actions\n- {line}") == [("Leila", "mop the floor"), ("Omar", "mop the floor")]


@pytest.mark.parametrize("line", ["Leila and me - mop the floor", "mop the floor (Leila and me)"])
def test_writer_may_be_one_of_the_owners(line: str) -> None:
    assert owing(f"Actions\n- {line}") == [("Leila", "mop the floor"), ("me", "mop the floor")]


@pytest.mark.parametrize(
    ("cell", "owners"), [("me", ["me"]), ("I", ["me"]), ("we", ["me"]), ("Ann & me", ["Ann", "me"])]
)
def test_writer_owns_a_row_of_a_table(cell: str, owners: list[str]) -> None:
    text = f"| Owner | Task | Due |\n|---|---|---|\n| {cell} | book the room | Friday |"
    assert listed(text) == [(owner, "book the room", "2026-12-04") for owner in owners]
    assert [owner for owner, _ in owing(text)] == owners


@pytest.mark.parametrize("heading", ["House, who does what:", "Sprint 12 – next steps:", "Garden: to do:"])
def test_heading_may_tell_first_what_the_list_is_about(heading: str) -> None:
    assert listed(f"{heading}\n1. Leila - feed the cat\n2. me - mop the floor") == [
        ("Leila", "feed the cat", ""),
        ("me", "mop the floor", ""),
    ]


def test_what_was_agreed_is_to_do_where_a_line_says_by_whom() -> None:
    text = "What we agreed\n- Yannick: a signed build, 11 December\n- Postgres for the store\n- Ana: the plan by Friday"
    assert listed(text) == [("Yannick", "a signed build", "2026-12-11"), ("Ana", "the plan", "2026-12-04")]


def test_lines_below_open_questions_are_questions() -> None:
    text = "Open questions\n- Which paint do we use?\n- Ana: who pays the van?\n- The boiler is ours."
    memory = Memory(id="m", agent="muse", kind="thought", text=text, created_at=MONDAY, origin="user")
    found = [(item.kind, item.owner, item.to, item.object) for item in extract(memory).items]
    assert found == [("question", None, None, "Which paint do we use?"), ("question", None, "Ana", "who pays the van?")]


TABLE = "| Owner | Task | Due |\n|---|---|---|\n| Omar | Welsh scripts | {} |"


def test_promise_in_minutes_and_in_their_table_is_one() -> None:
    said = "Omar will send the remaining Welsh scripts by Friday."
    for text in (f"{said}\n\n{TABLE.format('Friday')}", f"{TABLE.format('')}\n\n{said}"):
        assert [(owner, day) for owner, _, day in listed(text)] == [("Omar", "2026-12-04")]
        assert len(owing(text)) == 1
    assert len(listed(f"{said}\n\n{TABLE.format('2026-12-09')}")) == 2


def test_promise_of_one_owner_leaves_that_of_the_other() -> None:
    text = f"Omar will send the Welsh scripts by Friday.\n\n{TABLE.replace('Omar', 'Omar, Ann').format('Friday')}"
    assert [owner for owner, _, _ in listed(text)] == [owner for owner, _ in owing(text)] == ["Omar", "Ann"]


def test_lines_of_one_list_stay_apart() -> None:
    text = "Bob will call Eve by Friday.\n\nActions\n- Bob: call Eve\n- Bob: call Eve about the van"
    assert [thing for _, thing, _ in listed(text)] == ["call Eve", "call Eve about the van"]
