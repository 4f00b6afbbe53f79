"""Sources: what each is told by, how files are read where they lie, and what is refused before anything is stored."""

from __future__ import annotations

import json
import os
import re
import sqlite3
import struct
import zipfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, suppress
from datetime import UTC, datetime, timedelta, timezone
from io import BytesIO
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from click.testing import CliRunner, Result
from hypothesis import given
from hypothesis import strategies as st

from memory_plane.errors import MemoryPlaneError
from memory_plane.importers import documents, sources
from memory_plane.importers.documents import elements, lines
from memory_plane.importers.files import Files
from memory_plane.importers.sections import sections
from memory_plane.importers.times import moment
from memory_plane.surfaces.cli import importing, main

Sized = Callable[[int, int], int]
LaidOut = Callable[[Path, Mapping[str, Any]], Path]
Zipped = Callable[..., Path]

CLAUDE = [{"uuid": "c1", "name": "Talk", "created_at": "2026-03-29T07:06:34Z", "chat_messages": []}]
CHATGPT = [{"title": "Talk", "create_time": 1.7e9, "mapping": {}, "current_node": None, "conversation_id": "c1"}]
ENTITY = {"type": "entity", "name": "Ann", "entityType": "person", "observations": ["Likes tea"]}
SESSION = {"type": "user", "uuid": "u1", "sessionId": "s1", "message": {"role": "user", "content": "Fix the login"}}


def invoke(*arguments: str) -> Result:
    return CliRunner().invoke(main, list(arguments))


# --- what a source is --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kind", "files"),
    [
        ("claude", {"conversations.json": CLAUDE, "users.json": []}),
        ("claude", {"export/conversations.json": CLAUDE}),
        ("claude", {"memories.json": [{"conversations_memory": "Likes tea", "account_uuid": "a"}]}),
        ("claude", {"projects/p1.json": {"uuid": "p1", "name": "Shop", "prompt_template": ""}}),
        ("chatgpt", {"conversations.json": CHATGPT, "chat.html": "<html>", "user.json": {}}),
        ("chatgpt", {"conversations-000.json": [], "conversations-001.json": CHATGPT}),
        ("memory-json", {"memory.json": json.dumps(ENTITY)}),
        ("claude-code", {"-w-shop/s1.jsonl": json.dumps(SESSION)}),
        ("markdown", {"Daily/2026-03-14.md": "Met Ann", ".obsidian/app.json": {}}),
    ],
)
def test_kind_is_told_by_the_content_of_folder_and_zip(
    laid_out: LaidOut, zipped: Zipped, tmp_path: Path, kind: str, files: dict[str, Any]
) -> None:
    for path in (laid_out(tmp_path / "folder é", files), zipped(tmp_path / "export.zip", files)):
        with Files(path) as found:
            assert sources.recognise(found).name == kind
            assert not sources.is_log(found)


@pytest.mark.parametrize(
    ("kind", "name", "content"),
    [
        ("claude", "my chats.json", CLAUDE),
        ("chatgpt", "chats 2025.json", CHATGPT),
        ("memory-json", "my memory.jsonl", json.dumps(ENTITY)),
        ("claude-code", "s1.jsonl", json.dumps(SESSION)),
        ("markdown", "Ann.md", "# Ann"),
    ],
)
def test_file_alone_is_told_by_its_content_whatever_its_name(
    laid_out: LaidOut, tmp_path: Path, kind: str, name: str, content: Any
) -> None:
    with Files(laid_out(tmp_path, {name: content}) / name) as found:
        assert sources.recognise(found).name == kind


@pytest.mark.parametrize("content", ["hello\n", "[]", "null", b"\xff\xfe\x00", {"conversations": []}])
def test_what_is_unknown_is_refused_with_what_was_looked_for(laid_out: LaidOut, home: Path, content: Any) -> None:
    refused = invoke("import", str(laid_out(home, {"strange.json": content}) / "strange.json"))
    assert (refused.exit_code, refused.stdout) == (1, "")
    for kind in importing.KINDS:
        assert f"({kind})" in refused.stderr
    assert not (home / "memory.db").exists()


