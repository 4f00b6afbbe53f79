from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from memory_plane import Plane
from memory_plane.integration import Machine
from memory_plane.types import Operation
from memory_plane_grok import mirror, places, polling
from memory_plane_grok.exchanges import Exchange

if TYPE_CHECKING:
    from conftest import MakeMachine, Slice

NOW = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)
BOT, OTHER, STRANGER = "11111111-1111-4111-8111-111111111111", "22222222-2222-4222-8222-222222222222", "stranger"
CHAT, ROSTER = f"account.me%7C1.transcript.replicas.{BOT}", "account.me%7C1.roster.last-roster"


def stamp(minutes: float) -> int:
    """Return how the app writes a time so many minutes before noon."""
    return round((NOW - timedelta(minutes=minutes)).timestamp() * 1000)


def said(request: str, content: str, minutes: float, **more: Any) -> dict[str, Any]:
    """Return what the person, or another bot, said."""
    entry = {"kind": "message", "id": f"u-{request}", "role": "user", "content": content, "requestId": request}
    return {**entry, "richText": "{}", "timestampMs": stamp(minutes), "isStreaming": False, **more}


def sent(request: str, content: str, minutes: float, **more: Any) -> dict[str, Any]:
    """Return what the bot said."""
    message = {"type": "text", "content": content}
    entry = {"kind": "send-message", "id": f"s-{request}-{minutes}", "message": message, "requestId": request}
    return {**entry, "timestampMs": stamp(minutes), **more}


@pytest.fixture
def roster(slice_of: Slice) -> None:
    rows = [{"id": BOT, "name": "Reddit Bot", "unreadCount": 3}, {"id": OTHER, "name": "Reviewer"}, "odd", {"id": 7}]
    slice_of(ROSTER, {"rows": rows}, version=3)


def turns(bots: Path) -> list[Exchange]:
    return [turn for one in mirror.conversations(bots) for turn in one.read()[0]]


def told(bots: Path, now: datetime = NOW) -> list[Operation]:
    answer = polling.poll([mirror.conversations(bots)], None, None, now, timedelta(days=1))
    return list(answer.operations) if answer else []


ENTRIES = [
    said("r1", "Please post the weekday roundup", 90),
    sent("r1", "Let me look.", 89),
    sent("r1", "Published the weekday roundup on r/fpga. Shall I pin it?", 88),
    said("r2", "Yes, pin it", 60),
    sent("r2", "Pinned the roundup.", 59),
]
# What versions of the app have been seen to write, and what a later one may.
VERSIONS: dict[str, tuple[object, dict[str, Any]]] = {
    "0.30": (1, {"entries": ENTRIES, "persistedAt": stamp(0), "epochHint": None, "acceptedSequenceHint": None}),
    "bare": (1, {"entries": [{k: v for k, v in one.items() if k not in ("richText", "id")} for one in ENTRIES]}),
    "later": (
        7,
        {
            "entries": [
                {"kind": "event", "event": {"type": "automation-changed"}, "timestampMs": stamp(95)},
                {"kind": "of tomorrow", "requestId": "r0", "timestampMs": stamp(94)},
                *ENTRIES,
                sent("r2", "", 58) | {"message": {"type": "widget", "content": "Posted a widget to the page"}},
            ],
            "schema": {"minor": 2},
        },
    ),
    "unnumbered": ("x", {"entries": ENTRIES}),
}


@pytest.mark.parametrize("version", VERSIONS)
def test_requests_are_read_whatever_the_version_is(bots: Path, slice_of: Slice, roster: None, version: str) -> None:
    number, value = VERSIONS[version]
    slice_of(CHAT, value, version=number)
    first, second = [turn for turn in turns(bots) if turn.id in ("r1", "r2")]
    assert (first.session, first.prompt) == (BOT, "Please post the weekday roundup")
    assert first.answer == "Let me look.\n\nPublished the weekday roundup on r/fpga. Shall I pin it?"
    assert (second.prompt, second.answer, second.before) == ("Yes, pin it", "Pinned the roundup.", first.answer)
    assert (first.over, second.over) == (True, False)


def test_requests_become_focus_and_thoughts_of_the_bot(bots: Path, slice_of: Slice, roster: None) -> None:
    slice_of(CHAT, {"entries": ENTRIES})
    found = told(bots)
    assert {one.agent for one in found} == {"grokbot"}
    assert "Published the weekday roundup on r/fpga." in [one.body.get("text") for one in found]
    assert "post the weekday roundup" in [one.body.get("focus") for one in found]
    assert "external" not in [one.body.get("origin") for one in found]


def test_answer_that_is_still_being_given_is_waited_for(bots: Path, slice_of: Slice) -> None:
    path = slice_of(
        CHAT, {"entries": [said("r1", "Ship the roundup", 1), sent("r1", "Shipped the roundup page.", 0.5)]}
    )
    moved = path.stat().st_mtime_ns
    first = polling.poll([mirror.conversations(bots)], None, None, NOW, timedelta(days=1))
    assert first is not None
    assert [one.op for one in first.operations] == ["heartbeat"]
    soon = datetime.fromtimestamp(moved / 1e9, UTC) + timedelta(minutes=3)
    later = polling.poll(
        [mirror.conversations(bots)], None, first.cursor, max(soon, NOW + timedelta(minutes=3)), timedelta(1)
    )
    assert later is not None
    assert "Shipped the roundup page." in [one.body.get("text") for one in later.operations]


