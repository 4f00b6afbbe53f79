from __future__ import annotations

import json
import random
from typing import Any

import pytest

from memory_plane.errors import Refused
from memory_plane.surfaces.fit import cut, encode, level, page, shorten, size

FAMILY = "\N{MAN}\u200d\N{WOMAN}\u200d\N{GIRL}"
TEXTS = [
    "plain",
    "é" * 50,
    "日本語" * 30,
    FAMILY * 20,
    "e\u0301" * 50,
    'quotes " and \\ \n' * 20,
    "\x01" * 40,
    " " * 90,
    "",
]


@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.parametrize("room", [0, 5, 11, 40, 100, 10_000])
def test_a_cut_fits_and_keeps_the_beginning(text: str, room: int) -> None:
    short = shorten(text, room)
    assert size(short) <= max(room, 5)
    assert short == text or text.startswith(short.removesuffix("…"))
    assert (short == text) == (size(text) <= room) or text == short


@pytest.mark.parametrize("text", [FAMILY * 20, "e\u0301" * 50])
def test_a_cut_never_splits_what_is_seen_as_one_character(text: str) -> None:
    unit = FAMILY if text.startswith(FAMILY) else "e\u0301"
    for room in range(40, 120):
        assert shorten(text, room).removesuffix("…").replace(unit, "") == ""


def test_cutting_always_advances() -> None:
    assert cut("\u0301" * 100, 40) > 0


def test_encode_is_compact_json() -> None:
    assert encode({"a": ["é", '"', "\n"]}) == '{"a":["é","\\"","\\n"]}'


def test_level_shortens_only_the_longest() -> None:
    entries = [{"id": "1", "text": "short"}, {"id": "2", "text": "x" * 500}, {"id": "3", "text": "y" * 900}]
    levelled = level(entries, 700)
    assert levelled[0] == entries[0]
    assert abs(len(levelled[1]["text"]) - len(levelled[2]["text"])) <= 3
    assert sum(size(entry) + 1 for entry in levelled) <= 700
    assert level(entries, 5_000) == entries
    assert level([], 100) == []


def rows(count: int) -> list[dict[str, Any]]:
    return [{"id": f"{number:04}", "text": "x" * 40} for number in range(count)]


def walk(sections: dict[str, list[dict[str, Any]]], room: int) -> list[dict[str, Any]]:
    found = [page(sections, "", heads=3, room=room)]
    while "next_cursor" in found[-1]:
        found.append(page(sections, found[-1]["next_cursor"], heads=3, room=room))
    return found


def test_pages_hold_every_entry_once_and_fit() -> None:
    sections = {"a": rows(20), "b": rows(7), "c": []}
    found = walk(sections, 500)
    assert len(found) > 1
    assert all(len(json.dumps(one)) <= 700 for one in found)
    for name, entries in sections.items():
        assert [entry for one in found for entry in one[name]] == entries


def test_the_first_page_has_some_of_each_section() -> None:
    first = page({"a": rows(50), "b": rows(50)}, "", heads=3, room=600)
    assert len(first["a"]) >= 3
    assert len(first["b"]) >= 3


def test_an_entry_larger_than_the_room_still_comes() -> None:
    found = walk({"a": [{"id": "1", "text": "x" * 900}, {"id": "2", "text": "y"}]}, 100)
    assert [len(one["a"]) for one in found] == [1, 1]


def test_new_entries_shift_nothing() -> None:
    old = rows(30)
    first = page({"a": old, "b": old}, "", heads=3, room=900)
    found, sections = [first], {"a": [{"id": "new", "text": "n"}, *old], "b": old}
    while "next_cursor" in found[-1]:
        found.append(page(sections, found[-1]["next_cursor"], heads=3, room=900))
    assert {entry["id"] for one in found for entry in one["a"]} >= {entry["id"] for entry in old}
    assert [entry for one in found for entry in one["b"]] == old


@pytest.mark.parametrize("seed", range(40))
def test_what_was_there_all_the_time_is_never_left_out(seed: int) -> None:
    chance = random.Random(seed)
    sections = {"a": rows(30), "b": rows(12), "c": [], "d": rows(3)}
    stays = {(name, entry["id"]) for name, entries in sections.items() for entry in entries}
    seen: set[tuple[str, str]] = set()
    cursor = ""
    for number in range(100):
        one = page(sections, cursor, heads=7, room=900)
        assert size(one) <= 900
        seen |= {(name, entry["id"]) for name in sections for entry in one[name]}
        if not (cursor := one.get("next_cursor", "")):
            break
        name = chance.choice("abcd")
        if sections[name] and chance.random() < 0.3:  # resolved
            stays.discard((name, sections[name].pop(chance.randrange(len(sections[name])))["id"]))
        elif sections[name] and chance.random() < 0.5:  # moved from anywhere to the front
            sections[name].insert(0, sections[name].pop(chance.randrange(len(sections[name]))))
        else:
            sections[name].insert(0, {"id": f"new {number}", "text": "n" * 40})
    assert not cursor
    assert stays <= seen


def test_a_page_has_room_for_its_cursor() -> None:
    sections = {"a": [{"id": f"{number:036}", "text": "x" * (number % 90)} for number in range(300)], "b": rows(90)}
    for room in range(600, 700):
        assert all(size(one) <= room for one in walk(sections, room))


@pytest.mark.parametrize(
    "cursor", ["x", "1", "7", ".0", "-1.0", "²", "0.0", "1" * 5_000, "7-0123456", "3-0123456x", "12.a.x"]
)
def test_a_foreign_cursor_is_refused(cursor: str) -> None:
    with pytest.raises(Refused, match="cursor: "):
        page({"a": rows(3)}, cursor, heads=3)