def test_kind_can_be_named_where_several_would_do(laid_out: LaidOut, home: Path, tmp_path: Path) -> None:
    both = laid_out(tmp_path / "both", {"memory.json": json.dumps(ENTITY), "note.md": "Ann likes tea"})
    assert "Ann " in invoke("import", str(both)).stdout
    assert "note.md " in invoke("import", str(both), "--from", "markdown").stdout


@pytest.fixture
def of_kinds(laid_out: LaidOut, tmp_path: Path) -> dict[str, Path]:
    """A true source of each kind, and folders of other things."""
    folder = laid_out(
        tmp_path / "sources",
        {
            "claude/conversations.json": CLAUDE,
            "chatgpt/conversations.json": CHATGPT,
            "claude-code/s.jsonl": json.dumps(SESSION),
            "memory-json/memory.jsonl": json.dumps(ENTITY),
            "markdown/Ann.md": "Ann likes tea",
            "other/photo.png": b"\x89PNG",
            "chats/unknown.jsonl": '{"said": "hello"}\n',
            "arrays/conversations.json": [{"said": "hello"}],
            "empty/conversations.json": [],
        },
    )
    (folder / "none").mkdir()
    database = folder / "memory-graph.db"
    with closing(sqlite3.connect(database)) as connection:
        connection.execute("CREATE TABLE entities (id, name, created_at)")
        connection.execute("CREATE TABLE relationships (source_id)")
    log = folder / "log.jsonl"
    log.write_text(json.dumps({"id": "x", "op": "thought", "agent": "muse"}) + "\n")
    found = {path.name: path for path in folder.iterdir() if path.is_dir()}
    return found | {"memory-graph": database, "log": log, "unknown": folder / "chats" / "unknown.jsonl"}


@pytest.mark.parametrize("kind", importing.KINDS)
def test_source_that_is_not_of_the_kind_that_was_named_is_refused_and_says_which_it_is(
    of_kinds: dict[str, Path], home: Path, kind: str
) -> None:
    for name, path in of_kinds.items():
        if name == kind:
            continue
        for wish in ([], ["--dry-run"]) if kind != "log" else ([],):
            refused = invoke("import", str(path), "--from", kind, *wish)
            assert (refused.exit_code, refused.stdout) == (1, ""), (name, refused.stdout)
            if name in importing.KINDS:
                assert f"it looks like {name}: give --from {name}" in refused.stderr
            if kind != "log":
                looked_for = sources.KINDS[kind].looks_for
                assert f"there is nothing of {kind!r} in it; looked for {looked_for}" in refused.stderr, name
    assert not (home / "memory.db").exists()


def test_source_of_the_kind_that_was_named_is_taken_in_where_it_does_not_begin_so(
    laid_out: LaidOut, home: Path, tmp_path: Path
) -> None:
    talk = CLAUDE[0] | {"chat_messages": [{"sender": "human", "text": "Fix the login of the shop"}]}
    path = laid_out(tmp_path / "export", {"conversations.json": [{"odd": 1}, talk]})
    told = json.loads(invoke("import", str(path), "--from", "claude", "--json").stdout)
    assert (told["imported"], told["refused"]) == (1, 1)


def test_session_is_found_behind_any_number_of_other_files(laid_out: LaidOut, home: Path, tmp_path: Path) -> None:
    others = {f"a{number:03}.jsonl": '{"said": "hello"}\n' for number in range(40)}
    path = laid_out(tmp_path / "many", others | {"z.jsonl": json.dumps(SESSION)})
    assert "imported" in invoke("import", str(path)).stdout


def test_choices_of_the_command_are_the_kinds_there_are() -> None:
    assert set(importing.KINDS) == {*sources.KINDS, sources.LOG}