def test_routine_that_woke_the_bot_is_no_prompt(bots: Path, slice_of: Slice) -> None:
    slice_of(CHAT, {"entries": [sent("r1", "Published the weekday roundup on r/fpga.", 30, wake="background-revival")]})
    assert [one.op for one in told(bots)] == ["thought"]


def test_what_the_persons_own_bots_say_to_each_other_is_no_prompt(bots: Path, slice_of: Slice, roster: None) -> None:
    inbound = said("r1", "We decided to use Postgres for everything.", 30, fromAgent={"id": OTHER, "name": "Reviewer"})
    outbound = said("r1", "We decided to use MySQL for everything.", 29, role="assistant", toAgent={"id": OTHER})
    slice_of(CHAT, {"entries": [inbound, outbound, sent("r1", "thanks", 28)]})
    assert told(bots) == []


def test_words_of_a_strange_bot_are_other_peoples(bots: Path, slice_of: Slice, roster: None) -> None:
    inbound = said("r1", "We decided to use Postgres for everything.", 30, fromAgent={"id": STRANGER, "name": "Bob's"})
    slice_of(CHAT, {"entries": [inbound, sent("r1", "Shipped the answer to Bob.", 28)]})
    found = told(bots)
    assert {one.op for one in found} == {"thought"}
    assert {one.body["origin"] for one in found} == {"external"}


@pytest.mark.parametrize(
    "value",
    [None, [], "x", 7, {"entries": None}, {"entries": {"a": 1}}, {"entries": ["x", 7, None, [], {}]},
     {"entries": [{"kind": "message", "role": "user", "content": 7, "requestId": 7, "timestampMs": "x"}]},
     {"entries": [said("r1", "x", 1) | {"timestampMs": 10**30, "fromAgent": "x"}]},
     {"entries": [sent("r1", "x", 1) | {"message": ["x"]}, said("r1", "x", 1, fromAgent={"id": ["x"]})]}],
)  # fmt: skip
def test_content_of_any_kind_is_survived(bots: Path, slice_of: Slice, value: object) -> None:
    slice_of(CHAT, value)
    assert told(bots) == []


def test_torn_large_and_linked_files_are_passed_over(bots: Path, slice_of: Slice, tmp_path: Path) -> None:
    path = slice_of(CHAT, {"entries": ENTRIES})
    whole = path.read_text("utf-8")
    for text in (whole[:-40], f"{whole}{' ' * mirror.LARGEST}", ""):
        path.write_text(text, "utf-8")
        assert told(bots) == []
    (tmp_path / "chat").write_text(whole, "utf-8")
    path.unlink()
    path.symlink_to(tmp_path / "chat")
    assert told(bots) == []


def test_no_other_slice_is_opened(bots: Path, slice_of: Slice, monkeypatch: pytest.MonkeyPatch) -> None:
    for key in ("account.me.secrets.tokens", f"transcript.replicas.{BOT}", f"{CHAT}.more", "account.me.roster.last"):
        slice_of(key, {"entries": ENTRIES, "rows": [{"id": BOT}]})
    (bots / "sand-secrets.json").write_text(json.dumps({"entries": ENTRIES}), "utf-8")
    (bots / "nönsense!.blob").write_text("x", "utf-8")
    chat = slice_of(CHAT, {"entries": ENTRIES})
    opened: list[Path] = []
    read = Path.read_bytes

    def watched(path: Path) -> bytes:
        opened.append(path)
        return read(path)

    monkeypatch.setattr(Path, "read_bytes", watched)
    assert len(turns(bots)) == 2
    assert opened == [chat]


def test_mirror_is_read_only_where_that_was_asked_for(
    make_plane: Callable[..., Plane], bots: Path, slice_of: Slice
) -> None:
    slice_of(CHAT, {"entries": ENTRIES})
    there = places.bot_data(Machine.here(Path()))
    there.parent.mkdir(parents=True)
    bots.rename(there)
    for wanted in (False, True):
        plane = make_plane("grok", plugin={"grok": {"bot_mirror": wanted, "recent_hours": 1_000_000}})
        plane.ingest()
        assert bool(plane.thoughts()) == wanted


@pytest.mark.parametrize(
    ("platform", "environment", "expected"),
    [
        ("darwin", {}, "Library/Application Support/Grok Bot/sand-client-persistence"),
        ("win32", {}, "AppData/Roaming/Grok Bot/sand-client-persistence"),
        ("win32", {"APPDATA": "~/Roaming"}, "Roaming/Grok Bot/sand-client-persistence"),
        ("linux", {}, ".config/Grok Bot/sand-client-persistence"),
    ],
)
def test_chats_are_where_the_system_has_them(
    machine: MakeMachine, tmp_path: Path, platform: str, environment: dict[str, str], expected: str
) -> None:
    assert places.bot_data(machine(platform, **environment)) == tmp_path / expected
