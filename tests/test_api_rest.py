from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import pytest
from pydantic import TypeAdapter
from starlette.testclient import TestClient

from memory_plane import Plane, reports, types
from memory_plane.bodies import BODIES
from memory_plane.errors import Refused
from memory_plane.surfaces.api import create_app
from memory_plane.surfaces.rest.writes import EXAMPLES, MAX_OPERATIONS

if TYPE_CHECKING:
    from memory_plane.testing import MakePlane

PORT = 8788
TOKEN = "t" * 43
NOWHERE = "6c1d9d4e-6c1f-5f6e-9f0e-2f5b8a3c7d10"


def serve(plane: Plane) -> TestClient:
    headers = {"authorization": f"Bearer {TOKEN}"}
    app = create_app(plane, token=TOKEN, port=PORT)
    return TestClient(app, base_url=f"http://127.0.0.1:{PORT}", headers=headers, raise_server_exceptions=False)


@pytest.fixture
def hub(plane: Plane) -> Iterator[TestClient]:
    with serve(plane) as client:
        yield client


@pytest.fixture(scope="module")
def idle(untouched: Plane) -> Iterator[TestClient]:
    """A hub that stores nothing of what it is asked here, one for all of it."""
    with serve(untouched) as client:
        yield client


def record(number: int, **more: Any) -> dict[str, Any]:
    at = f"2026-01-05T09:00:{number % 60:02}Z"
    return {"op": "thought", "agent": "muse", "created_at": at, "body": {"text": f"thought {number}"}} | more


# --- writes ------------------------------------------------------------------------------------------------------


def test_every_operation_has_an_endpoint_with_an_example(idle: TestClient) -> None:
    paths = idle.get("/openapi.json").json()["paths"]
    assert set(EXAMPLES) == set(BODIES)
    for op in BODIES:
        content = paths[f"/api/{op}"]["post"]["requestBody"]["content"]["application/json"]
        assert content["example"] == EXAMPLES[op]
        assert set(content["schema"]["properties"]) == {*BODIES[op].model_fields, "agent", "created_at", "id"}


def test_new_words_take_the_place_of_the_old(plane: Plane, hub: TestClient) -> None:
    told = plane.post("Rob is at Apex", agent="muse").id
    given = {"target": told, "text": "Rob is at Acme"}
    tried = hub.get("/api/preview", params={"op": "supersede", "body": json.dumps(given)}).json()
    assert (tried["gone"], tried["new"]) == ([f"thought {told}: Rob is at Apex"], ["Rob is at Acme"])
    assert [thought.text for thought in plane.thoughts()] == ["Rob is at Apex"]
    new = hub.post("/api/supersede", json={"agent": "grok", **given}).json()
    assert [(one.id, one.text, one.agent) for one in plane.thoughts()] == [(new["id"], "Rob is at Acme", "grok")]


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        ({"text": "x"}, "target: "),
        ({"target": NOWHERE, "text": "x"}, f"target: {NOWHERE} is no thought or fact here"),
        ({"target": NOWHERE, "text": "x", "kind": "thought"}, "kind: unknown field"),
    ],
)
def test_new_words_for_nothing_are_refused(hub: TestClient, given: dict[str, Any], reason: str) -> None:
    answer = hub.post("/api/supersede", json={"agent": "muse", **given})
    assert (answer.status_code, answer.json()["state"]) == (422, "refused")
    assert answer.json()["detail"].startswith(reason)


def test_text_is_stored_by_the_paragraph_and_what_is_in_it_is_told(plane: Plane, hub: TestClient) -> None:
    given = {"agent": "muse", "text": "One.\n\nTwo.", "origin": "user", "source": "minutes.md"}
    told = hub.post("/api/ingest", json=given).json()
    assert [receipt["state"] for receipt in told["receipts"]] == ["stored", "stored"]
    assert set(told["found"]) == {"nodes", "edges", "items"}
    assert [thought.origin for thought in plane.thoughts()] == ["user", "user"]
    again = hub.post("/api/ingest", json=given).json()
    assert [receipt["state"] for receipt in again["receipts"]] == ["duplicate", "duplicate"]


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        ({"text": " "}, "text: must not be empty"),
        ({"text": 7}, "text: "),
        ({"text": "x", "id": "y"}, "id: unknown field"),
        ({"text": "x", "origin": "god"}, "origin: 'god' is unknown"),
    ],
)
def test_text_that_cannot_be_taken_is_refused(hub: TestClient, given: dict[str, Any], reason: str) -> None:
    answer = hub.post("/api/ingest", json={"agent": "muse", **given})
    assert (answer.status_code, answer.json()["error"].startswith(reason)) == (422, True)


