"""The Python API from one end to the other: what was written is there, what was taken back is not."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Sequence
from contextlib import closing
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from memory_plane import Plane, Plugin, hookimpl
from memory_plane.errors import Refused, StoreError
from memory_plane.operations import make_operation, parse_operation
from memory_plane.outbox import Outbox
from memory_plane.types import (
    AgentContext,
    Attention,
    Candidate,
    Classification,
    Extraction,
    Item,
    Link,
    Memory,
    Mention,
    Node,
    Operation,
    Resolution,
    Routing,
    new_node_id,
)

MakePlane = Callable[..., Plane]
MakeOperation = Callable[..., Operation]

UNKNOWN = "0b5c6b0e-7d53-4c7e-9f2b-2f6f6f0e9a11"
AT = datetime(2026, 3, 14, 9, tzinfo=UTC)
HOUR = timedelta(hours=1)


class NamesPlugin(Plugin):
    """Takes every capitalised word for a person, joins neighbours by KNOWS, and tells grok of it."""

    @hookimpl
    def extract(self, memory: Memory) -> Extraction:
        mentions, start = [], 0
        for word in memory.text.split():
            start = memory.text.index(word, start)
            if word.istitle() and word.isalpha():
                mentions.append(Mention(text=word, type="Person", start=start, end=start + len(word), confidence=1.0))
        owes = Item(kind="commitment", owner=memory.agent, to="grok", object=memory.text)
        return Extraction(mentions=tuple(mentions), items=(owes,) if "promise" in memory.text else ())

    @hookimpl
    def classify(self, memory: Memory, found: Extraction, candidates: Sequence[Candidate]) -> Classification:
        known = {one.mention: one.node.id for one in candidates}
        ids = [known.get(one, new_node_id(memory.id, one)) for one in found.mentions]
        resolutions = [
            Resolution(mention=one, node=id, probability=1.0) for one, id in zip(found.mentions, ids, strict=True)
        ]
        links = [Link(source=a, relation="KNOWS", target=b, probability=0.9) for a, b in pairwise(ids)]
        return Classification(resolutions=tuple(resolutions), links=tuple(links))

    @hookimpl
    def route(self, memory: Memory, nodes: Sequence[Node], agents: Sequence[AgentContext]) -> Routing:
        heard = [Attention(agent=one.id, score=0.9, reason="names") for one in agents if one.id == "grok"]
        return Routing(attention=tuple(heard) if nodes else ())


@pytest.fixture
def named(make_plane: MakePlane) -> Plane:
    """A plane that finds persons, with grok among the agents."""
    plane = make_plane(NamesPlugin())
    plane.heartbeat(agent="grok", focus="kites", created_at=AT)
    return plane


def snippets(plane: Plane, query: str) -> list[str]:
    return [hit.snippet for hit in plane.recall(query, limit=50).hits]


def everywhere(plane: Plane) -> str:
    """All that pages and answers show now, in one text."""
    pages = "".join(plane.page(name) for name in ("PULSE.md", "SHARED_MEMORY.md", "brief/grok.md"))
    replica = (plane.home / "local-cache.json").read_text("utf-8") if plane.render() is not None else ""
    answers = [plane.pulse(), plane.items(), plane.facts(), plane.thoughts(), plane.graph(), plane.graph(agent="grok")]
    return pages + replica + repr(answers)


# --- opening -----------------------------------------------------------------------------------------------------


def test_plane_makes_its_home_and_finds_everything_again(home: Path) -> None:
    with Plane(home=home / "new") as plane:
        receipt = plane.post("Ann likes tea", agent="muse")
    with Plane(home=str(home / "new")) as plane:
        assert snippets(plane, "tea") == ["Ann likes tea"]
        assert plane.status().home == home / "new"
        assert plane.get(receipt.id) is not None


def test_pages_that_are_due_are_there_after_closing(home: Path) -> None:
    with Plane(home=home) as plane:
        plane.post("Ann likes tea", agent="muse")
    assert "Ann likes tea" in (home / "PULSE.md").read_text("utf-8")


def test_reading_a_memory_makes_no_pages(home: Path) -> None:
    with Plane(home=home) as plane:
        plane.recall("tea")
    assert not (home / "PULSE.md").exists()


def test_two_planes_on_one_memory_see_each_other(make_plane: MakePlane) -> None:
    one, other = make_plane(), make_plane()
    receipt = one.post("Ann likes tea", agent="muse")
    assert snippets(other, "tea") == ["Ann likes tea"]
    assert other.post("Bob likes milk", agent="grok").state == "stored"
    assert one.retract(receipt.id, agent="muse").state == "stored"
    assert snippets(other, "tea") == []


# --- receipts ----------------------------------------------------------------------------------------------------


def test_everything_that_can_be_written_has_a_receipt(plane: Plane) -> None:
    question = plane.post("Who likes tea?", agent="muse", kind="question").id
    receipts = [
        plane.post("Ann likes tea", agent="muse"),
        plane.fact("Ann", "city", "Rome", agent="muse"),
        plane.heartbeat(agent="muse", focus="tea"),
        plane.assign(question, "grok", agent="muse"),
        plane.snooze(question, AT, agent="muse"),
        plane.pin(question, agent="muse"),
        plane.resolve(question, agent="grok", status="answered", note="Ann"),
        plane.release(question, agent="muse"),
        plane.retract(question, agent="muse", reason="over"),
    ]
    assert [(receipt.state, receipt.detail) for receipt in receipts] == [("stored", "")] * 9
    for receipt in receipts:
        record = plane.get(receipt.id)
        assert record is not None
        assert record["id"] == receipt.id


@pytest.mark.parametrize(
    ("write", "detail"),
    [
        (lambda plane: plane.post("", agent="muse"), "text: must not be empty"),
        (lambda plane: plane.post("a", agent="no good"), "agent: is no agent id"),
        (lambda plane: plane.post(None, agent=None), "agent: "),
        (lambda plane: plane.post("a", agent="muse", due_at="soon"), "due_at: "),
        (lambda plane: plane.post("a", agent="muse", created_at=datetime(2026, 3, 14)), "created_at: has no time zone"),  # noqa: DTZ001
        (lambda plane: plane.post("a", agent="muse", id="x"), "id: is no id"),
        (lambda plane: plane.fact("", "a", "b", agent="muse"), "subject: must not be empty"),
        (lambda plane: plane.fact("a", "a", "b", agent="muse", confidence=2), "confidence: "),
        (lambda plane: plane.heartbeat(agent="muse", focus=""), "focus: must not be empty"),
        (lambda plane: plane.resolve("x", agent="muse"), "item: is no id"),
        (lambda plane: plane.snooze(UNKNOWN, "later", agent="muse"), "until: "),
        (lambda plane: plane.resolve(UNKNOWN, agent="muse"), f"item: nothing here has the id {UNKNOWN}"),
        (lambda plane: plane.assign(UNKNOWN, "a", agent="muse"), f"item: nothing here has the id {UNKNOWN}"),
        (lambda plane: plane.snooze(UNKNOWN, AT, agent="muse"), f"item: nothing here has the id {UNKNOWN}"),
        (lambda plane: plane.pin(UNKNOWN, agent="muse"), f"target: nothing here has the id {UNKNOWN}"),
        (lambda plane: plane.retract(UNKNOWN, agent="muse"), f"target: nothing here has the id {UNKNOWN}"),
        (lambda plane: plane.release(UNKNOWN, agent="muse"), f"target: nothing here has the id {UNKNOWN}"),
    ],
)
def test_bad_input_is_refused_and_never_raised(plane: Plane, write: Callable[[Plane], Any], detail: str) -> None:
    receipt = write(plane)
    assert receipt.state == "refused"
    assert receipt.detail.startswith(detail)
    assert plane.status().operations == 0


def test_operation_about_the_wrong_thing_is_refused(plane: Plane) -> None:
    thought = plane.post("Ann likes tea", agent="muse").id
    beat = plane.heartbeat(agent="muse", focus="tea").id
    assert plane.resolve(thought, agent="muse").detail == f"item: {thought} is no question, commitment or handoff"
    told = f"target: {beat} is a 'heartbeat' operation; give the id of a thought or fact"
    assert plane.retract(beat, agent="muse").detail == told


def test_same_operation_twice_is_stored_once(plane: Plane) -> None:
    first = plane.post("Ann likes tea", agent="muse", created_at=AT)
    again = plane.post("Ann likes tea", agent="muse", created_at=AT)
    assert (first.state, again.state, again.id) == ("stored", "duplicate", first.id)
    assert len(plane.thoughts()) == 1
    assert plane.status().operations == 1


def test_same_words_at_another_time_are_another_thought(plane: Plane) -> None:
    plane.post("Ann likes tea", agent="muse")
    plane.post("Ann likes tea", agent="muse")
    assert len(plane.thoughts()) == 2


def test_id_with_other_content_is_refused(plane: Plane) -> None:
    plane.post("Ann likes tea", agent="muse", id=UNKNOWN, created_at=AT)
    assert plane.post("Ann likes tea", agent="muse", id=UNKNOWN, created_at=AT).state == "duplicate"
    receipt = plane.post("Ann likes milk", agent="muse", id=UNKNOWN, created_at=AT)
    assert (receipt.state, receipt.id) == ("refused", UNKNOWN)
    assert receipt.detail == "id: is already the id of another operation; give a new one or none"
    assert snippets(plane, "Ann") == ["Ann likes tea"]


def test_batch_has_one_receipt_an_operation_in_order(plane: Plane, operation: MakeOperation) -> None:
    first, second = operation(), operation()
    receipts = plane.apply_all([first, second, first])
    assert [(receipt.id, receipt.state) for receipt in receipts] == [
        (first.id, "stored"), (second.id, "stored"), (first.id, "duplicate"),
    ]  # fmt: skip
    assert plane.apply_all([]) == []


def test_secrets_are_cut_before_they_are_stored(plane: Plane) -> None:
    plane.post("my password=hunter2-Zx81!", agent="muse")
    plane.close()
    for path in plane.home.rglob("*"):
        assert not path.is_file() or b"hunter2" not in path.read_bytes()


def test_locked_store_refuses_a_write_and_answers_a_read(make_plane: MakePlane) -> None:
    plane = make_plane(timeout=0.05)
    plane.post("Ann likes tea", agent="muse")
    with closing(sqlite3.connect(plane.home / "memory.db", isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        receipt = plane.post("Bob likes milk", agent="muse")
        assert snippets(plane, "tea") == ["Ann likes tea"]
    assert receipt.state == "refused"
    assert "another process has held it locked" in receipt.detail
    assert plane.post("Bob likes milk", agent="muse").state == "stored"


def test_unreadable_store_raises_one_clear_error(plane: Plane) -> None:
    with plane.database.writing() as connection:
        connection.exec_driver_sql("DROP TABLE items")
    with pytest.raises(StoreError, match="it has no tables yet"):
        plane.items()


# --- clocks ------------------------------------------------------------------------------------------------------


def test_time_far_ahead_counts_from_now(plane: Plane) -> None:
    ahead = datetime.now(UTC) + 24 * HOUR
    wrong = plane.fact("Ann", "city", "Rome", agent="muse", created_at=ahead)
    assert wrong.state == "stored"
    assert wrong.detail == "created_at is ahead of this machine's clock; it counts from now until then"
    assert plane.fact("Ann", "city", "Oslo", agent="grok").detail == ""
    assert [fact.value for fact in plane.facts()] == ["Oslo"]
    record = plane.get(wrong.id)
    assert record is not None
    assert datetime.fromisoformat(record["created_at"]) == ahead
    (line,) = [json.loads(line) for line in plane.export() if wrong.id in line]
    assert datetime.fromisoformat(line["effective_at"]) < ahead - HOUR


def test_time_a_little_ahead_is_believed(plane: Plane) -> None:
    soon = datetime.now(UTC) + timedelta(minutes=4)
    assert plane.fact("Ann", "city", "Rome", agent="muse", created_at=soon).detail == ""
    plane.fact("Ann", "city", "Oslo", agent="grok")
    assert [fact.value for fact in plane.facts()] == ["Rome"]
    assert all("effective_at" not in line for line in plane.export())


def test_heartbeat_of_a_wrong_clock_does_not_stay_for_ever(plane: Plane) -> None:
    plane.heartbeat(agent="muse", focus="the future", created_at=datetime.now(UTC) + 24 * HOUR)
    plane.heartbeat(agent="muse", focus="now")
    assert [beat.focus for beat in plane.pulse().heartbeats] == ["now"]


# --- items -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["question", "commitment", "handoff"])
@pytest.mark.parametrize("status", ["done", "dropped", "answered", "acknowledged"])
def test_item_is_open_until_it_is_resolved(plane: Plane, kind: str, status: str) -> None:
    receipt = plane.post("Bring the tea", agent="muse", kind=kind, to="grok", due_at=AT)
    (item,) = plane.items()
    assert (item.id, item.kind, item.text, item.agent, item.to) == (receipt.id, kind, "Bring the tea", "muse", "grok")
    assert (item.status, item.due_at, item.owner) == ("open", AT, "muse" if kind == "commitment" else None)
    assert plane.status().open_items == 1
    plane.resolve(receipt.id, agent="grok", status=status)
    assert plane.items() == []
    assert plane.status().open_items == 0
    record = plane.get(receipt.id)
    assert record is not None
    assert record["state"]["status"] == status


def test_items_are_given_by_who_opened_them_and_whom_they_are_for(plane: Plane) -> None:
    plane.post("Bring the tea", agent="muse", kind="commitment", to="grok")
    plane.post("Who has milk?", agent="grok", kind="question")
    assert [item.text for item in plane.items(agent="grok")] == ["Who has milk?"]
    assert [item.text for item in plane.items(to="grok")] == ["Bring the tea"]
    assert plane.items(to="muse") == []
    assert len(plane.items(limit=1)) == 1


def test_assigned_item_goes_to_the_last_one_named(plane: Plane) -> None:
    item = plane.post("Bring the tea", agent="muse", kind="handoff", to="grok").id
    plane.assign(item, "claude", agent="grok", created_at=datetime.now(UTC) + timedelta(seconds=2))
    plane.assign(item, "jev", agent="grok", created_at=datetime.now(UTC) + timedelta(seconds=1))
    assert [one.to for one in plane.items()] == ["claude"]


def test_snoozed_item_is_away_until_its_time(plane: Plane) -> None:
    item = plane.post("Bring the tea", agent="muse", kind="handoff").id
    plane.snooze(item, datetime.now(UTC) + HOUR, agent="muse", created_at=AT)
    assert plane.items() == []
    plane.snooze(item, datetime.now(UTC) - HOUR, agent="muse")
    assert len(plane.items()) == 1


def test_pinned_memory_says_so_until_it_is_unpinned(plane: Plane) -> None:
    thought = plane.post("Bring the tea", agent="muse", kind="handoff").id
    plane.pin(thought, agent="muse")
    assert plane.thoughts()[0].pinned
    assert plane.items()[0].pinned
    plane.pin(thought, agent="muse", pinned=False)
    assert not plane.thoughts()[0].pinned


def test_item_in_a_text_is_opened_and_resolved(named: Plane) -> None:
    thought = named.post("I promise Ann the tea", agent="muse").id
    (item,) = named.items(to="grok")
    assert (item.id, item.kind, item.owner) == (thought, "commitment", "muse")
    assert named.resolve(thought, agent="muse").state == "stored"
    assert named.items() == []


# --- facts -------------------------------------------------------------------------------------------------------


def test_newer_fact_takes_the_place_of_the_older(plane: Plane) -> None:
    plane.fact("Ann", "city", "Rome", agent="muse", created_at=AT)
    plane.fact("ANN", "City", "Oslo", agent="grok", created_at=AT + HOUR)
    assert [fact.value for fact in plane.facts()] == ["Oslo"]
    assert snippets(plane, "city") == ["ANN City: Oslo"]
    assert "Rome" not in everywhere(plane)
    history = {fact.value: fact.superseded_at for fact in plane.facts(history=True)}
    assert history == {"Rome": AT + HOUR, "Oslo": None}


def test_fact_that_comes_late_does_not_win(plane: Plane) -> None:
    plane.fact("Ann", "city", "Oslo", agent="grok", created_at=AT + HOUR)
    plane.fact("Ann", "city", "Rome", agent="muse", created_at=AT)
    assert [fact.value for fact in plane.facts()] == ["Oslo"]
    assert snippets(plane, "city") == ["Ann city: Oslo"]


def test_facts_of_a_time_are_told(plane: Plane) -> None:
    plane.fact("Ann", "city", "Rome", agent="muse", created_at=AT)
    plane.fact("Ann", "city", "Oslo", agent="muse", created_at=AT + 2 * HOUR)
    plane.fact("Bob", "city", "Bern", agent="muse", created_at=AT, valid_until=AT + HOUR)

    def values(as_of: datetime) -> set[str]:
        return {fact.value for fact in plane.facts(as_of=as_of)}

    assert values(AT - HOUR) == set()
    assert values(AT) == {"Rome", "Bern"}
    assert values(AT + HOUR) == {"Rome"}
    assert values(AT + 2 * HOUR) == {"Oslo"}


def test_facts_are_given_by_subject_and_key(plane: Plane) -> None:
    plane.fact("Ann", "city", "Rome", agent="muse", confidence=0.5, source="mail", valid_from=AT)
    plane.fact("Ann", "tea", "green", agent="muse")
    plane.fact("Bob", "city", "Bern", agent="muse")
    (fact,) = plane.facts(subject="ann", key="CITY")
    assert (fact.subject, fact.key, fact.value, fact.confidence, fact.source) == ("Ann", "city", "Rome", 0.5, "mail")
    assert fact.valid_from == AT
    assert [fact.value for fact in plane.facts(subject="Ann")] == ["green", "Rome"]
    assert len(plane.facts(limit=1)) == 1


# --- corrections -------------------------------------------------------------------------------------------------


def test_retracted_thought_is_gone_everywhere_and_stays_in_the_log(named: Plane) -> None:
    keep = named.post("Ann met Bob", agent="muse").id
    wrong = named.post("I promise Quentin the Xylophone", agent="muse", kind="question").id
    assert "Quentin" in everywhere(named)
    assert "Xylophone" in {edge.target.name for edge in named.graph().edges}
    named.retract(wrong, agent="muse", reason="a mistake")
    assert "Quentin" not in everywhere(named)
    assert "Xylophone" not in everywhere(named)
    assert snippets(named, "Quentin") == snippets(named, "uentin") == []
    assert named.graph(about="Quentin").nodes == ()
    assert named.items() == []
    assert named.status().open_items == named.pulse().items_total == 0
    assert [thought.id for thought in named.thoughts()] == [keep]
    record = named.get(wrong)
    assert record is not None
    assert record["body"]["text"] == "I promise Quentin the Xylophone"
    assert record["state"]["visible"] is False
    assert any("Quentin" in line for line in named.export())


def test_retracted_memory_stays_away_after_a_rebuild_and_a_replay(named: Plane) -> None:
    wrong = named.post("Quentin met Xaver", agent="muse", created_at=AT)
    named.retract(wrong.id, agent="muse", created_at=AT)
    named.rebuild()
    assert "Quentin" not in everywhere(named)
    named.rebuild(rederive=True)
    assert "Quentin" not in everywhere(named)
    assert named.post("Quentin met Xaver", agent="muse", created_at=AT).state == "duplicate"
    assert "Quentin" not in everywhere(named)


def test_retraction_that_came_first_holds(named: Plane) -> None:
    wrong = make_operation("thought", {"text": "Quentin met Xaver"}, agent="muse", created_at=AT)
    retract = make_operation("retract", {"target": wrong.id}, agent="muse", created_at=AT)
    assert named.apply(retract).state == "stored"
    assert named.apply(wrong).state == "stored"
    assert "Quentin" not in everywhere(named)
    assert snippets(named, "Quentin") == []


def test_evidence_of_others_keeps_an_edge(named: Plane) -> None:
    first = named.post("Ann met Bob", agent="muse").id
    second = named.post("Ann saw Bob", agent="grok").id
    (edge,) = named.graph().edges
    assert edge.evidence == (second, first)
    named.retract(first, agent="muse")
    (edge,) = named.graph().edges
    assert edge.evidence == (second,)
    named.retract(second, agent="muse")
    assert named.graph().edges == ()
    assert named.graph(about="Ann").nodes == ()


def test_retracting_the_newer_fact_brings_the_older_back(named: Plane) -> None:
    named.fact("Ann", "city", "Rome", agent="muse", created_at=AT)
    newer = named.fact("Ann", "city", "Oslo", agent="muse", created_at=AT + HOUR).id
    named.retract(newer, agent="muse")
    assert [fact.value for fact in named.facts()] == ["Rome"]
    assert [fact.value for fact in named.facts(history=True)] == ["Rome"]
    assert snippets(named, "city") == ["Ann city: Rome"]
    assert "Oslo" not in everywhere(named)


def test_retracting_an_older_fact_leaves_the_newer(plane: Plane) -> None:
    older = plane.fact("Ann", "city", "Rome", agent="muse", created_at=AT).id
    plane.fact("Ann", "city", "Oslo", agent="muse", created_at=AT + HOUR)
    plane.retract(older, agent="muse")
    assert [fact.value for fact in plane.facts(history=True)] == ["Oslo"]


def test_retracting_twice_is_no_more_than_once(named: Plane) -> None:
    wrong = named.post("Quentin met Xaver", agent="muse").id
    named.retract(wrong, agent="muse")
    assert named.retract(wrong, agent="grok").state == "stored"
    assert snippets(named, "Quentin") == []


def test_held_memory_is_invisible_until_it_is_released(named: Plane) -> None:
    held = named.post("Quentin met Xaver", agent="muse", kind="question", held=True).id
    assert "Quentin" not in everywhere(named)
    assert snippets(named, "Quentin") == []
    assert named.status().open_items == 0
    named.release(held, agent="grok")
    assert "Quentin" in everywhere(named)
    assert snippets(named, "Quentin") == ["Quentin met Xaver"]
    assert len(named.graph().edges) == len(named.items()) == 1
    assert [thought.id for thought in named.graph(agent="grok").attention] == [held]


def test_released_memory_that_is_retracted_stays_away(named: Plane) -> None:
    held = named.post("Quentin met Xaver", agent="muse", held=True).id
    named.retract(held, agent="muse")
    named.release(held, agent="muse")
    assert "Quentin" not in everywhere(named)


def test_operation_about_what_is_not_here_waits_for_it(plane: Plane) -> None:
    question = make_operation("thought", {"text": "Tea?", "kind": "question"}, agent="muse", created_at=AT)
    about: list[tuple[str, dict[str, Any]]] = [
        ("assign", {"item": question.id, "to": "grok"}),
        ("pin", {"target": question.id}),
    ]
    batch = [make_operation(op, body, agent="muse", created_at=AT) for op, body in about]
    assert [receipt.state for receipt in plane.apply_all(batch)] == ["stored", "stored"]
    assert plane.items() == []
    plane.apply(question)
    (item,) = plane.items()
    assert (item.to, item.pinned) == ("grok", True)


def test_unknown_operation_is_kept_and_passed_on(plane: Plane) -> None:
    future = Operation(id=UNKNOWN, op="reshape", agent="muse", created_at=AT, body={"target": UNKNOWN, "parts": [1, 2]})
    assert plane.apply(future).state == "stored"
    assert plane.apply(future).state == "duplicate"
    record = plane.get(UNKNOWN)
    assert record is not None
    assert (record["op"], record["body"]) == ("reshape", {"target": UNKNOWN, "parts": [1, 2]})
    assert UNKNOWN in "".join(plane.export())
    plane.rebuild()
    assert plane.get(UNKNOWN) == record


# --- reading -----------------------------------------------------------------------------------------------------


def test_pulse_has_heartbeats_items_and_thoughts(named: Plane) -> None:
    named.heartbeat(agent="muse", focus="tea", project="kitchen", status="busy")
    named.post("Ann met Bob", agent="muse", kind="question")
    pulse = named.pulse()
    assert [(beat.agent, beat.focus, beat.stale) for beat in pulse.heartbeats] == [
        ("muse", "tea", False), ("grok", "kites", True),
    ]  # fmt: skip
    assert (pulse.heartbeats[0].project, pulse.heartbeats[0].status) == ("kitchen", "busy")
    assert [item.text for item in pulse.items] == [thought.text for thought in pulse.thoughts] == ["Ann met Bob"]
    assert [edge.relation for edge in pulse.edges] == ["KNOWS"]
    assert pulse.items_total == 1


def test_graph_is_told_around_a_node_or_an_agent(named: Plane) -> None:
    named.post("Ann met Bob", agent="muse")
    named.post("Carl met Dora", agent="muse")
    assert {node.name for node in named.graph(about="ann").nodes} == {"Ann", "Bob"}
    assert {node.name for node in named.graph(about="node:person:carl").nodes} == {"Carl", "Dora"}
    (edge,) = named.graph(about="Ann").edges
    assert named.graph(about=edge.source.id).edges == (edge,)
    assert named.graph(about="Nobody").nodes == ()
    assert {node.name for node in named.graph(agent="grok").nodes} == {"Ann", "Bob", "Carl", "Dora"}
    assert named.graph(agent="grok", min_attention=0.95).nodes == ()
    assert named.graph(agent="muse").nodes == ()
    assert len(named.graph(limit=1).edges) == 1


def test_graph_of_a_time_has_what_was_known_then(named: Plane) -> None:
    named.post("Ann met Bob", agent="muse", created_at=AT)
    assert named.graph(as_of=AT - HOUR).edges == ()
    assert len(named.graph(as_of=AT).edges) == 1


@pytest.mark.parametrize("id", ["", "x", UNKNOWN, "0b5c6b0e", "\x00"])
def test_unknown_id_is_nothing(plane: Plane, id: str) -> None:
    assert plane.get(id) is None


def test_operation_is_found_by_the_beginning_of_its_id(plane: Plane) -> None:
    id = plane.post("Ann likes tea", agent="muse").id
    assert plane.find(id[:6]) == plane.find(id) == plane.find(id.upper()[:13]) == [id]
    assert plane.find("") == plane.find("zz") == []
    assert plane.find(f"{id[:8]}.40") == [f"{id}.40"]
    with pytest.raises(Refused, match="prefix: has 45 characters"):
        plane.find(id + "0" * 9)
    with pytest.raises(Refused, match=r"min_attention: 1\.5 is not within 0 to 1"):
        plane.graph(min_attention=1.5)


def test_status_and_stats_count_what_is_there(named: Plane) -> None:
    named.post("Ann met Bob", agent="muse", kind="decision")
    named.fact("Ann", "city", "Rome", agent="muse")
    status, stats = named.status(), named.stats()
    assert (status.operations, status.thoughts, status.facts, status.open_items) == (3, 1, 1, 0)
    assert (status.nodes, status.edges, status.waiting, status.spooled, status.failures) == (3, 2, 0, 0, ())
    assert [agent for agent, _ in status.agents] == ["muse", "grok"]
    assert stats.operations_by_agent == {"muse": 2, "grok": 1}
    assert stats.thoughts_by_kind == {"decision": 1}
    assert stats.nodes_by_type == {"Person": 3}
    assert stats.edges_by_relation == {"KNOWS": 2}
    assert stats.answers_by_plugin == {"names": 2}
    assert stats.bytes > 0


def test_snapshot_is_one_moment(named: Plane) -> None:
    named.post("Ann met Bob", agent="muse")
    with named.snapshot() as snapshot:
        node = snapshot.pulse().edges[0].source
        named.post("Carl met Dora", agent="muse")
        assert len(snapshot.pulse().thoughts) == 1
        person = snapshot.person(node.id)
        assert person is not None
        assert {other.name for other in person.nodes} == {"Ann", "Bob"}
        assert snapshot.person(UNKNOWN) is None
        assert (snapshot.facts(), snapshot.items()) == ((), ())


def test_snapshot_tells_of_whom_an_agent_spoke_lately_and_what_all_said(named: Plane) -> None:
    for hour, (agent, text) in enumerate((("muse", "Ann met Bob"), ("grok", "Bob met Carl"), ("muse", "Dora came"))):
        named.post(text, agent=agent, created_at=AT + hour * HOUR)
    gone = named.post("Eve met Dora", agent="muse", created_at=AT + 9 * HOUR).id
    named.retract(gone, agent="muse")
    with named.snapshot() as snapshot:
        people = snapshot.people("muse")
        assert people[0].name == "Dora"
        assert {node.name for node in people} == {"Ann", "Bob", "Dora"}
        assert snapshot.people("heron") == ()
        (bob,) = [node for node in people if node.name == "Bob"]
        assert [thought.text for thought in snapshot.about(bob.id)] == ["Bob met Carl", "Ann met Bob"]
        assert snapshot.about(UNKNOWN) == ()


@pytest.mark.parametrize("name", ["PULSE", "pulse.md", "brief/no body.md", "../memory.db", ""])
def test_unknown_page_is_refused(plane: Plane, name: str) -> None:
    with pytest.raises(Refused, match=r"^page: "):
        plane.page(name)


def test_pages_are_written_only_when_they_change(plane: Plane) -> None:
    plane.heartbeat(agent="muse", focus="tea", created_at=AT)
    names = {path.relative_to(plane.home).as_posix() for path in plane.render()}
    assert names >= {"PULSE.md", "SHARED_MEMORY.md", "brief/muse.md", "local-cache.json"}
    assert "SHARED_MEMORY.md" not in {path.name for path in plane.render()}


# --- export and rebuild ------------------------------------------------------------------------------------------


def test_export_is_the_same_however_things_came(make_plane: MakePlane, home: Path, operation: MakeOperation) -> None:
    one, other = make_plane(home=home / "one"), make_plane(home=home / "other")
    batch = [operation(text=f"Ann {number}") for number in range(5)]
    one.apply_all(batch)
    other.apply_all(batch[::-1])
    assert list(one.export()) == list(other.export()) == list(one.export())
    assert [json.loads(line)["id"] for line in one.export()] == [one.id for one in batch]


def test_export_can_be_read_in_again(named: Plane, make_plane: MakePlane, home: Path) -> None:
    named.post("Ann met Bob", agent="muse", kind="question", due_at=AT)
    named.fact("Ann", "city", "Rome", agent="muse")
    lines = list(named.export())
    records = [json.loads(line) for line in lines]
    other = make_plane(home=home / "other")
    other.apply_all([parse_operation(record) for record in records if "op" in record])
    assert list(other.export()) == [line for line, record in zip(lines, records, strict=True) if "op" in record]


def test_export_and_rebuild_tell_how_far_they_are(named: Plane) -> None:
    named.post("Ann met Bob", agent="muse")
    told: list[tuple[int, int]] = []
    lines = list(named.export(lambda done, total: told.append((done, total))))
    assert told == [(number, len(lines)) for number in range(1, len(lines) + 1)]
    told.clear()
    report = named.rebuild(progress=lambda done, total: told.append((done, total)))
    assert (report.operations, report.derivations, report.changed) == (2, 1, ())
    assert told[-1] == (2, 2)


class SilentPlugin(Plugin):
    """Finds nothing."""

    @hookimpl
    def extract(self, memory: Memory) -> Extraction:
        return Extraction()


def test_rederiving_asks_again_and_tells_what_changed(home: Path, make_plane: MakePlane) -> None:
    with make_plane(SilentPlugin()) as plane:
        met = plane.post("Ann met Bob", agent="muse").id
        plane.post("nobody", agent="muse")
        retracted = plane.post("Carl met Dora", agent="muse").id
        plane.retract(retracted, agent="muse")
    plane = make_plane(NamesPlugin())
    report = plane.rebuild(rederive=True)
    assert met in report.changed
    assert {node.name for edge in plane.graph().edges for node in (edge.source, edge.target)} == {"Ann", "Bob"}
    assert plane.rebuild(rederive=True).changed == ()


def test_agent_is_addressed_in_any_case(plane: Plane) -> None:
    plane.post("please look", agent="muse", kind="handoff", to="Grok")
    assert [item.to for item in plane.items(to="grok")] == ["Grok"]


@pytest.mark.parametrize("read", ["recall", "facts", "graph"])
def test_time_without_zone_is_refused_by_name(plane: Plane, read: str) -> None:
    moment = datetime(2026, 3, 1)  # noqa: DTZ001
    given: dict[str, Any] = {"query": "x", "since": moment} if read == "recall" else {"as_of": moment}
    with pytest.raises(Refused, match=r"^(since|as_of): has no time zone"):
        getattr(plane, read)(**given)


def test_home_may_have_any_character_of_a_file_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEMORY_PLANE_PLUGINS__ENABLED", "[]")
    home = tmp_path / "what? #1 100%"
    with Plane(home=home) as plane:
        assert plane.post("hello", agent="muse").state == "stored"
    assert (home / "memory.db").stat().st_size > 0


def test_addressee_sees_the_memory_without_being_known(plane: Plane) -> None:
    receipt = plane.post("please review the deck", agent="muse", kind="handoff", to="Grok")
    assert "please review the deck" in plane.page("brief/grok.md")
    assert [(heard.id, heard.reason) for heard in plane.graph(agent="grok").attention] == [
        (receipt.id, "addressed to it")
    ]
    plane.retract(receipt.id, agent="muse")
    assert plane.graph(agent="grok").attention == ()
    assert plane.page("brief/grok.md").startswith("Nothing new")


def test_page_of_an_addressee_is_written(plane: Plane) -> None:
    plane.post("please review the deck", agent="muse", kind="handoff", to="grok")
    plane.render()
    assert "please review" in (plane.home / "brief" / "grok.md").read_text("utf-8")


@pytest.mark.parametrize(("filters", "field"), [({"kind": "novel"}, "kind"), ({"limit": 0}, "limit")])
def test_filter_that_makes_no_sense_is_refused(plane: Plane, filters: dict[str, Any], field: str) -> None:
    with pytest.raises(Refused, match=f"^{field}: "):
        plane.recall("x", **filters)


@pytest.mark.parametrize(
    "read",
    [
        lambda plane: plane.recall("tea", project="\ud800"),
        lambda plane: plane.recall("tea", person="\ud800"),
        lambda plane: plane.items(to="\ud800"),
        lambda plane: plane.facts(subject="\ud800"),
        lambda plane: plane.nodes("\ud800"),
        lambda plane: plane.graph(about="\ud800"),
        lambda plane: plane.path("\ud800", "Bob"),
        lambda plane: plane.search("\ud800"),
    ],
    ids=["project", "person", "to", "subject", "nodes", "about", "path", "search"],
)
def test_name_with_half_a_character_is_refused(plane: Plane, read: Callable[[Plane], Any]) -> None:
    with pytest.raises(Refused, match=r"^'\\ud800' holds half a character"):
        read(plane)


@pytest.mark.parametrize("question", ["\ud800", "Who works at \ud800?", "What did I promise Bob\udcff?"])
def test_question_with_half_a_character_has_no_answer(plane: Plane, question: str) -> None:
    assert not plane.ask(question).known


def test_times_of_reads_may_be_text(plane: Plane) -> None:
    plane.post("kites", agent="muse", created_at="2026-03-01T12:00:00Z")
    assert len(plane.recall("kites", since="2026-03-01T00:00:00Z").hits) == 1
    assert plane.recall("kites", until="2026-03-01T00:00:00Z").hits == ()


def test_pinned_item_comes_first(plane: Plane) -> None:
    plane.post("first", agent="muse", kind="question", due_at="2026-03-01T12:00:00Z")
    second = plane.post("second", agent="muse", kind="question")
    plane.pin(second.id, agent="muse")
    assert [item.text for item in plane.items()] == ["second", "first"]


def test_warming_up_leaves_nothing(make_plane: MakePlane) -> None:
    plane = make_plane("local")
    before = list(plane.export())
    plane.warm_up()
    status = plane.status()
    assert (list(plane.export()), status.nodes, status.waiting, status.agents) == (before, 0, 0, ())
    assert plane.recall("Lovelace").hits == ()


def test_what_waits_in_the_outbox_is_told(plane: Plane, operation: Callable[..., Operation]) -> None:
    waiting = operation(text="not stored yet")
    Outbox(plane.home).append(waiting)
    pulse, status = plane.pulse(), plane.status()
    assert (pulse.queued, pulse.queued_since) == (1, waiting.created_at)
    assert (status.queued, status.queued_since, status.dead) == (1, waiting.created_at, 0)
    assert "\nWaiting to be stored: 1, the oldest since 2026-01-05 " in plane.page("PULSE.md")


def test_newest_facts_are_those_of_their_own_time_whatever_came_last(plane: Plane) -> None:
    plane.fact("cat", "name", "Miso", agent="muse", created_at="2026-03-01T00:00:00Z")
    plane.fact("dog", "name", "Rex", agent="muse", created_at="2020-03-01T00:00:00Z")
    assert [fact.subject for fact in plane.facts(limit=1)] == ["cat"]
    assert [fact.subject for fact in plane.facts()] == ["cat", "dog"]
