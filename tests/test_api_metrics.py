from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import pytest
from prometheus_client.parser import text_string_to_metric_families
from starlette.testclient import TestClient

from memory_plane import Plane
from memory_plane.operations import make_operation
from memory_plane.plugin import Plugin, hookimpl
from memory_plane.surfaces import metrics
from memory_plane.surfaces.api import create_app
from memory_plane.types import Extraction, Memory

if TYPE_CHECKING:
    from memory_plane.testing import MakePlane

TOKEN = "t" * 43
ACCEPT = {"accept": "application/json, text/event-stream"}

Numbers = dict[tuple[str, tuple[tuple[str, str], ...]], float]


def serve(plane: Plane) -> TestClient:
    headers = {"authorization": f"Bearer {TOKEN}"}
    app = create_app(plane, token=TOKEN, port=80)
    return TestClient(app, base_url="http://127.0.0.1", headers=headers, raise_server_exceptions=False)


@pytest.fixture
def hub(plane: Plane) -> Iterator[TestClient]:
    with serve(plane) as client:
        yield client


def numbers(hub: TestClient) -> Numbers:
    text = hub.get("/metrics").text
    return {
        (sample.name.removeprefix("memory_plane_"), tuple(sorted(sample.labels.items()))): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


def test_writes_are_counted_by_operation_and_state_whoever_brings_them(hub: TestClient, plane: Plane) -> None:
    body = {"agent": "muse", "text": "x", "created_at": "2026-01-05T09:00:00Z"}
    for _ in range(2):
        hub.post("/api/thought", json=body)
    call = {"name": "memory_post_thought", "arguments": {"text": "by MCP"}}
    hub.post("/mcp/muse", json={"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call}, headers=ACCEPT)
    plane.heartbeat(agent="muse", focus="x")
    plane.resolve("6c1d9d4e-6c1f-5f6e-9f0e-2f5b8a3c7d10", agent="muse")
    later = {"op": "from the future", "agent": "muse", "created_at": "2026-01-05T09:00:00Z", "body": {}}
    hub.post("/api/sync", json={"operations": [later]})
    found = {labels: value for (name, labels), value in numbers(hub).items() if name == "writes_total"}
    assert found == {
        (("op", "thought"), ("state", "stored")): 2,
        (("op", "thought"), ("state", "duplicate")): 1,
        (("op", "heartbeat"), ("state", "stored")): 1,
        (("op", "resolve"), ("state", "refused")): 1,
        (("op", "other"), ("state", "stored")): 1,
    }


def test_requests_are_measured_by_the_template_of_their_route(hub: TestClient) -> None:
    for path in (
        "/api/memories/one",
        "/api/memories/two",
        "/api/pages/PULSE.md",
        "/mcp/muse",
        "/nowhere/1",
        "/nowhere/2",
    ):
        hub.get(path)
    hub.post("/mcp/muse", json={})
    hub.request("BREW", "/api/pulse")
    hub.get("/api/pulse", headers={"authorization": "Bearer x"})
    found = {labels: value for (name, labels), value in numbers(hub).items() if name == "request_seconds_count"}
    assert found[(("method", "GET"), ("route", "/api/memories/{id}"), ("status", "404"))] == 2
    assert found[(("method", "GET"), ("route", "none"), ("status", "404"))] == 2
    assert found[(("method", "GET"), ("route", "none"), ("status", "401"))] == 1
    routes = {dict(labels)["route"] for labels in found}
    assert routes == {"/api/memories/{id}", "/api/pages/{name:path}", "/mcp", "none"}
    assert {dict(labels)["method"] for labels in found} == {"GET", "POST", "other"}


def test_the_state_of_the_memory_is_there(hub: TestClient, plane: Plane) -> None:
    plane.post("x", agent="muse")
    found = numbers(hub)
    for name in ("operations", "spooled_events", "enrichment_queue", "outbox_operations"):
        assert found[(name, ())] == (1 if name == "operations" else 0)
    assert found[("database_bytes", ())] > 10_000
    assert 0 <= found[("agent_last_write_seconds", (("agent", "muse"),))] < 60


def test_agents_beyond_a_bound_have_no_number(hub: TestClient, plane: Plane, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(metrics, "AGENTS", 3)
    start = datetime(2026, 1, 5, tzinfo=UTC)
    for number in range(5):
        at = start + timedelta(hours=number)
        plane.apply(make_operation("thought", {"text": "x"}, agent=f"agent{number}", created_at=at))
    agents = [dict(labels)["agent"] for name, labels in numbers(hub) if name == "agent_last_write_seconds"]
    assert agents == ["agent4", "agent3", "agent2"]


def test_failures_of_a_plugin_are_counted(make_plane: MakePlane) -> None:
    class Broken(Plugin):
        @hookimpl
        def extract(self, memory: Memory, found: Extraction) -> Extraction | None:
            raise RuntimeError("broken")

    plane = make_plane(Broken(), strict=False)
    with serve(plane) as hub:
        for text in ("one", "two"):
            plane.post(text, agent="muse")
        failures = [value for (name, _), value in numbers(hub).items() if name == "plugin_failures"]
    assert failures == [2]


def test_two_hubs_of_one_process_count_apart(make_plane: MakePlane, hub: TestClient, plane: Plane) -> None:
    other = make_plane()
    with serve(other) as second:
        other.post("x", agent="muse")
        assert not [name for name, _ in numbers(hub) if name == "writes_total"]
        assert [value for (name, _), value in numbers(second).items() if name == "writes_total"] == [1]
    assert plane.watchers != []
    assert other.watchers == []


def test_text_is_that_of_prometheus(hub: TestClient) -> None:
    answer = hub.get("/metrics")
    assert answer.headers["content-type"] == "text/plain; version=0.0.4; charset=utf-8"
    assert re.search(r"^# TYPE memory_plane_operations gauge$", answer.text, re.MULTILINE)
