from __future__ import annotations

import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import anyio
import pytest
from starlette.testclient import TestClient

from memory_plane import Plane, __version__
from memory_plane.surfaces.api import MAX_BODY, create_app
from memory_plane.testing.hub import HubProcess

SECONDS = 30
PORT = 8788
TOKEN = "t" * 43
HUB = f"http://127.0.0.1:{PORT}"
ACCEPT = {"accept": "application/json, text/event-stream"}
TRUSTED = {"authorization": f"Bearer {TOKEN}", **ACCEPT}
MODERN = {**TRUSTED, "mcp-protocol-version": "2026-07-28"}
ENVELOPE = {
    "_meta": {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {},
    }
}
POST: dict[str, Any] = {"name": "memory_post_thought", "arguments": {"text": "hello"}}


def rpc(method: str, **params: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}


@pytest.fixture
def hub(plane: Plane) -> Iterator[TestClient]:
    with TestClient(create_app(plane, token=TOKEN, port=PORT), base_url=HUB, raise_server_exceptions=False) as client:
        yield client


def test_health_needs_no_token(gate: TestClient) -> None:
    answer = gate.get("/health")
    assert (answer.status_code, answer.json()) == (200, {"status": "ok", "version": __version__})


@pytest.mark.parametrize(
    "authorization",
    [
        None,
        "",
        "Bearer",
        "Bearer ",
        f"Bearer {TOKEN}x",
        f"Bearer {TOKEN[:-1]}",
        f"Basic {TOKEN}",
        TOKEN,
        "Bearer é",
    ],
)
def test_without_the_token_nothing_is_served(gate: TestClient, untouched: Plane, authorization: str | None) -> None:
    given = [] if authorization is None else [(b"authorization", authorization.encode())]
    headers = [(b"accept", ACCEPT["accept"].encode()), *given]
    for path in ("/mcp/muse", "/mcp", "/docs", "/anything"):
        answer = gate.post(path, json=rpc("tools/call", **POST), headers=headers)
        assert answer.status_code == 401
        assert answer.headers["www-authenticate"] == "Bearer"
        assert TOKEN not in answer.text
    assert untouched.status().operations == 0


def test_two_authorization_headers_are_refused(gate: TestClient) -> None:
    headers = [("authorization", f"Bearer {TOKEN}"), ("authorization", "Bearer x"), *ACCEPT.items()]
    assert gate.post("/mcp/muse", json=rpc("ping"), headers=headers).status_code == 401


def test_the_token_in_the_address_does_not_count(gate: TestClient) -> None:
    assert gate.post(f"/mcp/muse?token={TOKEN}", json=rpc("ping"), headers=ACCEPT).status_code == 401


@pytest.mark.parametrize(
    "host", ["evil.example", "127.0.0.1", "127.0.0.1:80", f"127.0.0.1.evil.example:{PORT}", f"localhost.:{PORT}", ""]
)
def test_a_rebound_host_name_is_refused_even_with_the_token(gate: TestClient, host: str) -> None:
    assert gate.post("/mcp/muse", json=rpc("ping"), headers={**TRUSTED, "host": host}).status_code == 421
    assert gate.get("/health", headers={"host": host}).status_code == 421


@pytest.mark.parametrize("host", [f"localhost:{PORT}", f"[::1]:{PORT}", f"LOCALHOST:{PORT}"])
def test_every_name_of_loopback_is_served(gate: TestClient, host: str) -> None:
    assert gate.post("/mcp/muse", json=rpc("ping"), headers={**TRUSTED, "host": host}).status_code == 200


@pytest.mark.parametrize(
    "origin",
    [
        "null",
        "https://evil.example",
        "http://localhost.evil.example",
        "http://127.0.0.1@evil.example",
        "http://127.0.0.1:8788.evil.example",
        "chrome-extension://abc",
        "file://",
        "",
    ],
)
def test_a_web_page_elsewhere_is_refused_even_with_the_token(gate: TestClient, origin: str) -> None:
    answer = gate.post("/mcp/muse", json=rpc("ping"), headers={**TRUSTED, "origin": origin})
    assert answer.status_code == 403
    assert not [name for name in answer.headers if name.startswith("access-control")]


