"""Export and import: what one memory wrote, another takes in whole, once, and writes again byte for byte."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from click.testing import CliRunner, Result
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memory_plane import Plane, Plugin, hookimpl
from memory_plane.errors import MemoryPlaneError
from memory_plane.importers import log
from memory_plane.operations import make_operation, parse_operation
from memory_plane.surfaces.cli import main
from memory_plane.types import (
    AgentContext,
    Attention,
    Candidate,
    Classification,
    Extraction,
    Memory,
    Mention,
    Node,
    Operation,
    Resolution,
    Routing,
    new_node_id,
)

START = datetime(2026, 1, 5, 9, tzinfo=UTC)
UNKNOWN = {"id": "00000000-0000-4000-8000-000000000001", "op": "dance", "agent": "muse", "body": {"steps": [1, "ж"]}}
SECONDS = 60


# --- any memory --------------------------------------------------------------------------------------------------


class NamesPlugin(Plugin):
    """Finds capitalised words, takes each for the node that bore it first, and scores every agent."""

    @hookimpl
    def extract(self, memory: Memory) -> Extraction:
        mentions = []
        place = 0
        for word in memory.text.split(" "):
            if word[:1].isupper():
                mentions.append(Mention(text=word, type="Person", start=place, end=place + len(word), confidence=0.9))
            place += len(word) + 1
        return Extraction(mentions=tuple(mentions))

    @hookimpl
    def classify(self, memory: Memory, found: Extraction, candidates: list[Candidate]) -> Classification:
        known = {one.mention: one.node.id for one in candidates}
        return Classification(
            resolutions=tuple(
                Resolution(mention=one, node=known.get(one, new_node_id(memory.id, one)), probability=0.8)
                for one in found.mentions
            )
        )

    @hookimpl
    def route(self, memory: Memory, nodes: list[Node], agents: list[AgentContext]) -> Routing:
        return Routing(attention=tuple(Attention(agent=one.id, score=0.5, reason="names") for one in agents))


class LaterPlugin(NamesPlugin):
    """Does the same from the queue."""

    deferred = True


words = st.lists(st.sampled_from(["Ann", "Bob", "uses", "tea", "Жук", "林さん", "🫖", "a\u2028b", '"'])).map(" ".join)
sentence = words.map(lambda text: f"Ann {text}".strip())
minutes = st.one_of(st.integers(0, 9), st.sampled_from([10**6, 10**7]))  # years ahead, too
moment = minutes.map(lambda count: START + timedelta(minutes=count))
agent = st.sampled_from(["muse", "grok", "jürgen"])
kind, subject = st.sampled_from(["thought", "question"]), st.sampled_from(["Ann", "ann"])
made = st.fixed_dictionaries
memory = st.one_of(
    st.tuples(st.just("thought"), made({"text": sentence, "kind": kind})),
    st.tuples(st.just("fact"), made({"subject": subject, "key": st.just("city"), "value": sentence})),
    st.tuples(st.just("heartbeat"), made({"focus": sentence})),
)
about = st.sampled_from(["resolve", "pin", "retract", "release", "forget"])


@st.composite
def histories(draw: st.DrawFn) -> list[Operation]:
    """Draw a set of operations, some of them about others, one of them unknown to this version."""
    drawn = [
        make_operation(op, body, agent=draw(agent), created_at=draw(moment))
        for op, body in draw(st.lists(memory, min_size=1, max_size=6))
    ]
    for op in draw(st.lists(about, max_size=3)):
        field = "item" if op == "resolve" else "target"
        target = draw(st.sampled_from(drawn)).id
        drawn.append(make_operation(op, {field: target}, agent=draw(agent), created_at=draw(moment)))
    if draw(st.booleans()):
        drawn.append(parse_operation(UNKNOWN | {"created_at": "2026-01-05T09:00:00Z"}))
    return list({operation.id: operation for operation in drawn}.values())


OpenPlane = Callable[..., Plane]
Emptied = Callable[[Plane], Plane]


@pytest.fixture(scope="module")
def source(open_plane: OpenPlane) -> Plane:
    """The memory that is exported."""
    return open_plane(NamesPlugin(), LaterPlugin())


@pytest.fixture(scope="module")
def plain(open_plane: OpenPlane) -> Plane:
    """One without plugins."""
    return open_plane()


@pytest.fixture(scope="module")
def same(open_plane: OpenPlane) -> Plane:
    """One with the same plugins."""
    return open_plane(NamesPlugin(), LaterPlugin())


def written(plane: Plane) -> bytes:
    return "".join(f"{line}\n" for line in plane.export()).encode()


def take_in(plane: Plane, content: bytes) -> log.Imported:
    contents = log.check(io.BytesIO(content))
    return log.take_in(plane, io.BytesIO(content), io.BytesIO(content), contents, lambda done, total: None)


@given(histories())
@settings(settings.get_profile("length"), deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_import_of_an_export_is_exported_byte_for_byte(
    emptied: Emptied, source: Plane, plain: Plane, same: Plane, history: list[Operation]
) -> None:
    emptied(source).apply_all(history)
    source.ingest()
    content = written(source)
    for target in (emptied(plain), emptied(same)):
        imported = take_in(target, content)
        count = content.count(b'"op":')  # nothing tells of what was forgotten but the order to forget it
        assert imported.states == {"stored": count}, imported.reasons
        assert written(target) == content

        assert take_in(target, content).states == {"duplicate": count}
        assert written(target) == content


def thoughts(plane: Plane, count: int) -> bytes:
    """Fill an empty memory with thoughts about Ann and return its export."""
    at = [START + timedelta(seconds=number) for number in range(count)]
    plane.apply_all([make_operation("thought", {"text": "Ann"}, agent="muse", created_at=one) for one in at])
    plane.ingest()
    return written(plane)


def note_at(seen: list[tuple[int, int]], done: int, total: int) -> None:
    seen.append((done, total))


def test_small_batches_come_to_the_same(
    emptied: Emptied, source: Plane, same: Plane, monkeypatch: pytest.MonkeyPatch
) -> None:
    content = thoughts(emptied(source), 7)
    for name, size in (("BATCH", 2), ("BATCH_BYTES", 1)):
        with monkeypatch.context() as patched:
            patched.setattr(log, name, size)
            seen: list[tuple[int, int]] = []
            contents = log.check(io.BytesIO(content))
            note = partial(note_at, seen)
            log.take_in(emptied(same), io.BytesIO(content), io.BytesIO(content), contents, note)
            assert written(same) == content
            assert len(seen) >= 4
            assert seen == sorted(seen)
            assert seen[-1] == (contents.records, contents.records) == (21, 21)


def test_lines_in_another_order_lose_nothing(emptied: Emptied, source: Plane, plain: Plane) -> None:
    content = thoughts(emptied(source), 5)
    turned = b"".join(reversed(content.splitlines(keepends=True)))
    imported = take_in(emptied(plain), turned)
    assert (imported.states["stored"], imported.derivations) == (5, 10)
    assert written(plain) == content


def test_clock_that_was_ahead_does_not_win_in_the_new_home_either(
    emptied: Emptied, plain: Plane, source: Plane
) -> None:
    ahead = datetime.now(UTC) + timedelta(hours=2)
    fact = {"subject": "Ann", "key": "city"}
    emptied(source).apply(make_operation("fact", fact | {"value": "Rome"}, agent="muse", created_at=ahead))
    written_first = json.loads(written(source).splitlines()[0])
    assert written_first["effective_at"] < written_first["created_at"]
    take_in(emptied(plain), written(source))
    assert written(plain) == written(source)


# --- what is no export -------------------------------------------------------------------------------------------


def line(**changes: Any) -> bytes:
    record = {"id": "00000000-0000-4000-8000-000000000002", "op": "thought", "agent": "muse",
              "created_at": "2026-01-05T09:00:00Z", "body": {"text": "hello"}} | changes  # fmt: skip
    return json.dumps(record).encode() + b"\n"


def numbered(count: int) -> bytes:
    return b"".join(line(id=f"00000000-0000-4000-8000-{n:012}", body={"text": f"hello {n}"}) for n in range(count))


DERIVED = json.dumps(
    {"memory": "00000000-0000-4000-8000-000000000002", "plugin": "p", "version": "1", "rank": 0, "answer": '{"m":[]}'}
).encode()


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (line()[:-20], "line 1 is cut off"),
        (numbered(3) + line()[:40], "line 4 is cut off"),
        (line() + DERIVED[:-5], "line 2 is cut off"),
        (b"hello\n", "line 1 is no JSON"),
        (numbered(2) + b"\xff\xfe\n", "line 3 is no JSON"),
        (b"[" * 100_000 + b"\n", "line 1 is no JSON"),
        (b"\x1f\x8b\x08\x00rest\n", "line 1 is compressed"),
        (b"[]\n", "line 1 is neither"),
        (b"null\n", "line 1 is neither"),
        (b'{"text": "hello"}\n', "line 1 is neither"),
        (line() + b'{"id": 1, "op": "thought"}\n', "line 2 is neither"),
        (line().decode().encode("utf-16"), "line 1 is no JSON"),
    ],
)
def test_file_that_is_no_whole_export_is_refused_by_its_line(home: Path, content: bytes, reason: str) -> None:
    (home / "memory.jsonl").write_bytes(content)
    refused = invoke("import", str(home / "memory.jsonl"), "--from", "log")
    assert (refused.exit_code, refused.stdout) == (1, "")
    assert refused.stderr.startswith(f"memory-plane: {str(home / 'memory.jsonl')!r}: {reason}")
    assert refused.stderr.endswith("; nothing was stored\n")
    assert refused.stderr.count("\n") == 1
    assert not (home / "memory.db").exists()


def test_line_without_end_is_refused_before_it_fills_the_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(log, "LONGEST_LINE", 1000)

    class Endless(io.RawIOBase):
        read_so_far = 0

        def readable(self) -> bool:
            return True

        def readinto(self, buffer: Any) -> int:
            self.read_so_far += len(buffer)
            buffer[:] = b"x" * len(buffer)
            return len(buffer)

        def tell(self) -> int:
            return self.read_so_far

    endless = Endless()
    with pytest.raises(MemoryPlaneError, match="line 1 is longer than any"):
        log.check(io.BufferedReader(endless))
    assert endless.read_so_far < 100_000


def test_whole_file_without_a_newline_at_its_end_is_taken_in(home: Path) -> None:
    (home / "memory.jsonl").write_bytes(b"\xef\xbb\xbf" + line().replace(b"\n", b"\r\n\n") + DERIVED)
    assert invoke("import", str(home / "memory.jsonl")).stdout.split() == [
        "stored", "1", "duplicate", "0", "refused", "0", "derivations", "1",
    ]  # fmt: skip


def test_empty_file_stores_nothing(home: Path) -> None:
    (home / "memory.jsonl").touch()
    done = invoke("import", str(home / "memory.jsonl"), "--json")
    assert done.exit_code == 0
    assert json.loads(done.stdout) == {"stored": 0, "duplicate": 0, "refused": 0, "derivations": 0, "reasons": []}


# --- the command -------------------------------------------------------------------------------------------------


def invoke(*arguments: str, stdin: bytes = b"") -> Result:
    return CliRunner().invoke(main, list(arguments), input=stdin)


def test_bad_operation_is_refused_by_its_line_and_the_others_are_stored(home: Path) -> None:
    bad = line(body={"text": ""}) + line(agent="two words") + line(created_at="yesterday") + line(body={"txt": "x"})
    content = numbered(1) + bad + line(id="no uuid") + line(effective_at="never") + line(id=None) + numbered(2)
    done = invoke("import", "-", "--json", stdin=content)
    assert done.exit_code == 1
    told = json.loads(done.stdout)
    assert (told["stored"], told["duplicate"], told["refused"]) == (3, 1, 6)
    assert [reason.partition(":")[0] for reason in told["reasons"]] == [f"line {number}" for number in range(2, 8)]
    assert done.stderr.count("memory-plane: refused line ") == 6
    assert "hello 0" in invoke("recall", "hello").stdout


def test_many_refusals_are_counted_and_the_first_shown(home: Path) -> None:
    done = invoke("import", "-", stdin=line(body={}) * 25)
    assert done.exit_code == 1
    assert done.stderr.count("refused line ") == 10
    assert "refused 15 more" in done.stderr


def test_same_file_twice_stores_it_once(home: Path) -> None:
    (home / "memory.jsonl").write_bytes(numbered(3) * 2)
    first, second = (json.loads(invoke("import", str(home / "memory.jsonl"), "--json").stdout) for _ in range(2))
    assert (first["stored"], first["duplicate"]) == (3, 3)
    assert (second["stored"], second["duplicate"]) == (0, 6)


def test_secret_in_a_file_is_cut_before_it_is_stored(home: Path) -> None:
    invoke("import", "-", stdin=line(body={"text": "the password=hunter2-Zx81! of the door"}))
    assert "hunter2" not in invoke("export").stdout
    assert "of the door" in invoke("export").stdout


@pytest.mark.skipif(os.name != "posix", reason="pipes of POSIX")
def test_export_goes_through_a_pipe_into_another_home(home: Path, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "memory_plane"]
    invoke("post", "Ann likes tea", "--agent", "muse")
    exported = subprocess.run([*command, "export"], capture_output=True, check=True, timeout=SECONDS).stdout
    other = ["--home", str(tmp_path / "new one")]
    for _ in range(2):
        subprocess.run(
            [*command, *other, "import", "-"], input=exported, capture_output=True, check=True, timeout=SECONDS
        )
    again = subprocess.run([*command, *other, "export"], capture_output=True, check=True, timeout=SECONDS).stdout
    assert again == exported != b""
    assert list((tmp_path / "new one").glob(".import*")) == []


@pytest.mark.skipif(os.name != "posix", reason="named pipes of POSIX")
def test_named_pipe_is_read_as_a_file_is(home: Path) -> None:
    pipe = home / "pipe"
    os.mkfifo(pipe)
    writer = Thread(target=pipe.write_bytes, args=(numbered(2),))
    writer.start()
    assert json.loads(invoke("import", str(pipe), "--json").stdout)["stored"] == 2
    writer.join(SECONDS)


@pytest.mark.skipif(not Path("/dev/zero").is_char_device(), reason="devices of POSIX")
@pytest.mark.parametrize("given", [["/dev/zero"], ["/dev/zero", "--from", "log"], ["-"]], ids=str)
def test_what_never_ends_is_refused_at_its_first_line(
    home: Path, monkeypatch: pytest.MonkeyPatch, given: list[str]
) -> None:
    monkeypatch.setattr("memory_plane.importers.log.LONGEST_LINE", 1_000)
    with Path("/dev/zero").open("rb") as zeros:
        refused = CliRunner().invoke(main, ["import", *given], input=zeros.read(5_000))
    assert refused.exit_code == 1
    assert "line 1 is longer than any of an export; nothing was stored" in refused.stderr
    assert list(home.glob(".import-*")) == []


def test_empty_source_is_not_the_folder_in_which_it_runs(home: Path) -> None:
    refused = invoke("import", "")
    assert refused.exit_code == 2
    assert "SOURCE is empty" in refused.stderr


@pytest.mark.parametrize("name", ["missing.jsonl", "folder"])
def test_file_that_cannot_be_read_is_one_line(home: Path, name: str) -> None:
    (home / "folder").mkdir()
    refused = invoke("import", str(home / name))
    assert refused.exit_code in (1, 2)
    assert refused.stderr.count("\n") == 1
    assert name in refused.stderr


def test_store_that_cannot_be_opened_is_one_line(home: Path) -> None:
    (home / "memory.db").mkdir()
    refused = invoke("import", "-", stdin=numbered(1))
    assert (refused.exit_code, refused.stdout) == (1, "")
    assert refused.stderr.count("\n") == 1
