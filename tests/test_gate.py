"""What an attacker would try, request by request: each of these must fail and change nothing."""

from __future__ import annotations

import gzip
import json
import logging
import traceback
from collections.abc import Iterator
from functools import cache
from typing import TYPE_CHECKING, Any

import anyio
import pytest
from starlette.testclient import TestClient

from memory_plane import Plane, models
from memory_plane.access import agent_token, key_id, proof, verify
from memory_plane.errors import StoreError
from memory_plane.surfaces import limits
from memory_plane.surfaces.api import create_app
from memory_plane.surfaces.limits import MAX_BODY, MAX_SYNC_BODY

if TYPE_CHECKING:
    from memory_plane.testing import MakePlane

PORT = 8788
TOKEN = "t" * 43
HUB = f"http://127.0.0.1:{PORT}"
TRUSTED = {"authorization": f"Bearer {TOKEN}"}
MUSE = {"authorization": f"Bearer {agent_token(TOKEN, 'muse')}"}
JSON = {"content-type": "application/json"}
THOUGHT = {"agent": "muse", "text": "hello"}
CALL = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "tools/call",
    "params": {"name": "memory_post_thought", "arguments": {"text": "hello"}},
}
ACCEPT = {"accept": "application/json, text/event-stream"}


def serve(plane: Plane, **options: Any) -> TestClient:
    app = create_app(plane, token=options.pop("token", TOKEN), port=PORT, **options)
    return TestClient(app, base_url=HUB, raise_server_exceptions=False)


@pytest.fixture
def hub(plane: Plane) -> Iterator[TestClient]:
    with serve(plane) as client:
        yield client


def authors(plane: Plane) -> set[str]:
    return {thought.agent for thought in plane.thoughts()}


# --- who asks ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", "/api/pulse"),
        ("GET", "/api/events"),
        ("GET", "/api/changes"),
        ("GET", "/metrics"),
        ("GET", "/docs"),
        ("GET", "/openapi.json"),
        ("POST", "/api/thought"),
        ("POST", "/api/sync"),
        ("POST", "/health"),
        ("GET", "/health/"),
        ("GET", "//health"),
        ("GET", "/health/../api/pulse"),
        ("GET", "/health%2f..%2fapi/pulse"),
        ("GET", "/HEALTH"),
    ],
)
def test_nothing_but_health_is_open_without_a_token(gate: TestClient, untouched: Plane, method: str, path: str) -> None:
    answer = gate.request(method, path, json=THOUGHT if method == "POST" else None)
    assert answer.status_code == 401
    assert untouched.status().operations == 0


@pytest.mark.parametrize(
    "token",
    [
        "u" * 43,
        agent_token("u" * 43, "muse"),
        agent_token(TOKEN, "muse")[:-1],
        agent_token(TOKEN, "muse").replace("muse", "grok"),
        key_id(TOKEN),
        key_id(agent_token(TOKEN, "muse")),
        "mp.muse.",
    ],
)
def test_a_token_that_was_not_given_opens_nothing(gate: TestClient, token: str) -> None:
    assert gate.get("/api/pulse", headers={"authorization": f"Bearer {token}"}).status_code == 401


def test_a_renewed_token_ends_the_old_ones_at_once(plane: Plane) -> None:
    now = [TOKEN]
    with serve(plane, token=lambda: now[0]) as hub:
        assert [hub.get("/api/pulse", headers=one).status_code for one in (TRUSTED, MUSE)] == [200, 200]
        now[0] = "n" * 43
        assert [hub.get("/api/pulse", headers=one).status_code for one in (TRUSTED, MUSE)] == [401, 401]


def test_a_hub_without_a_token_serves_nobody(plane: Plane) -> None:
    with serve(plane, token=lambda: None) as hub:
        assert hub.get("/api/pulse", headers=TRUSTED).status_code == 401
        assert "proof" not in hub.get("/health", params={"challenge": "c", "key": key_id(TOKEN)}).json()


# --- from where --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", ["/health", "/api/pulse", "/mcp/muse"])
@pytest.mark.parametrize("host", ["evil.example", f"evil.example:{PORT}", "127.0.0.1:1", f"nas.local.evil:{PORT}"])
def test_a_foreign_host_is_refused(gate: TestClient, path: str, host: str) -> None:
    assert gate.get(path, headers={**TRUSTED, "host": host}).status_code == 421