def test_a_page_on_loopback_may_call_with_the_token(gate: TestClient) -> None:
    answer = gate.post("/mcp/muse", json=rpc("ping"), headers={**TRUSTED, "origin": "http://localhost:3000"})
    assert answer.status_code == 200
    assert not [name for name in answer.headers if name.startswith("access-control")]


def test_a_preflight_gets_no_permission(gate: TestClient) -> None:
    headers = {"origin": "https://evil.example", "access-control-request-method": "POST"}
    answer = gate.options("/mcp/muse", headers=headers)
    assert answer.status_code == 403
    assert not [name for name in answer.headers if name.startswith("access-control")]


@pytest.mark.parametrize(
    "content_type", ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", ""]
)
def test_what_a_form_can_send_is_refused(gate: TestClient, untouched: Plane, content_type: str) -> None:
    body = json.dumps(rpc("tools/call", **POST))
    answer = gate.post("/mcp/muse", content=body, headers={**TRUSTED, "content-type": content_type})
    assert answer.status_code == 415
    assert untouched.status().operations == 0


@pytest.mark.parametrize("method", ["GET", "HEAD", "DELETE", "PUT", "PATCH"])
def test_only_post_reaches_the_tools(gate: TestClient, untouched: Plane, method: str) -> None:
    answer = gate.request(method, "/mcp/muse", json=rpc("tools/call", **POST), headers=TRUSTED)
    assert answer.status_code == 405
    assert untouched.status().operations == 0