def test_every_endpoint_that_takes_something_shows_an_example(idle: TestClient) -> None:
    paths = idle.get("/openapi.json").json()["paths"]
    told = {f"{way} {path}": one for path, ways in paths.items() for way, one in ways.items()}
    taking = {name for name, one in told.items() if one.get("parameters") or one.get("requestBody")}
    assert {name for name in taking if '"example' not in json.dumps(told[name])} == set()


def _of_nodes(plane: Plane, op: str) -> dict[str, Any]:
    """Return what stands in place of the nodes of an example: ones that are there."""
    told = plane.post("Ann Lee works at Acme. Bob Ray works at Acme.", agent="muse").id
    ann, bob = (plane.nodes(name)[0].id for name in ("Ann Lee", "Bob Ray"))
    nodes: dict[str, dict[str, Any]] = {
        "merge": {"node": ann, "into": bob},
        "split": {"node": ann, "memories": [told]},
        "distinct": {"nodes": [ann, bob]},
        "alias": {"node": ann},
    }
    return nodes.get(op, {})


@pytest.mark.parametrize("op", list(BODIES))
def test_every_example_is_one_that_the_hub_takes(make_plane: MakePlane, op: str) -> None:
    plane = make_plane("local")
    plane.post("an open item", agent="muse", kind="question", id=NOWHERE)
    if op == "release":
        plane.post("held back", agent="muse", held=True, id=str(uuid4()))
    with serve(plane) as hub:
        answer = hub.post(f"/api/{op}", json=EXAMPLES[op] | _of_nodes(plane, op))
        assert (answer.status_code, answer.json()["state"]) == (200, "stored")
        stored = hub.get(f"/api/memories/{answer.json()['id']}").json()
    assert (stored["op"], stored["agent"]) == (op, "muse")


def test_a_write_twice_is_a_duplicate(hub: TestClient, plane: Plane) -> None:
    body = {"agent": "muse", "text": "hello", "created_at": "2026-01-05T09:00:00+02:00", "id": NOWHERE.upper()}
    answers = [hub.post("/api/thought", json=body) for _ in range(2)]
    assert [answer.status_code for answer in answers] == [200, 200]
    assert [answer.json() for answer in answers] == [
        {"id": NOWHERE, "state": "stored", "detail": ""},
        {"id": NOWHERE, "state": "duplicate", "detail": ""},
    ]
    assert plane.thoughts()[0].created_at == datetime.fromisoformat("2026-01-05T07:00:00Z")


def test_the_header_names_the_author_where_the_body_does_not(hub: TestClient, plane: Plane) -> None:
    headers = {"x-memory-plane-agent": "Grok"}
    assert hub.post("/api/thought", json={"text": "x"}, headers=headers).json()["state"] == "stored"
    assert plane.thoughts()[0].agent == "grok"
    assert hub.post("/api/thought", json={"text": "x", "agent": "muse"}, headers=headers).status_code == 422


@pytest.mark.parametrize(
    ("op", "body", "detail"),
    [
        ("thought", {"text": "x"}, "agent: missing"),
        ("thought", {"agent": "two words", "text": "x"}, "agent: "),
        ("thought", {"agent": 5, "text": "x"}, "agent: "),
        ("thought", {"agent": "muse"}, "text: missing"),
        ("thought", {"agent": "muse", "text": "x", "colour": "red"}, "colour: unknown field"),
        ("thought", {"agent": "muse", "text": "x", "kind": "poem"}, "kind: 'poem' is unknown"),
        ("thought", {"agent": "muse", "text": "x", "created_at": "yesterday"}, "created_at: "),
        (
            "thought",
            {"agent": "muse", "text": "x", "created_at": "2026-01-05T09:00:00"},
            "created_at: has no time zone",
        ),
        ("thought", {"agent": "muse", "text": "\ud800"}, "text: holds half a character"),
        ("thought", {"agent": "muse", "text": "x", "id": "\ud800"}, "id: is no id"),
        ("thought", {"agent": "muse", "text": "x" * 1_000_001}, "text: is 1,000,001 bytes long"),
        ("resolve", {"agent": "muse", "item": NOWHERE}, "item: "),
        ("fact", {"agent": "muse", "subject": "a", "key": "b", "value": "c", "confidence": 2}, "confidence: "),
    ],
)
def test_a_refusal_names_the_field_and_stores_nothing(
    idle: TestClient, untouched: Plane, op: str, body: dict[str, Any], detail: str
) -> None:
    answer = idle.post(f"/api/{op}", content=json.dumps(body), headers={"content-type": "application/json"})
    assert answer.status_code == 422
    assert answer.json()["state"] == "refused"
    assert answer.json()["detail"].startswith(detail)
    assert untouched.status().operations == 0