def test_packed_file_is_refused_with_what_to_do(home: Path) -> None:
    (home / "chats.json.gz").write_bytes(b"\x1f\x8b\x08\x00rest")
    assert "unpack it first" in invoke("import", str(home / "chats.json.gz")).stderr


def test_manifest_of_claude_is_refused_since_it_holds_no_memory(laid_out: LaidOut, home: Path) -> None:
    manifest = {"version": "1.0", "data_files": [{"filename": "conversations-000.zip", "export_url": "https://x"}]}
    refused = invoke("import", str(laid_out(home, {"manifest-1.json": manifest}) / "manifest-1.json"))
    assert "download what it lists" in refused.stderr


# --- files -------------------------------------------------------------------------------------------------------


def test_hidden_files_and_links_are_not_listed(laid_out: LaidOut, tmp_path: Path) -> None:
    folder = laid_out(tmp_path / "vault", {"a.md": "A", ".trash/b.md": "B", "x/.git/c.md": "C", "x/.d.md": "D"})
    with suppress(OSError):
        (folder / "link.md").symlink_to(tmp_path / "elsewhere.md")
        (folder / "loop").symlink_to(folder)
    with Files(folder) as files:
        assert files.names == ("a.md",)


def test_files_of_a_mac_are_left_out_of_a_zip(zipped: Zipped, tmp_path: Path) -> None:
    with Files(zipped(tmp_path / "a.zip", {"a.md": "A", "__MACOSX/._a.md": "B", "x/.DS_Store": "C"})) as files:
        assert files.names == ("a.md",)


@pytest.mark.parametrize("name", ["../a.md", "x/../../a.md", "/etc/a.md", "C:/a.md", "x\\..\\a.md"])
def test_zip_with_a_path_out_of_it_is_refused(home: Path, tmp_path: Path, name: str) -> None:
    path = tmp_path / "trick.zip"
    with zipfile.ZipFile(path, "w") as archive:
        member = zipfile.ZipInfo("placeholder")
        member.filename = name
        archive.writestr(member, "x")
    refused = invoke("import", str(path))
    assert (refused.exit_code, refused.stderr.count("\n")) == (1, 1)
    assert "leads out of it" in refused.stderr


def test_zip_that_grows_beyond_measure_is_refused_unread(zipped: Zipped, home: Path, tmp_path: Path) -> None:
    path = zipped(tmp_path / "bomb.zip", {"conversations.json": b"[" + b" " * 60_000_000 + b"]"})
    assert path.stat().st_size < 100_000
    refused = invoke("import", str(path), "--from", "chatgpt")
    assert refused.exit_code == 1
    assert "which no text does" in refused.stderr


def test_zip_that_lies_about_a_size_is_refused(zipped: Zipped, home: Path, tmp_path: Path) -> None:
    path = zipped(tmp_path / "liar.zip", {"conversations.json": CLAUDE * 1000})
    data = bytearray(path.read_bytes())
    struct.pack_into("<I", data, data.index(b"PK\x01\x02") + 24, 40)
    path.write_bytes(bytes(data))
    refused = invoke("import", str(path), "--from", "claude")
    assert (refused.exit_code, refused.stderr.count("\n")) == (1, 1)
    assert not (home / "memory.db").exists()


def test_encrypted_zip_is_refused(zipped: Zipped, home: Path, tmp_path: Path) -> None:
    path = zipped(tmp_path / "locked.zip", {"conversations.json": CLAUDE})
    data = bytearray(path.read_bytes())
    data[data.index(b"PK\x01\x02") + 8] |= 1
    path.write_bytes(bytes(data))
    assert "is encrypted" in invoke("import", str(path), "--from", "claude").stderr


