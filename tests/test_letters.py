from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest

from memory_plane import letters
from memory_plane.errors import Refused
from memory_plane.operations import make_operation
from memory_plane.types import Operation

MakeOperation = Callable[..., Operation]

ID = "0b0e7c3e-90a7-4d0e-9a93-8d3f1f6c2a55"
WHOLE: dict[str, Any] = {
    "id": ID,
    "op": "thought",
    "agent": "muse",
    "created_at": "2026-01-05T09:00:00.000000Z",
    "body": {"text": "Ask Rob", "kind": "thought", "origin": "agent"},
}


def line(**changes: Any) -> bytes:
    record = {name: value for name, value in (WHOLE | changes).items() if value is not ...}
    return json.dumps(record).encode()


def test_operations_of_every_kind_come_back_as_they_were(operation: MakeOperation) -> None:
    made = [
        operation(text="Zoë said „да“ \u2028 \x01 \\u0041", due_at="2026-02-01T00:00:00+02:00", kind="commitment"),
        operation("fact", subject="Rob", key="role", value="CTO"),
        operation("heartbeat", focus="Writing"),
        operation("resolve", item=ID, note="done"),
        operation("assign", item=ID, to="Rob"),
        operation("snooze", item=ID, until="2026-02-01T00:00:00Z"),
        operation("pin", target=ID),
        operation("retract", target=ID, reason="the other Rob"),
        operation("release", target=ID),
    ]
    assert [letters.read(letters.write(one)) for one in made] == made
    assert all(b"\n" not in letters.write(one) for one in made)


def test_operation_of_a_later_version_is_kept_as_it_is() -> None:
    later = Operation(
        id=ID, op="celebrate", agent="muse", created_at=datetime(2026, 1, 5, tzinfo=UTC), body={"how": ["loud", 1]}
    )
    assert letters.read(letters.write(later)) == later


def test_line_is_the_exported_form() -> None:
    made = make_operation("thought", {"text": "Жук"}, agent="muse", created_at="2026-01-05T10:00:00+01:00", id=ID)
    assert letters.write(made).decode() == (
        '{"agent":"muse","body":{"kind":"thought","origin":"agent","text":"Жук"},'
        f'"created_at":"2026-01-05T09:00:00.000000Z","id":"{ID}","op":"thought"}}'
    )


def test_line_that_a_person_wrote_is_read_as_any_input_is() -> None:
    byte_order_mark, carriage_return = b"\xef\xbb\xbf", b"\r"
    by_hand = line(id=ID.upper(), agent="Muse", created_at="2026-01-05T10:00:00+01:00", body={"text": "Ask Rob"})
    assert letters.read(byte_order_mark + by_hand + carriage_return) == letters.read(line())


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (b"", "part of one"),
        (line()[:40], "part of one"),
        (b"\xff\xfe\x00", "part of one"),
        (b"[" * 100_000, "part of one"),
        (b"[1]", "part of one"),
        (line(op=...), "op"),
        (line(op={}), "op"),
        (line(agent=7), "agent"),
        (line(id="seven"), "id"),
        (line(created_at="2026-01-05T09:00:00"), "time zone"),
        (line(created_at=...), "created_at"),
        (line(body="text"), "body"),
        (line(body={}), "text: missing"),
        (line(body={"text": "half a character \ud800"}), "surrogate"),
        (line(body={"text": "x", "extra": 1}), "extra"),
        (line(op="later", body={"number": float("nan")}), "JSON"),
        (line(more=1), "more"),
    ],
)
def test_line_that_is_no_operation_is_refused_with_the_reason(text: bytes, reason: str) -> None:
    with pytest.raises(Refused, match=reason):
        letters.read(text)


@pytest.mark.parametrize("value", [float("inf"), "\ud800", object()])
def test_operation_that_json_cannot_hold_is_refused(value: Any) -> None:
    body = {"value": value}
    with pytest.raises(Refused, match="JSON"):
        letters.write(Operation(id=ID, op="later", agent="muse", created_at=datetime.now(UTC), body=body))


def test_dead_letter_gives_its_operation_reason_and_time_back(operation: MakeOperation) -> None:
    made = operation()
    before = datetime.now(UTC)
    letter = letters.read_dead(letters.write_dead("text: too long", made))
    assert (letter.id, letter.reason, letter.operation) == (made.id, "text: too long", made)
    assert letter.at is not None
    assert before <= letter.at <= datetime.now(UTC)


def test_unreadable_line_is_kept_word_for_word_under_an_id_of_its_own() -> None:
    torn = line()[:40]
    letter = letters.read_dead(letters.write_unreadable("torn", torn))
    assert (letter.reason, letter.operation, letter.line) == ("torn", None, torn.decode())
    assert letter.id == letters.id_of(torn) != letters.id_of(torn[:39])
    assert letters.read_dead(letters.write_unreadable("torn", b"\xff\x00")).line == "\\xff\x00"


def test_line_that_a_later_version_can_read_is_an_operation_then() -> None:
    letter = letters.read_dead(letters.write_unreadable("cannot be read", line()))
    assert letter.operation == letters.read(line())


@pytest.mark.parametrize("text", [b"", b"{", b"7", b'{"id": 7, "reason": "x"}', b'{"id": "x", "reason": 7, "at": 7}'])
def test_line_among_the_dead_letters_that_is_none_is_shown_as_such(text: bytes) -> None:
    letter = letters.read_dead(text)
    assert (letter.line, letter.at, letter.operation) == (text.decode(), None, None)
    assert "cannot be read" in letter.reason


def test_what_is_about_an_operation_is_known_as_that(operation: MakeOperation) -> None:
    target = operation(id=ID)
    about = [
        target,
        operation("resolve", item=ID, note="x"),
        operation("retract", target=ID),
        operation("pin", target=ID),
    ]
    assert all(letters.is_about(letters.write(one), ID) for one in about)
    assert all(letters.is_about(letters.write_dead("why", one), ID) for one in about)
    assert letters.is_about(line()[:40], ID)
    assert letters.is_about(letters.write_unreadable("torn", line()[:40]), ID)


def test_what_is_about_another_operation_is_not(operation: MakeOperation) -> None:
    other = "77c1cbb2-3d0a-4d32-a9e9-6a1d9f3f9f10"
    for one in (operation(id=other), operation("retract", target=other), operation("forget", target=ID)):
        assert not letters.is_about(letters.write(one), ID)
        assert not letters.is_about(letters.write_dead("why", one), ID)
