"""The vendor's own SDK sends what we send, and reads in our test server's answers what we read."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from typesafe_sdk import Noul as SdkNoul
from typesafe_sdk import RetryPolicy, TypeSafeClient

from memory_plane import Plane
from memory_plane.endpoint import Endpoint
from memory_plane.remote_model import RemoteModel
from memory_plane.spending import Spending
from memory_plane_jev.systemone import Answers, Choice, Noul, Question, Score, SystemOne, expected

QUESTIONS: dict[str, Question] = {
    "durable": Noul("Is this lasting?", "holds for weeks", "passing"),
    "kind": Choice("What is it?", {"fact": "so it is", "preference": "a like or dislike", "task": "to be done"}),
    "salience": Score("How much does it matter?", ("trivial", "useful", "important", "critical")),
}
STATE = {"memory": "Mia moved to Lisbon", "existing": "Mia lives in Porto"}


@pytest.fixture
def ask() -> Any:
    """Ask by our own client."""

    def asking(url: str) -> Answers:
        model = RemoteModel(Endpoint(url=url), Spending(None, 10_000))
        try:
            return SystemOne(model, "jev-latest").ask(STATE, QUESTIONS)
        finally:
            model.close()

    return asking


def client(url: str) -> TypeSafeClient:
    return TypeSafeClient(api_key="sk-any", base_url=url, compression=False, retry=RetryPolicy(max_retries=0))


def judge(question: Any, state: Any) -> Any:
    return {"noul": 0.93, "choice": ("fact", 0.88), "score": (2, 0.7)}[question["type"]]


def test_sdk_sends_the_same_body_and_reads_the_same_answers(make_server: Callable[..., Any], ask: Any) -> None:
    server = make_server(judge)
    ours = ask(server.url)
    sent = server.requests[0][1]
    with client(server.url) as sdk:
        theirs = sdk.system_one(sent["state"], sent["questions"], model=sent["model"])
    assert server.requests[1][1] == sent
    assert theirs.model == "jev-test-1"
    assert theirs.nouls["q1"].noul == ours["durable"]["true"] == 0.93
    assert theirs.choices["q2"].choice == max(ours["kind"], key=ours["kind"].__getitem__) == "fact"
    assert theirs.choices["q2"].probabilities == pytest.approx(ours["kind"])
    assert theirs.scores["q3"].score == pytest.approx(expected(ours["salience"]) * 3)
    assert list(theirs.scores["q3"].legend.values()) == list(ours["salience"])


def test_sdk_reads_what_the_reference_server_answers_to_our_body(make_mock: Callable[..., Any], ask: Any) -> None:
    server = make_mock()
    ours = ask(server.url)
    body: Any = {f"q{number}": question.wire() for number, question in enumerate(QUESTIONS.values(), 1)}
    with client(server.url) as sdk:
        theirs = sdk.system_one(STATE, body)
        assert [one.name for one in sdk.models.list().models] == ["jev-latest", "mock"]
    assert theirs.nouls["q1"].noul == pytest.approx(ours["durable"]["true"])
    assert theirs.choices["q2"].probabilities == pytest.approx(ours["kind"])
    assert theirs.scores["q3"].score == pytest.approx(expected(ours["salience"]) * 3)


def test_all_that_a_memory_asks_is_what_the_sdk_would_send(
    make_server: Callable[..., Any], make_jev: Callable[..., Plane]
) -> None:
    server = make_server()
    plane = make_jev(server.url, strict=True)
    plane.heartbeat(agent="grok", focus="FPGA")
    plane.post("Rob works at Stripe", agent="muse")
    plane.post("Rob likes FPGA boards and met Ann in Zürich", agent="grok")
    plane.ingest()
    ours = [body for _, body in server.requests]
    with client(server.url) as sdk:
        for body in ours:
            answer = sdk.system_one(body["state"], body["questions"], model=body["model"])
            assert set(answer.nouls) | set(answer.choices) | set(answer.scores) == set(body["questions"])
    assert [body for _, body in server.requests][len(ours) :] == ours
    kinds = {question["type"] for body in ours for question in body["questions"].values()}
    assert kinds == {"noul", "choice", "score"}


def test_key_of_the_sdk_stands_where_ours_does(make_server: Callable[..., Any]) -> None:
    server = make_server(judge)
    with client(server.url) as sdk:
        sdk.system_one(json.dumps(STATE), {"q1": SdkNoul(instructions="Is it?")})
    assert server.requests[0][0]["Authorization"] == "Bearer sk-any"