@pytest.mark.parametrize("keep", [0.2, 0.6, 0.98])
def test_zip_that_was_cut_off_is_refused(zipped: Zipped, home: Path, tmp_path: Path, keep: float) -> None:
    path = zipped(tmp_path / "short.zip", {"conversations.json": CLAUDE * 100})
    path.write_bytes(path.read_bytes()[: int(path.stat().st_size * keep)])
    refused = invoke("import", str(path))
    assert (refused.exit_code, refused.stderr.count("\n")) == (1, 1)
    assert "damaged zip" in refused.stderr


def test_zip_that_was_changed_inside_is_refused_before_anything_is_stored(
    zipped: Zipped, home: Path, tmp_path: Path
) -> None:
    path = zipped(tmp_path / "rotten.zip", {"conversations.json": CLAUDE * 5000}, compression=zipfile.ZIP_STORED)
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(bytes(data))
    refused = invoke("import", str(path))
    assert (refused.exit_code, refused.stderr.count("\n")) == (1, 1)
    assert not (home / "memory.db").exists()


@pytest.mark.skipif(os.name != "posix" or os.geteuid() == 0, reason="permissions that count")
def test_folder_that_may_not_be_read_is_refused(home: Path, tmp_path: Path) -> None:
    (tmp_path / "closed").mkdir(mode=0)
    assert "cannot read" in invoke("import", str(tmp_path / "closed")).stderr


# --- JSON of any size --------------------------------------------------------------------------------------------

values = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(-(10**20), 10**20), st.text(), st.floats(allow_nan=False)),
    lambda inner: st.one_of(st.lists(inner), st.dictionaries(st.text(), inner)),
    max_leaves=20,
)


@given(st.lists(values), st.integers(1, 9), st.sampled_from([None, 1]), st.booleans())
def test_elements_of_an_array_are_what_json_reads(
    array: list[Any], piece: int, indent: int | None, ascii_only: bool
) -> None:
    text = json.dumps(array, indent=indent, ensure_ascii=ascii_only)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(documents, "_PIECE", piece)
        assert list(elements(BytesIO(text.encode("utf-8", "surrogatepass")))) == json.loads(text)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "does not hold an array"),
        ('{"a": 1}', "does not hold an array"),
        ('[{"a": 1}', "is cut off after value 1"),
        ('[{"a": 1},', "is cut off before value 2"),
        ('[{"a": 1}, {"b": "c', "value 2 is cut off"),
        ('[{"a": 1} {"b": 2}]', "is no JSON after value 1"),
        ('[{"a": 1}, nothing]', "value 2 is cut off, or no JSON"),
        ("[" * 100_000, "value 1 is nested too deeply"),
    ],
)
def test_array_that_is_none_is_refused_by_its_value(text: str, reason: str) -> None:
    with pytest.raises(MemoryPlaneError, match=reason):
        list(elements(BytesIO(text.encode())))


def test_value_without_end_is_refused_before_it_fills_the_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(documents, "LARGEST", 100_000)
    stream = BytesIO(b'["' + b"x" * 10_000_000 + b'"]')
    with pytest.raises(MemoryPlaneError, match="larger than 100,000"):
        list(elements(stream))
    assert stream.tell() < 1_000_000


def test_lines_that_are_torn_or_too_long_are_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(documents, "LARGEST", 20)
    text = b'\xef\xbb\xbf{"a": 1}\r\n\n"' + b"x" * 55 + b'"\n[2]\n{"b": '
    assert list(lines(BytesIO(text))) == [{"a": 1}, None, [2], None]


def test_large_array_is_never_in_memory_as_a_whole(sized: Sized) -> None:
    class Repeated:
        """An array of `left` values, made as it is read."""

        def __init__(self, left: int) -> None:
            self.left = left
            self.rest = b"["

        def __call__(self) -> Iterator[bytes]:
            yield b"["
            for number in range(self.left):
                yield b'{"text": "' + b"x" * 1000 + (b'"},' if number + 1 < self.left else b'"}]')

    import tracemalloc

    count = sized(20_000, 1_000_000)
    tracemalloc.start()
    try:
        found = sum(1 for _ in elements(_Stream(Repeated(count)())))
        assert tracemalloc.get_traced_memory()[1] < 2_000_000
    finally:
        tracemalloc.stop()
    assert found == count


