"""Edits of JSON, TOML and Markdown: what is ours comes and goes, all else stays byte for byte."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Callable
from pathlib import Path
from time import process_time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_plane.integration import Element, Entry
from memory_plane.setup import blocks, edits, jsonc, toml
from memory_plane.setup.errors import Broken, Kept
from memory_plane.setup.pointers import MISSING, get, missing, same

SERVER = {"command": "/opt/a path/mp", "args": ["mcp", "--agent", "héron"]}

LAID_OUT = {
    "compact": b'{"a":1,"b":[1,2]}',
    "one line": b'{ "a": 1, "hooks": {"Stop": [{"x": 1}]} }\n',
    "two spaces": b'{\n  "a": 1,\n  "hooks": {\n    "Stop": [\n      {"x": 1}\n    ]\n  }\n}\n',
    "four spaces": b'{\n    "mcpServers": {\n        "other": {\n            "command": "x"\n        }\n    }\n}',
    "tabs and CRLF": b'{\r\n\t"a": 1,\r\n\t"hooks": {\r\n\t\t"Stop": [\r\n\t\t\t1\r\n\t\t]\r\n\t}\r\n}\r\n',
    "comments": b'// mine\n{\n  "a": 1, // one\n  /* two */ "b": {} // three\n  // four\n}\n// five\n',
    "CRLF and a comment": b'{\r\n  "a": 1 // last\r\n}\r\n',
    "trailing commas": b'{\n  "mcpServers": {\n    "other": {"args": [1, 2,],},\n  },\n}\n',
    "a comma in a comment": b'{\n  "a": 1 /* , */\n  // , }\n}\n',
    "a mark in a string": b'{"a": "// no comment, }", "hooks": {"Stop": ["/* no */"]}}\n',
    "a byte order mark": b'\xef\xbb\xbf{\n  "a": 1\n}\n',
    "empty object": b"{}\n",
    "twice the same key": b'{"mcpServers": {"a": 1}, "mcpServers": {"b": 2}}\n',
}
laid_out = pytest.mark.parametrize("data", LAID_OUT.values(), ids=LAID_OUT)


def meaning(data: bytes) -> Any:
    return jsonc.load(data)


@laid_out
def test_entry_of_json_comes_and_goes_byte_for_byte(data: bytes) -> None:
    made = missing(meaning(data), ("mcpServers", "memory-plane"))
    after = jsonc.put(data, ("mcpServers", "memory-plane"), SERVER)
    assert get(meaning(after), ("mcpServers", "memory-plane")) == SERVER
    assert {**meaning(after), "mcpServers": 0} == {**meaning(data), "mcpServers": 0}
    assert jsonc.drop(after, ("mcpServers", "memory-plane"), made=made) == data


@laid_out
def test_element_of_json_comes_and_goes_byte_for_byte(data: bytes) -> None:
    before = get(meaning(data), ("hooks", "Stop"))
    made = missing(meaning(data), ("hooks", "Stop")) + (before is MISSING)
    after = jsonc.add(data, ("hooks", "Stop"), SERVER)
    assert get(meaning(after), ("hooks", "Stop")) == [*([] if before is MISSING else before), SERVER]
    assert jsonc.drop(after, ("hooks", "Stop"), SERVER, made=made) == data


def test_new_json_is_laid_out_as_its_neighbours_are() -> None:
    data = b'{\r\n\t"mcpServers": {\r\n\t\t"other": 1 // mine\r\n\t}\r\n}\r\n'
    after = jsonc.put(data, ("mcpServers", "memory-plane"), {"command": "mp"})
    assert after.split(b"\r\n") == [
        b"{",
        b'\t"mcpServers": {',
        b'\t\t"other": 1, // mine',
        b'\t\t"memory-plane": {',
        b'\t\t\t"command": "mp"',
        b"\t\t}",
        b"\t}",
        b"}",
        b"",
    ]


def test_entry_between_others_goes_alone() -> None:
    data = b'{\n  "a": 1, // one\n  "ours": 2,\n  "b": 3 // three\n}\n'
    assert jsonc.drop(data, ("ours",)) == b'{\n  "a": 1, // one\n  "b": 3 // three\n}\n'
    assert jsonc.drop(b'{"ours": 2, "b": 3}', ("ours",)) == b'{ "b": 3}'


def test_value_that_is_replaced_keeps_its_comments() -> None:
    data = b'{\n  // ours\n  "a": {"old": 1}, // still\n  "b": 2\n}\n'
    assert jsonc.put(data, ("a",), {}) == b'{\n  // ours\n  "a": {}, // still\n  "b": 2\n}\n'


@pytest.mark.parametrize("data", [b"", b"\n", b"// nothing yet\n"])
def test_file_with_nothing_in_it_gets_a_first_object(data: bytes) -> None:
    after = jsonc.put(data, ("a", "b"), 1)
    assert meaning(after) == {"a": {"b": 1}}
    assert after.startswith(data)


@pytest.mark.parametrize(
    "data",
    [b'{"a": 1', b"{'a': 1}", b'{"a": 1} {"b": 2}', b'{"a" 1}', b"{,}", b'{"a": tru}', b'{"a": "\x00"}',
     b'{"a": "\xff"}', b'{"a": 1,, "b": 2}', b"[" * 100_000],
)  # fmt: skip
def test_broken_json_is_refused(data: bytes) -> None:
    with pytest.raises(Broken):
        jsonc.put(data, ("x",), 1)


BEYOND = {"comments": b'{"a": 1} // mine', "commas": b'{"a": 1,}', "mark": b'\xef\xbb\xbf{"a": 1}'}


@pytest.mark.parametrize("name", BEYOND)
@pytest.mark.parametrize("kind", [Entry, Element])
def test_json_that_its_agent_does_not_read_is_refused(tmp_path: Path, name: str, kind: type[Entry | Element]) -> None:
    others: Any = tuple(one for one in BEYOND if one != name)
    for reads in ((), others):
        strict = kind(path=tmp_path / "a.json", pointer=("b",), value={}, reads=reads)
        for look in (edits.made, edits.stands):
            with pytest.raises(Broken, match="its agent does not read"):
                look(strict, BEYOND[name])
    only: Any = (name,)
    edits.made(kind(path=tmp_path / "a.json", pointer=("b",), value={}, reads=only), BEYOND[name])
    edits.made(kind(path=tmp_path / "a.json", pointer=("b",), value={}, reads=()), b'{"a": "// , }"}\n')


@pytest.mark.parametrize("edit", [jsonc.put, jsonc.add, toml.put, toml.add])
def test_way_through_what_is_no_object_is_refused(edit: Callable[..., bytes]) -> None:
    data = b"a = [1]\n" if edit.__module__.endswith("toml") else b'{"a": [1]}'
    with pytest.raises(Broken, match="at a"):
        edit(data, ("a", "b"), 1)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-10, 10) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=8,
)


@given(
    value=st.dictionaries(st.text(max_size=3), json_values, max_size=4),
    pointer=st.lists(st.text(max_size=2), min_size=1, max_size=3).map(tuple),
    new=json_values,
    indent=st.sampled_from([None, 2, 4, "\t"]),
    newline=st.sampled_from(["\n", "\r\n"]),
)
def test_any_json_gets_an_entry_and_loses_it_again(
    value: dict[str, Any], pointer: tuple[str, ...], new: Any, indent: int | str | None, newline: str
) -> None:
    data = json.dumps(value, indent=indent, ensure_ascii=False).replace("\n", newline).encode()
    try:
        there = get(value, pointer)
    except Broken:
        with pytest.raises(Broken):
            jsonc.put(data, pointer, new)
        return
    after = jsonc.put(data, pointer, new)
    assert get(meaning(after), pointer) == new
    if there is MISSING:
        back = jsonc.drop(after, pointer, made=missing(value, pointer))
        assert meaning(back) == value
        assert back == data


TOML = {
    "tables": '# mine\nmodel = "x"   # keep\n\n[mcp_servers.other]\ncommand = "a"\n\n[profiles.fast]\nk = 1\n',
    "CRLF": '# mine\r\nmodel = "x"\r\n\r\n[mcp_servers.other]\r\ncommand = "a"\r\n',
    "arrays of tables": '[[hooks.Stop]]\nx = 1\n\n[mcp_servers.other]\ncommand = "a"\n',
    "inline": 'mcp_servers = { other = { command = "x" } }\n',
    "empty": "",
    "a byte order mark": '\ufeff# mine\nmodel = "x"\n',
    "a byte order mark and inline": '\ufeffmcp_servers = { other = { command = "x" } }\n',
    "a number that is none": "limit = nan\n[other]\nlimits = [-nan, inf, 1.0, 1, true]\n",
    "that inline": "mcp_servers = { other = { limit = nan } }\n",
}


@pytest.mark.parametrize("text", TOML.values(), ids=TOML)
def test_entry_of_toml_comes_and_goes_byte_for_byte(text: str) -> None:
    data, pointer = text.encode(), ("mcp_servers", "memory-plane")
    made = missing(toml.load(data), pointer)
    after = toml.put(data, pointer, SERVER)
    assert tomllib.loads(after.decode("utf-8-sig"))["mcp_servers"]["memory-plane"] == SERVER
    assert b"\r\n" not in data or after.count(b"\n") == after.count(b"\r\n")
    assert toml.drop(after, pointer, made=made) == data


def test_element_of_toml_comes_and_goes() -> None:
    data = b"notify = [1]\n"
    after = toml.add(data, ("notify",), 2)
    assert toml.load(after) == {"notify": [1, 2]}
    assert toml.drop(after, ("notify",), 2) == data
    assert toml.drop(toml.add(b"", ("a", "b"), 1), ("a", "b"), 1, made=2) == b""


def test_elements_beside_a_number_that_is_none_come_and_go(tmp_path: Path) -> None:
    data = b"\xef\xbb\xbflimits = [nan, {x = nan}] # mine\n[[hooks]]\nx = nan\n"
    for pointer, value in ((("limits",), 2), (("limits",), {"y": 1}), (("hooks",), {"x": 1}), (("more",), {"x": 1})):
        edit = Element(path=tmp_path / "config.toml", pointer=pointer, value=value)
        after, record = edits.made(edit, data)
        assert record is not None
        assert after != data
        assert edits.undone(record, after) == data


def test_numbers_and_truth_are_not_the_same() -> None:
    assert same({"a": [float("nan"), 1]}, {"a": [float("nan"), 1]})
    assert not any(same(1, other) for other in (True, 1.0, float("nan"), [1], None))


@pytest.mark.parametrize("data", [b"a = ", b"a = 1\na = 2\n", b"\xff", b"[a\n"])
def test_broken_toml_is_refused(data: bytes) -> None:
    with pytest.raises(Broken):
        toml.put(data, ("x",), 1)


@pytest.mark.parametrize(
    "data", [b"", b"# Mine\n", b"# Mine", b"# Mine\n\ntext\n\n", b"# Mine\r\n\r\ntext\r\n", "# 你好\n".encode()]
)
def test_block_comes_and_goes_byte_for_byte(data: bytes) -> None:
    after = blocks.put(data, "Use the memory.\n\n- really")
    assert blocks.get(after) == "Use the memory.\n\n- really"
    assert after.startswith(data)
    assert blocks.put(after, "Use it.").count(b"memory-plane: begin") == 1
    assert blocks.drop(after) in (data, data + b"\n")


@pytest.mark.parametrize(
    "torn", [blocks.BEGIN, blocks.END, f"{blocks.END}\n{blocks.BEGIN}", f"{blocks.BEGIN}\n" * 2 + blocks.END]
)
def test_torn_block_is_refused(torn: str) -> None:
    with pytest.raises(Broken, match="once each"):
        blocks.put(torn.encode(), "x")


ODD_TOML = {
    "both kinds of line ends": b"a = 1\r\nb = 2\n[mcp_servers.other]\nx = 1\r\n",
    "comments between tables": b"[mcp_servers] # mine\n# nothing yet\n\n# about b\n[b]\nx=1\n",
    "out of order": b"[mcp_servers.a]\nx=1\n[b]\ny=1\n[mcp_servers.c]\nz=1\n[b.d]\nq=1\n",
    "dotted keys": b'mcp_servers.other.command = "x"\nmodel = "y"\n',
    "odd spaces": b"  a   =   1   \n\n\n  [ mcp_servers . o ]\n   x = 1\n\n\n\n# the end\n\n",
    "a header in a string": b's = """\n[mcp_servers.memory-plane]\n"""\nd = 1979-05-27\n',
    "quoted": b"[\"mcp_servers\".'memory plane']\nx=1\n",
    "an array over lines": b"[hooks]\nStop = [ # mine\n  {x = 1}, # one\n]\n",
    "tables of an array": b"[[hooks.Stop]]\nx=1\n[[hooks.Stop]]\nx=2\n\n[[hooks.Start]]\n[[hooks.Start.y]]\nz=1\n",
}


@pytest.mark.parametrize("data", ODD_TOML.values(), ids=ODD_TOML)
@pytest.mark.parametrize("kind", [Entry, Element])
def test_all_else_in_odd_toml_stays_byte_for_byte(tmp_path: Path, data: bytes, kind: type[Entry | Element]) -> None:
    pointer = ("mcp_servers", "memory-plane") if kind is Entry else ("hooks", "Stop")
    edit = kind(path=tmp_path / "config.toml", pointer=pointer, value={**SERVER, "env": {"A": "b"}})
    after, record = edits.made(edit, data)
    assert [line for line in data.splitlines(keepends=True) if line not in after.splitlines(keepends=True)] == []
    assert record is not None
    assert edits.undone(record, after) == data


@pytest.mark.parametrize("number", [b"1e+21", b"1E+2", b"1e400", b"-0.0", b"123456789012345678901234567890"])
def test_numbers_stay_as_they_are_written(number: bytes) -> None:
    data = b'{"a": ' + number + b"} // mine\n"
    after = jsonc.put(data, ("b",), 1)
    assert number in after
    assert jsonc.drop(after, ("b",)) == data


def test_settings_of_megabytes_are_edited_in_seconds() -> None:
    history = [{"display": "hello", "number": number, "pasted": {}} for number in range(100_000)]
    data = json.dumps({"history": history}, indent=2).encode()
    begun = process_time()
    assert jsonc.drop(jsonc.put(data, ("mcpServers", "a"), SERVER), ("mcpServers", "a"), made=1) == data
    assert process_time() - begun < 20


def test_what_cannot_be_noted_is_not_taken_over(tmp_path: Path) -> None:
    toml_entry = Entry(path=tmp_path / "a.toml", pointer=("a",), value={})
    with pytest.raises(Kept, match="remove that by hand"):
        edits.made(toml_entry, b"a = 1979-05-27\n", take_over=True)
    json_entry = Entry(path=tmp_path / "a.json", pointer=("a",), value={})
    with pytest.raises(Kept, match="remove that by hand"):
        edits.made(json_entry, b'{"a": 1e400}', take_over=True)