def test_two_hosts_are_refused(gate: TestClient) -> None:
    headers = [("host", f"127.0.0.1:{PORT}"), ("host", "evil.example"), *TRUSTED.items()]
    assert gate.get("/api/pulse", headers=headers).status_code == 421


@pytest.mark.parametrize(
    ("name", "host", "status"),
    [
        ("nas.local", f"nas.local:{PORT}", 200),
        ("nas.local", f"NAS.local:{PORT}", 200),
        ("nas.local", "nas.local", 421),
        ("nas.local", "nas.local:443", 421),
        ("nas.local", f"other.local:{PORT}", 421),
        ("nas.local:443", "nas.local:443", 200),
        ("nas.local:443", f"nas.local:{PORT}", 421),
        ("fe80::1", f"[fe80::1]:{PORT}", 200),
        ("192.0.2.7", f"192.0.2.7:{PORT}", 200),
    ],
)
def test_names_of_the_settings_are_hosts_too(make_plane: MakePlane, name: str, host: str, status: int) -> None:
    with serve(make_plane(hub={"names": [name]})) as hub:
        assert hub.get("/api/pulse", headers={**TRUSTED, "host": host}).status_code == status
        origin = f"https://{host.lower()}"
        assert hub.get("/health", headers={"origin": origin}).status_code == (403 if "other" in host else 200)


@pytest.mark.parametrize(
    "origin", ["https://evil.example", "null", f"http://evil.example:{PORT}", "http://127.0.0.1.evil"]
)
def test_a_foreign_origin_is_refused(gate: TestClient, untouched: Plane, origin: str) -> None:
    answer = gate.post("/api/thought", json=THOUGHT, headers={**TRUSTED, "origin": origin})
    assert answer.status_code == 403
    assert untouched.status().operations == 0


@pytest.mark.parametrize("path", ["/api/pulse", "/api/thought", "/health", "/nowhere", "/mcp"])
@pytest.mark.parametrize("method", ["GET", "POST", "OPTIONS"])
def test_no_answer_permits_a_page_elsewhere_to_read_it(gate: TestClient, path: str, method: str) -> None:
    for headers in ({}, TRUSTED, {"origin": "http://localhost:3000", **TRUSTED}, {"origin": "https://evil.example"}):
        answer = gate.request(method, path, headers={**headers, **JSON})
        assert not [name for name in answer.headers if name.startswith("access-control")]
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["cache-control"] == "no-store"
        assert "default-src 'none'" in answer.headers["content-security-policy"]


# --- as whom -----------------------------------------------------------------------------------------------------


def test_an_agents_own_token_says_who_writes(hub: TestClient, plane: Plane) -> None:
    assert hub.post("/api/thought", json={"text": "one"}, headers=MUSE).json()["state"] == "stored"
    assert hub.post("/api/thought", json={"text": "two", "agent": "Muse"}, headers=MUSE).json()["state"] == "stored"
    for path in ("/mcp", "/mcp/muse"):
        answer = hub.post(path, json=CALL, headers={**MUSE, **ACCEPT}).json()
        assert answer["result"]["structuredContent"]["state"] in ("stored", "duplicate")
    assert authors(plane) == {"muse"}


@pytest.mark.parametrize(
    ("path", "body", "headers"),
    [
        ("/api/thought", {"agent": "grok", "text": "x"}, {}),
        ("/api/thought", {"agent": ["grok"], "text": "x"}, {}),
        ("/api/thought", {"agent": "", "text": "x"}, {}),
        ("/api/thought", {"text": "x"}, {"x-memory-plane-agent": "grok"}),
        ("/api/thought", {"text": "x", "agent": "muse"}, {"x-memory-plane-agent": "grok"}),
        ("/api/thought", {"text": "x", "agent": "muse"}, {"x-memory-plane-agent": "not an agent"}),
        ("/api/heartbeat", {"agent": "grok", "focus": "x"}, {}),
        ("/mcp/grok", CALL, ACCEPT),
        ("/mcp", CALL, {**ACCEPT, "x-memory-plane-agent": "grok"}),
        ("/api/sync", {"operations": [], "peer": "6c1d9d4e-6c1f-5f6e-9f0e-2f5b8a3c7d10"}, {}),
        ("/api/sync", {"operations": [], "derivations": [{}]}, {}),
    ],
)
def test_another_agents_token_does_not_speak_for_this_one(
    gate: TestClient, untouched: Plane, path: str, body: dict[str, Any], headers: dict[str, str]
) -> None:
    answer = gate.post(path, json=body, headers={**MUSE, **headers})
    assert answer.status_code == 403
    assert untouched.status().operations == 0


