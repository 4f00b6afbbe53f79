"""Taking a source in: what is told of each item, where an interrupted import goes on, what stays as it is."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from memory_plane import Plane
from memory_plane.errors import StoreError
from memory_plane.importers import driver, markdown, sources
from memory_plane.importers.driver import Outcome, Source, count, preview, take_in
from memory_plane.importers.files import Files
from memory_plane.surfaces.cli import main

LaidOut = Callable[[Path, Mapping[str, Any]], Path]
MakePlane = Callable[..., Plane]
Sized = Callable[[int, int], int]

SECONDS = 120


def invoke(*arguments: str) -> Result:
    return CliRunner().invoke(main, list(arguments))


def bring_in(plane: Plane, path: Path, **wanted: Any) -> list[Outcome]:
    with Files(path) as files:
        source = Source(kind=sources.recognise(files), files=files, zone=UTC, **wanted)
        return list(take_in(plane, source, count(source), lambda done, total: None))


def states(outcomes: list[Outcome]) -> dict[str, str]:
    return {one.item: one.state for one in outcomes}


def notes(number: int) -> dict[str, Any]:
    return {f"{n:03}.md": f"Ann met Bob{n} at Nexus Labs number {n}." for n in range(number)}


def talk(number: int, **changes: Any) -> dict[str, Any]:
    messages = [
        {"uuid": "m1", "sender": "human", "text": f"Can you help Ann with shop {number}?"},
        {"uuid": "m2", "sender": "assistant", "text": f"We decided to use Rust for shop {number}."},
    ]
    at = f"2025-01-{1 + number % 28:02}T09:00:00Z"
    return {"uuid": f"c{number}", "name": f"Talk {number}", "created_at": at, "chat_messages": messages} | changes


# --- again and again ---------------------------------------------------------------------------------------------


def test_second_import_passes_over_what_has_not_changed(plane: Plane, tmp_path: Path, laid_out: LaidOut) -> None:
    vault = laid_out(tmp_path / "vault", notes(3))
    assert set(states(bring_in(plane, vault)).values()) == {"imported"}
    before = list(plane.export())
    assert set(states(bring_in(plane, vault)).values()) == {"already there"}
    assert list(plane.export()) == before


def test_what_could_not_be_taken_in_is_told_again_each_time(plane: Plane, tmp_path: Path, laid_out: LaidOut) -> None:
    export = laid_out(tmp_path / "export", {"conversations.json": [talk(1), {"uuid": "odd", "chat_messages": 7}]})
    vault = laid_out(tmp_path / "vault", {**notes(2), "odd.md": b"\xff", "zero.md": ""})
    for source, left in ((export, ["refused"]), (vault, ["skipped", "skipped"])):
        first, second = bring_in(plane, source), bring_in(plane, source)
        assert [one.state for one in first if one.state != "imported"] == left
        assert second[-len(left) :] == first[-len(left) :]
        assert {one.state for one in second[: -len(left)]} == {"already there"}


def test_changed_source_adds_what_is_new_alone(plane: Plane, tmp_path: Path, laid_out: LaidOut) -> None:
    vault = laid_out(tmp_path / "vault", notes(3))
    bring_in(plane, vault)
    laid_out(vault, {"001.md": "Ann met Carl.", "100.md": "Ann met Dora."})
    assert states(bring_in(plane, vault)) == {
        "000.md": "already there", "001.md": "imported", "002.md": "already there", "100.md": "imported",
    }  # fmt: skip


def test_conversation_that_goes_on_adds_its_new_turns_alone(plane: Plane, tmp_path: Path, laid_out: LaidOut) -> None:
    export = laid_out(tmp_path / "export", {"conversations.json": [talk(1)]})
    bring_in(plane, export)
    more = [*talk(1)["chat_messages"], {"uuid": "m3", "sender": "human", "text": "And the images?"},
            {"uuid": "m4", "sender": "assistant", "text": "We decided to keep the images in S3."}]  # fmt: skip
    laid_out(export, {"conversations.json": [talk(1, name="Renamed", chat_messages=more)]})
    assert [(one.state, one.stored) for one in bring_in(plane, export)] == [("imported", 1)]
    texts = [thought.text for thought in plane.thoughts()]
    assert "Talk 1: Can you help Ann with shop 1?" in texts
    assert "We decided to keep the images in S3." in texts


def test_what_was_forgotten_stays_forgotten(plane: Plane, tmp_path: Path, laid_out: LaidOut) -> None:
    vault = laid_out(tmp_path / "vault", notes(1))
    bring_in(plane, vault)
    (thought,) = plane.thoughts()
    plane.forget(thought.id, agent="user")
    (vault / "000.md").touch()
    (outcome,) = bring_in(plane, vault)
    assert outcome.state == "already there"
    assert "forgotten" in outcome.reason
    assert plane.thoughts() == []


def test_restored_memory_is_filled_again(make_plane: MakePlane, home: Path, tmp_path: Path, laid_out: LaidOut) -> None:
    vault = laid_out(tmp_path / "vault", notes(2))
    first = make_plane()
    bring_in(first, vault)
    first.close()
    for file in home.glob("memory.db*"):
        file.unlink()
    assert set(states(bring_in(make_plane(), vault)).values()) == {"imported"}


# --- interruptions -----------------------------------------------------------------------------------------------


def test_import_goes_on_where_it_was(
    plane: Plane, tmp_path: Path, laid_out: LaidOut, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(driver, "BATCH", 2)
    vault = laid_out(tmp_path / "vault", notes(7))
    read: list[str] = []
    operations = markdown._operations

    def noted(files: Files, name: str, zone: Any) -> Any:
        read.append(name)
        return operations(files, name, zone)

    monkeypatch.setattr(markdown, "_operations", noted)
    with Files(vault) as files:
        source = Source(kind=markdown.KIND, files=files, zone=UTC)
        first: Any = take_in(plane, source, 7, lambda done, total: None)
        begun = [next(first) for _ in range(5)]  # the third batch is stored and not yet told
        first.close()
    assert [one.state for one in begun] == ["imported"] * 5
    read.clear()
    assert list(states(bring_in(plane, vault)).values()) == ["already there"] * 6 + ["imported"]
    assert read == ["004.md", "005.md", "006.md"]
    assert plane.status().thoughts == 7


def test_other_wishes_read_the_source_anew(plane: Plane, tmp_path: Path, laid_out: LaidOut) -> None:
    vault = laid_out(tmp_path / "vault", {"2020-01-01.md": "Old news.", "2026-01-01.md": "New news."})
    assert states(bring_in(plane, vault, since=datetime(2025, 1, 1, tzinfo=UTC))) == {
        "2020-01-01.md": "skipped", "2026-01-01.md": "imported",
    }  # fmt: skip
    assert states(bring_in(plane, vault)) == {"2020-01-01.md": "imported", "2026-01-01.md": "already there"}


def test_store_that_fails_ends_the_import_and_loses_nothing(
    plane: Plane, tmp_path: Path, laid_out: LaidOut, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(driver, "BATCH", 1)
    vault = laid_out(tmp_path / "vault", notes(3))
    calls = iter(range(10))
    merge = plane.merge

    def full(*arguments: Any, **options: Any) -> Any:
        if next(calls) == 1:
            raise StoreError("the disk is full")
        return merge(*arguments, **options)

    monkeypatch.setattr(plane, "merge", full)
    with pytest.raises(StoreError):
        bring_in(plane, vault)
    assert list(states(bring_in(plane, vault)).values()) == ["already there", "imported", "imported"]


@pytest.mark.skipif(os.name != "posix", reason="kill -9")
@pytest.mark.parametrize("plugins", ["[]", '["local"]'])
def test_import_that_is_killed_and_run_again_leaves_what_one_run_leaves(
    home: Path, tmp_path: Path, laid_out: LaidOut, sized: Sized, plugins: str
) -> None:
    export = laid_out(tmp_path / "export é", {"conversations.json": [talk(number) for number in range(sized(90, 600))]})
    environment = os.environ | {"MEMORY_PLANE_PLUGINS__ENABLED": plugins}

    def run(place: str, *arguments: str) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-m", "memory_plane", "--home", str(tmp_path / place), *arguments]
        return subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def done(place: str, *arguments: str) -> bytes:
        process = run(place, *arguments)
        output, errors = process.communicate(timeout=SECONDS)
        assert process.returncode == 0, errors
        return output

    done("whole", "import", str(export))
    for _ in range(sized(2, 12)):
        enough = size(tmp_path / "killed") + 250_000
        process = run("killed", "import", str(export))
        while process.poll() is None and size(tmp_path / "killed") < enough:
            pass  # what is waited for is that it has written so much
        process.send_signal(signal.SIGKILL)
        process.communicate(timeout=SECONDS)
    done("killed", "import", str(export))
    assert done("killed", "export") == done("whole", "export")
    assert json.loads(done("killed", "import", str(export), "--json")).keys() == {"kind", "items", "already_there"}


def size(folder: Path) -> int:
    return sum(path.stat().st_size for path in (folder / "memory.db", folder / "memory.db-wal") if path.exists())


# --- what is open ------------------------------------------------------------------------------------------------


def test_talk_that_is_over_opens_nothing_and_an_old_note_neither(
    make_plane: MakePlane, tmp_path: Path, laid_out: LaidOut
) -> None:
    plane = make_plane("local")
    bring_in(plane, laid_out(tmp_path / "export", {"conversations.json": [talk(1)]}))
    now = datetime.now(UTC)
    later = (now + timedelta(days=40)).date()
    vault = {
        "2021-01-01.md": "I promised Rob the logo.",
        "2021-01-02.md": f"I promised Ann the passport by {later}.",
        f"{now.date()}.md": "I promised Carl the slides.",
    }
    bring_in(plane, laid_out(tmp_path / "vault", vault))
    assert sorted(item.text for item in plane.items()) == ["passport", "slides"]
    assert plane.status().thoughts == 5


# --- what is told ------------------------------------------------------------------------------------------------


def test_each_item_is_told_with_the_reason(home: Path, tmp_path: Path, laid_out: LaidOut) -> None:
    broken = {"uuid": "c9", "name": "Broken", "chat_messages": "none"}
    talks = [talk(1), talk(2, name="", chat_messages=[]), broken, None]
    export = laid_out(tmp_path, {"conversations.json": talks})
    done = invoke("import", str(export), "--json")
    assert done.exit_code == 1
    told = json.loads(done.stdout)
    assert (told["kind"], told["imported"], told["skipped"], told["refused"]) == ("claude", 1, 1, 2)
    assert told["items"] == [
        {"item": "Talk 1", "state": "imported", "stored": 2, "reason": ""},
        {"item": "c2", "state": "skipped", "stored": 0, "reason": "nothing was said in it"},
        {"item": "Broken", "state": "refused", "stored": 0, "reason": "it does not look as claude has it"},
        {"item": "without a name", "state": "refused", "stored": 0, "reason": "it does not look as claude has it"},
    ]
    table = invoke("import", str(export))
    assert table.stdout.splitlines()[0].split() == ["ITEM", "STATE", "NEW", "WHY"]
    assert (table.exit_code, "claude: 1 already there, 1 skipped, 2 refused" in table.stderr) == (1, True)


def test_dry_run_shows_what_would_come_and_makes_nothing(home: Path, tmp_path: Path, laid_out: LaidOut) -> None:
    export = laid_out(tmp_path / "export", {"conversations.json": [talk(1), talk(2, name="", chat_messages=[])]})
    done = invoke("import", str(export), "--dry-run", "--json")
    assert done.exit_code == 0
    told = json.loads(done.stdout)
    assert [(one["state"], one["stored"]) for one in told["items"]] == [("new", 2), ("skipped", 0)]
    assert "Talk 1: Can you help Ann" in told["items"][0]["reason"]
    assert not (home / "memory.db").exists()


def test_preview_agrees_with_what_is_stored(plane: Plane, tmp_path: Path, laid_out: LaidOut) -> None:
    vault = laid_out(tmp_path / "vault", {**notes(3), "Ann.md": "---\nrole: CTO\n---\nLikes tea.", "Empty.md": ""})
    with Files(vault) as files:
        shown = list(preview(Source(kind=markdown.KIND, files=files, zone=UTC)))
    stored = bring_in(plane, vault)
    assert [(one.item, one.stored) for one in shown] == [(one.item, one.stored) for one in stored]


def test_dry_run_tells_what_is_there_already_as_the_import_does(home: Path, tmp_path: Path, laid_out: LaidOut) -> None:
    def told(*more: str) -> list[tuple[str, str, int]]:
        items = json.loads(invoke("import", str(vault), "--json", *more).stdout)["items"]
        return [(one["item"], one["state"], one["stored"]) for one in items]

    vault = laid_out(tmp_path / "vault", {**notes(2), "Ann.md": "---\nrole: CTO\n---\nLikes tea."})
    told()
    assert {state for _, state, _ in told("--dry-run")} == {"already there"}
    (vault / "Ann.md").write_text("---\nrole: CEO\n---\nLikes tea.")
    laid_out(vault, {"new.md": "Bob moved to Rome."})
    shown = told("--dry-run")
    assert {item: stored for item, _, stored in shown if stored} == {"Ann.md": 1, "new.md": 1}
    assert [(item, state.replace("imported", "new"), stored) for item, state, stored in told()] == shown


def test_project_leaves_out_the_others(home: Path, tmp_path: Path, laid_out: LaidOut) -> None:
    def session(folder: str) -> str:
        said = {"type": "user", "sessionId": folder, "cwd": f"/w/{folder}", "timestamp": "2026-11-20T09:00:00Z"}
        return json.dumps(said | {"message": {"role": "user", "content": "Fix the login please"}})

    projects = laid_out(tmp_path / "projects", {f"{name}/s.jsonl": session(name) for name in ("shop", "site")})
    told = json.loads(invoke("import", str(projects), "--project", "shop", "--json").stdout)
    assert [(one["item"], one["state"]) for one in told["items"]] == [("shop/s", "imported"), ("site/s", "skipped")]


def test_wishes_that_our_own_log_cannot_fulfil_are_refused(home: Path) -> None:
    (home / "memory.jsonl").touch()
    for wish in (["--dry-run"], ["--since", "3d"], ["--project", "shop"]):
        assert invoke("import", str(home / "memory.jsonl"), *wish).exit_code == 2
    assert invoke("import", "-", "--from", "claude").exit_code == 2


def test_source_that_is_not_there_is_named_whatever_is_wished_of_it(home: Path) -> None:
    for wish in ([], ["--dry-run"], ["--from", "claude"]):
        done = invoke("import", str(home / "nowhere"), *wish)
        assert (done.exit_code, "nowhere' does not exist" in done.stderr) == (1, True)


def test_secret_in_a_source_is_cut_before_it_is_stored(home: Path, tmp_path: Path, laid_out: LaidOut) -> None:
    secret = "the password=hunter2-Zx81! of the door"
    invoke("import", str(laid_out(tmp_path / "vault", {"Ann.md": f"---\ndoor: {secret}\n---\n{secret}"})))
    invoke("import", str(laid_out(tmp_path / "export", {"conversations.json": [talk(1, name=secret)]})))
    assert "hunter2" not in invoke("export").stdout
    assert invoke("export").stdout.count("of the door") == 3


def test_text_of_a_source_cannot_repaint_the_terminal(home: Path, tmp_path: Path, laid_out: LaidOut) -> None:
    done = invoke("import", str(laid_out(tmp_path, {"conversations.json": [talk(1, name="\x1b[2Jgone")]})))
    assert "\x1b" not in done.stdout