# --- reads -------------------------------------------------------------------------------------------------------


def fill(plane: Plane) -> None:
    plane.heartbeat(agent="muse", focus="invoices")
    plane.post("Ask Rob for the invoice", agent="muse", kind="commitment", to="rob", due_at="2030-01-05T09:00:00Z")
    plane.post("Rob moved the pelican", agent="grok", project="attic")
    plane.fact("Rob", "role", "CTO", agent="muse")
    plane.fact("Rob", "role", "CEO", agent="muse")


@pytest.mark.parametrize(
    ("path", "kind", "expected"),
    [
        ("recall?q=pelican", types.Recall, lambda plane: plane.recall("pelican")),
        ("recall?q=rob&limit=1", types.Recall, lambda plane: plane.recall("rob", limit=1)),
        (
            "recall?q=rob&agent=grok&kind=thought",
            types.Recall,
            lambda plane: plane.recall("rob", agent="grok", kind="thought"),
        ),
        ("items", list[types.OpenItem], lambda plane: plane.items()),
        ("items?to=rob&agent=muse&limit=5", list[types.OpenItem], lambda plane: plane.items(to="rob")),
        ("thoughts?limit=1", list[types.Thought], lambda plane: plane.thoughts(limit=1)),
        ("facts", list[types.Fact], lambda plane: plane.facts()),
        ("facts?history=true&subject=Rob&key=role", list[types.Fact], lambda plane: plane.facts(history=True)),
        ("graph?about=rob", types.Graph, lambda plane: plane.graph(about="rob")),
        ("graph?agent=grok&min_attention=0.1", types.Graph, lambda plane: plane.graph(agent="grok", min_attention=0.1)),
        ("status", reports.Status, lambda plane: plane.status()),
        ("ids?prefix=", list[str], lambda plane: plane.find("")),
    ],
)
def test_a_read_is_what_the_plane_answers(hub: TestClient, plane: Plane, path: str, kind: Any, expected: Any) -> None:
    fill(plane)
    answer = hub.get(f"/api/{path}")
    assert answer.status_code == 200
    assert TypeAdapter(kind).validate_json(answer.content) == expected(plane)


def test_pulse_and_stats_are_those_of_the_plane(hub: TestClient, plane: Plane) -> None:
    fill(plane)
    pulse = TypeAdapter(types.Pulse).validate_json(hub.get("/api/pulse").content)
    assert (pulse.items, pulse.thoughts, pulse.items_total) == (*_parts(plane.pulse()),)
    assert hub.get("/api/pulse").json()["items"][0]["due_at"] == "2030-01-05T09:00:00Z"
    stats = TypeAdapter(reports.Stats).validate_json(hub.get("/api/stats").content)
    assert stats.operations_by_agent == {"muse": 4, "grok": 1}


def _parts(pulse: types.Pulse) -> tuple[Any, ...]:
    return pulse.items, pulse.thoughts, pulse.items_total


def test_pages_of_hits_follow_each_other(hub: TestClient, plane: Plane) -> None:
    for number in range(5):
        plane.post(f"pelican {number}", agent="muse")
    found: list[str] = []
    cursor: str | None = None
    for _ in range(5):
        asked = {"q": "pelican", "limit": "2"} | ({"cursor": cursor} if cursor else {})
        answer = hub.get("/api/recall", params=asked).json()
        found += [hit["id"] for hit in answer["hits"]]
        cursor = answer["cursor"]
        if cursor is None:
            break
    assert len(found) == len(set(found)) == 5


