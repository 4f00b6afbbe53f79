"""No door lets a secret onto the disk: whatever a text comes in by, no file of the home holds it afterwards."""

from __future__ import annotations

import json
import re
import runpy
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from memory_plane import Plane, Plugin, hookimpl
from memory_plane.errors import HubUnreachable
from memory_plane.operations import make_operation
from memory_plane.outbox import Outbox
from memory_plane.types import AgentInfo, Event, Ingested, Operation, Poll, Receipt

MakePlane = Callable[..., Plane]
Door = Callable[[Plane, str], object]

BENCHMARK = runpy.run_path(str(Path(__file__).parent / "benchmarks" / "redaction.py"))
CASES: Any = json.loads(BENCHMARK["CASES"].read_text("utf-8"))
KINDS = (
    "private-key", "anthropic-key", "github-token", "aws-secret-key", "jwt", "card", "iban", "password", "url-password",
    "cookie", "slack-token", "one-time-code",
)  # fmt: skip
TEXTS = {
    kind: BENCHMARK["secrets"](next(case["text"] for case in CASES["secrets"] if case["rule"] == kind))
    for kind in KINDS
}
AT = datetime(2026, 1, 5, 9, tzinfo=UTC)
ID = "0b5c6b0e-7d53-4c7e-9f2b-2f6f6f0e9a11"


def needles(kind: str) -> list[bytes]:
    """Return what must not be found of the secrets of one kind: their longest parts that no format writes otherwise."""
    return [max(re.split(r"[\s\"\\/]", secret), key=len).encode() for secret in TEXTS[kind][2]]


def leaks(home: Path) -> list[tuple[str, str]]:
    """Read every byte below the home; return (file, kind of secret)."""
    files = {path: path.read_bytes() for path in home.rglob("*") if path.is_file()}
    return [
        (path.name, kind)
        for path, content in files.items()
        for kind in KINDS
        for needle in needles(kind)
        if needle in content or needle.lower() in content.lower()
    ]


class AgentPlugin(Plugin):
    """Turns events of its agent into thoughts, and leaves what it cannot read."""

    agents = (AgentInfo(id="reporter"),)

    @hookimpl
    def ingest(self, cue: Poll | Event) -> Ingested | None:
        if isinstance(cue, Poll):
            return None
        if cue.name == "broken":
            raise ValueError(f"cannot read {cue.payload}")
        thoughts = [str(text) for text in cue.payload.values()]
        return Ingested(
            operations=tuple(
                Operation(id="", op="thought", agent="reporter", created_at=AT, body={"text": text})
                for text in thoughts
            )
        )


def raw(op: str, **body: Any) -> Operation:
    """An operation that no edge of ours has looked at."""
    return Operation(id=ID, op=op, agent="muse", created_at=AT, body=body)


def refuse(batch: Sequence[Operation]) -> list[Receipt]:
    return [Receipt(id=one.id, state="refused", detail="no") for one in batch]


def post(plane: Plane, text: str) -> None:
    plane.post(text, agent="muse", project=text[:500], source=text[:500], thread=text[:500], to=text[:500])


def fact(plane: Plane, text: str) -> None:
    plane.fact("Ann", "note", text, agent="muse", source=text[:500])
    plane.fact(text[:500], "note", "x", agent="muse")


def remarks(plane: Plane, text: str) -> None:
    item = plane.post("Who has the key?", agent="muse", kind="question").id
    plane.assign(item, text[:500], agent="muse")
    plane.resolve(item, agent="muse", note=text)
    plane.retract(item, agent="muse", reason=text)


def heartbeat(plane: Plane, text: str) -> None:
    plane.heartbeat(agent="muse", focus=text[:500], project=text[:500], status=text[:500])


def event(plane: Plane, text: str) -> None:
    plane.spool(Event(agent="reporter", name="said", payload={"prompt": text, "deep": [{"raw": json.dumps([text])}]}))
    assert leaks(plane.home) == []
    plane.ingest()


def broken_event(plane: Plane, text: str) -> None:
    plane.spool(Event(agent="reporter", name="broken", payload={"prompt": text}))
    for _ in range(6):
        plane.ingest()
    assert list((plane.home / "spool").glob("*.bad"))


def from_afar(plane: Plane, text: str) -> None:
    plane.apply_all([raw("thought", text=text, kind="thought", origin="agent")])


def unknown_op(plane: Plane, text: str) -> None:
    plane.apply_all([raw("dream", text=text, deep={"list": [text]})])


def refused_from_afar(plane: Plane, text: str) -> None:
    plane.merge([{"id": ID, "op": "thought", "agent": text[:500], "created_at": text[:500], "body": {text[:90]: text}}])


def queue(plane: Plane, text: str) -> None:
    Outbox(plane.home).append(make_operation("thought", {"text": text}, agent="muse"))


def dead_letter(plane: Plane, text: str) -> None:
    outbox = Outbox(plane.home)
    outbox.append(make_operation("thought", {"text": text}, agent="muse"))
    outbox.flush(refuse)
    assert outbox.dead()


def unreadable_line(plane: Plane, text: str) -> None:
    path = plane.home / "outbox.jsonl"
    path.write_text(json.dumps({"op": "thought", "text": text}) + "\n" + json.dumps(text)[:-1] + "\n", "utf-8")
    outbox = Outbox(plane.home)
    outbox.flush(refuse)
    assert outbox.dead()


def hub_error(plane: Plane, text: str) -> None:
    def fail(batch: Sequence[Operation]) -> list[Receipt]:
        raise HubUnreachable("no hub")

    outbox = Outbox(plane.home, patience=0)
    outbox.append(make_operation("thought", {"text": text}, agent="muse"))
    for _ in range(3):
        outbox.flush(fail)


DOORS: Mapping[str, Door] = {
    door.__name__: door
    for door in (
        post, fact, remarks, heartbeat, event, broken_event, from_afar, unknown_op, refused_from_afar, queue,
        dead_letter, unreadable_line, hub_error,
    )
}  # fmt: skip


def test_secrets_are_found_where_nobody_cuts_them(home: Path) -> None:
    for kind in KINDS:
        (home / "plain.txt").write_text(TEXTS[kind][0], "utf-8")
        (home / "json.txt").write_text(json.dumps({"a": TEXTS[kind][0]}), "utf-8")
        assert {file for file, found in leaks(home) if found == kind} == {"plain.txt", "json.txt"}


@pytest.mark.parametrize("door", DOORS)
def test_secret_that_comes_in_by_this_door_is_in_no_file(make_plane: MakePlane, home: Path, door: str) -> None:
    plane = make_plane(AgentPlugin(), strict=False)
    for kind in KINDS:
        DOORS[door](plane, TEXTS[kind][0])
    plane.render()
    (home / "export.jsonl").write_text("\n".join(plane.export()), "utf-8")
    assert leaks(home) == []
