"""Vectors of a model: in the order of the texts, of length 1, by the name of what made them, or none at all."""

from __future__ import annotations

import json
from collections.abc import Callable
from math import hypot, nan
from typing import Any

import pytest

from memory_plane import Plane
from memory_plane.errors import PluginError
from memory_plane_llm.embeddings import BATCH, TEXT

MakePlane = Callable[..., Plane]


def test_nobody_is_asked_unless_a_model_is_set(make_llm: MakePlane, server: Any) -> None:
    found = make_llm().plugins.embed(["a"])
    assert found is not None
    assert "/" not in found.model  # it is the table of local
    assert server.requests == []


def test_vectors_come_in_the_order_of_the_texts_whatever_that_of_the_answer(make_llm: MakePlane, server: Any) -> None:
    plane = make_llm(embeddings="embed-1", api_key="sk-hush")
    texts = ["x" * size for size in range(1, 2 * BATCH + 6)]
    server.vectors = lambda at, text: {"index": at, "embedding": [len(text), 0.5, -1]}
    found = plane.plugins.embed(texts)
    assert found is not None
    assert found.model == "embed-1/3"
    assert [round(row[0] / row[1] / 2) for row in found.rows] == [len(text) for text in texts]
    assert all(abs(hypot(*row) - 1) < 1e-9 for row in found.rows)
    assert [len(body["input"]) for _, body in server.requests] == [BATCH, BATCH, 5]
    headers, body = server.requests[0]
    assert headers["authorization"] == "Bearer sk-hush"
    assert (body["model"], body["encoding_format"]) == ("embed-1", "float")


def test_texts_are_sent_without_secrets_cut_and_never_empty(make_llm: MakePlane, server: Any) -> None:
    make_llm(embeddings="embed-1").plugins.embed(["password: x9Kq2LmP8", "y" * (TEXT + 1), " ", ""])
    sent = server.requests[0][1]["input"]
    assert "x9Kq2LmP8" not in json.dumps(sent)
    assert [len(text) for text in sent[1:]] == [TEXT, 1, 1]


@pytest.mark.parametrize(
    "vectors",
    [
        lambda at, text: {"index": 0, "embedding": [1.0]},
        lambda at, text: {"index": at + 1, "embedding": [1.0]},
        lambda at, text: {"index": [at], "embedding": [1.0]},
        lambda at, text: {"index": at, "embedding": [1.0] * (at + 1)},
        lambda at, text: {"index": at, "embedding": []},
        lambda at, text: {"index": at, "embedding": [0.0, 0.0]},
        lambda at, text: {"index": at, "embedding": [nan]},
        lambda at, text: {"index": at, "embedding": [10**400]},
        lambda at, text: {"index": at, "embedding": [True]},
        lambda at, text: {"index": at, "embedding": "AACAPw=="},
        lambda at, text: [1.0],
    ],
)
def test_vectors_that_are_none_are_refused(make_llm: MakePlane, server: Any, vectors: Any) -> None:
    server.vectors = vectors
    with pytest.raises(PluginError, match="gave no usable answer"):
        make_llm(embeddings="embed-1").plugins.embed(["a", "b"])


def test_server_that_is_away_leaves_recall_with_words_and_is_told(make_llm: MakePlane, server: Any) -> None:
    server.status = 503
    plane = make_llm(strict=False, extractor="local", embeddings="embed-1")
    plane.post("Viktor works at Nexus Labs", agent="muse")
    assert [hit.snippet for hit in plane.recall("Nexus").hits]
    assert "answered 503" in str(plane.status().failures)
    server.status = 200
    again = make_llm(extractor="local", embeddings="embed-1")  # in another process
    again.recall("Nexus")
    assert again.status().failures == ()


def test_what_is_sent_is_told(make_llm: MakePlane, server: Any) -> None:
    plane = make_llm(extractor="local", embeddings="embed-1")
    sends = {info.name: info.sends for info in plane.plugins.infos()}
    assert sends["llm"] == f"redacted texts of all memories and of what is searched for to {server.url}"


def test_price_of_vectors_is_counted(make_llm: MakePlane, server: Any) -> None:
    make_llm(embeddings="embed-1").plugins.embed(["a", "b"])
    poor = make_llm(strict=False, embeddings="embed-1", daily_tokens=8)
    assert poor.plugins.embed(["c", "d"]) is None
    assert "cap of 8 tokens a day (daily_tokens) used up" in str(poor.plugins.failures[-1])
    assert len(server.requests) == 1


def test_what_means_the_same_is_found_by_the_model_that_is_set(make_llm: MakePlane, server: Any) -> None:
    near = {"My doctor moved", "physician", "memory"}
    server.vectors = lambda at, text: {"index": at, "embedding": [1.0, 0.1] if text in near else [-0.1, 1.0]}
    plane = make_llm(extractor="local", embeddings="embed-1")
    for text in ("My doctor moved", "Rain all day"):
        plane.post(text, agent="muse")
    assert server.requests == []  # no write waits for it
    plane.ingest()
    assert plane.recall("physician").hits[0].snippet == "My doctor moved"
    asked = len(server.requests)
    plane.ingest()
    assert len(server.requests) == asked
    other = make_llm(extractor="local", embeddings="embed-2")
    other.ingest()
    assert {body["model"] for _, body in server.requests[asked:]} == {"embed-2"}
    assert other.recall("physician").hits[0].snippet == "My doctor moved"