def test_one_memory_and_its_id(hub: TestClient, plane: Plane) -> None:
    posted = plane.post("hello", agent="muse")
    assert hub.get(f"/api/memories/{posted.id}").json() == json.loads(json.dumps(plane.get(posted.id)))
    assert hub.get("/api/ids", params={"prefix": posted.id[:6]}).json() == [posted.id]
    for unknown in (NOWHERE, "x", "%00", posted.id[:-1]):
        assert hub.get(f"/api/memories/{unknown}").status_code == 404


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("PULSE.md", "text/markdown; charset=utf-8"),
        ("SHARED_MEMORY.md", "text/markdown; charset=utf-8"),
        ("brief/muse.md", "text/markdown; charset=utf-8"),
        ("local-cache.json", "application/json"),
    ],
)
def test_a_page_is_rendered_now(hub: TestClient, plane: Plane, name: str, kind: str) -> None:
    plane.post("Zoë hob den Pelikan", agent="grok")
    answer = hub.get(f"/api/pages/{name}")
    assert (answer.status_code, answer.headers["content-type"]) == (200, kind)
    if name == "PULSE.md":
        assert "Zoë hob den Pelikan" in answer.text


@pytest.mark.parametrize(
    ("path", "error"),
    [
        ("recall", "q: "),
        ("recall?q=x&kind=poem", "kind: 'poem' is unknown"),
        ("recall?q=x&since=2026-01-05T09:00:00", "since: has no time zone"),
        ("recall?q=x&cursor=x", "cursor: "),
        ("recall?q=x&limit=0", "limit: "),
        ("items?limit=10001", "limit: "),
        ("items?limit=1e3", "limit: "),
        ("facts?history=perhaps", "history: "),
        ("facts?as_of=x", "as_of: 'x' is no ISO 8601 time"),
        ("graph?min_attention=nan", "min_attention: nan is not within 0 to 1"),
        ("graph?min_attention=1.5", "min_attention: 1.5 is not within 0 to 1"),
        (f"ids?prefix={NOWHERE}000000000", "prefix: has 45 characters; an id has at most 44"),
        ("changes?since=x", "since: "),
        ("changes?since=99.0", "since: "),
        ("changes?peer=x", "peer: is no id of a store"),
        ("events?since=x&x=y", "x: unknown parameter"),
    ],
)
def test_a_wrong_parameter_is_named(idle: TestClient, path: str, error: str) -> None:
    answer = idle.get(f"/api/{path}")
    assert answer.status_code == 422
    assert answer.json()["error"].startswith(error)
    assert "\n" not in answer.json()["error"]


@pytest.mark.parametrize(
    ("path", "ask"),
    [
        ("graph?min_attention=1.5", lambda plane: plane.graph(min_attention=1.5)),
        ("graph?min_attention=-1", lambda plane: plane.graph(min_attention=-1)),
        (f"ids?prefix={NOWHERE}000000000", lambda plane: plane.find(f"{NOWHERE}000000000")),
        ("items?limit=0", lambda plane: plane.items(limit=0)),
    ],
)
def test_a_read_is_refused_in_the_words_of_the_plane(idle: TestClient, plane: Plane, path: str, ask: Any) -> None:
    with pytest.raises(Refused) as refused:
        ask(plane)
    answer = idle.get(f"/api/{path}")
    assert (answer.status_code, answer.json()) == (422, {"error": str(refused.value)})


@pytest.mark.parametrize("path", ["/api", "/api/", "/api/nothing", "/api/pulse/", "/api/memories", "/redoc"])
def test_what_is_not_there_is_told_as_json(idle: TestClient, path: str) -> None:
    answer = idle.get(path)
    assert (answer.status_code, answer.json()) == (404, {"error": "Not Found"})


def test_the_page_of_the_endpoints_loads_nothing_from_elsewhere(hub: TestClient) -> None:
    page = hub.get("/docs")
    assert page.headers["content-type"].startswith("text/html")
    assert "default-src 'none'" in page.headers["content-security-policy"]
    for path in hub.get("/openapi.json").json()["paths"]:
        assert f" {path}</b>" in page.text
    assert "<script" not in page.text
    assert "//" not in page.text.replace("http://127.0.0.1", "")


# --- many at once ------------------------------------------------------------------------------------------------


def test_a_batch_is_answered_one_by_one(hub: TestClient, plane: Plane) -> None:
    given = [
        record(1),
        5,
        {"op": "thought"},
        record(1),
        record(2, agent=None),
        record(3, op="later"),
        None,
        [record(4)],
    ]
    answer = hub.post("/api/sync", json={"operations": given})
    assert answer.status_code == 200
    states = [one["state"] for one in answer.json()]
    assert states == ["stored", "refused", "refused", "duplicate", "refused", "stored", "refused", "refused"]
    assert all(bool(one["detail"]) == (one["state"] == "refused") for one in answer.json())
    assert plane.status().operations == 2


