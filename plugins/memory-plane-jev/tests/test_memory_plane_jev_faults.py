"""Each fault of the reference server: either it does not matter, or local answers stand and the fault is told."""

from __future__ import annotations

import socket
from collections.abc import Callable, Mapping
from contextlib import closing
from datetime import UTC, datetime
from time import monotonic
from typing import Any

import pytest
from jevcompat import mock  # type: ignore[import-untyped]

from memory_plane import Plane

MakeMock = Callable[..., Any]
MakeServer = Callable[..., Any]
MakeJev = Callable[..., Plane]

KEY, WRONG = "sk-right", "sk-wrong"
TEXT = "Viktor works at Nexus Labs. The surprise is Maria's party in Lisbon"
LOCAL = {("Viktor", "WORKS_AT", "Nexus Labs")}

# What is told of the faults that stop the answers; of the others nothing is told, since they do not matter: what they
# break is not asked for, not used, or cannot be seen in one answer.
TOLD: Mapping[str, str] = {
    "wrong-route": "has no such path or model (404); check base_url and model",
    "xssi-200": "gave no usable answer: it is not JSON",
    "auth-rejects-header": "does not accept the key (401); check api_key",
    "auth-x-api-key": "does not accept the key (403); check api_key",
    "reject-jev-latest": "has no such path or model (404); check base_url and model",
    "choice-key-case": "gave no usable answer: the probabilities are not those of the options",
    "choice-sum": "gave no usable answer: the probabilities do not sum to 1",
    "choice-second": "gave no usable answer: a choice is not the likeliest option",
    "legend-1-based": "gave no usable answer: the levels of a score are numbered otherwise",
    "score-keys-1-based": "gave no usable answer: the probabilities are not those of the options",
    "score-sum": "gave no usable answer: the probabilities do not sum to 1",
}
WITH_KEY = {"auth-rejects-header": None, "auth-x-api-key": KEY, "auth-plain": KEY, "auth-invalid-403-text": KEY}


def told(plane: Plane) -> str:
    (failure,) = plane.status().failures
    return failure


def edges(plane: Plane) -> set[tuple[str, str, str]]:
    return {(one.source.name, one.relation, one.target.name) for one in plane.graph(limit=100).edges}


def asked(plane: Plane) -> bool:
    """Post, work the queue in bounded time, and say whether the server's answers were taken."""
    plane.heartbeat(agent="grok", focus="Lisbon")
    plane.post(TEXT, agent="muse")
    assert edges(plane) >= LOCAL
    began = monotonic()
    answered = plane.ingest().enriched == 1
    assert monotonic() - began < 10
    return answered


@pytest.mark.parametrize("fault", mock.FAULTS)
def test_fault_is_told_or_does_not_matter(make_mock: MakeMock, make_jev: MakeJev, fault: str) -> None:
    server = make_mock(fault, key=WITH_KEY.get(fault))
    table = {"api_key": KEY} if fault in WITH_KEY else {}
    plane = make_jev(server.url, **table)
    answered = asked(plane)
    assert answered == (fault not in TOLD)
    if not answered:
        assert told(plane).endswith(f"{server.url} {TOLD[fault]}")
        assert edges(plane) >= LOCAL
        assert plane.status().waiting == 1
    else:
        assert plane.status().failures == ()


def test_list_of_faults_is_the_one_that_was_looked_at() -> None:
    assert set(TOLD) | set(WITH_KEY) <= set(mock.FAULTS)
    assert len(mock.FAULTS) == 47


@pytest.mark.parametrize("fault", ["auth-plain", "auth-invalid-403-text", "text-errors"])
@pytest.mark.parametrize("given", [None, WRONG])
def test_key_that_is_missing_or_wrong_is_told_and_shown_nowhere(
    make_mock: MakeMock, make_jev: MakeJev, caplog: pytest.LogCaptureFixture, fault: str, given: str | None
) -> None:
    plane = make_jev(make_mock(fault, key=KEY).url, api_key=given)
    with caplog.at_level("DEBUG"):
        assert not asked(plane)
    assert "does not accept the key (40" in told(plane)
    plane.render()
    kept = b"".join(path.read_bytes() for path in plane.home.rglob("*") if path.is_file())
    for secret in (KEY, WRONG):
        assert secret.encode() not in kept
        assert secret not in caplog.text


def test_clean_reference_server_answers(make_mock: MakeMock, make_jev: MakeJev) -> None:
    plane = make_jev(make_mock(key=KEY).url, api_key=KEY, strict=True)
    assert asked(plane)
    assert plane.status().failures == ()


def test_busy_server_is_asked_again_as_it_says(make_mock: MakeMock, make_jev: MakeJev) -> None:
    server = make_mock(busy_every=2)
    assert asked(make_jev(server.url, strict=True))
    assert server.cfg.requests == 3


def test_sampling_server_answers(make_mock: MakeMock, make_jev: MakeJev) -> None:
    assert asked(make_jev(make_mock(sampled=True, noise=1.0).url, strict=True))


def test_server_that_hangs_costs_its_deadline_and_the_rest_waits(make_jev: MakeJev) -> None:
    with closing(socket.create_server(("127.0.0.1", 0))) as deaf:
        plane = make_jev(f"http://127.0.0.1:{deaf.getsockname()[1]}", timeout=0.3)
        for _ in range(5):
            plane.post(f"{TEXT} {_}", agent="muse")
        began = monotonic()
        assert plane.ingest().enriched == 0
        assert monotonic() - began < 5
    assert "did not answer within 0.3 s" in told(plane)
    assert plane.status().waiting == 5
    assert edges(plane) >= LOCAL


def test_server_that_comes_back_answers_all_that_waited(make_server: MakeServer, make_jev: MakeJev) -> None:
    server = make_server(lambda question, _: {"noul": 0.5, "score": 1, "choice": None}[question["type"]])
    server.status = 503
    plane = make_jev(server.url)
    plane.heartbeat(agent="grok", focus="Lisbon")
    for number in range(3):
        plane.post(f"{TEXT} {number}", agent="muse")
    assert plane.ingest().enriched == 0
    assert "answered 503" in told(plane)
    assert "surprise" not in told(plane)
    server.status = 200
    assert plane.ingest().enriched == 0  # it is left alone for a while
    plane.plugins._plugins["jev"].server.remote.rouse()  # type: ignore[attr-defined]
    assert plane._pipeline.work(datetime(2100, 1, 1, tzinfo=UTC)) == 3
    assert plane.status().failures == ()
