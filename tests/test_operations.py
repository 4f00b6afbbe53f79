"""The edge of every write: what is refused and how it is told, what is cut, and what the id is made of."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone
from typing import Any
from uuid import UUID, uuid5

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_plane.bodies import BODIES
from memory_plane.errors import Refused
from memory_plane.operations import (
    MAX_TEXT,
    OPS,
    TARGET_FIELD,
    TEXT_FIELD,
    iso,
    make_operation,
    memory_of,
    parse_operation,
    record_of,
)
from memory_plane.types import EPOCH, NAMESPACE, Memory, Operation

ID = "0b5c6b0e-7d53-4c7e-9f2b-2f6f6f0e9a11"
OTHER = "7b0a3ae4-6f0a-4b8e-9a3e-0a1f6f0f4d11"
AT = datetime(2026, 3, 14, 9, 30, tzinfo=UTC)
VALID: dict[str, dict[str, Any]] = {
    "thought": {"text": "Ask Ann", "kind": "question", "to": "grok", "due_at": AT, "thread": "t1", "held": True},
    "fact": {"subject": "Ann", "key": "works_at", "value": "Acme", "confidence": 0.5, "valid_from": AT},
    "heartbeat": {"focus": "the parser", "project": "plane"},
    "resolve": {"item": ID, "status": "answered", "note": "yes"},
    "assign": {"item": ID, "to": "muse"},
    "snooze": {"item": ID, "until": AT},
    "pin": {"target": ID, "pinned": False},
    "retract": {"target": ID, "reason": "wrong"},
    "release": {"target": ID},
    "forget": {"target": ID},
    "merge": {"node": ID, "into": OTHER},
    "split": {"node": ID, "memories": [OTHER]},
    "distinct": {"nodes": [ID, OTHER]},
    "alias": {"node": ID, "name": "Bob", "remove": True},
}


def make(op: str = "thought", *, agent: Any = "muse", created_at: Any = AT, id: Any = None, **body: Any) -> Operation:
    return make_operation(op, VALID[op] | body, agent=agent, created_at=created_at, id=id)


# --- refusals ----------------------------------------------------------------------------------------------------

REFUSALS: list[tuple[str, dict[str, Any], str]] = [
    ("thought", {"text": ""}, "text: must not be empty"),
    ("thought", {"text": " \n\t"}, "text: must not be empty"),
    ("thought", {"text": None}, "text: missing"),
    ("thought", {"text": 7}, "text: input should be a valid string"),
    ("thought", {"text": b"bytes"}, "text: input should be a valid string"),
    ("thought", {"text": ["a"]}, "text: input should be a valid string"),
    ("thought", {"text": "x" * (MAX_TEXT + 1)}, "text: is 1,000,001 bytes long; at most 1,000,000 are taken"),
    ("thought", {"text": "é" * (MAX_TEXT // 2 + 1)}, "text: is 1,000,002 bytes long; at most 1,000,000 are taken"),
    ("thought", {"text": "half \ud83d"}, "text: holds half a character (a lone surrogate)"),
    ("thought", {"project": "p" * 513}, "project: string should have at most 512 characters"),
    ("thought", {"project": " "}, "project: must not be empty"),
    ("thought", {"to": "\udc00"}, "to: holds half a character (a lone surrogate)"),
    ("thought", {"kind": "idea"}, "kind: 'idea' is unknown; give 'thought', 'decision'"),
    ("thought", {"origin": "stranger"}, "origin: 'stranger' is unknown; give 'user', 'agent' or 'external'"),
    ("thought", {"colour": "red"}, "colour: unknown field; known are text, kind, origin"),
    ("thought", {"due_at": "tomorrow"}, "due_at: 'tomorrow' is no ISO 8601 time; write it as 2026-10-31T12:00:00Z"),
    ("thought", {"due_at": "2026-03-14"}, "due_at: has no time zone; write it as 2026-10-31T12:00:00Z"),
    ("thought", {"due_at": "2026-03-14T10:00:00"}, "due_at: has no time zone"),
    ("thought", {"due_at": 1_790_000_000}, "due_at: must be an ISO 8601 time with its zone, not a number"),
    ("thought", {"due_at": True}, "due_at: must be an ISO 8601 time with its zone, not a number"),
    ("thought", {"due_at": "1790000000"}, "due_at: must be an ISO 8601 time with its zone, not a number"),
    ("thought", {"due_at": " -1.5e9 "}, "due_at: must be an ISO 8601 time with its zone, not a number"),
    ("thought", {"due_at": "1969-12-31T00:00:00Z"}, "due_at: 1969-12-31T00:00:00+00:00 is out of range"),
    ("thought", {"due_at": "9999-12-31T23:59:59-12:00"}, "due_at: 9999-12-31T23:59:59-12:00 is out of range"),
    ("thought", {"created_at": AT.replace(tzinfo=None)}, "created_at: has no time zone"),
    ("thought", {"created_at": "yesterday"}, "created_at: "),
    ("thought", {"created_at": ""}, "created_at: "),
    ("thought", {"created_at": 0}, "created_at: must be an ISO 8601 time with its zone, not a number"),
    ("thought", {"created_at": "1970-01-01T00:00:00Z"}, "created_at: 1970-01-01T00:00:00+00:00 is out of range"),
    ("thought", {"id": "17"}, "id: is no id (a UUID): '17'"),
    ("thought", {"id": 17}, "id: input should be a valid string"),
    ("thought", {"agent": ""}, "agent: is no agent id: ''; give letters, digits, '.', '_' or '-', at most 64"),
    ("thought", {"agent": "a b"}, "agent: is no agent id: 'a b'"),
    ("thought", {"agent": "../muse"}, "agent: is no agent id: '../muse'"),
    ("thought", {"agent": "m" * 65}, "agent: is no agent id: 'mmm"),
    ("thought", {"agent": None}, "agent: input should be a valid string"),
    ("thought", {"agent": b"muse"}, "agent: input should be a valid string"),
    ("fact", {"subject": ""}, "subject: must not be empty"),
    ("fact", {"key": ""}, "key: must not be empty"),
    ("fact", {"value": ""}, "value: must not be empty"),
    ("fact", {"value": 40}, "value: input should be a valid string"),
    ("fact", {"confidence": float("nan")}, "confidence: input should be a finite number"),
    ("fact", {"confidence": float("inf")}, "confidence: input should be a finite number"),
    ("fact", {"confidence": 1.01}, "confidence: input should be less than or equal to 1"),
    ("fact", {"confidence": -0.01}, "confidence: input should be greater than or equal to 0"),
    ("fact", {"confidence": "sure"}, "confidence: input should be a valid number"),
    ("fact", {"valid_until": "2026-03-14T10:00"}, "valid_until: has no time zone"),
    ("heartbeat", {"focus": ""}, "focus: must not be empty"),
    ("heartbeat", {"status": ""}, "status: must not be empty"),
    ("resolve", {"item": "the first"}, "item: is no id (a UUID): 'the first'"),
    ("resolve", {"status": "closed"}, "status: 'closed' is unknown; give 'done', 'dropped', 'answered'"),
    ("assign", {"to": ""}, "to: must not be empty"),
    ("assign", {"item": None}, "item: missing"),
    ("snooze", {"until": "next week"}, "until: "),
    ("snooze", {"until": None}, "until: missing"),
    ("pin", {"pinned": "perhaps"}, "pinned: input should be a valid boolean"),
    ("retract", {"target": None}, "target: missing"),
    ("retract", {"item": ID}, "item: unknown field; known are target, reason"),
    ("release", {"target": ""}, "target: is no id (a UUID): ''"),
]


@pytest.mark.parametrize(("op", "change", "told"), REFUSALS, ids=[told[:50] for _, _, told in REFUSALS])
def test_refusal_names_its_field_first(op: str, change: dict[str, Any], told: str) -> None:
    with pytest.raises(Refused) as refusal:
        make(op, **change)
    assert str(refusal.value).startswith(told)
    assert "\n" not in str(refusal.value)
    assert len(str(refusal.value)) < 300


def test_unknown_operation_is_refused_with_those_that_are_known() -> None:
    with pytest.raises(Refused, match=r"^op: unknown operation 'shout'; known are thought, fact, heartbeat"):
        make_operation("shout", {}, agent="muse")


def test_longest_text_is_taken() -> None:
    assert len(make(text="x" * MAX_TEXT).body["text"]) == MAX_TEXT


@pytest.mark.parametrize(
    ("op", "field", "text"),
    [
        ("thought", "text", "\x00" * (MAX_TEXT // 2)),
        ("thought", "text", "password=hunter2abc " * (MAX_TEXT // 20)),
        ("heartbeat", "focus", "a " * 246 + "password=hunter2abc"),
    ],
)
def test_what_no_other_machine_would_take_is_refused_here_too(op: str, field: str, text: str) -> None:
    with pytest.raises(Refused, match=f"^{field}: "):
        make(op, **{field: text})


@pytest.mark.parametrize("op", OPS)
def test_every_operation_can_be_written(op: str) -> None:
    operation = make(op)
    assert (operation.op, operation.agent, operation.created_at) == (op, "muse", AT)
    assert operation.body.keys() >= VALID[op].keys()


def test_text_is_stripped_and_zeros_are_shown() -> None:
    assert make(text="  a\x00b\n").body["text"] == "a\N{REPLACEMENT CHARACTER}b"


def test_agent_ids_are_folded_to_lower_case() -> None:
    assert make(agent=" Claude-Code ").agent == "claude-code"
    assert make(agent="Жук").agent == "жук"


def test_fields_that_say_nothing_are_left_out() -> None:
    body = make_operation("thought", {"text": "a", "project": None, "to": None}, agent="muse").body
    assert body == {"text": "a", "kind": "thought", "origin": "agent"}


def test_time_defaults_to_now() -> None:
    before = datetime.now(UTC)
    made = make(created_at=None).created_at
    assert before <= made <= datetime.now(UTC)


# --- ids ---------------------------------------------------------------------------------------------------------


def test_same_input_has_the_same_id() -> None:
    assert make().id == make().id
    assert UUID(make().id).version == 5


def test_id_is_made_of_the_canonical_form_and_never_changes() -> None:
    canonical = (
        '{"agent":"muse","body":{"kind":"thought","origin":"agent","text":"Ann likes tea"},'
        '"created_at":"2026-03-14T09:30:00.000000Z","op":"thought"}'
    )
    operation = make_operation("thought", {"text": "Ann likes tea"}, agent="muse", created_at=AT)
    assert operation.id == str(uuid5(NAMESPACE, canonical)) == "f07b13b9-d3c0-5e47-b4b2-74f9ec584e1d"


@pytest.mark.parametrize(
    "change",
    [{"text": "Ask Bob"}, {"agent": "grok"}, {"created_at": AT + timedelta(microseconds=1)}, {"kind": "handoff"}],
    ids=str,
)
def test_any_difference_makes_another_id(change: dict[str, Any]) -> None:
    assert make(**change).id != make().id


def test_order_of_keys_is_irrelevant_for_the_id() -> None:
    backwards = dict(reversed(VALID["thought"].items()))
    assert make_operation("thought", backwards, agent="muse", created_at=AT).id == make().id


def test_time_zone_and_form_of_a_time_are_irrelevant_for_the_id() -> None:
    there = AT.astimezone(timezone(timedelta(hours=5, minutes=30)))
    assert make(created_at=there, due_at=there).id == make().id
    assert make(created_at="2026-03-14T10:30:00+01:00", due_at="2026-03-14T09:30:00Z").id == make().id


def test_given_id_is_kept_in_its_canonical_form() -> None:
    assert make(id=ID.upper()).id == ID
    assert make(id=f"{{{ID}}}").id == ID


def test_secrets_are_cut_before_the_id_is_made() -> None:
    secret = make(text="password=hunter2-Zx81!")
    assert "hunter2" not in secret.body["text"]
    assert secret.id == make(text=secret.body["text"]).id


@pytest.mark.parametrize("field", ["project", "to", "source", "thread"])
def test_secrets_are_cut_from_every_field(field: str) -> None:
    key = "sk-ant-api03-" + "aB3dE6gH" * 11
    assert key not in make(**{field: key}).body[field]


@given(st.uuids(), st.integers(1, 250_000_000_000_000_000).map(lambda past: EPOCH + timedelta(microseconds=past)))
def test_ids_and_times_are_never_taken_for_secrets(id: UUID, at: datetime) -> None:
    assert make("resolve", item=str(id)).body["item"] == str(id)
    assert make("snooze", until=at).body["until"] == iso(at)


# --- records -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("op", OPS)
def test_operation_is_read_back_from_its_record(op: str) -> None:
    operation = make(op)
    assert parse_operation(record_of(operation)) == operation
    without_id = {name: value for name, value in record_of(operation).items() if name != "id"}
    assert parse_operation(without_id) == operation


def test_record_of_an_unknown_operation_is_kept_as_it_is() -> None:
    body = {"parts": [{"a": 1, "b": [True, None, 0.5]}], "text": "new"}
    future = {"id": ID, "op": "weave", "agent": "muse", "created_at": iso(AT), "body": body}
    operation = parse_operation(future)
    assert record_of(operation) == future
    assert memory_of(operation) is None


def test_record_of_an_unknown_operation_has_its_secrets_cut_and_its_own_id() -> None:
    future = {"op": "weave", "agent": "muse", "created_at": iso(AT), "body": {"text": "password=hunter2-Zx81!"}}
    operation = parse_operation(future)
    assert "hunter2" not in operation.body["text"]
    assert parse_operation(record_of(operation)) == operation == parse_operation(future)


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"op": None}, "op: missing"),
        ({"op": ""}, "op: missing"),
        ({"body": None}, "body: must be an object"),
        ({"body": ["text"]}, "body: must be an object"),
        ({"agent": None}, "agent: "),
        ({"created_at": None}, "created_at: missing"),
        ({"created_at": 12}, "created_at: must be an ISO 8601 time"),
        ({"created_at": "2026-03-14T09:30:00"}, "created_at: has no time zone"),
        ({"id": "x"}, "id: is no id"),
        ({"seq": 4}, "seq: unknown field of an operation"),
    ],
    ids=str,
)
@pytest.mark.parametrize("op", ["thought", "weave"])
def test_bad_record_is_refused(op: str, change: dict[str, Any], told: str) -> None:
    good = {"id": ID, "op": op, "agent": "muse", "created_at": iso(AT), "body": {"text": "a"}}
    changed = {name: value for name, value in (good | change).items() if value is not None}
    with pytest.raises(Refused) as refusal:
        parse_operation(changed)
    assert str(refusal.value).startswith(told)


@pytest.mark.parametrize("value", [float("nan"), float("inf"), 2**60, "half \ud83d"], ids=repr)
@pytest.mark.parametrize("id", [ID, None])
def test_unknown_operation_that_cannot_be_passed_on_is_refused(value: Any, id: str | None) -> None:
    future = {"id": id, "op": "weave", "agent": "muse", "created_at": iso(AT), "body": {"deep": [{"value": value}]}}
    with pytest.raises(Refused, match=r"^body: "):
        parse_operation(future)


# --- memories ----------------------------------------------------------------------------------------------------


def test_thought_is_a_memory() -> None:
    thought = make(project="plane", origin="external")
    expected = Memory(
        id=thought.id, agent="muse", kind="question", text="Ask Ann", created_at=AT, origin="external", project="plane"
    )
    assert memory_of(thought) == expected


def test_fact_is_a_memory_that_reads_as_a_sentence() -> None:
    memory = memory_of(make("fact"))
    assert memory is not None
    assert (memory.kind, memory.text) == ("fact", "Ann works at: Acme")


@pytest.mark.parametrize("op", sorted(set(OPS) - {"thought", "fact"}))
def test_other_operations_are_no_memories(op: str) -> None:
    assert memory_of(make(op)) is None


def test_iso_writes_utc_with_microseconds() -> None:
    assert iso(AT.astimezone(timezone(timedelta(hours=-8)))) == "2026-03-14T09:30:00.000000Z"


@given(st.text(min_size=1, alphabet=st.characters()), st.sampled_from(OPS))
def test_any_text_is_taken_or_refused_by_name(text: str, op: str) -> None:
    field = {"thought": "text", "fact": "value", "heartbeat": "focus", "resolve": "note", "retract": "reason"}.get(op)
    if field is None:
        return
    try:
        operation = make(op, **{field: text})
    except Refused as refusal:
        assert str(refusal).startswith(f"{field}: ")
    else:
        assert parse_operation(record_of(operation)) == operation


def test_tables_of_operations_agree_with_what_their_bodies_hold() -> None:
    assert tuple(BODIES) == OPS
    about = {op: {"item", "target"} & set(model.model_fields) for op, model in BODIES.items()}
    assert {op: {field} for op, field in TARGET_FIELD.items()} == {op: names for op, names in about.items() if names}
    assert all(field in BODIES[op].model_fields for op, field in TEXT_FIELD.items())