def test_a_batch_may_hold_what_it_is_about_later(hub: TestClient, plane: Plane) -> None:
    resolve = record(9, op="resolve", body={"item": NOWHERE})
    question = record(1, id=NOWHERE, body={"text": "who?", "kind": "question"})
    answer = hub.post("/api/sync", json={"operations": [resolve, question]})
    assert [one["state"] for one in answer.json()] == ["stored", "stored"]
    assert plane.items() == []


def test_half_a_character_in_one_record_hurts_no_other(hub: TestClient) -> None:
    given = [record(1, body={"text": "\ud800"}), record(2, id="\udfff"), record(3, op="\ud800"), record(4)]
    body = json.dumps({"operations": given})
    answer = hub.post("/api/sync", content=body, headers={"content-type": "application/json"})
    assert [one["state"] for one in json.loads(answer.content)] == ["refused", "refused", "refused", "stored"]


@pytest.mark.parametrize(
    ("body", "status", "error"),
    [
        ({}, 422, "operations: must be a list"),
        ({"operations": {}}, 422, "operations: must be a list"),
        ({"operations": [], "operation": []}, 422, "operation: unknown field"),
        ({"operations": [], "derivations": {"a": 1}}, 422, "derivations: must be a list"),
        ({"operations": [], "peer": 5}, 422, "peer: must be the id of a store"),
        ({"operations": [], "peer": "x"}, 422, "peer: is no id of a store"),
        ({"operations": [5] * (MAX_OPERATIONS + 1)}, 413, "operations: 1,001 are too many"),
    ],
)
def test_a_batch_that_is_none_is_refused_whole(
    idle: TestClient, untouched: Plane, body: dict[str, Any], status: int, error: str
) -> None:
    answer = idle.post("/api/sync", json=body)
    assert answer.status_code == status
    assert answer.json()["error"].startswith(error)


def test_a_thousand_operations_are_one_batch(hub: TestClient, plane: Plane) -> None:
    given = [record(number) for number in range(MAX_OPERATIONS)]
    answer = hub.post("/api/sync", json={"operations": given})
    assert {one["state"] for one in answer.json()} == {"stored"}
    assert plane.status().operations == MAX_OPERATIONS
    assert hub.post("/api/sync", json={"operations": []}).json() == []


def test_two_hubs_converge_over_changes_and_sync(make_plane: MakePlane, tmp_path: Path) -> None:
    left, right = make_plane(home=tmp_path / "left"), make_plane(home=tmp_path / "right")
    left.post("from the left", agent="muse")
    right.fact("Rob", "role", "CTO", agent="grok")
    with serve(left) as one, serve(right) as other:
        for source, target in ((one, other), (other, one)):
            told = source.get("/api/changes", params={"peer": target.get("/api/changes").json()["store"]}).json()
            given = {name: told[name] for name in ("operations", "derivations")} | {"peer": told["store"]}
            states = [receipt["state"] for receipt in target.post("/api/sync", json=given).json()]
            assert states == ["stored"]
            assert told["more"] is False
        again = one.get("/api/changes", params={"peer": right.store_id, "since": "0.0"}).json()
        assert [operation["agent"] for operation in again["operations"]] == ["muse"]
    assert list(left.export()) == list(right.export())


# --- outages -----------------------------------------------------------------------------------------------------


def test_an_outage_is_told_with_the_time_to_wait_and_stores_nothing(make_plane: MakePlane, home: Path) -> None:
    plane = make_plane(timeout=0.1)
    with serve(plane) as hub:
        assert hub.post("/api/thought", json={"agent": "muse", "text": "before"}).status_code == 200
        plane.render()
        with sqlite3.connect(home / "memory.db", isolation_level=None) as holder:
            holder.execute("BEGIN IMMEDIATE")
            one = hub.post("/api/thought", json={"agent": "muse", "text": "during"})
            many = hub.post("/api/sync", json={"operations": [record(1)]})
            read = hub.get("/api/thoughts")
            holder.execute("ROLLBACK")
        holder.close()
        assert [(answer.status_code, answer.headers["retry-after"]) for answer in (one, many)] == [(503, "5")] * 2
        assert "has held it locked" in one.json()["error"]
        assert read.status_code == 200
        assert hub.post("/api/sync", json={"operations": [record(1)]}).json()[0]["state"] == "stored"
    assert plane.status().operations == 2