class _Stream(BytesIO):
    """Reads what an iterator yields."""

    def __init__(self, pieces: Iterator[bytes]) -> None:
        super().__init__()
        self._pieces = pieces

    def read(self, size: int | None = -1, /) -> bytes:
        return next(self._pieces, b"")

    read1 = read


# --- times -------------------------------------------------------------------------------------------------------

AT = datetime(2026, 3, 29, 7, 6, 34, tzinfo=UTC)


@pytest.mark.parametrize(
    "value",
    [
        "2026-03-29T07:06:34Z",
        "2026-03-29T07:06:34+00:00",
        "2026-03-29T09:06:34+02:00",
        "2026-03-29 07:06:34",
        " 2026-03-29T07:06:34 ",
        1774767994,
        1774767994.0,
        1774767994000,
        1774767994000000,
        1774767994000000000,
        "1774767994",
        "1774767994.0",
        "1774767994000",
    ],
)
def test_moment_is_read_in_any_unit_and_zone(value: Any) -> None:
    assert moment(value) == AT


@pytest.mark.parametrize(
    "value",
    [None, "", "soon", True, [], {}, float("nan"), float("inf"), -1, 0, 1e300, "9999-99-99", "0001-01-01", b"x", "12"],
)
def test_what_is_no_moment_is_none(value: Any) -> None:
    assert moment(value) is None


def test_moment_without_a_zone_is_in_that_of_the_person() -> None:
    assert moment("2026-03-29", ZoneInfo("Asia/Kolkata")) == datetime(2026, 3, 28, 18, 30, tzinfo=UTC)
    assert moment("2026-03-29T07:06:34", timezone(timedelta(hours=2))) == AT - timedelta(hours=2)


# --- sections ----------------------------------------------------------------------------------------------------


def test_short_text_is_one_piece_and_a_long_one_is_cut_by_heading() -> None:
    text = "Before\n\n# One\n\nfirst\n\n## Two ##\n\nsecond\n\n# Three\n"
    assert sections(text) == [("", text.strip())]
    assert sections(text, longest=20) == [("", "Before"), ("One", "first"), ("One › Two", "second")]


def test_heading_in_a_code_block_is_none() -> None:
    text = "# One\n\n````\n# no\n```\n# no\n````\n\n# Two\n\nend"
    assert [heading for heading, _ in sections(text, longest=40)] == ["One", "Two"]


def test_line_in_bold_is_a_heading_where_that_is_the_habit() -> None:
    text = "**Work context**\n\nLeads **the** team.\n\n**Personal:**\nLives in Porto."
    assert sections(text, bold=True) == [("Work context", "Leads **the** team."), ("Personal", "Lives in Porto.")]


@given(st.text(alphabet=st.sampled_from("ab #\n `"), max_size=300), st.integers(10, 60))
def test_pieces_hold_all_words_and_none_is_too_long(text: str, longest: int) -> None:
    pieces = sections(text, longest=longest)
    assert all(0 < len(piece) <= longest or len(pieces) == 1 for _, piece in pieces)
    bodies = re.sub(r"^#{1,6}[ \t].*$", " ", text, flags=re.MULTILINE)  # a heading with nothing below says nothing
    told = set("".join(part for piece in pieces for part in piece))
    assert set("".join(bodies.replace("#", " ").split())) <= told


def test_secret_with_blank_lines_is_cut_before_the_text_is() -> None:
    key = "-----BEGIN PRIVATE KEY-----\n" + "\n\n".join(["MIIEvQIBADANBgkqhkiG9w0BAQEFAASC" * 3] * 9)
    pieces = sections(f"Note\n\n{key}\n-----END PRIVATE KEY-----\n\nEnd", longest=200)
    assert "MIIE" not in "".join(piece for _, piece in pieces)
