"""Edits of YAML: what is ours comes and goes, all else stays byte for byte, in whatever style it is written."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml as reader
from hypothesis import given, settings
from hypothesis import strategies as st

from memory_plane.integration import Element, Entry
from memory_plane.setup import edits, formats, yaml
from memory_plane.setup.errors import Broken, Kept
from memory_plane.setup.pointers import MISSING, get, missing, with_value

SERVER = {"cmd": "/opt/a path/mp", "args": ["mcp", "--agent", "héron"], "envs": {}, "enabled": True, "timeout": 300}
HOOK = {"name": "memory-plane", "args": ["on", "1"]}
AT = ("extensions", "memory-plane")

LAID_OUT = {
    "nothing": b"",
    "an empty line": b"\n",
    "only comments": b"# mine\n\n  # still mine\n",
    "only a comment without a line end": b"# mine",
    "two spaces": b"model: x # keep\nextensions:\n  dev:\n    type: builtin\n    x: 1 # c\n  # below\n\nlast: 1\n",
    "four spaces": b"extensions:\n    dev:\n        type: builtin\n",
    "one space": b"extensions:\n dev:\n  type: builtin\n",
    "odd spaces": b"a:\n  b: 1\nextensions:\n     dev:   {x:   1}   # c\n\n\n\n# end",
    "CRLF": b"model: x\r\nextensions:\r\n  dev: 1 # c\r\n\r\nlast: 1\r\n",
    "both kinds of line ends": b"model: x\r\nextensions:\n  dev: 1\n",
    "no last line end": b"model: x\nextensions:\n  dev: 1",
    "no last line end, a comment": b"extensions:\n  dev: 1 # c",
    "a byte order mark": b"\xef\xbb\xbfmodel: x\n",
    "empty in flow style": b"extensions: {} # none\nlast: 1\n",
    "empty with space": b"extensions: {  } # none\n",
    "flow style": b"extensions: {dev: {x: 1}, other: [1, 2]} # c\n",
    "flow style over lines": b"extensions: {\n  dev: 1, # one\n  other: 2 # two\n}\n",
    "a trailing comma": b"extensions: {dev: 1,}\nhooks: {Stop: [1, 2, ], Start: []}\n",
    "JSON": b'{\n\t"a": 1,\n\t"extensions": {\n\t\t"dev": {}\n\t}\n}\n',
    "an empty object": b"{}\n",
    "start of a document": b"--- # c\nmodel: x\n",
    "nothing but the start of a document": b"---\n",
    "start and end of a document": b"%YAML 1.2\n---\nextensions:\n  dev: 1\n... # c\n# d\n",
    "nothing between start and end": b"---\n...\n",
    "quoted keys": b"'extensions':\n  \"dev\": 1\n  'it''s': \"a: b # c\"\n",
    "a text over lines": b"a: |\n  # no comment\n\n  b: 1\nextensions:\n  dev: >-\n    one\n\n    two\n\n\nlast: 1\n",
    "a text that keeps its lines": b"extensions:\n  dev: |+\n    one\n\n\n# c\nlast: |-\n  two\n",
    "a plain text over lines": b"extensions:\n  dev: one\n    two\n\n    three # c\nlast: 1\n",
    "anchors": b"base: &base\n  x: 1\nextensions:\n  dev: *base\n  other:\n    <<: *base\n    y: &y 2\nlast: *y\n",
    "an anchor on the object": b"extensions: &all\n  dev: 1\n",
    "tags": b"a: !mine {x: !!str 1}\nextensions: !!map\n  dev: !secret token\n",
    "twice the same key": b"extensions:\n  dev: 1\nextensions:\n  other: 2\n",
    "odd keys": b"? [a, b]\n: 1\n? c\n: 2\n1: x\ntrue: y\n~: z\n'': w\nextensions:\n  dev: 1\n",
    "a list of objects": b"hooks:\n  Stop:\n  - name: a\n    args: [1]\n  - name: b\n    x:\n      y: 1\nlast: 1\n",
    "a list with indentation": b"hooks:\n    Stop:\n      -   name: a\n      -\n          name: b # c\n\nlast: 1\n",
    "tabs between": b"extensions:\t# c\n  dev:\t{x:\t1}\t\nlast: 1\t# c\t\n",
    "words and numbers": b"a: yes\nb: 010\nc: 1e3\nd: .nan\ne: 2001-01-01\nf: 12:30:45\ng: ~\nh: 0o17\non: off\n",
}
laid_out = pytest.mark.parametrize("data", LAID_OUT.values(), ids=LAID_OUT)
of_people = pytest.mark.parametrize("kind", [Entry, Element])


def edit_of(kind: type[Entry | Element]) -> Entry | Element:
    pointer, value = (AT, SERVER) if kind is Entry else (("hooks", "Stop"), HOOK)
    return kind(path=Path("/a/config.yaml"), pointer=pointer, value=value)


@laid_out
@of_people
def test_what_is_ours_comes_and_goes_byte_for_byte(data: bytes, kind: type[Entry | Element]) -> None:
    edit = edit_of(kind)
    after, record = edits.made(edit, data)
    assert record is not None
    assert edits.stands(edit, after)
    assert b"\r\n" not in data or after.count(b"\n") - data.count(b"\n") == after.count(b"\r\n") - data.count(b"\r\n")
    assert edits.undone(record, after) == data


@laid_out
@of_people
def test_all_that_stood_there_stands_there_still(data: bytes, kind: type[Entry | Element]) -> None:
    after, _ = edits.made(edit_of(kind), data)
    left = iter(after)
    assert all(byte in left for byte in data.removesuffix(b"{} # none\nlast: 1\n"))


@laid_out
def test_entry_that_is_replaced_leaves_the_rest_alone(data: bytes) -> None:
    after = yaml.put(yaml.put(data, AT, SERVER), AT, {"cmd": "x", "envs": {"A": "no"}})
    assert get(yaml.load(after), AT) == {"cmd": "x", "envs": {"A": "no"}}
    assert yaml.drop(yaml.put(after, AT, 1), AT, made=missing(yaml.load(data), AT)) == data


def test_new_entry_is_laid_out_as_its_neighbours_are() -> None:
    data = b"extensions:\r\n    dev:\r\n        cmd: x # mine\r\n\r\n# the end\r\n"
    assert yaml.put(data, AT, SERVER).decode().split("\r\n") == [
        "extensions:",
        "    dev:",
        "        cmd: x # mine",
        "    memory-plane:",
        '        cmd: "/opt/a path/mp"',
        '        args: ["mcp", "--agent", "héron"]',
        "        envs: {}",
        "        enabled: true",
        "        timeout: 300",
        "",
        "# the end",
        "",
    ]


def test_new_element_is_laid_out_as_its_neighbours_are() -> None:
    data = b"hooks:\n  Stop:\n    - name: a\n"
    after = b'hooks:\n  Stop:\n    - name: a\n    - name: memory-plane\n      args: ["on", "1"]\n'
    assert yaml.add(data, ("hooks", "Stop"), HOOK) == after


def test_object_that_lost_all_others_is_left_empty() -> None:
    after = yaml.put(b"extensions: # mine\n  dev: 1\nlast: 1\n", AT, SERVER)
    assert yaml.drop(after.replace(b"  dev: 1\n", b""), AT) == b"extensions: {} # mine\nlast: 1\n"
    after = yaml.add(b"hooks:\n  Stop:\n  - 1\n", ("hooks", "Stop"), 2)
    assert yaml.drop(after.replace(b"  - 1\n", b""), ("hooks", "Stop"), 2) == b"hooks:\n  Stop: []\n"


def test_entry_between_others_goes_alone() -> None:
    assert yaml.drop(b"a: 1 # one\nours: 2\n\n# b\nb: 3\n", ("ours",)) == b"a: 1 # one\n\n# b\nb: 3\n"
    assert yaml.drop(b"{ours: 2, b: 3}", ("ours",)) == b"{b: 3}"
    assert yaml.drop(b"{a: 1, ours: 2, b: 3}", ("ours",)) == b"{a: 1, b: 3}"


def test_words_mean_what_they_mean_to_agents() -> None:
    words = b"a: yes\nb: 010\nc: 1e3\nd: 2001-01-01\ne: ~\nf: TRUE\ng: 0x1F\nh: '1'\ni: !!str 2\non: .5\n"
    read = {
        "a": "yes",
        "b": 10,
        "c": 1000,
        "d": "2001-01-01",
        "e": None,
        "f": True,
        "g": 31,
        "h": "1",
        "i": "2",
        "on": 0.5,
    }
    assert yaml.load(words) == read


@pytest.mark.parametrize(
    "text",
    [
        "yes",
        "No",
        "null",
        "~",
        "1",
        "1e3",
        "0x1",
        "a: b",
        "- a",
        "#a",
        "",
        " a",
        "a\nb",
        "\x7f\u2028é😀",
        "*a",
        "C:\\x",
        "{}",
    ],
)
def test_text_that_we_write_is_text_to_every_reader(text: str) -> None:
    after = yaml.put(b"a: 1\n", ("b",), {text: text, "c": [text]})
    assert yaml.load(after) == reader.safe_load(after) == {"a": 1, "b": {text: text, "c": [text]}}


@pytest.mark.parametrize(
    "data", [b"a: x\nextensions:@\nb:\n", b"extensions:@ # none\n  # of them\n# c\nb: 1\n", b"a: x\nextensions:@"]
)
def test_key_with_nothing_after_it_takes_members_and_is_empty_without_them(data: bytes) -> None:
    before = data.replace(b"@", b"")
    after = yaml.put(before, AT, SERVER)
    assert get(reader.safe_load(after), AT) == get(yaml.load(after), AT) == SERVER
    assert yaml.drop(after, AT) == data.replace(b"@", b" {}")


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"a: [1", "near line 1"),
        (b"a: 1\n\tb: 2\n", "near line 2"),
        (b"a: 1\n b: 2\n", "near line 2"),
        (b"a: 'x\n", "near line"),
        (b"a: \xff", "UTF-8"),
        ("a: é".encode("utf-16"), "UTF-8"),
        (b"a: \x00", "read as YAML"),
        (b"a: *b\n", "is called 'b'"),
        (b"a: 1\n---\nb: 2\n", "several documents"),
        (b"- 1\n", "at the top"),
        (b"text\n", "at the top"),
        (b"null\n", "at the top"),
        (b"!mine {a: 1}\n", "at the top"),
        (b"extensions: null\n", "at extensions"),
        (b"base: &b {x: 1}\nextensions: *b\n", "at extensions"),
        (b"extensions: &b\n  x: 1\nother: *b\n", "by hand"),
        (b"a: |\n  a last line without an end", "by hand"),
        (b"[" * 100_000, "levels deep"),
        (b"a: " + b"9" * 5000 + b"\n", "number"),
    ],
)  # fmt: skip
def test_what_cannot_be_edited_safely_is_refused(data: bytes, why: str) -> None:
    with pytest.raises(Broken, match=why):
        yaml.put(data, AT, SERVER)


def test_path_that_is_no_text_is_refused() -> None:
    with pytest.raises(Broken, match="UTF-8"):
        yaml.put(b"", AT, {"cmd": "/a\udcff"})


def test_what_others_stand_for_is_not_taken_out() -> None:
    with pytest.raises(Broken, match="by hand"):
        yaml.drop(b"ours: &x 1\nb: *x\n", ("ours",))
    with pytest.raises(Broken, match="by hand"):
        yaml.drop(b"a: &x 0\nours: &x 1\nb: *x\n", ("ours",))
    assert yaml.drop(b"ours: &x 1\nb: 2\n", ("ours",)) == b"b: 2\n"


def test_entry_that_shares_its_line_is_refused() -> None:
    with pytest.raises(Broken, match="by hand"):
        yaml.drop(b"a: 1\n? ours\n: 2\n", ("ours",))


@pytest.mark.parametrize("data", [b"ours: !mine 1\n", b"a: &a 1\nours: *a\n", b"ours: {1: 2}\n", b"ours: [.nan]\n"])
def test_what_cannot_be_noted_is_not_taken_over(data: bytes) -> None:
    edit = Entry(path=Path("/a/config.yml"), pointer=("ours",), value={})
    with pytest.raises(Kept, match="remove that by hand"):
        edits.made(edit, data, take_over=True)


def test_both_endings_are_yaml() -> None:
    assert [formats.of(Path(name)) for name in ("a.yaml", "a.YML")] == [yaml, yaml]


# --- any document -------------------------------------------------------------------------------------------------

texts = st.text(max_size=6) | st.sampled_from(["yes", "1", "a b", "# x", "a\nb\n", "x: y", "- z", "*a", "é", "\u2028"])
values = st.recursive(
    st.none() | st.booleans() | st.integers(-10, 10) | st.integers(-99, 99).map(lambda number: number / 8) | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=8,
)
styles = st.fixed_dictionaries(
    {
        "default_flow_style": st.sampled_from([True, False, None]),
        "default_style": st.sampled_from([None, None, '"', "'", "|", ">"]),
        "indent": st.integers(2, 9),
        "width": st.sampled_from([5, 20, 1000]),
        "allow_unicode": st.booleans(),
        "line_break": st.sampled_from(["\n", "\r\n"]),
        "explicit_start": st.booleans(),
        "explicit_end": st.booleans(),
        "sort_keys": st.booleans(),
    }
)
pointers = st.lists(st.sampled_from(["a", "é", "1", "x: y", ""]), min_size=1, max_size=3).map(tuple)


def written(value: Any, style: dict[str, Any], comments: list[int], cut: bool) -> bytes:
    """Write a value as one or another person would, with comments in odd places."""
    end: str = style["line_break"]
    lines = str(reader.safe_dump(value, **style)).split(end)
    for place in comments:
        lines.insert(place % (len(lines) + 1), " " * (place % 3) + "# c: {}")
    return end.join(lines).removesuffix(end if cut else "").encode()


def on_nothing(value: Any, pointer: tuple[str, ...]) -> bool:
    """Tell whether a key on the way has nothing after it: what is put there leaves `{}` behind."""
    for key in pointer[:-1]:
        value = value.get(key, {})
        if value is None:
            return True
    return False


@settings(deadline=None)
@given(
    value=st.dictionaries(texts | st.sampled_from(["a", "é"]), values, max_size=4),
    pointer=pointers,
    new=values,
    style=styles,
    comments=st.lists(st.integers(0, 40), max_size=3),
    cut=st.booleans(),
)
def test_any_document_gets_an_entry_and_loses_it_again(
    value: dict[str, Any], pointer: tuple[str, ...], new: Any, style: dict[str, Any], comments: list[int], cut: bool
) -> None:
    data = written(value, style, comments, cut)
    try:
        before, seen = yaml.load(data), reader.safe_load(data)
        there = get(before, pointer)
        after = yaml.put(data, pointer, new)
    except (Broken, reader.YAMLError, ValueError, KeyError):
        return  # refused, and nothing was written
    assert yaml.load(after) == with_value(before, pointer, new)
    assert reader.safe_load(after) == with_value(seen, pointer, new) or new == {}  # nothing is as good as that
    if there is MISSING and not on_nothing(seen, pointer):
        assert yaml.drop(after, pointer, made=missing(before, pointer)) == data


@settings(deadline=None)
@given(
    value=st.dictionaries(
        texts, st.dictionaries(st.sampled_from(["a", "é"]), st.lists(values, max_size=3)), max_size=3
    ),
    pointer=st.tuples(texts, st.sampled_from(["a", "é"])),
    style=styles,
    comments=st.lists(st.integers(0, 40), max_size=3),
    cut=st.booleans(),
)
def test_any_array_gets_an_element_and_loses_it_again(
    value: dict[str, Any], pointer: tuple[str, ...], style: dict[str, Any], comments: list[int], cut: bool
) -> None:
    data = written(value, style, comments, cut)
    try:
        before = yaml.load(data)
        there = get(before, pointer)
        after = yaml.add(data, pointer, HOOK)
    except Broken:
        return  # refused, and nothing was written
    held = [] if there is MISSING else there
    assert yaml.load(after) == with_value(before, pointer, [*held, HOOK])
    assert yaml.drop(after, pointer, HOOK, made=missing(before, pointer) + (there is MISSING)) == data