def test_a_header_that_agrees_on_paper_only_is_refused(gate: TestClient, untouched: Plane) -> None:
    headers = [*MUSE.items(), ("x-memory-plane-agent", "muse"), ("x-memory-plane-agent", "grok")]
    assert gate.post("/api/thought", json={"text": "x"}, headers=headers).status_code == 403
    assert gate.post("/mcp", json=CALL, headers=[*headers, *ACCEPT.items()]).status_code == 403
    headers = [*TRUSTED.items(), ("x-memory-plane-agent", "muse"), ("x-memory-plane-agent", "grok")]
    assert gate.post("/api/thought", json={"text": "x"}, headers=headers).status_code == 400
    assert untouched.status().operations == 0


def test_a_batch_of_an_agent_holds_its_own_operations_only(hub: TestClient, plane: Plane) -> None:
    record = {"op": "thought", "created_at": "2026-01-05T09:00:00Z", "body": {"text": "x"}}
    agents: list[Any] = ["muse", "grok", "Muse", None, 5]
    answer = hub.post("/api/sync", json={"operations": [{**record, "agent": one} for one in agents]}, headers=MUSE)
    assert [one["state"] for one in answer.json()] == ["stored", "refused", "duplicate", "refused", "refused"]
    assert answer.json()[1]["detail"] == "agent: this token is that of 'muse' and speaks for no other agent"
    assert authors(plane) == {"muse"}


@pytest.mark.parametrize("path", ["/api/changes", "/metrics"])
def test_what_is_for_other_machines_needs_the_hubs_own_token(gate: TestClient, path: str) -> None:
    assert gate.get(path, headers=MUSE).status_code == 403
    assert gate.get(path, headers=TRUSTED).status_code == 200


# --- the proof ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("token", [TOKEN, agent_token(TOKEN, "muse"), agent_token(TOKEN, "агент")])
def test_the_hub_proves_that_it_knows_a_token(gate: TestClient, token: str) -> None:
    answer = gate.get("/health", params={"challenge": "abc", "key": key_id(token)}).json()
    assert verify(token, "abc", f"127.0.0.1:{PORT}", answer["proof"])
    assert token not in str(answer)


@pytest.mark.parametrize("key", ["", "0" * 16, "mp.muse." + "0" * 16, key_id("u" * 43), "é", "\x00"])
def test_an_unknown_key_gets_no_proof(gate: TestClient, key: str) -> None:
    answer = gate.get("/health", params={"challenge": "abc", "key": key})
    assert (answer.status_code, set(answer.json())) == (200, {"status", "version"})


@pytest.mark.parametrize("challenge", ["", "x" * 129])
def test_a_challenge_has_a_length(gate: TestClient, challenge: str) -> None:
    assert gate.get("/health", params={"challenge": challenge, "key": key_id(TOKEN)}).status_code == 422


@pytest.mark.parametrize("host", [f"localhost:{PORT}", f"[::1]:{PORT}"])
def test_a_stranger_cannot_have_the_challenge_answered_here(gate: TestClient, host: str) -> None:
    answer = gate.get("/health", params={"challenge": "abc", "key": key_id(TOKEN)}, headers={"host": host})
    assert set(answer.json()) == {"status", "version"}
    assert not verify(TOKEN, "abc", host, proof(TOKEN, "abc", f"127.0.0.1:{PORT}"))


def test_a_name_of_the_settings_is_proved(make_plane: MakePlane) -> None:
    with serve(make_plane(hub={"names": ["nas.local"]})) as hub:
        host = f"nas.local:{PORT}"
        answer = hub.get("/health", params={"challenge": "abc", "key": key_id(TOKEN)}, headers={"host": host})
        assert verify(TOKEN, "abc", host, answer.json()["proof"])


