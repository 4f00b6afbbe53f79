"""Webhooks: who may post there, what is taken, and what somebody gets who does not know the secret."""

from __future__ import annotations

import gzip
import json
import logging
import stat
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pytest
from starlette.testclient import TestClient

from memory_plane import Plane, spool, webhooks
from memory_plane.access import agent_token
from memory_plane.surfaces.api import create_app
from memory_plane.surfaces.limits import MAX_EVENT

if TYPE_CHECKING:
    from pathlib import Path

    from memory_plane.testing import MakePlane

PORT = 8788
HUB = f"http://127.0.0.1:{PORT}"
TOKEN = "t" * 43
MESSAGE = {"type": "new-message", "data": {"guid": "A1", "text": "Can you review the lease?"}}


def serve(plane: Plane) -> TestClient:
    return TestClient(create_app(plane, token=TOKEN, port=PORT), base_url=HUB, raise_server_exceptions=False)


@pytest.fixture
def hub(plane: Plane) -> Iterator[TestClient]:
    with serve(plane) as client:
        yield client


@pytest.fixture
def address(plane: Plane) -> str:
    return webhooks.path("muse", webhooks.ensure_secret(plane.home, "muse"))


def spooled(plane: Plane) -> list[Any]:
    return [event for _, event in spool.read(plane.home)]


# --- who knows the secret ----------------------------------------------------------------------------------------


def test_what_is_posted_waits_for_the_agents_plugin(hub: TestClient, plane: Plane, address: str) -> None:
    answer = hub.post(address, json=MESSAGE)
    assert (answer.status_code, answer.json()) == (202, {"state": "kept"})
    (event,) = spooled(plane)
    assert (event.agent, event.name, event.payload) == ("muse", "webhook", MESSAGE)


def test_secrets_in_what_is_posted_are_cut_before_it_is_on_disk(hub: TestClient, plane: Plane, address: str) -> None:
    key = "sk-ant-api03-" + "Ab3dE6gH9j" * 9 + "AA"
    assert hub.post(address, json={"text": f"use {key}"}).status_code == 202
    assert not [path for path in plane.home.rglob("*") if path.is_file() and key.encode() in path.read_bytes()]


def test_the_secret_is_made_once_and_is_its_owners_alone(home: Path) -> None:
    first = webhooks.ensure_secret(home, "muse")
    assert len(first) >= 32
    assert webhooks.ensure_secret(home, "muse") == first
    assert webhooks.ensure_secret(home, "heron") != first
    for path in (home / "webhooks").rglob("*"):
        assert stat.S_IMODE(path.stat().st_mode) == (0o700 if path.is_dir() else 0o600)


def test_a_renewed_secret_ends_the_old_address_at_once(hub: TestClient, plane: Plane, address: str) -> None:
    assert hub.post(address, json=MESSAGE).status_code == 202
    fresh = webhooks.renew_secret(plane.home, "muse")
    assert hub.post(address, json=MESSAGE).status_code == 401
    assert hub.post(webhooks.path("muse", fresh), json=MESSAGE).status_code == 202


# --- who does not ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "path",
    [
        "/ingest/muse/{wrong}",
        "/ingest/muse/{secret}x",
        "/ingest/muse/{secret}/",
        "/ingest/muse/{secret}/more",
        "/ingest/Muse/{secret}",
        "/ingest/heron/{secret}",
        "/ingest/muse/",
        "/ingest/muse",
        "/ingest/muse/%C3%A9",
        "/ingest/../webhooks/{secret}",
        "/ingest/.%2e/{secret}",
        "/ingest/muse%2F..%2Fmuse/{secret}",
        "//ingest/muse/{secret}",
    ],
)
def test_who_knows_no_secret_gets_the_answer_of_any_stranger(
    hub: TestClient, plane: Plane, address: str, path: str
) -> None:
    secret = address.rpartition("/")[2]
    answer = hub.post(path.format(secret=secret, wrong="w" * len(secret)), json=MESSAGE)
    nowhere = hub.post("/nowhere", json=MESSAGE)
    assert (answer.status_code, answer.json()) == (401, nowhere.json())
    assert spooled(plane) == []


def test_an_agent_without_a_secret_has_no_webhook(hub: TestClient, plane: Plane) -> None:
    assert hub.post("/ingest/muse/anything", json=MESSAGE).status_code == 401
    assert not (plane.home / "webhooks").exists()


