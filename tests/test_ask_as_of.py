"""A question as of a time is answered as it was then: nothing counts that was told later."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random
from typing import Any

import pytest
from starlette.testclient import TestClient

from memory_plane import Plane
from memory_plane.ask import ask
from memory_plane.errors import Refused
from memory_plane.surfaces.api import create_app
from memory_plane.surfaces.mcp_tools import CORE, by_name
from memory_plane.surfaces.spec import check
from memory_plane.types import Answer

MakePlane = Callable[..., Plane]

BEGUN = datetime(2026, 3, 2, 9, tzinfo=UTC)
DAY = timedelta(days=1)
SAID = (
    "Alice works at Acme.",
    "Alice left Acme and joined Initech.",
    "Alice joined Globex in January 2026.",
    "Alice no longer works at Initech.",
    "Alice is the CTO of Acme.",
    "Bob works at Acme.",
    "Bob moved to Porto.",
    "Bob lives in Oslo.",
    "Bob used to work at Initech.",
    "Alice uses Kafka.",
    "Alice doesn't use Kafka.",
    "Bob uses Kafka.",
    "Alice manages Bob.",
    "Comet is blocked by the security review.",
    "Bob is working on Comet.",
    "We chose Redis for Comet because it is small.",
    "Bob's sister Mara feeds the cat.",
    "Nobody feeds the cat.",
    "Bob reviewed the budget.",
    "I promised Dana I'd send the invoice by Friday.",
    "Bob promised Alice to review the budget.",
)
QUESTIONS = (
    "Where does Alice work?",
    "Who works at Acme?",
    "Does Alice work at Acme?",
    "Who used to work at Initech?",
    "When did Alice join Globex?",
    "Where does Bob live?",
    "Who uses Kafka?",
    "Does Alice use Kafka?",
    "What is Alice's role?",
    "What is blocking Comet?",
    "How is Alice connected to Bob?",
    "How many people work at Acme?",
    "List all people",
    "Who is Alice?",
    "What do you know about Comet?",
    "What is open?",
    "What is overdue?",
    "What is open for muse?",
    "What is open for grok?",
    "What did I promise Dana?",
    "What changed since Monday?",
    "What is new about Alice?",
    "What did notes do last week?",
    "What happened to Comet?",
    "What was decided?",
    "What is the website's deploy day?",
    "Where does Carol work?",
    "Who is working on Comet?",
    "Why is Comet blocked?",
    "What did we decide about Redis?",
    "Did Bob review the budget?",
    "Where did Bob move?",
    "Who feeds the cat?",
    "What is blocked?",
)

Written = tuple[str, dict[str, Any]]


def history(random: Random, length: int) -> list[Written]:
    """Return operations in the order of their times, each as the name of its method and what that is given."""
    written: list[Written] = []
    items: list[str] = []
    for number in range(length):
        stamp: dict[str, Any] = {"created_at": BEGUN + number * DAY, "id": f"00000000-0000-4000-8000-{number:012}"}
        match random.randrange(8):
            case 0 if items:
                status = random.choice(("done", "dropped"))
                written.append(("resolve", {"item": random.choice(items), "status": status, "agent": "notes", **stamp}))
            case 1 if items:
                to = random.choice(("muse", "grok"))
                written.append(("assign", {"item": random.choice(items), "to": to, "agent": "notes", **stamp}))
            case 2:
                fact = {"subject": "website", "key": "deploy_day", "value": random.choice(("Thursday", "Friday"))}
                written.append(("fact", {**fact, "agent": "muse", **stamp}))
            case 3:
                items.append(stamp["id"])
                question = {"text": "Which region for Comet?", "kind": "question", "to": "muse"}
                written.append(("post", {**question, "agent": "grok", **stamp}))
            case _:
                text = random.choice(SAID)
                items += [stamp["id"]] if "promised" in text else []
                written.append(("post", {"text": text, "origin": "user", "agent": "notes", **stamp}))
    return written


def write(plane: Plane, one: Written) -> None:
    """Write an operation."""
    assert getattr(plane, one[0])(**one[1]).state == "stored", one


def answers(plane: Plane, at: datetime, as_of: datetime | None = None) -> dict[str, Answer]:
    """Ask every question at a time, or as of one."""
    with plane.database.reading() as connection:
        return {question: ask(connection, question, at, UTC, as_of) for question in QUESTIONS}


@pytest.mark.parametrize("seed", [20, 21])
def test_as_of_a_time_is_answered_as_by_a_memory_that_got_no_more(
    make_plane: MakePlane, tmp_path: Path, seed: int
) -> None:
    later, plane = (make_plane("local", timezone="UTC", home=tmp_path / name) for name in ("later", "then"))
    written = history(Random(seed), 16)
    for one in written:
        write(later, one)
    for one in written:
        write(plane, one)
        moment = one[1]["created_at"] + DAY / 2
        then, now = answers(plane, moment), answers(later, BEGUN + 400 * DAY, as_of=moment)
        for question in QUESTIONS:
            assert now[question] == then[question], (seed, question, moment)


def test_ends_and_resolutions_that_were_told_later_do_not_count(make_plane: MakePlane) -> None:
    plane = make_plane("local", timezone="UTC")
    plane.post("Alice works at Acme.", agent="notes", origin="user", created_at=BEGUN)
    item = plane.post("Which region?", agent="grok", kind="question", to="muse", created_at=BEGUN).id
    plane.post("Alice left Acme on 5 March 2026.", agent="notes", origin="user", created_at=BEGUN + 30 * DAY)
    plane.resolve(item, agent="muse", status="answered", created_at=BEGUN + 30 * DAY)
    plane.heartbeat(agent="grok", focus="Regions", created_at=BEGUN + 30 * DAY)
    then = BEGUN + 10 * DAY
    assert plane.ask("Where does Alice work?", as_of=then).text == "Acme"
    assert plane.ask("Does Alice work at Acme?", as_of=then).text == "Yes"
    assert "Which region?" in plane.ask("What is open for muse as of 2026-03-10?").text
    assert not plane.ask("What is grok working on?", as_of=then).known
    assert not plane.ask("Where does Alice work?").known
    assert not plane.ask("What is open for muse?").findings


def test_day_is_taken_as_its_end_by_every_surface(make_plane: MakePlane) -> None:
    plane = make_plane("local", timezone="Pacific/Auckland")
    plane.post("Alice works at Acme.", agent="notes", created_at=datetime(2026, 11, 25, 10, 59, tzinfo=UTC))
    plane.post("Bob works at Acme.", agent="notes", created_at=datetime(2026, 11, 25, 11, 1, tzinfo=UTC))
    app = create_app(plane, token="t" * 43, port=8788)
    spec = by_name(CORE)["memory_ask"]
    with TestClient(app, base_url="http://127.0.0.1:8788", headers={"authorization": "Bearer " + "t" * 43}) as hub:
        for day, expected in (("2026-11-24", "I don't know"), ("2026-11-25", "Alice"), ("2026-11-26", "Alice, Bob")):
            given = {"question": "Who works at Acme?", "as_of": day}
            assert plane.ask(**given).text == expected
            assert hub.get("/api/ask", params=given).json()["text"] == expected
            assert spec.call(plane, "grok", check(spec, given))["answer"] == expected
    assert [hit.snippet for hit in plane.recall("Acme", since="2026-11-26").hits] == ["Bob works at Acme."]
    assert len(plane.graph(about="Acme", as_of="2026-11-25").edges) == 1
    with pytest.raises(Refused, match="as_of: '2026-02-30' is no day"):
        plane.ask("Who works at Acme?", as_of="2026-02-30")