def test_an_agents_token_forgets_nothing(hub: TestClient, plane: Plane) -> None:
    kept = plane.post("the others still need this", agent="grok").id
    assert hub.post("/api/forget", json={"target": kept}, headers=MUSE).status_code == 403
    record = {"op": "forget", "agent": "muse", "created_at": "2026-01-05T09:00:00Z", "body": {"target": kept}}
    (receipt,) = hub.post("/api/sync", json={"operations": [record]}, headers=MUSE).json()
    assert receipt["state"] == "refused"
    assert plane.recall("others").hits
    assert hub.post("/api/forget", json={"target": kept, "agent": "muse"}, headers=TRUSTED).status_code == 200
    assert not plane.recall("others").hits


# --- with what ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x"])
@pytest.mark.parametrize("path", ["/api/thought", "/api/sync", "/mcp/muse"])
def test_a_form_post_is_refused(gate: TestClient, untouched: Plane, path: str, kind: str) -> None:
    answer = gate.post(path, content=json.dumps(THOUGHT), headers={**TRUSTED, "content-type": kind})
    assert answer.status_code == 415
    assert untouched.status().operations == 0


@pytest.mark.parametrize("method", ["GET", "HEAD", "PUT", "PATCH", "DELETE"])
def test_only_post_changes_anything(gate: TestClient, untouched: Plane, method: str) -> None:
    for path in ("/api/thought", "/api/sync"):
        assert gate.request(method, path, json=THOUGHT, headers=TRUSTED).status_code == 405
    assert untouched.status().operations == 0


@cache
def bomb() -> bytes:
    """Return a body that is fifty megabytes when unpacked."""
    return gzip.compress(b" " * 50_000_000)


@pytest.mark.parametrize("coding", ["gzip", "GZIP", "br", "identity, gzip", "x"])
@pytest.mark.parametrize("path", ["/api/thought", "/api/sync", "/mcp/muse"])
def test_a_zip_bomb_is_not_unpacked(gate: TestClient, path: str, coding: str) -> None:
    answer = gate.post(path, content=bomb(), headers={**TRUSTED, **JSON, "content-encoding": coding})
    assert answer.status_code == 415


DEEP = [b"[" * 700_000, b"[" * 700_000 + b"]" * 700_000, b'{"a":' * 200_000, b"[" * 41 + b"]" * 41]
NESTED = b"[" * 60 + b"]" * 60


@pytest.mark.parametrize("body", DEEP, ids=lambda body: f"{len(body)}")
@pytest.mark.parametrize("path", ["/api/thought", "/api/sync", "/mcp/muse"])
def test_deep_json_is_refused(gate: TestClient, path: str, body: bytes) -> None:
    answer = gate.post(path, content=body, headers={**TRUSTED, **JSON, **ACCEPT})
    assert 400 <= answer.status_code < 500


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/api/thought", b'{"agent":"muse","text":' + NESTED + b"}"),
        ("/api/thought", b'{"agent":"muse","text":"x","kind":' + NESTED + b"}"),
        ("/api/sync", b'{"operations":[],"derivations":' + NESTED + b"}"),
        ("/mcp/muse", b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"arguments":' + NESTED + b"}}"),
    ],
)
def test_deep_values_are_refused(gate: TestClient, path: str, body: bytes) -> None:
    answer = gate.post(path, content=body, headers={**TRUSTED, **JSON, **ACCEPT})
    assert answer.status_code in (400, 422)
    assert "too deep" in answer.text


def test_one_deep_operation_of_a_batch_hurts_no_other(hub: TestClient, plane: Plane) -> None:
    good = {"op": "thought", "agent": "muse", "created_at": "2026-01-05T09:00:00Z", "body": {"text": "x"}}
    bad = {**good, "op": "later", "body": {"x": json.loads(NESTED)}}
    answer = hub.post("/api/sync", json={"operations": [bad, good]}, headers=TRUSTED)
    assert [one["state"] for one in answer.json()] == ["refused", "stored"]
    assert plane.status().operations == 1