@pytest.mark.parametrize("method", ["GET", "HEAD", "PUT", "DELETE", "OPTIONS"])
def test_the_secret_opens_nothing_but_posting(hub: TestClient, address: str, method: str) -> None:
    assert hub.request(method, address, json=MESSAGE).status_code == 401
    assert hub.post("/api/thought", json={"text": "x"}, headers={"authorization": f"Bearer {address[-43:]}"}).is_error


@pytest.mark.parametrize("token", [TOKEN, agent_token(TOKEN, "muse")])
def test_a_token_does_not_replace_the_secret(hub: TestClient, plane: Plane, address: str, token: str) -> None:
    answer = hub.post("/ingest/muse/wrong", json=MESSAGE, headers={"authorization": f"Bearer {token}"})
    assert answer.status_code == 404
    assert spooled(plane) == []


def test_a_damaged_secret_closes_the_webhook_and_the_log_says_so(
    hub: TestClient, plane: Plane, address: str, caplog: pytest.LogCaptureFixture
) -> None:
    (plane.home / "webhooks" / "muse" / "token").write_text("short", "utf-8")
    assert hub.post(address, json=MESSAGE).status_code == 401
    assert hub.post("/ingest/muse/short", json=MESSAGE).status_code == 401
    assert "the webhook of agent 'muse' is closed" in caplog.text


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"host": "evil.example"}, 421),
        ({"origin": "https://evil.example"}, 403),
        ({"content-type": "text/plain"}, 415),
        ({"content-encoding": "gzip"}, 415),
    ],
)
def test_the_other_rules_of_the_gate_hold_there_too(
    hub: TestClient, plane: Plane, address: str, headers: dict[str, str], status: int
) -> None:
    content = gzip.compress(json.dumps(MESSAGE).encode())
    answer = hub.post(address, content=content, headers={"content-type": "application/json", **headers})
    assert answer.status_code == status
    assert spooled(plane) == []


# --- what is taken -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("body", "status"),
    [
        (b"", 400),
        (b"[]", 400),
        (b'{"a": ', 400),
        (b'{"a":' + b"[" * 60 + b"]" * 60 + b"}", 422),
        (b'{"a":' * 30_000, 400),
        (b'{"a": "' + b"x" * MAX_EVENT + b'"}', 413),
    ],
    ids=["nothing", "a list", "torn", "deep", "very deep", "huge"],
)
def test_what_is_no_event_is_refused(hub: TestClient, plane: Plane, address: str, body: bytes, status: int) -> None:
    answer = hub.post(address, content=body, headers={"content-type": "application/json"})
    assert answer.status_code == status
    assert spooled(plane) == []


def test_half_a_character_is_kept_as_something_that_can_be_stored(hub: TestClient, plane: Plane, address: str) -> None:
    answer = hub.post(address, content=b'{"text": "\\ud83d"}', headers={"content-type": "application/json"})
    assert answer.status_code == 202
    assert [event.payload for event in spooled(plane)] == [{"text": "?"}]


def test_a_parameter_in_the_address_is_refused(hub: TestClient, address: str) -> None:
    assert hub.post(f"{address}?password=x", json=MESSAGE).status_code == 422


def test_a_webhook_that_is_flooded_is_put_off(make_plane: MakePlane) -> None:
    plane = make_plane(hub={"growth_mb_per_hour": 0.001})
    address = webhooks.path("muse", webhooks.ensure_secret(plane.home, "muse"))
    with serve(plane) as hub:
        answers = [hub.post(address, json={"text": "x" * 400}) for _ in range(5)]
    assert [answer.status_code for answer in answers] == [202, 202, 202, 429, 429]
    assert int(answers[-1].headers["retry-after"]) > 0
    assert len(spooled(plane)) == 3


def test_a_disk_that_takes_nothing_is_told_to_try_again(hub: TestClient, plane: Plane, address: str) -> None:
    (plane.home / "spool").write_text("a file where the folder should be", "utf-8")
    answer = hub.post(address, json=MESSAGE)
    assert (answer.status_code, "retry-after" in answer.headers) == (503, True)


def test_neither_secret_nor_body_is_logged_or_counted(
    hub: TestClient, plane: Plane, address: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    (plane.home / "spool").write_text("a file where the folder should be", "utf-8")
    hub.post(address, json=MESSAGE)
    numbers = hub.get("/metrics", headers={"authorization": f"Bearer {TOKEN}"}).text
    ours = "\n".join(record.getMessage() for record in caplog.records if record.name.startswith("memory_plane"))
    assert "/ingest/{agent}/{secret}" in numbers
    for said in (numbers, ours):
        assert address[-43:] not in said
        assert "lease" not in said