def test_a_body_beyond_the_limit_is_refused(gate: TestClient) -> None:
    headers = {**TRUSTED, "content-type": "application/json"}
    assert gate.post("/mcp/muse", content=b" " * (MAX_BODY + 1), headers=headers).status_code == 413

    def trickle() -> Iterator[bytes]:
        for _ in range(MAX_BODY // 50_000 + 1):
            yield b" " * 50_000

    assert gate.post("/mcp/muse", content=trickle(), headers=headers).status_code == 413


def test_a_websocket_is_closed(gate: TestClient) -> None:
    from starlette.websockets import WebSocketDisconnect

    with pytest.raises(WebSocketDisconnect), gate.websocket_connect("/mcp/muse", headers=TRUSTED):
        pass


def test_the_older_generation_works_without_a_session(gate: TestClient) -> None:
    client = {"name": "test", "version": "1"}
    opening = rpc("initialize", protocolVersion="2025-06-18", capabilities={}, clientInfo=client)
    answer = gate.post("/mcp/muse", json=opening, headers=TRUSTED)
    assert answer.json()["result"]["serverInfo"]["name"] == "memory-plane"
    assert "mcp-session-id" in answer.headers  # some clients insist on one
    listed = gate.post("/mcp/muse", json=rpc("tools/list"), headers=TRUSTED).json()["result"]["tools"]
    assert len(listed) == 10


def test_a_session_is_a_name_for_which_nothing_is_kept(gate: TestClient) -> None:
    client = {"name": "test", "version": "1"}
    opening = rpc("initialize", protocolVersion="2025-06-18", capabilities={}, clientInfo=client)
    ids = {gate.post("/mcp/muse", json=opening, headers=TRUSTED).headers["mcp-session-id"] for _ in range(2)}
    assert len(ids) == 2
    for id in (*ids, "from before a restart"):
        listed = gate.post("/mcp/muse", json=rpc("tools/list"), headers={**TRUSTED, "mcp-session-id": id})
        assert listed.status_code == 200
        assert gate.delete("/mcp/muse", headers={**TRUSTED, "mcp-session-id": id}).status_code == 405
    refused = gate.post("/mcp/muse", json=rpc("initialize"), headers={**TRUSTED, "accept": "text/html"})
    assert refused.status_code >= 400
    assert "mcp-session-id" not in refused.headers


def test_the_newer_generation_works(hub: TestClient) -> None:
    headers = {**MODERN, "mcp-method": "server/discover"}
    answer = hub.post("/mcp/muse", json=rpc("server/discover", **ENVELOPE), headers=headers)
    assert "2026-07-28" in answer.json()["result"]["supportedVersions"]
    headers = {**MODERN, "mcp-method": "tools/call", "mcp-name": POST["name"]}
    answer = hub.post("/mcp/muse", json=rpc("tools/call", **POST, **ENVELOPE), headers=headers)
    assert answer.json()["result"]["structuredContent"]["state"] == "stored"


@pytest.mark.parametrize(
    ("path", "headers", "author"),
    [
        ("/mcp/Muse", {}, "muse"),
        ("/mcp", {"x-memory-plane-agent": "Grok"}, "grok"),
        ("/mcp/muse", {"x-memory-plane-agent": "muse"}, "muse"),
    ],
)
def test_path_or_header_names_the_author(
    hub: TestClient, plane: Plane, path: str, headers: dict[str, str], author: str
) -> None:
    answer = hub.post(path, json=rpc("tools/call", **POST), headers={**TRUSTED, **headers})
    assert answer.json()["result"]["structuredContent"]["state"] == "stored"
    assert [thought.agent for thought in plane.pulse().thoughts] == [author]


def test_no_name_can_read_and_not_write(gate: TestClient, untouched: Plane) -> None:
    answer = gate.post("/mcp", json=rpc("tools/call", **POST), headers=TRUSTED).json()["result"]
    assert answer["isError"]
    assert answer["content"][0]["text"].startswith("agent: this connection names no agent")
    answer = gate.post("/mcp", json=rpc("tools/call", name="memory_get_pulse", arguments={}), headers=TRUSTED)
    assert answer.json()["result"]["structuredContent"]["recent"] == []


@pytest.mark.parametrize(
    ("path", "headers"), [("/mcp/muse", {"x-memory-plane-agent": "grok"}), ("/mcp/two%20words", {}), ("/mcp/%00", {})]
)
def test_a_name_in_doubt_is_refused(gate: TestClient, path: str, headers: dict[str, str]) -> None:
    answer = gate.post(path, json=rpc("ping"), headers={**TRUSTED, **headers})
    assert answer.status_code == 400
    assert answer.json()["error"].startswith("agent: ")


def test_a_slow_call_does_not_hold_up_others(plane: Plane, monkeypatch: pytest.MonkeyPatch) -> None:
    from threading import Event

    release = Event()
    monkeypatch.setattr(plane, "recall", lambda *_, **__: release.wait(SECONDS))
    app = create_app(plane, token=TOKEN, port=PORT)
    slow = rpc("tools/call", name="memory_recall", arguments={"query": "x"})

    with TestClient(app, base_url=HUB) as client, ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(client.post, "/mcp/muse", json=slow, headers=TRUSTED)
        assert client.post("/mcp/grok", json=rpc("tools/call", **POST), headers=TRUSTED).status_code == 200
        assert not waiting.done()
        release.set()
        assert waiting.result(SECONDS).status_code == 200


# --- the whole process -------------------------------------------------------------------------------------------


def test_the_sdk_client_talks_to_up(home: Path, tmp_path: Path) -> None:
    from mcp.client import Client
    from mcp.client.streamable_http import streamable_http_client

    async def converse(hub: HubProcess) -> str:
        # The SDK's client is built on its own copy of httpx.
        from mcp.shared._httpx_utils import create_mcp_http_client

        headers = {"authorization": f"Bearer {hub.token}"}
        async with (
            create_mcp_http_client(headers=headers) as http,
            Client(streamable_http_client(f"{hub.url}/mcp/muse", http_client=http)) as client,
        ):
            return str((await client.call_tool("memory_post_thought", {"text": "hello"})).structured_content["state"])

    process = HubProcess(tmp_path / "hub")
    try:
        assert anyio.run(converse, process) == "stored"
    finally:
        process.stop()