@pytest.mark.parametrize(
    "body", [b"", b"{", b"null", b"[]", b'"x"', b"\xff\xfe", b"\x00", b'{"text":' + b"9" * 5000 + b"}"]
)
@pytest.mark.parametrize("path", ["/api/thought", "/api/sync"])
def test_what_is_no_json_object_is_told(gate: TestClient, path: str, body: bytes) -> None:
    answer = gate.post(path, content=body, headers={**TRUSTED, **JSON})
    assert answer.status_code == 400
    assert answer.json()["error"].startswith("body: ")


@pytest.mark.parametrize(
    ("path", "limit"), [("/api/thought", MAX_BODY), ("/mcp/muse", MAX_BODY), ("/api/sync", MAX_SYNC_BODY)]
)
def test_an_oversized_body_is_refused_declared_or_not(gate: TestClient, path: str, limit: int) -> None:
    def trickle() -> Iterator[bytes]:
        for _ in range(limit // 50_000 + 1):
            yield b" " * 50_000

    headers = {**TRUSTED, **JSON}
    assert gate.post(path, content=b" " * (limit + 1), headers=headers).status_code == 413
    assert gate.post(path, content=trickle(), headers=headers).status_code == 413
    assert gate.post(path, content=b" " * 10, headers={**headers, "content-length": "9" * 30}).status_code == 413


def test_a_body_that_never_ends_is_given_up(plane: Plane, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "BODY_SECONDS", 0.05)
    sent: list[Any] = []

    async def attack() -> None:
        async def receive() -> Any:
            await anyio.sleep_forever()

        async def send(message: Any) -> None:
            sent.append(message)

        scope = {"type": "http", "method": "POST", "path": "/api/thought", "headers": []}
        await limits.Limits(create_app(plane, token=TOKEN, port=PORT))(scope, receive, send)

    anyio.run(attack)
    assert sent[0]["status"] == 408


@pytest.mark.parametrize(
    "twice",
    [
        [("content-type", "application/json"), ("content-type", "text/plain")],
        [("content-length", "5"), ("content-length", "5000")],
        [("transfer-encoding", "chunked"), ("content-length", "5")],
        [("transfer-encoding", "chunked"), ("transfer-encoding", "identity")],
    ],
)
def test_headers_that_can_be_read_in_two_ways_are_refused(
    gate: TestClient, untouched: Plane, twice: list[tuple[str, str]]
) -> None:
    kind = [] if any(name == "content-type" for name, _ in twice) else list(JSON.items())
    answer = gate.post("/api/thought", content=json.dumps(THOUGHT), headers=[*TRUSTED.items(), *kind, *twice])
    assert answer.status_code == 400
    assert untouched.status().operations == 0


PAGES = """
../../token  ..%2f..%2ftoken  %2e%2e/token  brief/../../token  /etc/passwd  token  brief/%00.md  memory.db
brief/..%5c..%5ctoken.md  %2fPULSE.md
"""


@pytest.mark.parametrize("name", PAGES.split())
def test_path_tricks_lead_nowhere(gate: TestClient, untouched: Plane, name: str) -> None:
    (untouched.home / "token").write_text("the secret of this home")
    answer = gate.get(f"/api/pages/{name}", headers=TRUSTED)
    assert answer.status_code == 404
    assert "the secret of this home" not in answer.text


@pytest.mark.parametrize("path", ["/api/pulse?agent=muse", "/api/items?limit=1&limit=2", "/api/facts?Limit=1"])
def test_a_parameter_in_doubt_is_refused(gate: TestClient, path: str) -> None:
    assert gate.get(path, headers=TRUSTED).status_code == 422


# --- how much ----------------------------------------------------------------------------------------------------


def test_an_agent_that_writes_too_much_is_stopped_and_no_other(make_plane: MakePlane) -> None:
    plane = make_plane(hub={"growth_mb_per_hour": 0.01})
    text = "x" * 9_000
    with serve(plane) as hub:
        states = [hub.post("/api/thought", json={"text": text + str(n)}, headers=MUSE).status_code for n in range(3)]
        assert states == [200, 200, 429]
        answer = hub.post("/api/thought", json={"text": "more"}, headers=MUSE)
        assert 1 <= int(answer.headers["retry-after"]) <= 3600
        assert "agent 'muse' has written more than 0.01 MB in an hour" in answer.json()["error"]
        record = {"op": "thought", "agent": "muse", "created_at": "2026-01-05T09:00:00Z", "body": {"text": "x"}}
        assert hub.post("/api/sync", json={"operations": [record]}, headers=MUSE).status_code == 429
        assert hub.post("/mcp/muse", json=CALL, headers={**MUSE, **ACCEPT}).status_code == 429
        assert hub.get("/api/pulse", headers=MUSE).status_code == 200
        pulse = {**CALL, "params": {"name": "memory_get_pulse", "arguments": {}}}
        assert hub.post("/mcp/muse", json=pulse, headers={**MUSE, **ACCEPT}).status_code == 200
        assert hub.post("/api/thought", json={"agent": "grok", "text": "x"}, headers=TRUSTED).status_code == 200
    assert plane.status().operations == 3


def test_what_is_not_stored_costs_nothing(make_plane: MakePlane) -> None:
    with serve(make_plane(hub={"growth_mb_per_hour": 0.02})) as hub:
        same = {"text": "x" * 9_000, "created_at": "2026-01-05T09:00:00Z"}
        states = [hub.post("/api/thought", json=same, headers=MUSE).json()["state"] for _ in range(10)]
        assert states == ["stored", *["duplicate"] * 9]
        record = {"op": "thought", "agent": "muse", "body": {"text": same["text"]}, "created_at": same["created_at"]}
        for _ in range(5):
            assert hub.post("/api/sync", json={"operations": [record]}, headers=MUSE).json()[0]["state"] == "duplicate"


def test_too_many_requests_at_a_time_are_put_off(plane: Plane, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "AT_ONCE", 0)
    with serve(plane) as hub:
        answer = hub.get("/api/pulse", headers=TRUSTED)
        assert (answer.status_code, answer.headers["retry-after"]) == (503, "1")
        assert hub.get("/health").status_code == 200


# --- what is left behind -----------------------------------------------------------------------------------------


def test_no_log_holds_a_body_or_a_token(
    plane: Plane, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    secret = "pelican-in-the-attic"

    def fail(*_: Any, **__: Any) -> Any:
        raise RuntimeError(secret)

    monkeypatch.setattr(plane, "stats", fail)
    with serve(plane) as hub:
        for headers in (TRUSTED, MUSE, {"authorization": f"Bearer {secret}"}):
            hub.post("/api/thought", json={"agent": "muse", "text": secret}, headers=headers)
            hub.post("/api/thought", json={"agent": "muse", "text": secret, "kind": secret}, headers=headers)
            hub.post("/api/sync", json={"operations": [{"op": secret, "body": secret}]}, headers=headers)
            hub.post("/api/sync", json={secret: secret}, headers=headers)
            call = {**CALL, "params": {"name": "memory_post_thought", "arguments": {"text": secret, "kind": secret}}}
            hub.post("/mcp/muse", json=call, headers={**headers, **ACCEPT})
            hub.get("/api/recall", params={"q": secret}, headers=headers)
            hub.get("/api/stats", headers=headers)
    told = "\n".join(
        f"{record.getMessage()} {record.exc_text or ''}"
        for record in caplog.records
        if not record.name.startswith("http")  # the client's own
    )
    assert "unexpected RuntimeError in the hub" in told
    for word in (secret, TOKEN, agent_token(TOKEN, "muse")):
        assert word not in told


def test_no_trace_of_a_failed_statement_holds_what_was_written(plane: Plane) -> None:
    secret = "-".join(("pelican", "attic"))  # in two pieces, since a trace shows the lines of this file
    with pytest.raises(StoreError) as caught, plane.database.writing() as connection:
        connection.execute(models.operations.insert().values(op="thought", agent="muse", text=secret))
    told = "".join(traceback.format_exception(caught.value))
    assert "INSERT INTO operations" in told
    assert secret not in told


def test_an_unexpected_error_is_one_line_without_a_trace(plane: Plane, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plane, "stats", lambda: 1 / 0)
    with serve(plane) as hub:
        answer = hub.get("/api/stats", headers=TRUSTED)
    assert answer.status_code == 500
    assert answer.json() == {"error": "unexpected ZeroDivisionError; the log has its place"}
